"""Replaces the origin of an address by the name under which it is replayed."""

import re

from gossamer.extract.html.character_references import unescape_attribute
from gossamer.model.url import WITH_HOSTS, Url
from gossamer.replay.names import Names

__all__ = ["Mover", "escaped", "unescaped"]

_ABSOLUTE = re.compile(
    rb"[\x00-\x20]*+((?:%b):)?+[/\\][/\\]+([^/\\?#\x00-\x20]++)"
    % "|".join(map(re.escape, WITH_HOSTS)).encode(),
    re.IGNORECASE,
)
"""A scheme with hosts or none, slashes as browsers take them, and the authority."""
_START = 300
"""Bytes of an address within which its origin ends."""


class Mover:
    """Moves addresses of one document."""

    def __init__(self, names: Names, base: Url, at: int = 0) -> None:
        """Of a document at `base`, looked at at the time `at` (0: that of the whole view)."""
        self.names = names
        self.base = base
        self.at = at

    def moved(self, address: bytes) -> bytes | None:
        """The address with its origin replaced; `None` if it has none, and so stays.

        Args:
            address: in any encoding whose ASCII bytes are ASCII characters; no character references.
        """
        found = _ABSOLUTE.match(address)
        if found is None:
            return None
        scheme = found[1].decode("ascii").lower() if found[1] else f"{self.base.scheme}:"
        url = Url.parse(f"{scheme}//{found[2].decode('utf-8', 'replace')}/")
        if url is None or not url.host:
            return None
        return self.names.origin(url, self.at).encode("ascii") + address[found.end() :]

    def moved_attribute(self, value: bytes) -> bytes | None:
        """The same of an attribute's value as it stands in the source, references and all."""
        found = _ABSOLUTE.match(value)
        if b"&" not in (found[0] if found is not None else value[:_START]):
            return self.moved(value)
        moved = self.moved(unescaped(value))
        return None if moved is None else escaped(moved)


def unescaped(value: bytes) -> bytes:
    """An attribute's value with its references undone; other bytes stay, whatever the encoding."""
    if b"&" not in value:
        return value
    return unescape_attribute(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def escaped(value: bytes) -> bytes:
    """As it may stand in an attribute, whatever its quotes."""
    value = value.replace(b"&", b"&amp;").replace(b'"', b"&quot;").replace(b"'", b"&#39;")
    return value.replace(b"<", b"&lt;").replace(b">", b"&gt;")
