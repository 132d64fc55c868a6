"""Hosts that are copies of each other, and how their copies stand in the archives of several agents."""

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cluster_world import problems
from small_site import small_site
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

HOSTS = 6
EACH = 6
"""Pages of a host's own part: so many visits lie between what one agent begins with and what another does."""
PAGES = HOSTS * EACH


def text(number: int) -> str:
    """A page that is the same on all hosts."""
    return f"<title>{number}</title><p>{random.Random(number).randbytes(600).hex()}</p>"


def front(numbers) -> str:
    return "".join(f'<a href="/{number}">{number}</a>' for number in numbers)


@dataclass
class Mirrors:
    """Hosts with the same pages; each begins with a part of its own, and has the next host's part after it.

    So whichever agents own them, one meets at its end what the other met at its beginning.
    """

    seeds: tuple[str, ...]
    nameserver: str = "127.0.0.1:9"  # hosts are addresses, so nobody asks it


@contextlib.contextmanager
def mirrors(hosts: int = HOSTS) -> Iterator[Mirrors]:
    def page(path: str, number: int) -> str | None:
        if not path:
            first = number * EACH
            return front([*range(first, hosts * EACH), *range(first)])
        return text(int(path)) if path.isdigit() else None

    with contextlib.ExitStack() as stack:
        seeds = [
            stack.enter_context(small_site(partial(page, number=number), f"127.0.0.{number + 1}"))
            for number in range(hosts)
        ]
        yield Mirrors(tuple(seeds))


@dataclass(frozen=True)
class Stored:
    """A record as a revisit refers to it."""

    url: str
    date: str
    digest: str
    id: str


class Archive:
    """Responses and revisits of one agent, as warcio reads them."""

    def __init__(self, folder: Path) -> None:
        self.responses: list[Stored] = []
        self.revisits: list[tuple[str, Stored]] = []
        for path in sorted((folder / "archive").glob("*.warc.gz*")):
            with path.open("rb") as file:
                for record in ArchiveIterator(file):
                    self._take(record.rec_type, record.rec_headers.get_header)

    def _take(self, kind: str, get: Callable[[str], str]) -> None:
        digest = get("WARC-Payload-Digest")
        if kind == "response":
            here = get("WARC-Target-URI"), get("WARC-Date"), digest, get("WARC-Record-ID")
            self.responses.append(Stored(*here))
        if kind == "revisit":
            there = (
                get("WARC-Refers-To-Target-URI"),
                get("WARC-Refers-To-Date"),
                digest,
                get("WARC-Refers-To"),
            )
            self.revisits.append((get("WARC-Target-URI"), Stored(*there)))


def sound(folder: Path) -> None:
    """Nobody finds anything wrong with an agent's crawl."""
    assert problems(folder) == []
    for path in (folder / "archive").glob("*.warc.gz"):
        checker = Checker(type("Command", (), {"inputs": [str(path)], "verbose": False}))
        with contextlib.redirect_stdout(None):
            checker.process_all()
        assert checker.exit_value == 0, path


def referred_elsewhere(folders: list[Path]) -> int:
    """How many revisits refer to a record of another agent; all refer to one of the collection."""
    archives = [Archive(folder) for folder in folders]
    everywhere = {response for archive in archives for response in archive.responses}
    other_agents = 0
    for archive in archives:
        own = set(archive.responses)
        for url, referred in archive.revisits:
            assert referred in everywhere, url
            assert url != referred.url
            other_agents += referred not in own
    return other_agents
