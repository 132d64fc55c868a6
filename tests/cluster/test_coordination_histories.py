"""Whatever is lost, late, double, killed or wiped: no shard is with two agents, and all come to rest."""

from coordination_world import Folder, Process, World
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gossamer.cluster.coordination import FINISHED, CoordinationConfig
from gossamer.cluster.protocol import Fenced, Grant, Report
from gossamer.policy.tenure import DRIFT

LIMIT = 100_000
RATES = st.sampled_from([1 - DRIFT, 1.0, 1 + DRIFT])


class Cluster(RuleBasedStateMachine):
    """Agents, a coordinator and a network that do everything they may do."""

    @initialize(rate=RATES, rates=st.lists(RATES, min_size=1, max_size=3))
    def begin(self, rate: float, rates: list[float]) -> None:
        config = CoordinationConfig(bits=3, agents=len(rates), shards_at_once=2, gather=5.0, max_pages=LIMIT)
        self.world = World(config, rate)
        self.reports: list[tuple[Process, Report]] = []
        self.answers: list[tuple[Process, Grant | Fenced]] = []
        for own in rates:
            self.world.start(rate=own)
        self.world.run(6)

    def some(self, place: int) -> Process | None:
        alive = self.world.alive()
        return alive[place % len(alive)] if alive else None

    # The network …

    @rule(place=st.integers(0, 5))
    def send(self, place: int) -> None:
        process = self.some(place)
        if process is not None:
            self.reports.append((process, process.report()))

    @precondition(lambda self: self.reports)
    @rule(place=st.integers(0, 20), double=st.booleans())
    def reach(self, place: int, double: bool) -> None:
        at = place % len(self.reports)
        process, report = self.reports[at] if double else self.reports.pop(at)
        answer = self.world.ask(process, report)
        if answer is not None:
            self.answers.append((process, answer))

    @precondition(lambda self: self.answers)
    @rule(place=st.integers(0, 20), double=st.booleans())
    def come_back(self, place: int, double: bool) -> None:
        at = place % len(self.answers)
        process, answer = self.answers[at] if double else self.answers.pop(at)
        process.answer(answer)

    @rule()
    def lose_everything(self) -> None:
        self.reports.clear()
        self.answers.clear()

    @rule(place=st.integers(0, 5))
    def renew(self, place: int) -> None:
        process = self.some(place)
        if process is not None:
            self.world.renew(process)

    @rule(seconds=st.integers(1, 12))
    def all_is_well(self, seconds: int) -> None:
        self.world.run(seconds)

    # Agents …

    @rule(place=st.integers(0, 5))
    def work(self, place: int) -> None:
        process = self.some(place)
        if process is not None:
            process.work()

    @rule(place=st.integers(0, 5), shard=st.integers(0, 7))
    def visit(self, place: int, shard: int) -> None:
        process = self.some(place)
        if process is not None:
            process.visit(shard)

    @rule(place=st.integers(0, 5))
    def end_visits(self, place: int) -> None:
        process = self.some(place)
        if process is not None:
            process.visits.clear()

    @rule(place=st.integers(0, 5))
    def snapshot(self, place: int) -> None:
        process = self.some(place)
        if process is not None:
            process.snapshot()
            process.prune()

    @rule(place=st.integers(0, 5))
    def tidy(self, place: int) -> None:
        process = self.some(place)
        if process is not None:
            process.drop()
            process.flush()

    @rule(place=st.integers(0, 5))
    def kill(self, place: int) -> None:
        process = self.some(place)
        if process is not None:
            process.end()

    @rule(place=st.integers(0, 5))
    def fail_of_power(self, place: int) -> None:
        """Disk has what was synced: all that is in the last snapshot, and nothing else."""
        process = self.some(place)
        if process is not None:
            process.end()
            folder = process.folder
            last = self.world.snapshots.get((folder.name, folder.snapshots))
            folder.shards = {shard: set(held) for shard, held in last.shards.items()} if last else {}
            folder.outbox = set(last.outbox) if last else set()
            folder.pages = last.pages if last else 0

    @rule(rate=RATES)
    def join(self, rate: float) -> None:
        if len(self.world.alive()) < 5:
            self.world.start(rate=rate)

    @rule(place=st.integers(0, 20), rate=RATES, boot=st.sampled_from(["b", "c", ""]))
    def come_again(self, place: int, rate: float, boot: str) -> None:
        dead = [process for process in self.world.processes if not process.alive and process.folder.name]
        if dead:
            self.world.start(dead[place % len(dead)].folder, boot=boot, rate=rate)

    @rule(place=st.integers(0, 20))
    def wipe(self, place: int) -> None:
        dead = [process for process in self.world.processes if not process.alive]
        if dead:
            dead[place % len(dead)].folder = Folder()

    # The coordinator …

    @rule(save=st.booleans())
    def tick(self, save: bool) -> None:
        if self.world.coordinator is not None:
            self.world.coordinator.tick(self.world.now())
            if save:
                self.world.save()

    @rule()
    def save_and_die_before_saying_so(self) -> None:
        if self.world.coordinator is not None and self.world.coordinator.dirty and self.world.store_works:
            self.world.saved = self.world.coordinator.data()
            self.world.crash()

    @rule()
    def fail_to_save(self) -> None:
        if self.world.coordinator is not None and self.world.coordinator.dirty:
            self.world.coordinator.data()

    @rule()
    def die(self) -> None:
        self.world.crash()

    @rule()
    def restart(self) -> None:
        self.world.restart()

    @rule(works=st.booleans())
    def store(self, works: bool) -> None:
        self.world.store_works = works

    @rule(agents=st.integers(1, 4))
    def scale(self, agents: int) -> None:
        if self.world.coordinator is not None:
            self.world.coordinator.scale_to(agents)

    @rule(number=st.integers(1, 4))
    def drain(self, number: int) -> None:
        if self.world.coordinator is not None:
            self.world.coordinator.drain(f"a-{number}")

    # Time, and what must be true at any …

    @rule(seconds=st.sampled_from([0.3, 1.0, 4.0, 9.0, 16.0, 21.0]))
    def pass_time(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    @invariant()
    def no_shard_is_with_two(self) -> None:
        if hasattr(self, "world"):
            self.world.check()

    @invariant()
    def the_limit_holds(self) -> None:
        if hasattr(self, "world"):
            assert self.pages() <= LIMIT

    def pages(self) -> int:
        return sum({id(process.folder): process.folder.pages for process in self.world.processes}.values())

    # In the end …

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        world = self.world
        world.store_works = True
        world.restart()
        if not world.alive():
            world.start()
        for _ in range(6):
            world.run(20)
            if not world.alive():  # those that were there were cut off for too long, or were drained
                world.start()
        world.run(100)
        assert "" not in world.owners()
        world.check_kept()
        overview = world.there.overview(world.now())
        assert not overview.moves
        assert overview.owned == world.config.shards
        self.end()

    def end(self) -> None:
        """All agents become idle: this is noticed, and they end."""
        for process in self.world.alive():
            process.idle = True
        self.world.run(20, visits=False)
        assert self.world.there.stop_reason == FINISHED
        assert self.world.there.over
        assert self.world.alive() == []


TestCluster = Cluster.TestCase
TestCluster.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
