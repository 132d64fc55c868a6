"""Crawls of a simulated web as processes of their own, which tests kill, and what must be true of them.

With `GOSSAMER_TORTURE_REVISIT=1` every one of them visits its pages again, on a fast clock, all the time: the whole
suite holds for such crawls, too, but for the crawls that visit nothing again by their nature (guesses, pieces);
`test_torture_revisit.py` runs a sample of it so.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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

REVISIT = "GOSSAMER_TORTURE_REVISIT"
FAST_DAY = 12.0
"""Seconds in which a day of visits again goes by."""
FAST_VISITS = 50_000
"""In such a day: more than can be made, so that each page is due again as soon as its host has rested."""
VISITED_AGAIN = 0.5
"""Of the pages, as a mean, that a session visits again before it is told to come to its end."""

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

    `settings` are dotted paths to values as in the TOML file; `env` is added to every process. One that visits again
    does not end by itself, so `end` tells it to leave that when it has visited many pages again.
    """

    web: SimulatedWeb
    folder: Path
    settings: dict[str, object] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=lambda: [sys.executable, "-m", "gossamer"])
    ends: list[float] = field(default_factory=list)
    """Moments (`time.monotonic()`) at which a process of this life had ended."""
    revisits: bool = field(default_factory=lambda: os.environ.get(REVISIT, "") == "1")

    def __post_init__(self) -> None:
        self._holder: subprocess.Popen[str] | None = None
        if self.revisits:
            self.settings = {"revisit.enabled": True, "revisit.visits": FAST_VISITS, **self.settings}
            self.fast = {"GOSSAMER_CLOCK": f"{86_400 / FAST_DAY:g}@{time.time():.3f}"}
        else:
            self.fast = {}
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
        environment = {**os.environ, **self.fast, **self.env, **env}
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
        if self._holder is None and arguments[0] in ("crawl", "resume"):
            self._holder = process
        return process

    def begin_crawl(self, **how: str) -> subprocess.Popen[str]:
        config = self.write_settings()
        return self.begin("crawl", "--config", str(config), "--dir", str(self.folder), **how)

    def begin_resume(self, *options: str, **how: str) -> subprocess.Popen[str]:
        again = ["--revisit"] if self.revisits else []
        return self.begin("resume", str(self.folder), *again, *options, **how)

    def end(self, process: subprocess.Popen[str]) -> Ended:
        """Wait for a process; one that stalls is killed, and fails the test."""
        try:
            if self.revisits and process is self._holder:
                self._leave_off(process, time.monotonic() + PATIENCE)
            stdout, stderr = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            raise AssertionError(f"stalled for {PATIENCE} s: {stderr}") from None
        finally:
            self.ends.append(time.monotonic())
            if process is self._holder:
                self._holder = None
        running.remove(process)
        return Ended(process.returncode, stdout, stderr)

    def _leave_off(self, process: subprocess.Popen[str], until: float) -> None:
        """Tell a crawl that it need not visit again, when it has visited many pages again."""
        before, wanted = again(self.web.log()), VISITED_AGAIN * self.web.spec.pages
        tell = [*self.command, "set", str(self.folder), "revisit.enabled=false"]
        while process.poll() is None and time.monotonic() < until:
            if (
                again(self.web.log()) - before >= wanted
                and not subprocess.run(tell, capture_output=True).returncode
            ):
                return
            time.sleep(0.05)

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
    return Counter((url, status) for url, status, _ in records(life))


def records(life: Life) -> Iterator[tuple[str, int, bool]]:
    """URL, status, and whether it has its own payload, of every response and revisit record."""
    kinds = WarcRecordType.response | WarcRecordType.revisit
    for path in life.archive_files:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=kinds, parse_http=True):
                status = record.http_headers.status_code if record.http_headers else 0
                yield record.headers["WARC-Target-URI"], status, record.record_type == WarcRecordType.response


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
    if life.revisits:
        assert_each_version_once(life, robots)
    else:
        assert not {url: count for url, count in crawled.items() if count != 1}
    finals = {
        line["url"]: line["status"]
        for line in log_lines(life)
        if line["kind"] != "robots" and line.get("status", 304) != 304 and line["became"] != "retry"
    }
    assert not known.compare(finals)
    assert_sound(life)
    assert [path.name for path in life.archive_files if path.name.endswith(".open")] == []
    report = json.loads((life.folder / "report.json").read_bytes())
    assert (report["ended"], report["queued"]) == ("finished", 0), report
    assert report["visits"] == len(log_lines(life))
    assert report["pages"] == len(pages)


def assert_each_version_once(life: Life, robots: Collection[str]) -> None:
    """Pages that never change have one payload in the archive, and no more records than visits."""
    kept = list(records(life))
    assert any(status == 304 for _, status, _ in kept), "nothing was visited again"
    payloads = Counter(url for url, status, whole in kept if whole and status == 200 and url not in robots)
    assert not {url: count for url, count in payloads.items() if count != 1}
    visits = Counter((visit.host, visit.target) for visit in life.web.log())
    assert not Counter(place_of(url) for url, _, _ in kept) - visits


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


def place_of(url: str) -> tuple[str, str]:
    """(host, target) as the servers note it."""
    parts = urlsplit(url)
    return parts.hostname or "", f"{parts.path}?{parts.query}" if parts.query else parts.path


def again(log: Iterable[Visit]) -> int:
    """Visits by which a client asked whether what it knows has changed."""
    return sum(visit.status == 304 for visit in log)


def fetched_in_vain(life: Life) -> set[tuple[str, str]]:
    """(host, target) of what was sent whole more often than the archive has it, failures left out.

    It had to be fetched again, or the visit will not be made up for, because a kill came between.
    """
    sent = Counter((v.host, v.target) for v in life.web.log() if v.whole and 0 < v.status < 500)
    return set(sent - Counter(place_of(url) for url, status, _ in records(life) if 0 < status < 500))


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


def hurry(life: Life) -> None:
    """Let a crawl that was killed go on quickly: its rests were long only so that it was not over before."""
    config = life.folder / "crawl.toml"
    slow, delay = config.read_text(), f'min_delay = "{life.settings["politeness.min_delay"]}"'
    assert slow.count(delay) == 1
    config.write_text(slow.replace(delay, 'min_delay = "20ms"'))


def wait_until_logged(life: Life, condition: Callable[[list[dict[str, Any]]], bool]) -> None:
    """Until the crawl has written something down: a server knows of a visit some time before."""

    def told(_: list[Visit]) -> bool:
        log = life.folder / "crawl.log"
        return condition(
            [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]] if log.exists() else []
        )

    wait_for(life, told)


def wait_until_throttled(life: Life) -> None:
    """Until each of the hosts that ask for rest has, and the crawl has written it down."""
    wait_until_logged(
        life, lambda lines: sum(line.get("status") in (429, 503) for line in lines) >= len(THROTTLED)
    )


def dice(test: str) -> random.Random:
    """Chances that are the same in every run."""
    return random.Random(test)
