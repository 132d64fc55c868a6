"""Small crawls in this process, and stores that fail or lie, for tests of snapshots."""

import asyncio
import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import fsspec
import msgspec
from fsspec.implementations.memory import MemoryFileSystem

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge
from gossamer.crawling.run import reopen, run, start
from gossamer.engine.crawl import Crawl
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.object_store import Patience, Store
from gossamer.state.records import decode_page

PAGES = 60
HASTY = Patience(tries=2, first=0.001, longest=0.001)
ONCE = Patience(tries=1)
_numbers = itertools.count()
_counting = threading.Lock()

ALONE = Extensions()


def page(path: str) -> str | None:
    """A tree of pages, each with some text that does not compress."""
    number = int(path or 0) if path.isdigit() or not path else PAGES
    if number >= PAGES:
        return None
    text = random.Random(number).randbytes(600).hex()
    children = [child for child in (2 * number + 1, 2 * number + 2) if child < PAGES]
    links = "".join(f'<a href="/{child}">{child}</a>' for child in children)
    return f"<title>{number}</title><p>{text}</p>{links}"


def config_of(site: str, **changes: object) -> CrawlConfig:
    settings = {
        "politeness.min_delay": 0.0,
        "fetch.allow_private": True,
        "archive.max_file_size": 16_384,
        "engine.checkpoint_every": 0.0,
        "engine.guess_sitemap": False,
        "state.block_cache": 1 << 20,
        "state.write_buffers": 1 << 20,
        **{name.replace("__", "."): value for name, value in changes.items()},
    }
    return load(CrawlConfig, merge({"seeds": [site]}, settings))


def crawl(
    path: Path,
    site: str,
    on_start: Callable[[Crawl], None] = lambda _: None,
    extensions: Extensions = ALONE,
    **changes: object,
) -> CrawlFolder:
    """A new crawl, to its end or to a limit."""
    folder = CrawlFolder(path)
    config = start(folder, config_of(site, **changes))
    asyncio.run(run(folder, config, extensions, resumed=False, on_start=on_start))
    return folder


def resume(path: Path, max_pages: int = 0) -> CrawlFolder:
    """Go on, to the end or to another limit."""
    folder = CrawlFolder(path)
    config = reopen(folder)
    budget = msgspec.structs.replace(config.budget, max_pages=max_pages)
    asyncio.run(run(folder, msgspec.structs.replace(config, budget=budget), Extensions(), resumed=True))
    return folder


def checkpoint_of(folder: CrawlFolder) -> str:
    """The name of the latest."""
    return max(entry.name for entry in folder.checkpoints.iterdir() if entry.name.isdigit())


def done(path: Path) -> Counter[str]:
    """As `captured`, only the paths, for a crawl of one site."""
    return Counter({url.split("/", 3)[3]: times for url, times in captured(path).items()})


def captured(path: Path) -> Counter[str]:
    """URLs of pages that were archived, by the lines of the index."""
    with reading(path) as environment:
        lines = [value for _, value in environment.scan(Family.CAPTURES)]
    urls = [msgspec.json.decode(line[line.index(b"{") :])["url"] for line in lines]
    return Counter(url for url in urls if not url.endswith("robots.txt"))


def reading(path: Path) -> "Reading":
    return Reading(Environment.open_read_only(path / "state", StateConfig(block_cache=1 << 20)))


class Reading:
    """An environment that is closed in the end."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def __enter__(self) -> Environment:
        return self._environment

    def __exit__(self, *_: object) -> None:
        self._environment.close()


def problems(path: Path) -> list[str]:
    """What `gossamer check` says."""
    with inspect(path) as inspection:
        return check(inspection).problems


def problems_but_index(path: Path) -> list[str]:
    """As `problems`, of a crawl that came from a snapshot: it has no index until it goes on."""
    return [problem for problem in problems(path) if not problem.startswith("index.cdxj: is not there")]


def page_states(path: Path) -> Counter[str]:
    with reading(path) as environment:
        return Counter(decode_page(value).state for _, value in environment.scan(Family.PAGES))


class Flaky(MemoryFileSystem):
    """A store in memory, of which the calls with some numbers fail."""

    protocol = ("flaky",)
    store: dict = {}
    pseudo_dirs = [""]
    calls = 0
    fails: Callable[[int], bool] = staticmethod(lambda _: False)
    written: list[str] = []

    @classmethod
    def _count(cls) -> None:
        with _counting:
            Flaky.calls += 1
            fails = Flaky.fails(Flaky.calls)
        if fails:
            raise OSError(5, "the store is on fire")

    def pipe_file(self, path, value, mode="overwrite", **kwargs):
        self._count()
        Flaky.written.append(path.rsplit("/", 1)[-1])
        super().pipe_file(path, value, mode, **kwargs)

    def cat_file(self, path, start=None, end=None, **kwargs):
        self._count()
        return super().cat_file(path, start, end, **kwargs)

    def ls(self, path, detail=True, **kwargs):
        self._count()
        return super().ls(path, detail, **kwargs)

    def rm_file(self, path):
        self._count()
        super()._rm(path)


fsspec.register_implementation("flaky", Flaky, clobber=True)


def flaky_store(patience: Patience = ONCE) -> Store:
    """A fresh one, which does not fail yet."""
    Flaky.calls, Flaky.fails = 0, staticmethod(lambda _: False)
    Flaky.written.clear()
    return Store(f"flaky://store-{next(_numbers)}", patience)


def fail_from(call: int, times: int = 1 << 30) -> None:
    """Let so many calls fail, counted from now."""
    first = Flaky.calls + call
    Flaky.fails = staticmethod(lambda number: first <= number < first + times)


def memory_store() -> Store:
    return Store(f"memory://store-{next(_numbers)}", HASTY)
