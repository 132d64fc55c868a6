"""Takes snapshots of an agent's crawl into the store (W14, W15); names all that is done with them."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.cluster.snapshots.catalogue import ids, latest, prune, read
from gossamer.cluster.snapshots.manifest import Manifest, StoredFile, manifest_key, object_key, pack_manifest
from gossamer.cluster.snapshots.pieces import Cut, cut
from gossamer.cluster.snapshots.pinned import Pinned, pin
from gossamer.cluster.snapshots.restoring import fetch, fetch_archive, fetch_state, intact, restore, verify
from gossamer.engine.fault_points import fault_point
from gossamer.state.object_store import Store, in_parallel
from gossamer.state.whole_files import write_whole

__all__ = [
    "fetch", "fetch_archive", "fetch_state", "ids", "latest", "pin", "prune", "read", "restore", "take",
    "verify",
]  # fmt: skip

KNOWN = "snapshots.known"
"""File in the crawl folder: how its files were cut, so that what has not changed is not read again."""


def take(
    folder: CrawlFolder,
    checkpoint: str | Pinned,
    store: Store,
    agent: str,
    incarnation: int,
    *,
    doubted: bool = False,
) -> Manifest:
    """A snapshot of the crawl as of a checkpoint; uploads only what the latest one of `agent` lacks.

    Blocks for as long as the store takes: call it in a thread. One at a time for an agent, nor while `prune`
    runs for it. The manifest is written last, so a snapshot is whole or absent. Ids count up from 1.

    Args:
        checkpoint: its name, or what `pin` has made of it.
        incarnation: noted in the manifest.
        doubted: somebody could not use the one before; what is damaged of the state in the store is put there
            again, for which all of that is read.

    Raises:
        StorageError: store or disk refuse. The snapshots before stay as they are.
    """
    started = time.monotonic()
    with pin(folder, checkpoint) if isinstance(checkpoint, str) else checkpoint as pinned:
        fault_point("snapshot.pinned")
        before = latest(store, agent)
        cuts = _cut(folder, pinned, before)
        there = set[str]()
        if before is not None:
            there = intact(store, before) if doubted else before.objects
        missing = [run for file in pinned.files for run in _missing(file.path, cuts[file.name], there)]
        _upload(store, agent, missing)
        manifest = Manifest(
            agent=agent,
            incarnation=incarnation,
            id=max(ids(store, agent), default=0) + 1,
            checkpoint=pinned.checkpoint,
            taken=time.time(),
            files=tuple(StoredFile(f.name, f.length, cuts[f.name].pieces) for f in pinned.files),
            inbox=pinned.inbox,
            uploaded=sum(run.size for run in missing),
            seconds=round(time.monotonic() - started, 3),
        )
        fault_point("snapshot.uploaded")
        store.put(manifest_key(agent, manifest.id), pack_manifest(manifest))
        fault_point("snapshot.listed")
        _remember(folder, cuts)
    return manifest


def _cut(folder: CrawlFolder, pinned: Pinned, before: Manifest | None) -> dict[str, Cut]:
    """The pieces of each file, by its name."""
    stored = {file.name: file.pieces for file in before.files} if before is not None else {}
    cuts_before = _known(folder)
    cuts: dict[str, Cut] = {}
    for file in pinned.files:
        known = cuts_before.get(file.name) or cuts_before.get(file.alias)
        cuts[file.name] = cut(file, known, stored.get(file.name) or stored.get(file.alias) or ())
    return cuts


class _Run(NamedTuple):
    """Where the bytes of an object stand that the store does not have."""

    object: str
    path: Path
    at: int
    size: int


def _missing(path: Path, made: Cut, there: set[str]) -> Iterator[_Run]:
    """Those pieces of a file that are not `there`, which they are from now on."""
    at = 0
    for piece in made.pieces:
        if piece.object not in there:
            there.add(piece.object)
            yield _Run(piece.object, path, at, piece.size)
        at += piece.size


def _upload(store: Store, agent: str, missing: Iterable[_Run]) -> None:
    def put(run: _Run) -> None:
        store.put_file(object_key(agent, run.object), run.path, run.at, run.size)
        fault_point("snapshot.uploading")

    in_parallel(put, missing)


def _known(folder: CrawlFolder) -> dict[str, Cut]:
    """How the files of the crawl were cut for its last snapshot; empty if that is not known."""
    try:
        data = (folder.path / KNOWN).read_bytes()
        return msgspec.msgpack.decode(data, type=dict[str, Cut])
    except (OSError, msgspec.MsgspecError):
        return {}


def _remember(folder: CrawlFolder, cuts: dict[str, Cut]) -> None:
    write_whole(folder.path / KNOWN, msgspec.msgpack.encode(cuts))
