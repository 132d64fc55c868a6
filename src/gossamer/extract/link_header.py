"""Links in response headers: `Link: </style.css>; rel=preload` or `Refresh: 0; url=/next`.

Source: RFC 8288 section 3; for `Refresh`, which browsers read as the meta element, WHATWG HTML.
"""

import re
from collections.abc import Iterator

from gossamer.extract.addresses import refresh_address
from gossamer.extract.links import Mention
from gossamer.extract.relations import kind_of_relation, nofollow
from gossamer.model.exchange import Headers, address_in_field
from gossamer.model.link import LinkKind

__all__ = ["has_links", "header_mentions", "hub_and_topic"]

_QUOTED = r'"((?:[^"\\]++|\\.)*+)"?'
# One that does not end is taken off whole, or each `<` of thousands would look for the end anew.
_LINK = re.compile(rf"<([^>]*+)(?:>((?:[^,\"]++|{_QUOTED})*+)|\Z)")
_PARAMETER = re.compile(rf";\s*+([^\s=;,\"]++)(?:\s*+=\s*+(?:{_QUOTED}|([^\s;,\"]*+)))?")

MOST_LINKS = 100


def has_links(headers: Headers) -> bool:
    """Whether `header_mentions` is worth asking."""
    return bool(headers.get("link") or headers.get("refresh"))


def header_mentions(headers: Headers) -> list[Mention]:
    """The links about the document itself; those with an `anchor` speak of something else."""
    mentions: list[Mention] = []
    refresh = refresh_address(headers.get("refresh")[:65536])
    if refresh.strip():
        mentions.append(Mention("Refresh", LinkKind.NAVIGATION, address_in_field(refresh)))
    for address, words in _links(headers):
        kind = kind_of_relation(words)
        if kind is not None and len(mentions) < MOST_LINKS:
            mentions.append(Mention("Link", kind, address_in_field(address), nofollow(words)))
    return mentions


def hub_and_topic(headers: Headers) -> tuple[str, str]:
    """Who tells of changes of the document, and the address by which it is known there (WebSub 4)."""
    found: dict[str, str] = {}
    for address, words in _links(headers):
        for word in words.lower().split():
            if word in ("hub", "self"):
                found.setdefault(word, address_in_field(address))
    return found.get("hub", ""), found.get("self", "")


def _links(headers: Headers) -> Iterator[tuple[str, str]]:
    """Address and relation of each link about the document itself."""
    for value in headers.get_all("link"):
        for match in _LINK.finditer(value[:65536]):
            parameters = _parameters(match[2] or "")
            if "anchor" not in parameters and match[1].strip():
                yield match[1], parameters.get("rel", "")


def _parameters(text: str) -> dict[str, str]:
    """By lower-case name; of several with one name the first counts (RFC 8288 section 3.3)."""
    found: dict[str, str] = {}
    for name, quoted, token in _PARAMETER.findall(text):
        found.setdefault(name.lower(), quoted or token)
    return found
