"""Keeps what holds a crawl back, a pause and ceilings, for the process that goes on if this one dies."""

import contextlib
from pathlib import Path

import msgspec

from gossamer.model.errors import StorageError
from gossamer.state.whole_files import write_whole

HOLD = "hold.json"
_LONGEST = 1 << 16


class Ceilings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the crawl may take at most, whatever its settings say; `None` for no ceiling.

    Attributes:
        connections: visits at once.
        bandwidth: bytes a second.
        memory: bytes; kept by whoever watches the process.
        files: open files; likewise.
    """

    connections: int | None = None
    bandwidth: int | None = None
    memory: int | None = None
    files: int | None = None


class Hold(msgspec.Struct, frozen=True, omit_defaults=True):
    """What holds a crawl back.

    Attributes:
        paused_by: whoever has paused it; empty if it is not paused.
        ceilings: as last told.
    """

    paused_by: str = ""
    ceilings: Ceilings = Ceilings()


NOTHING = Hold()


def read_hold(folder: Path) -> Hold:
    """What held the crawl of a folder back when its process died; nothing if that ended well."""
    try:
        text = (folder / HOLD).read_bytes()
        return msgspec.json.decode(text, type=Hold) if len(text) <= _LONGEST else NOTHING
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return NOTHING


def write_hold(folder: Path, hold: Hold) -> None:
    """Keep what holds a crawl back, at once and whole.

    Raises:
        StorageError: the disk refuses.
    """
    if hold == NOTHING:
        forget_hold(folder)
    else:
        write_whole(folder / HOLD, msgspec.json.encode(hold))


def forget_hold(folder: Path) -> None:
    """The crawl has ended well: the next one begins free.

    Raises:
        StorageError: the disk refuses.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            (folder / HOLD).unlink()
    except OSError as error:
        raise StorageError(f"{folder / HOLD}: cannot be removed ({error.strerror}).") from None
