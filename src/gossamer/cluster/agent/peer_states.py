"""Opens the states of other agents as of their snapshots, of which it fetches what is read, nothing else."""

import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from gossamer.cluster.snapshots import snapshots
from gossamer.cluster.snapshots.manifest import DamagedError, Manifest
from gossamer.cluster.snapshots.restoring import TABLE, fetch_missing, lacking, state_files
from gossamer.model.errors import StorageError
from gossamer.state.environment import Environment, Family, StateConfig, Table
from gossamer.state.object_store import MissingError, RefusedError, Store

UNREADABLE_SECONDS = 600.0
"""After which what a store that works otherwise refuses to give counts as damaged."""

MOST_STATES = 4
"""Kept for later moves from the same agent: all that an agent has at once comes in one or a few moves."""

Range = tuple[Family, bytes, bytes]
"""Keys of a family from the first up to, but not including, the second; to the end if that is empty."""


class PeerStates:
    """States in a folder of their own, one of each agent. Blocks: call it in threads, one call at a time.

    RocksDB says from its small files which table holds which keys. Tables never change, so one that was
    fetched for an earlier snapshot of the agent, or other shards, is not fetched again.
    """

    def __init__(self, store: Store, scratch: Path, me: str) -> None:
        """`scratch`: a folder that is emptied when the process begins; `me`: our own name in the store."""
        self._store = store
        self._scratch = scratch
        self._me = me
        self._manifests: dict[Path, Manifest] = {}
        self._refused: dict[Path, float] = {}
        self._doubted: set[Path] = set()

    def open(self, agent: str, snapshot: int, wanted: Iterable[Range]) -> Environment:
        """The state of an agent as of a snapshot, in which all that is `wanted` can be read.

        Raises:
            DamagedError, MissingError: the snapshot cannot be used, or not since `UNREADABLE_SECONDS`.
            StorageError: store or disk refuse.
        """
        place = self._scratch / f"{agent}-{snapshot}"
        manifest = self._manifests.pop(place, None) or snapshots.read(self._store, agent, snapshot)
        self._manifests[place] = manifest  # the last one used is the last in order
        earlier = [path for path in self._scratch.glob(f"{agent}-*") if path != place]
        try:
            every = state_files(manifest)
            # What a state cannot be opened without: all but its tables.
            little = [name for name in every if not name.endswith(TABLE)]
            fetch_missing(self._store, manifest, little, place, earlier)
            needed = every if place in self._doubted else _needed(place, wanted)
            fetch_missing(self._store, manifest, needed, place, earlier)
        except RefusedError as error:
            self._waited_for(place, error)
            raise
        self._refused.pop(place, None)
        for old in earlier:
            self._forget(old)
        return _opened(place)

    def _waited_for(self, place: Path, error: RefusedError) -> None:
        """What is refused while the manifest can be read may be so for ever.

        Raises:
            DamagedError: it was so for long.
        """
        manifest = self._manifests[place]
        snapshots.read(self._store, manifest.agent, manifest.id)
        since = self._refused.setdefault(place, time.monotonic())
        if time.monotonic() - since >= UNREADABLE_SECONDS:
            raise DamagedError(f"snapshot {manifest.id} of {manifest.agent}: {error}") from None

    def older(self, agent: str, snapshot: int, ours: int) -> int:
        """The newest snapshot of an agent before one that cannot be used, of which nothing lacks; 0 if none.

        Args:
            ours: our own latest snapshot. As long as it is not there, this store is not the one that it was
                (a disk is not mounted, say), and tells nothing of others.

        Raises:
            StorageError: the store refuses, or has lost our own.
        """
        try:
            snapshots.read(self._store, self._me, ours)
        except (DamagedError, MissingError):
            raise StorageError(
                f"{self._store.address}: snapshot {snapshot} of {agent} cannot be used, but our own latest "
                "is not there either. See that the snapshot store is the right one, and is mounted."
            ) from None
        for number in reversed(snapshots.ids(self._store, agent)):
            if number < snapshot and self._whole(agent, number):
                return number
        return 0

    def _whole(self, agent: str, number: int) -> bool:
        try:
            return not lacking(self._store, snapshots.read(self._store, agent, number))
        except (DamagedError, MissingError):
            return False

    def fetch_anew(self, agent: str, snapshot: int) -> None:
        """What was fetched of a state could not be read: the next `open` fetches all of it, anew."""
        place = self._scratch / f"{agent}-{snapshot}"
        self._forget(place)
        self._doubted.add(place)

    def is_ours(self, error: StorageError) -> bool:
        """Whether what could not be read is in a state that was fetched."""
        return f"{self._scratch}{os.sep}" in str(error)

    def keep_only(self, agents: Collection[str]) -> None:
        """Delete states of others than these agents, and all but the last few used: they take disk."""
        here = list(self._manifests)
        for place in here:
            if place.name.rpartition("-")[0] not in agents or place not in here[-MOST_STATES:]:
                self._forget(place)

    def _forget(self, place: Path) -> None:
        self._manifests.pop(place, None)
        self._refused.pop(place, None)
        self._doubted.discard(place)
        shutil.rmtree(place, ignore_errors=True)


def is_corrupt(error: StorageError) -> bool:
    """Whether RocksDB says that what it reads is wrong, rather than that the disk refuses."""
    return "Corruption" in str(error)


def _opened(place: Path) -> Environment:
    try:
        return Environment.open_partial(place, StateConfig())
    except StorageError as error:
        if is_corrupt(error):
            raise DamagedError(str(error)) from None
        raise


def _needed(place: Path, wanted: Iterable[Range]) -> list[str]:
    """Names of the tables that whoever scans the ranges reads."""
    environment = _opened(place)
    try:
        return sorted(
            {table.name for each in wanted for table in _read_for(environment.tables(each[0]), each)}
        )
    finally:
        environment.close()


def _read_for(tables: Iterable[Table], wanted: Range) -> Iterator[Table]:
    """Those that a cursor opens which begins anywhere in the range; levels but the first are in key order.

    It opens the table behind where it begins before it sees that its keys are past the end.
    """
    _, start, end = wanted
    passed = set[int]()  # levels, of which the last table that may be opened was told
    for table in tables:
        if table.level == 0:
            yield table
        elif table.last >= start and table.level not in passed:
            yield table
            if end and table.last >= end:
                passed.add(table.level)
