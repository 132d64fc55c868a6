"""Crawls of one machine share each host's visits and rests, whoever dies and whenever."""

import errno
import heapq
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import lmdb
import msgspec
import pytest
from examples import examples
from frontier_world import FrontierWorld
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import PATIENCE

from gossamer.frontier.gates import shared_file, shared_rests
from gossamer.frontier.gates.shared_gate import SHARED
from gossamer.frontier.gates.shared_rests import (
    FULL_WAIT,
    KEEP_FOR,
    SWEEP_EVERY,
    Return,
    SharedRests,
    boot_micros,
)
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Blame, Done, Retry
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import RetryCode
from gossamer.model.reasons.reason import because, text
from gossamer.policy.visits.shared_turns import FORGET, KEEP_AFTER

SECOND = 1_000_000
REST = 4_000
VISIT = 2_000
VISITOR = Path(__file__).with_name("shared_visitor.py")


# The table …


@pytest.fixture(autouse=True)
def _small_files(monkeypatch):
    monkeypatch.setattr(shared_rests, "MAX_BYTES", 2 << 20)


@pytest.fixture
def join(tmp_path):
    tables = []

    def another(folder=tmp_path / "shared", **options):
        tables.append(SharedRests(folder, **options))
        return tables[-1]

    yield another
    for table in tables:
        table.close()


def test_crawls_have_numbers_of_their_own_and_see_one_another(join):
    one, other = join(), join()
    assert one.number != other.number and f"as {one.number}" in repr(one)
    assert len(one) == 0
    assert one.claim("a", SECOND, SECOND, 1) == 0
    assert 0 < other.claim("a", SECOND, SECOND, 1) <= SECOND
    assert other.claim("b", SECOND, SECOND, 1) == 0
    assert [party.crawl for party in other.look("a").parties] == [one.number, other.number]
    assert other.look("nobody asked") is None


def test_what_a_crawl_claims_lapses_when_it_leaves(tmp_path, join):
    leaver = SharedRests(tmp_path / "shared")
    other = join()
    assert leaver.claim("a", REST, REST, 1) == 0
    leaver.close()
    assert REST / 2 < other.claim("a", REST, REST, 1) <= REST
    assert other.look("a").visits == 0


def test_the_folder_is_made_and_leaving_lets_go_of_all_files(tmp_path):
    folder = tmp_path / "not there" / "shared"
    SharedRests(folder).close()
    assert len(list(folder.iterdir())) == 3
    opened = [file.resolve() for file in Path("/proc/self/fd").iterdir()]
    assert not [file for file in opened if file.is_relative_to(tmp_path)]


def test_a_number_is_never_given_twice(tmp_path, join):
    first = SharedRests(tmp_path / "shared")
    first.close()
    assert join().number > first.number


def test_a_table_that_is_removed_under_a_crawl_is_begun_anew(tmp_path, join):
    one = join()
    for path in (tmp_path / "shared").glob("*.mdb*"):
        path.rename(tmp_path / path.name)
    other = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, pathlib; from gossamer.frontier.gates.shared_rests import SharedRests;"
            "print(SharedRests(pathlib.Path(sys.argv[1])).number)",
            tmp_path / "shared",
        ],
        capture_output=True,
        check=True,
    )
    assert int(other.stdout) > one.number, "the lock on the number tells"


def test_tables_of_earlier_boots_are_removed(tmp_path, join):
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o700)
    old = folder / f"rests-{shared_rests.FORMAT}-another-boot.mdb"
    old.write_bytes(b"x")
    (folder / "not ours").write_bytes(b"x")
    join(folder)
    names = {path.name for path in folder.iterdir()}
    assert old.name not in names and "not ours" in names
    assert len(names) == 4, names


def test_a_folder_that_others_can_write_is_refused(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(ConfigError, match=r"politeness\.shared"):
        SharedRests(folder)


def test_where_it_cannot_work_it_says_so_before_it_makes_anything(tmp_path, monkeypatch):
    def refuse(what):
        raise ConfigError(f"not here: {what}")

    monkeypatch.setattr(shared_rests, "only_on_linux", refuse)
    with pytest.raises(ConfigError, match=r"not here: .*politeness\.shared.*server_by"):
        SharedRests(tmp_path / "shared")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_used_is_a_storage_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match=r"politeness\.shared"):
        SharedRests(tmp_path / "file" / "below")


def test_what_nobody_needs_is_forgotten(join):
    clock = [1_000 * SECOND]
    table = join(now=lambda: clock[0])
    table.claim("long", SECOND, SECOND, 1)
    table.give_back([Return("long", 1_000_000 * SECOND, True)])
    table.claim("under way", SECOND, SECOND, 1)
    largest = 0
    for number in range(6_000):
        assert table.claim(f"h{number}", SECOND, SECOND, 1) == 0
        table.give_back([Return(f"h{number}", SECOND, True)])
        clock[0] += FORGET // 500  # 500 hosts are known at any time
        largest = max(largest, len(table))
    assert largest < 3 * 500
    assert table.look("long").due > clock[0]
    assert table.look("under way").visits == 1


def test_a_host_is_forgotten_from_when_nothing_of_it_need_be_known(join):
    clock = [1_000 * SECOND]
    table = join(now=lambda: clock[0])
    visit(table, "a", rest=SECOND)
    idle_from = table.look("a").idle_from
    for clock[0], known in ((idle_from - 1, 1), (idle_from, 0)):
        table.sweep(10)
        assert len(table) == known


def test_visits_of_the_dead_are_swept_too(tmp_path, join):
    clock = [1_000 * SECOND]
    leaver, other = SharedRests(tmp_path / "shared"), join(now=lambda: clock[0])
    clock[0] = boot_micros()
    for number in range(100):
        leaver.claim(f"h{number}", SECOND, SECOND, 1)
    leaver.close()
    clock[0] += SECOND
    other.sweep(1_000)
    assert len(other) == 100
    clock[0] += 2 * FORGET
    other.sweep(1_000)
    other.sweep(1_000)
    assert len(other) == 0


def test_a_full_table_makes_new_hosts_wait(join, monkeypatch):
    clock = [1_000 * SECOND]
    table = join(now=lambda: clock[0])
    assert table.claim("known", SECOND, SECOND, 1) == 0
    assert shared_rests._ROOM < 1, "it is full before nothing can be written any more"
    monkeypatch.setattr(shared_rests, "_ROOM", 0)
    table.sweep(1)
    assert table.claim("new", SECOND, SECOND, 1) == FULL_WAIT
    table.give_back([Return("known", SECOND, True)])
    clock[0] += SECOND
    assert table.claim("known", SECOND, SECOND, 1) == 0
    monkeypatch.undo()
    for _ in range(SWEEP_EVERY):
        table.claim("new", SECOND, SECOND, 1)
    assert table.look("new") is not None


def test_a_full_table_forgets_long_rests_that_nobody_asks_for(join, monkeypatch):
    clock = [1_000 * SECOND]
    table = join(now=lambda: clock[0])
    for number in range(600):
        table.claim(f"h{number}", SECOND, SECOND, 1)
        if number:
            table.give_back([Return(f"h{number}", 100_000 * SECOND, True)])
    monkeypatch.setattr(shared_rests, "_ROOM", 0.02)
    clock[0] += FORGET + 1
    table.sweep(1)
    waits = 0
    while table.claim("new", SECOND, SECOND, 1) == FULL_WAIT:
        waits += 1
        assert waits < 10
    assert waits >= 1
    assert table.look("h0").visits == 1, "a visit under way is never forgotten"


# Keeping …


def visit(table: SharedRests, name: str, times: int = 1, rest: int = 0) -> None:
    for _ in range(times):
        assert table.claim(name, rest, rest, 1) == 0
        table.give_back([Return(name, rest, True)])


def changes_of(table: SharedRests) -> int:
    return table._environment.info()["last_txnid"]


def test_a_host_that_only_one_crawl_visits_costs_no_transactions(join):
    table = join()
    visit(table, "a", KEEP_AFTER)
    before = changes_of(table)
    visit(table, "a", 100)
    assert changes_of(table) == before
    assert table.look("a").visits == 0
    assert table.claim("a", 0, 0, 2) == 0 == table.claim("a", 0, 0, 2) and table.claim("a", 0, 0, 2) > 0
    assert table.look("a").visits == 2


def test_who_asks_for_a_host_that_is_kept_gets_it_when_the_keeper_does_anything(join):
    clock = [1_000 * SECOND]
    reconciler, other = (join(now=lambda: clock[0]) for _ in range(2))
    visit(reconciler, "a", KEEP_AFTER)
    visit(reconciler, "b", KEEP_AFTER)
    clock[0] += 10 * SECOND
    for _ in range(3):
        clock[0] += (wait := other.claim("a", SECOND, SECOND, 1))
        assert 0 < wait < SECOND
    assert reconciler.claim("c", SECOND, SECOND, 1) == 0
    assert other.claim("a", SECOND, SECOND, 1) == 0 == other.claim("b", SECOND, SECOND, 1)
    assert reconciler.claim("a", SECOND, SECOND, 1) > 0


def test_a_keeper_that_does_nothing_listens(join):
    reconciler, other = join(), join()
    visit(reconciler, "a", KEEP_AFTER)
    reconciler.listen()
    assert other.claim("a", 0, 0, 1) > 0
    reconciler.listen()
    time.sleep(0.03)
    assert other.claim("a", 0, 0, 1) == 0


def test_what_could_not_be_put_back_is_put_back_after_the_next_ring(join, monkeypatch):
    reconciler, other = join(), join()
    visit(reconciler, "a", KEEP_AFTER)
    assert other.claim("a", 0, 0, 1) > 0
    with monkeypatch.context() as patch:
        patch.setattr(shared_rests, "_value", full)
        with pytest.raises(StorageError):
            reconciler.listen()
    assert other.claim("a", 0, 0, 1) > 0, "it is kept still"
    reconciler.listen()
    time.sleep(0.03)
    assert other.claim("a", 0, 0, 1) == 0


def full(_):
    raise lmdb.MapFullError("no room")


def test_the_rest_of_a_kept_host_holds_for_who_comes(join):
    clock = [1_000 * SECOND]
    reconciler, other = (join(now=lambda: clock[0]) for _ in range(2))
    for _ in range(KEEP_AFTER + 3):
        visit(reconciler, "a", rest=SECOND)
        clock[0] += SECOND
    visit(reconciler, "a", rest=SECOND)
    clock[0] += 1_000
    assert other.claim("a", 5_000, 5_000, 1) > 0
    reconciler.listen()
    assert other.claim("a", 5_000, 5_000, 1) == SECOND - 1_000


def test_a_dead_keeper_leaves_its_hosts_with_a_rest(tmp_path, join):
    clock = [1_000 * SECOND]
    leaver, other = SharedRests(tmp_path / "shared", now=lambda: clock[0]), join(now=lambda: clock[0])
    for _ in range(KEEP_AFTER + 1):
        visit(leaver, "a", rest=SECOND)
        clock[0] += SECOND
    visit(leaver, "a", rest=SECOND)
    leaver._let_go()  # as the kernel would
    assert other.claim("a", 1_000, 1_000, 1) == 2 * SECOND
    clock[0] += 2 * SECOND
    assert other.claim("a", 1_000, 1_000, 1) == 0


def test_who_leaves_well_leaves_no_more_than_the_rest(tmp_path, join):
    clock = [1_000 * SECOND]
    leaver, other = SharedRests(tmp_path / "shared", now=lambda: clock[0]), join(now=lambda: clock[0])
    for _ in range(KEEP_AFTER + 1):
        visit(leaver, "a", rest=SECOND)
        clock[0] += SECOND
    leaver.close()
    assert other.claim("a", SECOND, SECOND, 1) == 0


def test_a_long_rest_of_a_kept_host_is_known_at_once_and_survives_its_keeper(tmp_path, join):
    clock = [1_000 * SECOND]
    leaver, other = SharedRests(tmp_path / "shared", now=lambda: clock[0]), join(now=lambda: clock[0])
    visit(leaver, "a", KEEP_AFTER + 1)
    assert leaver.claim("a", 0, 0, 1) == 0
    leaver.give_back([Return("a", 600 * SECOND, True)])
    leaver._let_go()
    assert other.claim("a", 0, 0, 1) == 600 * SECOND


def test_a_host_that_is_owed_more_than_before_is_claimed_in_the_table(tmp_path, join):
    clock = [1_000 * SECOND]
    leaver, other = SharedRests(tmp_path / "shared", now=lambda: clock[0]), join(now=lambda: clock[0])
    visit(leaver, "a", KEEP_AFTER + 1)
    assert leaver.claim("a", 0, 9 * SECOND, 1) == 0
    leaver._let_go()
    assert other.claim("a", 0, 0, 1) == 9 * SECOND


def test_the_table_hears_of_a_kept_host_now_and_then(join):
    clock = [1_000 * SECOND]
    reconciler, other = (join(now=lambda: clock[0]) for _ in range(2))
    visit(reconciler, "a", KEEP_AFTER)
    for _ in range(100):
        clock[0] += KEEP_FOR // 4
        visit(reconciler, "a")
        assert clock[0] - other.look("a").parties[0].asked <= KEEP_FOR


def test_hosts_that_are_not_visited_any_more_make_room_for_others_to_be_kept(join, monkeypatch):
    monkeypatch.setattr(shared_rests, "KEEP_AT_MOST", 10)
    clock = [1_000 * SECOND]
    table = join(now=lambda: clock[0])
    for number in range(30):
        visit(table, f"h{number}", KEEP_AFTER)
    assert len(table._kept) == 10
    clock[0] += KEEP_FOR
    visit(table, "new", KEEP_AFTER)
    visit(table, "new")
    assert set(table._kept) == {"new"}


@settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    crawls=st.lists(
        st.tuples(
            st.integers(0, 2 * SECOND),  # rest
            st.integers(SECOND // 10, SECOND),  # how long its visits take
            st.integers(0, 30 * SECOND),  # when it begins
            st.integers(SECOND // 10, SECOND),  # how often it listens
        ),
        min_size=2,
        max_size=3,
    ),
    death=st.integers(1, 40 * SECOND),
)
def test_rests_are_kept_by_crawls_that_keep_come_and_die(tmp_path_factory, crawls, death):
    """A simulation: crawls begin one after the other, visit one host as often as they may; the first dies."""
    folder, clock = tmp_path_factory.mktemp("turns") / "shared", [1_000 * SECOND]
    start = clock[0]
    tables = [SharedRests(folder, now=lambda: clock[0]) for _ in crawls]
    agenda = [(start + begins, number, "ask") for number, (_, _, begins, _) in enumerate(crawls)]
    agenda += [(start + every, number, "listen") for number, (_, _, _, every) in enumerate(crawls)]
    agenda.append((start + death, 0, "die"))
    heapq.heapify(agenda)
    visits: list[tuple[int, int, int]] = []  # (begun, ended, crawl)
    begun: dict[int, int] = {}
    dead = False
    while agenda[0][0] < start + 60 * SECOND:
        clock[0], number, what = heapq.heappop(agenda)
        rest, took, _, every = crawls[number]
        if dead and number == 0:
            continue
        if what == "die":
            dead = True
            tables[0]._let_go()
            if 0 in begun:
                visits.append((begun.pop(0), clock[0], 0))
        elif what == "listen":
            tables[number].listen()
            heapq.heappush(agenda, (clock[0] + every, number, "listen"))
        elif what == "end":
            visits.append((begun.pop(number), clock[0], number))
            tables[number].give_back([Return("a", rest, True)])
            heapq.heappush(agenda, (clock[0] + rest, number, "ask"))
        elif wait := tables[number].claim("a", rest, rest, 1):
            heapq.heappush(agenda, (clock[0] + wait, number, "ask"))
        else:
            assert not begun, "two at once"
            begun[number] = clock[0]
            heapq.heappush(agenda, (clock[0] + took, number, "end"))
    for table in tables[1:]:
        table.close()
    visits.sort()
    for before, after in pairwise(visits):
        assert after[0] >= before[1] + crawls[before[2]][0], (before, after)
    turns = Counter(crawl for _, _, crawl in visits)
    slowest = max(rest + took for rest, took, _, _ in crawls)
    for number, (_, _, begins, _) in list(enumerate(crawls))[1:]:
        # A rest that the dead one owed twice, a second to listen, and everybody's turn before each of ours.
        mine = (60 * SECOND - begins - 6 * SECOND) // (len(crawls) * (slowest + SECOND))
        assert turns[number] >= max(1, mine // 2), (turns, visits)


def test_all_of_the_file_is_allocated(tmp_path, join):
    join()
    table = next((tmp_path / "shared").glob("*.mdb"))
    assert table.stat().st_blocks * 512 >= shared_rests.MAX_BYTES


@pytest.mark.parametrize("fits", [0, 1])
def test_a_full_disk_is_a_storage_error(tmp_path, monkeypatch, fits):
    """The table has no room, or what stands beside it."""
    allocate, asked = os.posix_fallocate, []

    def full(*what):
        asked.append(what)
        if len(asked) > fits:
            raise OSError(errno.ENOSPC, "No space left on device")
        allocate(*what)

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(StorageError, match="No space left"):
        SharedRests(tmp_path / "shared")
    assert not shared_file._open
    monkeypatch.undo()
    SharedRests(tmp_path / "shared").close()  # a file may be open once in a process


def test_the_last_user_of_the_process_closes_the_table(tmp_path):
    table = tmp_path / "rests"
    users = [shared_file.share(table, 1 << 20) for _ in range(3)]
    assert len(set(map(id, users))) == 1
    for _ in range(2):
        shared_file.release(users[0])
        users[0].stat()
    shared_file.release(users[0])
    assert not shared_file._open
    with pytest.raises(lmdb.Error):
        users[0].stat()


def test_the_table_is_swept_a_run_at_a_time(join, monkeypatch):
    monkeypatch.setattr(shared_rests, "SWEEP_EVERY", 3)
    monkeypatch.setattr(shared_rests, "SWEPT", 3)
    clock = [1_000 * SECOND]
    table = join(now=lambda: clock[0])
    names = sorted("abcdef", key=shared_rests._key)
    for name in names:
        visit(table, name, rest=SECOND)
    assert len(table) == 6, "each was needed when it was looked at"
    table._hand = b""
    table.sweep(3)
    clock[0] += 2 * FORGET
    known = []
    for _ in range(4):
        table.sweep(3)
        known.append([name for name in names if table.look(name)])
    assert known == [names[:3], names[:3], [], []], "after the end it begins anew"
    known = []
    for number in range(4):
        table.claim(f"new{number}", SECOND, SECOND, 1)
        table.give_back([Return(f"new{number}", SECOND, False)])
        clock[0] += 2 * FORGET
        known.append(len(table))
    assert known[-1] < 4, "and with every so manieth claim"


# Processes …


def visitor(path: Path, length: int = VISIT) -> subprocess.Popen[bytes]:
    arguments = [path / "shared", path / "log", 2, REST, length, path / "stop"]
    return subprocess.Popen([sys.executable, VISITOR, *map(str, arguments)])


def lines_of(log: Path, pid: int) -> int:
    return log.read_bytes().count(b" %d\n" % pid) if log.exists() else 0


def wait_for_visits(log: Path, pid: int, number: int) -> None:
    """Wait until a process has written so many more lines."""
    patience = time.monotonic() + PATIENCE
    number += lines_of(log, pid)
    while lines_of(log, pid) < number:
        assert time.monotonic() < patience
        time.sleep(0.002)


def test_processes_take_turns_and_are_killed_at_any_moment(tmp_path):
    folder, log = tmp_path / "shared", tmp_path / "log"
    dice = random.Random(5)
    steady = [visitor(tmp_path) for _ in range(2)]
    killed: dict[int, int] = {}
    while len(killed) < 8:
        # Every other one dies in its first visit, the others anywhere.
        victim = visitor(tmp_path, VISIT if len(killed) % 2 else 60 * SECOND)
        wait_for_visits(log, victim.pid, 1)
        time.sleep(0.02 * dice.random())
        killed[victim.pid] = boot_micros()  # before: this process may be made to wait after it
        victim.kill()
        assert victim.wait() == -signal.SIGKILL
    for process in steady:
        wait_for_visits(log, process.pid, 200)
    (tmp_path / "stop").touch()
    assert [process.wait(PATIENCE) for process in steady] == [0, 0]
    table = SharedRests(folder)
    for host in ("h0", "h1"):
        assert table.look(host).visits == 0
    table.close()
    visits = read_log(log, killed)
    assert sum(ended is None for _, _, ended, _ in visits) >= 4
    for host in ("h0", "h1"):
        here = sorted(visit[1:] for visit in visits if visit[0] == host)
        for (begun, ended, pid), (next_begun, _, _) in pairwise(here):
            over = ended if ended is not None else killed[pid]
            assert next_begun >= max(begun, over) + REST - 500, (host, begun, ended, next_begun)
        since = max(killed.values())
        turns = Counter(pid for begun, _, pid in here if begun > since)
        share = [turns[process.pid] for process in steady]
        assert min(share) > 5 and max(share) < 3 * min(share), turns


def read_log(log: Path, killed: dict[int, int]) -> list[tuple[str, int, int | None, int]]:
    """(host, begun, ended, pid) of every visit; `ended` is missing where the process was killed."""
    visits, under_way = [], defaultdict(dict)
    for line in log.read_text().splitlines():
        kind, host, micros, pid = line.split()
        if kind == "b":
            assert host not in under_way[pid]
            under_way[pid][host] = int(micros)
        else:
            visits.append((host, under_way[pid].pop(host), int(micros), int(pid)))
    for pid, left in under_way.items():
        assert not left or int(pid) in killed
        visits.extend((host, begun, None, int(pid)) for host, begun in left.items())
    return visits


def test_a_killed_reader_and_writer_leave_a_table_that_works(tmp_path):
    script = (
        "import sys, pathlib; from gossamer.frontier.gates.shared_rests import Return, SharedRests\n"
        "table = SharedRests(pathlib.Path(sys.argv[1])); print('on', flush=True); number = 0\n"
        "while True:\n"
        "    number += 1; name = f'h{number % 5000}'\n"
        "    table.claim(name, 0, 0, 1); table.look(name); table.give_back([Return(name, 0, True)])\n"
    )
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", script, tmp_path / "shared"], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(0.05)
        process.kill()
        process.wait()
        process.stdout.close()
    table = SharedRests(tmp_path / "shared")
    assert len(table) > 50
    for number in range(200):
        if not table.claim(f"h{number}", 0, 0, 1):
            table.give_back([Return(f"h{number}", 0, True)])
    table.close()


# Frontiers …


class SharedWorld(FrontierWorld):
    """A frontier that shares its hosts; all of a test go by one clock."""

    def __init__(self, path, folder, clock, **options):
        self.clock = clock
        self.folder = folder
        super().__init__(path, **options)

    def open(self):
        if self.sessions:
            self.table.close()
        self.table = SharedRests(self.folder, now=lambda: self.clock[0])
        self.policy = msgspec.structs.replace(self.policy, shared=self.table)
        super().open()

    def now(self):
        # Another offset: the crawl clock is another clock.
        return self.clock[0] + 7_000_000_000

    def close(self):
        super().close()
        self.table.close()


@pytest.fixture
def worlds(tmp_path):
    made, clock = [], [1_000 * SECOND]

    def make(**options):
        made.append(SharedWorld(tmp_path / str(len(made)), tmp_path / "shared", clock, **options))
        return made[-1]

    make.clock = clock
    yield make
    for world in made:
        world.close()


def visited(rest=1.0, **how):
    return Tally(rest=rest, pages=1, bytes=10, host_failed=False, **how)


def test_two_frontiers_alternate(worlds):
    one, other = worlds(), worlds()
    for page in range(5):
        one.admit(f"http://a/{page}")
        other.admit(f"http://a/x{page}")
    order, out = [], []
    for _ in range(2_000):
        worlds.clock[0] += 10_000
        for world, name in ((one, "one"), (other, "other")):
            if lease := world.frontier.lend():
                out.append((worlds.clock[0] + 50_000, world, name, lease))
        assert len(out) <= 1
        if out and out[0][0] <= worlds.clock[0]:
            _, world, name, lease = out.pop()
            order.append((worlds.clock[0], name))
            world.settle(lease, Done(), visited())
    assert len(order) == 10
    assert all(before[1] != after[1] for before, after in pairwise(order))
    gaps = [after[0] - before[0] for before, after in pairwise(order)]
    assert min(gaps) >= 1_050_000 and max(gaps) <= 1_200_000, "nobody is late either"


def test_a_back_off_is_kept_by_the_other_crawl_and_said_why(worlds):
    one, other = worlds(), worlds()
    one.admit("http://a/")
    other.admit("http://a/")
    lease = one.frontier.lend()
    assert other.frontier.lend() is None
    one.settle(
        lease, Retry(300.0, Blame.HOST, because(RetryCode.STATUS, 429)), Tally(rest=1.0, host_failed=True)
    )
    worlds.clock[0] += 10 * SECOND
    assert other.frontier.lend() is None
    key, _ = other.frontier.host_key(lease.candidate.url)
    assert other.frontier.hosts.get(key).reason == SHARED
    assert other.frontier.next_due() == other.now() + 290 * SECOND
    worlds.clock[0] += 290 * SECOND
    lease = other.frontier.lend()
    assert lease is not None
    assert other.frontier.hosts.get(key).reason is None
    other.settle(lease, Done(), visited())


def test_a_rest_that_is_added_after_settling_in_the_same_batch_counts(worlds):
    one, other = worlds(), worlds()
    one.admit("http://a/")
    other.admit("http://a/")
    lease = one.frontier.lend()
    with one.frontier.changes():
        one.frontier.settle(lease, Done(), visited())
        one.frontier.rest("a", 60.0, text("robots: hold"))
    worlds.clock[0] += 59 * SECOND
    assert other.frontier.lend() is None
    worlds.clock[0] += SECOND
    assert other.frontier.lend() is not None


def test_a_host_is_given_back_only_after_the_commit(worlds):
    one, other = worlds(rest=0.0), worlds(rest=0.0)
    one.admit("http://a/")
    other.admit("http://a/")
    lease = one.frontier.lend()
    with one.frontier.changes():
        one.frontier.settle(lease, Done(), visited(rest=0.0))
        assert other.table.look("a").visits == 1
    assert other.table.look("a").visits == 0


def test_visits_at_once_count_over_all(worlds):
    one, other = worlds(leases=3, rest=0.0), worlds(leases=3, rest=0.0)
    for page in range(4):
        one.admit(f"http://a/{page}")
        other.admit(f"http://a/{page}")
    mine = [one.frontier.lend(), one.frontier.lend()]
    theirs = [other.frontier.lend()]
    assert all([*mine, *theirs])
    assert one.frontier.lend() is None and other.frontier.lend() is None
    one.settle(mine.pop(), Done(), visited(rest=0.0))
    worlds.clock[0] += SECOND
    lent = [lease for world in (other, one) if (lease := world.frontier.lend())]
    assert len(lent) == 1
    assert other.table.look("a").visits == 3


def test_hosts_that_rest_for_others_leave_room_in_memory(worlds):
    one, other = worlds(max_hosts=40), worlds(max_hosts=8)
    for number in range(30):
        one.admit(f"http://h{number}/")
        other.admit(f"http://h{number}/")
    for number in range(3):
        other.admit(f"http://free{number}/", depth=1)
    for lease in list(iter(one.frontier.lend, None)):
        one.settle(
            lease, Retry(500.0, Blame.HOST, because(RetryCode.STATUS, 429)), Tally(rest=1.0, host_failed=True)
        )
    seen = set()
    for _ in range(40):
        worlds.clock[0] += 150_000
        seen |= {lease.queue_key for lease in iter(other.frontier.lend, None)}
    assert seen == {"free0", "free1", "free2"}
    other.reopen()
    worlds.clock[0] += 600 * SECOND
    lent = set()
    for _ in range(40):
        worlds.clock[0] += 150_000
        for lease in list(iter(other.frontier.lend, None)):
            lent.add(lease.queue_key)
            other.settle(lease, Done(), visited())
    assert len(lent) == 33, "nothing was lost on the way to the disk"
    assert other.counters.queued == 0


def test_urls_that_are_refused_cost_no_rest(worlds):
    one = worlds()
    for page in range(20):
        one.admit(f"http://a/{page}")
    for _ in range(20):
        one.settle(one.frontier.lend(), Done(), Tally())
    assert one.frontier.lend() is None and one.counters.queued == 0


@pytest.mark.parametrize(("after", "heard"), [(KEEP_FOR - 1, False), (KEEP_FOR, True)])
def test_from_when_on_the_table_hears_of_a_kept_host(join, after, heard):
    clock = [1_000 * SECOND]
    table = join(now=lambda: clock[0])
    visit(table, "a", KEEP_AFTER)
    before = changes_of(table)
    clock[0] += after
    assert table.claim("a", 0, 0, 1) == 0
    assert (changes_of(table) > before) is heard
