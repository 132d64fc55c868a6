"""Remembers what went wrong of late, for the progress display and the closing words."""

import time

from gossamer.cli.terminal.printing import safe, say
from gossamer.model.events import Event, HostParked, HostRested, ProblemFound, Visited
from gossamer.model.outcome import Failed

SHOWN_SECONDS = 30.0
"""Longer ago is history; the sums of failures stay on the display."""
HOSTS_KEPT = 5


class Troubles:
    """Hears the events of a crawl.

    Attributes:
        unreached: the first hosts whose first visit failed, with what happened.
    """

    def __init__(self) -> None:
        self.unreached: dict[str, Failed] = {}
        self._text = ""
        self._until = 0.0
        self._is_ours = False

    def hear(self, event: Event) -> None:
        """Take note, if the event is bad news."""
        match event:
            case HostRested(queue_key, seconds, reason):
                self._note(f"{queue_key}: {reason}; left alone for {seconds:.0f} s", seconds)
            case HostParked(queue_key, reason):
                self._note(f"{queue_key}: {reason}; given up until resumed")
            case ProblemFound(where, detail, plugin=plugin):
                self._note(f"{where}: {detail}", ours=True)
                if plugin:
                    say(f"warning: {safe(where)} {safe(detail)}")
            case Visited(lease=lease, outcome=Failed(fault, detail) as failed):
                self._note(f"{lease.candidate.url.text}: {fault}" + (f" ({detail})" if detail else ""))
                if len(self.unreached) < HOSTS_KEPT:
                    self.unreached.setdefault(lease.candidate.url.host, failed)

    def last(self) -> str:
        """One line, unescaped; empty if all has been well for a while."""
        return self._text if time.monotonic() < self._until else ""

    def _note(self, text: str, seconds: float = 0.0, *, ours: bool = False) -> None:
        if self._is_ours and not ours and self.last():
            return  # what is ours is rare, and often the cause of what visits meet next
        self._text, self._is_ours = text, ours
        self._until = time.monotonic() + max(seconds, SHOWN_SECONDS)
