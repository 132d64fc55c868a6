"""Remembers what only a connection's first visit showed."""

import msgspec

_UNKNOWN = -1


class Handshake(msgspec.Struct, frozen=True, gc=False):
    """What that of a connection showed.

    Attributes:
        cipher: TLS version and suite; empty without one.
        certificate_ends: wall time at which the peer's does; 0 if that was not looked at.
        certificate: SHA-256 of it; empty if that was not looked at.
    """

    cipher: str = ""
    certificate_ends: float = 0.0
    certificate: bytes = b""


_NONE = Handshake()


class ConnectionMemory:
    """Handshakes and old protocol versions by libcurl's connection number, the oldest forgotten first.

    Args:
        capacity: connections remembered; more than can be open at once.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._handshakes: dict[int, Handshake] = {}
        self._old: dict[int, None] = {}

    def handshake(self, connection: int, seen: Handshake) -> Handshake:
        """What was `seen` in this visit's handshake, or in that of an earlier one.

        Of a quick handshake only the certificate may have been seen: libcurl tells of ciphers who listens in time.
        """
        if seen == _NONE:
            return self._handshakes.get(connection, _NONE)
        if connection != _UNKNOWN:
            self._handshakes[connection] = seen
            if len(self._handshakes) > self._capacity:
                del self._handshakes[next(iter(self._handshakes))]
        return seen

    def spoke_1_0(self, connection: int) -> bool:
        """Did the peer answer with HTTP/1.0 on this connection before? libcurl then asks in HTTP/1.0 too."""
        return connection in self._old

    def note_1_0(self, connection: int) -> None:
        """The peer answered with HTTP/1.0."""
        self._old[connection] = None
        if len(self._old) > self._capacity:
            del self._old[next(iter(self._old))]
