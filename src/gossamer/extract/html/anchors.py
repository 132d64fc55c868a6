"""What a reader sees of the links of an HTML document, gathered in a pass of its own.

The scan for links (`tokens`) pays nothing for it. Linear time: an anchor ends where the next begins
(as it does for a browser, WHATWG HTML 13.2.6.4.7), so that no byte belongs to two of them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

import msgspec

from gossamer.extract.html.character_references import unescape_text
from gossamer.extract.html.tag_grammar import (
    Tag,
    Tokens,
    attributes_of,
    end_of_attributes,
    end_of_declaration,
)
from gossamer.extract.html.tags import meaning_of
from gossamer.extract.html.tokens import PLAIN_LINK
from gossamer.extract.links import LinkMaker, Mention, Source
from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url

__all__ = ["LONGEST_TEXT", "anchor_texts", "with_texts"]

LONGEST_TEXT = 200
"""Characters kept of a link's text."""

LONGEST_SOURCE = 4 << 10
"""Bytes of an anchor's content that are looked at."""

_MARK = re.compile(rb"<(?:(!--)|(/?)(a|area)(?=[\t\n\f\r />]))", re.IGNORECASE)
_PLAIN = re.compile(rb"<" + PLAIN_LINK)
_INNER = re.compile(
    rb"<(?:!--(?:[^-]++|-(?!->))*+(?:-->)?+"
    rb"|(/?+[a-zA-Z][^\t\n\f\r />]*+)((?:[^>\"]++|\"[^\"]*+\"?+)*+)>?+|[!?/][^>]*+>?+)"
)
_INLINE = frozenset(
    b"abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong "
    b"sub sup tt u var wbr".split()
)
"""Tags that stand within a word as well as between words; others separate."""


def anchor_texts(
    content: bytes, hidden: list[tuple[int, int]], codec: str, limit: int
) -> Iterator[tuple[Source, str]]:
    """Each link of `a` and `area` elements that shows something, with what it shows, in document order.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters.
        hidden: stretches of scripts, styles and other raw text, in order.
        codec: Python codec of the content.
        limit: turns after which to give up.
    """
    starts = [start for start, _ in hidden]
    source: Source | None = None
    begin, position = 0, 0
    for _ in range(limit):
        mark = _MARK.search(content, position)
        at = len(content) if mark is None else mark.start()
        before = bisect_right(starts, at) - 1
        if mark is not None and before >= 0 and hidden[before][1] > at:
            position = hidden[before][1]
            continue
        if mark is not None and mark[1]:
            position = end_of_declaration(content, at)
            if position < 0:
                break
            continue
        if source is not None:
            text = _text(_shown(content, begin, at, hidden, starts), codec)
            if text:
                yield source, text
            source = None
        if mark is None:
            return
        position = mark.end()
        if mark[2]:
            continue
        plain = _PLAIN.match(content, at)
        if plain is not None:
            source, position = plain[1] or plain[2], plain.end()
        else:
            position = end_of_attributes(content, mark.end(), Tokens())
            if position < 0:
                return
            tag = Tag(mark[3].lower(), content[mark.end() : position - 1])
            source = _source(tag, codec)
            if tag.name == b"area":
                if source is not None and (text := _collapse(attributes_of(tag, codec).get("alt", ""))):
                    yield source, text
                source = None
        begin = position


def with_texts(
    links: tuple[Link, ...], texts: Iterable[tuple[Source, str]], maker: LinkMaker, base: Url, charset: str
) -> tuple[Link, ...]:
    """`links` with their texts; of a URL that is linked several times each text once, in order."""
    shown: dict[str, str] = {}
    for source, text in texts:
        for link in maker.make((source,), base, charset):
            known = shown.get(link.url.text, "")
            if text not in known:
                shown[link.url.text] = f"{known} {text}"[:LONGEST_TEXT] if known else text
    return tuple(
        msgspec.structs.replace(link, text=shown[link.url.text])
        if link.kind is LinkKind.NAVIGATION and link.url.text in shown
        else link
        for link in links
    )


def _source(tag: Tag, codec: str) -> Mention | None:
    for mention in meaning_of(tag, codec).mentions:
        if mention.kind is LinkKind.NAVIGATION:
            return mention
    return None


def _shown(content: bytes, begin: int, end: int, hidden: list[tuple[int, int]], starts: list[int]) -> bytes:
    """The first bytes from `begin` to `end`, without what is hidden."""
    end = min(end, begin + LONGEST_SOURCE)
    pieces = []
    number = bisect_right(starts, begin)
    while number < len(starts) and starts[number] < end:
        pieces.append(content[begin : starts[number]])
        begin = hidden[number][1]
        number += 1
    pieces.append(content[begin:end])
    return b"".join(pieces)


def _text(source: bytes, codec: str) -> str:
    if b"<" in source:
        source = _INNER.sub(lambda match: _inner(match, codec), source)
    return _collapse(unescape_text(source.decode(codec, "replace")))


def _inner(match: re.Match[bytes], codec: str) -> bytes:
    """What takes the place of a tag or comment within a link."""
    name = match[1]
    if name is None:
        return b""
    name = name.lower()
    if name == b"img":
        alt = attributes_of(Tag(b"img", match[2]), codec).get("alt", "")
        # Its references are replaced already; what looks like one now must not be replaced again.
        return f" {alt.replace('&', '&amp;')} ".encode(codec, "replace")
    return b"" if name.removeprefix(b"/") in _INLINE else b" "


def _collapse(text: str) -> str:
    return " ".join(text[: 10 * LONGEST_TEXT].split())[:LONGEST_TEXT].rstrip()
