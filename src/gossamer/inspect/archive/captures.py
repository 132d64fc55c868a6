"""Reads the captures of a crawl back from its archive, in the order in which they were written."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from gossamer.archive.cdxj import capture_prefix, read_capture
from gossamer.archive.committed import archive_files
from gossamer.archive.follower import FollowedRecord
from gossamer.archive.placement import ArchiveFile
from gossamer.archive.reader import StoredRecord, open_archive_file, read_record
from gossamer.archive.record_head import MAIN_KINDS
from gossamer.archive.scan import Member, scan
from gossamer.archive.stored_body import ArchivedBody
from gossamer.inspect.inspection import Inspection, inspect
from gossamer.model.errors import StorageError
from gossamer.model.exchange import Exchange, Result, StatusAction
from gossamer.model.url import Url
from gossamer.state.environment import Family

__all__ = ["Capture", "capture_of", "captures", "original_of", "seconds_of"]


class Capture(msgspec.Struct, frozen=True):
    """One visit as archived.

    Attributes:
        exchange: its body has the content codings it came with; of a revisit it is the body referred to.
        hops: hop path from the seed.
        unmodified: the server said that nothing changed (304), so there is no body.
    """

    exchange: Exchange
    hops: str
    unmodified: bool


def captures(inspection: Inspection, problems: list[str]) -> Iterator[Capture]:
    """Every capture that is committed, those of names left out.

    One record at a time is in memory.

    Args:
        inspection: of the crawl.
        problems: takes a line for each file that cannot be read to its end, and each body that is not found.
    """
    for file in sorted(archive_files(inspection.environment), key=lambda file: file.serial):
        try:
            yield from _of_file(inspection, file, problems)
        except (OSError, StorageError) as error:
            problems.append(f"archive {file.name}: {error}; the rest of the file was not read")


def _of_file(inspection: Inspection, file: ArchiveFile, problems: list[str]) -> Iterator[Capture]:
    """A visit is its main record and the metadata record that may follow."""
    waiting: StoredRecord | None = None
    hops = ""
    with open_archive_file(inspection.folder.archive, file.name) as stream:
        offset = 0
        while offset < file.length:
            member = Member(stream, offset, file.length)
            scanned = scan(member, None)
            offset += member.length
            record = StoredRecord(
                member.length, scanned.fields, scanned.http_head, scanned.payload, scanned.payload_size, ()
            )
            if record.kind in MAIN_KINDS:
                if waiting is not None:
                    yield from _each(inspection, waiting, hops, problems)
                waiting, hops = record, ""
            elif record.kind == "metadata":
                hops = _hops(record.payload) or hops
    if waiting is not None:
        yield from _each(inspection, waiting, hops, problems)


def _hops(metadata: bytes) -> str:
    for line in metadata.decode("utf-8", "replace").split("\r\n"):
        name, _, value = line.partition(": ")
        if name == "hopsFromSeed":
            return value
    return ""


def _each(inspection: Inspection, record: StoredRecord, hops: str, problems: list[str]) -> Iterator[Capture]:
    try:
        capture = capture_of(inspection, record, hops)
    except StorageError as error:
        problems.append(f"archive: {error}")
        return
    if capture is not None:
        yield capture


def repeated(crawl: Path, record: FollowedRecord, *, keep: int) -> Exchange | None:
    """The response that a revisit record stands for, with the content that was archived before, of this URL or another.

    `None` if that cannot be found any more, or if nothing was sent (304). Of the payload the first `keep` bytes are
    there, at most.

    Raises:
        ConfigError: no crawl lives there.
        StorageError: its state or the record is damaged.
    """
    with inspect(crawl) as inspection:
        stored = read_record(inspection.folder.archive, record.file, record.offset)
        try:
            capture = capture_of(inspection, stored, keep=keep)
        except StorageError:
            return None
    return None if capture is None or capture.unmodified else capture.exchange


def capture_of(
    inspection: Inspection, record: StoredRecord, hops: str = "", keep: int | None = None
) -> Capture | None:
    """The visit that a main record tells of; `None` for the answer of a name server.

    Of a payload that another record has, the first `keep` bytes are read, or all of it.

    Raises:
        StorageError: it refers to a record that is not found.
    """
    url = Url.from_serialised(record.url)
    if url is None:
        return None
    headers, status, result = record.headers, record.status, None
    if record.kind == "resource":
        # Of another protocol: `Content-Type` is what there is, and only what was brought is kept.
        result = Result("kept", StatusAction.PROCESS)
    payload = record.payload
    if record.is_revisit and status != 304:
        payload = original_of(inspection, record, keep).payload
    exchange = Exchange(
        url,
        seconds_of(record.date),
        b"",
        status,
        record.http_head,
        headers,
        ArchivedBody(payload),
        truncated=record.truncated,
        result=result,
    )
    return Capture(exchange, hops, unmodified=status == 304)


def seconds_of(date: str) -> float:
    """Wall time of a WARC-Date; 0 if it is none."""
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return 0.0


def original_of(inspection: Inspection, revisit: StoredRecord, keep: int | None = None) -> StoredRecord:
    """The record that a revisit refers to: same URL, second and digest, by the index in the state.

    Its payload as `read_record` has it with `keep`.

    Raises:
        StorageError: it is not found.
    """
    get = revisit.fields.get
    url = Url.from_serialised(get("warc-refers-to-target-uri"))
    if url is not None:
        second = "".join(char for char in get("warc-refers-to-date")[:19] if char.isdigit())
        prefix = capture_prefix(url) + second.encode("ascii", "replace")
        for crawl in inspection.together:
            for _, data in crawl.environment.scan(Family.CAPTURES, prefix=prefix):
                line = read_capture(data)
                same = (line.url, line.digest) == (url.text, get("warc-payload-digest"))
                if same and not line.is_revisit:
                    return read_record(crawl.folder.archive, line.filename, int(line.offset), keep)
    raise StorageError(f"the record that {revisit.url} of {revisit.date} refers to is not found")
