"""Whatever is lost, late, double, killed or wiped: no shard is with two agents, and all come to rest."""

from coordination_world import Folder, Process, World
from examples import examples
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gossamer.cluster.agreement.tenure import DRIFT
from gossamer.cluster.coordination.coordination import FINISHED, CoordinationConfig
from gossamer.cluster.protocol import Fenced, Grant, Report

LIMIT = 100_000
PLACES = st.integers(0, 5)
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

    # Much at once …

    @rule(seconds=st.integers(1, 12))
    def go_on(self, seconds: int) -> None:
        self.world.run(seconds)

    @rule(place=PLACES, seconds=st.sampled_from([3, 9, 14, 18, 22, 30]))
    def cut_off(self, place: int, seconds: int) -> None:
        """One reaches nobody, and visits as long as it may."""
        self.world.run(seconds, cut=self.some(place))

    @rule(rate=RATES, seconds=st.integers(0, 3))
    def grow(self, rate: float, seconds: int) -> None:
        world = self.world
        if world.coordinator is not None and len(world.alive()) < 4:
            world.there.scale_to(len(world.alive()) + 1)
            world.start(rate=rate)
            world.run(seconds)

    @rule(agents=st.integers(1, 3), seconds=st.integers(0, 3))
    def shrink(self, agents: int, seconds: int) -> None:
        if self.world.coordinator is not None:
            self.world.there.scale_to(agents)
            self.world.run(seconds)

    @rule(place=PLACES, how=st.sampled_from(["killed", "no power", "wiped"]), again=st.booleans(), rate=RATES)
    def die(self, place: int, how: str, again: bool, rate: float) -> None:
        process = self.some(place)
        if process is None:
            return
        process.end()
        if how == "no power":
            self.lose_unsynced(process.folder)
        elif how == "wiped":
            process.folder = Folder()
        if again:
            self.world.start(process.folder, rate=rate)

    def lose_unsynced(self, folder: Folder) -> None:
        """Disk has what was synced: all that is in the last snapshot, and nothing else."""
        last = self.world.snapshots.get((folder.name, folder.snapshots))
        folder.shards = {shard: set(held) for shard, held in last.shards.items()} if last else {}
        folder.outbox = set(last.outbox) if last else set()
        folder.pages = last.pages if last else 0

    @rule(place=PLACES, rate=RATES, boot=st.sampled_from(["b", "c", ""]))
    def come_again(self, place: int, rate: float, boot: str) -> None:
        dead = [process for process in self.world.processes if not process.alive and process.folder.name]
        if dead:
            self.world.start(dead[place % len(dead)].folder, boot=boot, rate=rate)

    # Messages one by one …

    @rule(place=PLACES, times=st.integers(1, 3))
    def send(self, place: int, times: int) -> None:
        process = self.some(place)
        for _ in range(times):
            if process is not None:
                self.reports.append((process, process.report()))

    @precondition(lambda self: self.reports)
    @rule(place=st.integers(0, 20), double=st.booleans(), late=st.booleans())
    def reach(self, place: int, double: bool, late: bool) -> None:
        at = place % len(self.reports)
        process, report = self.reports[at] if double else self.reports.pop(at)
        answer = self.world.ask(process, report)
        if answer is not None and late:
            self.answers.append((process, answer))
        elif answer is not None:
            process.answer(answer)

    @precondition(lambda self: self.answers)
    @rule(place=st.integers(0, 20), double=st.booleans())
    def come_back(self, place: int, double: bool) -> None:
        at = place % len(self.answers)
        process, answer = self.answers[at] if double else self.answers.pop(at)
        process.answer(answer)

    @rule(
        place=PLACES,
        shard=st.integers(0, 7),
        what=st.sampled_from(["renew", "work", "visit", "end visits", "snapshot", "drop", "flush"]),
    )
    def do(self, place: int, shard: int, what: str) -> None:
        process = self.some(place)
        if process is None:
            return
        if what == "renew":
            self.world.renew(process)
        elif what == "work":
            process.work()
        elif what == "visit":
            process.visit(shard)
        elif what == "end visits":
            process.visits.clear()
        elif what == "snapshot":
            process.snapshot()
            process.prune()
        elif what == "drop":
            process.drop()
        else:
            process.flush()

    # The coordinator …

    @rule(save=st.sampled_from(["yes", "no", "fails", "dies after"]))
    def tick(self, save: str) -> None:
        world = self.world
        if world.coordinator is None:
            return
        world.there.tick(world.now())
        if save == "yes":
            world.save()
        elif save == "fails":
            world.there.data()
        elif save == "dies after" and world.store_works:
            world.saved = world.there.data()
            world.crash()

    @rule(dies=st.booleans())
    def coordinator_restarts(self, dies: bool) -> None:
        self.world.crash()
        if not dies:
            self.world.restart()

    @rule(works=st.booleans())
    def store(self, works: bool) -> None:
        self.world.store_works = works

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
        calm = 0
        for _ in range(80):
            world.run(5)
            if not world.there.live_agents:  # as whoever starts agents would, if fewer live than are wanted
                world.start()
            now = world.there.overview(world.now())
            calm = calm + 1 if now.owned == now.shards and not now.moves and "" not in world.owners() else 0
            if calm == 6:  # whoever was silent is known to be lost
                break
        assert "" not in world.owners()
        self.kept()
        overview = world.there.overview(world.now())
        assert not overview.moves
        assert overview.owned == world.config.shards
        self.end()

    def end(self) -> None:
        """All agents become idle: this is noticed, and they end."""
        world = self.world
        for _ in range(60):
            for process in world.alive():
                process.idle = True
            world.run(1, visits=False)
            if not world.alive():
                break
        assert world.there.stop_reason == FINISHED
        assert world.there.over
        assert world.alive() == []
        self.covered()

    def kept(self) -> None:
        self.world.check_kept()

    def covered(self) -> None:
        self.world.check_covered()


class DamagedCluster(Cluster):
    """The same, and what is in the store may turn out to be of no use."""

    @rule(place=PLACES, newest=st.booleans())
    def damage(self, place: int, newest: bool) -> None:
        snapshots = sorted(self.world.snapshots, key=lambda snapshot: snapshot[1])
        if snapshots:
            self.world.damaged.add(snapshots[-1 if newest else place % len(snapshots)])

    def kept(self) -> None:
        """What only a damaged snapshot had is lost; nothing else is."""
        overview = self.world.there.overview(self.world.now())
        if not overview.losses:
            self.world.check_kept()

    def covered(self) -> None:
        if not self.world.there.overview(self.world.now()).losses:
            self.world.check_covered()


TestDamagedCluster = DamagedCluster.TestCase
TestCluster = Cluster.TestCase
TestCluster.settings = settings(
    max_examples=examples(40),
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestDamagedCluster.settings = settings(TestCluster.settings, max_examples=20)
