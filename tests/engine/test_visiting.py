"""Worker, dispatch and crew: who is lent what, when nothing more will come, who leaves."""

import asyncio
from types import SimpleNamespace

import pytest
from engine_world import SITE, fetched, page, rules

from gossamer.engine.visiting import dispatch as dispatch_module
from gossamer.engine.visiting.crew import Crew
from gossamer.engine.visiting.dispatch import PATIENCE, Dispatch
from gossamer.engine.visiting.worker import Worker
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Blame, Done, Retry
from gossamer.model.lease import Validators
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.ends import FAILED, FINISHED, INTERRUPTED, UNREACHABLE
from gossamer.model.reasons.reason import because, text

SECOND = 1_000_000
GIVE_UP = 90 * SECOND


MAX_PAGES = because(EndCode.MAX_PAGES, 1)


class Held:
    """A dispatch over a real frontier, in whose hand is what it would wait for."""

    def __init__(self, world, monkeypatch, *, limit=None, unreachable=False, give_up=GIVE_UP):
        self.world = world
        self.limit = limit
        self.unreachable = unreachable
        self.timers = []
        self.may_lend = lambda _: True
        self.dispatch = Dispatch(
            world.frontier,
            lambda: world.micros,
            give_up,
            lambda lent: self._limit(lent),
            lambda: self.unreachable,
            lambda lent: self.may_lend(lent),
        )
        self.asked = []

        def call_later(wait, work):
            timer = SimpleNamespace(wait=wait, work=work, cancelled=False)
            timer.cancel = lambda: setattr(timer, "cancelled", True)
            self.timers.append(timer)
            return timer

        self.call_later = call_later

    def _limit(self, lent):
        self.asked.append(lent)
        return self.limit(lent) if callable(self.limit) else self.limit

    def run(self, steps):
        """`steps(self)` within an event loop whose timers stand still."""

        async def work():
            loop = asyncio.get_running_loop()
            loop.call_later, real = self.call_later, loop.call_later
            try:
                await steps(self)
            finally:
                loop.call_later = real

        asyncio.run(work())

    async def worker(self):
        """A worker that waits: its task."""
        task = asyncio.ensure_future(self.dispatch._next())
        await asyncio.sleep(0)
        return task

    def settle(self, lease, disposition=None, rest=0.0):
        with self.world.frontier.changes():
            self.world.frontier.settle(lease, disposition or Done(), Tally(rest=rest, host_failed=False))


@pytest.fixture
def held(world_of, monkeypatch):
    def make(*urls, leases=1, **told):
        world = world_of(leases=leases)
        for url in urls:
            assert world.admit(url)
        return Held(world, monkeypatch, **told)

    return make


def test_what_is_ready_is_lent_at_once(held):
    async def steps(held):
        first = await held.worker()
        assert first.result().candidate.url.text == f"{SITE}/a"
        second = await held.worker()
        assert not second.done() and held.dispatch.idle == 1
        held.settle(first.result(), rest=5.0)
        held.dispatch.pump()
        await asyncio.sleep(0)
        assert not second.done(), "its host rests"
        assert held.timers[-1].wait == pytest.approx(5.0005)
        held.world.pass_time(5)
        held.timers[-1].work()
        assert (await second).candidate.url.text == f"{SITE}/b"
        assert held.dispatch.idle == 0 and held.dispatch.ended is None

    held(f"{SITE}/a", f"{SITE}/b").run(steps)


def test_nothing_is_left_so_the_crawl_is_over(held):
    async def steps(held):
        waiting = [await held.worker() for _ in range(3)]
        assert [task.result() for task in waiting] == [None] * 3
        assert held.dispatch.ended == FINISHED
        assert (await held.worker()).result() is None

    held().run(steps)


def test_while_something_is_lent_nobody_leaves(held):
    async def steps(held):
        first, second = await held.worker(), await held.worker()
        assert not second.done() and held.dispatch.ended is None
        assert held.dispatch.quiet is False
        held.settle(first.result())
        held.dispatch.pump()
        assert await second is None and held.dispatch.ended == FINISHED
        assert held.dispatch.quiet is True

    held(f"{SITE}/a").run(steps)


@pytest.mark.parametrize(
    ("wait", "give_up", "ended"),
    [(90, 90, None), (90.1, 90, FINISHED), (10, 90, None), (91, 100, None), (0.5, 0, FINISHED)],
)
def test_what_falls_due_in_time_is_waited_for(held, wait, give_up, ended):
    async def steps(held):
        lease = (await held.worker()).result()
        held.settle(lease, Retry(wait, Blame.URL, text("later")))
        waiting = await held.worker()
        assert held.dispatch.ended == ended
        assert held.dispatch.quiet is bool(ended)
        assert waiting.done() is bool(ended)
        if not ended:
            assert held.timers[-1].wait == pytest.approx(min(wait, 60.0) + 0.0005)
            held.dispatch.end("test")

    held(f"{SITE}/a", give_up=int(give_up * SECOND)).run(steps)


def test_a_host_that_only_rests_is_waited_for_however_long(held):
    async def steps(held):
        held.settle((await held.worker()).result(), rest=600.0)
        waiting = await held.worker()
        assert not waiting.done() and held.dispatch.ended is None
        assert held.timers[-1].wait == pytest.approx(60.0005), "at most a minute"
        held.dispatch.end("test")

    held(f"{SITE}/a", f"{SITE}/b").run(steps)


@pytest.mark.parametrize(
    ("wait", "give_up", "ended"), [(10.0, 90, None), (10.1, 90, UNREACHABLE), (2.0, 1, UNREACHABLE)]
)
def test_where_no_server_has_ever_answered_the_end_comes_soon(held, wait, give_up, ended):
    assert PATIENCE == 10 * SECOND

    async def steps(held):
        held.settle((await held.worker()).result(), Retry(wait, Blame.URL, text("later")))
        held.unreachable = True
        waiting = await held.worker()
        assert held.dispatch.ended == ended
        assert waiting.done() is bool(ended)
        held.dispatch.end("test")

    held(f"{SITE}/a", give_up=give_up * SECOND).run(steps)


def test_work_that_is_expected_is_waited_for(held):
    async def steps(held):
        held.dispatch.expect("agents")
        waiting = await held.worker()
        assert not waiting.done() and held.dispatch.quiet
        held.dispatch.expect_no_more("others")
        assert not waiting.done()
        held.dispatch.expect_no_more("agents")
        assert await waiting is None and held.dispatch.ended == FINISHED

    held().run(steps)


def test_a_limit_lets_what_is_lent_come_home(held):
    async def steps(held):
        held.limit = lambda lent: MAX_PAGES if lent else None
        first, second = await held.worker(), await held.worker()
        assert first.done() and not second.done()
        assert held.asked == [0, 1] and held.timers == [], "only a settlement can change that"
        assert held.dispatch.limit is None
        held.limit = MAX_PAGES
        assert held.dispatch.limit == MAX_PAGES
        held.settle(first.result())
        held.dispatch.pump()
        assert await second is None and held.dispatch.ended == MAX_PAGES

    held(f"{SITE}/a", f"{SITE}/b").run(steps)


def test_whoever_forbids_lending_pumps_when_that_changes(held):
    async def steps(held):
        lent = []
        held.may_lend = lambda count: lent.append(count) or False
        waiting = await held.worker()
        assert not waiting.done() and held.dispatch.ended is None and lent == [0]
        held.may_lend = lambda _: True
        held.dispatch.pump()
        assert (await waiting).candidate.url.text == f"{SITE}/a"

    held(f"{SITE}/a").run(steps)


def test_a_pause_lends_nothing_and_ends_nothing(held):
    async def steps(held):
        held.dispatch.pause()
        assert held.dispatch.paused
        waiting = [await held.worker(), await held.worker()]
        assert held.dispatch.idle == 2 and held.dispatch.ended is None
        held.dispatch.unpause()
        await asyncio.sleep(0)
        assert not held.dispatch.paused
        assert waiting[0].done() and not waiting[1].done()
        held.dispatch.end("test")

    held(f"{SITE}/a").run(steps)


def test_giving_up_sooner_counts_at_once(held):
    async def steps(held):
        held.settle((await held.worker()).result(), Retry(80, Blame.URL, text("later")))
        waiting = await held.worker()
        assert not waiting.done()
        held.dispatch.give_up_after(79 * SECOND)
        assert await waiting is None and held.dispatch.ended == FINISHED

    held(f"{SITE}/a").run(steps)


def test_the_first_reason_to_end_stays(held):
    async def steps(held):
        held.dispatch.expect("work")
        waiting = await held.worker()
        held.dispatch.end(INTERRUPTED)
        held.dispatch.end(FAILED)
        assert await waiting is None and held.dispatch.ended == INTERRUPTED
        assert held.timers[-1].cancelled
        held.dispatch.pump()
        assert (await held.worker()).result() is None

    held().run(steps)


def test_only_one_timer_runs(held):
    async def steps(held):
        held.settle((await held.worker()).result(), Retry(30, Blame.URL, text("later")))
        await held.worker()
        await held.worker()
        assert [timer.cancelled for timer in held.timers] == [True, False]
        held.dispatch.end("test")

    held(f"{SITE}/a").run(steps)


def test_workers_that_are_too_many_leave(held):
    async def steps(held):
        held.dispatch.expect("work")
        waiting = [await held.worker() for _ in range(3)]
        held.dispatch.retire(2)
        await asyncio.sleep(0)
        assert [task.done() for task in waiting] == [True, True, False]
        held.dispatch.retire(2)
        assert await waiting[2] is None
        # One more is at a visit: it leaves when it comes back, and only that one.
        assert (await held.worker()).result() is None
        last = await held.worker()
        assert not last.done()
        held.dispatch.end("test")

    held().run(steps)


def test_a_failure_is_heard_by_one_worker_and_ends_the_crawl(held):
    async def steps(held):
        held.dispatch.expect("work")
        cancelled, first, second = [await held.worker() for _ in range(3)]
        cancelled.cancel()
        await asyncio.sleep(0)

        def broken(_):
            raise OSError("disk full")

        held.may_lend = broken
        held.dispatch.pump_or_fail()
        with pytest.raises(OSError, match="disk full"):
            await first
        assert await second is None
        assert held.dispatch.ended == FAILED

    held().run(steps)


def test_a_stream_of_leases_ends_with_the_crawl(held):
    async def steps(held):
        got = []
        async for lease in held.dispatch.leases():
            got.append(lease.candidate.url.text)
            held.settle(lease)
        assert got == [f"{SITE}/a", f"{SITE}/b"] and held.dispatch.ended == FINISHED

    held(f"{SITE}/a", f"{SITE}/b").run(steps)
    assert str(dispatch_module.FINISHED) == "finished"


# Crew …


def test_workers_come_and_go():
    retired, stop = [], asyncio.Event()

    async def run():
        left = []

        async def work():
            try:
                await stop.wait()
            finally:
                left.append(1)

        async with asyncio.TaskGroup() as tasks:
            crew = Crew(tasks, SimpleNamespace(retire=retired.append), work)
            crew.resize(3)
            assert (crew.size, crew.present, retired) == (3, 3, [])
            crew.resize(5)
            assert (crew.size, crew.present) == (5, 5)
            crew.resize(2)
            assert (crew.size, crew.present, retired) == (2, 5, [3])
            crew.resize(2)
            assert retired == [3]
            await asyncio.sleep(0)
            gone = asyncio.ensure_future(crew.wait_gone())
            await asyncio.sleep(0)
            assert not gone.done()
            stop.set()
            await gone
            assert crew.present == 0 and len(left) == 5

    asyncio.run(run())


def test_visits_are_cut():
    async def run():
        async with asyncio.TaskGroup() as tasks:
            crew = Crew(tasks, SimpleNamespace(retire=None), lambda: asyncio.sleep(1_000))
            crew.resize(2)
            await asyncio.sleep(0)
            crew.cut()
            await crew.wait_gone()
            assert crew.present == 0 and crew.size == 2

    asyncio.run(run())


# Worker …


class Module:
    """Answers every lease alike, and remembers what it was asked."""

    def __init__(self, outcome):
        self.outcome = outcome
        self.asked = []

    async def fetch(self, lease):
        self.asked.append(lease)
        return self.outcome


class Reading:
    def __init__(self):
        self.asked = []

    async def page(self, exchange, *, listed, longest_text):
        self.asked.append((listed, longest_text))
        return page(), "said"

    async def robots(self, exchange):
        self.asked.append("robots")
        return rules("User-agent: *\nDisallow: /")


VALIDATORS = Validators("e")


def worked(world, lease, outcome, refusal=None, modules=None, longest=7):
    """The visit that a worker hands to settlement, what it asked, what was read."""
    module, reading, taken = Module(outcome), Reading(), []

    async def leases():
        yield lease

    async def take(visit):
        taken.append(visit)

    def prepared(lease):
        return SimpleNamespace(candidate=lease.candidate, validators=VALIDATORS)

    worker = Worker(
        SimpleNamespace(leases=leases),
        SimpleNamespace(refusal=lambda _: refusal, prepared=prepared),
        {"http": module} if modules is None else modules,
        reading,
        SimpleNamespace(take=take),
        SimpleNamespace(longest_text=lambda _: longest),
    )
    asyncio.run(worker.run())
    (visit,) = taken
    return visit, module.asked, reading.asked


def test_a_page_is_fetched_and_read(world):
    outcome = fetched()
    visit, asked, read = worked(world, world.lease(hops="L"), outcome)
    assert (visit.outcome, visit.said, visit.page) == (outcome, "said", page())
    assert asked[0].validators is VALIDATORS
    assert read == [(False, 7)]
    assert 0 <= visit.elapsed < 60


@pytest.mark.parametrize(("hops", "listed"), [("PM", True), ("PMR", True), ("PML", False), ("", False)])
def test_what_was_listed_may_be_a_sitemap(world, hops, listed):
    assert worked(world, world.lease(hops=hops), fetched())[2] == [(listed, 7)]


def test_a_robots_file_is_read_as_one(world):
    visit, _, read = worked(world, world.robots_lease(), fetched())
    assert read == ["robots"] and visit.page is None
    assert not visit.robots.allows("/")[0]


@pytest.mark.parametrize("kind", [LinkKind.NAVIGATION, LinkKind.ROBOTS])
def test_a_failure_is_not_read(world, kind):
    outcome = Failed(Fault.RESET)
    visit, asked, read = worked(world, world.lease(kind=kind, origin=SITE), outcome)
    assert (visit.outcome, visit.page, read, len(asked)) == (outcome, None, [], 1)
    assert 0 <= visit.elapsed < 60


def test_what_is_refused_is_not_asked_for(world):
    refused = Refused(Rule.ROBOTS)
    visit, asked, read = worked(world, world.lease(), fetched(), refused)
    assert (visit.outcome, asked, read) == (refused, [], [])


def test_a_scheme_without_a_module_fails(world):
    visit, asked, _ = worked(world, world.lease(), fetched(), modules={})
    assert (visit.outcome.fault, asked) == (Fault.UNSUPPORTED, [])
