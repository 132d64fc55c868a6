"""Opens the sockets of libcurl's transfers, each only if its address may be connected to."""

import os
import socket
from collections.abc import Callable

import pycurl

__all__ = ["Descriptor", "SocketOpener"]


class Descriptor:
    """A descriptor for pycurl, which duplicates it; ours closes as soon as pycurl lets go of this."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        """The descriptor of the connection's socket."""
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


class SocketOpener:
    """Opens the sockets of one transfer. Raises nothing, because pycurl would print and swallow it.

    Attributes:
        refused: the address that may not be connected to, if there was one.
        trouble: why there was no socket.
    """

    def __init__(self, allows: Callable[[str, str], bool] | None) -> None:
        """`allows`: (host, address) -> may a socket be opened? `None` behind a proxy, whose address is not judged."""
        self._allows = allows
        self.refused = ""
        self.trouble = ""

    def open(self, host: str, address: pycurl.CurlSockAddr) -> Descriptor | None:
        """A socket for an address of a host; `None` if there is to be none."""
        where = address.addr[0]
        if self._allows is not None and not self._allows(host, where):
            self.refused = where
            return None
        try:
            opened = socket.socket(address.family, address.socktype, address.protocol)
        except OSError as error:
            self.trouble = f"no socket: {error.strerror}"
            return None
        return Descriptor(opened.detach())
