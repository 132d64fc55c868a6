"""Counts what code that was handed in raises, and says so the first time."""

from gossamer.engine.observe import Observers
from gossamer.model.events import ProblemFound
from gossamer.model.raised import Raised
from gossamer.state.records import Counters


class PluginWatch:
    """Hears of every failure. Events tell of the first of each in a session, the counters of all."""

    def __init__(self, counters: Counters, observers: Observers) -> None:
        self._counters = counters
        self._observers = observers
        self._told: set[str] = set()

    def hear(self, raised: Raised) -> None:
        """Count one; it is committed with whatever follows from it."""
        counts = self._counters.raised
        counts[raised.who] = counts.get(raised.who, 0) + 1
        if raised.who not in self._told:
            self._told.add(raised.who)
            self._observers.tell(ProblemFound(raised.who, f"raised {raised.what}", plugin=True))
