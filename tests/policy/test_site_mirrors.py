"""At which of a site's addresses each URL is asked for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.model.errors import ConfigError
from gossamer.model.posted import METHOD
from gossamer.model.url import Url
from gossamer.policy.urls.canonical import CanonicalConfig, Canonicaliser
from gossamer.policy.urls.mirrors import Mirrors, MirrorsConfig, mirror_address

ADDRESSES = ("https://a.example/debian/", "http://b.example/pub/deb", "ftp://c.example/", "d.example:8080")
FOLDERS = (
    "https://a.example/debian/",
    "http://b.example/pub/deb/",
    "ftp://c.example/",
    "https://d.example:8080/",
)


def url(text):
    parsed = Url.parse(text)
    assert parsed is not None, text
    return parsed


def mirrors(*groups, **canonical):
    groups = groups or (ADDRESSES,)
    return Mirrors(
        [MirrorsConfig(addresses=group) for group in groups], Canonicaliser(CanonicalConfig(**canonical))
    )


@given(st.text(alphabet="abc/%41~?=&. ", max_size=20), st.integers(0, 3))
def test_all_urls_of_a_document_are_one_wherever_it_was_mentioned(name, at):
    shared = mirrors()
    mentioned = url(FOLDERS[at] + name.lstrip("/."))
    of_it = shared.all_of(mentioned)
    if not of_it:  # dots have led out of the folder
        return
    assert all(any(one.text.startswith(folder) for one in of_it) for folder in FOLDERS)
    assert {shared.address(one).text for one in of_it} == {of_it[0].text}
    assert [one.text for one in of_it[1:]] == [shared.after(one).text for one in of_it[:-1]]
    assert shared.after(of_it[-1]) is None
    assert {shared.first_named(one).text for one in of_it} == {
        next(o.text for o in of_it if o.host == "a.example")
    }
    assert shared.same(of_it[0], of_it[-1]) and shared.same(mentioned, of_it[1])


def test_each_address_has_its_part_and_each_of_the_others_takes_over_of_it():
    shared, asked = mirrors(), Counter()
    for number in range(4_000):
        first, second, *_ = shared.all_of(url(f"https://a.example/debian/{number}"))
        asked[first.host, second.host] += 1
    assert len(asked) == 12
    assert all(250 < times < 420 for times in asked.values()), asked


def test_the_order_of_the_addresses_does_not_matter_to_where_a_page_is_asked_for():
    one, other = mirrors(), mirrors(ADDRESSES[::-1])
    for number in range(100):
        page = url(f"http://b.example/pub/deb/{number}")
        assert one.all_of(page) == other.all_of(page)


def test_those_that_were_passed_over_have_their_turn_where_it_is_known_which_were_tried():
    shared = mirrors()
    of_it = shared.all_of(url("https://a.example/debian/x"))
    tried = {of_it[2]}
    asked = [of_it[2]]
    while (following := shared.after(asked[-1], lambda one: one not in tried)) is not None:
        asked.append(following)
        tried.add(following)
    assert asked == [of_it[2], *of_it[3:], *of_it[:2]]


def test_spellings_of_one_page_are_asked_for_at_one_address():
    shared = mirrors(also=("trailing-slash",))
    for number in range(50):
        spellings = [f"https://a.example/debian/~{number}", f"ftp://c.example/%7E{number}/"]
        assert len({shared.address(url(text)).host for text in spellings}) == 1
        assert shared.same(*map(url, spellings))


def test_the_url_asked_for_is_spelled_as_it_was_found():
    shared = mirrors()
    assert {
        one.target.rpartition("/")[2] for one in shared.all_of(url("https://a.example/debian/%7Ex?"))
    } == {"%7Ex?"}


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/debian",
        "https://a.example/debianx/y",
        "https://a.example/",
        "https://sub.a.example/debian/x",
        "https://a.example:8443/debian/x",
        "ftp://a.example/debian/x",
        "https://b.example/pub/x",
        f"https://a.example/debian/search?{METHOD}POST&q=x",
    ],
)
def test_what_is_of_no_such_site_stays_where_it_is(text):
    shared, page = mirrors(), url(text)
    assert shared.address(page) is page and shared.first_named(page) is page
    assert (shared.after(page), shared.all_of(page), shared.has(page)) == (None, (), False)
    assert not shared.same(page, page)


def test_http_and_https_of_a_host_are_one_address():
    shared = mirrors()
    assert shared.same(url("http://a.example/debian/x"), url("https://a.example/debian/x"))
    assert shared.all_of(url("http://a.example/debian/x")) == shared.all_of(url("https://a.example/debian/x"))


def test_addresses_stand_on_hosts_and_ports():
    shared = mirrors()
    stands = [
        shared.stand_on(url(text))
        for text in ("http://a.example/robots.txt", "http://d.example/", "ftp://x.y/")
    ]
    assert stands == [True, False, False]


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("a.example", "https://a.example/"),
        (" http://A.example:80/x ", "http://a.example/x/"),
        ("sftp://a.example/pub", "sftp://a.example/pub/"),
        ("https://a.example/@x", "https://a.example/@x/"),
        ("https://a.example/?x", None),
        ("https://u@a.example/", None),
        ("file:///srv/", None),
        ("mailto:x@y.example", None),
        ("", None),
    ],
)
def test_what_an_address_may_be(text, folder):
    found = mirror_address(text)
    assert (found and found.text) == folder


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([["a.example"]], ["mirrors[0].addresses: one address is no mirror"]),
        ([[]], ["mirrors[0].addresses: one address is no mirror"]),
        (
            [["a.example", "https://u:secret@b.example/"]],
            ["mirrors[0].addresses: 'b.example/' is no address of a site"],
        ),
        (
            [["http://a.example", "https://a.example/x"]],
            ["mirrors[0].addresses: http://a.example/ and https://a.example/x/ are not apart"],
        ),
        (
            [["a.example/x", "b.example"], ["c.example", "a.example/x/y"]],
            ["mirrors: https://a.example/x/ and https://a.example/x/y/ are not apart"],
        ),
    ],
)
def test_wrong_settings_are_told_once_each(groups, said):
    with pytest.raises(ConfigError) as error:
        load(CrawlConfig, {"mirrors": [{"addresses": group} for group in groups]})
    lines = str(error.value).splitlines()
    assert len(lines) == len(said)
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True)), lines
    assert "secret" not in str(error.value)


def test_neighbouring_folders_and_other_schemes_are_apart():
    groups = [["a.example/x", "a.example/xy"], ["ftp://a.example/", "sftp://a.example"]]
    config = load(CrawlConfig, {"mirrors": [{"addresses": group} for group in groups]})
    assert config.shared_out is not None and len(config.shared_out.groups) == 2
    assert CrawlConfig().shared_out is None and CrawlConfig().known_as is None
