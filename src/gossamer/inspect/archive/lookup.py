"""Finds the captures of one URL by the index in the state, and reads one of them back."""

import math
import re
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from gossamer.archive.cdxj import capture_prefix, read_capture
from gossamer.archive.reader import read_record
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.inspect.archive.captures import Capture, capture_of, original_of
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import ConfigError, StorageError, UnreadableError
from gossamer.model.outcome import Failed
from gossamer.model.url import Url
from gossamer.state.environment import Family

_DIGITS = re.compile(r"\d{4,14}", re.ASCII)
_UNMODIFIED = 304


class Indexed(msgspec.Struct, frozen=True):
    """One capture as the index tells it.

    Attributes:
        url: as requested.
        time: of the request, UTC, to the second: `2026-01-31T12:00:00Z`.
        status: of the response; 0 for what came by another protocol.
        media_type: essence; empty where the content had been archived before, and the record refers to it.
        digest: of the payload as it came, `sha256:...`.
        length: bytes of its record in the archive, packed.
        file: name of the archive file.
        offset: of the record in it, bytes.
        found: against the capture before: `first`; `new`, another payload; `same`; `unmodified`, the server said so
            (304).
    """

    url: str
    time: str
    status: int
    media_type: str
    digest: str
    length: int
    file: str
    offset: int
    found: Literal["first", "new", "same", "unmodified"] = "first"


def captures_of(inspection: Inspection, url: Url, during: str = "", latest: int = 0) -> list[Indexed]:
    """What was captured of a URL, the earliest first; with or without `www.`, and over http or https, if
    only such was. Of a site with mirrors what the last one gave that was asked for its document.

    Args:
        inspection: of the crawl.
        url: whose.
        during: how their times begin, 4 to 14 digits; empty: all.
        latest: how many are read of each crawl, those made last; 0: all.
    """
    found = _captured(inspection, url, during, latest)
    mirrors = inspection.config.shared_out
    if mirrors is None or (found and found[-1].url == url.text and found[-1].status < 400):
        return found
    of_it = (_captured(inspection, one, during, latest) for one in reversed(mirrors.all_of(url)))
    return next((captures for captures in of_it if captures), found)


def _captured(inspection: Inspection, url: Url, during: str, latest: int) -> list[Indexed]:
    found: list[Indexed] = []
    prefix = capture_prefix(url) + during.encode("ascii")
    for crawl in inspection.together:
        entries: Iterable[tuple[bytes, bytes]] = crawl.environment.scan(Family.CAPTURES, prefix=prefix)
        found += [indexed(key, data) for key, data in (deque(entries, latest) if latest else entries)]
    exact = [one for one in found if one.url == url.text]
    return _compared(sorted(exact or found, key=lambda one: (one.time, one.file, one.offset)))


def indexed(key: bytes, data: bytes) -> Indexed:
    """An entry of the state's table of captures."""
    line, digits = read_capture(data), key.split(b" ")[1].decode("ascii")
    time = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}Z"
    return Indexed(
        line.url,
        time,
        line.code,
        line.media_type,
        line.digest,
        int(line.length),
        line.filename,
        int(line.offset),
    )


def _compared(captures: list[Indexed]) -> list[Indexed]:
    """With what each found against the one before; a 304 is of the payload that was there."""
    payload, told = "", []
    for one in captures:
        if one.status == _UNMODIFIED:
            found: Literal["first", "new", "same", "unmodified"] = "unmodified"
        else:
            found = "first" if not payload else "same" if one.digest == payload else "new"
            payload = one.digest
        told.append(msgspec.structs.replace(one, found=found))
    return told


def nearest_in_time(captures: list[Indexed], at: str) -> Indexed:
    """Of captures of one URL that which was made nearest to `at`, the last of all if that is empty.

    Args:
        captures: at least one.
        at: date or date and time, as `2026-01-31`, `2026-01-31T12:00:00Z` or 4 to 14 digits of the same, UTC
            unless it says otherwise.

    Raises:
        ConfigError: `at` is no time.
    """
    if not at:
        return captures[-1]
    wanted = math.floor(instant(at))  # as the times of the index, which are of whole seconds
    return min(captures, key=lambda one: abs(datetime.fromisoformat(one.time).timestamp() - wanted))


def instant(text: str) -> float:
    """Seconds since 1970 of a time as `nearest_in_time` takes it.

    Raises:
        ConfigError: it is none.
    """
    digits = text.strip()
    try:
        if _DIGITS.fullmatch(digits) and len(digits) % 2 == 0:
            padded = digits + "00000101000000"[len(digits) :]
            moment = datetime.strptime(padded, "%Y%m%d%H%M%S")
        else:
            moment = datetime.fromisoformat(digits)
    except ValueError:
        raise ConfigError(
            f"{text!r} is no time. Write it like 2026-01-31, 2026-01-31T12:00:00Z or 20260131120000 (UTC)."
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def read_back(inspection: Inspection, one: Indexed) -> Capture:
    """A capture with its body, that of the record it refers to if it was archived before.

    Where the server said that nothing had changed (304), it is the capture of which that was said.

    All of the body is in memory, however long the crawl let it become.

    Raises:
        StorageError: the archive is damaged there.
    """
    for crawl in inspection.together:
        try:
            record = read_record(crawl.folder.archive, one.file, one.offset)
        except StorageError:
            if crawl is inspection.together[-1]:
                raise
            continue
        if record.url != one.url:
            continue  # of a cluster's agents each names its files as it likes
        if record.problems:
            raise StorageError(f"{one.file} at {one.offset}: {record.problems[0]}. Run 'gossamer check'.")
        if record.is_revisit and record.status == 304:
            record = original_of(inspection, record)
        capture = capture_of(inspection, record)
        assert capture is not None, one
        return capture
    raise StorageError(f"{one.file} at {one.offset}: no record of {one.url}. Run 'gossamer check'.")


def content_of(inspection: Inspection, capture: Capture) -> Decoded:
    """The body with its content codings undone, at most `fetch.max_content` bytes; `truncated`: the archive does
    not hold all of the document, or that limit cuts it.

    Raises:
        UnreadableError: it does not decode; it can be had as it came.
    """
    decoded = decode_content(capture.exchange.body, capture.exchange.headers, inspection.config.fetch)
    if isinstance(decoded, Failed):
        raise UnreadableError(f"{capture.exchange.url.text}: {decoded.detail}. --raw gives it as it came.")
    return msgspec.structs.replace(decoded, truncated=decoded.truncated or capture.exchange.is_part)
