"""What is read of one page: links with their words, places, structure; within bounds, whatever the page is."""

import tracemalloc

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as some

from gossamer.audit import page as audited
from gossamer.audit.page import LONGEST_URL, AuditedPage, mixed, read_page
from gossamer.audit.page_rules import Carried, page_findings
from gossamer.audit.rules import Rule
from gossamer.audit.soft import is_like, looks_missing
from gossamer.audit.tags import wrong_tags

URL = "https://example.org/dir/page"
SMALL = Carried(100, 0.1, 100, packed=False)


def read(markup: str, url: str = URL) -> AuditedPage:
    return read_page(markup.encode(), "utf-8", url)


def rules(markup: str, carried: Carried = SMALL) -> set[Rule]:
    return {rule for rule, _ in page_findings(URL, read(markup), carried)}


@pytest.mark.parametrize(
    ("markup", "address", "text"),
    [
        ('<a href="x">two  <b>words</b></a>', "https://example.org/dir/x", "two words"),
        ('<a href="#a%20b">x</a>', f"{URL}#a%20b", "x"),
        ('<base href="/other/"><a href="x#y">x</a>', "https://example.org/other/x#y", "x"),
        ('<a href="//e.net/p?q#f"><img alt=picture></a>', "https://e.net/p?q#f", "picture"),
        ('<a href="x" aria-label="said"></a>', "https://example.org/dir/x", "said"),
        ('<img src="i.png" alt="an image">', "https://example.org/dir/i.png", "an image"),
        ('<img srcset="a.png 1x, b.png 2x">', "https://example.org/dir/b.png", ""),
        ('<link rel="stylesheet" href="s.css">', "https://example.org/dir/s.css", ""),
        ('<meta http-equiv=refresh content="0; url=next">', "https://example.org/dir/next", ""),
        ('<iframe src="f"></iframe>', "https://example.org/dir/f", ""),
        ('<a href="http://user:pw@e.net/">x</a>', "http://e.net/", "x"),
        ('<a href="http://b\u00fccher.example/">x</a>', "http://xn--bcher-kva.example/", "x"),
        ('<a href="HTTP://E.NET:80/%7e\u00e9#\u00e9">x</a>', "http://e.net/%7e%C3%A9#%C3%A9", "x"),
    ],
)
def test_links(markup: str, address: str, text: str) -> None:
    found = {link.address: link.text for link in read(markup).links}
    assert found[address] == text


@pytest.mark.parametrize(
    "address",
    [
        "mailto:a@b",
        "tel:+1",
        "javascript:alert(1)",
        "data:text/html,x",
        "  JavaScript:x",
        "about:blank",
        "blob:x",
    ],
)
def test_what_is_no_page_is_no_link(address: str) -> None:
    assert read(f'<a href="{address}">x</a>').links == []


@pytest.mark.parametrize("address", ["http://exa mple/", "http://[1/", "http://", "http://a:99999/"])
def test_what_is_no_address_is_told_as_written(address: str) -> None:
    (link,) = read(f'<a href="{address}">x</a>').links
    assert (link.valid, link.url) == (False, address)


def test_an_address_of_a_megabyte_is_cut() -> None:
    (link,) = read(f'<a href="http://e.net/{"x" * (1 << 20)}">x</a>').links
    assert len(link.url) == LONGEST_URL


def test_places() -> None:
    places = read('<p id=a><a name=b></a><h2>First  steps!</h2><script>x.id = "made"</script>').places
    assert set(places.names) == {"a", "b"}
    assert places.headings == {"first-steps"}
    assert places.scripts
    assert "made" in places.script_text
    assert not read('<script type="application/ld+json">{"id": "createElement"}</script>').places.scripts


WELL = '<html lang=en><title>Title</title><meta name=description content="About."><h1>Heading</h1><img src=x alt="">'


@pytest.mark.parametrize(
    ("markup", "rule"),
    [
        (WELL.replace("<title>Title</title>", ""), Rule.TITLE_MISSING),
        (WELL.replace("Title", "x" * 71), Rule.TITLE_LONG),
        (WELL.replace("</title>", "</title><title>again</title>"), Rule.TITLE_MANY),
        (WELL.replace("About.", ""), Rule.DESCRIPTION_MISSING),
        (WELL.replace("About.", "x" * 321), Rule.DESCRIPTION_LONG),
        (WELL.replace("Heading", ""), Rule.H1_MISSING),
        (WELL + "<h1>Another</h1>", Rule.H1_MANY),
        (WELL + "<h3>Deep</h3>", Rule.HEADING_SKIPPED),
        (WELL.replace(" lang=en", ""), Rule.LANG_MISSING),
        (WELL.replace(' alt=""', ""), Rule.ALT_MISSING),
        (WELL + "<p id=a><p id=a>", Rule.ID_DOUBLED),
        (WELL + "<div>", Rule.TAGS_WRONG),
        (WELL + '<script src="http://e.net/x.js"></script>', Rule.MIXED_ACTIVE),
        (WELL + '<img alt="" src="http://e.net/x.png">', Rule.MIXED_CONTENT),
        (WELL + '<link rel=canonical href="/a"><link rel=canonical href="/b">', Rule.CANONICAL_MANY),
        ("<div>" * 1_000, Rule.PAGE_UNREAD),
    ],
)
def test_rules_of_pages(markup: str, rule: Rule) -> None:
    assert rule in rules(markup)
    assert rules(WELL) == set()


def test_rules_of_transfer() -> None:
    assert rules(WELL, Carried(3 << 20, 4.0, 3 << 20, packed=False)) == {
        Rule.PAGE_LARGE,
        Rule.PAGE_SLOW,
        Rule.UNCOMPRESSED,
    }
    assert rules(WELL, Carried(20_000, 0.1, 200_000, packed=True)) == set()


def test_pages_of_http_load_what_they_like() -> None:
    assert list(mixed("http://e.net/", read('<img src="http://e.net/x.png">').links)) == []


@pytest.mark.parametrize(
    ("markup", "wrong"),
    [
        ("<div><b>x</b></div><!-- <div> --><script>'<div>'</script><p>a<p>b<br><li>", []),
        ("<div><b>x</div></b>", ["<b>", "</b>"]),
        ("</span>", ["</span>"]),
        ("<div><svg><div></svg></div>", []),
        ("<a title='>' href=x>y</a>", []),
        ("<div", []),
    ],
)
def test_tags(markup: str, wrong: list[str]) -> None:
    assert wrong_tags(markup.encode()) == wrong


@pytest.mark.parametrize(
    "piece", ["<a ", '<a "', "<!--", "</b>", "<b>", "<svg>", "<script>", "<a '<a \"", "<div><b></div>"]
)
def test_hostile_tags_take_linear_time(piece: str) -> None:
    """In quadratic time it would run into the limit of a test."""
    assert len(wrong_tags((piece * 100_000).encode())) <= 100


def test_a_page_of_very_many_links_is_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audited, "MOST_LINKS", 100)
    page = read("".join(f"<a href=/{number}>x</a>" for number in range(110)))
    assert len(page.links) == 100
    assert page.problems == ["links"]


@settings(max_examples=examples(60), deadline=None)
@given(
    some.text(max_size=300),
    some.sampled_from(["<a href='%s'>", "<base href='%s'><a href=x>", "<h1 id='%s'>%s", "%s"]),
)
def test_any_page_is_read(text: str, frame: str) -> None:
    page = read(frame.replace("%s", text))
    assert all("\n" not in link.address and "\x00" not in link.address for link in page.links)


def test_missing_pages_that_say_so() -> None:
    assert looks_missing(read("<title>404 - Not Found</title><p>Sorry"))
    assert looks_missing(read("<h1>Seite nicht gefunden</h1>"))
    assert not looks_missing(read("<title>What a 404 is</title>" + "<p>Long text." * 200))
    assert not looks_missing(read("<title>Welcome</title><p>404"))
    assert is_like(
        "nothing at /a here, go home or search for it now", "nothing at /a here, go home or search for it now"
    )
    assert not is_like("nothing here", "all there is to know of tea")


def test_memory_of_a_large_page_is_bounded() -> None:
    markup = ("<p>" + "x" * 997) * 2_000
    tracemalloc.start()
    read_page(markup.encode(), "utf-8", URL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 << 20
