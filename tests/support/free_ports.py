"""Ports for programs that are told theirs, and cannot be given a socket."""

import contextlib
import random
import socket


def free_port() -> int:
    """One that is free for both transports, and that no other socket is given before a server takes it."""
    while True:
        port = random.randrange(20_000, 32_000)  # below those that Linux gives to sockets without one
        with (
            contextlib.suppress(OSError),
            socket.socket(type=socket.SOCK_STREAM) as stream,
            socket.socket(type=socket.SOCK_DGRAM) as udp,
        ):
            stream.bind(("127.0.0.1", port))
            udp.bind(("127.0.0.1", port))
            return port
