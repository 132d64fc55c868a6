"""The ZIP of a WACZ: members one after the other, the digest of each in `datapackage.json`.

Sources: WACZ 1.1.1, "datapackage.json" and "datapackage-digest.json"; PKWARE's APPNOTE 6.3 (zip64).
"""

import fcntl
import hashlib
import os
import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import msgspec

from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.whole_files import sync_directory

VERSION = "1.1.1"
SUFFIX = ".wacz"
DATAPACKAGE = "datapackage.json"
_DIGEST = "datapackage-digest.json"
_TIMESTAMP, _MODIFIED = 0x5455, 1
"""The extra field "extended timestamp" and its flag for the time of the last change."""
_NOT_IN_NAMES = re.compile("[^-a-z0-9._]")


class Resource(msgspec.Struct, frozen=True):
    """A member as `datapackage.json` lists it; `name` is unique, in lower case, as Frictionless wants it."""

    name: str
    path: str
    hash: str
    bytes: int


class Member:
    """A member that is being written."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes | memoryview) -> None:
        """Append to what it holds and to what its digest is of."""
        self._out.write(data)
        self._sha256.update(data)
        self.size += len(data)

    @property
    def hash(self) -> str:
        """Of all that was written, as the datapackage spells it."""
        return f"sha256:{self._sha256.hexdigest()}"


class Container:
    """Takes members in the order in which they are to lie there; one is open at a time."""

    def __init__(self, out: IO[bytes], made: datetime) -> None:
        """`out` can be sought in, so that each member's length and checksum stand before it, too."""
        self._zip = zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._made = made
        self.resources: list[Resource] = []

    @contextmanager
    def member(self, path: str, size: int | None = None, *, packed: bool = False) -> Iterator[Member]:
        """A member to be written.

        Args:
            path: in the ZIP.
            size: of it in bytes, if that is known; otherwise it may be of any.
            packed: by deflate. Members that are read in pieces must not be.
        """
        entry = zipfile.ZipInfo(path, self._made.timetuple()[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        entry.external_attr = 0o644 << 16
        # Where the directory has no extra field of a member, ReplayWeb.page takes it for granted that there is none
        # before the member either, and reads zip64's there as content; so each has one in both places.
        entry.extra = struct.pack("<HHBL", _TIMESTAMP, 5, _MODIFIED, int(self._made.timestamp()))
        entry.file_size = size or 0
        with self._zip.open(entry, "w", force_zip64=size is None) as out:
            member = Member(out)
            yield member
        name = _NOT_IN_NAMES.sub("-", path.rpartition("/")[2].lower())
        self.resources.append(Resource(name, path, member.hash, member.size))

    def finish(self, about: dict[str, str]) -> None:
        """Write the datapackage, its digest and the directory; nothing can be added then.

        Args:
            about: what the datapackage says of the whole: `title`, `software`, ...
        """
        package = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "created": self._made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            **about,
            "resources": self.resources,
        }
        listed = msgspec.json.format(msgspec.json.encode(package), indent=2)
        with self.member(DATAPACKAGE, len(listed)) as member:
            member.write(listed)
        digest = msgspec.json.encode({"path": DATAPACKAGE, "hash": member.hash})
        with self.member(_DIGEST, len(digest)) as last:
            last.write(digest)
        self._zip.close()

    def abandon(self) -> None:
        """It is not finished; nothing more is written."""
        self._zip.fp = None


@contextmanager
def container(path: Path) -> Iterator[Container]:
    """A WACZ to be written, that has its name once the context ends well; an earlier one is replaced.

    Args:
        path: ends with `.wacz`, by which players know it.

    Raises:
        ConfigError: it ends otherwise, is a folder, or another export writes it now.
        StorageError: it cannot be written; nothing is left of it.
    """
    if path.suffix != SUFFIX or path.is_dir():
        raise ConfigError(f"--out {path}: write the name of a file that ends with {SUFFIX}")
    partial = path.with_name(f"{path.name}.partial")
    made = datetime.now(UTC)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("ab") as held:  # not emptied before it is known that nobody writes it
            _alone(held.fileno(), path)
            try:
                with partial.open("r+b") as out:
                    out.truncate()
                    into = Container(out, made)
                    try:
                        yield into
                    finally:
                        into.abandon()
                    out.flush()
                    os.fsync(out.fileno())
                partial.replace(path)
            except BaseException:
                with suppress(OSError):
                    partial.unlink()
                raise
        sync_directory(path.parent)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written ({error.strerror or error}). Free some space or choose another place"
            " by --out."
        ) from error


def _alone(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(f"{path}: another export writes it now; wait for it.") from None
    except OSError:  # a file system that knows no locks
        pass
