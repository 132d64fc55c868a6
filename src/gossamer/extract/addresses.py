"""Addresses inside attribute values: `srcset` and meta refresh."""

import re

__all__ = ["refresh_address", "refresh_place", "srcset_addresses", "srcset_places"]

_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_DESCRIPTORS = re.compile(r"(?:[^,()]++|\([^)]*+\)?)*+,?")
_REFRESH = re.compile(
    r"[\t\n\f\r ]*+(?:[0-9]++[0-9.]*+|\.[0-9.]*+)(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"
)
_URL_EQUALS = re.compile(r"[uU][rR][lL][\t\n\f\r ]*+=[\t\n\f\r ]*+")

MOST_CANDIDATES = 500


def srcset_addresses(value: str) -> list[str]:
    """The addresses of image candidates (WHATWG HTML 4.8.4.2.2), at most 500."""
    return [value[start:end] for start, end in srcset_places(value)]


def srcset_places(value: str) -> list[tuple[int, int]]:
    """Where the addresses of image candidates stand: start and end of each."""
    found: list[tuple[int, int]] = []
    position = 0
    while (match := _CANDIDATE.match(value, position)) and len(found) < MOST_CANDIDATES:
        address = match[1]
        position = match.end()
        if address.endswith(","):
            address = address.rstrip(",")
        else:
            rest = _DESCRIPTORS.match(value, position)
            position = rest.end() if rest else position
        if address:
            found.append((match.start(1), match.start(1) + len(address)))
    return found


def refresh_address(content: str) -> str:
    """The address that a meta refresh leads to (WHATWG HTML 4.2.5.3); empty if it reloads its own page."""
    start, end = refresh_place(content)
    return content[start:end]


def refresh_place(content: str) -> tuple[int, int]:
    """Where the address stands that a meta refresh leads to: start and end, equal if there is none."""
    match = _REFRESH.match(content)
    if match is None:
        return 0, 0
    start = match.end()
    if equals := _URL_EQUALS.match(content, start):
        start = equals.end()
    quote = content[start : start + 1]
    if quote not in ("'", '"'):
        return start, len(content)
    end = content.find(quote, start + 1)
    return start + 1, len(content) if end < 0 else end
