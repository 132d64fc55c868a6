"""Settings as TOML files: what is written reads back equal, and secrets are not written."""

import datetime
import re
import tomllib
import tracemalloc
from enum import Enum
from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import commented_toml, load, parse_toml, resolve_secrets, to_toml
from gossamer.fetch.config import FetchConfig
from gossamer.model.errors import ConfigError
from gossamer.model.quantity import Bytes, Count, Seconds

Secret = Annotated[str, Meta(extra={"secret": True})]


class Level(Enum):
    LOW = 1
    HIGH = 2


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    """The inner part.

    Not shown.
    """

    wait: Annotated[Seconds, Meta(description="how long", le=1e300)] = 1.0
    wait_at_most: Annotated[Seconds | None, Meta(description="longest")] = 60.0
    text: str = "x"


class Host(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    min_delay: Annotated[Seconds | None, Meta(description="rest after each visit")] = None
    max_size: Annotated[Bytes | None, Meta(description="largest body")] = None
    note: str | None = None
    inner: Inner = Inner(text="of a host")


class Whole(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    count: Annotated[Count, Meta(description="how many")] = 5
    ratio: float = 1.5
    flag: bool = True
    name: Annotated[str, Meta(description="what it is called")] = ""
    maybe: str | None = None
    perhaps: str | None = "something"
    limit: Annotated[int | None, Meta(description="most")] = None
    bound: int | None = 3
    size: Bytes = 1 << 20
    waits: tuple[Seconds, ...] = (30.0, 300.0)
    names: frozenset[str] = frozenset({"b", "a"})
    nested: list[list[int]] = msgspec.field(default_factory=lambda: [[1]])
    level: Level = Level.LOW
    order: Literal["breadth", "depth"] = "breadth"
    day: datetime.date | None = None
    inner: Annotated[Inner, Meta(description="A section.")] = Inner(wait=2.0)
    other: Inner | None = None
    host: Annotated[dict[str, Host], Meta(description="single hosts")] = {}
    headers: Annotated[dict[str, str], Meta(description="sent too", examples=[{"Accept": "*/*"}])] = (
        msgspec.field(default_factory=lambda: {"A": "b"})
    )
    table: dict[str, dict[str, Seconds]] = {}
    steps: list[Inner] = []


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
"""What a setting may say: no NUL, which names no file, and no surrogates, which are no UTF-8."""
INNERS = st.builds(
    Inner,
    wait=st.floats(0, 1e300),
    wait_at_most=st.none() | st.floats(0, allow_infinity=False, allow_nan=False),
    text=TEXTS,
)
HOSTS = st.builds(
    Host,
    min_delay=st.none() | st.floats(0, 1e9),
    max_size=st.none() | st.integers(0, 1 << 62),
    note=st.none() | TEXTS,
    inner=INNERS,
)
WHOLES = st.builds(
    Whole,
    count=st.integers(0, 1 << 62),
    ratio=st.floats(allow_nan=False, allow_infinity=False),
    flag=st.booleans(),
    name=TEXTS,
    maybe=st.none() | TEXTS | st.just("none"),
    perhaps=st.none() | TEXTS.filter(lambda text: text != "none"),
    limit=st.none() | st.integers(-(1 << 63), 1 << 62),
    bound=st.none() | st.integers(-(1 << 63), 1 << 62),
    size=st.integers(0, 1 << 62),
    waits=st.lists(st.floats(0, 1e9), max_size=3).map(tuple),
    names=st.frozensets(TEXTS, max_size=3),
    nested=st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=3),
    level=st.sampled_from(Level),
    order=st.sampled_from(["breadth", "depth"]),
    day=st.none() | st.dates(),
    inner=INNERS,
    other=st.none() | INNERS,
    host=st.dictionaries(TEXTS, HOSTS, max_size=3),
    headers=st.dictionaries(TEXTS, TEXTS, max_size=3),
    table=st.dictionaries(TEXTS, st.dictionaries(TEXTS, st.floats(0, 1e9), max_size=2), max_size=2),
    steps=st.lists(INNERS, max_size=3),
)


@given(WHOLES)
def test_what_is_written_reads_back_equal(whole):
    text = to_toml(whole)
    assert load(Whole, tomllib.loads(text)) == whole
    assert to_toml(load(Whole, tomllib.loads(text))) == text


def test_the_effective_file():
    whole = Whole(
        host={"a.org": Host(min_delay=300.0)}, bound=None, steps=[Inner(), Inner(wait=0.5)], headers={}
    )
    assert to_toml(whole) == (
        'count = 5\nratio = 1.5\nflag = true\nname = ""\nperhaps = "something"\nbound = "none"\n'
        'size = "1MiB"\n'
        'waits = ["30s", "5min"]\nnames = ["a", "b"]\nnested = [[1]]\nlevel = 1\n'
        'order = "breadth"\nheaders = {}\n'
        'table = {}\n\n[inner]\nwait = "2s"\nwait_at_most = "1min"\ntext = "x"\n\n'
        '[host."a.org"]\nmin_delay = "5min"\n\n[host."a.org".inner]\nwait = "1s"\nwait_at_most = "1min"\n'
        'text = "of a host"\n\n[[steps]]\nwait = "1s"\nwait_at_most = "1min"\ntext = "x"\n\n'
        '[[steps]]\nwait = "500ms"\nwait_at_most = "1min"\ntext = "x"\n'
    )


def test_long_lists_take_a_line_for_each_member():
    names = frozenset(f"name{number:02}" for number in range(30))
    text = to_toml(Whole(names=names))
    assert '\nnames = [\n    "name00",\n    "name01",\n' in text
    assert load(Whole, tomllib.loads(text)).names == names


def test_a_word_that_would_read_as_nothing_is_refused():
    with pytest.raises(ConfigError, match="perhaps: the value 'none' cannot be written"):
        to_toml(Whole(perhaps="none"))


def test_the_commented_default_reads_back_as_the_default():
    assert load(Whole, tomllib.loads(commented_toml(Whole))) == Whole()


def test_every_example_in_it_can_be_switched_on():
    text = re.sub(r"(?m)^#(?! )", "", commented_toml(Whole))
    loaded = load(Whole, tomllib.loads(text))
    assert set(loaded.host) == {"example.org"}
    assert loaded.host["example.org"].min_delay == 10.0
    assert loaded.limit == 10
    assert loaded.other == Inner()


def test_the_commented_default():
    class Part(msgspec.Struct, frozen=True, kw_only=True):
        """What the part does.

        More of it.
        """

        wait: Annotated[Seconds, Meta(description="longer is politer " * 8, ge=1, le=3600)] = 90.0
        token: Annotated[str, Meta(description="given by the site")] = ""

    class Root(msgspec.Struct, kw_only=True):
        contact: Annotated[str, Meta(description="who runs it")]
        order: Annotated[Literal["breadth", "depth"], Meta(description="what goes first")] = "depth"
        limit: Annotated[Bytes | None, Meta(description="most", examples=[5 << 30])] = None
        part: Part = Part()
        host: Annotated[dict[str, Part], Meta(description="single hosts")] = {}

    assert commented_toml(Root) == (
        "# who runs it (required)\n"
        '#contact = "..."\n\n'
        "# what goes first (one of breadth, depth)\n"
        'order = "depth"\n\n'
        "# most\n"
        '#limit = "5GiB"\n\n'
        "# What the part does.\n"
        "[part]\n\n"
        "# longer is politer longer is politer longer is politer longer is politer longer is politer longer\n"
        "# is politer longer is politer longer is politer (at least 1s; at most 1h)\n"
        'wait = "90s"\n\n'
        "# given by the site\n"
        '#token = "env:NAME"\n\n'
        "# single hosts\n"
        '#[host."example.org"]\n\n'
        "# longer is politer longer is politer longer is politer longer is politer longer is politer longer\n"
        "# is politer longer is politer longer is politer (at least 1s; at most 1h)\n"
        '#wait = "90s"\n\n'
        "# given by the site\n"
        '#token = "env:NAME"\n'
    )


def test_the_whole_crawl_configuration():
    assert load(CrawlConfig, tomllib.loads(commented_toml(CrawlConfig))) == CrawlConfig()
    assert load(CrawlConfig, tomllib.loads(to_toml(CrawlConfig()))) == CrawlConfig()


class Vault(msgspec.Struct, frozen=True, kw_only=True):
    user: str = ""
    password: str = ""  # secret by its name
    pin: Secret | None = None
    proxies: Annotated[tuple[str, ...], Meta(extra={"secret": True})] = ()
    headers: dict[str, Secret] = {}
    sites: dict[str, "Vault"] = {}


def vaults(text: st.SearchStrategy[str]) -> st.SearchStrategy[Vault]:
    def level(sites: st.SearchStrategy[dict[str, Vault]]) -> st.SearchStrategy[Vault]:
        return st.builds(
            Vault,
            password=text,
            pin=st.none() | text,
            proxies=st.lists(text, max_size=2).map(tuple),
            headers=st.dictionaries(st.sampled_from("ab"), text, max_size=2),
            sites=sites,
        )

    return level(st.dictionaries(st.sampled_from(["x.org", "y"]), level(st.just({})), max_size=2))


@given(vaults(st.integers(10**9, 10**10).map("5ecret{}".format)))
def test_no_secret_is_ever_written(vault):
    text = to_toml(vault)
    assert "5ecret" not in text
    assert "5ecret" not in repr(load(Vault, tomllib.loads(text)))


@given(vaults(st.sampled_from(["", "env:A", "file:/b c"])))
def test_references_to_secrets_are_written(vault):
    assert load(Vault, tomllib.loads(to_toml(vault))) == vault


def test_a_secret_that_was_given_by_hand_must_be_given_again():
    vault = Vault(
        user="u", password="p", headers={"Authorization": "q", "Accept": "env:A"}, proxies=("env:A", "r")
    )
    text = to_toml(vault)
    assert text == (
        'user = "u"\npassword = "again:"\nproxies = ["env:A", "again:"]\nsites = {}\n\n'
        '[headers]\nAuthorization = "again:"\nAccept = "env:A"\n'
    )
    with pytest.raises(ConfigError) as refused:
        resolve_secrets(load(Vault, tomllib.loads(text)), {"A": "x"})
    assert [each.partition(":")[0] for each in map(str, refused.value.problems)] == [
        "password", "proxies[1]", "headers.Authorization",
    ]  # fmt: skip
    assert "give it again" in str(refused.value)


def test_a_proxy_without_user_and_password_is_no_secret():
    plain = FetchConfig(proxy="socks5h://127.0.0.1:9050")
    assert load(FetchConfig, tomllib.loads(to_toml(plain))) == plain
    for proxies in (
        "http://ann:geheim@127.0.0.1:3128",
        "http://127.0.0.1:1 http://ann:geheim@127.0.0.1:3128",
    ):
        assert '\nproxy = "again:"' in to_toml(FetchConfig(proxy=proxies, names_by_proxy=True))
    assert FetchConfig(proxy="again:", names_by_proxy=True), "what is written can be read"


BOMBS = [
    ".".join(["a"] * 200_000) + "=1",
    "[" + ".".join(["a"] * 200_000) + "]",
    "x = [1.5, {" + ".".join(["'a'"] * 200_000) + " = 1}]",
    " . ".join(['"a.b"'] * 200_000) + "=1",
    "\n".join(f"{'.'.join(['a'] * 33)}{at} = 1" for at in range(10_000)),
    "[" * 100_000,
    "x = " + "[" * 100_000,
    "x = " + "{a=" * 100_000,
    "x = " + "1" * 10_000,
    'x = """' + "." * 100_000,
]


@pytest.mark.parametrize("text", BOMBS)
def test_a_small_text_never_takes_much_memory(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError):
            parse_toml(text)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_dots_that_part_no_names_are_many() -> None:
    numbers = ", ".join(["1.5"] * 1_000)
    text = f"""x = "{".a" * 100}" # {"." * 100}
    y = [{numbers}]
    z = '''{"." * 100}
    {"." * 100}'''
    a.b."c.{"d." * 100}".e = 1
    """
    assert parse_toml(text)["a"]["b"]["c." + "d." * 100]["e"] == 1
