"""Is a mirror read as the site was? A simulated web and documentation packed for npm, beside wget and HTTrack.

Each package is served on loopback and crawled, mirrored and looked at in Chromium; then the server is stopped, and each
mirror is looked at from the disk and from a server of files, with no name resolvable. A page counts if its text is the
same and as many of its pictures, style sheets, scripts and fonts are there. Links are checked by lexbor, which is not
our scanner, and by linkchecker if that is given.
"""

import argparse
import codecs
import contextlib
import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from benchmarks import measure, webs
from benchmarks.npm import PACKAGES, unpacked
from benchmarks.replay_looks import SAME_CHANCE, text_at_rest
from benchmarks.script_links import folder_served

PAGES_SHOWN = 25
SIMULATED_PAGES = 2_000
SIMULATED_HOSTS = 20
FOREIGN_SECONDS = 900.0
SHOW_MILLISECONDS = 240_000
"""A limit for what must not hang, not a measure: other work may share the machine."""
_AS_SCRIPTS_LOAD = [
    word
    for setting in ("speculation.follow=true", "speculation.min_belief=0", "speculation.max_missing=1")
    for word in ("--set", setting)
]
"""What scripts load is in the mirror, too."""
_CHROMIUM = shutil.which("chromium")
_ADDRESSES = ("href", "src", "poster", "data", "background", "xlink:href")
_VALUE = rb"""(?:"[^"]*"|'[^']*'|[^\s>"']+)"""
_LED = re.compile(
    rb"(?i)\b(?:href|src|srcset|poster|data|background|style|action|formaction|content|srcdoc|longdesc)\s*=\s*" + _VALUE
    + rb"|\s(?:integrity|crossorigin)\b(?:\s*=\s*" + _VALUE + rb")?"
    + rb"""|\burl\((?:\s*"[^"]*"\s*|\s*'[^']*'\s*|[^)"']*)\)|@import\s+(?:"[^"]*"|'[^']*')"""
)  # fmt: skip
"""What may lead somewhere, of a page or a style sheet, and what goes where it led to another origin."""

Files = dict[str, Path]
"""The file of each address, without scheme and host."""


def crawl(seeds: Sequence[str], folder: Path, log: Path, *more: str) -> None:
    """Crawl whole sites with what their pages show."""
    settings = {"politeness.min_delay": 0, "politeness.factor": 0, "politeness.visits_per_host": 8}
    command = [sys.executable, "-m", "gossamer", "crawl", *seeds, "--dir", str(folder), "--quiet", *more]
    command += ["--requisites", "host", "--contact", "benchmark@example.org"]
    command += [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    used = measure.run(command, log=log)
    if used.status:
        raise RuntimeError(log.read_text()[-2_000:])


def mirrored(folder: Path, out: Path, log: Path) -> dict[str, Any]:
    """Mirror a crawl twice: what it took, and what the second run wrote."""
    command = [sys.executable, "-m", "gossamer", "mirror", str(folder), str(out), "--json"]
    log.unlink(missing_ok=True)
    first = measure.run(command, log=log)
    said = json.loads(log.read_text())
    log.unlink()
    second = measure.run(command, log=log)
    again = json.loads(log.read_text())
    return {
        "files": said["files"],
        "bytes": said["bytes"],
        "links": said["links"],
        "cpu_seconds": round(first.cpu_seconds, 2),
        "files_per_cpu_second": round(said["files"] / first.cpu_seconds, 1),
        "peak_mb": round(first.peak_mb, 1),
        "second_run_cpu_seconds": round(second.cpu_seconds, 2),
        "second_run_wrote": again["written"],
    }


def files_of_gossamer(out: Path) -> Files:
    """By its manifest."""
    with (out / "manifest.csv").open(encoding="utf-8", newline="") as lines:
        return {_target(row["url"]): out / row["file"] for row in csv.DictReader(lines)}


def files_of_wget(out: Path, targets: Sequence[str]) -> Files:
    """By the names that wget gives."""
    root = next((path for path in out.iterdir() if path.is_dir()), out)
    found = {}
    for target in targets:
        name = unquote(target.lstrip("/"))
        tried = (
            (f"{name}index.html", name, f"{name}.html")
            if name.endswith("/") or not name
            else (name, f"{name}.html")
        )
        if file := next((root / each for each in tried if (root / each).is_file()), None):
            found[target] = file
    return found


def files_of_httrack(out: Path) -> Files:
    """By its own log of files."""
    log, found = out / "hts-cache" / "new.txt", {}
    for line in log.read_text(errors="replace").splitlines() if log.exists() else ():
        parts = line.split("\t")
        if len(parts) > 8 and parts[7].startswith("http"):
            file = out / parts[8].strip() if not parts[8].startswith("/") else Path(parts[8].strip())
            found[_target(parts[7])] = file
    return found


def _target(url: str) -> str:
    return urlsplit(url)._replace(scheme="", netloc="", fragment="").geturl() or "/"


class Shown:
    """What Chromium shows of a page."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._loaded: Counter[str] = Counter()
        self._here = ""
        self.left: set[str] = set()
        page.on("request", lambda request: self._asked(request.url))
        page.on("requestfinished", lambda request: self._count(request, 1))
        page.on(
            "response", lambda response: self._count(response.request, -1) if response.status >= 400 else None
        )

    def _count(self, request: Any, by: int) -> None:
        if request.resource_type in ("image", "stylesheet", "script", "font", "media"):
            self._loaded[request.resource_type] += by

    def at(self, here: str) -> None:
        """From now on, what does not begin like this is asked of others."""
        self._here = here
        self.left.clear()

    def _asked(self, url: str) -> None:
        if url.startswith(("http", "file:")) and not url.startswith(self._here):
            self.left.add(url)

    def look(self, address: str) -> tuple[str, dict[str, int]] | None:
        """(text, how many of each kind of resource were loaded); `None` if it cannot be shown."""
        self._loaded.clear()
        try:
            self._page.goto(address, wait_until="load", timeout=SHOW_MILLISECONDS)
            text = text_at_rest(self._page)
        except Exception:  # noqa: BLE001 (of the driver, for whatever reason: the page was not shown)
            return None
        return text, dict(+self._loaded)


@contextlib.contextmanager
def browser() -> Iterator[Shown]:
    """Chromium, to which no name is known."""
    from playwright.sync_api import sync_playwright

    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox", rules])
        try:
            context = running.new_context()
            context.add_init_script(SAME_CHANCE)
            yield Shown(context.new_page())
        finally:
            running.close()


def shares(seen: dict[str, Any], files: Files, root: Path, here: str, shown: Shown) -> dict[str, Any]:
    """How many pages are as they were, with the files of `root` at the address `here`."""
    shown.at(here)
    text = resources = 0
    different = []
    for target, before in seen.items():
        file = files.get(target)
        after = shown.look(here + file.as_uri()[len(root.as_uri()) + 1 :]) if file is not None else None
        same_text = after is not None and after[0] == before[0]
        there = after is not None and all(after[1].get(kind, 0) >= count for kind, count in before[1].items())
        text += same_text
        resources += there
        if not (same_text and there):
            different.append(target)
    pages = max(1, len(seen))
    return {
        "text": round(text / pages, 4),
        "resources": round(resources / pages, 4),
        "different": different[:5],
        "left": sorted(shown.left),
    }


def broken_links(root: Path) -> dict[str, Any]:
    """Links of the pages under `root` to files that are not there, as lexbor reads them."""
    links = broken = 0
    samples = []
    for path in root.rglob("*"):
        if path.suffix.lower() not in (".html", ".htm") or not path.is_file():
            continue
        tree = LexborHTMLParser(path.read_bytes())
        base = tree.css_first("base[href]")
        start = urljoin(path.as_uri(), base.attributes.get("href") or "") if base else path.as_uri()
        for address in _addresses(tree):
            there = urlsplit(urljoin(start, address.strip()))
            if there.scheme == "file":
                links += 1
                file = Path(unquote(there.path))
                if not file.is_file():
                    broken += 1
                    samples.append(f"{path.relative_to(root)} -> {address}")
    return {"internal_links": links, "broken": broken, "samples": samples[:5]}


def _addresses(tree: LexborHTMLParser) -> Iterator[str]:
    for node in tree.css("*"):
        for name, value in node.attributes.items():
            if not value or node.tag == "base":
                continue
            if name in _ADDRESSES:
                yield value
            elif name == "srcset":
                yield from (part.split()[0] for part in re.split(r",\s+", value) if part.strip())


def same_outside(files: Files, original: Callable[[str], bytes | None]) -> dict[str, int]:
    """Files that are what was served, byte by byte; pages and style sheets less what may lead somewhere."""
    counts: Counter[str] = Counter()
    for target, file in files.items():
        before = original(target)
        if before is None or not file.is_file():
            continue
        after = file.read_bytes()
        kind = "pages" if file.suffix.lower() in (".html", ".htm") else "others"
        if kind == "pages" or file.suffix.lower() in (".css", ".svg"):
            before, after = (_LED.sub(b"", each.removeprefix(codecs.BOM_UTF8)) for each in (before, after))
        counts[kind] += 1
        counts[f"{kind}_same"] += before == after
    return dict(counts)


def by_linkchecker(program: str, root: Path, start: Path) -> dict[str, Any]:
    """What linkchecker says of a mirror on the disk."""
    for path in (root.parent, root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)  # as root it becomes somebody else
    command = [program, "--no-status", "--no-warnings", "--no-robots", "--threads=2", start.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FOREIGN_SECONDS, check=False)
    checked = re.search(r"(\d+) links in \d+ URLs", done.stdout)
    wrong = [told for told in done.stdout.split("\n\n") if re.search(r"^Real URL +file:", told, re.MULTILINE)]
    return {"links": int(checked[1]) if checked else 0, "broken": len(wrong), "samples": wrong[:3]}


def shown_again(
    folder: Path, place: Path, shown: Shown | None, linkchecker: str, most: int
) -> dict[str, Any]:
    """Documentation in `folder`: crawled and looked at, then each mirror looked at; all is made in `place`."""
    log, crawled = place / "log", place / "crawl"
    outs = {name: place / name for name in ("gossamer", "wget", "httrack")}
    result: dict[str, Any] = {}
    with folder_served(folder) as site:
        crawl([site], crawled, log, *_AS_SCRIPTS_LOAD)
        result["gossamer"] = mirrored(crawled, outs["gossamer"], log)
        files = {"gossamer": files_of_gossamer(outs["gossamer"])}
        targets = [target for target, file in files["gossamer"].items() if file.suffix in (".html", ".htm")]
        for name, command in _foreign(site, outs).items():
            used = measure.run(command, log=log, timeout=FOREIGN_SECONDS)
            result[name] = {"cpu_seconds": round(used.cpu_seconds, 2), "peak_mb": round(used.peak_mb, 1)}
            files[name] = (
                files_of_wget(outs[name], targets) if name == "wget" else files_of_httrack(outs[name])
            )
        seen = {}
        for target in targets[:: -(-len(targets) // most) or 1] if shown is not None else ():
            if (found := shown.look(urljoin(site, target))) is not None:  # type: ignore[union-attr]
                seen[target] = found

    def original(target: str) -> bytes | None:
        file = folder / unquote(urlsplit(target).path).lstrip("/")
        file = file / "index.html" if file.is_dir() else file
        return file.read_bytes() if file.is_file() else None

    result["pages_shown"] = len(seen)
    for name, by_target in files.items():
        root = outs[name]
        told = result[name]
        told["links_by_lexbor"] = broken_links(root)
        told["outside"] = same_outside(by_target, original)
        if shown is not None:
            told["from_disk"] = shares(seen, by_target, root, f"{root.as_uri()}/", shown)
            with folder_served(root) as served:
                told["from_server"] = shares(seen, by_target, root, served, shown)
        if linkchecker:
            told["linkchecker"] = by_linkchecker(linkchecker, root, by_target.get("/", root / "index.html"))
    return result


def _foreign(site: str, outs: dict[str, Path]) -> dict[str, list[str]]:
    """The commands of other programs that are installed."""
    for out in outs.values():
        out.mkdir(exist_ok=True)
    commands = {
        "wget": ["wget", "-q", "-r", "-l", "inf", "-k", "-p", "-E", "-P", str(outs["wget"]), site],
        "httrack": [
            "httrack",
            site,
            "-O",
            str(outs["httrack"]),
            "-q",
            "-I0",
            "-c8",
            "-%c100",
            "-A99999999",
            "-s0",
            "-r99",
        ],
    }
    return {name: command for name, command in commands.items() if shutil.which(name)}


def simulated(place: Path, pages: int) -> dict[str, Any]:
    """A simulated web: what a mirror of it takes, its links, and the text of its pages."""
    log, crawled, out = place / "log", place / "crawl", place / "gossamer"
    core = measure.cores()[1]
    with webs.simulated(pages=pages, hosts=SIMULATED_HOSTS, page_bytes=30_000, core=core) as web:
        crawl(web.start, crawled, log, "--nameserver", web.nameserver)
    result = mirrored(crawled, out, log)
    result["links_by_lexbor"] = broken_links(out)
    return result


def documentation(
    packages: Sequence[tuple[str, str, str]], folders: Sequence[Path]
) -> Iterator[tuple[str, Path]]:
    """(name, folder) of what can be had of npm, and of what is there; what was unpacked goes afterwards."""
    for package, within, _ in packages:
        with tempfile.TemporaryDirectory(prefix="gossamer-mirror-") as place:
            if (folder := unpacked(package, within, Path(place))) is not None:
                yield package, folder
    yield from ((folder.name, folder) for folder in folders)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--quick", action="store_true", help="the first package and 300 simulated pages")
    parser.add_argument(
        "--linkchecker", default=shutil.which("linkchecker") or "", help="the program of PyPI's package"
    )
    parser.add_argument(
        "--folder", type=Path, action="append", default=[], help="further documentation to serve"
    )
    parser.add_argument("--shown", type=int, default=PAGES_SHOWN, help="pages of each to look at")
    parser.add_argument("--pages", type=int, default=SIMULATED_PAGES, help="simulated pages; 0 for none")
    asked = parser.parse_args()
    measure.tidy_when_terminated()
    packages, pages = (PACKAGES[:1], 300) if asked.quick else (PACKAGES, asked.pages)
    result: dict[str, Any] = {}
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        shown = stack.enter_context(browser()) if _CHROMIUM else None
        for name, folder in documentation(packages, asked.folder):
            with tempfile.TemporaryDirectory(prefix="gossamer-mirror-") as place:
                result[name] = shown_again(folder, Path(place), shown, asked.linkchecker, asked.shown)
            print(name, json.dumps(result[name]), file=sys.stderr)
    if pages:
        with tempfile.TemporaryDirectory(prefix="gossamer-mirror-") as place:
            result["simulated"] = {"gossamer": simulated(Path(place), pages)}
    result["not_had"] = [name for name, *_ in packages if name not in result]
    result["seconds"] = round(time.monotonic() - began)
    ours = [told["gossamer"] for told in result.values() if isinstance(told, dict)]
    result["ok"] = all(told["links_by_lexbor"]["broken"] == 0 for told in ours)
    print(json.dumps(result, indent=None if asked.json else 1))
    sys.exit(not result["ok"])


if __name__ == "__main__":
    main()
