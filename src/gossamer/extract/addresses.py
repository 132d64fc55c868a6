"""Addresses inside attribute values: `srcset` and meta refresh."""

import re

__all__ = ["refresh_address", "srcset_addresses"]

_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_DESCRIPTORS = re.compile(r"(?:[^,()]++|\([^)]*+\)?)*+,?")
_REFRESH = re.compile(
    r"[\t\n\f\r ]*+(?:[0-9]++[0-9.]*+|\.[0-9.]*+)(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"
)
_URL_EQUALS = re.compile(r"[uU][rR][lL][\t\n\f\r ]*+=[\t\n\f\r ]*+")

MOST_CANDIDATES = 500


def srcset_addresses(value: str) -> list[str]:
    """The addresses of image candidates (WHATWG HTML 4.8.4.2.2), at most 500."""
    found: list[str] = []
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
            found.append(address)
    return found


def refresh_address(content: str) -> str:
    """The address that a meta refresh leads to (WHATWG HTML 4.2.5.3); empty if it reloads its own page."""
    match = _REFRESH.match(content)
    if match is None:
        return ""
    address = content[match.end() :]
    equals = _URL_EQUALS.match(address)
    if equals:
        address = address[equals.end() :]
    if address[:1] in ("'", '"'):
        address = address[1:].partition(address[0])[0]
    return address
