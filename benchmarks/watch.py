"""Watches under kills: planted changes among noise, told to a webhook that fails now and then.

    python -m benchmarks.watch --json [--pages 500] [--rounds 10] [--kills 30]

A real crawl visits its pages again and again, its follower compares them, and one of both is killed (SIGKILL) every few
seconds. Half of the kinds of noise are such as the mechanism was not tuned on. What was captured says which changes
could be seen: recall is the part of them that was told, precision the part of the notices that tell one.
"""

import argparse
import http.server
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.change_noise import HELD_OUT, PLANTED, TUNED, State, Visit, phrase
from benchmarks.measure import hear_interrupts
from gossamer.inspect.archive.captures import captures
from gossamer.inspect.inspection import inspect
from gossamer.policy.change.pieces import pieces_of
from gossamer.watch.following import Following
from gossamer.watch.shown import last_notices
from gossamer.watch.store import Notice

NOISE = {**TUNED, **HELD_OUT}
HOSTS = 5
CHANGES = 0.2
"""Of the visits, before which something was planted."""
TITLES = ("Welcome", "For you", "More", "About this page", "Service")
"""Of the boxes that a site's template has."""
FAILS = 0.1
"""Of the requests to the webhook."""
WARM = 4
"""Visits of a page before anything is planted in it; nothing is planted before the last two either, because on a noisy
site the next visit tells."""


class Plant(NamedTuple):
    """A change that was planted: of which kind, before which visit, and the pieces of its block before and after."""

    version: int
    kind: str
    at: int
    before: set[str]
    after: set[str]

    def told(self, lines: set[tuple[str, str]]) -> bool:
        """Whether a notice tells of it."""
        come, gone = self.after - self.before, self.before - self.after
        return any(("+", text) in lines for text in come) or (
            not come and any(("-", text) in lines for text in gone)
        )


class World:
    """Pages, and what was planted in them; a webhook, and what it was told."""

    def __init__(self, pages: int, rounds: int, seed: int) -> None:
        self.until = rounds - 2
        self.pages = pages
        self.random = random.Random(seed)
        self.states = [State(random.Random(f"{seed}/{page}")) for page in range(pages)]
        self.versions = [0] * pages
        self.visits = [0] * pages
        self.plants: list[list[Plant]] = [[] for _ in range(pages)]
        self.told: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        self.quiet = False
        world = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                _, _, name = self.path.rpartition("/")
                if not self.path.startswith("/p/") or not name.isdigit():
                    self._send(404, b"nothing")
                    return
                with world.lock:
                    body = world.page(int(name))
                self._send(200, body.encode())

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with world.lock:
                    fails = not world.quiet and world.random.random() < FAILS
                    world.told.append({"id": self.headers["Gossamer-Notice-Id"], "notices": body["notices"],
                                       "count": body["count"]})  # fmt: skip
                self._send(500 if fails else 200, b"")

            def _send(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def address(self, page: int) -> str:
        return f"http://127.0.0.{2 + page % HOSTS}:{self.port}/p/{page}"

    def page(self, page: int) -> str:
        """The next visit of it."""
        self.visits[page] += 1
        state = self.states[page]
        if WARM < self.visits[page] < self.until and self.random.random() < CHANGES:
            kind = self.random.choice([kind for kind in PLANTED if kind != "stock"])  # that may be taken back
            before, at = set(pieces_of(state.markup()[kind])), self.visits[page]
            if (
                self.plants[page]
                and self.plants[page][-1].kind == kind
                and self.plants[page][-1].at == at - 1
            ):
                # Nobody is told of what was changed again by the next visit, but of both together.
                before = self.plants[page].pop().before
            state.change(kind)
            after = set(pieces_of(state.markup()[kind]))
            self.versions[page] += 1
            self.plants[page].append(Plant(self.versions[page], kind, at, before, after))
        fixed = random.Random(page)
        text = "".join(f"<p>{phrase(fixed, 14)}.</p>" for _ in range(6))
        host = random.Random(page % HOSTS)
        kinds = host.sample(sorted(NOISE), 5)  # a site's pages have the same boxes
        visit = Visit(
            self.visits[page],
            1.7e9 + 25_000.0 * self.visits[page],
            random.Random(f"{page}/{self.visits[page]}"),
        )
        noise = [NOISE[kind](random.Random(f"{page}/{kind}"), visit) for kind in kinds]
        blocks = state.markup()
        shown = "".join(f"<section>{blocks[kind]}</section>" for kind in blocks)
        boxes = [f"<aside><h4>{title}</h4>{box}</aside>" for title, box in zip(TITLES, noise, strict=True)]
        return (
            f"<!doctype html><title>Page {page}</title><!-- version {self.versions[page]} -->"
            f"<nav><li>Home<li>Products<li>About us</nav>{boxes[0]}{boxes[1]}<main>{text}{shown}</main>"
            f"<nav><li>Share<li>Print<li>Report a mistake</nav>{''.join(boxes[2:])}<footer>Impressum</footer>"
        )

    def rounds(self) -> int:
        return min(self.visits)


def configured(world: World, folder: Path, every: float) -> Path:
    path = folder / "watch.toml"
    seeds = json.dumps([world.address(page) for page in range(world.pages)])
    path.write_text(
        f"""seeds = {seeds}
scope.max_depth = 0
politeness.min_delay = 0
politeness.factor = 0
engine.guess_sitemap = false
engine.checkpoint_every = "5s"
[revisit]
enabled = true
every."/p/*" = {every}
[[watch]]
name = "all"
match = "/p/*"
gather = 1
notify = ["http://127.0.0.1:{world.port}/hook"]
"""
    )
    return path


class Killer:
    """Runs the crawl, and kills it or its follower."""

    def __init__(self, folder: Path, config: Path, log: Path) -> None:
        self.crawl, self.config, self.log = folder, config, log
        self.process: subprocess.Popen[bytes] | None = None
        self.killed = {"crawl": 0, "follower": 0}

    def start(self) -> None:
        if (self.crawl / "crawl.toml").exists():
            command = ["resume", str(self.crawl), "--quiet"]
        else:
            command = ["crawl", "--config", str(self.config), "--dir", str(self.crawl), "--quiet"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gossamer", *command], stdout=log, stderr=log
            )

    def kill(self, what: str) -> bool:
        assert self.process is not None
        if what == "crawl":
            self.process.kill()
            self.process.wait()
            self.killed[what] += 1
            self.start()
            return True
        for pid in self.followers():
            os.kill(pid, signal.SIGKILL)
            self.killed[what] += 1
            return True
        return False

    def followers(self) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if str(self.crawl).encode() in words and b"--send" in words:
                found.append(int(entry.name))
        return found

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.wait(120)
        while self.followers():
            time.sleep(0.1)


def measure(pages: int, rounds: int, kills: int, seed: int = 1) -> dict[str, Any]:
    """Run it, and judge what was told."""
    world = World(pages, rounds, seed)
    draw = random.Random(seed + 1)
    with tempfile.TemporaryDirectory(prefix="watch-") as name:
        folder = Path(name)
        killer = Killer(folder / "crawl", configured(world, folder, max(2.0, pages / 100)), folder / "log")
        began, left = time.monotonic(), kills
        killer.start()
        while world.rounds() < rounds or left:
            time.sleep(0.05)
            if left and time.monotonic() - began > 1:
                time.sleep(draw.uniform(0.5, 4))
                if killer.kill("crawl" if left % 2 else "follower"):
                    left -= 1
            if time.monotonic() - began > 3_000:
                raise TimeoutError(
                    f"{world.rounds()} rounds, {left} kills left: {(folder / 'log').read_text()[-2_000:]}"
                )
        killer.stop()
        seconds = time.monotonic() - began
        world.quiet = True
        # What failed is due again in half a minute or later; nobody waits for that here.
        later = Following(folder / "crawl", clock=lambda: time.time() + 7 * 86_400)
        later.run(lambda: False, lambda: False)
        later.close()
        figures = judged(world, folder / "crawl")
        figures["log"] = (folder / "log").read_text()[-500:]
    world.server.shutdown()
    world.server.server_close()
    figures["wrong"], figures["missed"] = figures["wrong"][:20], figures["missed"][:20]
    return {"pages": pages, "kills": killer.killed, "seconds": round(seconds, 1), **figures}


def judged(world: World, crawl: Path) -> dict[str, Any]:
    """Precision and recall of the notices kept, and whether each arrived once."""
    seen = 0
    version: dict[str, int] = {}
    with inspect(crawl) as inspection:
        for capture in captures(inspection, []):
            url = capture.exchange.url.text
            if "/p/" not in url:
                continue
            body = capture.exchange.body.read()
            at = body.find(b"<!-- version ")
            version[url] = int(body[at + 13 : body.find(b" ", at + 13)])
            seen += 1
    notices = [one.notice for one in reversed(last_notices(crawl, limit=1_000_000))]
    told: dict[str, list[Notice]] = defaultdict(list)
    for notice in notices:
        told[notice.url].append(notice)
    planted = found = right = 0
    wrong: list[list[str]] = []
    missed: list[str] = []
    for url, last in version.items():
        left = [one for one in world.plants[int(url.rpartition("/")[2])] if one.version <= last]
        planted += len(left)
        for notice in told[url]:
            lines = {(line.sign, line.text) for place in notice.places for line in place.lines}
            tells = [one for one in left if one.told(lines)]
            right += bool(tells)
            found += len(tells)
            left = [one for one in left if one not in tells]
            if not tells:
                wrong.append([f"{sign} {text[:90]}" for sign, text in sorted(lines) if sign != " "])
        missed += [f"{url} {one.kind}: {sorted(one.after - one.before)}"[:200] for one in left]
    arrived: dict[str, set[str]] = defaultdict(set)
    for message in world.told:
        for notice in message["notices"]:
            arrived[notice["id"]].add(message["id"])
    listed = {notice["id"] for message in world.told for notice in message["notices"]}
    cut = sum(
        max(0, count - 50) for count in {message["id"]: message["count"] for message in world.told}.values()
    )
    return {
        "captures": seen,
        "planted": planted,
        "notices": len(notices),
        "precision": round(right / len(notices), 4) if notices else 1.0,
        "recall": round(found / planted, 4) if planted else 1.0,
        "wrong": wrong,
        "missed": missed,
        "messages": len({message["id"] for message in world.told}),
        "requests": len(world.told),
        "told_by_two_messages": sum(len(ids) > 1 for ids in arrived.values()),
        "never_told": len({notice.id for notice in notices} - listed) - cut,
        "told_without_notice": len(listed - {notice.id for notice in notices}),
    }


def main() -> None:
    hear_interrupts()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    print(
        json.dumps(
            measure(given.pages, given.rounds, given.kills, given.seed), indent=None if given.json else 1
        )
    )


if __name__ == "__main__":
    main()
