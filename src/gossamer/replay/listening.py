"""Opens the sockets at which a server of an archive listens."""

import errno
import socket
from collections.abc import Sequence

from gossamer.model.errors import ConfigError

__all__ = ["LOOPBACK", "listening", "written"]

LOOPBACK = "127.0.0.1"
_BACKLOG = 128
_TRIES = 20
"""Free ports that are tried until one is free at both addresses."""


def listening(host: str, port: int) -> Sequence[socket.socket]:
    """Sockets that listen: at 127.0.0.1 also at ::1, where browsers look for names below `localhost` first.

    Raises:
        ConfigError: the address is not ours, or somebody listens there.
    """
    for _ in range(_TRIES):
        first = _socket(host, port)
        if host != LOOPBACK:
            return [first]
        try:
            return [first, socket.create_server(("::1", first.getsockname()[1]), family=socket.AF_INET6)]
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return [first]  # there is no IPv6 here
            first.close()
        if port:
            break
    raise ConfigError(f"--port {port}: somebody listens at ::1, where browsers would ask. Choose another.")


def _socket(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        told = getattr(error, "strerror", None) or error
        raise ConfigError(f"--host {host} --port {port}: cannot be had ({told}). Choose another.") from None


def written(host: str) -> str:
    """An address as it stands in a URL."""
    return f"[{host}]" if ":" in host else host
