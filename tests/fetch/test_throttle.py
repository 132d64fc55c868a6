"""The bucket from which visits take the bytes that they receive."""

import asyncio

import pytest

from gossamer.fetch import throttle
from gossamer.fetch.throttle import USUAL, Throttle


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(throttle, "time", clock)
    return clock


def test_without_limits_nobody_asks(clock: Clock) -> None:
    bucket = Throttle()
    assert not bucket.active
    bucket.limit_visits(lambda _: 5.0)
    assert bucket.active


def test_visits_begin_as_the_bucket_fills(clock: Clock) -> None:
    async def check() -> None:
        bucket = Throttle()
        bucket.set_rate(USUAL)  # one visit of the usual size a second
        begun = []

        async def visit(number: int) -> None:
            flow = await bucket.begin("host")
            begun.append(number)
            assert not flow.holds(USUAL)
            flow.end()

        tasks = [asyncio.create_task(visit(number)) for number in range(5)]
        for second in range(5):
            clock.now = second + 0.001
            bucket._let_go()
            for _ in range(5):
                await asyncio.sleep(0)
            assert begun == list(range(second + 1))
        await asyncio.gather(*tasks)
        bucket.close()

    asyncio.run(check())


def test_what_was_reserved_and_not_used_goes_back(clock: Clock) -> None:
    async def check() -> None:
        bucket = Throttle()
        bucket.set_rate(1_000)
        flow = await bucket.begin("host")
        assert bucket.empty
        assert not flow.holds(10)
        flow.end()
        assert bucket._balance == pytest.approx(-10)
        bucket.close()

    asyncio.run(check())


def test_lifting_the_limit_lets_everybody_go(clock: Clock) -> None:
    async def check() -> None:
        bucket = Throttle()
        bucket.set_rate(1)
        await bucket.begin("host")
        waiting = [asyncio.create_task(bucket.begin("host")) for _ in range(20)]
        await asyncio.sleep(0)
        assert bucket.waiting == 20
        bucket.set_rate(0)
        await asyncio.gather(*waiting)
        assert not bucket.waiting
        bucket.close()

    asyncio.run(check())


def test_who_gives_up_waiting_costs_nothing(clock: Clock) -> None:
    async def check() -> None:
        bucket = Throttle()
        bucket.set_rate(USUAL)
        await bucket.begin("host")
        leaving, staying = (asyncio.create_task(bucket.begin("host")) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        clock.now = 1.001
        bucket._let_go()
        await staying
        bucket.close()

    asyncio.run(check())
