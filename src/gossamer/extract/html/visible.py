"""How much text a document shows, by sampling; or the text itself, for those who must read it."""

import re

from gossamer.extract.html.character_references import unescape_text

__all__ = ["text_length", "visible_text"]

_TEXT = re.compile(rb">[\t\n\f\r ]*+([^<]++)")
_COMMENT = re.compile(rb"<!--(?:[^-]++|-(?!->))*+(?:-->)?+")
_WHOLE = 4 << 10
_STRETCHES = 8
_STRETCH = 512


def text_length(content: bytes, hidden: list[tuple[int, int]], codec: str) -> int:
    """Approximate number of characters of visible text.

    Counted is what stands between a `>` and the next `<`, without leading white space, outside `hidden`
    (scripts, styles and other raw text); character references count as they are written. Up to 4 KiB of
    markup are counted exactly; of more, eight evenly spread stretches of 512 bytes stand for the whole.
    """
    shown = _shown(content, hidden)
    size = sum(end - start for start, end in shown)
    whole = size <= _WHOLE
    pieces = [content[start:end] for start, end in shown] if whole else _sample(content, shown, size)
    sampled = sum(map(len, pieces))
    # A piece ends what was shown before it, as a tag does.
    text = b"".join(_TEXT.findall(b"<".join(pieces)))
    count = len(text) if text.isascii() else len(text.decode(codec, "ignore"))
    return count * size // sampled if sampled else 0


def visible_text(content: bytes, hidden: list[tuple[int, int]], codec: str) -> str:
    """What stands between the tags, outside comments and `hidden`; character references are replaced.

    Linear in the content. A `>` within an attribute's value ends the tag too early, for which nothing is
    lost but some words gained.
    """
    found: list[bytes] = []
    for start, end in _shown(content, hidden):
        piece = content[start:end]
        if b"<!--" in piece:
            piece = _COMMENT.sub(b"<!>", piece)
        found += _TEXT.findall(b">" + piece)
    return unescape_text(b" ".join(found).decode(codec, "replace"))


def _shown(content: bytes, hidden: list[tuple[int, int]]) -> list[tuple[int, int]]:
    shown = []
    position = 0
    for start, end in hidden:
        shown.append((position, start))
        position = end
    shown.append((position, len(content)))
    return shown


def _sample(content: bytes, shown: list[tuple[int, int]], size: int) -> list[bytes]:
    """Stretches spread evenly over what is shown, each from the first tag in it."""
    pieces = []
    step = size // _STRETCHES
    passed, wanted = 0, 0
    for start, end in shown:
        while wanted < passed + end - start:
            at = start + wanted - passed
            at = max(at, content.find(b">", at, at + _STRETCH))
            pieces.append(content[at : min(at + _STRETCH, end)])
            wanted += step
        passed += end - start
    return pieces
