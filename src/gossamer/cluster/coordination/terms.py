"""Keeps the coordinator's record so that of two coordinators the later one counts, and the other learns it.

Each start of a coordinator is a *term*, with objects of its own: `terms/00000007-TOKEN.claim` says that it
has begun, `terms/00000007-TOKEN.record` is what it decided last. So nobody ever writes over another's record,
and no store has to know how to write only if nothing is there. A term is later than another if its number
is, or, of two that began at the same moment, its token. And nobody acts on what a later term has not read:

    the new one   writes its claim, then reads the newest record, then goes on from that
    the old one   writes its record, then looks for later claims, then acts on what it wrote

Whichever comes first: either the new one reads what the old one wrote, or the old one finds the claim and
acts on nothing any more. This needs a store that lists what was written before (folders, S3, GCS, Azure; a
network file system only if it does not answer from old lists). An old coordinator that does not reach the
store learns nothing: what it grants without saving, it goes on granting.
"""

import uuid
from typing import NamedTuple

from gossamer.model.errors import GossamerError
from gossamer.state.object_store import Store

FOLDER = "terms"
BEFORE = "coordinator"
"""Object with the record as it was kept before terms had their own; read if there is nothing else."""
CLAIM, RECORD = ".claim", ".record"


class DeposedError(GossamerError):
    """Another coordinator has begun since: this one must decide and answer nothing any more."""


class Begun(NamedTuple):
    """A term that is ours; `data`: the newest record, or `None` if there never was one."""

    term: int
    data: bytes | None


class Terms:
    """The records of one cluster's coordinators in its store. Blocks: call it in threads, one call at a time.

    Use: `begin`, then `save` for each record, which may be acted on once that returns; `check` now and then.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ours = ""
        self._swept = False

    def begin(self) -> Begun:
        """Claim a term later than all before.

        Raises:
            StorageError: the store refuses.
        """
        term = max((_number(name) for name in self._names(CLAIM)), default=0) + 1
        self._ours = f"{term:08d}-{uuid.uuid4().hex}"
        self._store.put(f"{FOLDER}/{self._ours}{CLAIM}", b"")
        return Begun(term, self._newest())

    def save(self, data: bytes) -> None:
        """Keep the record of our term.

        Raises:
            DeposedError: a later term has begun; what was decided must not be acted on.
            StorageError: the store refuses. It may have the record all the same.
        """
        self._store.put(f"{FOLDER}/{self._ours}{RECORD}", data)
        self.check()
        if not self._swept:
            self._sweep()
            self._swept = True

    def check(self) -> None:
        """See that no later term has begun.

        Raises:
            DeposedError: one has.
            StorageError: the store refuses.
        """
        latest = max(self._names(CLAIM), default="")
        if latest > self._ours:
            raise DeposedError(
                f"another coordinator of this cluster has begun (term {_number(latest)}, this is "
                f"{_number(self._ours)}), so this one has stopped. End this Ray cluster: the crawl goes on "
                "in the other one."
            )

    def _newest(self) -> bytes | None:
        """Claims without a record are of coordinators that died, or were deposed, before they decided."""
        for name in sorted(self._names(RECORD), reverse=True):
            data = self._store.get(f"{FOLDER}/{name}{RECORD}")
            if data is not None:
                return data
        return self._store.get(BEFORE)

    def _sweep(self) -> None:
        """Remove what earlier terms left: ours has a record, and nobody goes back behind it."""
        for kind in (RECORD, CLAIM):
            for name in self._names(kind):
                if name < self._ours:
                    self._store.delete(f"{FOLDER}/{name}{kind}")

    def _names(self, kind: str) -> list[str]:
        names = self._store.names(FOLDER)
        return [name.removesuffix(kind) for name in names if name.endswith(kind) and _number(name)]


def _number(name: str) -> int:
    """The term in an object's name; 0 if it is none of ours."""
    number = name.partition("-")[0]
    return int(number) if number.isdigit() else 0
