"""What pages say: main text, Markdown, facts, data, links, images."""

import numpy as np
import pytest

from gossamer.documents.markup.block_model import BlockModel, Tree, block_model, most_likely
from gossamer.documents.markup.dates import iso_date
from gossamer.documents.reading import read
from gossamer.documents.said import Alternate, Dimensions, DocumentText, Mark, Medium, Picture, Reference

URL = "https://www.site.test/blog/2024/05/06/a-page"
PROSE = "This is a paragraph of the article, long enough to be taken for prose, with commas and a full stop. "
PAGE = f"""<!doctype html><html lang="en-GB"><head><title>A good heading | The Site</title>
<base href="/base/">
<link rel="canonical" href="/canonical"><link rel="alternate" hreflang="de" href="/de" type="text/html">
<meta property="og:title" content="A good heading"><meta name="description" content="What it is about">
<script type="application/ld+json">/*<![CDATA[*/ {{"@graph": [{{"@type": "NewsArticle", "headline": "A good heading",
 "author": {{"name": "Ada L"}}, "datePublished": "2024-05-07T08:09:10+0200",}}]}} /*]]>*/</script></head>
<body><nav class="menu"><ul><li><a href="/home">Home</a></li><li><a href="/about">About us</a></li></ul></nav>
<main><article class="post-content"><h1>A good heading</h1><p>{PROSE * 3}<a href="other">a link</a></p>
<h2>Second</h2><p>{PROSE * 2}</p><pre><code>x = 1
  y = 2</code></pre><ul><li>{PROSE}<code><span>f(a, </span><span>b)</span></code></li></ul><img src="a.png" alt="A picture" width="30" height="20px">
<p>{PROSE} <a href="mailto:ada@site.test?subject=x">write</a></p>
<video title="Film"><source src="f.mp4" type="video/mp4"></video></article></main>
<div itemscope itemtype="https://schema.org/Product"><span itemprop="name">Tea</span><meta itemprop="sku" content="7">
<div itemprop="offers" itemscope><b itemprop="price">3</b></div></div>
<div class="vcard"><span class="fn">Bob</span><a class="url" href="/bob">his page</a></div>
<div class="h-entry"><a class="p-name u-url" href="/note">Note</a><time class="dt-published" datetime="2024-01-02">x</time></div>
<footer class="footer"><p>© 2024 The Site. All rights reserved.</p><a href="/files/report.pdf">Report</a></footer></body></html>"""


@pytest.fixture(scope="module")
def said() -> DocumentText:
    return read(PAGE.encode(), URL, "text/html")


def test_main_text(said: DocumentText) -> None:
    assert said.text.text.startswith("A good heading\nThis is a paragraph")
    assert said.text.text.count("This is a paragraph") >= 6
    assert "All rights reserved" not in said.text.text
    assert "About us" not in said.text.text
    assert (said.text.extractor, said.text.version) == ("blocks", block_model().version)
    assert 0.5 < said.text.confidence <= 1
    assert said.marks == ()


def test_markdown(said: DocumentText) -> None:
    assert "# A good heading" in said.markdown.text
    assert "## Second" in said.markdown.text
    assert "[a link](" in said.markdown.text
    assert "x = 1\n  y = 2" in said.markdown.text
    assert "`f(a, b)`" in said.markdown.text
    assert "About us" not in said.markdown.text
    assert said.markdown.extractor == "html-to-markdown"


def test_facts(said: DocumentText) -> None:
    facts = said.metadata
    assert facts.title == "A good heading"
    assert facts.authors == ("Ada L",)
    assert facts.published == "2024-05-07T08:09:10+02:00"
    assert facts.description == "What it is about"
    assert facts.canonical == "https://www.site.test/canonical"
    assert (facts.language, said.language) == ("en-gb", "en-gb")
    assert said.alternates == (Alternate("https://www.site.test/de", "de", "text/html"),)
    assert said.properties["og:title"] == ["A good heading"]


def test_data(said: DocumentText) -> None:
    assert [item["@type"] for item in said.json_ld] == ["NewsArticle"]  # type: ignore[index]
    assert said.microdata == (
        {
            "type": ["https://schema.org/Product"],
            "properties": {
                "name": ["Tea"],
                "sku": ["7"],
                "offers": [{"type": [], "properties": {"price": ["3"]}}],
            },
        },
    )
    assert said.microformats == (
        {"type": ["h-card"], "properties": {"name": ["Bob"], "url": ["https://www.site.test/bob"]}},
        {
            "type": ["h-entry"],
            "properties": {
                "name": ["Note"],
                "url": ["https://www.site.test/note"],
                "published": ["2024-01-02"],
            },
        },
    )


def test_links_images_and_files(said: DocumentText) -> None:
    assert Reference("https://www.site.test/base/other", "a link") in said.links
    assert said.files == (Reference("https://www.site.test/files/report.pdf", "Report"),)
    assert said.images == (Picture("https://www.site.test/base/a.png", "A picture", Dimensions(30, 20)),)
    assert said.media == (Medium("https://www.site.test/base/f.mp4", "video", "video/mp4", "Film"),)
    assert said.emails == ("ada@site.test",)


def test_text_that_is_shown_to_readers_without_scripts() -> None:
    page = f"<html><body><div id=app></div><noscript><h1>Topic</h1><p>{PROSE * 4}</p><p>{PROSE * 3}!</p></noscript></body></html>"
    said = read(page.encode(), URL, "text/html")
    assert "This is a paragraph" in said.text.text
    assert "This is a paragraph" in said.markdown.text


def test_text_that_scripts_would_unhide_is_in_both() -> None:
    page = f"<html><body><div hidden id=S><main><h1>Topic</h1><p>{PROSE * 4}</p><p>{PROSE * 3}!</p></main></div></body></html>"
    said = read(page.encode(), URL, "text/html")
    assert ("This is a paragraph" in said.text.text) == ("This is a paragraph" in said.markdown.text)


def test_a_fragment_and_a_short_page_have_their_text() -> None:
    for page in (f"<p>{PROSE}</p>", "<html><body><p>Only a few words here.</p></body></html>"):
        said = read(page.encode(), URL, "text/html")
        assert said.text.text
        assert said.markdown.text


def test_a_page_without_text_is_marked() -> None:
    assert Mark.NO_TEXT in read(b"<html><body><img src=x></body></html>", URL, "text/html").marks


def test_the_choice_promises_the_highest_f1() -> None:
    words = np.array([100.0, 100.0, 100.0, 10.0])
    chosen, expected = most_likely(np.array([0.9, 0.5, 0.1, 0.0]), words)
    assert chosen.tolist() == [True, True, False, False]
    assert expected == pytest.approx(2 * 140 / (200 + 150))
    doubtful, _ = most_likely(np.array([0.3, 0.3, 0.3, 0.0]), words)
    assert doubtful.tolist() == [True, True, True, False]


def test_trees_are_followed_to_leaves_of_any_depth() -> None:
    tree = Tree(
        [0, -1, 1, -1, -1], [0.5, 0, 0.5, 0, 0], [1, 0, 3, 0, 0], [2, 0, 4, 0, 0], [0, 0.1, 0, 0.2, 0.3]
    )
    leaf = Tree([-1], [0], [0], [0], [0.05])
    table = np.array([[0, 0], [1, 0], [1, 1]], np.float32)
    found = BlockModel("t", ["a", "b"], 0.5, [tree, leaf]).prepared().predict(table)
    assert found.tolist() == pytest.approx([0.65, 0.75, 0.85])


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("2024-05-06", "2024-05-06"),
        ("2024-5-6 7:08", "2024-05-06T07:08:00"),
        ("2024-05-06T07:08:09.123Z", "2024-05-06T07:08:09Z"),
        ("20240506", "2024-05-06"),
        ("2024/05/06", "2024-05-06"),
        ("Mon, 06 May 2024 07:08:09 GMT", "2024-05-06T07:08:09Z"),
        ("May 6, 2024", "2024-05-06"),
        ("6th May 2024", "2024-05-06"),
        ("2024-13-06", ""),
        ("0000-00-00", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates(written: str, found: str) -> None:
    assert iso_date(written) == found


def test_a_refrain_is_kept_and_a_second_copy_of_a_page_is_not() -> None:
    refrain = "And the rain came down upon the roof all day long."
    verses = [
        f"Verse number {number} tells of another day, and of what was done in it." for number in range(9)
    ]
    poem = "".join(f"<p>{verse}</p><p>{refrain}</p>" for verse in verses)
    said = read(f"<title>Poem</title><article>{poem}</article>".encode(), URL, "text/html")
    assert said.text.text.count(refrain) == 9
    once = "".join(f"<p>{verse}</p>" for verse in verses)
    page = f"<title>Poem</title><main><div class=wide>{once}</div><div class=narrow>{once}</div></main>"
    assert read(page.encode(), URL, "text/html").text.text.count("Verse number 4") == 1


def test_nothing_is_lost_from_the_middle_of_a_list() -> None:
    terms = "".join(
        f"<dt><code>--option-{number}</code></dt><dd><p>{PROSE if number % 3 else '<code>raw</code> as it is.'}</p></dd>"
        for number in range(30)
    )
    said = read(
        f"<title>Manual</title><h1>Options</h1><p>{PROSE * 3}</p><dl>{terms}</dl>".encode(), URL, "text/html"
    )
    assert [number for number in range(1, 29) if f"--option-{number}" not in said.text.text] == []


SAID = "Otters live at rivers, where they hunt for fish and build their homes in the banks under old trees. "
LAST = "The count will be repeated next year in spring, says the ministry."


@pytest.mark.parametrize("times", [5, 500])
def test_a_short_paragraph_beside_a_huge_one_is_text(times: int) -> None:
    """The huge one decides alone how good a choice seems."""
    content = (
        "<title>Otters of the river</title><nav><a href=/>Home</a> <a href=/b>News</a></nav>"
        f"<article><h1>Otters of the river</h1><p>{SAID * 2}<p>{SAID * times}<p>{LAST}</article>"
        "<footer><p>Copyright 2026 by us</footer>"
    )
    lines = read(content.encode(), URL, "text/html").text.text.splitlines()
    assert lines == ["Otters of the river", (SAID * 2).strip(), (SAID * times).strip(), LAST]
