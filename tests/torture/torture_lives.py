"""Crawls of a simulated web as processes of their own, which tests kill, and what must be true of them."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from patience import PATIENCE
from warcio.checker import Checker

from gossamer.simweb import CrawlRules, SimulatedWeb, WorldSpec, truth
from gossamer.simweb.servers.visits import Visit
from gossamer.simweb.world.access import RobotsFiles
from gossamer.simweb.world.world import World

PRODUCT = "gossamer"
RULES = CrawlRules(scope="any", allow_private=True, sitemaps=True)
running: list[subprocess.Popen[str]] = []
"""Processes that nobody has waited for."""

CUT = "that were never committed"
REMOVED = "nothing in it was ever committed"


def small_world(seed: int = 1, **changes: object) -> WorldSpec:
    """A web of about 200 URLs with a bit of everything that a crawl must remember over a kill."""
    world: dict[str, object] = {
        "seed": seed,
        "hosts": 9,
        "pages": 110,
        "exponent": 0.4,
        "page_bytes": 5_000,
        "cross_links": 0.25,
        "robots": ("absent", "allow", "rules", "groups", "redirect"),
        "codings": ("identity", "gzip"),
        "sitemaps": 0.3,
        "redirects": 0.08,
        "far_redirects": 0.05,
        "copies": 0.08,
        "leaves": 0.1,
        "missing": 0.05,
        "misbehaviours": ("redirect-chain", "500-first", "throttle-503", "robots-503-first"),
    }
    return WorldSpec(**{**world, **changes})  # type: ignore[arg-type]


@dataclass
class Ended:
    """What became of one process."""

    status: int
    stdout: str
    stderr: str

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL

    @property
    def repairs(self) -> list[str]:
        return [line for line in self.stderr.splitlines() if line.startswith("archive: gossamer-")]

    @property
    def cuts(self) -> list[str]:
        """Repairs that took away what had been appended but not committed."""
        return [line for line in self.repairs if CUT in line or REMOVED in line]


@dataclass
class Life:
    """One crawl's folder with all its processes.

    `settings` are dotted paths to values as in the TOML file; `env` is added to every process.
    """

    web: SimulatedWeb
    folder: Path
    settings: dict[str, object] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=lambda: [sys.executable, "-m", "gossamer"])
    ends: list[float] = field(default_factory=list)
    """Moments (`time.monotonic()`) at which a process of this life had ended."""

    def __post_init__(self) -> None:
        defaults = {
            "scope.mode": "any",
            "politeness.min_delay": "30ms",
            "fetch.allow_private": True,
            "dns.nameservers": [self.web.nameserver],
            "engine.give_up_after": "4s",
            "engine.guess_sitemap": False,
            "engine.checkpoint_every": "1s",
            "engine.min_free_disk": "1MiB",
            "archive.max_file_size": "24KiB",
            "retry.url_waits": ["200ms", "400ms", "800ms"],
            "retry.host_first": "300ms",
            "robots.hold_first": "300ms",
        }
        self.settings = {"seeds": self.web.seeds, **defaults, **self.settings}

    def write_settings(self) -> Path:
        """The configuration file for `gossamer crawl`."""
        path = self.folder.with_name(self.folder.name + ".toml")
        path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in self.settings.items()))
        return path

    def begin(self, *arguments: str, die_at: str = "", **env: str) -> subprocess.Popen[str]:
        """Start `gossamer ARGUMENTS`."""
        environment = {**os.environ, **self.env, **env}
        environment.pop("GOSSAMER_DIE_AT", None)
        if die_at:
            environment["GOSSAMER_DIE_AT"] = die_at
        process = subprocess.Popen(
            [*self.command, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    def begin_crawl(self, **how: str) -> subprocess.Popen[str]:
        config = self.write_settings()
        return self.begin("crawl", "--config", str(config), "--dir", str(self.folder), **how)

    def begin_resume(self, *options: str, **how: str) -> subprocess.Popen[str]:
        return self.begin("resume", str(self.folder), *options, **how)

    def end(self, process: subprocess.Popen[str]) -> Ended:
        """Wait for a process; one that stalls is killed, and fails the test."""
        try:
            stdout, stderr = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            raise AssertionError(f"stalled for {PATIENCE} s: {stderr}") from None
        finally:
            self.ends.append(time.monotonic())
        running.remove(process)
        return Ended(process.returncode, stdout, stderr)

    def crawl(self, die_at: str = "") -> Ended:
        return self.end(self.begin_crawl(die_at=die_at))

    def resume(self, *options: str, die_at: str = "") -> Ended:
        return self.end(self.begin_resume(*options, die_at=die_at))

    def run(self, *arguments: str) -> Ended:
        return self.end(self.begin(*arguments))

    def kill_after(self, process: subprocess.Popen[str], seconds: float) -> Ended:
        """`kill -9` after a while, or the ordinary end if that came first."""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        return self.end(process)

    @property
    def begun(self) -> bool:
        """There is something to resume."""
        return (self.folder / "crawl.toml").exists()

    @property
    def archive_files(self) -> list[Path]:
        return sorted((self.folder / "archive").glob("*.warc.gz*"))


# What is in the folder …


def archived(life: Life) -> Counter[tuple[str, int]]:
    """(URL, status) of every response and revisit record, with how often it stands there."""
    kinds = WarcRecordType.response | WarcRecordType.revisit
    found: Counter[tuple[str, int]] = Counter()
    for path in life.archive_files:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=kinds, parse_http=True):
                status = record.http_headers.status_code if record.http_headers else 0
                found[record.headers["WARC-Target-URI"], status] += 1
    return found


def log_lines(life: Life) -> list[dict[str, object]]:
    """Every line of crawl.log; each must be whole JSON."""
    text = (life.folder / "crawl.log").read_bytes()
    assert not text or text.endswith(b"\n")
    return [json.loads(line) for line in text.splitlines()]


def assert_complete(life: Life) -> None:
    """Nothing lost, nothing twice: the archive holds the truth's pages, each once, and all agrees."""
    known = truth(life.web.spec, life.web.seeds, RULES)
    pages = {url for url, status in known.fetched.items() if status == 200}
    found = {url: count for (url, status), count in archived(life).items() if status == 200}
    robots = known.robots.keys()
    crawled = {url: count for url, count in found.items() if url not in robots and url not in known.uncertain}
    assert crawled.keys() == pages, (pages - crawled.keys(), crawled.keys() - pages)
    assert not {url: count for url, count in crawled.items() if count != 1}
    finals = {
        line["url"]: line["status"]
        for line in log_lines(life)
        if line["kind"] != "robots" and "status" in line and line["became"] != "retry"
    }
    assert not known.compare(finals)
    assert_sound(life)
    assert [path.name for path in life.archive_files if path.name.endswith(".open")] == []
    report = json.loads((life.folder / "report.json").read_bytes())
    assert (report["ended"], report["queued"]) == ("finished", 0), report
    assert report["visits"] == len(log_lines(life))
    assert report["pages"] == len(pages)


def assert_sound(life: Life) -> None:
    """Archive, index and state are whole, by our own judgement and by that of others."""
    checked = life.run("check", str(life.folder))
    assert checked.status == 0, checked.stdout + checked.stderr
    # Of a file that is being written only what is committed counts, which `check` has seen to.
    closed = [str(path) for path in life.archive_files if path.name.endswith(".gz")]
    checker = Checker(_Quietly(inputs=closed))
    checker.process_all()
    assert checker.exit_value == 0
    assert_indexed(life)


@dataclass
class _Quietly:
    inputs: Iterable[str]
    verbose: bool = False


def assert_indexed(life: Life) -> None:
    """Every line of the index leads to its record, and every response or revisit record has a line."""
    lines = (life.folder / "index.cdxj").read_bytes().splitlines()
    assert lines == sorted(lines)
    for line in lines:
        entry = json.loads(line[line.index(b"{") :])
        with (life.folder / "archive" / entry["filename"]).open("rb") as stream:
            stream.seek(int(entry["offset"]))
            record = next(iter(ArchiveIterator(stream, parse_http=False)))
            assert record.headers["WARC-Target-URI"] == entry["url"]
            assert record.headers["WARC-Payload-Digest"].endswith(entry["digest"].rpartition(":")[2])
    assert len(lines) == archived(life).total()


# What the servers saw …


def fetched_again(life: Life) -> set[tuple[str, str]]:
    """(host, target) of what was sent whole more than once, failures that ask for it left out."""
    counts = Counter((v.host, v.target) for v in life.web.log() if v.whole and 0 < v.status < 500)
    return {place for place, count in counts.items() if count > 1}


@dataclass
class Manners:
    """What every host may expect, in seconds; `retry_after` by the status that says it."""

    min_delay: float
    factor: float = 5.0
    retry_after: Mapping[int, float] = field(default_factory=dict)


def crawl_delay(life: Life, host: str) -> float:
    """What the host's robots file asks for, read by the simulated web's own judge."""
    groups = RobotsFiles(World(life.web.spec, life.web.http_port), PRODUCT).rules(host).groups
    said = {agent.lower(): float(group.delay) for group in groups if group.delay for agent in group.agents}
    return said.get(PRODUCT, said.get("*", 0.0))


RETRY_AFTER = 3
THROTTLED = ("throttle-seconds", "throttle-503", "throttle-date", "robots-503-first", "robots-429-first")
THROTTLING_MANNERS = Manners(min_delay=0.1, retry_after={429: RETRY_AFTER, 503: RETRY_AFTER})


def throttling_world(*cases: str) -> WorldSpec:
    """A few good pages, and hosts that ask for three seconds of rest twice before they answer."""
    return WorldSpec(
        hosts=3, pages=12, exponent=0.0, page_bytes=1_500, links=4, cross_links=0.3, failures=2,
        retry_after=RETRY_AFTER, robots=("allow", "delay"), misbehaviours=cases,
    )  # fmt: skip


SLACK = 0.02
"""Seconds by which the server may be late to notice that it has sent everything, on a busy machine."""


def rude_visits(life: Life, manners: Manners) -> list[str]:
    """Every breach of the rules, one line each.

    Of a visit in the last half second before the death of a process nobody knows what was learned
    of it; its host still has a claim to the ordinary rest.
    """
    by_host: dict[str, list[Visit]] = defaultdict(list)
    for visit in life.web.log():
        by_host[visit.host].append(visit)
    breaches = []
    for host, visits in by_host.items():
        visits.sort(key=lambda visit: visit.started)
        delay = 0.0
        for before, after in pairwise(visits):
            forgotten = any(0 <= moment - before.started < 0.5 for moment in life.ends)
            rest = manners.min_delay
            if not forgotten:
                if before.target == "/robots.txt" and before.status == 200:
                    delay = crawl_delay(life, host)
                took = max(0.0, before.ended - before.started - SLACK)
                asked = manners.retry_after.get(before.status, 0.0)
                rest = max(rest, min(manners.factor * took, 30.0), delay, asked)
            gap = after.started - before.ended
            if gap < rest - SLACK or after.open != 1:
                breaches.append(
                    f"{host}: {before.target} ({before.status}), then {after.target} after {gap:.3f} s, "
                    f"owed {rest:.3f} s, {after.open} open"
                )
    return breaches


def waits(life: Life, host: str, status: int) -> list[float]:
    """Seconds from the end of each visit that ended with `status` to the next visit of the host."""
    visits = [visit for visit in life.web.log() if visit.host == host]
    return [b.started - a.ended for a, b in pairwise(visits) if a.status == status]


def wait_for(life: Life, condition: Callable[[list[Visit]], bool]) -> None:
    """Wait until the servers have seen something."""
    patience = time.monotonic() + PATIENCE
    while not condition(life.web.log()):
        assert time.monotonic() < patience, "the crawl never came to it"
        time.sleep(0.02)


def dice(test: str) -> random.Random:
    """Chances that are the same in every run."""
    return random.Random(test)
