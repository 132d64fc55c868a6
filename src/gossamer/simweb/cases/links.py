"""All the ways in which pages mention links, and in which they ask that links not be followed."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from gossamer.simweb.cases.stage import Stage
from gossamer.simweb.world.resource import Link, Place, Resource, Scene

_LONG = (3_000, 5_000, 100_000)


def markup(stage: Stage) -> Scene:
    """One page for every element that links, and `base`."""
    plain = {
        f"/{name}.html": stage.page(f"Page with {name}", stage.link(f"/from-{name}.html", name))
        for name in ("area", "iframe", "form", "refresh", "canonical", "alternate", "next", "prev")
    }
    requisites = stage.page(
        "Page with requisites",
        stage.link("/leaf.css", "stylesheet"),
        stage.link("/leaf-1.png", "style"),
        stage.link("/leaf-2.png", "img"),
        stage.link("/leaf.js", "script"),
    )
    frames = stage.text(
        "<!DOCTYPE html><title>Frames</title><frameset cols=50%,50%><frame src=from-frame-1.html>"
        "<frame src='from-frame-2.html'></frameset>",
        _frame(stage, 1),
        _frame(stage, 2),
    )
    based = stage.text(
        "<!DOCTYPE html><title>Base</title><base target=_top><base href='/deep/down/'>"
        "<base href='/not/here/'><a href='page.html'>one</a><a href='../page.html'>two</a>"
        "<a href='?q'>three</a>",
        Link(stage.place("/deep/down/page.html"), "page.html"),
        Link(stage.place("/deep/page.html"), "../page.html"),
        Link(stage.place("/deep/down/?q"), "?q"),
    )
    pages = {**plain, "/requisites.html": requisites, "/frames.html": frames, "/base.html": based}
    targets = {link.to.target for page in pages.values() for link in page.links}
    ends = {target: stage.page(f"End {target}") for target in targets if not target.startswith("/leaf")}
    leaves = {
        target: Resource(content_type="", body=bytes) for target in targets if target.startswith("/leaf")
    }
    return Scene(resources={**pages, **ends, **leaves}, entries=tuple(pages))


def _frame(stage: Stage, number: int) -> Link:
    return Link(stage.place(f"/from-frame-{number}.html"), f"from-frame-{number}.html", "frame")


def odd_links(stage: Stage) -> Scene:
    """Links written as people and attackers write them; the places are the URL Standard's reading."""
    host, port = stage.host, stage.atlas.port
    readings = (
        ("  /odd-1.html\n", "/odd-1.html"),
        ("\\odd-2.html", "/odd-2.html"),
        ("/o\tdd-\n3.html", "/odd-3.html"),
        (f"HTTP://{host.upper()}:{port}/odd-4.html", "/odd-4.html"),
        ("/a/../%2e/odd-5.html", "/odd-5.html"),
        ("/odd 6.html", "/odd%206.html"),
        ("/ödd-7.html", "/%C3%B6dd-7.html"),
        ("?odd=8", "/bad?odd=8"),
        (f"//{host}:{port}/odd-9.html", "/odd-9.html"),
        ("http:odd-10.html", "/odd-10.html"),
        ("/odd-11.html?a=1&b='2'\"", "/odd-11.html?a=1&b=%272%27%22"),
        ("../../../odd-12.html", "/odd-12.html"),
        ("#top", "/bad"),
        ("", "/bad"),
    )
    links = tuple(Link(stage.place(target), href) for href, target in readings)
    useless = (
        "mailto:a@b.test", "javascript:void(0)", "data:text/html,<a href=/no.html>", "tel:+1", "http://",
        "http://[::1", "http://a b/", "http://%zz/", "about:blank", "urn:x:y", "http://host:99999/",
    )  # fmt: skip
    page = stage.page("Odd links", *links)
    anchors = "".join(f'<a href="{href}">useless</a>\n' for href in useless)
    html = page.body().replace(b"<ul>", anchors.encode() + b"<ul>")
    ends = {target: stage.page(f"End {target}") for _, target in readings if target != "/bad"}
    return Scene(resources={"/bad": replace(page, body=lambda: html), **ends})


def query_charset(stage: Stage) -> Scene:
    """Queries beyond ASCII are sent in the encoding of the page that links (URL Standard, 4.4)."""
    html = '<meta charset=shift_jis><title>検索</title><a href="/find?q=検索">検索</a>'.encode("shift_jis")
    target = "/find?q=%8C%9F%8D%F5"
    page = stage.text(html, Link(stage.place(target), "/find?q=検索"), content_type="text/html")
    return Scene(resources={"/bad": page, target: stage.page("Found")})


def long_url(stage: Stage) -> Scene:
    """URLs of thousands of bytes."""
    targets = tuple(f"/long/{'x' * length}" for length in _LONG)

    def find(target: str) -> Resource | None:
        return stage.page("Long") if target.startswith("/long/") else None

    return Scene(resources={"/bad": stage.page("Long links", *targets)}, endless=find)


def directives(stage: Stage) -> Scene:
    """Pages that ask robots not to follow their links, and pages that only seem to."""
    pages: dict[str, Resource] = {}

    def add(name: str, follows: bool, *, meta: str = "", tags: tuple[str, ...] = ()) -> None:
        end = f"/{'seen' if follows else 'hidden'}-{name}.html"
        html = f'<!DOCTYPE html><title>{name}</title>{meta}<a href="{end}">on</a>'
        fields = tuple(("X-Robots-Tag", tag) for tag in tags)
        page = replace(stage.text(html, end), fields=fields, nofollow=not follows, title=name)
        pages.update({f"/{name}.html": page, end: stage.page(f"End of {name}")})

    add("meta", False, meta='<meta name="robots" content="noindex, nofollow">')
    add("meta-none", False, meta="<META CONTENT='NONE' NAME=Robots>")
    add("meta-ours", False, meta='<meta name="gossamer" content="nofollow">')
    add("meta-other", True, meta='<meta name="otherbot" content="nofollow">')
    add("meta-noindex", True, meta='<meta name="robots" content="noindex,noarchive">')
    add("header", False, tags=("nofollow",))
    add("header-two", False, tags=("noindex", "noarchive, NoFollow"))
    add("header-ours", False, tags=("gossamer: nofollow",))
    add("header-other", True, tags=("otherbot: nofollow",))
    links = (
        stage.link("/hidden-rel.html", nofollow=True),
        stage.link("/good-1.html", nofollow=True),
        stage.link("/seen-rel.html"),
    )
    pages["/rel.html"] = stage.page("Link by link", *links)
    pages.update({"/hidden-rel.html": stage.page("Hidden"), "/seen-rel.html": stage.page("Seen")})
    entries = tuple(target for target in pages if not target.startswith(("/seen", "/hidden")))
    return Scene(resources=pages, entries=entries)


def copies(stage: Stage) -> Scene:
    """Equal bytes at three addresses, whose relative links lead to three places."""
    html = b"<!DOCTYPE html><title>Copy</title><a href='next.html'>next</a>"
    resources: dict[str, Resource] = {}
    for folder in ("/one/", "/two/", "/three/"):
        link = Link(Place(stage.host, f"{folder}next.html"), "next.html")
        resources[folder] = stage.text(html, link)
        resources[f"{folder}next.html"] = stage.page("The same end")
    return Scene(resources=resources, entries=("/one/", "/two/", "/three/"))


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "markup": markup,
    "odd-links": odd_links,
    "query-charset": query_charset,
    "long-url": long_url,
    "directives": directives,
    "copies": copies,
}
