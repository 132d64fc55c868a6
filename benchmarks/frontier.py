"""The frontier alone, over millions of URLs of a simulated web: processor time, memory, disk, start.

`python -m benchmarks.frontier [--urls N] [--quick] [--json] [--folder D]`

Links come as text from `benchmarks.url_stream`, a process of its own whose time does not count. They go
through the crawler's own code: parsed, brought to canonical form, judged, tested and queued in groups such as
settlement makes. All processor time of this process counts, RocksDB's threads included: at each mark the
clock is read when they have come to rest. With `--folder` a run that was ended goes on where it was.

The policies are those that a crawl has by default; beside them stands what it takes where the visits of a
host are not shared out by branch (`branches.share = false`), which costs the most of them. The memory is
that of a large crawl; `--default-memory` takes as little as a crawl has by default.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import measure
from benchmarks.url_stream import LINKS, NEW, SEED
from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.crawl import UPKEEP_SECONDS
from gossamer.engine.heap import give_back, seldom_collect
from gossamer.engine.observe import Observers
from gossamer.engine.settlement.long_pages import LINKS_AT_ONCE
from gossamer.engine.settlement.settlement import GROUP
from gossamer.frontier.config import FrontierConfig, HostPolicy, Session
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Done
from gossamer.model.lease import Lease
from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.ordering.ordering import BreadthFirst
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.urls.canonical import CanonicalConfig, Canonicaliser
from gossamer.policy.urls.queue_key import queue_key
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.keys import Fingerprints
from gossamer.state.records import COUNTERS, Counters, decode, encode

URLS = 10_000_000
QUICK = 200_000
MARKS = tuple(digit * 10**power for power in range(5, 10) for digit in (1, 2, 5))
"""Distinct URLs at which the cost so far is noted."""
PAGES_AT_ONCE = LINKS_AT_ONCE // LINKS
LEASES = 64_000
REST = 5.0
"""Seconds that a host rests after a visit, by a clock that `PACE` moves."""
PACE = 3_000
"""Visits a second by that clock: with this rest some 15,000 hosts take turns."""
DEPTHS = 7
PROGRESS = b"benchmark"
PIPE_BYTES = 1 << 20
"""Holds some groups of pages, so that who makes them and who admits them do not wait for each other."""
START = 1_800_000_000_000_000
CALM_SECONDS = 1.0
BUSY = 0.02
"""Share of a core below which RocksDB's threads are at rest."""

FRONTIER = FrontierConfig(recent_links=1 << 25, seen_cache=1 << 22, branches_memory=256 << 20)
STATE = StateConfig(
    block_cache=192 << 20, seen_filter=112_000_000, write_buffers=128 << 20, max_log=128 << 20
)
"""Settings for a large crawl, within a gigabyte of memory."""


class Mark(msgspec.Struct, frozen=True):
    """What it took to come from the mark before to this one. `cpu` is in seconds, `disk` in bytes."""

    urls: int
    links: int
    cpu: float
    disk: int


class Progress(msgspec.Struct):
    """Kept with every group, so that a run goes on exactly where its last commit was."""

    pages: int = 0
    clock: int = START  # of the frontier, microseconds
    cpu: float = 0.0  # since the last mark, as of the last commit
    peak_mb: float = 0.0
    marks: list[Mark] = []


class How(msgspec.Struct, frozen=True):
    """What is measured.

    Attributes:
        urls: distinct ones.
        seed: of the stream.
        plain: without branches.
        default_memory: as a crawl has it by default.
    """

    urls: int
    seed: int
    plain: bool = False
    default_memory: bool = False


class Bench:
    """One frontier in one folder, open until `close`."""

    def __init__(self, folder: Path, how: How) -> None:
        self.path = folder / "state"
        self.environment = Environment.open(self.path, StateConfig() if how.default_memory else STATE)
        kept = self.environment.get(Family.META, PROGRESS)
        self.progress = decode(kept, Progress) if kept else Progress()
        counters = self.environment.get(Family.META, COUNTERS)
        self.counters = decode(counters, Counters) if counters else Counters()
        policy = HostPolicy(
            queue_key=queue_key("host"),
            visits_at_once=lambda _: 1,
            rest=lambda _: REST,
            budget_spent=lambda *_: "",
            obey_robots=False,
            branches=BranchConfig(share=not how.plain),
        )
        session = Session(Fingerprints(b"benchmark secret"), self._now, resumed=kept is not None)
        frontier = FrontierConfig() if how.default_memory else FRONTIER
        self.frontier = Frontier(self.environment, frontier, policy, BreadthFirst(), self.counters, session)
        identity = Identity(Canonicaliser(CanonicalConfig()), self.frontier)
        scope = Scope(ScopeConfig(mode="any"), ())
        self.admission = Admission(
            self.frontier,
            identity,
            scope,
            self.counters,
            Observers(),
            record_rejected=True,
        )
        self._cpu_base = time.process_time() - self.progress.cpu
        self._given_back = time.monotonic()

    def _now(self) -> int:
        return self.progress.clock

    def close(self) -> None:
        self.frontier.seen.save()
        self.environment.close()

    # Admitting …

    def fill(self, urls: int, seed: int) -> None:
        """Admit pages until `urls` distinct URLs are known, noting marks on the way."""
        progress = self.progress
        marks = sorted({mark for mark in MARKS if mark < urls} | {urls})
        with _stream(progress.pages, urls // NEW, seed) as lines:
            for mark in marks:
                while (left := mark // NEW - progress.pages) > 0:
                    self._admit(self._read(lines, min(PAGES_AT_ONCE, left)))
                if not progress.marks or progress.marks[-1].urls < progress.pages * NEW:
                    self._mark()

    def _read(self, lines: Iterator[bytes], pages: int) -> list[list[str]]:
        """The next pages as texts; the time that this takes does not count."""
        started = time.thread_time()
        group = [line.decode().split() for line in islice(lines, pages)]
        self._cpu_base += time.thread_time() - started
        if not group:
            raise RuntimeError("the stream of links has ended early")
        return group

    def _admit(self, group: list[list[str]]) -> None:
        progress = self.progress
        with self.frontier.changes() as batch:
            for own, *links in group:
                self.admission.links(_finder(own, progress.pages), _links(links), honour_nofollow=True)
                progress.pages += 1
            progress.clock += len(group) * 1_000_000 // PACE
            progress.cpu = time.process_time() - self._cpu_base
            batch.put(Family.META, PROGRESS, encode(progress))
        if time.monotonic() - self._given_back >= UPKEEP_SECONDS:
            give_back()
            self._given_back = time.monotonic()

    def _mark(self) -> None:
        self.settle_down()
        progress = self.progress
        known = progress.marks[-1] if progress.marks else Mark(0, 0, 0.0, 0)
        urls = progress.pages * NEW
        progress.cpu = time.process_time() - self._cpu_base
        links = progress.pages * LINKS - sum(mark.links for mark in progress.marks)
        progress.marks.append(Mark(urls, links, progress.cpu, disk(self.path)))
        print(
            f"{urls:>12,} URLs: {progress.cpu / links * 1e6:6.2f} us a link since {known.urls:,}, "
            f"{progress.marks[-1].disk / urls:6.1f} bytes of disk a URL, {peak_mb():5.0f} MB",
            file=sys.stderr,
            flush=True,
        )
        self._cpu_base, progress.cpu = time.process_time(), 0.0
        self.save()

    def save(self) -> None:
        self.progress.peak_mb = max(self.progress.peak_mb, peak_mb())
        batch = self.environment.batch()
        batch.put(Family.META, PROGRESS, encode(self.progress))
        self.environment.commit(batch)

    def settle_down(self) -> None:
        """Wait until RocksDB's threads have nothing to do."""
        before = time.process_time()
        while True:
            time.sleep(CALM_SECONDS)
            now = time.process_time()
            if now - before < BUSY * CALM_SECONDS:
                return
            before = now

    # Lending …

    def lend(self, most: int) -> tuple[int, float]:
        """(leases, processor seconds) of lending and settling in groups."""
        started = time.process_time()
        done = 0
        while done < most and (leases := self._lend_group()):
            with self.frontier.changes():
                for lease in leases:
                    self.frontier.settle(lease, Done(), Tally(REST, 1, 35_000, host_failed=False))
            done += len(leases)
        self.settle_down()
        self.save()
        return done, time.process_time() - started

    def _lend_group(self) -> list[Lease]:
        leases: list[Lease] = []
        while len(leases) < GROUP:
            lease = self.frontier.lend()
            if lease is not None:
                leases.append(lease)
                self.progress.clock += 1_000_000 // PACE
                continue
            due = self.frontier.next_due()
            if leases or due >= 1 << 62:
                break
            self.progress.clock = max(self.progress.clock + 1, due)
        return leases


def _finder(own: str, page: int) -> Candidate:
    depth = page % DEPTHS
    return Candidate(_parsed(own), LinkKind.NAVIGATION, depth, "L" * depth)


def _links(texts: list[str]) -> list[Link]:
    return [Link(_parsed(text), LinkKind.NAVIGATION, "a@href") for text in texts]


def _parsed(text: str) -> Url:
    url = Url.parse(text)
    assert url is not None, text
    return url


@contextlib.contextmanager
def _stream(start: int, end: int, seed: int) -> Iterator[Iterator[bytes]]:
    """Lines of `url_stream`, whose process ends with the block."""
    command = [sys.executable, "-m", "benchmarks.url_stream", "--seed", str(seed)]
    command += ["--start", str(start), "--pages", str(max(0, end - start))]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        pipesize=PIPE_BYTES,
        preexec_fn=measure.end_with_parent,  # noqa: PLW1509  no threads of ours
    ) as process:
        assert process.stdout is not None
        yield process.stdout
        process.stdout.close()
        process.terminate()


def disk(path: Path) -> int:
    """Bytes that the files below `path` take."""
    return sum(file.stat().st_blocks * 512 for file in path.rglob("*") if file.is_file())


def peak_mb() -> float:
    """The most memory that this process has had, in MB of 10^6 bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split(None, 1)[0]) * 1024 / 1e6


def measure_filling(folder: Path, how: How) -> None:
    """Bring the folder's frontier to so many URLs."""
    bench = Bench(folder, how)
    try:
        bench.fill(how.urls, how.seed)
    finally:
        bench.close()


def measure_resuming(folder: Path, how: How) -> dict[str, float]:
    """How long a start takes until the first URL is lent, then what leases cost."""
    started = time.monotonic()
    bench = Bench(folder, how)
    try:
        # What is owed to hosts after a start is no work of ours.
        bench.progress.clock += int(2 * REST * 1e6)
        lease = bench.frontier.lend()
        ready = time.monotonic() - started
        assert lease is not None
        with bench.frontier.changes():
            bench.frontier.settle(lease, Done(), Tally(REST, 1, 35_000, host_failed=False))
        leases, cpu = bench.lend(LEASES)
        return {"resume_s": ready, "leases": leases, "leases_per_s": leases / cpu, "peak_mb": peak_mb()}
    finally:
        bench.close()


def _part(part: str, folder: Path, how: How) -> dict[str, Any]:
    """Run one part in a process of its own, so that each has its own memory."""
    command = [sys.executable, "-m", "benchmarks.frontier", "--part", part, "--folder", str(folder)]
    command += ["--urls", str(how.urls), "--seed", str(how.seed)]
    command += ["--plain"] if how.plain else []
    command += ["--default-memory"] if how.default_memory else []
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, preexec_fn=measure.end_with_parent)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _figures(progress: Progress, resumed: dict[str, Any], hosts: int) -> dict[str, Any]:
    marks = progress.marks
    return {
        "urls": marks[-1].urls,
        "hosts": hosts,
        "links": sum(mark.links for mark in marks),
        "leases_per_s": round(resumed["leases_per_s"]),
        "peak_mb": round(max(progress.peak_mb, resumed["peak_mb"]), 1),
        "bytes_per_url": round(marks[-1].disk / marks[-1].urls, 1),
        "resume_s": round(resumed["resume_s"], 2),
        **_rates(marks),
    }


def _rates(marks: list[Mark]) -> dict[str, Any]:
    """What a link takes, over all and by size."""
    return {
        "links_per_s": round(sum(mark.links for mark in marks) / sum(mark.cpu for mark in marks)),
        "us_per_link": {mark.urls: round(mark.cpu / mark.links * 1e6, 2) for mark in marks},
        "us_per_link_so_far": {
            mark.urls: round(
                sum(one.cpu for one in marks[: at + 1]) / sum(one.links for one in marks[: at + 1]) * 1e6, 2
            )
            for at, mark in enumerate(marks)
        },
    }


def measure_all(folder: Path, how: How) -> dict[str, Any]:
    """All figures of one size."""
    filled = _part("fill", folder, how)
    progress = msgspec.convert(filled["progress"], Progress)
    figures = _figures(progress, _part("resume", folder, how), filled["hosts"])
    plain = folder / "plain"
    plain.mkdir(exist_ok=True)
    filled = _part("fill", plain, msgspec.structs.replace(how, plain=True))
    without = _rates(msgspec.convert(filled["progress"], Progress).marks)
    return {**figures, **{f"plain_{name}": value for name, value in without.items()}}


def _run_part(part: str, folder: Path, how: How) -> dict[str, Any]:
    seldom_collect()  # as a crawl does
    if part == "resume":
        return measure_resuming(folder, how)
    measure_filling(folder, how)
    bench = Bench(folder, how)
    try:
        return {"progress": msgspec.to_builtins(bench.progress), "hosts": bench.counters.hosts}
    finally:
        bench.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit status whether it worked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=int, default=None, help="distinct URLs (10 million)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} URLs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--folder", type=Path, help="keep the state here; go on with what is in it")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--default-memory", action="store_true", help="as little as a crawl has by default")
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--part", choices=("fill", "resume"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    urls = options.urls or (QUICK if options.quick else URLS)
    how = How(urls, options.seed, options.plain, options.default_memory)
    if options.part:
        print(json.dumps(_run_part(options.part, options.folder, how)))
        return 0
    measure.tidy_when_terminated()
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frontier-")))
        folder.mkdir(parents=True, exist_ok=True)
        figures = measure_all(folder, how)
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
