"""Finds a word that every URL holds in which an expression occurs, so that few expressions need be tried."""

import re

_WORDS = re.compile(r"[A-Za-z0-9]+")
_BLANKED = bytes(code if code < 128 and chr(code).isalnum() else 32 for code in range(256))


_COUNTS = re.compile(r"\{\d+(?:,\d*)?\}")


def words_of(url: str) -> list[bytes]:
    """The words of a URL: what stands between other characters than letters and digits of ASCII."""
    return url.encode().translate(_BLANKED).split()


def word_of(pattern: str) -> str:
    """The longest whole word that occurs in each text in which the expression does; empty if none is sure.

    A word is whole where what stands on both its sides is sure, too, and is neither letter nor digit:
    `pdf` in `\\.pdf$`. Groups, classes and what is repeated are passed over, alternatives say nothing.
    """
    pieces = _pieces(pattern)
    if pieces is None:
        return ""
    best = ""
    for match in _WORDS.finditer(pieces):
        start, end = match.span()
        if _bounded(pieces, start - 1) and _bounded(pieces, end) and len(match[0]) > len(best):
            best = match[0]
    return best


_UNSURE = "\0"
_EDGE = "\1"


def _bounded(pieces: str, at: int) -> bool:
    return 0 <= at < len(pieces) and pieces[at] != _UNSURE


def _pieces(pattern: str) -> str | None:
    """The characters that are sure, in order, with marks for edges and for what is not sure."""
    out: list[str] = []
    position, depth = 0, 0
    while position < len(pattern):
        char = pattern[position]
        if char == "(" and pattern.startswith("(?", position):
            return None  # flags may change what a letter means
        if char == "|" and not depth:
            return None
        if char == "[":
            position = _class_end(pattern, position)
            char = _UNSURE
        elif char == "\\":
            if position + 1 >= len(pattern):
                return None
            position += 1
            char = _UNSURE if pattern[position].isalnum() else pattern[position]
            if pattern[position] in "QEpPx0123456789":
                return None  # what follows means something else
        elif char in "^$":
            char = _EDGE
        elif char in "?*{":
            _unsure(out)
            if char == "{":
                counted = _COUNTS.match(pattern, position)
                if counted is None:
                    return None
                position = counted.end() - 1
            char = _UNSURE
        elif char in "().+":
            depth += (char == "(") - (char == ")")
            char = _UNSURE
        position += 1
        if depth or not char.isascii():
            char = _UNSURE
        out.append(char)
    return "".join(out)


def _unsure(out: list[str]) -> None:
    """What was before may be missing; with a group, that is unsure already."""
    if out:
        out[-1] = _UNSURE


def _class_end(pattern: str, start: int) -> int:
    """Where the class ends that begins at `start`; a bracket in the first place is one of its characters."""
    position = start + 1
    if pattern.startswith("^", position):
        position += 1
    if pattern.startswith("]", position):
        position += 1
    while position < len(pattern) and pattern[position] != "]":
        if pattern.startswith("[:", position):
            position = max(position, pattern.find(":]", position) + 1)
        position += 2 if pattern[position] == "\\" else 1
    return position
