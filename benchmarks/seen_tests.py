"""Ways to tell which URLs were seen before, side by side: RocksDB singly and in batches, a sieve, a filter.

`python -m benchmarks.seen_tests [--urls 1000000 10000000] [--only rocksdb sieve bloom] [--json]`

What arrives are fingerprints that the caches in front did not know: of 35 there are 15 new, the others known
before. All processor time counts, RocksDB's threads included. Decision record 0012 says what follows.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.frontier import STATE, disk
from benchmarks.url_stream import mixed
from gossamer.frontier.seen.bloom import BloomTable
from gossamer.frontier.seen.bloom_size import bits_needed
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import ticket

SIZES = (1_000_000, 10_000_000)
COMMIT = 225
"""New URLs of a commit: of 15 pages with 100 links each."""
ASKED = 20_000
"""Look-ups of one kind that are timed at each size."""
KNOWN_FOR_NEW = 20 / 15
RECORD = 180
"""Bytes of a queue record, which a sieve must keep until it knows whether the URL is new."""
SIEVES = (20_000, 200_000, 1_000_000)
"""Links that a sieve gathers before it looks."""
TIERS = 4
BLOOM_ERROR = 2.12e-7
"""Of K9: 32 bits a URL."""
HOSTS = 1_000_000.0

Hashes = NDArray[np.uint64]
T = TypeVar("T")


def groups(rows: list[T], size: int) -> list[list[T]]:
    """`rows` in pieces of `size`."""
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def fingerprints(numbers: Hashes) -> list[bytes]:
    """16 bytes for each number: hash of a host of a power-law web, hash of the URL."""
    raw = np.stack([_hosts(numbers), mixed(numbers, 8)], axis=1).tobytes()
    return [raw[at : at + 16] for at in range(0, len(raw), 16)]


def _hosts(numbers: Hashes) -> Hashes:
    fractions = (mixed(numbers, 7) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return mixed((np.asarray(HOSTS) ** fractions).astype(np.uint64), 6)


def span(start: int, end: int) -> Hashes:
    """Numbers of URLs from `start` to before `end`."""
    return np.arange(start, end, dtype=np.uint64)


def some_of(urls: int, count: int, seed: int) -> Hashes:
    """Numbers of `count` URLs among the first."""
    return np.random.default_rng(seed).integers(0, urls, count).astype(np.uint64)


def micros(work: Callable[[], object], count: int) -> float:
    """Processor microseconds of `work`, by `count`."""
    started = time.process_time()
    work()
    return round((time.process_time() - started) / count * 1e6, 3)


def settle_down() -> None:
    """Wait until background threads have nothing to do."""
    before = time.process_time()
    while True:
        time.sleep(0.5)
        now = time.process_time()
        if now - before < 0.01:
            return
        before = now


def resident_mb() -> float:
    """Memory of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


# RocksDB …


def rocksdb(folder: Path, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Look-ups one by one in order of arrival, and in sorted batches of 500 and of 20,000."""
    environment = Environment.open(folder / "state", STATE)
    rows, held = [], 0
    for size in sizes:
        spent = 0.0
        for start in range(held, size, 45_000):
            keys = fingerprints(span(start, min(start + 45_000, size)))
            began = time.process_time()
            _put(environment, keys, start)
            spent += time.process_time() - began
        began = time.process_time()
        settle_down()
        spent += time.process_time() - began
        row: dict[str, Any] = {
            "table": "rocksdb",
            "urls": size,
            "add": round(spent / (size - held) * 1e6, 2),
            "bytes_per_url": round(disk(folder) / size, 1),
        }
        held = size
        for number, batch in enumerate((1, 1, 500, ASKED)):  # twice, for the cache to know what is in use
            known = fingerprints(some_of(size, ASKED, number))
            row[f"known_{batch}"] = _look_up(environment, known, batch)
            new = fingerprints(span(size * (2 + number), size * (2 + number) + ASKED))
            row[f"new_{batch}"] = _look_up(environment, new, batch)
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    environment.close()
    return rows


def _put(environment: Environment, keys: list[bytes], first: int) -> None:
    for group in groups(keys, COMMIT):
        batch = environment.batch()
        for key in group:
            first += 1
            batch.put(Family.SEEN, key, ticket(4, first))
        environment.commit(batch)


def _look_up(environment: Environment, keys: list[bytes], batch: int) -> float:
    if batch == 1:
        return micros(lambda: [environment.get(Family.SEEN, key) for key in keys], len(keys))
    table = environment._tables[Family.SEEN]
    return micros(lambda: [table.get(sorted(some)) for some in groups(keys, batch)], len(keys))


# A sieve …


class Sieve:
    """Gathers links in a log, and looks at many at once in sorted runs of 64-bit hashes on disk.

    What it lets through is in order of arrival. Runs of one tier are merged when there are `TIERS`.
    """

    def __init__(self, folder: Path, gathered: int) -> None:
        self._folder = folder
        self._limit = gathered
        self._waiting: list[int] = []
        self._log = (folder / "log").open("w+b")
        self._runs: list[list[Hashes]] = [[]]
        self._files = 0
        self.written = 0

    def take(self, numbers: list[int], records: bytes) -> None:
        """Links of one commit, with their queue records."""
        self._waiting += numbers
        self._log.write(records)
        self._log.flush()
        self.written += len(records)
        if len(self._waiting) >= self._limit:
            self._sift()

    def load(self, hashes: Hashes) -> None:
        """Begin with these known."""
        self._runs = [[], [], [], [self._kept(np.sort(hashes))]]

    def _sift(self) -> None:
        asked = np.array(self._waiting, dtype=np.uint64)
        self._waiting = []
        ordered, first = np.unique(asked, return_index=True)
        fresh = np.ones(len(ordered), dtype=bool)
        for tier in self._runs:
            for run in tier:
                places = np.searchsorted(run, ordered)
                places[places == len(run)] = 0
                fresh &= run[places] != ordered
        self._log.seek(0)
        records = self._log.read()
        for place in np.sort(first[fresh]).tolist():
            records[place * RECORD : place * RECORD + RECORD]
        self._runs[0].append(self._kept(ordered[fresh]))
        self._merge()
        os.fsync(self._log.fileno())  # stands for that of the manifest, after which the log begins anew
        self._log.seek(0)
        self._log.truncate()

    def _merge(self) -> None:
        for tier, runs in enumerate(self._runs):
            if len(runs) == TIERS:
                merged = np.concatenate(runs)
                merged.sort(kind="stable")  # merges runs that are sorted
                runs.clear()
                if tier + 1 == len(self._runs):
                    self._runs.append([])
                self._runs[tier + 1].append(self._kept(merged))

    def _kept(self, run: Hashes) -> Hashes:
        self._files += 1
        path = self._folder / f"{self._files}.run"
        with path.open("wb") as file:
            run.tofile(file)
            os.fsync(file.fileno())
        self.written += run.nbytes
        mapped: Hashes = np.memmap(path, dtype=np.uint64, mode="r")
        path.unlink()  # it lives as long as it is mapped
        return mapped


def durable_log(folder: Path, gathered: int) -> float:
    """What each link costs in a log that is committed with its page, by RocksDB, until it is sifted."""
    environment = Environment.open(folder / "state", STATE)
    started = time.process_time()
    keys = [number.to_bytes(8, "big") for number in range(2 * gathered)]
    record = os.urandom(RECORD // 2) + bytes(RECORD - RECORD // 2)
    for sifted in groups(keys, gathered):
        for some in groups(sifted, 525):
            batch = environment.batch()
            for key in some:
                batch.put(Family.OUTBOX, key, record)
            environment.commit(batch)
        for some in groups(sifted, 5_000):
            batch = environment.batch()
            for key in some:
                batch.delete(Family.OUTBOX, key)
            environment.commit(batch)
    settle_down()
    spent = time.process_time() - started
    environment.close()
    return round(spent / len(keys) * 1e6, 3)


def sieve(folder: Path, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """What each link costs in sieves that gather more and more before they look."""
    rows = []
    for size in sizes:
        for gathered in SIEVES:
            place = folder / f"{size}-{gathered}"
            place.mkdir()
            made = Sieve(place, gathered)
            made.load(mixed(span(0, size), 8))
            before, rounds = made.written, max(2, 400_000 // gathered)
            new = int(gathered / (1 + KNOWN_FOR_NEW))
            spent = 0.0
            for turn in range(rounds):
                fresh = mixed(span(size + turn * new, size + turn * new + new), 8)
                links = np.concatenate([fresh, mixed(some_of(size, gathered - new, turn), 8)])
                numbers = np.random.default_rng(turn).permutation(links).tolist()
                began = time.process_time()
                for some in groups(numbers, 525):
                    made.take(some, bytes(RECORD * len(some)))
                spent += time.process_time() - began
            links_asked = gathered * rounds
            row = {
                "table": f"sieve of {gathered}",
                "urls": size,
                "link": round(spent / links_asked * 1e6, 3),
                "durable_log": durable_log(place, gathered),
                "written_per_link": round((made.written - before) / links_asked, 1),
            }
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    return rows


# A Bloom filter …


def bloom(folder: Path, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """De-duplication with the table of K9, from fingerprint to commit, and the next start."""
    rows = []
    for size in sizes:
        place = folder / str(size)
        place.mkdir()
        environment = Environment.open(place / "state", STATE)
        table = BloomTable(environment, size, BLOOM_ERROR, print)
        spent = 0.0
        for start in range(0, size, 45_000):
            keys = fingerprints(span(start, min(start + 45_000, size)))
            began = time.process_time()
            _admit(environment, table, keys, start)
            spent += time.process_time() - began
        asked = fingerprints(some_of(size, ASKED, 1))
        row = {
            "table": "bloom",
            "urls": size,
            "seconds": round(spent, 1),
            "add": round(spent / size * 1e6, 3),
            "known_1": micros(partial(_ask, table, asked), ASKED),
            "mb": round(bits_needed(size, BLOOM_ERROR)[0] / 8e6, 1),
            "lost_of_new": (size - table.figures().urls) / size,
            "resident_mb": round(resident_mb()),
        }
        again = partial(BloomTable, environment, size, BLOOM_ERROR, print)
        row["start_from_log_s"] = micros(again, 1_000_000)
        table.save()
        row["start_from_file_s"] = micros(again, 1_000_000)
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
        environment.close()
    return rows


def _ask(table: BloomTable, keys: list[bytes]) -> None:
    for key in keys:
        assert key in table


def _admit(environment: Environment, table: BloomTable, keys: list[bytes], number: int) -> None:
    for group in groups(keys, COMMIT):
        batch = environment.batch()
        for key in group:
            number += 1
            if key not in table:
                table.add(key, ticket(4, number), batch)
        table.flush(batch)
        environment.commit(batch)


TABLES: dict[str, Callable[[Path, Sequence[int]], list[dict[str, Any]]]] = {
    "rocksdb": rocksdb,
    "sieve": sieve,
    "bloom": bloom,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=int, nargs="+", default=SIZES, help="sizes, growing")
    parser.add_argument("--only", nargs="+", choices=sorted(TABLES), default=sorted(TABLES))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = []
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="seen-") as folder:
            rows += TABLES[name](Path(folder), options.urls)
    print(json.dumps(rows) if options.json else "\n".join(map(str, rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
