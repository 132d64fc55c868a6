"""Settings by place: how they are written, what is refused and why, and what was written before there were places."""

import tomllib
from types import SimpleNamespace

import pytest

from gossamer.config.config import CrawlConfig
from gossamer.config.effective import Effective
from gossamer.config.explained import explained, settings_there
from gossamer.config.place_config import KNOWN, CredentialsConfig
from gossamer.config.setting_help import all_settings
from gossamer.config.settings import commented_toml, load, resolve_secrets, to_toml
from gossamer.config.shape import settings_of
from gossamer.fetch.request import Credentials
from gossamer.model.errors import ConfigError
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.url import Url
from gossamer.policy.places.place import Asked
from gossamer.state.records import Counters

SEEDS = {"seeds": ["https://example.org/"]}


def config_of(**tree):
    return load(CrawlConfig, {**SEEDS, **tree})


def placed(**by_place):
    return config_of(place={name.strip(): sections for name, sections in by_place.items()})


def said(tree):
    with pytest.raises(ConfigError) as caught:
        load(CrawlConfig, {**SEEDS, **tree})
    return [str(problem) for problem in caught.value.problems]


PLACES = {
    "example.org": {
        "politeness": {"min_delay": "2s"},
        "budget": {"pages_per_host": 7},
        "scope": {"max_depth": 3},
    },
    "example.org/archive/": {"politeness": {"min_delay": "5s"}, "fetch": {"user_agent": "archivist"}},
    "type:image/*": {"fetch": {"max_body": "1MiB"}, "politeness": {"factor": 0}},
    "time:22:00-06:00": {"politeness": {"min_delay": "1ms"}},
    ".example.net": {
        "politeness": {"visits_per_host": 4},
        "retry": {"url_waits": []},
        "fetch": {"max_host_speed": "1kB"},
    },
    "http://wiki.example.org:8080": {"credentials": {"username": "me", "password": "env:WIKI"}},
}


def test_places_are_written_and_read_back_and_secrets_stay_references():
    config = config_of(place=PLACES)
    text = to_toml(config)
    assert load(CrawlConfig, tomllib.loads(text)) == config
    assert 'password = "env:WIKI"' in text
    known = resolve_secrets(config, {"WIKI": "hunter2"})
    assert known.place["http://wiki.example.org:8080"].credentials.password == "hunter2"
    assert "hunter2" not in repr(known) + str(
        list(known.place["http://wiki.example.org:8080"].credentials.__rich_repr__())
    )


@pytest.mark.parametrize(
    ("place", "sections", "at", "says"),
    [
        ("a.org", {"dns": {"attempts": 3}}, ".dns", "one for the whole crawl"),
        ("a.org", {"politeness": {"shared": "/x"}}, ".politeness.shared", "By place can differ: politeness.min_delay"),
        ("a.org", {"politeness": {"min_dely": 1}}, ".politeness.min_dely", 'place."a.org".politeness.min_delay'),
        ("a.org", {"min_delay": 1}, ".min_delay", "did you mean politeness.min_delay"),
        ("a.org", {"politeness": {"min_delay": -1}}, ".politeness.min_delay", "0"),
        ("a.org", {"fetch": {"user_agent": "\u00fc"}}, ".fetch.user_agent", "ASCII"),
        ("a.org", {"scope": {"exclude": ["("]}}, ".scope.exclude", "RE2"),
        ("a.org/x", {"budget": {"pages_per_host": 3}}, ".budget.pages_per_host", "when the host is known"),
        ("type:a/b", {"scope": {"max_depth": 3}}, ".scope.max_depth", "asks for the head of the answer"),
        ("address:10.0.0.1", {"retry": {"park_after": 3}}, ".retry.park_after", "asks for the address"),
        ("time:01:00-02:00", {"traps": {"max_repeats": 3}}, ".traps", "decided once"),
        ("pattern:x", {"credentials": {"token": "env:X"}}, ".credentials", "names none"),
        ("a.org", {"credentials": {"password": "env:X"}}, ".credentials", "username beside it"),
        ("a.org", {"credentials": {"username": "x", "token": "env:Y"}}, ".credentials", "not both"),
        ("*", {}, "", "Write a host (example.org)"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_error_that_says_why(place, sections, at, says):
    (problem,) = said({"place": {place: sections}})
    assert problem.startswith(f'place."{place}"{at}: ')
    assert says in problem


def test_a_place_in_two_spellings_is_refused():
    (problem,) = said({"place": {"a.org": {}, "A.org/": {}}})
    assert problem == "place.\"A.org/\": is the same place as 'a.org'. Write one section"


def test_every_mark_has_a_setting_and_no_setting_is_described_twice():
    text = commented_toml(CrawlConfig)
    paths = [one.path for one in all_settings(CrawlConfig)]
    assert len(paths) == len(set(paths))
    assert "place.NAME.credentials.token" in paths
    assert not [path for path in paths if path.startswith("place.NAME.politeness")]
    for section, names in KNOWN.items():
        for name in names if section != "credentials" else ():
            (one,) = [one for one in all_settings(CrawlConfig) if one.path == f"{section}.{name}"]
            assert "can differ by place" in one.meaning
    assert '#[place."example.org"]' in text


@pytest.mark.parametrize(
    ("section", "setting"),
    [("scope", {"exclude": ["x"]}), ("traps", {"max_repeats": 2}), ("forms", {"words": ["x"]})],
)
def test_what_is_decided_when_a_url_is_found_asks_for_no_part_of_the_day(section, setting):
    (problem,) = said({"place": {"a.org time:22:00-06:00": {section: setting}}})
    assert problem.startswith(f'place."a.org time:22:00-06:00".{section}: is decided once')


def test_older_sections_of_hosts_are_places_now():
    old = config_of(
        host={
            "a.example": {
                "min_delay": "3s",
                "max_pages": 5,
                "max_bytes": "1kB",
                "max_speed": "2kB",
                "visits_per_host": 2,
            },
            "*.b.example": {"max_delay": 9, "factor": 2, "token": "env:T"},
            "c.example": {
                "username": "me",
                "password": "env:P",
                "origin": "http://c.example:8080",
                "min_delay": 1,
            },
        }
    )
    new = config_of(
        place={
            "a.example": {
                "politeness": {"min_delay": 3, "visits_per_host": 2},
                "budget": {"pages_per_host": 5, "bytes_per_host": 1000},
                "fetch": {"max_host_speed": 2000},
            },
            "*.b.example": {"politeness": {"max_delay": 9, "factor": 2}, "credentials": {"token": "env:T"}},
            "http://c.example:8080": {"credentials": {"username": "me", "password": "env:P"}},
            "c.example": {"politeness": {"min_delay": 1}},
        }
    )  # fmt: skip
    assert old == new
    assert "[host" not in to_toml(old)
    assert said({"host": {"a.org": {"min_dely": 1}}}) == [
        'place."a.org".min_dely: is not a setting; did you mean politeness.min_delay?'
    ]
    (twice,) = said(
        {"host": {"a.org": {"max_pages": 1}}, "place": {"a.org": {"budget": {"pages_per_host": 2}}}}
    )
    assert twice == 'host."a.org".max_pages: is given in [host] and in [place]. Keep the one in [place]'


def exchange(url, media_type, address="192.0.2.1"):
    head = Headers([("Content-Type", media_type)])
    return Exchange(Url.parse(url), 0.0, b"", 200, b"", head, SimpleNamespace(size=0), address=address)


def test_rooms_are_answered_by_place_and_by_the_hour():
    hour = [12 * 60]
    effective = Effective(config_of(place=PLACES), lambda: hour[0])
    page, picture = "https://example.org/archive/a", "https://example.org/archive/b"
    assert effective.politeness_after(Url.parse(page), None).min_delay == 5
    assert effective.politeness_after(Url.parse(page), exchange(page, "text/html")).factor == 5
    after = effective.politeness_after(Url.parse(picture), exchange(picture, "Image/PNG; x=y"))
    assert (after.min_delay, after.factor) == (5, 0)
    assert effective.politeness("example.org").min_delay == effective.rest("example.org") == 2
    assert effective.rest("other.org") == 1
    hour[0] = 23 * 60
    assert effective.rest("other.org") == 0.001
    assert effective.rest("example.org") == 2  # who names a host goes before who names an hour
    assert effective.visits_at_once("www.example.net") == 4
    assert effective.visit_speed("www.example.net") == 250
    assert effective.visit_speed("example.org") == 0
    assert str(effective.host_spent("example.org", 7, 0)) == "pages_per_host 7"
    assert effective.host_spent("other.org", 7, 0) is None
    assert effective.retry(Url.parse("https://example.net/")).url_waits == ()
    assert effective.fetch(Url.parse(page)).agent == "archivist"
    assert effective.fetch(Url.parse(page), "", "image/gif").max_body == 1 << 20
    assert effective.crawl_spent(Counters(), 0, 0.0) is None


def test_without_places_each_section_is_the_very_same():
    config = config_of()
    effective, url = (
        Effective(config, lambda: pytest.fail("nobody asks for the hour")),
        Url.parse("https://a.org/"),
    )
    assert effective.politeness("a.org") is effective.politeness_after(url, None) is config.politeness
    assert effective.retry(url) is config.retry
    assert effective.fetch(url) is config.fetch
    assert effective.budget("a.org") is config.budget
    assert effective.credentials(url) is None
    assert effective.visit_speed("a.org") == 0


@pytest.mark.parametrize(
    ("place", "url", "sent"),
    [
        ("h.test", "https://h.test/", True),
        ("h.test", "http://h.test/", False),
        ("h.test", "https://h.test:8443/", False),
        ("http://h.test", "http://h.test/", True),
        ("http://h.test:80", "http://h.test/a", True),
        ("http://h.test", "https://h.test/", False),
        ("http://h.test:8080", "http://h.test:8081/", False),
        ("http://h.test:8080/a/", "http://h.test:8080/b", False),
        ("*.h.test", "https://h.test/", False),
        ("*.h.test", "https://a.h.test/", True),
        ("other.test", "https://h.test/", False),
    ],
)
def test_credentials_are_for_one_origin(place, url, sent):
    effective = Effective(config_of(place={place: {"credentials": {"token": "x"}}}), lambda: 0)
    assert (effective.credentials(Url.parse(url)) is not None) is sent
    told = {
        one.path: one.value for one in explained(effective.config, Asked(Url.parse(url).host, Url.parse(url)))
    }
    assert told["credentials.token"] == ("***" if sent else "none")


def test_what_is_proven_otherwise_is_handed_on_whole():
    said = {
        "username": "me",
        "password": "x",
        "scheme": "digest",
        "headers": {"X-Key": "k"},
        "certificate": "c.pem",
    }
    effective = Effective(config_of(place={"h.test": {"credentials": said}}), lambda: 0)
    assert effective.credentials(Url.parse("https://h.test/")) == Credentials(
        "me", "x", scheme="digest", headers=(("X-Key", "k"),), certificate="c.pem"
    )


@pytest.mark.parametrize(
    ("wrong", "path", "words"),
    [
        ({"headers": {"Host": "x"}}, "headers.Host", "not for operators"),
        ({"headers": {"cookie": "x"}}, "headers.cookie", "fetch.cookies_file"),
        ({"scheme": "digest"}, "scheme", "needs a username"),
        ({"key": "k.pem"}, "key", "needs the certificate"),
    ],
)
def test_proofs_that_cannot_be_are_refused(wrong, path, words):
    with pytest.raises(ConfigError, match=words) as told:
        config_of(place={"h.test": {"credentials": wrong}})
    assert f'place."h.test".credentials.{path}' in str(told.value)


def test_credentials_are_given_together_or_not_at_all():
    places = {
        "h.test": {"credentials": {"username": "me", "password": "x"}},
        "h.test/a/": {"credentials": {"token": "y"}},
    }
    effective = Effective(config_of(place=places), lambda: 0)
    assert effective.credentials(Url.parse("https://h.test/a/")).fields == [b"Authorization: Bearer y"]
    assert effective.credentials(Url.parse("https://h.test/b")).fields[0].startswith(b"Authorization: Basic")
    assert "hunter2" not in repr(CredentialsConfig(token="hunter2"))
    assert [setting.name for setting in settings_of(CredentialsConfig) if setting.shape.secret] == [
        "password",
        "token",
        "headers",
        "key_password",
    ]


def test_what_won_is_told_with_what_it_beats():
    config = config_of(place={**PLACES, ".org": {"politeness": {"min_delay": 3}}})
    url = Url.parse("https://example.org/archive/x")
    told = {one.path: one for one in explained(config, Asked(url.host, url, minute=0))}
    one = told["politeness.min_delay"]
    assert (one.value, one.place) == ('"5s"', "example.org/archive/")
    assert [(beaten.place, str(beaten.by)) for beaten in one.beaten] == [
        ("example.org", "path"), (".org", "host"), ("time:22:00-06:00", "host"),
    ]  # fmt: skip
    assert told["politeness.max_delay"].place == ""


@pytest.mark.parametrize("url", ["http://192.0.2.7/", "http://[2001:db8::1]:8080/"])
def test_a_host_that_is_an_address_has_it(url):
    nets = ("192.0.2.0/24", "2001:db8::/32")
    config = config_of(place={f"address:{net}": {"politeness": {"min_delay": 7}} for net in nets})
    told = {one.path: one for one in settings_there(config, url).settings}
    assert told["politeness.min_delay"].place in {f"address:{net}" for net in nets}
    elsewhere = settings_there(config, url, address="198.51.100.1").settings
    assert {one.path: one for one in elsewhere}["politeness.min_delay"].place == ""
