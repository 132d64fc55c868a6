"""A site of odd pages, the command line in this process or in one of its own, and what a search printed."""

import contextlib
import http.server
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import in_process
import msgspec
from patience import PATIENCE
from small_site import serving

from gossamer.simweb import SimulatedWeb

INDEX = "search"
"""The folder of the index, in a crawl's."""


SEARCH_ON = "--search"
"""What has a crawl make the index meanwhile."""
CLUSTER = "cluster"
"""The column of what a page is a near-duplicate of."""


class Page(NamedTuple):
    """What the site answers."""

    body: bytes
    type: str = "text/html; charset=utf-8"
    status: int = 200
    to: str = ""


def html(title: str, *paragraphs: str, lang: str = "en", head: str = "", links: str = "") -> Page:
    """An article; nothing is escaped, so that it may be hostile."""
    body = "\n".join(f"<p>{each}</p>" for each in paragraphs)
    return Page(
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body><main><article><h1>{title}</h1>{body}</article></main>{links}</body></html>".encode(
            "utf-8", "surrogatepass"
        )
    )


@contextlib.contextmanager
def site_of(pages: dict[str, Page], host: str = "127.0.0.1") -> Iterator[str]:
    """Its address without the last slash; `/` links to every page unless it is one of them."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            links = "".join(f'<a href="{path}">{number}</a> ' for number, path in enumerate(pages))
            page = pages.get(self.path)
            if page is None and self.path == "/":
                page = Page(f"<title>Contents</title>{links}".encode())
            page = page or Page(b"nothing here", status=404)
            self.send_response(page.status)
            if page.to:
                self.send_header("Location", page.to)
            self.send_header("Content-Type", page.type)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

        def log_message(self, *args: object) -> None:
            pass

    with serving(Handler, host) as address:
        yield address.rstrip("/")


class Ran(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str


def gossamer(*arguments: str | Path, seconds: float = PATIENCE, **how: Any) -> Ran:
    """The command in a process of its own."""
    line = [sys.executable, "-m", "gossamer", *map(str, arguments)]
    ran = subprocess.run(line, capture_output=True, timeout=seconds, check=False, **how)
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


_PEAK = """
import resource, subprocess, sys
ran = subprocess.run([sys.executable, "-m", "gossamer", *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(ran.returncode)
"""


def peak(*arguments: str | Path) -> int:
    """Most KiB of memory that a command takes, or one of the processes that it begins; asked in a process that has
    had no other children, as the kernel keeps the most of all that ever were."""
    line = [sys.executable, "-c", _PEAK, *map(str, arguments)]
    ran = subprocess.run(line, capture_output=True, timeout=PATIENCE, check=False)
    assert ran.returncode in (0, 1), ran.stderr.decode()
    return int(ran.stdout)


def here(*arguments: str | Path) -> Ran:
    """The command in this process: where it is not the process that is tested, half a second less a time."""
    ran = in_process.gossamer(*map(str, arguments), cwd=Path.cwd())
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def crawled(address: str, folder: Path, *options: str) -> Path:
    """A crawl of the site, rests left out."""
    ran = gossamer("crawl", f"{address}/", "--min-delay", "0", "--dir", folder, "-q", *options,
                   "--set", "engine.guess_sitemap=false")  # fmt: skip
    assert ran.code == 0, ran.err
    return folder


def indexed(folder: Path) -> Path:
    """`gossamer index`, once."""
    ran = here("index", folder, "-q", "--once")
    assert ran.code == 0, ran.err
    return folder


@dataclass
class Found:
    """What `gossamer search --facets --json` printed. The only place that knows its shape."""

    ran: Ran
    said: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        assert self.ran.code in (0, 1), self.ran.err
        self.said = [msgspec.json.decode(line) for line in self.ran.out.splitlines()]

    @property
    def hits(self) -> list[dict[str, Any]]:
        return [line for line in self.said if "url" in line]

    @property
    def total(self) -> int:
        return self.said[-1]["total"] if self.said else 0

    @property
    def paths(self) -> list[str]:
        """Of the hits, from the best on."""
        return [path_of(hit["url"]) for hit in self.hits]

    @property
    def shown(self) -> list[tuple[str, int]]:
        """URL of each hit, from the best on, and how many are folded into it."""
        return [(hit["url"], hit["similar"]) for hit in self.hits]

    @property
    def facets(self) -> dict[str, dict[str, int]]:
        facets = self.said[-1]["facets"] if self.said else {}
        return {name: {each["value"]: each["count"] for each in values} for name, values in facets.items()}


def path_of(url: str) -> str:
    """Without scheme, host and port."""
    return "/" + url.split("/", 3)[3]


Search = Callable[..., Found]


def search(folder: Path, query: str, *options: str) -> Found:
    """What it finds."""
    return Found(here("search", folder, query, "--json", "--facets", *options))


def answers(folder: Path, queries: list[str]) -> dict[str, tuple[int, list[tuple[str, int]]]]:
    """Total and hits of each query; for comparing two indexes."""
    found = {query: search(folder, query, "--limit", "1000") for query in queries}
    return {query: (each.total, each.shown) for query, each in found.items()}


class Like(NamedTuple):
    """A page of `gossamer similar --json`. The only place that knows its shape."""

    path: str
    likeness: float
    passages: list[str]


def similar(folder: Path, *asked: str | Path) -> list[Like]:
    """What is like any of these."""
    ran = here("similar", folder, *asked, "--json")
    assert ran.code in (0, 1), ran.err
    return [
        Like(path_of(hit["url"]), hit["resemblance"], [each["text"] for each in hit["passages"]])
        for document in json.loads(ran.out)
        for hit in document["pages"]
    ]


def assert_plain(ran: Ran) -> None:
    """Sentences for people: no traceback, nothing that steers a terminal, no flood."""
    assert "Traceback" not in ran.err and "panicked" not in ran.err, ran.err
    for text in (ran.out, ran.err):
        assert not set(text) & set(
            "\x00\x07\x08\x1b\x7f\x9b\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200f"
        ), text
    assert len(ran.err) < 4_000


def settings_of(web: SimulatedWeb, **more: object) -> list[str]:
    """Options of a crawl of a simulated web."""
    settings = {"scope.mode": "any", "fetch.allow_private": True, "engine.give_up_after": "2s",
                "engine.guess_sitemap": False, **more}  # fmt: skip
    options = ["--nameserver", web.nameserver, "--min-delay", "0", "-q"]
    for name, value in settings.items():
        options += ["--set", f"{name}={json.dumps(value) if not isinstance(value, str) else value}"]
    return options
