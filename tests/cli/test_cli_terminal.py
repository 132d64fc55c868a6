import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from gossamer.cli.options.commands import COMMANDS, app
from gossamer.cli.terminal import trouble
from gossamer.cli.terminal.printing import duration, plural, safe, size
from gossamer.cli.terminal.progress import Progress, _faults, _left
from gossamer.frontier.config import Census
from gossamer.frontier.queues.host_schedule import NEVER
from gossamer.model.events import HostRested, ProblemFound
from gossamer.model.outcome import Fault
from gossamer.model.reasons.reason import Reason

HEAVY = ("asyncio", "ada_url", "msgspec", "pycares", "pycurl", "rocksdict", "uvloop", "gossamer.assembly")

UNASKED = (
    *("gossamer.cli.options.export_commands", "gossamer.cli.options.cluster_commands", "gossamer.cli.look"),
    *("gossamer.fetch.local_files", "gossamer.fetch.remote_files", "gossamer.frontier.seen.bloom"),
    *("gossamer.extract.isolation.processes", "gossamer.inspect.lag", "gossamer.inspect.freshness"),
    *("gossamer.datasets.deriving", "gossamer.search.query", "gossamer.documents.reading"),
    *("gossamer.engine.settlement.changed", "gossamer.engine.login.log_in", "gossamer.control.live_crawl"),
    *("importlib.metadata", "zipfile", "difflib", "mimetypes", "email.message", "html.parser", "zoneinfo"),
)
"""What a crawl that was given nothing but a seed need not load, each with some of the half a megabyte and of the
milliseconds that it takes."""


def loaded_by(*command: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    program = (
        "import sys\n"
        "from gossamer.cli import main\n"
        f"sys.argv = {['gossamer', *command]!r}\n"
        "try: main()\n"
        "finally: print('loaded:', *sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ran.stdout.rpartition("loaded:")[2].split())


def test_help_loads_nothing_that_a_crawl_needs() -> None:
    loaded = loaded_by("--help")
    assert "gossamer.cli.options.commands" in loaded
    assert sorted(loaded & set(HEAVY)) == []


def test_a_crawl_loads_nothing_that_it_was_not_asked_for(site: str, tmp_path: Path) -> None:
    few = ("--quiet", "--max-pages", "3", "--min-delay", "0")
    without = ("--set", "documents.links=false")  # documents are read in processes, if the extra is installed
    loaded = loaded_by("crawl", site, "--dir", str(tmp_path / "c"), *few, *without)
    assert set(HEAVY) <= loaded
    assert sorted(loaded & set(UNASKED)) == []
    assert [name for name in UNASKED if find_spec(name) is None] == [], "they have moved"


def test_each_command_is_where_the_table_says() -> None:
    assert [command.name for command in app.commands.values()] == list(COMMANDS)
    assert all(command.help for command in app.commands.values())


def test_an_unknown_option_is_answered_with_a_likely_one() -> None:
    command = [sys.executable, "-m", "gossamer", "crawl", "--maxpages", "3"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "--max-pages" in ran.stderr


class Terminal:
    """A command on a pseudo terminal of 80 columns."""

    def __init__(self, *command: str, cwd: Path) -> None:
        self._fd, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
        self.process = subprocess.Popen(
            command, stdin=child, stdout=child, stderr=child, cwd=cwd, env=environment
        )
        os.close(child)
        self.text = ""

    def read_until(self, pattern: str) -> None:
        while not re.search(pattern, self.text):
            data = os.read(self._fd, 4096)
            assert data, self.text
            self.text += data.decode()

    def read_until_pages(self) -> None:
        """Until the live display has told of some; it need not show every number."""
        self.read_until(r"[1-9] \([\d.]+/s\)")

    def close(self) -> int:
        """As a terminal that is closed, or a connection that breaks."""
        os.close(self._fd)
        self.process.send_signal(signal.SIGHUP)
        return self.process.wait()

    def end(self) -> int:
        with contextlib.suppress(OSError):  # how Linux says that the other side has closed
            while data := os.read(self._fd, 4096):
                self.text += data.decode()
        os.close(self._fd)
        return self.process.wait()


@pytest.mark.slow
def test_ctrl_c_stops_well_on_a_terminal(site: str, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "gossamer", "crawl", site, "--dir", "d", "--min-delay", "2")
    terminal = Terminal(*command, cwd=tmp_path)
    terminal.read_until_pages()
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "interrupted: " in terminal.text
    assert "go on with: gossamer resume d" in terminal.text
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.text).replace("\r", "\n").splitlines()
    assert any(line.lstrip().startswith("pages") for line in lines)
    assert max(map(len, lines)) <= 80
    ran = subprocess.run(
        [sys.executable, "-m", "gossamer", "resume", "d", "--set", "politeness.min_delay=0", "-q"],
        cwd=tmp_path,
        check=False,
    )
    assert ran.returncode == 0


@pytest.mark.slow
def test_a_pause_is_shown_as_long_as_it_lasts(site: str, tmp_path: Path) -> None:
    gossamer = (sys.executable, "-m", "gossamer")
    terminal = Terminal(*gossamer, "crawl", site, "--dir", "d", "--min-delay", "80", cwd=tmp_path)
    terminal.read_until(r"1 \(\d+ in visit")  # the host, which rests after its robots file
    subprocess.run([*gossamer, "pause", "d"], cwd=tmp_path, check=True, capture_output=True)
    terminal.read_until("gossamer unpause")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130


@pytest.fixture
def sighup_is_heard() -> Iterator[None]:
    """What nohup starts ignores it, with all that it starts."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("sighup_is_heard")
def test_a_terminal_that_is_closed_stops_it_well(site: str, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "gossamer", "crawl", site, "--dir", "d", "--min-delay", "2")
    terminal = Terminal(*command, cwd=tmp_path)
    terminal.read_until_pages()
    assert terminal.close() == 130
    assert json.loads((tmp_path / "d" / "report.json").read_bytes())["ended"] == "interrupted"


def test_time_left_is_bound_by_the_largest_host() -> None:
    census = Census(1, 0, "slow.example", 100, 2.0)
    assert _left(120, census, 10.0) == "at least 3 min 20 s: slow.example rests 2.0 s after each visit"
    assert _left(1200, census, 2.0) == "at least 10 min 00 s"
    assert _left(0, census, 2.0) == ""


def test_failures_and_refusals_are_told_apart() -> None:
    counts = {"refused: robots": 3, "timeout": 1, "connect": 2000}
    assert _faults(counts) == ("connect 2,000, timeout 1", "robots 3")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("é ü 漢", "é ü 漢"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\nb\rc\tt", "a\\nb\\rc\\tt"),
        ("user\u202egpj", "user\\u202egpj"),
        ("\x9b31m", "\\x9b31m"),
        ("\u2028", "\\u2028"),
    ],
)
def test_safe(raw: str, shown: str) -> None:
    assert safe(raw) == shown


def test_quantities_for_people() -> None:
    assert [size(0), size(1023), size(1536), size(3 << 20), size(5 << 50)] == [
        *("0 B", "1,023 B", "1.5 KiB", "3 MiB", "5 PiB")
    ]
    assert [duration(9), duration(61), duration(7500), duration(200_000)] == [
        *("9 s", "1 min 01 s", "2 h 05 min", "2 d 7 h")
    ]
    assert [plural(1, "URL"), plural(0, "page"), plural(1200, "page")] == ["1 URL", "0 pages", "1,200 pages"]


def test_what_a_visit_meets_does_not_hide_a_problem_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(trouble.time, "monotonic", lambda: now[0])
    troubles = trouble.Troubles()
    rested = HostRested("a.example", 1.0, Reason(Fault.PROXY_DOWN))
    troubles.hear(rested)
    assert troubles.last().startswith("a.example: ")
    troubles.hear(ProblemFound("proxy", "http://p.example:1 is left out for a while"))
    troubles.hear(rested)
    assert troubles.last().startswith("proxy: http://p.example:1 "), (
        "told right before the visit that showed it"
    )
    now[0] += trouble.SHOWN_SECONDS
    assert not troubles.last()
    troubles.hear(rested)
    assert troubles.last().startswith("a.example: ")


@pytest.mark.parametrize(
    ("due", "said"),
    [(5_000_000, "; 2 pages wait, next in at most 4 s"), (1, "; 2 pages wait"), (NEVER, "; 2 pages wait")],
)
def test_when_the_next_visit_is_due_is_said_if_it_is_known(due: int, said: str) -> None:
    """It is not while a visit is being settled."""
    frontier = SimpleNamespace(lent=0, micros=lambda: 1_000_000, next_due=lambda: due)
    pace = SimpleNamespace(record=SimpleNamespace(visits=3, changed=1), waits=True)
    ledger = SimpleNamespace(counters=SimpleNamespace(enrolled=2))
    progress = object.__new__(Progress)
    progress._crawl = SimpleNamespace(parts=SimpleNamespace(frontier=frontier, pace=pace, ledger=ledger))  # type: ignore[assignment]
    assert (
        progress._again().removeprefix("3 visits, 1 found a change").removesuffix("; Ctrl-C ends it") == said
    )
