"""Tells observers what happened. Events leave sideways; nothing an observer does comes back."""

from collections.abc import Iterable

from gossamer.model.events import Event, ProblemFound
from gossamer.model.raised import Raised, name_of
from gossamer.ports import Observer


class Observers:
    """The observers of one crawl. One that raises is removed, and the others hear of it."""

    def __init__(self, observers: Iterable[Observer] = ()) -> None:
        self._observers = list(observers)

    def add(self, observer: Observer) -> None:
        """Tell `observer` everything from now on."""
        self._observers.append(observer)

    def tell(self, event: Event) -> None:
        """Tell every observer, in the order they were added."""
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception as error:  # noqa: BLE001 - the border of the observer port
                self._observers.remove(observer)
                raised = Raised.by(f"observer {name_of(observer)}", error)
                self.tell(ProblemFound(raised.who, f"removed, because it raised {raised.what}", plugin=True))
