"""Is a replayed page as it was? A simulated web, a scripted site and documentation packed for npm, in Chromium.

`python -m benchmarks.replay [--quick] [--pages N] [--json]`

Each site is crawled with what its pages show, and its pages are looked at in Chromium as they are served; then the
servers are stopped, and each is looked at again as `gossamer view` replays it, with no name resolvable. A page counts
if its text is the same, and if all that it loaded is loaded again, each by its archived address. What is asked for
outside of the archive is counted too.
"""

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.npm import PACKAGES, unpacked
from benchmarks.replay_looks import Look, closed_chromium, crawl_whole, live, look, replayed, viewed
from benchmarks.script_links import folder_served
from gossamer.inspect.inspection import inspect
from gossamer.inspect.url_list import Wanted, listed
from gossamer.simweb import SimulatedWeb, WorldSpec

PAGES = 40
"""Of each site, that are looked at twice."""
SIMULATED = WorldSpec.friendly(hosts=8, pages=80, misbehaviours=(), addresses=1)
_GOALS = {"static": 1.0, "scripted": 0.97}
_SUPPORT = Path(__file__).parents[1] / "tests" / "support"


class Site(msgspec.Struct, frozen=True):
    """A site that is served.

    Attributes:
        name: of it.
        kind: `static` or `scripted`.
        seeds: of its crawl.
        pages: those to look at; empty: what was crawled.
        names: rules by which the browser finds it.
        more: options of the crawl.
    """

    name: str
    kind: str
    seeds: Sequence[str]
    pages: Sequence[str] = ()
    names: str = ""
    more: Sequence[str] = ()


@contextlib.contextmanager
def simulated() -> Iterator[Site]:
    """A web of pages in many encodings, with redirects and broken markup."""
    with SimulatedWeb(SIMULATED, log=False) as web:
        more = ["--nameserver", web.nameserver, "--scope", "any"]
        rule = f"MAP *.test {SIMULATED.network}.0.1 ,"
        yield Site("simulated", "static", web.seeds, names=rule, more=more)


@contextlib.contextmanager
def scripted() -> Iterator[Site]:
    """A site of two origins whose pages are made in many ways; that of the tests."""
    sys.path.append(str(_SUPPORT))
    from scripted_site import first, pages, second
    from small_site import small_site

    with small_site(second, "127.0.0.2") as other, small_site(first(other)) as site:
        wanted = [f"{site}{name}" for name in pages(other)]
        yield Site("scripted", "scripted", [site, f"{other}page.html"], wanted)


@contextlib.contextmanager
def unpacked_already(folder: Path) -> Iterator[Site]:
    """Documentation that is there as files."""
    with folder_served(folder) as site:
        yield Site(folder.name, "static", [site])


@contextlib.contextmanager
def packed(package: str, within: str, kind: str) -> Iterator[Site | None]:
    """Documentation as npm packs it; `None` if it cannot be had."""
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as place:
        folder = unpacked(package, within, Path(place))
        if folder is None:
            yield None
            return
        with folder_served(folder) as site:
            yield Site(package, kind, [site])


def measured(site: Site, stop: contextlib.ExitStack, folder: Path, most: int) -> dict[str, Any]:
    """Look at a site, stop it, and look at it again."""
    crawl_whole(folder, *site.seeds, more=site.more)
    with inspect(folder) as inspection:
        found = [one.url for one in listed(inspection, Wanted(state="done", status="200", type="text/html"))]
    wanted = list(site.pages) or found[:: -(-len(found) // most) or 1]
    with closed_chromium(site.names) as browser:
        before = {url: seen for url in wanted if (seen := looked(browser, url)) is not None}
    stop.close()
    text = whole = 0
    left: list[str] = []
    different = []
    with viewed(folder) as shown, closed_chromium() as browser:
        archived = replayed(shown)
        for url, was in before.items():
            now = looked(browser, shown.address(url), archived)
            same = now is not None and now.text == was.text
            missing = sorted(essential(was) - essential(now)) if now is not None else [url]
            text += same
            whole += same and not missing
            left += now.left if now is not None else ()
            if not same or missing:
                different.append({"url": url, "text": same, "missing": missing[:3]})
    pages = max(1, len(before))
    return {
        "kind": site.kind, "crawled": len(found), "pages": len(before),
        "resources": sum(len(each.loaded) for each in before.values()),
        "same_text": round(text / pages, 4), "same": round(whole / pages, 4), "left": len(left),
        "different": different[:20],
    }  # fmt: skip


def looked(browser: Any, address: str, archived: Any = live) -> Look | None:
    """A look at a page; `None` if it cannot be shown."""
    with contextlib.suppress(Exception):
        return look(browser, address, archived)
    return None


def essential(seen: Look) -> frozenset[str]:
    """What was loaded, less what browsers ask for by themselves and what differs at each visit."""
    return frozenset(url.partition("?_=")[0] for url in seen.loaded if not url.endswith("/favicon.ico"))


def main() -> None:
    """Run it, and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="without packages of npm, ten pages a site")
    parser.add_argument("--pages", type=int, default=PAGES, help="of each site that are looked at")
    parser.add_argument(
        "--folder", type=Path, action="append", default=[], help="static documentation to serve, too"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    if shutil.which("chromium") is None:
        parser.error("chromium is not installed")
    most = 10 if arguments.quick else arguments.pages
    sites = [simulated(), scripted(), *map(unpacked_already, arguments.folder)]
    sites += [] if arguments.quick else [packed(*package) for package in PACKAGES]
    result: dict[str, Any] = {"sites": {}, "not_had": 0}
    since = time.monotonic()
    for each in sites:
        with contextlib.ExitStack() as stack, tempfile.TemporaryDirectory(prefix="gossamer-bench-") as place:
            site = stack.enter_context(each)
            if site is None:
                result["not_had"] += 1
                continue
            result["sites"][site.name] = measured(site, stack, Path(place) / "crawl", most)
            if not arguments.json:
                print(site.name, result["sites"][site.name], flush=True)
    for kind, goal in _GOALS.items():
        of_kind = [one for one in result["sites"].values() if one["kind"] == kind]
        pages = sum(one["pages"] for one in of_kind)
        share = sum(one["same"] * one["pages"] for one in of_kind) / max(1, pages)
        result[kind] = {"pages": pages, "same": round(share, 4), "goal": goal}
    result["left"] = sum(one["left"] for one in result["sites"].values())
    result["seconds"] = round(time.monotonic() - since)
    result["ok"] = result["left"] == 0 and all(result[kind]["same"] >= goal for kind, goal in _GOALS.items())
    print(json.dumps(result, indent=None if arguments.json else 2))
    sys.exit(0 if result["ok"] else 1)


if __name__ == "__main__":
    main()
