"""A cluster in memory: a coordinator, agents with folders and clocks of their own, a network that fails."""

from dataclasses import dataclass, field

from gossamer.cluster.agreement.tenure import Tenure
from gossamer.cluster.coordination.coordination import Coordination, CoordinationConfig
from gossamer.cluster.protocol import (
    Covered,
    Damaged,
    Fenced,
    Grant,
    Host,
    Inherit,
    Registered,
    Report,
    Take,
    View,
    agent_number,
    given_away,
    unpack,
)

STEP = 0.5


@dataclass
class Folder:
    """What a process finds again when it is started on the same disk."""

    name: str = ""
    slot: int = 0
    shards: dict[int, set[str]] = field(default_factory=dict)
    outbox: set[str] = field(default_factory=set)
    snapshots: int = 0
    pages: int = 0
    bytes: int = 0
    sent: int = 0
    received: int = 0


@dataclass
class Snapshot:
    shards: dict[int, frozenset[str]]
    outbox: frozenset[str]
    pages: int


class Process:
    """One agent's process, which keeps to the protocol."""

    def __init__(self, world: "World", folder: Folder, me: Registered, rate: float) -> None:
        self.world = world
        self.folder = folder
        self.me = me
        self.rate = rate
        self.number = agent_number(me.name)
        self.tenure = Tenure()
        self.alive = True
        self.dies_at: float | None = None
        self.view: View | None = None
        self.owned: frozenset[int] = frozenset()
        self.grant: Grant | None = None
        self.epoch = 0
        self.term = me.term
        self.reports = 0
        self.sent_at: dict[int, float] = {}
        self.visits: set[int] = set()
        self.frozen: dict[int, int] = {}
        self.imported: dict[int, int] = {}
        self.damaged: dict[int, Damaged] = {}
        self.latest = folder.snapshots
        self.latest_pages = 0
        self.idle = False
        self.stopped = False
        self.scope_known = 0
        self.scope: list[str] = []
        self.joined: list[str] = []

    def now(self) -> float:
        return self.world.time * self.rate

    def lends(self, shard: int) -> bool:
        ok = self.alive and self.dies_at is None and self.tenure.may_lend(self.now())
        return ok and shard in self.owned and not (self.grant and self.grant.stop)

    def touches(self) -> set[int]:
        """Shards whose hosts it may be visiting, or may visit now."""
        lends = self.dies_at is None and self.tenure.may_lend(self.now())
        return self.visits | self.owned if lends and not (self.grant and self.grant.stop) else self.visits

    def visit(self, shard: int) -> None:
        """Begin a visit, if that is allowed; what it finds is there at once."""
        if self.lends(shard) and self.grant and self.folder.pages < self.grant.page_allowance:
            self.visits.add(shard)
            self.folder.pages += 1
            self.world.tokens += 1
            token = f"{shard}:{self.world.tokens}"
            self.folder.shards.setdefault(shard, set()).add(token)
            if self.world.tokens % 3 == 0:
                self.folder.outbox.add(token)

    def report(self) -> Report:
        self.reports += 1
        self.sent_at[self.reports] = self.now()
        grant, folder = self.grant, self.folder
        return Report(
            agent=self.me.name,
            incarnation=self.me.incarnation,
            term=self.term,
            number=self.reports,
            answered=grant.number if grant else 0,
            epoch=self.epoch,
            wave=grant.wave if grant else 0,
            idle=self.idle and not self.busy(),
            owed=len(folder.outbox),
            outbox=len(folder.outbox),
            pages=folder.pages,
            page_allowance=grant.page_allowance if grant else 0,
            snapshot=self.latest,
            snapshot_pages=self.latest_pages,
            frozen=tuple(Covered(*item) for item in self.frozen.items()),
            imported=tuple(Covered(*item) for item in self.imported.items()),
            scope_known=self.scope_known,
            scope_hosts=tuple(self.joined),
            stopped=self.stopped,
            damaged=tuple(self.damaged.values()),
        )

    def busy(self) -> bool:
        grant = self.grant
        if grant is None or self.visits:
            return True
        moves = (*grant.freezes, *grant.takes, *grant.inherits)
        done = self.frozen.keys() | self.imported.keys() | self.damaged.keys()
        return any(move.move not in done for move in moves)

    def answer(self, answer: Grant | Fenced) -> None:
        if not self.alive or self.dies_at is not None:
            return
        if isinstance(answer, Fenced):
            self.tenure.fenced()
            self.world.fenced.append(self.me.name)
            self.end()
            self.folder.name = ""  # set aside
            return
        if self.grant is not None and (answer.number <= self.grant.number or answer.term < self.term):
            return
        self.tenure.renewed(self.sent_at[answer.number], answer.lease, answer.end)
        self.grant, self.term = answer, answer.term
        if answer.view is not None:
            self.view, self.epoch = answer.view, answer.epoch
        assert self.view is not None, "a grant without a view to one who has none"
        assert self.epoch == answer.epoch
        frozen = {shard for freeze in answer.freezes for shard in unpack(freeze.shards)}
        self.owned = frozenset(self.view.owned(self.number))
        assert not frozen & self.owned
        self.frozen = {
            move.move: self.frozen[move.move] for move in answer.freezes if move.move in self.frozen
        }
        granted = {move.move for move in (*answer.takes, *answer.inherits)}
        self.imported = {move: snapshot for move, snapshot in self.imported.items() if move in granted}
        self.damaged = {move: told for move, told in self.damaged.items() if move in granted}
        self.scope += answer.scope_hosts
        self.scope_known += len(answer.scope_hosts)
        if not answer.stop:
            self.stopped = False
        if answer.over:
            self.end()
        self._note_covered(answer)

    def _note_covered(self, grant: Grant) -> None:
        """What the last snapshot on record holds may be forgotten by everybody else."""
        snapshot = self.world.snapshots.get((self.me.name, grant.snapshot))
        if snapshot is not None:
            for shard in self.owned:
                self.world.covered.setdefault(shard, set()).update(snapshot.shards.get(shard, ()))
            self.world.covered_outbox.update(snapshot.outbox)

    def snapshot(self) -> int:
        """A new one; 0 if the store refuses."""
        if not self.world.store_works:
            return 0
        folder = self.folder
        folder.snapshots += 1
        self.world.snapshots[self.me.name, folder.snapshots] = Snapshot(
            {shard: frozenset(content) for shard, content in folder.shards.items()},
            frozenset(folder.outbox),
            folder.pages,
        )
        self.latest, self.latest_pages = folder.snapshots, folder.pages
        return self.latest

    def prune(self) -> None:
        if self.grant is None:
            return
        kept = {freeze.snapshot for freeze in self.grant.freezes} | set(self.frozen.values())
        for name, number in list(self.world.snapshots):
            if name == self.me.name and number < self.grant.snapshot and number not in kept:
                del self.world.snapshots[name, number]

    def work(self) -> None:
        """Everything that it was told to do and can do at once."""
        grant = self.grant
        if not self.alive or self.dies_at is not None or grant is None or self.view is None:
            return
        for freeze in grant.freezes:
            shards = set(unpack(freeze.shards))
            if freeze.move not in self.frozen and not freeze.snapshot and not shards & self.visits:
                snapshot = self.snapshot()
                if snapshot:
                    self.frozen[freeze.move] = snapshot
        for take in grant.takes:
            if take.move not in self.imported and self.usable(take):
                read = self.world.snapshots[take.agent, take.snapshot].shards if take.agent else {}
                for shard in unpack(take.shards):
                    self.folder.shards[shard] = set(read.get(shard, ()))
                snapshot = self.snapshot()
                if snapshot:
                    self.imported[take.move] = snapshot
        for inherit in grant.inherits:
            if inherit.move not in self.imported and self.usable(inherit):
                self.folder.outbox |= self.world.snapshots[inherit.agent, inherit.snapshot].outbox
                snapshot = self.snapshot()
                if snapshot:
                    self.imported[inherit.move] = snapshot
        if grant.stop and not self.stopped and not self.visits:
            self.stopped = bool(self.snapshot())

    def usable(self, move: Take | Inherit) -> bool:
        """Whether what a move reads can be read; else that is noted, to be told."""
        world, snapshot = self.world, (move.agent, move.snapshot)
        if snapshot not in world.damaged:
            return True
        known = [n for name, n in world.snapshots if name == move.agent and n < move.snapshot]
        self.damaged[move.move] = Damaged(move.move, move.snapshot, max(known, default=0), "it is damaged")
        return False

    def drop(self) -> None:
        if self.view is not None and self.grant is not None:
            for shard in given_away(self.number, self.view, self.grant):
                self.folder.shards.pop(shard, None)

    def flush(self) -> None:
        """All of its messages reach somebody, for good."""
        self.world.delivered |= self.folder.outbox
        self.folder.outbox.clear()

    def end(self) -> None:
        self.alive = False
        self.visits.clear()


class World:
    """Everything. The seconds of `time` are true; the coordinator's clock and those of processes are not."""

    def __init__(self, config: CoordinationConfig, rate: float = 1.0) -> None:
        self.config = config
        self.rate = rate
        self.time = 1000.0
        self.store_works = True
        self.snapshots: dict[tuple[str, int], Snapshot] = {}
        self.damaged: set[tuple[str, int]] = set()
        self.processes: list[Process] = []
        self.tokens = 0
        self.covered: dict[int, set[str]] = {}
        self.covered_outbox: set[str] = set()
        self.delivered: set[str] = set()
        self.fenced: list[str] = []
        self.pages: dict[str, int] = {}
        self.coordinator: Coordination | None = Coordination.new(config, self.now())
        self.saved = b""
        assert self.save()

    def now(self) -> float:
        return self.time * self.rate

    # The coordinator …

    @property
    def there(self) -> Coordination:
        assert self.coordinator is not None
        return self.coordinator

    def save(self) -> bool:
        if self.there.dirty:
            if not self.store_works:
                return False
            self.saved = self.there.data()
            self.there.saved()
        return True

    def crash(self) -> None:
        self.coordinator = None

    def restart(self, *, resume: bool = False) -> None:
        self.coordinator = Coordination.load(self.saved, self.now())
        if resume:
            self.coordinator.resume(self.now())
        if not self.save():
            self.coordinator = None

    # Agents …

    def start(self, folder: Folder | None = None, *, boot: str = "b", rate: float = 1.0) -> Process | None:
        """A process in a folder; `None` if the coordinator does not answer."""
        folder = folder or Folder(slot=len(self.processes) + 1)
        if self.coordinator is None or any(p.alive and p.folder is folder for p in self.processes):
            return None
        me = self.coordinator.register(Host("node", boot, slot=folder.slot), folder.name or None, self.now())
        if not self.save():
            return None
        if folder.name and me.name != folder.name:
            folder = Folder(slot=folder.slot)  # the old one is set aside
        folder.name = me.name
        process = Process(self, folder, me, rate)
        self.processes.append(process)
        return process

    def ask(self, process: Process, report: Report) -> Grant | Fenced | None:
        """The coordinator's answer to a report that reached it."""
        return self.coordinator.renew(report, self.now()) if self.coordinator is not None else None

    def renew(self, process: Process) -> None:
        answer = self.ask(process, process.report())
        if answer is not None:
            process.answer(answer)

    def alive(self) -> list[Process]:
        return [process for process in self.processes if process.alive and process.dies_at is None]

    # Time …

    def pass_time(self, seconds: float) -> None:
        """Time goes by; nobody does anything but end in time."""
        while seconds > 0:
            step = min(STEP, seconds)
            seconds -= step
            self.time += step
            for process in self.processes:
                if process.alive and process.dies_at is None and process.tenure.left(process.now()) <= 0:
                    process.dies_at = process.now() + self.config.tenure.exit
                if process.dies_at is not None and process.now() >= process.dies_at:
                    process.end()
            self.check()

    def check(self) -> None:
        """No host can be visited by two."""
        seen: dict[int, str] = {}
        for process in self.processes:
            if process.alive:
                mine = f"{process.me.name}/{process.me.incarnation}"
                for shard in process.touches():
                    other = seen.setdefault(shard, mine)
                    assert other == mine, f"shard {shard} is with {other} and {mine}"

    def run(self, seconds: float, *, visits: bool = True, cut: Process | None = None) -> None:
        """Everybody does what there is to do, every second, and nothing fails; `cut` reaches nobody."""
        for _ in range(round(seconds)):
            for process in self.alive():
                process.visits.clear()
                if process is not cut:
                    self.renew(process)
                process.work()
                process.flush()
                if process.alive and visits:
                    for shard in sorted(process.owned):
                        process.visit(shard)
            self.check()
            if self.coordinator is not None:
                self.coordinator.tick(self.now())
                self.save()
            self.pass_time(1.0)

    def owners(self) -> list[str]:
        """Who lends each shard now; empty if nobody does."""
        return [
            next((process.me.name for process in self.alive() if process.lends(shard)), "")
            for shard in range(self.config.shards)
        ]

    def check_kept(self) -> None:
        """What a snapshot on record held is still there, with who owns it now."""
        by_name = {process.me.name: process for process in self.alive()}
        for shard, owner in enumerate(self.owners()):
            held = by_name[owner].folder.shards.get(shard, set())
            assert self.covered.get(shard, set()) <= held, f"shard {shard} lost something"
        outboxes = set().union(*(process.folder.outbox for process in self.alive()))
        assert self.covered_outbox <= self.delivered | outboxes

    def check_covered(self) -> None:
        """What a snapshot on record held is in the last one of who has it in the end."""
        record = self.there._record
        for shard, holder in enumerate(record.holders):
            agent = record.agents[holder]
            last = self.snapshots[agent.name, agent.snapshot]
            assert self.covered.get(shard, set()) <= last.shards[shard], f"shard {shard} lost something"
