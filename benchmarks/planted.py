"""Pages that benchmarks plant, how they are served and crawled, and the texts that were read of them."""

import contextlib
import functools
import html
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import measure
from benchmarks.crawlers import Work, command

_WORD = re.compile(r"[^\W_]+")
RUN_SECONDS = 3 * 3600.0
SHINGLE = 5
"""Words of a shingle: what the field measures likeness by (Broder 1997; five words in the project's own survey)."""
COLUMNS = ("url", "title", "text", "type", "language", "published", "time")


class Row(NamedTuple):
    """What the crawl read of a document; texts are empty where there are none."""

    url: str
    title: str
    text: str
    type: str
    language: str
    published: str
    time: str

    @property
    def host(self) -> str:
        """Without a port."""
        return self.url.partition("://")[2].partition("/")[0].partition(":")[0]


def words(text: str) -> list[str]:
    """In order, case and compatibility forms folded."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def shingles(text: str) -> frozenset[int]:
    """Hashes of all runs of `SHINGLE` words; of a shorter text, of the whole."""
    found = words(text)
    if not found:
        return frozenset()
    return frozenset(hash(tuple(found[at : at + SHINGLE])) for at in range(max(1, len(found) - SHINGLE + 1)))


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """Of two sets of shingles; 0 where both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def page(title: str, paragraphs: Iterable[str], *, language: str = "en", head: str = "") -> str:
    """An ordinary page of an article, with a menu and a footer that are no part of it."""
    body = "\n".join(f"<p>{html.escape(each)}</p>" for each in paragraphs if each.strip())
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title>{head}</head><body>"
        '<nav class="menu"><ul><li><a href="/">Home</a></li></ul></nav>'
        f"<main><article><h1>{html.escape(title)}</h1>\n{body}\n</article></main>"
        '<footer class="footer"><p>Printed for a benchmark.</p></footer></body></html>'
    )


def write_site(folder: Path, pages: dict[str, str | bytes]) -> None:
    """Files by name, with an `index.html` that links to each; real pages link to much more that is not here."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pages.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    allowed = "".join(f"Allow: /{name}$\n" for name in ("", *pages))
    (folder / "robots.txt").write_text(f"User-agent: *\n{allowed}Disallow: /\n")
    links = "".join(f'<li><a href="{html.escape(name)}">{html.escape(name)}</a>' for name in pages)
    (folder / "index.html").write_text(f"<title>Contents</title><ul>{links}</ul>", encoding="utf-8")


class _Silent(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass


@contextlib.contextmanager
def served_files(folder: Path, address: str = "127.0.0.1") -> Iterator[str]:
    """The address of a server of a folder's files, ending in `/`."""
    handler = functools.partial(_Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer((address, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://{address}:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def crawl(folder: Path, start: Sequence[str], *, pages: int = 0) -> None:
    """A crawl of these hosts into `folder`, without rests.

    Raises:
        RuntimeError: it ended otherwise than well.
    """
    work = Work(start=start, folder=folder.parent / f"{folder.name}-work", pages=pages)
    checked(command("gossamer", work), work.log)
    shutil.move(work.crawl_folder, folder)
    shutil.rmtree(work.folder)


def checked(line: Sequence[str], log: Path) -> measure.Usage:
    """What a command took that must end with status 0.

    Raises:
        RuntimeError: it did not; the message holds what it printed last.
    """
    usage = measure.run(line, log=log, timeout=RUN_SECONDS)
    if usage.status:
        said = log.read_text(errors="replace")[-4000:]
        raise RuntimeError(f"{' '.join(line[2:5])} ended with status {usage.status}:\n{said}")
    return usage


def gossamer(*arguments: str) -> list[str]:
    """A command line."""
    return [sys.executable, "-m", "gossamer", *arguments]


def index(folder: Path) -> measure.Usage:
    """`gossamer index`, and what it took."""
    return checked(gossamer("index", str(folder), "--quiet"), folder.parent / f"{folder.name}-index.log")


def rows_of(folder: Path) -> list[Row]:
    """What was read of each HTML page, text or PDF with status 200, by its last capture, as `export` gives it."""
    out = Path(tempfile.mkdtemp(prefix="gossamer-rows-"))
    try:
        line = gossamer("export", "documents", str(folder), "--format", "jsonl", "--compress", "none")
        line += ["--out", str(out), "--columns", ",".join([*COLUMNS, "status"]), "--json"]
        subprocess.run(line, check=True, capture_output=True)
        found: dict[str, dict[str, Any]] = {}
        for path in sorted(out.rglob("*.jsonl")):
            with path.open("rb") as lines:
                for each in map(json.loads, lines):
                    if each.get("status") == 200 and str(each["time"]) >= str(
                        found.get(each["url"], {}).get("time", "")
                    ):
                        found[each["url"]] = each
    finally:
        shutil.rmtree(out, ignore_errors=True)
    return [Row(*(str(each.get(name) or "") for name in COLUMNS)) for _, each in sorted(found.items())]


def size_of(folder: Path) -> int:
    """Bytes of all files below."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def pdf(text: str) -> bytes:
    """A page with one line of ASCII."""
    drawn = f"BT /F1 12 Tf 40 700 Td ({text}) Tj ET".encode("ascii")
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    whole, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(whole))
        whole += b"%d 0 obj%s endobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return whole + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(parts) + 1, table, len(parts) + 1, len(whole),
    )  # fmt: skip
