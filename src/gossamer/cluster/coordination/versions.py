"""Keeps apart what is decided, what is being saved, what is saved."""

from gossamer.cluster.coordination.record import Record
from gossamer.model.errors import InternalError

__all__ = ["Versions"]


class Versions:
    """A record in up to three versions.

    Invariant: a version that was given to be saved never changes; `acting` is one that was saved.

    Attributes:
        next: as decided; only the one from `edit` or `turn` may be changed.
        acting: as saved last; `None` before the first time.
    """

    def __init__(self, record: Record) -> None:
        self.next = record
        self.acting: Record | None = None
        self._saving: Record | None = None

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self.next is not self.acting

    @property
    def changed(self) -> bool:
        """Whether there is something that was not even given to be saved."""
        return self.next is not self.acting and self.next is not self._saving

    def data(self) -> bytes:
        """What to save, as of now."""
        self._saving = self.next
        return self.next.encode()

    def saved(self) -> Record | None:
        """The last `data()` is saved; the version that was acted on before."""
        if self._saving is None:
            raise InternalError("saved() without data()")
        before, self.acting = self.acting, self._saving
        self._saving = None
        return before

    def edit(self) -> Record:
        """The record to change, of which later versions are made."""
        if not self.changed:
            self.next = self.next.copy()
        return self.next

    def turn(self) -> Record:
        """The record to change, in an epoch that nobody was told of."""
        record = self.edit()
        known = [other.epoch for other in (self.acting, self._saving) if other is not None]
        record.epoch = max([record.epoch, *(epoch + 1 for epoch in known)])
        return record

    def replace(self, record: Record) -> None:
        """Go on with a changed copy of `next`, in an epoch that nobody was told of."""
        self.next = record
        self.turn()
