"""Two processes share a compact name cache; one is killed, again and again."""

import os
import random
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.measure import end_with_parent
from benchmarks.name_caches import NOW, TTL, address_of, name_of
from gossamer.dns.compact.cache import CompactCache
from gossamer.dns.compact.config import CompactConfig
from gossamer.model.name import Answer

NAMES = 20_000
MAX_BYTES = 1 << 20
"""Too little for all names, so that some are always being evicted; see `worker`."""
REPORT_EVERY = 50
PATIENCE = 30.0


class Tally(msgspec.Struct):
    """What came of it.

    Attributes:
        kills: processes killed.
        asked: look-ups that the workers reported.
        wrong: answers with another name's address.
        crashes: workers that ended by themselves.
        hangs: times a worker said nothing for `PATIENCE` seconds.
        asked_again: names put by one that another did not find.
        problems: lines about a damaged file.
    """

    kills: int = 0
    asked: int = 0
    wrong: int = 0
    crashes: int = 0
    hangs: int = 0
    asked_again: int = 0
    problems: int = 0


def worker(folder: str, seed: str, max_bytes: str) -> None:
    """Ask for names, put those that are unknown, report on standard output until killed."""
    cache = CompactCache(Path(folder), CompactConfig(max_bytes=int(max_bytes)))
    dice = random.Random(int(seed))
    wrong = 0
    while True:
        for _ in range(REPORT_EVERY):
            number = dice.randrange(NAMES)
            name, address = name_of(number), address_of(number)
            answer = cache.get(name, NOW)
            if answer is None:
                cache.put(Answer(name, (address,), TTL, asked=NOW), NOW)
            else:
                wrong += answer.addresses != (address,)
        os.write(1, b"%d %d %d\n" % (REPORT_EVERY, wrong, len(cache.problems)))
        wrong = 0


def put_and_die(folder: str, names: str) -> None:
    """Put so many names and end by SIGKILL."""
    cache = CompactCache(Path(folder), CompactConfig())
    for number in range(int(names)):
        cache.put(Answer(name_of(number), (address_of(number),), TTL, asked=NOW), NOW)
    os.kill(os.getpid(), signal.SIGKILL)


class _Worker:
    def __init__(self, folder: Path, seed: int, max_bytes: int) -> None:
        command = [sys.executable, "-m", "benchmarks.name_sharing", "work"]
        command += [str(folder), str(seed), str(max_bytes)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=end_with_parent)  # noqa: PLW1509
        assert self.process.stdout is not None
        self.output = self.process.stdout
        os.set_blocking(self.output.fileno(), False)
        self._rest = b""

    def reports(self, seconds: float) -> list[list[int]]:
        """What it says within so long, at least one report if it says any."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.output, selectors.EVENT_READ)
            if not selector.select(seconds):
                return []
        data = self._rest + (self.output.read() or b"")
        whole, _, self._rest = data.rpartition(b"\n")
        return [[int(number) for number in line.split()] for line in whole.splitlines()]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.output.close()


def kill_and_go_on(folder: Path, kills: int, *, max_bytes: int = MAX_BYTES, seed: int = 1) -> Tally:
    """Kill one of two workers at a random moment, so many times, and see the other go on."""
    tally = Tally()
    dice = random.Random(seed)
    workers = [_Worker(folder, number, max_bytes) for number in range(2)]
    try:
        for number in range(kills):
            # Half of the time the one just started is killed, while it opens the file or soon after.
            victim = number % 2 if dice.random() < 0.5 else dice.randrange(2)
            time.sleep(dice.random() * 0.2)
            crashed = workers[victim].process.poll() is not None
            _hear(workers[victim], tally, 0)
            workers[victim].kill()
            tally.crashes += crashed
            tally.kills += 1
            _hear(workers[1 - victim], tally, PATIENCE)
            workers[victim] = _Worker(folder, 100 + number, max_bytes)
    finally:
        for one in workers:
            one.kill()
    return tally


def _hear(one: _Worker, tally: Tally, patience: float) -> None:
    reports = one.reports(patience)
    if not reports and patience:
        crashed = one.process.poll() is not None
        tally.crashes += crashed
        tally.hangs += not crashed
    for asked, wrong, problems in reports:
        tally.asked += asked
        tally.wrong += wrong
        tally.problems += bool(problems)


def not_found_by_another(folder: Path, names: int) -> int:
    """How many names put by one process, then killed, another does not find."""
    command = [sys.executable, "-m", "benchmarks.name_sharing", "put", str(folder), str(names)]
    subprocess.run(command, check=False, preexec_fn=end_with_parent)
    cache = CompactCache(folder, CompactConfig())
    found = [cache.get(name_of(number), NOW) for number in range(names)]
    cache.close()
    return sum(
        answer is None or answer.addresses != (address_of(number),) for number, answer in enumerate(found)
    )


def share(kills: int) -> dict[str, Any]:
    """Both tests in a folder of their own; the tally as a dictionary."""
    folder = Path(tempfile.mkdtemp(prefix="gossamer-sharing-"))
    try:
        tally = kill_and_go_on(folder / "killed", kills)
        tally.asked_again = not_found_by_another(folder / "shared", 1_000)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return msgspec.to_builtins(tally)  # type: ignore[no-any-return]


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    (worker if what == "work" else put_and_die)(*arguments)
