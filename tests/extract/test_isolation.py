"""Guarded processes: what hangs, swallows memory or crashes costs one answer, and its process."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import isolated_toys
import msgspec
import pytest
from isolated_toys import Asked, TableExtractor, TitleExtractor, Told

from gossamer.engine.visiting.reading import Reading
from gossamer.extract.config import ExtractConfig
from gossamer.extract.isolation.extractors import IsolatedExtractors
from gossamer.extract.isolation.processes import GuardedProcesses, Limits, Unanswered, Why
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.body import SpooledBody
from gossamer.fetch.config import FetchConfig
from gossamer.model.errors import ConfigError
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.url import Url
from gossamer.policy.robots.access import RobotsConfig

LIMITS = Limits(processes=1, seconds=0.5, memory=512 << 20, answer=1 << 20)


@pytest.fixture
def guarded():
    pools = []

    def make(limits=LIMITS, task=isolated_toys.answer):
        pools.append(GuardedProcesses(task, Asked, Told, limits))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def has_ended(pid: int) -> bool:
    """Whether it has, but for being waited for by whoever is its parent now."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)


def test_an_answer_from_bytes_and_from_a_file(guarded, tmp_path):
    pool = guarded()
    (tmp_path / "document").write_text("on disk")
    first = pool.ask(Asked("bytes", content=b"in memory"))
    second = pool.ask(Asked("file", path=str(tmp_path / "document")))
    assert (first.text, second.text) == ("in memory", "on disk")
    assert first.process == second.process != os.getpid(), "one process, which is not ours"


@pytest.mark.parametrize(
    ("what", "why", "detail"),
    [
        ("loop", Why.TIME, "gave no answer in 0.5 s"),
        ("loop in C", Why.TIME, "gave no answer in 0.5 s"),
        ("allocate", Why.MEMORY, "wanted more than 512 MiB of memory"),
        ("abort", Why.DIED, "its process was ended by SIGABRT"),
        ("exit", Why.DIED, "its process ended with exit status 7"),
        ("long", Why.TOO_LONG, "bytes, of 1048576 at most"),
        ("wrong type", Why.MALFORMED, "Expected `object`, got `array`"),
        ("raise", Why.RAISED, "LookupError: no table of contents (isolated_toys.py, line "),
    ],
)
def test_what_goes_wrong_is_named_and_the_next_question_answered(guarded, what, why, detail):
    pool = guarded()
    failed = pool.ask(Asked(what, number=2 << 20))
    assert failed.why is why and detail in failed.detail
    assert pool.ask(Asked("bytes", content=b"goes on")).text == "goes on"


def test_a_document_pays_for_no_other(guarded):
    pool = guarded(msgspec.structs.replace(LIMITS, seconds=30.0))  # so much memory takes time to be given
    one = pool.ask(Asked("leak", number=300 << 20))
    other = pool.ask(Asked("leak", number=300 << 20))
    assert one.text == other.text == "leaked" and one.process != other.process
    assert pool.ask(Asked("abort if used")).text == "fresh"


def test_workers_are_replaced_after_a_number_of_questions(guarded):
    pool = guarded(Limits(processes=1, calls=2))
    processes = [pool.ask(Asked("bytes")).process for _ in range(4)]
    assert processes[0] == processes[1] != processes[2] == processes[3]


def test_what_libraries_print_is_no_answer(guarded):
    assert guarded().ask(Asked("print")).text == "printed"


def test_secrets_of_the_environment_stay_here(guarded, monkeypatch):
    monkeypatch.setenv("ARCHIVE_PASSWORD", "x")
    assert "ARCHIVE_PASSWORD" not in guarded().ask(Asked("environment")).text


def test_what_a_worker_has_started_ends_with_it(guarded, tmp_path):
    pid = tmp_path / "pid"
    assert guarded().ask(Asked("child", path=str(pid))).why is Why.TIME
    until(lambda: has_ended(int(pid.read_text())))


def test_several_threads_share_the_processes(guarded):
    pool = guarded(Limits(processes=2))
    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(pool.ask, [Asked("bytes", content=b"%d" % n) for n in range(40)]))
    assert [one.text for one in told] == [str(n) for n in range(40)]
    assert len({one.process for one in told}) <= 2


def test_nothing_is_started_before_it_is_asked_for(guarded, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    Reader(ExtractConfig(), "gossamer", [TableExtractor()]).close()
    guarded()


def test_closing_ends_what_is_under_way(guarded):
    pool = guarded(Limits(processes=1, seconds=300))
    process = pool.ask(Asked("bytes")).process
    ended = []
    thread = threading.Thread(target=lambda: ended.append(pool.ask(Asked("loop"))))
    thread.start()
    until(lambda: Path(f"/proc/{process}/stat").read_text().split()[2] == "R")
    pool.close()
    thread.join(20)
    assert ended == [Unanswered(Why.CLOSED)] and pool.ask(Asked("bytes")) == Unanswered(Why.CLOSED)
    assert has_ended(process)


@pytest.mark.parametrize("what", ["", "loop in C"])
def test_no_worker_outlives_its_parent(tmp_path, what):
    program = tmp_path / "parent.py"
    program.write_text(
        "import isolated_toys, sys, threading\n"
        "from isolated_toys import Asked, Told\n"
        "from gossamer.extract.isolation.processes import GuardedProcesses, Limits\n"
        "pool = GuardedProcesses(isolated_toys.answer, Asked, Told, Limits(processes=1, seconds=1))\n"
        "print(pool.ask(Asked('bytes')).process, flush=True)\n"
        f"pool.ask(Asked({what!r}, path={str(tmp_path / 'begun')!r})) if {what!r} else None\n"
        "threading.Event().wait()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, text=True, env=environment
    ) as it:
        process = int(it.stdout.readline())
        if what:
            until((tmp_path / "begun").exists)
        it.kill()
    until(lambda: has_ended(process))


def test_what_no_other_process_finds_is_refused_at_once():
    with pytest.raises(TypeError, match="cannot be handed to another process"):
        GuardedProcesses(lambda asked: Told(""), Asked, Told)
    extractor = TableExtractor()
    extractor.lock = threading.Lock()
    with pytest.raises(ConfigError, match="an isolated extractor cannot be used"):
        IsolatedExtractors([extractor])


def read(content: bytes, kind: str = "application/x-toy", **limits):
    """The page, by way of what workers use."""
    config = ExtractConfig()
    reader = Reader(config, "gossamer", [*builtin_extractors(config), TableExtractor(), TitleExtractor()])
    assert reader.isolated is not None
    reading = Reading(reader, FetchConfig(), config, RobotsConfig(), "gossamer")
    url = Url.parse("http://host.example/x/y")
    headers = Headers([("Content-Type", kind)])
    exchange = Exchange(url, 0.0, b"", 200, b"", headers, SpooledBody(content))
    try:
        return asyncio.run(reading.page(exchange))[0]
    finally:
        reading.close()


@pytest.mark.parametrize("padding", [0, 40_000, 300_000])
def test_an_isolated_extractor_gives_a_page_its_links(padding):
    page = read(b"/a /b /a/../c" + b" " * padding)
    assert [link.url.target for link in page.links] == ["/a", "/b", "/c"]
    assert (page.title, page.author, page.problems) == ("a toy", "nobody", ())
    assert page.fields["here"] == os.getpid() != page.fields["process"]


def test_what_it_fails_on_is_marked_on_the_page_and_others_are_heard():
    page = read(b"/a abort")
    assert page.problems == ("toy: died: its process was ended by SIGABRT",)
    assert (page.links, page.author, page.raised) == ((), "nobody", ())


def test_what_it_raises_counts_as_of_every_extractor():
    page = read(b"/a raise")
    assert page.problems[0].startswith("toy: raised: LookupError: no table of contents")
    assert [raised.who for raised in page.raised] == ["extractor toy"]


def test_documents_of_other_types_go_to_no_process(monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    assert read(b"<title>plain</title>", "text/html").title == "plain"


def test_with_patience_processor_time_counts_and_not_the_clock(guarded):
    limits = Limits(processes=1, seconds=0.5, patience=200, memory=512 << 20, answer=1 << 20)
    answer = guarded(limits).ask(Asked("loop"))
    assert (answer.why, answer.detail) == (Why.TIME, "gave no answer in 0.5 s")
    assert guarded(limits).ask(Asked("bytes", b"x")).text == "x"


def test_with_patience_a_start_that_waits_is_no_fault_of_the_document(guarded):
    limits = Limits(processes=1, start=0.4, patience=200, memory=512 << 20, answer=1 << 20)
    assert guarded(limits, isolated_toys.Starved()).ask(Asked("bytes", b"x")).text == "x"


def test_with_patience_who_sleeps_is_not_waited_for_as_one_that_gets_no_processor(guarded):
    limits = Limits(processes=1, seconds=0.1, patience=5_000, memory=512 << 20, answer=1 << 20)
    pool = guarded(limits)
    assert pool.ask(Asked("starve")).text == "starved"
    answer = pool.ask(Asked("sleep"))
    assert (answer.why, answer.detail) == (Why.TIME, "gave no answer in 0.1 s")
    assert pool.ask(Asked("bytes", b"x")).text == "x", "by another process"
