import pytest
from benchmarks.page_links import MAX_DEPTH, read_page

HERE = "http://a.test/dir/page.html?q"


@pytest.mark.parametrize(
    ("markup", "links"),
    [
        ('<a href="b.html#x">', ["http://a.test/dir/b.html"]),
        ('<a href="b">1</a><a href="b#2">2</a>', ["http://a.test/dir/b"]),
        ('<map><area href="/c"></map>', ["http://a.test/c"]),
        ('<iframe src="../f.html"></iframe>', ["http://a.test/f.html"]),
        ('<frameset><frame src="g.html"></frameset>', ["http://a.test/dir/g.html"]),
        ('<form action="s"><input></form>', ["http://a.test/dir/s"]),
        ('<form action="s" method="POST"></form>', []),
        ('<form action="s" method="dialog"></form>', []),
        ('<object data="o" type="text/html"></object><object data="p"></object>', ["http://a.test/dir/o"]),
        (
            '<embed src="e" type="Text/HTML; charset=x"><embed src="f" type="image/png">',
            ["http://a.test/dir/e"],
        ),
        ('<meta http-equiv="Refresh" content="0; URL=en/index.html">', ["http://a.test/dir/en/index.html"]),
        ("<meta http-equiv=refresh content=\"3;url='x y'\">", ["http://a.test/dir/x%20y"]),
        ("<meta http-equiv=refresh content=5>", []),
        ('<link rel="next" href="n"><link rel="StyleSheet" href="s.css">', ["http://a.test/dir/n"]),
        ('<link rel="alternate stylesheet" href="s.css"><link href="x"><link rel="me" href="y">', []),
        ('<link rel="canonical" href="//b.test/">', ["http://b.test/"]),
        ('<img src="i.png"><script src="s.js"></script>', []),
        ('<a rel="external nofollow" href="b">', []),
        ('<meta name="ROBOTS" content="noindex, NoFollow"><a href="b">', []),
        ('<meta name="robots" content="noindex"><a href="b">', ["http://a.test/dir/b"]),
        ('<base href="/up/"><base href="/no/"><a href="b">', ["http://a.test/up/b"]),
        ('<!-- <a href="b"> --><script>"<a href=c>"</script>', []),
        ('<a href="mailto:x@y"><a href="javascript:0"><a href="http://[">', []),
        ("<noscript><a href=b></noscript>", ["http://a.test/dir/b"]),
        ('<a href="caf\u00e9?caf\u00e9">', ["http://a.test/dir/caf%C3%A9?caf%C3%A9"]),
    ],
)
def test_reads_links_that_default_rules_follow(markup: str, links: list[str]) -> None:
    assert read_page(markup.encode(), HERE).links == links


def test_declared_charset_is_used() -> None:
    page = '<meta charset="windows-1251"><a href="\u043f">'.encode("cp1251")
    assert read_page(page, HERE).links == ["http://a.test/dir/%D0%BF"]


def test_deep_pages_are_read_flat() -> None:
    page = b"<div>" * (MAX_DEPTH + 1) + b'<a href="deep">'
    assert read_page(page, HERE).links == ["http://a.test/dir/deep"]
