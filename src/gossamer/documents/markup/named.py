"""The elements of a page that are asked for by name, found in one walk: each further query would walk all the tree."""

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["Named", "named"]

_FIELDS = {
    "a": "anchors", "area": "anchors", "audio": "played", "base": "bases", "h1": "headings", "img": "images",
    "link": "links", "meta": "metas", "script": "scripts", "title": "titles", "video": "played",
}  # fmt: skip
_SELECTOR = ", ".join(_FIELDS)


class Named(msgspec.Struct, frozen=True):
    """Elements in the order of the page; `anchors` are `a` and `area`, `played` are `audio` and `video`."""

    anchors: list[LexborNode] = []
    bases: list[LexborNode] = []
    headings: list[LexborNode] = []
    images: list[LexborNode] = []
    links: list[LexborNode] = []
    metas: list[LexborNode] = []
    played: list[LexborNode] = []
    scripts: list[LexborNode] = []
    titles: list[LexborNode] = []


def named(tree: LexborHTMLParser) -> Named:
    """Those of a page, in its order."""
    found: dict[str, list[LexborNode]] = {}
    for node in tree.css(_SELECTOR):
        found.setdefault(_FIELDS[node.tag or ""], []).append(node)
    return Named(**found)
