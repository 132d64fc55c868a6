"""Prints for people and for programs; what came from the network cannot steer the terminal."""

import contextlib
import io
import sys
from collections.abc import Iterable

from gossamer.model.errors import StorageError
from gossamer.words.amounts import Amounts
from gossamer.words.visible import visible

ENGLISH = Amounts("en")
"""Writes sizes and times as the terminal shows them."""
size, duration = ENGLISH.size, ENGLISH.duration
safe = visible
"""Escapes what came from the network, so that it cannot steer the terminal."""


def say(text: str) -> None:
    """A line for people, on standard error, so that standard output is left to results.

    Nothing ends because nobody hears it: a terminal may be closed, the disk under a log full.
    """
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def show(text: str) -> None:
    """A line of a result, on standard output.

    Raises:
        StorageError: it cannot be written.
        BrokenPipeError: nobody reads it any more.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"standard output: cannot be written ({error.strerror}).") from error


def show_pieces(pieces: Iterable[bytes]) -> None:
    """A result for programs: bytes on standard output as they are.

    Raises:
        As `show`.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"standard output: cannot be written ({error.strerror}).") from error


def show_json(value: object) -> None:
    """A result for programs: in UTF-8 whatever the locale (RFC 8259, 8.1)."""
    import msgspec  # here, because `gossamer --help` needs none of it

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    show(msgspec.json.format(msgspec.json.encode(value)).decode())


def plural(count: int, noun: str, several: str = "") -> str:
    """`1 page`, `1,200 pages`; `several` where an s is not enough."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {several or noun + 's'}"
