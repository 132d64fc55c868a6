"""A payload that was read back from the archive."""

import io
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from typing import BinaryIO

__all__ = ["ArchivedBody"]


class ArchivedBody:
    """A stored payload as the body of an exchange."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    @property
    def size(self) -> int:
        """Bytes of the payload as stored."""
        return len(self._payload)

    @cached_property
    def sha256(self) -> bytes:
        """SHA-256 digest of the payload."""
        return sha256(self._payload).digest()

    def open(self) -> BinaryIO:
        """A new reader at the start."""
        return io.BytesIO(self._payload)

    def chunks(self, size: int = 1 << 18) -> Iterator[bytes]:
        """The payload in pieces of bounded size."""
        for at in range(0, len(self._payload), size):
            yield self._payload[at : at + size]

    def read(self, limit: int = -1) -> bytes:
        """The first `limit` bytes, all of them if negative."""
        return self._payload if limit < 0 else self._payload[:limit]

    def close(self) -> None:
        """There is nothing to give back."""
