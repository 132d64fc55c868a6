"""Sends a crawl's files to its store: those of the archive as they become whole, the rest when it has ended well."""

import contextlib
import hashlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from gossamer.archive.committed import Committed, committed
from gossamer.archive.file import SUFFIX
from gossamer.archive.follower import KEPT, Mark
from gossamer.assembly.folder import CrawlFolder
from gossamer.datasets.upload.ledger import FOLDER, REPORT, Done, Ledger, Stored
from gossamer.datasets.upload.trying import OWNER, opened, prove_owner
from gossamer.engine.checkpoints import INVENTORY, names
from gossamer.engine.fault_points import fault_point
from gossamer.inspect.inspection import crawl_in, state_of
from gossamer.model.command_line import command_line
from gossamer.model.errors import StorageError
from gossamer.state.environment import Family, StateConfig
from gossamer.state.records import ENDED
from gossamer.state.whole_files import write_whole

MANIFEST = "datapackage.json"
"""Object that lists the others with sizes and digests, as Frictionless data packages do; the last that is written."""
_TURN = 2.0
"""Seconds between two looks for files that have become whole."""
_MANIFEST_EVERY = 60.0
"""Seconds between two manifests while the crawl runs: with very many files each is long."""
_BLOCK = 1 << 20
_REST = (
    "crawl.toml",
    "seeds.txt",
    "index.cdxj",
    "crawl.log",
    "history.jsonl",
    "changes.jsonl",
)
"""Files of a crawl that has ended, beside archive and state, from which it can be read, checked and gone on with."""


class Upload:
    """One process that uploads one crawl."""

    def __init__(self, path: Path, address: str) -> None:
        """Claim the store for the crawl in `path`; `close` it afterwards.

        Raises:
            Busy: another process uploads this crawl.
            ConfigError: the store cannot be used, holds another crawl, or no more what it held of this one.
            StorageError: the store or the disk refuses.
        """
        self._folder = CrawlFolder(path)
        self._address = address
        self._store = opened(address)
        self._ledger = Ledger(path, address)
        self._sent = 0
        self._listed = 0.0
        try:
            known = str(path / FOLDER) if OWNER in self._ledger.stored else ""
            prove_owner(self._store, address, self._ledger.crawl, known)
            # What one who was killed has left, as nobody else writes here.
            for prefix in ("", "archive", "state"):
                self._store.sweep(prefix, 0)
            if OWNER not in self._ledger.stored:
                mark = self._ledger.crawl.encode()
                self._store.put(OWNER, mark)
                self._note(OWNER, len(mark), hashlib.sha256(mark).hexdigest())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others upload this crawl."""
        self._ledger.close()

    def run(self, *, once: bool = False) -> Done:
        """Send what is there, and, unless `once`, what comes as long as the crawl runs; then the rest.

        Raises:
            StorageError: the store or the disk refuses; what is in the store is noted, and the next run goes on.
        """
        while True:
            try:
                done = self._turn(once=once)
            except OSError as error:  # a file was there a moment ago: somebody goes back to a checkpoint
                raise StorageError(f"{error.filename}: cannot be read ({error.strerror}).") from None
            if done is not None:
                return done
            time.sleep(_TURN)

    def _turn(self, *, once: bool) -> Done | None:
        runs = self._folder.in_use()  # before the look, or what was closed since would be missed
        before = self._sent
        self._send_archive()
        if not runs:  # who was killed may not have kept the last
            self._keep_mark()
        if not runs and (whole := self._send_rest()) is not None:
            return self._done(whole=whole)
        if once and runs:
            self._list()
            return self._done(whole=False)
        if self._sent > before and time.monotonic() - self._listed > _MANIFEST_EVERY:
            self._list()
        return None

    def _done(self, *, whole: bool) -> Done:
        stored = self._ledger.stored.values()
        return Done(self._address, len(stored), sum(one.size for one in stored), self._sent, whole)

    # The archive …

    def _send_archive(self) -> None:
        for path in sorted(self._folder.archive.glob(f"*{SUFFIX}")):
            name, size = f"archive/{path.name}", path.stat().st_size
            # A file of that name is never written again; going back to a checkpoint may cut it.
            known = self._ledger.stored.get(name)
            if known is None or known.size != size:
                self._send(name, path, size, *_digests(path, size), look=True)
                self._keep_mark()

    def _keep_mark(self) -> None:
        """Keep up to where the store has the archive, which `status` compares with what there is."""
        view = self._committed()
        mark = Mark(-1, 0, view.history)
        for file in view.files:
            known = self._ledger.stored.get(f"archive/{file.name}")
            if known is None or known.size != file.length:
                break
            mark = Mark(file.serial, file.length, view.history)
        if mark.serial >= 0:
            write_whole(self._folder.path / FOLDER / KEPT, msgspec.json.encode({"mark": mark}) + b"\n")

    def _committed(self) -> Committed:
        with state_of(crawl_in(self._folder.path), StateConfig()) as environment:
            return committed(environment)

    # … and the rest

    def _send_rest(self) -> bool | None:
        """Send what belongs to a crawl that has ended; whether that is all of it, `None` if it goes on meanwhile."""
        with state_of(crawl_in(self._folder.path), StateConfig()) as environment:
            ended = environment.get(Family.META, ENDED)
            files = {f"archive/{file.name}" for file in committed(environment).files}
        if not ended:  # killed: its state would not fit its archive, until it is gone on with
            self._list()
            return False
        kept = {OWNER, MANIFEST}
        for name, path in self._of_ended():
            if self._folder.in_use():
                return None
            kept.add(name)
            size = path.stat().st_size
            digests, known = _digests(path, size), self._ledger.stored.get(name)
            if known is None or (known.size, known.sha256) != (size, digests[0]):
                self._send(name, path, size, *digests)
        for name in sorted(set(self._ledger.stored) - kept - files):
            self._store.delete(name)
            self._note(name, 0, "")
        self._list()
        return files <= set(self._ledger.stored)

    def _of_ended(self) -> Iterator[tuple[str, Path]]:
        """(name, path) of what is sent of a crawl that has ended.

        The state is that of its last checkpoint, which does not change. `CURRENT` names the manifest of RocksDB, which
        names the tables: in the other order, the store holds a state that can be opened at any moment. The report comes
        last, by which `is_whole` knows.
        """
        for name in _REST:
            if (path := self._folder.path / name).is_file():
                yield name, path
        for checkpoint in names(self._folder.checkpoints)[-1:]:
            parts = [
                path for path in (self._folder.checkpoints / checkpoint).iterdir() if path.name != INVENTORY
            ]
            for path in sorted(
                parts, key=lambda part: (_RANK.get(part.name.partition("-")[0], 0), part.name)
            ):
                yield f"state/{path.name}", path
        if self._folder.report.is_file():
            yield REPORT, self._folder.report

    # Objects

    def _send(self, name: str, path: Path, size: int, sha256: str, md5: str, *, look: bool = False) -> None:
        """Send a file, and note that it is there; `look` first whether one who was killed had sent it."""
        if look and (told := self._store.told(name)) is not None and told.size == size:
            with contextlib.suppress(StorageError):
                self._verify(name, size, sha256, md5)
                self._note(name, size, sha256)
                return
        fault_point("upload.sending")
        self._store.put_file(name, path, 0, size)
        fault_point("upload.sent")
        self._verify(name, size, sha256, md5)
        self._note(name, size, sha256)
        fault_point("upload.noted")
        self._sent += 1

    def _verify(self, name: str, size: int, sha256: str, md5: str) -> None:
        """Compare an object with what it is to be, by its size and what the store says of its digest.

        Raises:
            StorageError: it is another.
        """
        told = self._store.told(name)
        sound = told is not None and told.size == size
        if sound and told is not None and told.md5 not in ("", md5):
            # Some stores give something else in that place, so only the bytes themselves can tell.
            digest = hashlib.sha256()
            for piece in self._store.read(name, size):
                digest.update(piece)
            sound = digest.hexdigest() == sha256
        if not sound:
            self._store.delete(name)
            there = f"{told.size} bytes that differ" if told is not None else "nothing"
            raise StorageError(
                f"{self._address}: of {name}, {size} bytes, {there} came to lie there, and were deleted."
                f" '{command_line('upload', self._folder.path)}' sends it again."
            )

    def _note(self, name: str, size: int, sha256: str) -> None:
        self._ledger.note(Stored(name, size, sha256))

    def _list(self) -> None:
        """Write the manifest, if it would say anything new."""
        resources = [
            {"name": one.name.lower().replace("/", "."), "path": one.name, "hash": f"sha256:{one.sha256}",
             "bytes": one.size}
            for one in sorted(self._ledger.stored.values(), key=lambda one: one.name)
            if one.name != MANIFEST
        ]  # fmt: skip
        sha256 = hashlib.sha256(msgspec.json.encode(resources)).hexdigest()
        known = self._ledger.stored.get(MANIFEST)
        self._listed = time.monotonic()
        if known is not None and known.sha256 == sha256:
            return
        created = datetime.now(UTC).isoformat(timespec="seconds")
        package = {"profile": "data-package", "created": created, "resources": resources}
        content = msgspec.json.format(msgspec.json.encode(package))
        self._store.put(MANIFEST, content)
        self._note(MANIFEST, len(content), sha256)


_RANK = {"MANIFEST": 1, "CURRENT": 2}


def _digests(path: Path, size: int) -> tuple[str, str]:
    """SHA-256 and MD5 of the first `size` bytes of a file, in hex.

    Raises:
        StorageError: it cannot be read.
    """
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    try:
        with path.open("rb") as file:
            while size > 0 and (piece := file.read(min(size, _BLOCK))):
                sha256.update(piece)
                md5.update(piece)
                size -= len(piece)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror}). Check the disk.") from None
    return sha256.hexdigest(), md5.hexdigest()
