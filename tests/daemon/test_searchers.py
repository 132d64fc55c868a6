"""Processes that search go by themselves when they rest: whoever asks next is answered by a new one."""

import asyncio
import time
from pathlib import Path

import pytest
import uvloop
from patience import PATIENCE

from gossamer.daemon.line_process import LineProcess, NoAnswerError
from gossamer.daemon.searching import searchers
from gossamer.daemon.searching.searchers import Searchers

ONCE = "echo $$ >>{pids}; read line; echo '{{\"answer\": []}}'"
"""Answers one question, then goes as one that nobody asks."""


@pytest.mark.parametrize("loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_one_that_went_while_it_rested_is_followed_by_another(
    loop: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setattr(searchers, "COMMAND", ("sh", "-c", ONCE.format(pids=pids)))

    async def asked_three_times() -> None:
        searching = Searchers()
        for _ in range(3):
            assert await searching.titles({"job": tmp_path}, "a", 8) == []
            await asyncio.to_thread(_gone, pids)
        await searching.close()

    with asyncio.Runner(loop_factory=loop) as runner:  # type: ignore[arg-type]
        runner.run(asked_three_times())
    assert len(pids.read_text().split()) == 3


@pytest.mark.parametrize("loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_a_line_process_that_has_ended_gives_no_answer(loop: object, tmp_path: Path) -> None:
    async def asked() -> None:
        pids = tmp_path / "pids"
        process = await LineProcess.start(("sh", "-c", ONCE.format(pids=pids)), 1_000)
        assert await process.ask(b"a\n", 30) == b'{"answer": []}\n'
        await asyncio.to_thread(_gone, pids)
        with pytest.raises(NoAnswerError):
            await process.ask(b"b\n", 30)
        assert process.ended == 0
        await process.close()

    with asyncio.Runner(loop_factory=loop) as runner:  # type: ignore[arg-type]
        runner.run(asked())


def _gone(pids: Path) -> None:
    """Wait until the last that began has ended and was reaped."""
    last = Path("/proc") / pids.read_text().split()[-1]
    deadline = time.monotonic() + PATIENCE
    while last.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
