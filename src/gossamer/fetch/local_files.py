"""The protocol module for files of this machine, below folders that the operator has named."""

import asyncio
import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Final

from gossamer.fetch.body import BodyWriter
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.listing import (
    PAGE_TYPE,
    Entry,
    folder_of,
    is_name,
    name_of_file,
    type_by_name,
    write_page,
)
from gossamer.model.exchange import Exchange, Headers, Result, StatusAction, Timing, Truncation
from gossamer.model.lease import Lease
from gossamer.model.outcome import Fetched, Outcome
from gossamer.model.url import Url

_PIECE = 256 << 10
_RESULTS: Final[dict[str, StatusAction]] = {
    "file": StatusAction.PROCESS,
    "directory": StatusAction.PROCESS,
    "unchanged": StatusAction.UNCHANGED,
    "changing": StatusAction.RETRY,  # it was written to while it was read
    "missing": StatusAction.DROP,
    "denied": StatusAction.DROP,
    "special": StatusAction.DROP,  # a device, a pipe: reading might never end
    "elsewhere": StatusAction.DROP,  # not below a folder that was named
    "unreadable": StatusAction.RETRY,
}


class LocalFiles:
    """Visits file URLs (`gossamer.ports.ProtocolModule`).

    Links of the file system are followed as far as they stay below the folders; a folder that is one is left out
    of the page of the folder that it lies in, so that no ring of links is walked.

    Args:
        new_body: makes what takes a body.
    """

    schemes = frozenset({"file"})

    def __init__(self, config: FetchConfig, new_body: Callable[[], BodyWriter]) -> None:
        self._config = config
        self._new_body = new_body

    async def fetch(self, lease: Lease) -> Outcome:
        """Visit the lease's URL once.

        Raises:
            StorageError: our disk cannot take the body.
        """
        known = lease.validators.last_modified if lease.validators is not None else ""
        reading = _Reading(self._config, self._new_body(), lease.candidate.url, known)
        return Fetched(await asyncio.to_thread(reading.exchange))

    async def close(self) -> None:
        """Has nothing to give up: each visit closes what it opened."""


class _Reading:
    """One visit, in a thread of its own.

    Args:
        known: what the folder or file said of its last change when it was visited before, if it was.
    """

    def __init__(self, config: FetchConfig, writer: BodyWriter, url: Url, known: str) -> None:
        self._folders = [Path(folder).expanduser().resolve() for folder in config.folders]
        self._most = config.max_body
        self._writer = writer
        self._url = url
        self._known = known
        self._fields: list[tuple[str, str]] = []
        self._cut = False

    def exchange(self) -> Exchange:
        """What came of it.

        Raises:
            StorageError: our disk cannot take the body.
        """
        started, began = time.time(), time.monotonic()
        word = self._word()
        if _RESULTS[word] is not StatusAction.PROCESS:
            self._writer.discard()
        body = self._writer.finish()
        return Exchange(
            self._url,
            started,
            b"",
            0,
            b"",
            Headers(self._fields),
            body,
            protocol=self._url.scheme,
            timing=Timing(total=time.monotonic() - began),
            truncated=Truncation.LENGTH if self._cut else None,
            result=Result(word, _RESULTS[word]),
        )

    def _word(self) -> str:
        try:
            return self._read()
        except (FileNotFoundError, NotADirectoryError):
            return "missing"
        except PermissionError:
            return "denied"
        except (OSError, RuntimeError):  # RuntimeError: a ring of links
            return "unreadable"

    def _read(self) -> str:
        name = name_of_file(self._url.path)
        if name is None or self._url.host:
            return "elsewhere"
        path = Path(os.fsdecode(name)).resolve()
        if not any(path.is_relative_to(folder) for folder in self._folders):
            return "elsewhere"
        # Whatever it has become since: a pipe is not waited for, a link not followed.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            return self._read_open(descriptor, path, name)
        finally:
            os.close(descriptor)

    def _read_open(self, descriptor: int, path: Path, name: bytes) -> str:
        before = os.fstat(descriptor)
        changed = _dated(before.st_mtime)
        if changed and self._known == changed:
            return "unchanged"
        if stat.S_ISDIR(before.st_mode):
            return self._page(path, name, changed)
        if not stat.S_ISREG(before.st_mode):
            return "special"
        if name.endswith(b"/"):
            return "missing"
        self._copy(descriptor)
        after = os.fstat(descriptor)
        if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
            return "changing"
        self._tell("Last-Modified", changed)
        self._tell("Content-Type", type_by_name(name))
        return "file"

    def _copy(self, descriptor: int) -> None:
        left = self._most
        while chunk := os.read(descriptor, min(_PIECE, left + 1)):
            self._cut = len(chunk) > left
            self._writer.write(chunk[:left])
            left -= len(chunk)
            if self._cut:
                return

    def _tell(self, name: str, value: str) -> None:
        if value:
            self._fields.append((name, value))

    def _page(self, path: Path, name: bytes, changed: str) -> str:
        self._tell("Content-Type", PAGE_TYPE)
        entries: Iterable[Entry] = folder_of(name)
        if name.endswith(b"/"):
            self._tell("Last-Modified", changed)
            entries = _entries(path)
        self._cut = write_page(self._writer, self._url, entries, self._most)
        return "directory"


def _dated(changed: float) -> str:
    """As a header has it; empty for a year of more than four digits, which disks can hold."""
    try:
        return formatdate(changed, usegmt=True)
    except (ValueError, OverflowError, OSError):
        return ""


def _entries(folder: Path) -> Iterator[Entry]:
    with os.scandir(os.fsencode(folder)) as found:
        below = sorted(found, key=lambda entry: entry.name)
    for entry in below:
        with contextlib.suppress(OSError):  # a ring of links, or gone since
            said = entry.stat()
            if is_name(entry.name) and stat.S_ISREG(said.st_mode):
                yield Entry(entry.name, False, said.st_size, said.st_mtime)
            elif is_name(entry.name) and entry.is_dir(follow_symlinks=False):
                yield Entry(entry.name, True, None, said.st_mtime)
