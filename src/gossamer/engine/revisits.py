"""Leads visits again: how many may be made, and what each must be worth (decision 0026)."""

from hashlib import blake2b

import msgspec

from gossamer.engine.admission.other_agents import OtherAgentsPaces
from gossamer.frontier.frontier import Frontier
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import of, text
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.agreement import Demand, Told, level_of, part_of
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.threshold import Threshold, starting_level
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import REVISIT, RevisitRecord, decode, encode

BOTH = text("a revisit policy is plugged in that says when pages come again: take one of the two")
CORRECT_EVERY = 60.0
"""Seconds of the wall clock, and in a simulation of at least so many of ours:"""
SHORTEST = 0.02
SEEN = 4
"""Visits that may be made between two corrections, at least."""
_OTHER = 0.02
_SOONER = 0.75
"""Hosts on disk are looked at after this part of the time until they are due: who is due sooner must be woken."""
_AT_FIRST = 8
"""The threshold begins where a page like any other is due after this part of the fair interval."""


class RevisitPace:
    """Allowance and threshold of the crawl, what was learned of all its pages, and its sums.

    The threshold is a hint: one that a kill takes back by a minute changes nothing but a few due times. In a cluster
    all agents have one, and one allowance (`policy.revisit.agreement`); `others` is how they tell each other.
    """

    def __init__(
        self,
        environment: Environment,
        frontier: Frontier,
        config: RevisitConfig,
        others: OtherAgentsPaces | None = None,
        *,
        alone: bool = True,
    ) -> None:
        """`alone`: no policy was handed in that says when pages come again; else none do by this one.

        Raises:
            ConfigError: both are wanted.
        """
        if config.enabled and not alone:
            raise ConfigError(of("revisit.enabled", BOTH))
        self._alone = alone
        self._frontier = frontier
        data = environment.get(Family.META, REVISIT)
        self.record = decode(data, RevisitRecord) if data else RevisitRecord()
        self.config = config
        self.spread = Spread(stored=self.record.spread or None)
        self._threshold = Threshold(self.record.level, self.record.corrected)
        self._others = others
        self._demand = Demand()
        self._dirty = False
        self._looked = (
            0.0  # when the threshold was last corrected or sank, or settings were applied; wall time
        )
        self.go_by(config)

    @property
    def on(self) -> bool:
        """Whether `revisit.enabled` holds now, as the settings have it that were applied last."""
        return self.config.enabled

    @property
    def waits(self) -> bool:
        """The crawl does not end by itself: something will be due, however late."""
        return self.on and (self._frontier.counters.enrolled > 0 or self.record.cursor is not None)

    @property
    def rest(self) -> float:
        """Seconds of ours until `correct` is to be called."""
        return max(SHORTEST, CORRECT_EVERY / self._frontier.again.wall.speed)

    def go_by(self, config: RevisitConfig) -> None:
        """Go by other settings from now on.

        Pages that they move are moved by a walk (`enrolling`), which also wakes hosts on disk that are due sooner.
        """
        if not self._alone:
            config = msgspec.structs.replace(config, enabled=False)
        self.config, record = config, self.record
        pace = self._frontier.again.pace
        if not config.enabled:
            if record.on or pace.on:
                record.on, self._dirty = False, True
                pace.on = False
                self._frontier.repace()
                self._write()
            return
        digest = _digest(config)
        if not record.on or record.every != digest:
            record.on, record.every, record.cursor = True, digest, b""
            self._dirty = True
            self._write()
        pace.share = config.share
        if not pace.on:
            pace.on, pace.earned = True, self._frontier.again.wall.now()
        fair, self._looked = record.fair, self._frontier.again.wall.now()
        self.correct()
        if record.fair < fair * _SOONER and record.cursor is None:
            record.cursor, self._dirty = b"", True
            self._write()

    def correct(self) -> None:
        """Follow what was spent since the last time."""
        if not self.on:
            return
        again, threshold = self._frontier.again, self._threshold
        pace, now = again.pace, again.wall.now()
        pages = max(1, self._frontier.counters.enrolled)
        self._agree(pages, now)
        saved = pace.earn(now)
        # Between two corrections there must have been some visits: that none was late, where none could be made, says
        # nothing.
        if not 0 <= now - threshold.corrected < max(CORRECT_EVERY, SEEN / pace.rate):
            left = pace.left / pages if pace.left >= 1 else 0.0
            late = pace.late / pace.lent if pace.lent else 0.0
            if pace.lent:
                fair = pace.fair
                self._demand.saw(pace.lent / pages, pace.asked / pace.lent / fair, late / fair)
            threshold.correct(now, pace.fair, late, left)
            pace.late, pace.lent, pace.asked, pace.left = 0.0, 0, 0.0, saved
            self._dirty = True
            self._looked = now
        elif pace.full and not 0 <= now - self._looked < CORRECT_EVERY:
            threshold.sink()
            self._dirty, self._looked = True, now
        if self._others is not None:
            self._others.tell(self._own(pages))
        self.record.level, self.record.corrected = threshold.level, threshold.corrected
        pace.step, pace.activity_power = threshold.step, self.record.freshness.activity_power
        self._frontier.repace()

    def _own(self, pages: int) -> Told:
        return Told(self._threshold.level, self.record.fair, pages, self._demand.eager)

    def _agree(self, pages: int, now: float) -> None:
        """Go by the allowance and the threshold of all agents; alone, by those of this crawl."""
        record, threshold, pace = self.record, self._threshold, self._frontier.again.pace
        if not threshold.corrected:
            record.fair = pages / self.config.rate(pages)
            threshold.level, threshold.corrected = self._level_at(record.fair), now
            self._dirty = True
        own = self._own(pages)
        own, *others = self._others.heard(own) if self._others is not None else (own,)
        all_, share = part_of(own, others)
        visits = self.config.rate(all_)
        fair = all_ / visits
        pace.rate = record.rate = visits * share
        if abs(fair / record.fair - 1) > _OTHER:
            # More pages, or other settings: what has been learned of the threshold is how far it lies from this.
            threshold.level += self._level_at(fair) - self._level_at(record.fair)
            record.fair, self._dirty = fair, True
        pace.fair = record.fair
        if others:
            now_own = msgspec.structs.replace(own, level=threshold.level, fair=record.fair)
            threshold.level = level_of(now_own, others, self._level_at)

    def _level_at(self, fair: float) -> float:
        """The level to begin with, where each page is reached once in `fair` seconds."""
        place = classes.classify(self.spread.believe(History(0, 0)))
        return starting_level(classes.worth_after(place, fair / _AT_FIRST))

    def took_in(self, state: Environment, _sequence: int, batch: Batch) -> None:
        """Pages of another agent have come here: of its `state`, whose walk may not have come to them."""
        data = state.get(Family.META, REVISIT)
        theirs = decode(data, RevisitRecord) if data else RevisitRecord()
        record = self.record
        if self.on and (not theirs.on or theirs.cursor is not None or theirs.every != record.every):
            record.cursor, self._dirty = b"", True
            self.enter(batch)

    def changed(self) -> None:
        """Sums or what was learned are other ones; they are written with the open batch."""
        self._dirty = True

    def enter(self, batch: Batch) -> None:
        """Put what has changed into a batch."""
        if self._dirty:
            self.record.spread = self.spread.pack()
            batch.put(Family.META, REVISIT, encode(self.record))
            self._dirty = False

    def _write(self) -> None:
        with self._frontier.changes() as batch:
            self.enter(batch)


def _digest(config: RevisitConfig) -> bytes:
    """By which two sets of fixed intervals and weights are told apart; the order of patterns counts."""
    said = [list(config.every.items())] + ([list(config.weight.items())] if config.weight else [])
    if not any(said):
        return b"-"
    return blake2b(msgspec.json.encode(said), digest_size=8).digest()
