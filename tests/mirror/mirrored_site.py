"""A site whose names and links are made to be confused, and its crawl."""

import base64
from pathlib import Path
from typing import NamedTuple

from small_site import Answer


class Crawled(NamedTuple):
    """A crawl of the site, and its host with its port."""

    folder: Path
    host: str


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PAGES: dict[str, str | Answer] = {
    "": "<!doctype html><html><head><title>Home</title>"
    "<link rel=stylesheet href='s.css?1' integrity=sha384-x crossorigin>"
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"></head><body>"
    "<a href=a>a</a> <a class=x href='a/b?x=1&amp;y=2#s'>b</a> <a href=/r1>r</a> "
    "<a href=gone>gone</a> <a href=never>n</a>"
    '<a href="http://other.invalid/?a=1&b=2">o</a> <a href="A">A</a> <a href=a.html>.</a> <a href="a.html/b">.</a>'
    '<img srcset="p.php 1x, /q.png?2 2x" src=p.php> <a href=%E4%B8%AD>.</a> <a href="..%2f..%2fx">.</a> '
    "<a href=twin>.</a>"
    '<a href=same>.</a> <a href=feed>.</a> <img src="lost.png"> <a href=latin>.</a> <a href=x.svg>.</a> '
    '<a href="#top">.</a>',
    "a": '<base href="/a/"><p>\u4e2d\u6587</p><a href="b?x=1&y=2">b</a><a href="#z">z</a>',
    "A": "<p>big A <a href=''>self</a>",
    "a.html": "<p>a.html",
    "a.html/b": "<p>below a.html",
    "a/b?x=1&y=2": "<p id=s>b<a href='../'>up</a><a href='./'>folder</a>",
    "a/": "<p>folder a",
    "%E4%B8%AD": "<p>\u4e2d <a href='/'>home</a>",
    "..%2f..%2fx": "<p>hostile",
    "twin": "<p>the same",
    "same": "<p>the same",
    "latin": (
        200,
        {"Content-Type": "text/html; charset=windows-1252"},
        "<p>caf\xe9 <a href='a'>a</a>".encode("cp1252"),
    ),
    "feed": (
        200,
        {"Content-Type": "application/rss+xml"},
        "<rss version='2.0'><channel><link>/a</link></channel></rss>",
    ),
    "r1": (302, {"Location": "/r2"}, ""),
    "r2": (301, {"Location": "/a/b?x=1&y=2"}, ""),
    "s.css?1": (200, {"Content-Type": "text/css"}, "@import 't.css';body{background:url( \"q.png?2\" )}"),
    "t.css": (200, {"Content-Type": "text/css"}, "p{color:rgb(255, 0, 0)}"),
    "p.php": (200, {"Content-Type": "image/png"}, PNG + b"1"),
    "q.png?2": (200, {"Content-Type": "image/png"}, PNG + b"2"),
    "x.svg": (
        200,
        {"Content-Type": "image/svg+xml"},
        '<svg xmlns="http://www.w3.org/2000/svg"><image href="p.php"/><a href="/A"><text>A</text></a></svg>',
    ),
}  # fmt: skip
