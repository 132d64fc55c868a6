"""Views of the crawl log: its lines, and what they add up to."""

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gossamer.control.socket.protocol import Nothing
from gossamer.control.views.context import ViewContext
from gossamer.control.views.paging import Cursor as CursorText
from gossamer.control.views.paging import Limit, Page, Patience, offset_of
from gossamer.engine.settlement.visit_log import LONGEST_LINE
from gossamer.inspect.crawl_log import VisitLine, backwards, forwards, visit_of
from gossamer.model.link import LinkKind
from gossamer.model.quantity import Count
from gossamer.model.url import Url

WHOLE = 4 << 20
"""A log no longer than this is counted whole."""
SAMPLE = 4_000
"""Lines of a longer one: a share of a half is off by 1.5% at worst in 19 of 20 cases."""
LONGEST_LANGUAGE = 16
LANGUAGES = 1_500
"""Pages of the sample whose language is looked up, some 20 us each."""
SIZES = (0, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20)
"""Lower bounds of the size classes."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Log(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which lines; `text` must occur in one, `host` is a host name, `became` what became of the URL.

    Backwards, the newest come first. Forwards, the cursor is never `None`: it goes on with lines to come.
    """

    cursor: CursorText | None = None
    limit: Limit = 100
    host: str = ""
    status: Count | None = None
    kind: str = ""
    became: str = ""
    text: str = ""
    backwards: bool = True


def log(look: ViewContext, params: Log) -> Page:
    """A page of the crawl log; lines as they stand in it."""
    path = look.folder.log
    size = path.stat().st_size if path.exists() else 0
    if params.backwards:
        end = min(offset_of(params.cursor, "b"), size) if params.cursor else size
        lines = backwards(path, end)
    else:
        lines = forwards(path, min(offset_of(params.cursor, "f"), size))
    needle = params.text.encode()
    found: list[dict[str, Any]] = []
    patience = Patience()
    place = offset_of(params.cursor, "b" if params.backwards else "f")
    for place, line in lines:  # noqa: B007 - where it ended is asked below
        entry = _wanted(line, needle, params)
        if entry is not None:
            found.append(entry)
        if len(found) == params.limit or patience.over:
            break
    else:
        if params.backwards:
            return Page(found)
    return Page(found, f"{'b' if params.backwards else 'f'}:{place}")


def _wanted(line: bytes, needle: bytes, params: Log) -> dict[str, Any] | None:
    if needle and needle not in line:
        return None
    try:
        entry = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None  # half a line, after a power failure
    if params.status is not None and entry.get("status") != params.status:
        return None
    if params.kind and entry.get("kind") != params.kind:
        return None
    if params.became and entry.get("became") != params.became:
        return None
    if params.host:
        url = Url.from_serialised(str(entry.get("url", "")))
        if url is None or url.host != params.host:
            return None
    return entry


class Codes(msgspec.Struct, frozen=True):
    """What came of the visits, by several marks.

    Attributes:
        statuses, faults, media_types: exact counts.
        sizes: visits by the size of their body: (from, to, visits), bytes; the last has no end.
        depths, languages: of what was visited; languages of pages that say theirs.
        sampled: sizes, depths and languages are reckoned from a sample of `lines` visits.
    """

    visits: int
    statuses: dict[str, int]
    faults: dict[str, int]
    media_types: dict[str, int]
    sizes: list[tuple[int, int | None, int]]
    depths: dict[str, int]
    languages: dict[str, int]
    lines: int
    sampled: bool


def codes(look: ViewContext, _: Nothing) -> Codes:
    """Counts by status, fault, type, size, depth and language."""
    return look.kept("codes", lambda: _counted(look))


def _counted(look: ViewContext) -> Codes:
    counters = look.counters()
    path = look.folder.log
    size = path.stat().st_size if path.exists() else 0
    sampled = size > WHOLE
    raw = _drawn(path, size) if sampled else (line for _, line in forwards(path, 0))
    lines = [line for line in map(visit_of, raw) if line is not None and line.kind != LinkKind.ROBOTS]
    factor = counters.visits / len(lines) if sampled and lines else 1.0
    sizes = Counter(bisect_right(SIZES, line.size) - 1 for line in lines if line.status)
    depths = Counter(line.depth for line in lines)
    read = [line for line in lines if line.type.startswith("text/html")]
    some = read if len(read) <= LANGUAGES else random.sample(read, LANGUAGES)
    share = factor * len(read) / len(some) if some else 1.0
    languages = Counter(filter(None, _languages(look, some)))
    return Codes(
        visits=counters.visits,
        statuses=counters.statuses,
        faults=counters.faults,
        media_types=counters.media_types,
        sizes=[
            (least, most, round(sizes[number] * factor))
            for number, (least, most) in enumerate(zip(SIZES, (*SIZES[1:], None), strict=True))
        ],
        depths={str(depth): round(count * factor) for depth, count in sorted(depths.items())},
        languages={name: round(count * share) for name, count in languages.most_common(50)},
        lines=len(lines),
        sampled=sampled or len(some) < len(read),
    )


def _drawn(path: Path, size: int) -> Iterator[bytes]:
    """Lines at random places: of lines about equally long each is as likely as the other."""
    with path.open("rb") as file:
        for place in sorted(random.randrange(size) for _ in range(SAMPLE)):  # noqa: S311 - a sample
            file.seek(place)
            file.readline(LONGEST_LINE)
            line = file.readline(LONGEST_LINE)
            if line.endswith(b"\n"):
                yield line


def _languages(look: ViewContext, lines: list[VisitLine]) -> Iterator[str]:
    """Of the pages, as they say themselves, without their region."""
    places = look.places()
    for line in lines:
        url = Url.from_serialised(line.url)
        record = places.record(places.fingerprint(url)) if url else None
        if record is not None:
            yield record.language.partition("-")[0].lower()[:LONGEST_LANGUAGE]
