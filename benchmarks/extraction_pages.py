"""Annotated pages for the benchmark of main text: WCXB's layout, in a folder or a `.tar.gz`.

Web Content eXtraction Benchmark (Murrough Foley, 2026), CC-BY-4.0,
github.com/Murrough-Foley/web-content-extraction-benchmark. The pages are not part of the project.
"""

import gzip
import json
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gossamer.extract.encodings.charset import charset_of, decode

_WORD = re.compile(r"\w+")


class Annotated(NamedTuple):
    """A page with what a reader took for its main text."""

    name: str
    url: str
    kind: str
    html: str
    text: str


class Score(NamedTuple):
    """Of words, as multisets: the measure of WCXB."""

    precision: float
    recall: float
    f1: float


def score(found: str, wanted: str) -> Score:
    """How well a text holds the words of another."""
    have, want = _WORD.findall(found.lower()), _WORD.findall(wanted.lower())
    if not want or not have:
        return Score(*(3 * (float(not want and not have),)))
    right = sum((Counter(have) & Counter(want)).values())
    precision, recall = right / len(have), right / len(want)
    return Score(precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0)


def annotated_pages(data: Path) -> list[Annotated]:
    """All pages, by name.

    Raises:
        SystemExit: there are none.
    """
    truths, pages = {}, {}
    for path, content in _files(data):
        if path.endswith(".json") and "ground-truth" in path:
            truths[Path(path).stem] = json.loads(content)
        elif path.endswith((".html.gz", ".html")):
            raw = gzip.decompress(content) if path.endswith(".gz") else content
            pages[Path(path).name.partition(".")[0]] = raw
    found = []
    for name in sorted(truths.keys() & pages.keys()):
        truth = truths[name]
        kind = ((truth.get("_internal") or {}).get("page_type") or {}).get("primary", "article")
        text = (truth.get("ground_truth") or {}).get("main_content") or ""
        html = decode(pages[name], charset_of(pages[name], "", "text/html"))
        found.append(
            Annotated(name, truth.get("url") or "", "collection" if kind == "category" else kind, html, text)
        )
    if not found:
        raise SystemExit(
            f"{data} holds no pages: html/NAME.html.gz with ground-truth/NAME.json are looked for"
        )
    return found


def _files(data: Path) -> Iterator[tuple[str, bytes]]:
    if data.is_dir():
        for path in sorted(data.rglob("*")):
            if path.is_file() and path.suffix in (".json", ".gz", ".html"):
                if path.name.endswith(".tar.gz"):
                    yield from _files(path)
                else:
                    yield str(path), path.read_bytes()
        return
    with tarfile.open(data) as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)):
                yield member.name, file.read()


def fold_of(page: Annotated, folds: int) -> int:
    """Which fold a page is in: a function of its site, so that no site is in two."""
    site = re.sub(r"\A\w+://(?:www\.)?([^/:?#]*).*\Z", r"\1", page.url, flags=re.DOTALL)
    return zlib.crc32(site.encode()) % folds
