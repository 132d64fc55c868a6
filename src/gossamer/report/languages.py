"""Counts the languages that pages say they are written in, or estimates them from some drawn evenly."""

import re
from collections.abc import Iterator

from gossamer.inspect.draws import Draws, by_hash
from gossamer.model.document import HTML_TYPES
from gossamer.model.link import LinkKind
from gossamer.report.census.tallies import add_bounded
from gossamer.report.figures import Amount, Languages
from gossamer.state.environment import Environment, Family
from gossamer.state.records import HostRecord, PageRecord, decode_page

ALL_READ = 250_000
"""Page records up to which all are read, some 6 us for each."""
DRAWS = 5_000
"""Pages drawn from more: a share of a half is off by some 1.4% at worst in 19 of 20 cases."""
TRIES = 50
"""Records looked at for one of a page."""
LISTED = 12
_TAG = re.compile(r"[a-z]{2,3}(?![a-z0-9])")
_MOST = 600


class LanguageCensus:
    """Is told of every host in the order of their keys.

    A host is drawn in proportion to its pages, the pages by their hashes, which are evenly spread.
    """

    def __init__(self, environment: Environment, pages: int) -> None:
        """For a crawl of `pages` pages."""
        self._environment = environment
        self._pages = pages
        self._step = pages / DRAWS if environment.estimate(Family.PAGES) > ALL_READ else 0.0
        self._draws = Draws(self._step)
        self._drawn: list[tuple[bytes, int]] = []

    def add(self, key: bytes, record: HostRecord) -> None:
        """Take a host into account."""
        if self._step and record.pages and (draws := self._draws.of(record.pages)):
            self._drawn.append((key, draws))

    def languages(self) -> Languages:
        """The figures, after the last host."""
        counts: dict[str, int] = {}
        drawn = documents = 0
        for record in self._read_drawn() if self._step else self._read_all():
            drawn += 1
            if record.media_type in HTML_TYPES:
                documents += 1
                add_bounded(counts, language_of(record.language), _MOST)
        factor = self._pages / drawn if self._step and drawn else 1.0
        unknown = counts.pop("", 0)
        rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:LISTED]
        return Languages(
            pages=round(documents * factor),
            read=documents,
            unknown=round(unknown * factor),
            most=[Amount(name, round(number * factor)) for name, number in rows],
        )

    def _read_all(self) -> Iterator[PageRecord]:
        for _, data in self._environment.scan(Family.PAGES):
            record = decode_page(data)
            if _is_page(record):
                yield record

    def _read_drawn(self) -> Iterator[PageRecord]:
        for key, draws in self._drawn:
            yield from by_hash(self._environment, Family.PAGES, key, draws, _page_in, TRIES)


def _page_in(data: bytes) -> PageRecord | None:
    record = decode_page(data)
    return record if _is_page(record) else None


def _is_page(record: PageRecord) -> bool:
    return (
        record.state == "done"
        and record.kind is not LinkKind.ROBOTS
        and bool(record.visits)
        and record.visits[-1].status == 200
    )


def language_of(declared: str) -> str:
    """The primary subtag (BCP 47) in lower case; empty if nothing is declared that looks like one."""
    found = _TAG.match(declared.strip().lower())
    return found.group() if found else ""
