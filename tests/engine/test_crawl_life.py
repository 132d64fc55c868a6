"""The life of a crawl: how it begins, changes, is held, and ends; real parts, answers from a table."""

import asyncio
from types import SimpleNamespace

import pytest
from engine_world import SITE, EngineWorld, fetched, page, parsed

from gossamer.engine import crawl as crawl_module
from gossamer.engine.checkpoints import Checkpoints, names
from gossamer.engine.config import EngineConfig
from gossamer.engine.crawl import Crawl, Parts
from gossamer.engine.settlement.ledger import Ledger
from gossamer.engine.signals.signals import Signals
from gossamer.engine.visiting.dispatch import Dispatch
from gossamer.engine.visiting.worker import Worker
from gossamer.model.errors import StorageError
from gossamer.model.events import Checkpointed, Stopped, Visited
from gossamer.model.link import Link, LinkKind
from gossamer.model.outcome import Failed, Fault
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.ends import DISK_FULL, FAILED, FINISHED, INTERRUPTED, UNREACHABLE
from gossamer.model.reasons.reason import because, text
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.state.environment import Family
from gossamer.state.records import ENDED, encode

SETTINGS = EngineConfig(workers=2, give_up_after=1.0, checkpoint_every=0.0, min_free_disk=0)
FREE = PolitenessConfig(min_delay=0.0)
MOST = because(EndCode.MAX_PAGES, 1)


class Answers:
    """The network, as a table of links by path; whoever asks for `slow` waits until `go`."""

    def __init__(self, links):
        self.links = links
        self.asked = []
        self.go = asyncio.Event()
        self.asking = asyncio.Event()

    async def fetch(self, lease):
        url = lease.candidate.url
        self.asked.append(url.target)
        if url.target.startswith("/slow"):
            self.asking.set()
            await self.go.wait()
        if url.target == "/broken":
            raise StorageError("no place for the body")
        if url.target == "/gone":
            return Failed(Fault.NAME_NOT_FOUND)
        return fetched(url.text, body=url.target.encode())

    async def page(self, exchange, **_):
        links = [
            Link(parsed(SITE + to), LinkKind.NAVIGATION, "a@href")
            for to in self.links.get(exchange.url.target, ())
        ]
        return page(exchange.url.text, *links), None


class Life:
    """A crawl over an `EngineWorld`."""

    def __init__(self, world: EngineWorld, links, *, limit=None, config=SETTINGS):
        self.world = world
        self.answers = Answers(links)
        self.limit = limit or (lambda lent: None)
        world.ledger = Ledger(world.counters, world.clock)
        settlement = world.settlement(settled=lambda: dispatch.pump())
        visits = world.counters.visits
        dispatch = Dispatch(
            world.frontier,
            lambda: world.micros,
            int(config.give_up_after * 1e6),
            lambda lent: self.limit(lent),
            lambda: world.counters.visits > visits and not world.counters.statuses,
        )
        prefetch_checks = SimpleNamespace(refusal=world.context.refusal, prepared=lambda lease: lease)
        worker = Worker(
            dispatch, prefetch_checks, {"http": self.answers}, self.answers, settlement, world.yields
        )
        signals = Signals(
            world.frontier,
            world.identity,
            world.admission,
            on=lambda: False,
            rest=asyncio.sleep,
            heard=dispatch.pump,
        )
        saving = Checkpoints(world.path / "checkpoints", world.environment, world.writer, 2)
        self.parts = Parts(
            world.frontier, world.admission, dispatch, settlement, world.archivist, saving, world.ledger,
            world.observers, worker, world.pace, signals,
        )  # fmt: skip
        self.crawl = Crawl(world.path, config, self.parts)

    async def visited(self, number):
        """Wait until so many visits are settled."""
        settled = asyncio.Event()
        self.world.observers.add(lambda _: self.world.counters.visits >= number and settled.set())
        if self.world.counters.visits < number:
            await settled.wait()

    def run(self, steps=None):
        """The reason why it ended; `steps` run beside it."""

        async def work():
            beside = asyncio.ensure_future(steps(self)) if steps else None
            try:
                return await self.crawl.run()
            finally:
                if beside is not None:
                    await beside

        return asyncio.run(work())


@pytest.fixture
def life(world_of):
    def make(links=None, *, seeds=("/",), world=None, **told):
        world = world or world_of(politeness=FREE)
        made = Life(world, links or {}, **told)
        made.crawl.seed(parsed(SITE + path) for path in seeds)
        return made

    return make


def kinds(world, kind):
    return [event for event in world.events if isinstance(event, kind)]


def test_a_crawl_from_seed_to_end(life):
    made = life({"/": ["/a", "/b"], "/a": ["/c", "/"]})
    assert made.run() == FINISHED
    assert sorted(made.answers.asked) == ["/", "/a", "/b", "/c"]
    world = made.world
    assert made.crawl.parts is made.parts
    assert world.environment.get(Family.META, ENDED) == encode(FINISHED)
    assert world.events[-1] == Stopped(FINISHED)
    assert (
        [one.name for one in kinds(world, Checkpointed)] == names(world.path / "checkpoints") == ["00000001"]
    )
    index = (world.path / "index.cdxj").read_bytes().splitlines()
    assert len(index) == 4 and index == sorted(index)
    assert not list((world.path / "archive").glob("*.open")), "the archive is closed"
    assert world.counters.pages == 4


def test_seeds_are_counted_once(life):
    made = life(seeds=())
    urls = [parsed(f"{SITE}/{number}") for number in range(2_500)]
    assert made.crawl.seed(iter(urls)) == 2_500
    assert made.crawl.seed([*urls[:5], parsed(f"{SITE}/new")]) == 1
    assert made.world.counters.queued == 2_501 and crawl_module.SEEDED_TOGETHER == 1_000


def test_a_crawl_that_gets_seeds_has_not_ended_even_if_it_dies_before_it_runs(life):
    made = life(seeds=())
    environment, clock = made.world.environment, made.world.clock
    with made.world.frontier.changes() as batch:
        made.parts.ledger.enter(batch, FINISHED)
    assert Ledger.load(environment, clock).ended == FINISHED
    made.crawl.seed([parsed(f"{SITE}/new")])
    assert Ledger.load(environment, clock).ended is None


@pytest.mark.parametrize(("ended", "hosts"), [(FINISHED, 1), (UNREACHABLE, 1), (INTERRUPTED, 0), (None, 0)])
def test_what_was_left_is_taken_up_after_an_end_of_its_own(life, ended, hosts):
    made = life()
    made.world.frontier.park("site.example", text("dead"))
    with made.world.frontier.changes():
        pass
    made.parts.ledger.ended = ended
    assert made.crawl.take_up() == hosts


@pytest.mark.parametrize(("seed", "reason"), [("/gone", UNREACHABLE), ("/", FINISHED)])
def test_a_name_that_is_misspelt_ends_soon(life, seed, reason):
    assert life(seeds=[seed], config=EngineConfig(give_up_after=20.0, min_free_disk=0)).run() == reason


def test_workers_come_and_go(life):
    made = life(seeds=["/slow1", "/slow2", "/slow3"])
    seen = []

    async def steps(made):
        crawl = made.crawl
        await made.answers.asking.wait()
        await asyncio.sleep(0)
        seen.append((crawl.workers, crawl.busy))
        crawl.set_workers(4)
        for _ in range(3):
            await asyncio.sleep(0)
        seen.append((crawl.workers, crawl.busy))
        crawl.set_workers(1)
        for _ in range(3):
            await asyncio.sleep(0)
        seen.append((crawl.workers, crawl.busy))
        made.answers.go.set()

    assert (made.crawl.workers, made.crawl.busy) == (2, 0)
    assert made.run(steps) == FINISHED
    assert seen == [(2, 2), (4, 3), (1, 3)]
    made.crawl.set_workers(7)
    assert made.crawl.workers == 1, "it is over"


def test_before_it_runs_workers_are_a_number(life):
    made = life()
    made.crawl.set_workers(5)
    assert made.crawl.workers == 5
    made.crawl.configure(EngineConfig(workers=9, give_up_after=3.0, min_free_disk=0))
    assert made.crawl.workers == 5, "they stay as many as they are"
    assert made.parts.dispatch._give_up_after == 3_000_000


def test_stopping_finishes_what_is_lent(life):
    made = life({"/slow": ["/never"]}, seeds=["/slow", "/slow2", "/also"])

    async def steps(made):
        await made.answers.asking.wait()
        made.crawl.stop()
        made.answers.go.set()

    assert made.run(steps) == INTERRUPTED
    assert "/never" not in made.answers.asked
    assert made.world.record(f"{SITE}/slow").state == "done"
    assert f"{SITE}/never" in made.world.queued()


@pytest.mark.parametrize("how", ["stop_now", "stop_soon"])
def test_stopping_at_once_drops_what_is_lent(life, how, monkeypatch):
    monkeypatch.setattr(crawl_module, "MOMENT", 0.0)
    made = life(seeds=["/slow"])

    async def steps(made):
        await made.answers.asking.wait()
        getattr(made.crawl, how)()

    with pytest.raises(asyncio.CancelledError):
        made.run(steps)
    assert made.parts.dispatch.ended == INTERRUPTED
    assert made.world.record(f"{SITE}/slow") is None
    assert f"{SITE}/slow" in made.world.queued()


def test_a_pause_holds_the_crawl_and_its_clock(life):
    made = life(seeds=["/slow", "/slow2", "/later"])

    async def steps(made):
        await made.answers.asking.wait()
        made.crawl.pause()
        made.answers.go.set()
        await made.visited(2)
        held = made.parts.ledger.seconds
        for _ in range(20):
            await asyncio.sleep(0)
        assert made.parts.ledger.seconds == held
        assert made.crawl.busy == 0 and "/later" not in made.answers.asked
        made.crawl.unpause()
        assert made.parts.ledger.seconds >= held and made.parts.ledger._held is None

    assert made.run(steps) == FINISHED
    assert "/later" in made.answers.asked


def test_a_disk_that_refuses_is_raised_and_nothing_more_is_lent(life):
    made = life(seeds=["/broken", "/a", "/b", "/c", "/d"])
    with pytest.raises(StorageError, match="no place for the body"):
        made.run()
    assert made.parts.dispatch.ended == FAILED
    assert made.world.environment.get(Family.META, ENDED) in (None, b"")
    assert not kinds(made.world, Stopped)


# Upkeep …


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(crawl_module, "UPKEEP_SECONDS", 0.001)


@pytest.mark.parametrize("left", [99, None])
def test_each_disk_that_it_lies_on_is_watched(life, quick, monkeypatch, tmp_path, left):
    made = life(
        seeds=["/slow"],
        config=EngineConfig(workers=1, give_up_after=1.0, checkpoint_every=0.0, min_free_disk=100),
    )
    made.crawl._places = (made.world.path, tmp_path / "disk")
    looked = asyncio.Event()

    def usage(path):
        if path == made.world.path:
            return SimpleNamespace(free=1 << 40)
        looked.set()
        if left is None:
            raise FileNotFoundError(2, "No such file or directory")
        return SimpleNamespace(free=left)

    monkeypatch.setattr(crawl_module.shutil, "disk_usage", usage)

    async def steps(made):
        await made.answers.asking.wait()
        await looked.wait()
        made.answers.go.set()

    with pytest.raises(
        StorageError, match=f"{tmp_path / 'disk'}: " + ("cannot be" if left is None else "less than")
    ):
        made.run(steps)


@pytest.mark.parametrize(("free", "stopped"), [(99, True), (100, False), (101, False)])
def test_a_disk_that_fills_ends_the_crawl_in_time(life, quick, monkeypatch, free, stopped):
    made = life(
        seeds=["/slow"],
        config=EngineConfig(workers=1, give_up_after=1.0, checkpoint_every=0.0, min_free_disk=100),
    )
    monkeypatch.setattr(crawl_module.shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    looked, often = [], asyncio.Event()

    def look():
        looked.append(1)
        if len(looked) == 3:
            often.set()

    monkeypatch.setattr(crawl_module, "give_back", look)

    async def steps(made):
        await made.answers.asking.wait()
        await often.wait()
        made.answers.go.set()

    if stopped:
        with pytest.raises(StorageError, match="min_free_disk"):
            made.run(steps)
        assert made.parts.dispatch.ended == DISK_FULL
        assert made.world.record(f"{SITE}/slow").state == "done", "what was lent is settled, and kept"
        assert names(made.world.path / "checkpoints")
    else:
        assert made.run(steps) == FINISHED


@pytest.mark.parametrize("every", [0.0, 0.001])
def test_checkpoints_are_taken_at_intervals(life, quick, every):
    made = life(
        seeds=["/slow"],
        config=EngineConfig(workers=1, give_up_after=1.0, checkpoint_every=every, min_free_disk=0),
    )

    async def steps(made):
        await made.answers.asking.wait()
        for _ in range(1_000):
            if len(kinds(made.world, Checkpointed)) >= 2:
                break
            await asyncio.sleep(0.001 if every else 0)
        made.answers.go.set()

    assert made.run(steps) == FINISHED
    assert (len(kinds(made.world, Checkpointed)) > 2) is bool(every)


@pytest.mark.parametrize("index", [False, True])
def test_a_checkpoint_may_be_asked_for(life, index):
    made = life(seeds=["/slow"])

    async def steps(made):
        await made.answers.asking.wait()
        assert await made.crawl.checkpoint(index=index) == "00000001"
        assert (made.world.path / "index.cdxj").exists() is index
        made.answers.go.set()

    assert made.run(steps) == FINISHED
    assert names(made.world.path / "checkpoints") == ["00000001", "00000002"]


def test_visits_that_go_on_after_a_limit_are_broken_off(life, quick):
    made = life(
        seeds=["/slow", "/b"],
        limit=lambda lent: MOST if made_pages() else None,
        config=EngineConfig(workers=2, limit_grace=0.005, checkpoint_every=0.0, min_free_disk=0),
    )
    world = made.world

    def made_pages():
        return world.counters.pages

    assert made.run() == MOST
    assert made.crawl.cut == 1
    assert f"{SITE}/slow" in world.queued() and world.record(f"{SITE}/b").state == "done"


def test_a_limit_that_passes_is_forgotten(life, quick, monkeypatch):
    now = [100.0]
    made = life(
        seeds=["/slow"], config=EngineConfig(workers=1, give_up_after=1.0, limit_grace=5.0, min_free_disk=0)
    )
    monkeypatch.setattr(crawl_module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def steps(made):
        await made.answers.asking.wait()
        crawl, cut = made.crawl, []
        for seconds, limit in ((0, MOST), (4, MOST), (5, None), (6, MOST), (10.9, MOST)):
            now[0] = 100.0 + seconds
            made.limit = lambda lent, limit=limit: limit
            crawl._keep_to_limit()
            cut.append(crawl.cut)
        assert cut == [0] * 5
        made.crawl.pause()
        now[0] += 50
        crawl._keep_to_limit()
        assert crawl.cut == 0, "in a pause nothing is broken off"
        made.crawl.unpause()
        crawl._keep_to_limit()
        assert crawl.cut == 0
        now[0] += 5
        crawl._keep_to_limit()
        assert crawl.cut == 1 and made.parts.dispatch.ended == MOST

    assert made.run(steps) == MOST


def test_what_was_visited_is_told_in_order(life):
    made = life({"/": ["/a"], "/a": ["/b"]})
    made.run()
    assert [event.lease.candidate.url.target for event in kinds(made.world, Visited)] == ["/", "/a", "/b"]
