"""Links in response headers: `Link: </style.css>; rel=preload`.

Source: RFC 8288 section 3.
"""

import re

from gossamer.extract.links import Mention
from gossamer.extract.relations import kind_of_relation, nofollow
from gossamer.model.link import LinkKind

__all__ = ["header_mentions"]

_QUOTED = r'"((?:[^"\\]++|\\.)*+)"?'
_LINK = re.compile(rf"<([^>]*+)>((?:[^,\"]++|{_QUOTED})*+)")
_REL = re.compile(rf";\s*+rel\s*+=\s*+(?:{_QUOTED}|([^\s;,\"]++))", re.IGNORECASE)
_ANCHOR = re.compile(r";\s*+anchor\s*+=", re.IGNORECASE)

MOST_LINKS = 100


def header_mentions(values: list[str]) -> list[Mention]:
    """The links about the document itself; those with an `anchor` speak of something else.

    Args:
        values: of the Link fields, text by latin-1.
    """
    mentions: list[Mention] = []
    for value in values:
        for match in _LINK.finditer(value[:65536]):
            relation = _REL.search(match[2])
            if relation is None or _ANCHOR.search(match[2]) or len(mentions) >= MOST_LINKS:
                continue
            words = relation[1] or relation[2] or ""
            kind: LinkKind | None = kind_of_relation(words)
            if kind is not None and match[1].strip():
                address = match[1].encode("latin-1", "replace").decode("utf-8", "replace")
                mentions.append(Mention("Link", kind, address, nofollow(words)))
    return mentions
