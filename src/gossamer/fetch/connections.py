"""Remembers what only a connection's first visit showed."""

_UNKNOWN = -1


class ConnectionMemory:
    """Cipher suites and old protocol versions by libcurl's connection number, the oldest forgotten first.

    Args:
        capacity: connections remembered; more than can be open at once.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._ciphers: dict[int, str] = {}
        self._old: dict[int, None] = {}

    def cipher(self, connection: int, heard: str) -> str:
        """TLS version and suite, `heard` in this visit's handshake or in that of an earlier one."""
        if heard and connection != _UNKNOWN:
            self._ciphers[connection] = heard
            if len(self._ciphers) > self._capacity:
                del self._ciphers[next(iter(self._ciphers))]
        return heard or self._ciphers.get(connection, "")

    def spoke_1_0(self, connection: int) -> bool:
        """Did the peer answer with HTTP/1.0 on this connection before? libcurl then asks in HTTP/1.0 too."""
        return connection in self._old

    def note_1_0(self, connection: int) -> None:
        """The peer answered with HTTP/1.0."""
        self._old[connection] = None
        if len(self._old) > self._capacity:
            del self._old[next(iter(self._old))]
