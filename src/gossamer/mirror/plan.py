"""Chooses one capture of each URL, from the index alone where that says enough."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby

import msgspec

from gossamer.archive.cdxj import Capture, read_capture
from gossamer.extract.media_type import declared_type, media_type
from gossamer.inspect.archive.lookup import Indexed, instant, read_back
from gossamer.inspect.inspection import Inspection
from gossamer.mirror.table import Planned
from gossamer.model.document import HTML_TYPES
from gossamer.model.errors import StorageError, UnreadableError
from gossamer.model.posted import METHOD
from gossamer.model.url import Url
from gossamer.policy.revisit.gone import GONE_STATUSES
from gossamer.policy.scope.address_pattern import AddressPattern
from gossamer.policy.visits.retry import redirect_location
from gossamer.state.environment import Family

__all__ = ["planned"]

_UNMODIFIED = 304


class _Line(msgspec.Struct, frozen=True):
    """A line of the index, and its time as 14 digits."""

    time: str
    capture: Capture

    @property
    def settles(self) -> bool:
        """Whether it says what the URL is; a server that is busy, or lets nobody in, does not say."""
        return self.capture.code < 400 or self.capture.code in GONE_STATUSES


def planned(
    inspection: Inspection, at: str, match: AddressPattern | None, problems: list[str]
) -> Iterator[Planned]:
    """What a mirror is made of, in the order of the index; errors are left out.

    Args:
        inspection: of the crawl.
        at: as `nearest_in_time` takes it: of each URL the capture nearest to it, the last if empty.
        match: pages that are wanted; others are left out, and what is no page comes along where it is needed.
        problems: takes a line for each record that cannot be read.

    Raises:
        ConfigError: `at` is no time.
    """
    wanted = datetime.fromtimestamp(instant(at), UTC) if at else None
    rows = inspection.environment.scan(Family.CAPTURES)
    for _, group in groupby(rows, key=lambda row: row[0].partition(b" ")[0]):
        by_url: dict[str, list[_Line]] = {}
        for key, data in group:
            line = _Line(key.split(b" ")[1].decode("ascii"), read_capture(data))
            by_url.setdefault(line.capture.url, []).append(line)
        for text, lines in sorted(by_url.items()):
            url = Url.from_serialised(text)
            if url is None or METHOD in url.target:
                continue
            try:
                one = _planned(inspection, url, lines, wanted, match)
            except (StorageError, UnreadableError) as error:
                problems.append(str(error))
                continue
            if one is not None:
                yield one


def _planned(
    inspection: Inspection,
    url: Url,
    lines: list[_Line],
    wanted: datetime | None,
    match: AddressPattern | None,
) -> Planned | None:
    settled = [line for line in lines if line.settles]
    if not settled:
        return None
    last = settled[-1] if wanted is None else min(settled, key=lambda line: abs(_moment(line.time) - wanted))
    capture = last.capture
    if capture.code in GONE_STATUSES:
        return None
    place = capture.filename, int(capture.offset)
    time = _moment(last.time).strftime("%Y-%m-%dT%H:%M:%SZ")
    indexed = Indexed(url.text, time, capture.code, "", capture.digest, int(capture.length), *place)
    if 300 <= capture.code < 400 and capture.code != _UNMODIFIED:
        location = redirect_location(capture.code, read_back(inspection, indexed).exchange.headers)
        target = Url.parse(location, url.text) if location is not None else None
        return Planned(url, "", time, *place, target.text, wanted=False) if target is not None else None
    kind = _type(inspection, indexed, last, settled)
    is_wanted = match is None or match.matches(url.text)
    if kind in HTML_TYPES and not is_wanted:
        return None
    return Planned(url, kind, time, *place, "", wanted=is_wanted)


def _type(inspection: Inspection, indexed: Indexed, line: _Line, lines: list[_Line]) -> str:
    """Of a reference to a payload that was archived before, the type is that of the record referred to."""
    unmodified = line.capture.code == _UNMODIFIED
    if not unmodified and not line.capture.is_revisit:
        return line.capture.mime
    for one in reversed(lines[: lines.index(line)]):
        if not one.capture.is_revisit and (unmodified or one.capture.digest == line.capture.digest):
            return one.capture.mime
    exchange = read_back(inspection, indexed).exchange
    return media_type(declared_type(exchange.headers), exchange.body.read(1_445))


def _moment(time: str) -> datetime:
    return datetime.strptime(time, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
