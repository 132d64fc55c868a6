"""Links from scripts: how many are found, how many are none, what they cost, and where their visits lead.

`python -m benchmarks.script_links [--json] [--no-sites] [--tree NAME]`: the planted links of `script_pages`; real
documentation and programs of the web, crawled with `speculation.follow`; CPU time of a page with and without,
in pairs. Nothing is stored; a crawl of all sites takes some minutes.
"""

import argparse
import contextlib
import functools
import http.server
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks import measure
from benchmarks.docs_site import TREES, DocsSite, chosen
from benchmarks.script_pages import ScriptPage, script_pages
from gossamer.extract.config import ExtractConfig
from gossamer.extract.registry import builtin_extractors
from gossamer.extract.scripts.extractor import ScriptExtractor
from gossamer.model.document import Document
from gossamer.model.exchange import Headers
from gossamer.model.url import Url
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.form import prior
from gossamer.ports import Extractor

SITES = ("python", "sqlite", "git", "django", "handbook", "developers", "gtk", "gio", "libstdc++")
"""Trees of which each has its own generator: Sphinx, DocBook, gtk-doc, doxygen, by hand."""
PAIRS = 9
PAGES_TIMED = 120
CRAWL_SECONDS = 900.0
MOST_READ = 600
"""Files of a site that are read for their strings."""


def planted() -> dict[str, Any]:
    """Recall and precision on the pages that were written for it, at the belief from which links are visited."""
    least = SpeculationConfig().min_belief
    config = ExtractConfig()
    ours, others = ScriptExtractor(config), builtin_extractors(config)
    sums: Counter[str] = Counter()
    by_kind: dict[str, Counter[str]] = {}
    by_element: dict[str, Counter[str]] = {}
    wrong: list[str] = []
    for page in script_pages():
        document = Document(page.url, page.media_type, "utf-8", Headers([]), page.content)
        linked = _linked(document, others)
        found = {
            link.url.text.partition("#")[0]: link.element
            for link in ours.extract(document).links
            if prior(link.element) >= least and link.url.text not in linked
        }
        counts = _judge(page, found, linked)
        sums += counts
        by_kind[page.kind] = by_kind.get(page.kind, Counter()) + counts
        for address, element in found.items():
            right = address in page.planted
            by_element.setdefault(element, Counter())["right" if right else "wrong"] += 1
            wrong += [] if right else [f"{page.name}: {address} ({element})"]
    return {
        **_rates(sums),
        "pages": len(script_pages()),
        "look_alikes": sum(len(page.alikes) for page in script_pages()),
        "kinds": {kind: _rates(counts) for kind, counts in sorted(by_kind.items())},
        "places": {element: dict(counts) for element, counts in sorted(by_element.items())},
        "wrong": wrong,
    }


def _linked(document: Document, others: Sequence[Extractor]) -> set[str]:
    """What the extractors that know no scripts find: no gain, and no fault of ours."""
    return {
        link.url.text
        for one in others
        if document.media_type in one.media_types
        for link in one.extract(document).links
    }


def _judge(page: ScriptPage, found: dict[str, str], linked: set[str]) -> Counter[str]:
    right = page.planted & (found.keys() | linked)
    return Counter(planted=len(page.planted), right=len(right), wrong=len(found.keys() - page.planted))


def _rates(counts: Counter[str]) -> dict[str, float]:
    taken = counts["right"] + counts["wrong"]
    return {
        "planted": counts["planted"],
        "recall": round(counts["right"] / max(1, counts["planted"]), 3),
        "precision": round(counts["right"] / taken if taken else 1.0, 3),
    }


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def folder_served(folder: Path) -> Iterator[str]:
    """The address of a folder as a site."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def bundles() -> dict[str, Path]:
    """Folders with programs of the web, as their makers packed them, that other packages happen to bring."""
    ray = importlib.util.find_spec("ray")
    places = (
        {"ray-dashboard": Path(ray.origin).parent / "dashboard/client/build"} if ray and ray.origin else {}
    )
    return {name: place for name, place in places.items() if (place / "index.html").is_file()}


def crawl(seed: str) -> dict[str, Any]:
    """What a crawl of one site brought, and what of it was owed to scripts."""
    with tempfile.TemporaryDirectory(prefix="gossamer-scripts-") as folder:
        settings = {
            "politeness.min_delay": 0,
            "politeness.factor": 0,
            "politeness.visits_per_host": 8,
            "speculation.follow": "true",
        }
        command = [sys.executable, "-m", "gossamer", "crawl", seed, "--dir", f"{folder}/c", "--quiet"]
        command += ["--requisites", "host", "--contact", "benchmark@example.org"]
        command += [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=CRAWL_SECONDS, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        report = json.loads(Path(folder, "c/report.json").read_text())
    places = report["speculative"]
    found, missing = (sum(pair[at] for pair in places.values()) for at in (0, 1))
    return {
        "visits": report["visits"],
        "extra": found + missing,
        "found": found,
        "missing": missing,
        "missing_share": round(missing / max(1, report["visits"]), 4),
        "places": places,
    }


def sites(names: Sequence[str]) -> dict[str, Any]:
    """Crawls of real documentation, each site by itself."""
    results: dict[str, Any] = {}
    trees = chosen(names)
    if trees:
        with DocsSite(trees) as served:
            for name, origin in served.origins.items():
                results[name] = crawl(f"{origin}/")
                print(name, results[name], file=sys.stderr)
    for name, folder in bundles().items():
        with folder_served(folder) as address:
            results[name] = crawl(address)
            print(name, results[name], file=sys.stderr)
    visits = sum(one["visits"] for one in results.values())
    missing = sum(one["missing"] for one in results.values())
    extra = sum(one["extra"] for one in results.values())
    total = {"visits": visits, "extra": extra, "missing": missing}
    return {"total": {**total, "missing_share": round(missing / max(1, visits), 4)}, "sites": results}


def strings(names: Sequence[str]) -> dict[str, Any]:
    """Of all strings of a site that are taken for addresses on it, each once, how many name a file that is there.

    What no visit needs to find out: most are linked to as well.
    """
    extractor, least = ScriptExtractor(ExtractConfig()), SpeculationConfig().min_belief
    results: dict[str, Any] = {}
    places = {tree.name: tree.root for tree in chosen(names)} | bundles()
    for name, root in places.items():
        files = sorted(file for kind in ("html", "js", "json") for file in root.rglob(f"*.{kind}"))
        there: Counter[str] = Counter()
        known: dict[str, str] = {}
        for file in files[:: max(1, len(files) // MOST_READ)]:
            url = Url.parse(f"http://site.example/{file.relative_to(root)}")
            kind = {"html": "text/html", "js": "text/javascript", "json": "application/json"}[file.suffix[1:]]
            if url is None or not file.is_file():
                continue
            document = Document(url, kind, "utf-8", Headers([]), file.read_bytes())
            for link in extractor.extract(document).links:
                if link.url.host == "site.example" and prior(link.element) >= least:
                    known.setdefault(link.url.path, link.element)
        for path, element in known.items():
            target = root / unquote(path).lstrip("/")
            right = target.is_file() or (target / "index.html").is_file()
            there[f"{element} {'right' if right else 'wrong'}"] += 1
        right = sum(count for what, count in there.items() if what.endswith("right"))
        results[name] = {"strings": len(known), "there": right, "places": dict(there)}
    return results


def cpu(names: Sequence[str]) -> dict[str, float]:
    """CPU time of reading a page of documentation, without and with scripts, in pairs that follow each other."""
    config = ExtractConfig()
    without = builtin_extractors(config)
    both = [*without, ScriptExtractor(config)]
    documents = [
        Document(url, "text/html", "utf-8", Headers([]), file.read_bytes())
        for tree in chosen(names)
        for file in sorted(tree.root.rglob("*.html"))[:: max(1, len(list(tree.root.rglob("*.html"))) // 14)][
            :14
        ]
        if (url := Url.parse(f"http://{tree.name}.example/{file.relative_to(tree.root)}")) is not None
    ][:PAGES_TIMED]
    size = sum(len(document.content) for document in documents)

    def seconds(extractors: Sequence[Extractor]) -> float:
        begun = time.thread_time()
        for document in documents:
            for one in extractors:
                if document.media_type in one.media_types:
                    one.extract(document)
        return time.thread_time() - begun

    seconds(both)  # fills what both remember
    pairs = [(seconds(without), seconds(both)) for _ in range(PAIRS)]
    off, on = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    return {
        "pages": len(documents),
        "kb_per_page": round(size / max(1, len(documents)) / 1000, 1),
        "off_ms": round(off / max(1, len(documents)) * 1e3, 3),
        "on_ms": round(on / max(1, len(documents)) * 1e3, 3),
        "ratio": round(statistics.median(b / a for a, b in pairs), 3) if documents else 1.0,
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.script_links", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--no-sites", action="store_true", help="crawl nothing")
    parser.add_argument("--tree", action="append", metavar="NAME", choices=[tree.name for tree in TREES])
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    names = arguments.tree or SITES
    result = {
        "planted": planted(),
        "strings": strings(names),
        "cpu": cpu(names),
        "sites": {} if arguments.no_sites else sites(names),
    }
    if arguments.json:
        print(json.dumps(result, indent=1))
        return
    for name in ("recall", "precision", "pages", "planted", "look_alikes"):
        print(f"{name:14} {result['planted'][name]}")
    for name, value in result["cpu"].items():
        print(f"{name:14} {value}")
    for name, one in result["sites"].get("sites", {}).items():
        print(f"{name:14} {one['visits']:6} visits, {one['found']:5} found, {one['missing']:4} missing")
    print(result["sites"].get("total", ""))


if __name__ == "__main__":
    main()
