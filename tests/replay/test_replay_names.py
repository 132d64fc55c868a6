"""Names of replayed origins: made and read back, no two alike, none that was not given out."""

import pytest
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as some

from gossamer.model.url import DEFAULT_PORTS, Url
from gossamer.replay.names import LONGEST_LABEL, Names

HOSTS = some.from_regex(r"[a-z0-9_-]{1,30}(\.[a-z0-9-]{1,30}){0,4}", fullmatch=True)
NAMES = Names(8080, "k3v9x2mq")


def authority(origin: str) -> str:
    return origin.removeprefix("http://")


@example("a-.b", "https", 443, 0)
@example("a.-b", "https", 443, 0)
@example("x" * 63 + ".org", "http", 8080, 1_800_000_000)
@example("[2001:db8::1]", "http", 80, 0)
@example("a--b.c-d", "ftp", 21, 1)
@settings(max_examples=examples(200))
@given(
    HOSTS,
    some.sampled_from(["http", "https", "ftp", "sftp"]),
    some.integers(1, 65_535),
    some.integers(0, 2**33),
)
def test_a_name_is_read_back(host: str, scheme: str, port: int, at: int) -> None:
    shown = "" if port == DEFAULT_PORTS[scheme] else f":{port}"
    url = Url(f"{scheme}://{host}{shown}/", scheme, host, port, "/")
    origin = NAMES.origin(url, at)
    label = authority(origin).partition(".")[0]
    assert len(label) <= LONGEST_LABEL
    assert label[0] != "-" != label[-1]
    place = NAMES.place(authority(origin))
    assert place is not None
    assert (place.origin, place.at) == (url.origin, at)
    assert NAMES.place(authority(origin).upper()) == place


@settings(max_examples=examples(200))
@given(HOSTS, HOSTS)
def test_two_origins_have_two_names(one: str, other: str) -> None:
    first, second = (NAMES.origin(Url(f"http://{host}/", "http", host, 80, "/")) for host in (one, other))
    assert (first == second) == (one == other)


@pytest.mark.parametrize(
    "host",
    [
        "", "localhost:8080", "example-org-s-k3v9x2mq.localhost", "example-org-s-k3v9x2mq.localhost:80",
        "example-org-s-aaaaaaaa.localhost:8080", "example-org-q-k3v9x2mq.localhost:8080", "evil.example:8080",
        "example-org-s-k3v9x2mq.evil.example:8080", "k3v9x2mq.localhost:8080", "-k3v9x2mq.localhost:8080",
        "0000000000000000-xs-k3v9x2mq.localhost:8080", "a.example-org-s-k3v9x2mq.localhost:8080",
    ],
)  # fmt: skip
def test_names_that_were_not_given_out_are_none(host: str) -> None:
    assert NAMES.place(host) is None


def test_a_run_has_names_of_its_own() -> None:
    url = Url.parse("https://example.org/a")
    assert url is not None
    assert NAMES.address(url) == "http://example-org-s-k3v9x2mq.localhost:8080/a"
    assert Names(8080).origin(url) != Names(8080).origin(url)
