"""Which snapshots of an agent the store has; removes those that are no longer needed."""

import contextlib
from collections.abc import Iterable

from gossamer.cluster.snapshots.manifest import (
    DamagedError,
    Manifest,
    agent_prefix,
    manifest_key,
    object_key,
    objects_prefix,
    unpack_manifest,
)
from gossamer.engine.fault_points import fault_point
from gossamer.state.object_store import MissingError, Store

_SUFFIX = ".manifest"


def ids(store: Store, agent: str) -> list[int]:
    """Ids of the agent's snapshots, the oldest first.

    Raises:
        StorageError: the store refuses.
    """
    names = (
        name.removesuffix(_SUFFIX) for name in store.names(agent_prefix(agent)) if name.endswith(_SUFFIX)
    )
    return sorted(int(name) for name in names if name.isdigit())


def latest(store: Store, agent: str) -> Manifest | None:
    """The newest snapshot whose manifest is not damaged, or `None`.

    Raises:
        StorageError: the store refuses.
    """
    for number in reversed(ids(store, agent)):
        with contextlib.suppress(DamagedError, MissingError):
            return read(store, agent, number)
    return None


def read(store: Store, agent: str, number: int) -> Manifest:
    """The manifest of one snapshot.

    Raises:
        MissingError: there is none.
        DamagedError: it is not what was written.
        StorageError: the store refuses.
    """
    key = manifest_key(agent, number)
    data = store.get(key)
    if data is None:
        raise MissingError(f"{store.address}: there is no snapshot {number} of {agent}.")
    manifest = unpack_manifest(data, key)
    if (manifest.agent, manifest.id) != (agent, number):
        raise DamagedError(f"{key}: is the manifest of snapshot {manifest.id} of {manifest.agent}.")
    return manifest


def prune(store: Store, agent: str, keep: int, spare: Iterable[int] = ()) -> int:
    """Remove all snapshots but the latest `keep` that are not damaged, and `spare`; how many objects went.

    Never an object that a snapshot which stays names. Killed, it is done by the next call.

    Args:
        keep: at least 1.
        spare: ids that somebody is still to read.

    Raises:
        StorageError: the store refuses; nothing that is needed is gone.
    """
    numbers = ids(store, agent)
    kept: list[Manifest] = []
    spared = set(spare)
    for number in reversed(numbers):
        if len(kept) < max(1, keep) or number in spared:
            with contextlib.suppress(DamagedError, MissingError):
                kept.append(read(store, agent, number))
    if not kept:
        return 0
    stay = {manifest.id for manifest in kept}
    for number in numbers:
        # A damaged one that is newer than all others may be of use to whoever looks into it.
        if number not in stay and number < kept[0].id:
            store.delete(manifest_key(agent, number))
            fault_point("snapshot.pruning")
    needed = set().union(*(manifest.objects for manifest in kept))
    gone = [name for name in store.names(objects_prefix(agent)) if name not in needed]
    for name in gone:
        store.delete(object_key(agent, name))
    store.sweep(objects_prefix(agent))
    store.sweep(agent_prefix(agent))
    return len(gone)
