"""A page without its tree: all visible text, links and title, by the linear scanner of the road."""

import re

import msgspec

from gossamer.documents.gathered import Gathered
from gossamer.documents.said import Alternate, Derived, Mark
from gossamer.extract.html.tag_grammar import Tag
from gossamer.extract.html.tags import meaning_of
from gossamer.extract.html.tokens import tokenize
from gossamer.extract.html.visible import visible_text

__all__ = ["PageSaid", "visible_only"]

_EXTRACTOR = "visible-text"
_VERSION = "1"
_CONFIDENCE = 0.2
_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r"\n\s*\n+")
_MOST_TOKENS = 200_000


class PageSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What only pages say, beside what is gathered of every document."""

    text: Derived
    markdown: Derived
    alternates: tuple[Alternate, ...] = ()
    json_ld: tuple[object, ...] = ()
    microdata: tuple[object, ...] = ()
    microformats: tuple[object, ...] = ()
    properties: dict[str, list[str]] = {}


def visible_only(content: bytes, gathered: Gathered) -> PageSaid:
    """All visible text and the links of a page, by the linear scanner of the road.

    Args:
        content: in UTF-8.
        gathered: takes the links, and that it is a fall-back.
    """
    gathered.mark(Mark.FALLBACK)
    tokens = tokenize(content, _MOST_TOKENS)
    for token in dict.fromkeys(tokens.found):
        if isinstance(token, bytes):
            gathered.link(token.decode("utf-8", "replace"))
            continue
        tag = token if isinstance(token, Tag) else Tag(*token)
        if tag.name == b"title" and not tag.foreign and not gathered.metadata.title:
            title = " ".join(tag.content[:4_000].decode("utf-8", "replace").split())
            gathered.metadata = msgspec.structs.replace(gathered.metadata, title=title)
        for mention in meaning_of(tag, "utf_8").mentions if tag.name == b"a" else ():
            gathered.link(mention.address)
    cut = not tokens.whole
    text = ""
    if gathered.wants_text:
        text = _EMPTY_LINES.sub("\n", _BLANKS.sub(" ", visible_text(content, tokens.hidden, "utf_8"))).strip()
    most = gathered.budget.limits.max_text
    cut = cut or len(text) > most
    gathered.budget.cut = gathered.budget.cut or cut
    derived = Derived(
        text=text[:most],
        extractor=_EXTRACTOR,
        version=_VERSION,
        confidence=_CONFIDENCE,
        cut=cut,
        fallback=True,
    )
    return PageSaid(text=derived, markdown=derived)
