"""Fixtures for tests that resolve names."""

import asyncio

import pytest
import uvloop
from patience import PATIENCE
from resolving import Run


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request) -> Run:
    """Runs a coroutine on a loop of either kind, which must meet no problem on the way."""

    def run_on_loop(coroutine) -> None:
        async def with_limit() -> None:
            async with asyncio.timeout(PATIENCE):
                await coroutine

        with asyncio.Runner(loop_factory=request.param) as runner:
            problems: list[dict] = []
            runner.get_loop().set_exception_handler(lambda _, context: problems.append(context))
            runner.run(with_limit())
        assert problems == []

    return run_on_loop
