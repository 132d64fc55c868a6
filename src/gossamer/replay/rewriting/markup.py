"""Moves the addresses of HTML, XHTML and drawings, and puts our script first."""

import re
from collections.abc import Callable, Iterator

import msgspec

from gossamer.extract.addresses import refresh_place, srcset_places
from gossamer.extract.html.spans import TagSpan, tag_spans
from gossamer.extract.html.tag_grammar import attribute_places
from gossamer.replay.rewriting.addresses import Edit, Mover, edited, escaped, unescaped
from gossamer.replay.rewriting.styles import moved_styles

__all__ = ["moved_markup"]

_ADDRESSES = frozenset(
    b"href src action formaction poster background data codebase longdesc cite manifest icon lowsrc dynsrc "
    b"xlink:href classid profile usemap".split()
)
"""Attributes whose value is one address, whatever the element."""
_SETS = frozenset({b"srcset", b"imagesrcset"})
_DROPPED_RULES = frozenset(
    b"content-security-policy content-security-policy-report-only x-dns-prefetch-control origin-trial accept-ch "
    b"delegate-ch set-cookie x-frame-options".split()
)
"""What a `meta` element says in the place of a header that is dropped, too."""
_DROPPED_TYPES = frozenset({b"speculationrules"})
_MAP = b"importmap"
_JSON_STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_BEFORE_SCRIPTS = frozenset({b"html", b"head"})
DEEPEST = 5
"""Documents within documents (`srcdoc`) that are moved, too."""

Attributes = dict[bytes, tuple[int, int]]


class _Tag(msgspec.Struct, frozen=True):
    """A tag with where the values of its attributes stand; of doubles the first counts."""

    span: TagSpan
    content: bytes
    attributes: Attributes

    def value(self, name: bytes) -> bytes:
        """What the attribute says, lower case and without blanks around."""
        start, end = self.attributes.get(name, (0, 0))
        return self.content[start:end].strip().lower()


def moved_markup(content: bytes, mover: Mover, script: bytes, *, xml: bool = False, depth: int = 0) -> bytes:
    """A document with its absolute addresses replaced.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters.
        mover: of the document.
        script: address of the script that goes first; empty if none does.
        xml: it is XML.
        depth: documents around this one.
    """
    edits: list[Edit] = []
    first = -1
    maps = False
    for span in tag_spans(content, xml=xml):
        begin = span.attributes
        attributes = {
            place.name.encode("latin-1"): (begin + place.value[0], begin + place.value[1])
            for place in attribute_places(content[begin : span.end - 1])
        }
        tag = _Tag(span, content, attributes)
        if first < 0 and span.name not in _BEFORE_SCRIPTS:
            first = len(edits)
            edits.append((span.start, span.start, b""))
        maps = maps or (span.name == b"script" and tag.value(b"type") == _MAP)
        edits += sorted(_of_tag(tag, mover, script, depth))
        if first < 0 and span.name == b"head":
            first = len(edits)
            edits.append((span.end, span.end, b""))
    if script:
        ours = b'<script src="%s%s"></script>' % (script, b"&amp;m=1" if maps else b"")
        if first >= 0:
            place = edits[first][0]
            edits[first] = place, place, ours
        else:
            edits.append((len(content), len(content), ours))
    return edited(content, edits)


def _of_tag(tag: _Tag, mover: Mover, script: bytes, depth: int) -> Iterator[Edit]:
    """What is to be changed of one element; a value is changed once."""
    for name, (start, end) in tag.attributes.items():
        value = tag.content[start:end]
        instead = _value(tag, name, value, mover, script, depth)
        if instead is not None and instead != value:
            quoted = tag.content[start - 1 : start] in (b'"', b"'")
            yield start, end, instead if quoted else b'"%s"' % instead
    span = tag.span
    if span.text_end > span.end:
        text = tag.content[span.end : span.text_end]
        if span.name == b"style":
            yield span.end, span.text_end, moved_styles(text, mover)
        elif span.name == b"script" and tag.value(b"type") == _MAP:
            yield span.end, span.text_end, _moved_map(text, mover)


def _value(tag: _Tag, name: bytes, value: bytes, mover: Mover, script: bytes, depth: int) -> bytes | None:
    """What an attribute is to say; `None`: as it does."""
    if name in _ADDRESSES:
        return mover.moved_attribute(value)
    if name in _SETS:
        return _in_text(value, lambda text: _moved_set(text, mover))
    if name == b"style":
        return _in_text(value, lambda text: moved_styles(text, mover))
    if name == b"integrity" or name == b"ping":
        return b""  # of what is changed no digest is right; nothing is told to anybody
    if name == b"srcdoc" and depth < DEEPEST:
        return _in_text(value, lambda text: moved_markup(text, mover, script, depth=depth + 1))
    rule = _RULES.get((tag.span.name, name))
    return rule(tag, value, mover) if rule is not None else None


def _in_text(value: bytes, moved: Callable[[bytes], bytes]) -> bytes | None:
    """A value changed as text, its references undone before and made anew after; as it was if nothing changed."""
    plain = unescaped(value)
    instead = moved(plain)
    return None if instead == plain else escaped(instead)


def _moved_set(text: bytes, mover: Mover) -> bytes:
    spans = srcset_places(text.decode("latin-1"))
    moved = ((start, end, mover.moved(text[start:end])) for start, end in spans)
    return edited(text, [(start, end, instead) for start, end, instead in moved if instead is not None])


def _refresh(tag: _Tag, value: bytes, mover: Mover) -> bytes | None:
    if tag.value(b"http-equiv") != b"refresh":
        return None

    def moved(text: bytes) -> bytes:
        start, end = refresh_place(text.decode("latin-1"))
        instead = mover.moved(text[start:end])
        return text if instead is None else edited(text, [(start, end, instead)])

    return _in_text(value, moved)


def _rule(tag: _Tag, value: bytes, mover: Mover) -> bytes | None:  # noqa: ARG001 (as the others)
    return b"archived-" + value if tag.value(b"http-equiv") in _DROPPED_RULES else None


def _type(tag: _Tag, value: bytes, mover: Mover) -> bytes | None:  # noqa: ARG001 (as the others)
    return b"archived/" + value if tag.value(b"type") in _DROPPED_TYPES else None


_RULES: dict[tuple[bytes, bytes], Callable[[_Tag, bytes, Mover], bytes | None]] = {
    (b"meta", b"content"): _refresh,
    (b"meta", b"http-equiv"): _rule,
    (b"script", b"type"): _type,
}


def _moved_map(text: bytes, mover: Mover) -> bytes:
    """An import map whose addresses, and places that they are for, are replaced; names stay what they are.

    Every string is looked at: a name that is an address is led on by `replay.js`, which maps whole origins.
    """

    def moved(found: re.Match[bytes]) -> bytes:
        after = text[found.end() : found.end() + 20].lstrip()
        instead = (
            None
            if after.startswith(b":") and not after[1:].lstrip().startswith(b"{")
            else mover.moved(found[1])
        )
        return found[0] if instead is None else b'"%s"' % instead

    return _JSON_STRING.sub(moved, text)
