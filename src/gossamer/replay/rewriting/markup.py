"""Moves the addresses of HTML, XHTML and drawings, and puts our script first."""

import re
from collections.abc import Callable, Iterator

import msgspec

from gossamer.extract.addresses import refresh_place, srcset_places
from gossamer.extract.html.spans import TagSpan, tag_spans
from gossamer.extract.html.tag_grammar import AttributePlace, attribute_places
from gossamer.extract.rewriting.css import changed_sheet
from gossamer.extract.rewriting.edits import Edit, edited, replaced, value_edit
from gossamer.replay.rewriting.addresses import Mover, escaped, unescaped

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


class _Tag(msgspec.Struct, frozen=True):
    """A tag with the source of its attributes and where each stands in it; of doubles the first counts."""

    span: TagSpan
    source: bytes
    attributes: dict[bytes, AttributePlace]

    def value(self, name: bytes) -> bytes:
        """What the attribute says, lower case and without blanks around."""
        place = self.attributes.get(name)
        return self.source[slice(*place.value)].strip().lower() if place is not None else b""


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
        source = content[span.attributes : span.end - 1]
        tag = _Tag(span, source, {one.name.encode("latin-1"): one for one in attribute_places(source)})
        if first < 0 and span.name not in _BEFORE_SCRIPTS:
            first = len(edits)
            edits.append(Edit(span.start, span.start, b""))
        maps = maps or (span.name == b"script" and tag.value(b"type") == _MAP)
        edits += _of_tag(tag, content[span.end : span.text_end], mover, script, depth)
        if first < 0 and span.name == b"head":
            first = len(edits)
            edits.append(Edit(span.end, span.end, b""))
    if script:
        ours = b'<script src="%s%s"></script>' % (script, b"&amp;m=1" if maps else b"")
        if first >= 0:
            place = edits[first].start
            edits[first] = Edit(place, place, ours)
        else:
            edits.append(Edit(len(content), len(content), ours))
    return edited(content, edits)


def _of_tag(tag: _Tag, text: bytes, mover: Mover, script: bytes, depth: int) -> Iterator[Edit]:
    """What is to be changed of one element, in order; `text` is what it holds if that is raw."""
    span = tag.span
    for name, place in tag.attributes.items():
        value = tag.source[slice(*place.value)]
        instead = _value(tag, name, value, mover, script, depth)
        if instead is not None and instead != value:
            yield value_edit(place, instead, span.attributes)
    if text and span.name == b"style":
        yield Edit(span.end, span.text_end, changed_sheet(text, mover.moved))
    elif text and span.name == b"script" and tag.value(b"type") == _MAP:
        yield Edit(span.end, span.text_end, _moved_map(text, mover))


def _value(tag: _Tag, name: bytes, value: bytes, mover: Mover, script: bytes, depth: int) -> bytes | None:
    """What an attribute is to say; `None`: as it does."""
    if name in _ADDRESSES:
        return mover.moved_attribute(value)
    if name in _SETS:
        return _in_text(
            value, lambda text: replaced(text, srcset_places(text.decode("latin-1")), mover.moved)
        )
    if name == b"style":
        return _in_text(value, lambda text: changed_sheet(text, mover.moved))
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


def _refresh(tag: _Tag, value: bytes, mover: Mover) -> bytes | None:
    if tag.value(b"http-equiv") != b"refresh":
        return None
    return _in_text(value, lambda text: replaced(text, [refresh_place(text.decode("latin-1"))], mover.moved))


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
