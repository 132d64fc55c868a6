"""The log of what was changed while the crawl ran: `changes.jsonl` in its folder."""

import os
from pathlib import Path
from typing import Any

import msgspec

from gossamer.model.errors import StorageError

CHANGES = "changes.jsonl"
LONGEST_LINE = 2 << 20

_encode = msgspec.json.Encoder().encode


class Change(msgspec.Struct, frozen=True):
    """One thing that was changed.

    Attributes:
        id: number of the entry, from 1.
        when: wall time, seconds since 1970.
        who: as the request said.
        path: of the setting, or what was done: `pause`, `park`, `rest`, `revive`, `seeds`, `release`, ...
        subject: the host, pattern or address that it was done to; empty for settings.
        old, new: values as they stand in TOML; `None` for unset.
        together: the `id` of the first entry of one request.
        undoes: the entry that this one takes back; 0 for none.
        undone: the entry that has taken this one back; 0 for none.
        final: it cannot be undone.
    """

    id: int
    when: float
    who: str
    path: str
    subject: str = ""
    old: Any = None
    new: Any = None
    together: int = 0
    undoes: int = 0
    undone: int = 0
    final: bool = False


_decode = msgspec.json.Decoder(Change).decode


def read_changes(folder: Path) -> list[Change]:
    """Every entry, oldest first, with what has been undone; a line that a crash has cut is left out.

    Raises:
        StorageError: the log cannot be read.
    """
    try:
        lines = (folder / CHANGES).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageError(f"{folder / CHANGES}: cannot be read ({error.strerror})") from None
    changes: dict[int, Change] = {}
    for line in lines:
        try:
            change = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        changes[change.id] = change
        if change.undoes in changes:
            changes[change.undoes] = msgspec.structs.replace(changes[change.undoes], undone=change.id)
    return list(changes.values())


class ChangeLog:
    """Appends to the log of a running crawl.

    An entry is on the disk before what it tells of is done, so that nothing happens that nobody finds.
    """

    def __init__(self, folder: Path) -> None:
        """Go on with the log in `folder`.

        Raises:
            StorageError: it cannot be read.
        """
        self._folder = folder
        self._last = max((change.id for change in read_changes(folder)), default=0)

    def next_ids(self, count: int) -> range:
        """Numbers of the next entries."""
        return range(self._last + 1, self._last + 1 + count)

    def append(self, changes: list[Change]) -> None:
        """Write entries, numbered by `next_ids`.

        Raises:
            StorageError: the disk refuses.
        """
        text = b"".join(_encode(change) + b"\n" for change in changes)
        try:
            with (self._folder / CHANGES).open("ab") as out:
                if out.tell() and not self._ends_whole():
                    out.write(b"\n")  # a crash has cut the last line
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise StorageError(
                f"{self._folder / CHANGES}: cannot be written ({error.strerror}), so nothing was changed. "
                "Free some space."
            ) from None
        self._last = changes[-1].id

    def _ends_whole(self) -> bool:
        with (self._folder / CHANGES).open("rb") as log:
            log.seek(-1, os.SEEK_END)
            return log.read(1) == b"\n"
