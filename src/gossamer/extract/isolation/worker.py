"""A worker process: loads one function, answers questions with it until its parent goes.

Started by `processes.py` as `python -m gossamer.extract.isolation.worker FD`. It limits itself, and the
kernel ends it where it does not come back in time, also when the parent has been killed.
"""

import gc
import os
import pickle
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from gossamer.extract.isolation.frames import ClosedError, Frame, receive, send
from gossamer.model.raised import Raised

GRACE = 1.0
"""Seconds after which the kernel ends a worker that its parent, who is more exact, has not ended."""

_ANY_LENGTH = (1 << 63) - 1
_COLLECT_AFTER = 20_000
"""New containers between two looks for cycles; a document makes thousands, and hardly a cycle."""


class Orders(msgspec.Struct, frozen=True):
    """What a worker is told first.

    Attributes:
        loaded: the function and the type of its questions, pickled.
        start, seconds: for loading it, and for each answer.
        memory: bytes of address space.
        answer: bytes of an encoded answer.
    """

    loaded: bytes
    start: float
    seconds: float
    memory: int
    answer: int
    nice: int
    patience: float


def main(descriptor: int) -> None:
    """Serve until the other end of the socket is closed."""
    channel = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the parent ends this one, in its order
    try:
        _, body = receive(channel, _ANY_LENGTH)
        _serve(channel, msgspec.msgpack.decode(body, type=Orders))
    except ClosedError:
        pass
    finally:
        os._exit(0)  # not by way of what the function's libraries may want to do at the end


def _serve(channel: socket.socket, orders: Orders) -> None:
    _confine(orders)
    _bound(orders.start, orders.patience)
    try:
        task, question_type = pickle.loads(orders.loaded)  # noqa: S301 - our parent's
    except Exception as error:  # noqa: BLE001 - whatever a module raises that is imported
        send(channel, Frame.RAISED, Raised.by("", error).what.encode("utf-8", "replace"))
        return
    gc.freeze()  # modules and models stay
    gc.set_threshold(_COLLECT_AFTER)
    decoder = msgspec.msgpack.Decoder(question_type)
    send(channel, Frame.READY, b"")
    while True:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _, body = receive(channel, _ANY_LENGTH)
        _bound(orders.seconds, orders.patience)
        kind, answer = _answer(task, decoder.decode(body), orders.answer)
        del body
        send(channel, kind, answer)


def _bound(seconds: float, patience: float) -> None:
    """Have the kernel end this process when its time is over."""
    signal.setitimer(signal.ITIMER_REAL, seconds * patience + GRACE)
    if patience > 1:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _answer(task: Callable[[Any], object], question: object, longest: int) -> tuple[Frame, bytes]:
    try:
        answer = msgspec.msgpack.encode(task(question))
    except MemoryError:
        return Frame.MEMORY, b""
    except Exception as error:  # noqa: BLE001 - the border of code that was handed in
        return Frame.RAISED, Raised.by("", error).what.encode("utf-8", "replace")
    if len(answer) > longest:
        return Frame.TOO_LONG, str(len(answer)).encode()
    return Frame.ANSWER, answer


def _confine(orders: Orders) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    memory = orders.memory if most == resource.RLIM_INFINITY else min(orders.memory, most)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if orders.nice:
        os.nice(orders.nice)


if __name__ == "__main__":
    main(int(sys.argv[1]))
