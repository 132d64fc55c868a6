"""A frontier over a real environment in a temporary folder, with a clock that tests move."""

import tempfile
from pathlib import Path

from spare_state import emptied

from gossamer.frontier.config import FrontierConfig, HostPolicy, Session
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.gates.name_gate import Names
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.keys import Fingerprints
from gossamer.state.records import Counters, decode, encode

SMALL = StateConfig(block_cache=1 << 20, write_buffers=1 << 20)


class ByDepth:
    """Breadth-first, as the ordering port wants it."""

    name = "bfs"

    def level(self, candidate: Candidate) -> int:
        return candidate.depth + 1


class FrontierWorld:
    """One folder, opened again at will; where there is a `home` for states that worlds use one after the other, it is
    one of these, and `path` says which."""

    home: Path | None = None
    spare: list[Environment] = []
    given: set[Path] = set()

    def __init__(
        self,
        path: Path,
        *,
        max_hosts: int = 8,
        buffer: int = 2,
        leases: int = 1,
        rest: float = 1.0,
        names: Names | None = None,
        linked_names_first: bool = False,
        obey: bool = False,
        owns=None,
        ordering=ByDepth,
        state: StateConfig = SMALL,
        **settings,
    ):
        self.ordering = ordering
        self.state = state
        self.path = path
        self.micros = 1_000_000_000
        self.tick = 0  # microseconds that pass at each look at the clock
        self.sessions = 0
        self.config = FrontierConfig(max_hosts=max_hosts, buffer=buffer, seen_cache=4, **settings)
        self.warnings = []
        self.policy = HostPolicy(
            queue_key=lambda url: url.host,
            visits_at_once=lambda _: leases,
            rest=lambda _: rest,
            budget_spent=lambda *_: None,
            obey_robots=obey,
            names=names,
            linked_names_first=linked_names_first,
            owns=owns,
        )
        self._lent = self.home is not None and state is SMALL and not path.exists()
        if self._lent:
            assert path not in self.given, "nothing is kept there: see `reopen`"
            self.given.add(path)
            self.path = self.spare[-1].path if self.spare else Path(tempfile.mkdtemp(dir=self.home)) / "state"
        self.open()

    def now(self) -> int:
        self.micros += self.tick
        return self.micros

    def open(self) -> None:
        if self._lent and self.spare and not self.sessions:
            self.environment = emptied(self.spare.pop())
            for filter_ in self.path.parent.glob("*.bloom"):
                filter_.unlink()
        else:
            self.environment = Environment.open(self.path, self.state)
        self.begin()

    def begin(self) -> None:
        """A frontier upon what is in the state."""
        kept = self.environment.get(Family.META, b"counters")
        self.counters = decode(kept, Counters) if kept else Counters()
        session = Session(
            Fingerprints(b"k" * 16), self.now, resumed=self.sessions > 0, warn=self.warnings.append
        )
        self.sessions += 1
        self.frontier = Frontier(
            self.environment, self.config, self.policy, self.ordering(), self.counters, session
        )

    def begin_anew(self) -> None:
        """As in a new folder, which takes much longer to make."""
        emptied(self.environment)
        self.sessions = 0
        self.begin()

    def reopen(self) -> None:
        """As after a kill: what was not committed is gone."""
        self.environment.close()
        self.open()

    def save_counters(self, batch) -> None:
        batch.put(Family.META, b"counters", encode(self.counters))

    def fingerprint(self, url: str) -> bytes:
        parsed = Url.parse(url)
        return self.frontier.fingerprint(self.frontier.host_key(parsed)[0], parsed.text)

    def admit(self, url: str, depth: int = 0, gift=None, **fields) -> bool:
        parsed = Url.parse(url)
        assert parsed is not None
        with self.frontier.changes() as batch:
            admitted = self.frontier.admit(
                Candidate(parsed, depth=depth, **fields), self.fingerprint(url), gift
            )
            self.save_counters(batch)
        return admitted

    def demand(self, url: str) -> None:
        """As `Admission.demand`."""
        parsed, fingerprint = Url.parse(url), self.fingerprint(url)
        assert parsed is not None
        if self.frontier.knows(fingerprint):
            self.frontier.hasten(parsed, fingerprint)
        else:
            self.frontier.admit_first(Candidate(parsed, LinkKind.DEMAND, hops="S"), fingerprint)

    def settle(self, lease, disposition, tally) -> None:
        with self.frontier.changes() as batch:
            self.frontier.settle(lease, disposition, tally)
            self.save_counters(batch)

    def close(self) -> None:
        if self._lent:
            self.spare.append(self.environment)
        else:
            self.environment.close()
