"""Addresses inside attribute values: `srcset` and meta refresh."""

import re
from collections.abc import Iterator

__all__ = ["refresh_address", "refresh_span", "srcset_addresses", "srcset_spans"]

_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_DESCRIPTORS = re.compile(r"(?:[^,()]++|\([^)]*+\)?)*+,?")
_REFRESH = re.compile(
    r"[\t\n\f\r ]*+(?:[0-9]++[0-9.]*+|\.[0-9.]*+)(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"
)
_URL_EQUALS = re.compile(r"[uU][rR][lL][\t\n\f\r ]*+=[\t\n\f\r ]*+")

MOST_CANDIDATES = 500


def srcset_addresses(value: str) -> list[str]:
    """The addresses of image candidates (WHATWG HTML 4.8.4.2.2), at most 500."""
    return [value[start:end] for start, end in srcset_spans(value)]


def srcset_spans(value: str) -> Iterator[tuple[int, int]]:
    """Where they stand in `value`; none is empty."""
    position = 0
    for _ in range(MOST_CANDIDATES):
        match = _CANDIDATE.match(value, position)
        if match is None:
            return
        position = match.end()
        length = len(match[1])
        if match[1].endswith(","):
            length = len(match[1].rstrip(","))
        else:
            rest = _DESCRIPTORS.match(value, position)
            position = rest.end() if rest else position
        if length:
            yield match.start(1), match.start(1) + length


def refresh_address(content: str) -> str:
    """The address that a meta refresh leads to (WHATWG HTML 4.2.5.3); empty if it reloads its own page."""
    start, end = refresh_span(content)
    return content[start:end]


def refresh_span(content: str) -> tuple[int, int]:
    """Where it stands in `content`; with nothing in it if there is none."""
    match = _REFRESH.match(content)
    if match is None:
        return 0, 0
    equals = _URL_EQUALS.match(content, match.end())
    start, end = equals.end() if equals else match.end(), len(content)
    if content[start : start + 1] in ("'", '"'):
        quoted = content.find(content[start], start + 1)
        start, end = start + 1, quoted if quoted >= 0 else end
    return start, end
