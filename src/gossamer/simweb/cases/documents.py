"""Documents that torture parsers; the links that count are plain, where there are any."""

from collections.abc import Callable, Mapping
from functools import partial

from gossamer.simweb.cases.stage import BEYOND, Stage
from gossamer.simweb.world.resource import Link, Place, Resource, Scene

_GOOD = '<!DOCTYPE html><title>Torture</title><a href="/good-1.html">good</a>\n'
_BEYOND = '<a href="/beyond.html">beyond</a>'


def _tortured(piece: str, bridge: str, stage: Stage) -> Scene:
    """`piece` repeated up to the size in the spec, then `bridge` and the link that must be found."""

    def body() -> bytes:
        count = stage.spec.nested_bytes // len(piece)
        return (_GOOD + piece * count + bridge + _BEYOND).encode()

    return Scene(resources={"/bad": Resource(body=body, links=_links(stage, "/good-1.html", BEYOND))})


def _swallowed(start: str, piece: str, stage: Stage) -> Scene:
    """What opens never closes: the parsing rules of HTML swallow all that follows, links included."""

    def body() -> bytes:
        count = stage.spec.nested_bytes // len(piece)
        return (_GOOD + start + piece * count + '<a href="/never-there.html">no</a>').encode()

    return Scene(resources={"/bad": Resource(body=body, links=_links(stage, "/good-1.html"))})


def _links(stage: Stage, *targets: str) -> tuple[Link, ...]:
    return tuple(stage.link(target) for target in targets)


def many_attributes(stage: Stage) -> Scene:
    """One tag with as many attributes as fit; parsers that compare each with each take hours."""

    def body() -> bytes:
        names = " ".join(f"a{number}" for number in range(stage.spec.nested_bytes // 8))
        return f"{_GOOD}<p {names}>{_BEYOND}".encode()

    return Scene(resources={"/bad": Resource(body=body, links=_links(stage, "/good-1.html", BEYOND))})


def many_links(stage: Stage) -> Scene:
    """60,000 links, all to two pages, which are written apart by fragments alone."""
    links = _links(stage, "/good-1.html", "/good-2.html")

    def body() -> bytes:
        hrefs = (f"{link.href}#{number}" for number in range(30_000) for link in links)
        return "".join(f'<a href="{href}">x</a>\n' for href in hrefs).encode()

    return Scene(resources={"/bad": Resource(body=body, links=links)})


def dense_links(stage: Stage) -> Scene:
    """8,500 links to as many pages in 240 KB, none of them to be followed, then one that is."""
    hidden = [f"/hidden-{number}" for number in range(8_500)]
    host = stage.host
    links = (Link(Place(host, target), target, nofollow=True) for target in hidden)

    def body() -> bytes:
        return (_GOOD + "".join(f"<a rel=nofollow href={target}>" for target in hidden) + _BEYOND).encode()

    return Scene(
        resources={"/bad": Resource(body=body, links=(*_links(stage, "/good-1.html", BEYOND), *links))}
    )


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "nested-tags": partial(_tortured, "<div>", ""),
    "nested-inline": partial(_tortured, "<b><i>", ""),
    "nested-tables": partial(_tortured, "<table><tr><td>", ""),
    "many-options": partial(_tortured, "<option>", ""),
    "many-attributes": many_attributes,
    "angle-flood": partial(_tortured, "<", ""),
    "entity-flood": partial(_tortured, "&amp", ""),
    "end-tag-flood": partial(_tortured, "</p></b>", ""),
    "open-comments": partial(_swallowed, "<!--", "<!-- -"),
    "open-attribute": partial(_swallowed, "<p title='", '<a href="'),
    "open-script": partial(_swallowed, "<script>", "<script><"),
    "open-title": partial(_swallowed, "<title>", "<title><"),
    "many-links": many_links,
    "dense-links": dense_links,
}
