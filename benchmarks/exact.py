"""Crawl real documentation and compare what was archived with what the files say must be.

`python -m benchmarks.exact [--quick] [--json]`; exit status 0 if everything agrees, else 1.
"""

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import archive_reading, measure
from benchmarks.archive_reading import Capture
from benchmarks.crawlers import ROBOTS_PATH, Work, command
from benchmarks.docs_site import QUICK, TREES, DocsSite, chosen
from benchmarks.truth import Truth, canonical, truths

CRAWL_SECONDS = 1800.0
SAMPLES = 20
COMPRESSED = ("apache", "django")


def compare(truth: Truth, found: Sequence[tuple[str, Capture]], *, compressed: bool) -> dict[str, Any]:
    """Compare one tree's truth with its archived 200 pages, given as (target, capture).

    Args:
        truth: what must be there.
        found: what is there.
        compressed: the tree was sent with a content coding, so that a revisit's digest is not the file's.
    """
    counts = Counter(canonical(target) for target, _ in found)
    missing = sorted(truth.pages.keys() - counts.keys())
    extra = sorted(counts.keys() - truth.pages.keys())
    doubles = sorted(target for target, count in counts.items() if count > 1)
    wrong = [
        target
        for target, capture in found
        if (file := truth.pages.get(canonical(target))) and not _same(capture, file, compressed=compressed)
    ]
    return {
        "expected": len(truth.pages),
        "archived": len(counts),
        "revisits": sum(capture.kind == "revisit" for _, capture in found),
        "missing": len(missing),
        "extra": len(extra),
        "doubles": len(doubles),
        "wrong_bodies": len(wrong),
        "samples": {
            name: targets[:SAMPLES]
            for name, targets in (
                ("missing", missing),
                ("extra", extra),
                ("doubles", doubles),
                ("wrong_bodies", wrong),
            )
            if targets
        },
    }


def _same(capture: Capture, file: str, *, compressed: bool) -> bool:
    """Whether the archived body is the file's and its digest right; for a revisit, the digest of its twin."""
    content = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    if capture.kind == "revisit":
        return compressed or capture.digest == content
    return capture.digest_holds and capture.content_sha256 == content


def measure_all(names: Sequence[str] | None, folder: Path, workers: int) -> dict[str, Any]:
    """Crawl the trees of these names (all if `None`) into `folder`, read everything back, and judge."""
    trees = chosen(names)
    if not trees:
        raise RuntimeError("no documentation is installed; run: python -m benchmarks.docs_site --install")
    wanted = truths(trees)
    crawler_core, server_core = measure.cores()
    with DocsSite(trees, compressed=COMPRESSED, core=server_core) as site:
        work = Work(start=site.seeds, folder=folder, workers=workers)
        usage = measure.run(command("gossamer", work), log=work.log, core=crawler_core, timeout=CRAWL_SECONDS)
        origins = {origin: name for name, origin in site.origins.items()}
    if usage.status:
        print(work.log.read_text(errors="replace")[-4000:], file=sys.stderr)
        raise RuntimeError(f"gossamer ended with status {usage.status}")
    found: dict[str, list[tuple[str, Capture]]] = {tree.name: [] for tree in trees}
    strangers: list[str] = []
    for capture in archive_reading.captures(work.crawl_folder):
        origin, target = _split(capture.url)
        if origin not in origins:
            strangers.append(capture.url)
        elif capture.status == 200 and target != ROBOTS_PATH:
            found[origins[origin]].append((target, capture))
    by_tree = {
        name: compare(wanted[name], captures, compressed=name in COMPRESSED)
        for name, captures in found.items()
    }
    lines, index_problems = archive_reading.index_problems(work.crawl_folder)
    tools = archive_reading.tool_problems(work.crawl_folder)
    pages = sum(row["archived"] for row in by_tree.values())
    faults = ("missing", "extra", "doubles", "wrong_bodies")
    totals = {key: sum(row[key] for row in by_tree.values()) for key in ("expected", "archived", *faults)}
    return {
        "ok": not (strangers or index_problems or any(tools.values()) or any(totals[key] for key in faults)),
        **totals,
        "html_pages_expected": sum(truth.html_pages for truth in wanted.values()),
        "strangers": strangers[:SAMPLES],
        "index_lines": lines,
        "index_problems": index_problems[:SAMPLES],
        "warcio_problems": tools["warcio"][:SAMPLES],
        "fastwarc_problems": tools["fastwarc"][:SAMPLES],
        "seconds": round(usage.seconds, 2),
        "cpu_ms_per_page": round(usage.cpu_seconds / max(1, pages) * 1000, 3),
        "peak_mb": round(usage.peak_mb, 1),
        "trees": by_tree,
    }


def _split(url: str) -> tuple[str, str]:
    """(origin, target)."""
    scheme, _, rest = url.partition("://")
    host, slash, target = rest.partition("/")
    return f"{scheme}://{host}", slash + target


def main() -> int:
    """Print the verdict."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--tree", action="append", metavar="NAME", choices=[tree.name for tree in TREES])
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="crawl into DIR, a new folder, and leave it")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="gossamer-exact-"))
    try:
        names = arguments.tree or (QUICK if arguments.quick else None)
        result = measure_all(names, folder, arguments.workers)
    finally:
        if arguments.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(result) if arguments.json else json.dumps(result, indent=2))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
