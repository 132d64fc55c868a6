"""Hears whoever says that pages have changed: operators, hubs, and sites that submit their URLs."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.signals.key_files import KeyFiles, Proved, speaks_for
from gossamer.engine.signals.sources import INDEXNOW, WEBSUB
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.revisit.trust import Signal, Source

Announcer = Literal["ping", "websub", "indexnow"]
_NUMBERS: dict[Announcer, int] = {"ping": Source.PING, "websub": WEBSUB, "indexnow": INDEXNOW}

AT_ONCE = 100
"""URLs that are heard without a pause, some 50 us each."""


class Heard(msgspec.Struct, frozen=True):
    """What became of an announcement, in numbers of URLs.

    Attributes:
        due: known, and due by it sooner than before.
        known: known, and due no sooner: it says nothing new of them, or its source is not believed.
        new: admitted as new.
        unknown: not known, and not wanted.
        held: until their key is proved.
        wrong: no URLs.
    """

    due: int = 0
    known: int = 0
    new: int = 0
    unknown: int = 0
    held: int = 0
    wrong: int = 0

    def __add__(self, other: "Heard") -> "Heard":
        mine, theirs = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Heard(*map(sum, zip(mine, theirs, strict=True)))


class Announcements:
    """Makes pages due that somebody has announced; what is not known is admitted only if that is wanted."""

    def __init__(self, frontier: Frontier, identity: Identity, admission: Admission) -> None:
        self._frontier = frontier
        self._identity = identity
        self._admission = admission
        self.keys = KeyFiles()
        self._proved: list[Proved] = []

    def announce(self, texts: Sequence[str], by: Announcer, now: float, *, new: bool = False) -> Heard:
        """Hear of changes at `now` (wall time); `new`: URLs that are not known are admitted, if in scope.

        To be called with `AT_ONCE` URLs at most, with pauses between the calls; so is `submit`.
        """
        urls = [Url.parse(text) for text in texts]
        heard = self._hear([url for url in urls if url is not None], by, now, new=new)
        return msgspec.structs.replace(heard, wrong=len(texts) - sum(url is not None for url in urls))

    def submit(
        self, texts: Sequence[str], key: str, location: str, now: float, *, new: bool = False
    ) -> Heard:
        """Hear of changes from whoever has put the file `location` with `key` onto their host.

        The file must speak for all URLs. Of a host that is not crawled nothing is asked.
        """
        where = Url.parse(location)
        urls = [url for text in texts if (url := Url.parse(text)) is not None]
        if where is None or not all(speaks_for(where, url) for url in urls):
            return Heard(wrong=len(texts))
        if self.keys.holds(key, where, now):
            return self._hear(urls, "indexnow", now, new=new)
        wanted = [url for url in urls if self._is_wanted(url, new=new)]
        held, begun = self.keys.ask(key, where, wanted, now, new=new) if wanted else (0, False)
        # Also if it was visited before: what it says now is wanted.
        if begun and not self._admission.admit(Candidate(where, LinkKind.NAVIGATION, forced=True)):
            self.keys.refuse(where, now)
            held = 0
        return Heard(
            known=len(wanted) - held,
            held=held,
            unknown=len(urls) - len(wanted),
            wrong=len(texts) - len(urls),
        )

    def _is_wanted(self, url: Url, *, new: bool) -> bool:
        if self._identity.fingerprint(url) in self._frontier.seen:
            return True
        return new and self._admission.is_in_scope(Candidate(url, LinkKind.NAVIGATION))

    def visited(self, visit: Visit, now: float) -> bool:
        """After a visit, which may have been to a file with a key; whether there is something to hear now."""
        proved = self.keys.visited(visit, now)
        if proved is not None:
            self._proved.append(proved)
        return proved is not None

    def hear_proved(self, now: float) -> Iterator[None]:
        """Hear what has proved its key, with a pause wherever this yields."""
        while self._proved:
            proved = self._proved.pop()
            for start in range(0, len(proved.urls), AT_ONCE):
                self._hear(proved.urls[start : start + AT_ONCE], "indexnow", now, new=proved.new)
                yield

    def _hear(self, urls: Sequence[Url], by: Announcer, now: float, *, new: bool) -> Heard:
        signals: list[Signal] = []
        admitted = unknown = 0
        with self._frontier.changes():
            for url in urls:
                fingerprint = self._identity.fingerprint(url)
                if fingerprint in self._frontier.seen:
                    signals.append(Signal(fingerprint, now, _NUMBERS[by]))
                elif new and self._admission.admit(Candidate(url, LinkKind.NAVIGATION)):
                    admitted += 1
                else:
                    unknown += 1
        due = self._frontier.told(signals) if signals else 0
        return Heard(due=due, known=len(signals) - due, new=admitted, unknown=unknown)
