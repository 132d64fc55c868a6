"""Lets a thread that reads very many links rest on the way, so that the event loop goes on."""

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

EVERY = 100
"""Items between two pauses, some hundred microseconds."""

PAUSE: ContextVar[Callable[[], None] | None] = ContextVar("PAUSE", default=None)
"""What is called now and then while a document is read; nothing if it may be read at one go."""


def with_pauses(items: Iterable[T]) -> Iterable[T]:
    """The items, with a pause now and then if there are to be any."""
    pause = PAUSE.get()
    return items if pause is None else _pausing(items, pause)


def _pausing(items: Iterable[T], pause: Callable[[], None]) -> Iterator[T]:
    for number, item in enumerate(items, 1):
        yield item
        if not number % EVERY:
            pause()
