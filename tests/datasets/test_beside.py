"""Who follows a crawl beside it is started again when he dies: later and later, and somebody is told."""

import asyncio
import sys
from pathlib import Path

import pytest

from gossamer.datasets import beside as room
from gossamer.datasets.beside import beside


def told(path: Path, most: int, *, index: bool) -> list[tuple[str, str]]:
    """What was told until so much was, of a crawl in `path` that is indexed, or in which something is watched."""
    heard: list[tuple[str, str]] = []

    async def look_on() -> None:
        enough = asyncio.Event()

        def tell(what: str, problem: str) -> None:
            heard.append((what, problem))
            if len(heard) == most:
                enough.set()

        async with beside() as processes:
            processes.start(
                path, documents=False, search=index, upload=False, watches=lambda: not index, tell=tell
            )
            await enough.wait()
            await processes.end(interrupted=True)

    asyncio.run(look_on())
    return heard


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("can_start", [False, True])
def test_who_dies_is_started_again_later_and_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_start: bool, index: bool
) -> None:
    program = tmp_path / "program"
    if can_start:
        written(program, "exit 3")
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(room, "_AGAIN", 0.001)
    monkeypatch.setattr(room, "_LATEST", 0.004)
    heard = told(tmp_path, 4, index=index)
    why = "ended with status 3" if can_start else "cannot be started: No such file or directory"
    assert {what for what, _ in heard} == {"index" if index else "watches"}
    assert all(why in problem for _, problem in heard), heard
    if not can_start:  # who has lived for longer than the longest rest begins anew
        rests = [problem.rpartition(" in ")[2] for _, problem in heard]
        assert rests == ["0.002 s", "0.004 s", "0.004 s", "0.004 s"]


@pytest.mark.parametrize("dies", ["long before the end", "at the end", "never", "before it began"])
def test_what_a_dead_one_left_over_is_read_when_the_crawl_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: str
) -> None:
    """Once: who dies again would for ever."""
    runs, go = tmp_path / "runs", tmp_path / "go"
    written(program := tmp_path / "program", f"echo >>{runs}; until [ -e {go} ]; do sleep 0.01; done; "
            + ("exit 9" if "end" in dies else "exit 0"))  # fmt: skip
    monkeypatch.setattr(sys, "executable", str(program))

    async def crawl() -> None:
        died = asyncio.Event()
        async with beside() as processes:
            processes.start(
                tmp_path,
                documents=True,
                search=True,
                upload=False,
                watches=lambda: False,
                tell=lambda _, __: died.set(),
            )
            if dies != "before it began":
                while not runs.exists():  # noqa: ASYNC110 - another process makes it
                    await asyncio.sleep(0.005)
            go.touch()
            if dies == "long before the end":
                await died.wait()
            await processes.end(interrupted=False)

    asyncio.run(crawl())
    assert runs.read_text() == "\n" * (2 if "end" in dies else 1)


def test_the_copy_in_a_store_is_begun_where_it_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    written(program := tmp_path / "program", f"echo $* >>{said}")
    monkeypatch.setattr(sys, "executable", str(program))

    async def crawl() -> None:
        async with beside() as processes:
            processes.start(
                tmp_path,
                documents=False,
                search=False,
                upload=True,
                watches=lambda: False,
                tell=lambda *_: None,
            )
            await processes.end(interrupted=False)

    asyncio.run(crawl())
    assert said.read_text() == f"-m gossamer upload {tmp_path} --quiet --wait\n"


def written(program: Path, line: str) -> None:
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o755)


def test_who_is_wanted_no_longer_is_waited_for_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch that was taken back has what it saw to deliver."""
    began, ended, go, wanted = tmp_path / "began", tmp_path / "ended", tmp_path / "go", [True]
    written(
        program := tmp_path / "program",
        f"touch {began}; until [ -e {go} ]; do sleep 0.01; done; touch {ended}",
    )
    monkeypatch.setattr(sys, "executable", str(program))

    async def crawl() -> None:
        async with beside() as processes:
            processes.start(
                tmp_path,
                documents=False,
                search=False,
                upload=False,
                watches=lambda: wanted[0],
                tell=lambda _, __: None,
            )
            while not began.exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.005)
            wanted[0] = False
            ending = asyncio.create_task(processes.end(interrupted=False))
            await asyncio.sleep(0.02)
            go.touch()
            await ending

    asyncio.run(crawl())
    assert ended.exists()
