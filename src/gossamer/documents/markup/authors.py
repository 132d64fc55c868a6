"""Who wrote a page: as it tells machines, else as it tells readers."""

import re
from collections.abc import Iterable, Iterator
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["authors_of", "stands_aside"]

_META = (
    *("author", "citation_author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author"),
    *("article:author", "twitter:creator", "byl"),
)
_MARKED = (
    '[itemprop~="author"] [itemprop~="name"], [itemprop~="author"]:not([itemscope]), [rel~="author"]',
    ".author .fn, .vcard.author, .byline a, .author-name, .author_name",
)
_BYLINES = ".byline, .author, .reporter, .writer, .info, .source"
_LABEL = re.compile(
    r"\A(?:by|von|par|por|di|door|av|written by|posted by|text|author|autor|auteur|\u4f5c\u8005|\u64b0\u6587|\u6587)"
    r"(?:\s*[:\uff1a]\s*|\s+)",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?:\u4f5c\u8005|\u64b0\u6587|\u7f16\u8f91)\s*[:\uff1a]\s*(?P<a>[^\s,|\uff0c\u3002\uff1a\uff5c]{2,20})"
    r"|\u8a18\u8005\s*(?P<b>[\u4e00-\u9fff]{2,4})\s*[/\uff0f]|\u8bb0\u8005\s*(?P<c>[\u4e00-\u9fff]{2,4})(?![\u4e00-\u9fff])"
    r"|(?P<d>[\uac00-\ud7a3]{2,4})\s*\uae30\uc790"
)
"""Authors in Chinese and Korean bylines, which name them by what they are."""
_BEHIND = re.compile(
    r"\s+(?:[|\u2013\u2014\u00b7\u2022]|-\s|on\s|am\s|le\s|el\s|updated|published|\().*\Z", re.IGNORECASE
)
_SEVERAL = re.compile(r"\s*(?:;|\u3001|\uff0c|,\s+and\s|,|\s&|\s(?:and|und|et|y|e|en|og|och)\s)\s*")
_ROLE = re.compile(
    r"\b(?:expert|editor|writer|director|manager|educator|master|staff|reporter|contributor|ph\.?d|m\.?d|rn|ceo|founder"
    r"|professor|specialist|officer|analyst|doctor|engineer|author)\b",
    re.IGNORECASE,
)
"""What somebody is, which stands behind a name and is none."""
_NOBODY = frozenset(
    "admin administrator root webmaster guest user editor anonymous unknown none null".split()
)
_ASIDE = frozenset(("aside", "nav"))
_FOOT = "footer"
"""Of a site it says nothing about the page, of an article much."""
_ASIDE_NAMED = re.compile(
    r"comment|relat|recommend|sidebar|widget|popular|ranking|reply|(?<!v)card", re.IGNORECASE
)
_ARTICLE = frozenset(("article", "main"))
_AROUND = 12
_LONGEST = 2_000
_LONGEST_BYLINE = 200
_LONGEST_NAME = 200
_FEW = 5
_MOST = 50
_WORDS = 6
_PARTICLE = 3


def authors_of(
    tree: LexborHTMLParser,
    properties: dict[str, list[str]],
    works: list[dict[str, object]],
    items: list[dict[str, object]],
) -> tuple[str, ...]:
    """The authors of a page, each once; none if it does not say.

    Args:
        tree: of the page.
        properties: its `meta` elements.
        works: of its JSON-LD what is written by somebody.
        items: all of it; authors may be named elsewhere in it.
    """
    known = {str(item["@id"]): item for item in items if "@id" in item}
    sources: Iterator[Iterable[str]] = iter(
        (
            (name for work in works for name in _names(work.get("author"), known)),
            (name for meta in _META for value in properties.get(meta, ()) for name in _apart(value)),
            *(_shown(tree, selector) for selector in _MARKED),
            _bylines(tree),
            _shown(tree, _MARKED[0], aside=True),
        )
    )
    for source in sources:
        found = dict.fromkeys(_LABEL.sub("", _clean(unescape(name))) for name in source)
        names = [name for name in found if _is_name(name)]
        if names:
            return tuple(names[:_MOST])
    return ()


def stands_aside(node: LexborNode) -> bool:
    """Whether an element belongs to comments, other pages, or the foot of a site."""
    around: LexborNode | None = node
    at_an_end = False
    for _ in range(_AROUND):
        if around is None:
            break
        if around.tag in _ARTICLE:
            return False
        at_an_end = at_an_end or around.tag == _FOOT
        attributes = around.attributes
        if around.tag in _ASIDE or _ASIDE_NAMED.search(
            f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        ):
            return True
        around = around.parent
    return at_an_end


def _names(value: object, known: dict[str, dict[str, object]], depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        name = value.get("name") or known.get(str(value.get("@id")), {}).get("name")
        yield from _names(name, known, depth + 1) if depth < _FEW else ()
    elif isinstance(value, list) and depth < _FEW:
        for each in value[:_MOST]:
            yield from _names(each, known, depth + 1)


def _shown(tree: LexborHTMLParser, selector: str, *, aside: bool = False) -> Iterator[str]:
    for node in tree.css(selector)[:_FEW]:
        if aside or not stands_aside(node):
            text = node.attributes.get("content") or node.text(deep=True, separator=" ") or ""
            yield from _apart(_BEHIND.sub("", _LABEL.sub("", _clean(text))))


def _bylines(tree: LexborHTMLParser) -> Iterator[str]:
    for node in tree.css(_BYLINES)[: 2 * _FEW]:
        text = _clean(node.text(deep=True, separator=" ") or "")
        if not text or len(text) > _LONGEST_BYLINE or stands_aside(node):
            continue
        told = [next(filter(None, match.groups())) for match in _TOLD.finditer(text)]
        if told:
            yield from told
        elif _LABEL.match(text):
            yield from filter(_is_capitalised, _apart(_BEHIND.sub("", _LABEL.sub("", text))))


def _apart(text: str) -> list[str]:
    """Several names in one, if each of them has a first and a last name; `Doe, Jane` is one."""
    parts = [part for part in _SEVERAL.split(text[:_LONGEST]) if part]
    if len(parts) > 1 and _ROLE.search(text):
        return [text.partition(",")[0].strip()]
    several = len(parts) > 1 and all(1 < len(part.split()) <= _WORDS for part in parts)
    return parts if several else [text]


def _is_capitalised(name: str) -> bool:
    """Whether words may be a name: capitals, but for particles such as `van`."""
    words = name.split()
    return (
        len(words) <= _WORDS
        and all(word[0] != word[0].lower() or len(word) <= _PARTICLE for word in words)
        and (any(word[0] != word[0].lower() for word in words))
    )


def _is_name(name: str) -> bool:
    return (
        1 < len(name) <= _LONGEST_NAME
        and "://" not in name
        and not name.startswith("@")
        and name.lower() not in _NOBODY
    )


def _clean(value: str) -> str:
    return " ".join(value[: 2 * _LONGEST].split())[:_LONGEST]
