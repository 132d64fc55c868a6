"""Who watches beside a crawl is started again when he dies: later and later, and somebody is told."""

import asyncio
import sys
from pathlib import Path

import pytest

from gossamer.datasets import beside as room
from gossamer.datasets.beside import beside


def told(path: Path, most: int) -> list[str]:
    """What was told until so much was, of a crawl in `path` in which something is watched."""
    heard: list[str] = []

    async def look_on() -> None:
        enough = asyncio.Event()

        def tell(problem: str) -> None:
            heard.append(problem)
            if len(heard) == most:
                enough.set()

        async with beside() as processes:
            await processes.start(path, documents=False, search=False, watches=lambda: True, tell=tell)
            await enough.wait()
            await processes.end(interrupted=True)

    asyncio.run(look_on())
    return heard


@pytest.mark.parametrize("can_start", [False, True])
def test_who_watches_is_started_again_later_and_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_start: bool
) -> None:
    program = tmp_path / "program"
    if can_start:
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(room, "_AGAIN", 0.001)
    monkeypatch.setattr(room, "_LATEST", 0.004)
    heard = told(tmp_path, 4)
    why = "ended with status 3" if can_start else "cannot be started: No such file or directory"
    assert all(why in problem for problem in heard), heard
    if not can_start:  # who has lived for longer than the longest rest begins anew
        rests = [each.rpartition(" in ")[2] for each in heard]
        assert rests == ["0.002 s", "0.004 s", "0.004 s", "0.004 s"]
