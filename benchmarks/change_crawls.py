"""Does `gossamer diff DIR1 DIR2` tell what changed between two crawls, and nothing else?

`python -m benchmarks.change_crawls --pages DIR [--sites N] [--group NAME] [--json]`.

Sites of real pages (a folder of `*.html`, as of the WCXB set; without one they are made up) are crawled twice over
loopback. At each visit every page has up to five kinds of noise of `change_noise`, those of its site; in between some
pages change in one of the twelve kinds of `change`, some go, some come, and some move to another address. Then it is
compared what `diff` says with what was done. Here nothing is learned by visiting again: two captures of each page are
all there is.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.change import GROUPS, Page, pages_in
from benchmarks.wacz import served

PAGES = 40
_DAY = 86_400.0
_SHARES = {"gone": 0.05, "new": 0.05, "moved": 0.05, "changed": 0.35}
_KINDS = ("changed", "moved", "new", "gone", "same")


class Planted:
    """A site whose pages are known before and after."""

    def __init__(self, markups: list[str], group: str, seed: int) -> None:
        draw = random.Random(seed)
        kinds = GROUPS[group]
        names = draw.sample(sorted(kinds), draw.randrange(1, 6))
        noises = {name: kinds[name] for name in names}
        self.first: dict[str, str] = {}
        self.second: dict[str, str] = {}
        self.truth: dict[str, str] = {}
        for number in range(PAGES):
            page = Page(draw.choice(markups), [], noises, f"{seed}/{number}", hidden=group != "tuned")
            fate = draw.choices([*_SHARES, "same"], [*_SHARES.values(), 1 - sum(_SHARES.values())])[0]
            name = after = f"page-{number}.html"
            before = page.seen(0, 0.0, noise=False)
            if fate != "new":
                self.first[name] = page.seen(1, _DAY * 20_000 + draw.random() * _DAY)
            if fate == "changed":
                page.change()
                if page.seen(0, 0.0, noise=False) == before:
                    fate = "same"
            if fate == "moved":
                after = f"moved-{number}.html"
            if fate != "gone":
                self.second[after] = page.seen(2, _DAY * 20_030 + draw.random() * _DAY)
            self.truth[name if fate == "gone" else after] = fate
        for pages in (self.first, self.second):
            links = sorted({*self.first, *self.second})
            pages["index.html"] = "".join(f"<a href=/{one}>{one}</a> " for one in links)


def gossamer(*arguments: str) -> str:
    """Run the command; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"gossamer {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def said_of(site: Planted, folder: Path) -> dict[str, str]:
    """What `diff` tells of each page, by its name."""
    pages: dict[str, str] = {}
    with served(site=pages) as address:
        for name, now in (("one", site.first), ("two", site.second)):
            pages.clear()
            pages.update(now)
            gossamer("crawl", f"{address}/", "--min-delay", "0", "--dir", str(folder / name), "-q")
    *lines, _ = map(
        json.loads, gossamer("diff", str(folder / "one"), str(folder / "two"), "--json").splitlines()
    )
    return {line["url"].rpartition("/")[2]: line["kind"] for line in lines}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.change_crawls", description=__doc__)
    parser.add_argument("--pages", type=Path, help="folder with real pages")
    parser.add_argument("--sites", type=int, default=15)
    parser.add_argument("--group", choices=GROUPS, default="tuned", help="of kinds of noise")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="two sites")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    markups = pages_in(asked.pages)
    table: Counter[tuple[str, str]] = Counter()
    for number in range(2 if asked.quick else asked.sites):
        site = Planted(markups, asked.group, asked.seed * 1_000 + number)
        with tempfile.TemporaryDirectory(prefix="gossamer-change-") as scratch:
            said = said_of(site, Path(scratch))
        table.update((fate, said.get(name, "same")) for name, fate in site.truth.items())
    print(json.dumps(figures(table), indent=None if asked.json else 2))


def figures(table: Counter[tuple[str, str]]) -> dict[str, Any]:
    """Precision and recall of each kind; how many pages that stayed were told as changed."""
    told: dict[str, Any] = {"pages": table.total()}
    for kind in _KINDS[:-1]:
        right = table[kind, kind]
        all_said = sum(count for (_, said), count in table.items() if said == kind)
        all_true = sum(count for (true, _), count in table.items() if true == kind)
        told[kind] = {
            "there": all_true,
            "precision": round(right / max(all_said, 1), 4),
            "recall": round(right / max(all_true, 1), 4),
        }
    stayed = sum(count for (true, _), count in table.items() if true == "same")
    told["false_alarms"] = round(table["same", "changed"] / max(stayed, 1), 4)
    told["confused"] = {
        f"{true} told as {said}": count for (true, said), count in table.items() if true != said
    }
    return told


if __name__ == "__main__":
    main()
