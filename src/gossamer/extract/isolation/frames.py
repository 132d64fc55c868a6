"""What parent and worker say to each other: frames of a kind and a body, each with its length before it."""

import socket
import struct
import time
from enum import IntEnum

_HEAD = struct.Struct(">BQ")
_PIECE = 1 << 18


class Frame(IntEnum):
    """What the body of a frame is."""

    READY = 0  # empty: the worker has loaded its function
    QUESTION = 1
    ANSWER = 2
    RAISED = 3  # one line of text
    MEMORY = 4  # empty
    TOO_LONG = 5  # the length of the answer, as text


class ClosedError(Exception):
    """The other side is gone."""


def send(channel: socket.socket, kind: Frame, body: bytes, until: float | None = None) -> None:
    """Send one frame.

    Raises:
        ClosedError: the other side is gone.
        TimeoutError: it did not take the frame before `until`, by the monotonic clock.
    """
    try:
        for part in (_HEAD.pack(kind, len(body)), body):
            view = memoryview(part)
            while view:
                _limit(channel, until)
                view = view[channel.send(view[:_PIECE]) :]
    except (BrokenPipeError, ConnectionError) as error:
        raise ClosedError from error


def receive(channel: socket.socket, longest: int, until: float | None = None) -> tuple[Frame, bytes]:
    """The next frame.

    Raises:
        ClosedError: the other side is gone.
        TimeoutError: the frame was not whole before `until`, by the monotonic clock.
        ValueError: this is no frame, or its body is longer than `longest` bytes.
    """
    kind, length = _HEAD.unpack(_exactly(channel, _HEAD.size, until))
    if length > longest:
        raise ValueError(f"a body of {length} bytes, of {longest} at most")
    return Frame(kind), _exactly(channel, length, until)


def _exactly(channel: socket.socket, length: int, until: float | None) -> bytes:
    body = bytearray()
    while len(body) < length:
        _limit(channel, until)
        try:
            piece = channel.recv(min(_PIECE, length - len(body)))
        except ConnectionError as error:
            raise ClosedError from error
        if not piece:
            raise ClosedError
        body += piece
    return bytes(body)


def _limit(channel: socket.socket, until: float | None) -> None:
    if until is None:
        return
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    channel.settimeout(left)
