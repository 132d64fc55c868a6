"""Does it notice what changes, and nothing else: planted changes in real pages, among planted noise.

`python -m benchmarks.change --histories DIR --pages DIR [--groups NAME,...] [--sites N] [--json]`.

Pages are those of a folder (`*.html`, `*.html.gz`, as of the WCXB set; without one they are made up), and change as
documents did (`*.json.gz`, {path: [seconds since 1970, ...]}): one of twelve kinds of change at each of these times.
They are visited 24 times in equal intervals, each time with up to three kinds of noise (`change_noise`) and written
otherwise. What is learned is learned from the visits alone. From the fourth visit on each pair of visits counts: has
it changed, and did `gossamer.policy.change` say so? Beside it what a hash of the text says.
"""

import argparse
import gzip
import json
import random
import re
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.change_noise import (
    EDITS,
    FRESH,
    HELD_OUT,
    KEPT_BACK,
    PLANTED,
    TUNED,
    Noise,
    State,
    Visit,
    edit,
    phrase,
    rewrapped,
    spaced,
)
from gossamer.policy.change.change import changed, fingerprint
from gossamer.policy.change.pieces import pieces_of
from gossamer.policy.change.volatile import MOST_BYTES, Volatile

VISITS = 24
LEARNING = 3
"""Visits from which it may learn before it is judged."""
_GOALS = {"precision": 0.97, "recall": 0.97, "false_alarms": 0.01}
GROUPS = {"tuned": TUNED, "held_out": HELD_OUT, "kept_back": KEPT_BACK, "fresh": FRESH}
_SCRIPTS = re.compile(r"<(script|style|svg|template)\b.*?</\1>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_ENDS = re.compile(r"</(?:p|div|ul|h2|table|section)>", re.IGNORECASE)


class Page:
    """A page that changes, and is noisy."""

    def __init__(
        self, markup: str, times: list[float], noises: dict[str, Any], seed: str, hidden: bool
    ) -> None:
        self._random = random.Random(seed)
        self._seed = seed
        self._state = State(self._random)
        self._noises = noises
        self._rewrite = rewrapped if hidden else spaced
        self._markup = self._with_marks(_SCRIPTS.sub("", markup))
        self._kinds = self._random.choices([*PLANTED, *EDITS], k=3)
        self.times = times
        self.last = ""

    def _with_marks(self, markup: str) -> str:
        """The page with places for what is planted in it."""
        ends = [match.end() for match in _ENDS.finditer(markup)] or [len(markup)]
        marks = [f"\x00{name}\x00" for name in (*PLANTED, *self._noises)]
        places = sorted((self._random.choice(ends), mark) for mark in marks)
        for at, mark in reversed(places):
            markup = markup[:at] + mark + markup[at:]
        return markup

    def change(self) -> None:
        """Something happens to it."""
        self.last = kind = self._random.choice(self._kinds)
        before = self._markup
        if kind in PLANTED:
            self._state.change(kind)
        else:
            self._markup = edit(self._markup, kind, self._random)
            if self._markup == before:
                self.last = "date"
                self._state.change("date")

    def seen(self, number: int, now: float, *, noise: bool = True) -> str:
        """As a visit finds it; without noise, what is true of it."""
        planted = self._state.markup()
        visit = Visit(number, now, random.Random(f"{self._seed}/{number}"))
        if noise:
            planted |= {name: make(random.Random(self._seed), visit) for name, make in self._noises.items()}
        text = re.sub("\x00(.*?)\x00", lambda mark: planted.get(mark[1], ""), self._markup)
        return self._rewrite(text, visit) if noise else text


def run(
    pages: list[str], histories: list[list[float]], sites: int, kinds: dict[str, Noise], seed: int
) -> dict[str, Any]:
    """Visit sites of one to four pages; what was said of each pair of visits."""
    draw = random.Random(seed)
    hidden = kinds is not TUNED
    said: Counter[tuple[bool, bool]] = Counter()
    plain: Counter[tuple[bool, bool]] = Counter()
    false, missed, stood = Counter(), Counter(), Counter()  # type: ignore[var-annotated]
    sizes, readings, differ = [], 0, 0
    for number in range(sites):
        noises = {name: kinds[name] for name in draw.sample(sorted(kinds), draw.randrange(4))}
        volatile = Volatile()
        site = []
        for one in range(draw.choice([1, 1, 2, 4])):
            times = draw.choice(histories)
            site.append(Page(draw.choice(pages), times, noises, f"{seed}/{number}/{one}", hidden))
        last: dict[int, tuple[list[str], str]] = {}
        for visit in range(VISITS):
            for which, page in enumerate(site):
                begin, end = page.times[0], page.times[-1]
                step = (end - begin) / VISITS
                now = begin + (visit + 1) * step + draw.random() * 7_000
                was = begin + visit * step
                truth = page.seen(0, 0.0, noise=False)
                happened = []
                if visit:
                    for _ in range(min(2, sum(was < each <= was + step for each in page.times))):
                        page.change()
                        happened.append(page.last)
                true = page.seen(0, 0.0, noise=False) != truth
                markup = page.seen(visit, now)
                pieces = pieces_of(markup)
                if which in last:
                    before, text = last[which]
                    found = bool(changed(before, pieces, volatile))
                    if visit >= LEARNING:
                        said[true, found] += 1
                        plain[true, text != (text := " ".join(pieces))] += 1
                        for name in noises:
                            stood[name] += not true and len(noises) == 1
                            false[name] += found and not true and len(noises) == 1
                        missed.update(happened if true and not found else ())
                        readings += 1
                        differ += fingerprint(before, volatile) != fingerprint(pieces, volatile)
                    volatile.learn(before, pieces)
                    volatile = Volatile.unpack(volatile.pack())
                last[which] = pieces, " ".join(pieces)
        sizes.append(len(volatile.pack()))
    return {
        **_figures(said),
        "text_hash": _figures(plain),
        "fingerprints_differ": round(differ / max(readings, 1), 4),
        "false_by_noise": {
            name: round(false[name] / stood[name], 4) for name in sorted(stood) if stood[name]
        },
        "missed_by_change": dict(missed.most_common()),
        "bytes_of_a_site": {"median": statistics.median(sizes), "most": max(sizes), "bound": MOST_BYTES},
    }


def _figures(said: Counter[tuple[bool, bool]]) -> dict[str, Any]:
    right, wrong, missed, quiet = said[True, True], said[False, True], said[True, False], said[False, False]
    return {
        "pairs": said.total(),
        "precision": round(right / max(right + wrong, 1), 4),
        "recall": round(right / max(right + missed, 1), 4),
        "false_alarms": round(wrong / max(wrong + quiet, 1), 4),
    }


def cost(pages: list[str]) -> dict[str, float]:
    """Milliseconds of CPU for a page as it is visited again, by a site of which something is known."""
    volatile = Volatile()
    for text in pages[:20]:
        pieces = pieces_of(text)
        volatile.learn(pieces, [*pieces[:-1], *pieces[-1:]])
    begin = time.process_time()
    rows = [pieces_of(text) for text in pages]
    middle = time.process_time()
    for row in rows:
        fingerprint(row, volatile)
    end = time.process_time()
    size = sum(map(len, pages)) / 1_000
    return {
        "kilobytes": round(size / len(pages), 1),
        "pieces_ms": round(1e3 * (middle - begin) / len(pages), 3),
        "fingerprint_ms": round(1e3 * (end - middle) / len(pages), 3),
        "ms_for_100_kb": round(1e5 * (end - begin) / size, 3),
    }


def large() -> dict[str, float]:
    """Seconds to compare two captures of 5 MB with 500 edits."""
    draw = random.Random(5)
    rows = [f"<p>{phrase(draw, 12)} {number}</p>" for number in range(52_000)]
    before = "\n".join(rows)
    for _ in range(500):
        rows[draw.randrange(len(rows))] = f"<p>{phrase(draw, 9)}</p>"
    after = "\n".join(rows)
    begin = time.perf_counter()
    change = changed(pieces_of(before, len(before)), pieces_of(after, len(after)))
    return {
        "megabytes": round(len(before) / 1e6, 1),
        "seconds": round(time.perf_counter() - begin, 2),
        "hunks": len(change.hunks),
    }


def pages_in(folder: Path | None) -> list[str]:
    if folder is None:
        draw = random.Random(3)
        return [
            "<body>" + "".join(f"<h2>{phrase(draw, 4)}</h2><p>{phrase(draw, 40)}.</p><div>{phrase(draw, 9)}</div>"
            for _ in range(draw.randrange(5, 60))) + "</body>"
            for _ in range(50)
        ]  # fmt: skip
    found = []
    for path in sorted(folder.rglob("*.html*")):
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        text = data.decode("utf-8", "replace")
        if text.count("<p") > 4 and len(text) < 1_000_000:
            found.append(text)
    return found


def _histories(folder: Path) -> list[list[float]]:
    files = sorted(folder.glob("*.json.gz"))
    if not files:
        sys.exit(f"{folder}: there is no *.json.gz, {{path: [seconds since 1970, ...]}}")
    found: list[list[float]] = []
    for path in files:
        with gzip.open(path) as stream:
            documents = json.load(stream).values()
        found += [
            sorted(times) for times in documents if len(times) >= 4 and max(times) - min(times) > 86_400 * 30
        ][:400]
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--histories", type=Path, required=True)
    parser.add_argument("--pages", type=Path, help="folder with real pages")
    parser.add_argument("--sites", type=int, default=100)
    parser.add_argument("--groups", default=",".join(GROUPS), help="of kinds of noise")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    pages, histories = pages_in(asked.pages), _histories(asked.histories)
    report: dict[str, Any] = {"pages": len(pages), "histories": len(histories), "goals": _GOALS}
    for name in asked.groups.split(","):
        report[name] = run(pages, histories, asked.sites, GROUPS[name], asked.seed)
    report["cost"], report["large"] = cost(pages), large()
    print(json.dumps(report, indent=None if asked.json else 2))


if __name__ == "__main__":
    main()
