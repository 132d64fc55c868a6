"""An index beside a crawl that runs, changes, is killed, or has no room: right in the end, and the crawl goes on."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import pyarrow.parquet
import pytest
import revisiting_crawl
from odd_pages import STORY
from patience import PATIENCE
from ray_there import needs_ray, never_two_at_once
from search_tables import everything
from search_world import (
    INDEX,
    SEARCH_ON,
    Found,
    Page,
    Ran,
    answers,
    assert_plain,
    crawled,
    gossamer,
    here,
    html,
    indexed,
    search,
    similar,
    site_of,
)
from similar_world import held
from small_disk import MIB, Disk
from torture_lives import Life, assert_complete, dice, small_world

from gossamer.assembly.folder_lock import lock_folder
from gossamer.datasets.derived import FOLDER as DOCUMENTS
from gossamer.datasets.derived import state_of
from gossamer.search.searching import Searching
from gossamer.search.similar.store import opened
from gossamer.search.text.reader import Reader
from gossamer.simweb import SimulatedWeb

ANIMALS = (
    "aardvark",
    "bison",
    "caracal",
    "dormouse",
    "echidna",
    "fennec",
    "gibbon",
    "hyrax",
    "ibex",
    "jerboa",
)
"""Seconds by which the index follows a crawl, as it promises."""


class Chain(dict[str, Page]):
    """Pages that each link to the next; from `held` on they wait until they are let go."""

    def __init__(self, pages: int, held: int = 0) -> None:
        super().__init__()
        self.pages, self.held, self.let_go = pages, held, threading.Event()

    def get(self, path: str, default: Page | None = None) -> Page | None:  # type: ignore[override]
        if path == "/":
            path = "/0"
        if not path[1:].isdecimal() or int(path[1:]) >= self.pages:
            return default
        number = int(path[1:])
        if self.held and number >= self.held:
            self.let_go.wait(PATIENCE)
        return html(
            f"Page number {number}", f"Here lives {animal(number)}, who is number{number} of all the animals.",
            STORY[number % len(STORY)], links=f'<a href="/{number + 1}">next</a>',
        )  # fmt: skip


def animal(number: int) -> str:
    """A name that no other page has."""
    return f"{ANIMALS[number % 10]}{ANIMALS[number // 10 % 10]}"


def begin(*arguments: str | Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "gossamer", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip


def until(met: Callable[[], object], seconds: float) -> None:
    patience = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < patience, "not in time"
        time.sleep(0.1)


def paths(folder: Path, query: str) -> list[str]:
    """Of the hits; none as long as there is no index."""
    ran = gossamer("search", folder, query, "--json")
    assert_plain(ran)
    return [path[1:] for path in Found(ran).paths] if ran.code in (0, 1) else []


@pytest.mark.slow
def test_a_process_that_a_killed_crawl_left_behind_costs_the_next_one_nothing(tmp_path: Path) -> None:
    """It makes the tables still: the one of the crawl that goes on waits for its turn, and then takes all."""
    folder = tmp_path / "d"
    pages = Chain(30, held=20)
    with site_of(pages) as address:
        first = gossamer(
            "crawl", f"{address}/", "--min-delay", "0", "--max-pages", "5", "--dir", folder, "-q", SEARCH_ON
        )
        assert first.code == 0, first.err
        left_behind = os.open(folder / "documents", os.O_RDONLY)
        try:
            fcntl.flock(left_behind, fcntl.LOCK_EX)
            crawl = begin("resume", folder, "--max-pages", "30", "-q")
            with pytest.raises(subprocess.TimeoutExpired):
                crawl.wait(10)  # time for one that does not wait to give up
            pages.let_go.set()
            until(lambda: (folder / "crawl.log").read_text().count('"became":"done"') >= 30, PATIENCE)
        finally:
            pages.let_go.set()
            os.close(left_behind)
        _, err = crawl.communicate(timeout=PATIENCE)
    assert (crawl.returncode, err) == (0, "")
    assert paths(folder, animal(29)) == ["29"]


@pytest.mark.slow
def test_index_waits_for_its_turn_if_it_is_to(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with site_of(Chain(3)) as address:
        indexed(crawled(address, folder))
    shutil.rmtree(folder / INDEX)
    held = os.open(folder / "documents", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert gossamer("index", folder).code == 2
        waits = begin("index", folder, "--wait", "-q")
        stopped = begin("index", folder, "--wait", "-q")
        with pytest.raises(subprocess.TimeoutExpired):
            waits.wait(3)
        stopped.send_signal(signal.SIGTERM)
        stopped.communicate(timeout=PATIENCE)
        assert stopped.returncode == 130
    finally:
        os.close(held)
    assert waits.communicate(timeout=PATIENCE) == ("", "")
    assert paths(folder, animal(2)) == ["2"]


@pytest.mark.slow
def test_a_crawl_on_a_disk_that_nobody_may_write_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    disk = Disk(tmp_path / "disk")
    try:
        folder = disk.place / "d"
        with site_of({"/fox": html("The fox", *STORY), "/again": html("The fox, again", *STORY)}) as address:
            indexed(crawled(address, folder))
        (tmp_path / "fox.txt").write_text(" ".join(STORY))
        disk.let_nobody_write()
        assert search(folder, "lighthouse").total == 2
        assert len(similar(folder, tmp_path / "fox.txt")) == 2
        with Searching([folder]) as searching:
            assert [searching.search("boathouse", facets=True).total for _ in range(2)] == [2, 2]
    finally:
        disk.close()
    assert not [*(tmp_path / "tmp").glob("gossamer-*")], "nothing is left behind"


@pytest.mark.slow
def test_a_running_crawl_is_searched(tmp_path: Path) -> None:
    pages = Chain(30, held=20)
    with site_of(pages) as address:
        # The page that is held back is waited for, however long the index takes.
        held = ("--set", f"fetch.idle_timeout={PATIENCE}s")
        crawl = begin(
            "crawl", f"{address}/", "--min-delay", "0", "--dir", tmp_path / "d", "-q", SEARCH_ON, *held
        )
        try:
            until(lambda: paths(tmp_path / "d", animal(19)) == ["19"], PATIENCE)
            assert crawl.poll() is None, "it runs, and its last pages are held back"
            assert paths(tmp_path / "d", animal(25)) == []
        finally:
            pages.let_go.set()
            _, err = crawl.communicate(timeout=PATIENCE)
    assert crawl.returncode == 0, err
    assert paths(tmp_path / "d", animal(29)) == ["29"]
    assert paths(tmp_path / "d", animal(3)) == ["3"]


@pytest.mark.slow
def test_a_crawl_that_is_gone_on_with(tmp_path: Path) -> None:
    with site_of(Chain(30)) as address:
        folder = indexed(crawled(address, tmp_path / "d", "--max-pages", "10"))
        assert paths(folder, animal(3)) == ["3"]
        assert gossamer("resume", folder, "-q", "--max-pages", "1000").code == 0
    behind = gossamer("search", folder, animal(25))
    assert behind.code in (0, 1)
    assert "index" in behind.out + behind.err, "it is said how far behind the index is, and what to do"
    indexed(folder)
    assert paths(folder, animal(25)) == ["25"]
    assert paths(folder, animal(3)) == ["3"]
    assert search(folder, "site:127.0.0.1", "--limit", "1000").total == 30


class Changing(dict[str, Page]):
    """What a page says depends on how often it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def get(self, path: str, default: Page | None = None) -> Page | None:  # type: ignore[override]
        self.asked[path] += 1
        first = self.asked[path] == 1
        links = '<a href="/changes">1</a> <a href="/stays">2</a> <a href="/goes">3</a> <a href="/comes">4</a>'
        said = {
            "/": html("Contents", "These are all the pages of a small site.", links=links),
            "/changes": html(
                "Changes", "There was a porcupine here." if first else "Now it is a hedgehog instead."
            ),
            "/stays": html("Stays", "A tortoise is here today as it was yesterday."),
            "/goes": html("Goes", "A swallow is here until the autumn.") if first else None,
            "/comes": None if first else html("Comes", "A stork is here since the spring."),
        }
        return said.get(path) or default


@pytest.mark.slow
def test_the_newest_capture_wins(tmp_path: Path) -> None:
    with site_of(Changing()) as address:
        line = [
            sys.executable,
            revisiting_crawl.__file__,
            f"{address}/",
            str(tmp_path / "d"),
            "2",
            "0.5",
            "3",
        ]
        subprocess.run(line, check=True, timeout=PATIENCE)
    indexed(tmp_path / "d")
    assert paths(tmp_path / "d", "hedgehog") == ["changes"]
    assert paths(tmp_path / "d", "porcupine") == []
    assert paths(tmp_path / "d", "tortoise") == ["stays"]
    assert paths(tmp_path / "d", "stork") == ["comes"]
    assert paths(tmp_path / "d", "swallow") == ["goes"], "it is gone, but not from the archive"
    everything = paths(tmp_path / "d", "site:127.0.0.1")
    assert len(everything) == len(set(everything)) == 5


@pytest.mark.slow
def test_an_index_made_in_steps_is_that_made_at_once(tmp_path: Path) -> None:
    with site_of(Chain(30)) as address:
        folder = crawled(address, tmp_path / "steps", "--max-pages", "7")
        for more in (7, 7, 1_000):
            indexed(folder)
            assert gossamer("resume", folder, "-q", "--max-pages", str(more)).code == 0
        indexed(folder)
    shutil.copytree(folder, once := tmp_path / "once")
    shutil.rmtree(once / INDEX)
    queries = [animal(number) for number in range(0, 30, 5)] + [
        "lighthouse",
        "title:number",
        "site:127.0.0.1",
    ]
    assert answers(indexed(once), queries) == answers(folder, queries)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with site_of(Chain(60)) as address:
        yield crawled(address, tmp_path_factory.mktemp("chain") / "d")


CHAIN_QUERIES = [
    *(animal(number) for number in range(0, 60, 7)),
    '"brown fox"',
    "title:number",
    "site:127.0.0.1",
]


@pytest.fixture(scope="module")
def whole(chain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(Path(shutil.copytree(chain, tmp_path_factory.mktemp("whole") / "d")))


def killed(folder: Path, seconds: float) -> bool:
    """Whether `gossamer index` was killed, with all its processes, before it ended."""
    process = begin("index", folder, "-q", "--once")
    try:
        process.wait(seconds)
        ended = True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        ended = False
    process.communicate()
    return not ended


@pytest.mark.slow
def test_killed_while_it_indexes(chain: Path, whole: Path, tmp_path: Path) -> None:
    wanted = answers(whole, CHAIN_QUERIES)
    shutil.copytree(chain, folder := tmp_path / "d")
    kills = [killed(folder, seconds) for seconds in (0.6, 1.1, 1.6)]
    assert any(kills)
    ran = gossamer("search", folder, "lighthouse")
    assert ran.code in (0, 1, 2)
    assert_plain(ran)
    assert answers(indexed(folder), CHAIN_QUERIES) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("only_the_index", [False, True])
def test_killed_ten_times_while_it_indexes(
    chain: Path, whole: Path, tmp_path: Path, only_the_index: bool
) -> None:
    wanted, chance, kills = answers(whole, CHAIN_QUERIES), dice(f"index {only_the_index}"), 0
    took = 0.0
    for turn in range(30):
        shutil.copytree(whole if only_the_index else chain, folder := tmp_path / str(turn))
        if only_the_index:
            shutil.rmtree(folder / INDEX)
        if not turn:  # how long it takes here, so that kills fall into it on any machine
            began = time.monotonic()
            assert not killed(folder, PATIENCE)
            took = time.monotonic() - began
        while kills < 10 and turn and killed(folder, chance.uniform(0.2, 0.9) * took):
            kills += 1
        assert answers(indexed(folder), CHAIN_QUERIES) == wanted
        if kills == 10:
            return
    raise AssertionError(f"it was killed only {kills} times")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_a_crawl_with_search_killed_five_times(tmp_path: Path, number: int) -> None:
    chance, kills = dice(f"crawl {number}"), 0
    with SimulatedWeb(small_world(seed=number + 40)) as web:
        life = Life(web, tmp_path / "d", {"politeness.min_delay": "80ms"})
        config = life.write_settings()
        process = life.begin("crawl", "--config", str(config), "--dir", str(life.folder), SEARCH_ON)
        for _ in range(5):
            kills += life.kill_after(process, chance.uniform(0.5, 1.5)).killed
            process = (
                life.begin_resume()
                if life.begun
                else life.begin("crawl", "--config", str(config), "--dir", str(life.folder), SEARCH_ON)
            )
        ended = life.end(process)
        assert ended.status == 0, ended.stderr
        assert kills == 5
        assert_complete(life)
    indexed(life.folder)
    shutil.copytree(life.folder, again := tmp_path / "again")
    shutil.rmtree(again / INDEX)
    lines = (life.folder / "index.cdxj").read_text().splitlines()
    hosts = sorted(
        {json.loads(line[line.index("{") :])["url"].split("/")[2].partition(":")[0] for line in lines}
    )
    queries = [f"site:{host}" for host in hosts] + ["type:html", "the", "title:page"]
    assert answers(indexed(again), queries) == answers(life.folder, queries)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "disk", 96 * MIB)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 4_096, 60_000, 400_000])
def test_no_room_for_the_index(chain: Path, whole: Path, tmp_path: Path, disk: Disk, room: int) -> None:
    shutil.copytree(chain, folder := disk.place / "d")
    disk.leave(room)
    ran = gossamer("index", folder, "-q", "--once")
    if room < 60_000:
        assert ran.code == 3
    if ran.code:
        assert ran.code == 3, ran.err
        assert "space" in ran.err or "room" in ran.err, ran.err
    assert_plain(ran)
    asked = gossamer("search", folder, "lighthouse")
    assert asked.code in (0, 1, 2, 3)
    assert_plain(asked)
    disk.give_back()
    assert gossamer("check", folder).code == 0
    assert answers(indexed(folder), CHAIN_QUERIES) == answers(whole, CHAIN_QUERIES)


@pytest.mark.slow
@pytest.mark.parametrize("room_comes", [False, True])
def test_the_crawl_goes_on_without_room_for_its_index(tmp_path: Path, disk: Disk, room_comes: bool) -> None:
    """And the index with it, once there is room: nobody has to ask for that."""
    pages = Chain(60, held=40)
    with site_of(pages) as address:
        folder = crawled(address, tmp_path / "d", "--max-pages", "5", SEARCH_ON)
        shutil.move(folder / INDEX, disk.place / INDEX)
        (folder / INDEX).symlink_to(disk.place / INDEX)
        disk.leave(0)
        crawl = begin("resume", folder, "-q", "--max-pages", "1000")
        try:
            until(lambda: state_of(folder / DOCUMENTS).documents >= 30, PATIENCE)
            if room_comes:
                disk.give_back()
        finally:
            pages.let_go.set()
            said = Ran(0, *crawl.communicate(timeout=PATIENCE))
    assert crawl.returncode == 0, said
    assert_plain(said)
    assert json.loads((folder / "report.json").read_bytes())["pages"] == 60
    assert gossamer("check", folder).code == 0
    if not room_comes:
        disk.give_back()
        indexed(folder)
    assert answers(folder, CHAIN_QUERIES)["site:127.0.0.1"][0] == 60


def test_who_waits_for_his_turn_ends_with_the_crawl_that_began_him(
    chain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a crawl that is killed twenty times leaves nineteen behind that wait for the first."""
    parents = iter([7, 7])
    monkeypatch.setattr(os, "getppid", lambda: next(parents, 1))
    held = lock_folder(chain / "documents", "does it")
    try:
        ran = here("index", chain, "--wait", "-q")
    finally:
        os.close(held)
        (chain / "documents").rmdir()
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.slow
def test_two_at_once(chain: Path, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(chain, folder := tmp_path / "d")
    both = [begin("index", folder, "-q", "--once") for _ in range(2)]
    ended = [(process.communicate(timeout=PATIENCE), process.returncode) for process in both]
    assert sorted(code for _, code in ended)[0] == 0
    for (_, err), code in ended:
        assert "Traceback" not in err
        assert code == 0 or "another process" in err
    assert answers(indexed(folder), CHAIN_QUERIES) == answers(whole, CHAIN_QUERIES)


@pytest.mark.slow
def test_the_folder_is_moved(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, moved := tmp_path / "elsewhere" / "under another name")
    assert paths(moved, animal(7)) == ["7"]


@pytest.mark.slow
@needs_ray
@never_two_at_once
def test_agents_of_a_cluster_are_searched_together(tmp_path: Path) -> None:
    hosts = [f"127.0.3.{number}" for number in range(1, 7)]
    folder = tmp_path / "c"
    with (
        site_of(Chain(5), hosts[0]) as a, site_of(Chain(5), hosts[1]) as b, site_of(Chain(5), hosts[2]) as c,
        site_of(Chain(5), hosts[3]) as d, site_of(Chain(5), hosts[4]) as e, site_of(Chain(5), hosts[5]) as f,
    ):  # fmt: skip
        ran = gossamer("cluster", "crawl", *(f"{each}/" for each in (a, b, c, d, e, f)), "--agents", "2", "--cores", "0.5",
                       "--min-delay", "0", "--dir", folder, "-q")  # fmt: skip
        assert ran.code == 0, ran.err
    indexed(folder)
    found = search(folder, f"title:number {animal(3)}", "--limit", "100")
    assert {each.rpartition("/")[2] for each in found.paths} == {"3"}
    assert found.facets["site"] == dict.fromkeys(hosts, 1), "those that are near-duplicates among them"


def children(pid: int) -> list[int]:
    """Of a process that may be gone."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def kill(*pids: int) -> None:
    """Whatever of them is there still."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_twenty_kills_of_a_crawl_and_its_index_leave_what_there_is_without_any(tmp_path: Path) -> None:
    """Of the crawl, whose index goes on and is in the way of the next one's; of the index, which the crawl begins
    again; of both."""
    chance, folder, said = dice("twenty kills"), tmp_path / "d", tmp_path / "said"
    with SimulatedWeb(small_world(seed=18, exponent=0.0)) as web, said.open("w") as err:
        whole = Life(web, tmp_path / "whole", {"politeness.min_delay": "5ms"})
        assert whole.crawl().status == 0
        life = Life(web, folder, {"politeness.min_delay": "2s"})
        first = ("crawl", "--config", str(life.write_settings()), "--dir", str(folder), SEARCH_ON)

        def begun() -> "subprocess.Popen[bytes]":
            how = ("resume", str(folder)) if life.begun else first
            return subprocess.Popen([*life.command, *how], stdout=err, stderr=err)

        crawl = begun()
        for victims in islice(cycle(["crawl", "index", "both"]), 20):
            until(partial(children, crawl.pid), PATIENCE)
            time.sleep(chance.uniform(0, 2.5))
            assert crawl.poll() is None, "it ended before it was killed twenty times"
            if victims != "crawl":
                kill(*children(crawl.pid))
            if victims != "index":
                crawl.kill()
                assert crawl.wait() == -signal.SIGKILL
                crawl = begun()
        until(lambda: life.run("set", str(folder), "politeness.min_delay=5ms").status == 0, PATIENCE)
        assert crawl.wait(PATIENCE) == 0, said.read_text()
        assert_complete(life)
    assert listed(folder) == listed(whole.folder)
    shutil.copytree(folder, again := tmp_path / "again")
    for made in (INDEX, "documents", "similar"):
        shutil.rmtree(again / made)
    indexed(again)
    assert everything(Reader(folder)) == everything(Reader(again))
    assert near_duplicates(folder) == near_duplicates(again)
    texts = {text for text in said_by(again) if text and len(text.split()) > 50}
    queries = ["", "type:html", "title:page", *(f"site:{host}" for host in hosts_of(again))]
    for text in chance.sample(sorted(texts), 30):
        words = chance.sample(text.split(), 3)
        queries += [words[0], " OR ".join(words), f'"{text[40:90]}"']
    assert len(queries) > 100
    assert answers(folder, queries) == answers(again, queries)
    assert any(total for total, _ in answers(again, queries[-30:]).values())


def listed(folder: Path) -> list[dict[str, object]]:
    """What a crawl knows of each URL, times left out."""
    ran = here("list", folder, "--json", "--columns", "url,state,status,type,bytes")
    return sorted(map(json.loads, ran.out.splitlines()), key=lambda line: line["url"])


def near_duplicates(folder: Path) -> dict[str, object]:
    state, known = opened(folder / "similar") or (None, None)
    assert state is not None and known is not None
    return {"mark": state.mark, **held(known)}


def hosts_of(folder: Path) -> list[str]:
    urls = {str(line["url"]) for line in listed(folder)}
    return sorted({url.split("/")[2].partition(":")[0] for url in urls})


def said_by(folder: Path) -> list[str]:
    """The texts of a crawl's documents."""
    return [
        text
        for path in sorted((folder / "documents").glob("documents-*.parquet"))
        for text in pyarrow.parquet.read_table(path, columns=["text"])["text"].to_pylist()
    ]
