"""Title, authors, dates and language of pages that say them in the many ways in which pages do."""

# ruff: noqa: RUF001

import json
from typing import Any

import pytest

from gossamer.documents.language import language_of
from gossamer.documents.markup.dates import date_in, iso_date
from gossamer.documents.reading import read

P = (
    "<p>This is a paragraph of the article, long enough to be taken for prose, with commas and a full stop.</p>"
    * 3
)
CASES: list[Any] = []


def c(
    name: str, head: str, body: str, title: str, authors: tuple[str, ...], published: str, language: str,
    modified: str = "", url: str = "https://www.site.test/a/page", attrs: str = ' lang="en"',
) -> None:  # fmt: skip
    page = f"<!doctype html><html{attrs}><head>{head}</head><body>{body}{P}</body></html>"
    CASES.append(pytest.param(page, url, (title, authors, published, modified), language, id=name))


def ld(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


c(
    "jsonld plain",
    "<title>Big news | Daily</title>"
    + ld(
        {
            "@type": "NewsArticle",
            "headline": "Big news",
            "author": {"@type": "Person", "name": "Ada Lovelace"},
            "datePublished": "2024-03-05T10:11:12Z",
            "dateModified": "2024-03-06",
        }
    ),
    "<h1>Big news</h1>",
    "Big news",
    ("Ada Lovelace",),
    "2024-03-05T10:11:12Z",
    "en",
    modified="2024-03-06",
)
c(
    "several h1",
    "<title>The right one - Blog</title>",
    "<h1>Blog</h1><h1>The right one</h1><h1>Newsletter</h1>",
    "The right one",
    (),
    "",
    "en",
)
c(
    "h1 is the site",
    "<title>Recipes for soup | Tasty</title><meta property='og:site_name' content='Tasty'>",
    "<h1><a href=/>Tasty</a></h1><h2>Recipes for soup</h2>",
    "Recipes for soup",
    (),
    "",
    "en",
)
c(
    "site first",
    "<title>Tasty: Recipes for soup</title><meta property='og:site_name' content='Tasty'>",
    "<h2>x</h2>",
    "Recipes for soup",
    (),
    "",
    "en",
)
c(
    "site first pipe",
    "<title>Tasty | Recipes for soup</title><meta property='og:site_name' content='Tasty'>",
    "",
    "Recipes for soup",
    (),
    "",
    "en",
)
c(
    "site by host",
    "<title>Recipes for soup - Tasty Kitchen</title>",
    "",
    "Recipes for soup",
    (),
    "",
    "en",
    url="https://www.tastykitchen.com/a",
)
c(
    "invalid jsonld",
    '<title>T one</title><script type=\'application/ld+json\'>{"@type":"Article","headline":"T one","author":{"name":"Bo Li"},}\n// c\n</script><meta name=author content=\'Bo Li\'>',
    "<h1>T one</h1>",
    "T one",
    ("Bo Li",),
    "",
    "en",
)
c(
    "jsonld broken quotes",
    '<title>T two</title><script type=\'application/ld+json\'>{"@type":"Article","headline":"A "quoted" word","datePublished":"2023-01-02","author":{"name":"Cy"}}</script>',
    "<h1>T two</h1>",
    "T two",
    ("Cy",),
    "2023-01-02",
    "en",
)
c(
    "graph yoast",
    "<title>Post - Site</title>"
    + ld(
        {
            "@graph": [
                {
                    "@type": "WebPage",
                    "@id": "#w",
                    "name": "Post - Site",
                    "datePublished": "2022-02-02T00:00:00+00:00",
                },
                {
                    "@type": "Article",
                    "headline": "Post",
                    "author": {"@id": "#p"},
                    "datePublished": "2022-02-02T00:00:00+00:00",
                    "isPartOf": {"@id": "#w"},
                },
                {"@type": "Person", "@id": "#p", "name": "Dee Dee"},
                {"@type": "WebSite", "name": "Site"},
            ]
        }
    ),
    "<h1>Post</h1>",
    "Post",
    ("Dee Dee",),
    "2022-02-02T00:00:00+00:00",
    "en",
)
c(
    "several authors",
    "<title>X paper</title>"
    + ld(
        {
            "@type": "ScholarlyArticle",
            "headline": "X paper",
            "author": [{"name": "A One"}, {"name": "B Two"}, "C Three"],
            "datePublished": "2021",
        }
    ),
    "<h1>X paper</h1>",
    "X paper",
    ("A One", "B Two", "C Three"),
    "2021",
    "en",
)
c(
    "citation",
    "<title>Paper</title><meta name=citation_title content='Paper of note'><meta name=citation_author content='Doe, Jane'><meta name=citation_author content='Roe, Rick'><meta name=citation_publication_date content='2019/07/15'>",
    "<h1>Paper of note</h1>",
    "Paper of note",
    ("Doe, Jane", "Roe, Rick"),
    "2019-07-15",
    "en",
)
c(
    "og article",
    "<title>OG</title><meta property='og:title' content='OG title'><meta property='article:published_time' content='2020-05-06T07:08:09+02:00'><meta property='article:author' content='https://facebook.com/x'><meta name='author' content='Ed E'>",
    "<h1>OG title</h1>",
    "OG title",
    ("Ed E",),
    "2020-05-06T07:08:09+02:00",
    "en",
)
c(
    "microdata",
    "<title>MD | S</title>",
    "<article itemscope itemtype='https://schema.org/Article'><h1 itemprop=headline>MD</h1><span itemprop=author itemscope><b itemprop=name>Flo F</b></span><meta itemprop=datePublished content='2018-04-03'><meta itemprop='dateModified' content='2018-04-04'></article>",
    "MD",
    ("Flo F",),
    "2018-04-03",
    "en",
    modified="2018-04-04",
)
c(
    "microdata rdfa date text",
    "<title>MD2</title>",
    "<h1>MD2</h1><span itemprop=datePublished>March 4, 2017</span><span itemprop=author>By Gil G</span>",
    "MD2",
    ("Gil G",),
    "2017-03-04",
    "en",
)
c(
    "time tag",
    "<title>TT</title>",
    "<article><h1>TT</h1><time datetime='2016-12-24T18:00'>Christmas</time></article>",
    "TT",
    (),
    "2016-12-24T18:00:00",
    "en",
)
c(
    "time text",
    "<title>TT2</title>",
    "<article><h1>TT2</h1><time>24 December 2016</time></article>",
    "TT2",
    (),
    "2016-12-24",
    "en",
)
c(
    "hAtom",
    "<title>HA</title>",
    "<div class=hentry><h1 class=entry-title>HA</h1><abbr class='published' title='2015-01-31T00:00:00Z'>Jan</abbr><span class='vcard author'><a class=fn>Hal H</a></span></div>",
    "HA",
    ("Hal H",),
    "2015-01-31T00:00:00Z",
    "en",
)
c(
    "byline class",
    "<title>BL</title>",
    "<h1>BL</h1><p class='byline'>By <a href=/i>Ivy I</a></p><p class=date>12.03.2014</p>",
    "BL",
    ("Ivy I",),
    "2014-03-12",
    "en",
)
c(
    "german",
    "<title>Nachricht</title>",
    "<h1>Nachricht</h1><p class='author'>Von Jörg Müller</p><span class='date'>3. Mai 2013, 12:30 Uhr</span>",
    "Nachricht",
    ("Jörg Müller",),
    "2013-05-03T12:30:00",
    "de",
    attrs=' lang="de-DE"',
)
c(
    "french",
    "<title>Actualité</title>",
    "<h1>Actualité</h1><span class='author'>Par Léa D</span><time>le 1er février 2012</time>",
    "Actualité",
    ("Léa D",),
    "2012-02-01",
    "fr",
    attrs=' lang="fr"',
)
c(
    "spanish",
    "<title>Noticia</title>",
    "<h1>Noticia</h1><span class=fecha>14 de agosto de 2011</span>",
    "Noticia",
    (),
    "2011-08-14",
    "es",
    attrs=' lang="es"',
)
c(
    "zh meta",
    "<title>标题文章_网站</title><meta property='og:site_name' content='网站'>",
    "<h1>标题文章</h1><div class=info>2010年9月8日 10:20 来源：网站 作者：韩梅梅</div>",
    "标题文章",
    ("韩梅梅",),
    "2010-09-08T10:20:00",
    "zh",
    attrs=' lang="zh-CN"',
)
c(
    "ja",
    "<title>記事｜サイト</title><meta property='og:site_name' content='サイト'>",
    "<div class=date>2009年7月6日</div>",
    "記事",
    (),
    "2009-07-06",
    "ja",
    attrs=' lang="ja"',
)
c(
    "ko",
    "<title>기사 제목 - 신문</title><meta property='og:site_name' content='신문'>",
    "<h1>기사 제목</h1><span class=date>입력 2008.05.04. 오전 9:30</span><span class=byline>홍길동 기자</span>",
    "기사 제목",
    ("홍길동",),
    "2008-05-04T09:30:00",
    "ko",
    attrs=' lang="ko"',
)
c(
    "tw",
    "<title>新聞 | 日報</title>",
    "<h1>新聞</h1><p class=author>記者陳美玲／台北報導</p><span class=time>2007/06/05 10:00</span>",
    "新聞",
    ("陳美玲",),
    "2007-06-05T10:00:00",
    "zh",
    attrs=' lang="zh-TW"',
)
c(
    "us slashed",
    "<title>US</title>",
    "<h1>US</h1><span class=date>07/25/2006</span>",
    "US",
    (),
    "2006-07-25",
    "en",
    attrs=' lang="en-US"',
)
c(
    "uk slashed",
    "<title>UK</title>",
    "<h1>UK</h1><span class=date>25/07/2006</span>",
    "UK",
    (),
    "2006-07-25",
    "en",
    attrs=' lang="en-GB"',
)
c(
    "ambiguous slashed is none",
    "<title>AM</title>",
    "<h1>AM</h1><meta name=date content='04/05/2006'>",
    "AM",
    (),
    "",
    "en",
    attrs="",
)
c(
    "rfc822",
    "<title>RF</title><meta name=date content='Tue, 05 Apr 2005 10:11:12 GMT'>",
    "<h1>RF</h1>",
    "RF",
    (),
    "2005-04-05T10:11:12Z",
    "en",
)
c(
    "unix",
    "<title>UX</title><meta name=timestamp content='1700000000'>",
    "<h1>UX</h1>",
    "UX",
    (),
    "2023-11-14T22:13:20Z",
    "en",
)
c(
    "millis iso",
    "<title>MS</title><meta property='article:published_time' content='2004-03-02T01:02:03.456Z'>",
    "<h1>MS</h1>",
    "MS",
    (),
    "2004-03-02T01:02:03Z",
    "en",
)
c(
    "future comment time not taken",
    "<title>CT</title>",
    "<h1>CT</h1><div class=comments><div class=comment><time datetime='2023-01-01'>x</time></div></div>",
    "CT",
    (),
    "",
    "en",
)
c(
    "url date",
    "<title>UD</title>",
    "<h1>UD</h1>",
    "UD",
    (),
    "2003-02-01",
    "en",
    url="https://x.test/2003/02/01/ud.html",
)
c("lang wrong", "<title>LW</title>", "<h1>LW</h1>", "LW", (), "", "en", attrs=' lang="de"')
c(
    "lang meta",
    "<title>LM</title><meta http-equiv=content-language content='en-US'>",
    "<h1>LM</h1>",
    "LM",
    (),
    "",
    "en",
    attrs="",
)
c(
    "og locale",
    "<title>LO</title><meta property=og:locale content='en_GB'>",
    "<h1>LO</h1>",
    "LO",
    (),
    "",
    "en",
    attrs="",
)
c(
    "author twitter",
    "<title>AT</title><meta name='twitter:creator' content='@x'><meta name=author content='admin'>",
    "<h1>AT</h1><a rel=author href=/u>Kay K</a>",
    "AT",
    ("Kay K",),
    "",
    "en",
)
c(
    "author list in one",
    "<title>AL</title><meta name=author content='Lee L, Mo M and Ned N'>",
    "<h1>AL</h1>",
    "AL",
    ("Lee L", "Mo M", "Ned N"),
    "",
    "en",
)
c(
    "author org",
    "<title>AO</title>"
    + ld({"@type": "Article", "headline": "AO", "author": {"@type": "Organization", "name": "The Daily"}}),
    "<h1>AO</h1>",
    "AO",
    ("The Daily",),
    "",
    "en",
)
c(
    "entities",
    "<title>Q&amp;A: &ldquo;why&rdquo;</title>"
    + ld({"@type": "Article", "headline": "Q&amp;A: &ldquo;why&rdquo;", "author": {"name": "O&#39;Neil"}}),
    "",
    "Q&A: “why”",
    ("O'Neil",),
    "",
    "en",
)
c("no title", "", "<h1>Only a heading</h1>", "Only a heading", (), "", "en")
c(
    "svg title",
    "<meta charset=utf-8>",
    "<svg><title>Icon</title></svg><h1>Real heading</h1>",
    "Real heading",
    (),
    "",
    "en",
)
c("upper og", "<title>home</title><meta property='OG:TITLE' content='Upper'>", "", "Upper", (), "", "en")
c(
    "product",
    "<title>Tea, 100 g | Shop</title>"
    + ld({"@type": "Product", "name": "Tea, 100 g", "brand": "B", "offers": {"price": 3}})
    + ld({"@type": "WebSite", "name": "Shop"}),
    "",
    "Tea, 100 g",
    (),
    "",
    "en",
)
c(
    "wordpress",
    "<title>How to bake bread &#8211; The Crumb</title><meta property='og:site_name' content='The Crumb'/><meta property='article:published_time' content='2021-03-04T05:06:07+00:00'/>",
    "<header class=site-header><h1 class=site-title><a href=/>The Crumb</a></h1></header><article><header class=entry-header><h1 class=entry-title>How to bake bread</h1><span class=posted-on><time class='entry-date published' datetime='2021-03-04T05:06:07+00:00'>March 4, 2021</time></span> <span class='byline'> by <span class='author vcard'><a class='url fn n' href=/author/x>Paula Crumb</a></span></span></header>",
    "How to bake bread",
    ("Paula Crumb",),
    "2021-03-04T05:06:07+00:00",
    "en",
)
c(
    "listing",
    "<title>Blog | Acme</title>",
    "<h1>Blog</h1>"
    + "".join(
        f"<div class=post><h2>Post {i}</h2><span class=date>{i} May 2020</span></div>" for i in range(1, 9)
    ),
    "Blog",
    (),
    "",
    "en",
)
c(
    "docs page",
    "<title>argparse — Parser for options — Python 3.12 documentation</title>",
    "<h1>argparse — Parser for options</h1><div class=footer>Last updated on Mar 02, 2024</div>",
    "argparse — Parser for options",
    (),
    "",
    "en",
)
c(
    "stackoverflow",
    "<title>python - How do I sort a list? - Stack Overflow</title><meta property='og:site_name' content='Stack Overflow'>",
    "<h1>How do I sort a list?</h1><div class=comments><span class=comment-date>Jan 3, 2012</span></div>",
    "How do I sort a list?",
    (),
    "",
    "en",
)
c(
    "github",
    "<title>GitHub - foo/bar: A thing that does</title><meta property='og:site_name' content='GitHub'>",
    "",
    "foo/bar: A thing that does",
    (),
    "",
    "en",
    url="https://github.com/foo/bar",
)
c(
    "shop",
    "<title>Blue Widget - Large | Widgets Inc.</title>"
    + ld({"@type": "Organization", "name": "Widgets Inc."}),
    "<h1>Blue Widget - Large</h1><div class='info'>In stock since 2019</div>",
    "Blue Widget - Large",
    (),
    "",
    "en",
)
c("colon title no site", "<title>Dune: Part Two</title>", "", "Dune: Part Two", (), "", "en")
c(
    "dash title no site",
    "<title>Spider-Man - far from home</title>",
    "",
    "Spider-Man - far from home",
    (),
    "",
    "en",
)
c(
    "hostlike word",
    "<title>Example of a thing: example</title>",
    "<h1>Example of a thing</h1>",
    "Example of a thing",
    (),
    "",
    "en",
    url="https://example.test/",
)
c(
    "by sentence",
    "<title>B</title>",
    "<h1>B</h1><div class=source>by clicking you agree to all</div>",
    "B",
    (),
    "",
    "en",
)
c(
    "event",
    "<title>Concert in the park</title>"
    + ld(
        {
            "@type": "Event",
            "name": "Concert in the park",
            "startDate": "2025-07-01",
            "organizer": {"name": "City"},
        }
    ),
    "<h1>Concert in the park</h1>",
    "Concert in the park",
    (),
    "",
    "en",
)
c(
    "footer date",
    "<title>F</title>",
    "<h1>F</h1><footer><span class=date>1 January 2020</span></footer>",
    "F",
    (),
    "",
    "en",
)
c("version", "<title>V</title>", "<h1>V</h1><p class=info>Version 3.11.2021</p>", "V", (), "2021-11-03", "en")
c(
    "de slashed",
    "<title>D</title>",
    "<h1>D</h1><span class=date>03/04/2020</span>",
    "D",
    (),
    "2020-04-03",
    "de",
    attrs=' lang="de"',
)
c(
    "two dates",
    "<title>2</title>",
    "<h1>2</h1><p class=meta>Published 3 May 2020. Updated 5 June 2021</p>",
    "2",
    (),
    "2020-05-03",
    "en",
)
c(
    "h1 logo img",
    "<title>Annual report 2020 - Acme Corp</title>",
    "<h1><img alt=Acme></h1><h2>Annual report 2020</h2>",
    "Annual report 2020",
    (),
    "",
    "en",
    url="https://acmecorp.test/",
)
c(
    "query title",
    '<title>Search results for "tea" - Shop</title>',
    "<h1>Search results</h1>",
    "Search results",
    (),
    "",
    "en",
)


@pytest.mark.parametrize(("page", "url", "expected", "language"), CASES)
def test_what_a_page_says_about_itself(page: str, url: str, expected: tuple[Any, ...], language: str) -> None:
    said = read(page.encode(), url, "text/html; charset=utf-8")
    facts = said.metadata
    assert (facts.title, facts.authors, facts.published, facts.modified) == expected
    assert said.language.startswith("en")  # the language of its text, whatever it declares


@pytest.mark.parametrize(
    ("written", "language", "found"),
    [
        ("2021", "", "2021"),
        ("2021-05", "", "2021-05"),
        ("3. Mai 2013, 12:30 Uhr", "", "2013-05-03T12:30:00"),
        ("14 de agosto de 2011", "", "2011-08-14"),
        ("décembre 2012", "", ""),
        ("2010年9月8日 10:20 来源：网站", "", "2010-09-08T10:20:00"),
        ("입력 2008.05.04. 오후 9:30", "", "2008-05-04T21:30:00"),
        ("2024. 8. 27.", "", "2024-08-27"),
        ("12.03.2014", "", "2014-03-12"),
        ("04/05/2006", "en", ""),
        ("04/05/2006", "en-US", "2006-04-05"),
        ("04/05/2006", "fr", "2006-05-04"),
        ("25/12/2006", "", "2006-12-25"),
        ("1700000000", "", "2023-11-14T22:13:20Z"),
        ("Jan 3rd, 2020 at 5:07 pm", "", "2020-01-03T17:07:00"),
        ("192.168.2024.1", "", ""),
        ("Version 10.2.2024.1", "", ""),
    ],
)
def test_dates_of_many_forms(written: str, language: str, found: str) -> None:
    assert iso_date(written, language) == found
    assert iso_date(found) == found, "it stays what it is"


def test_a_date_given_as_one_stands_near_the_beginning() -> None:
    text = "A long sentence that is no date at all, but tells of the 3rd of May 2020 in passing."
    assert iso_date(text) == ""
    assert date_in(text) == "2020-05-03"


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("הַשָּׁלוֹם עֲלֵיכֶם, סְפָרִים חֲדָשִׁים בַּסִּפְרִיָּה הָעִירוֹנִית", "he"),
        ("ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν", "el"),
    ],
)
def test_a_page_keeps_its_language_where_the_text_is_a_variety_of_it(text: str, declared: str) -> None:
    pytest.importorskip("py3langid", reason="the extra `documents` is not installed")
    assert language_of(text, "")[0] != declared, "this is what it is taken for"
    assert language_of(text, declared)[0] == declared


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("name price csvwordone 5 csvwordtwo", ""),  # Dutch, at .1
        ("Informe anual de ventas", ""),  # Aragonese, at .2
        ("Rapport annuel des ventes", "fr"),
        ("Protokoll der Jahreshauptversammlung", "de"),
    ],
)
def test_a_guess_that_is_likely_wrong_is_none(text: str, language: str) -> None:
    pytest.importorskip("py3langid", reason="the extra `documents` is not installed")
    assert language_of(text, "")[0] == language
