"""Reads a whole archive file and names everything that is wrong with it."""

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from gossamer.archive.file import OPEN_SUFFIX
from gossamer.archive.record_head import MAIN_KINDS
from gossamer.archive.scan import Member, Scanned, next_record, scan
from gossamer.model.errors import StorageError
from gossamer.model.exchange import Headers

_RECORD_ID = re.compile(r"<urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}>")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z", re.ASCII)
_CONTENT_LENGTH = re.compile(rb"^content-length:[ \t]*([^\r\n]*)\r?$", re.IGNORECASE | re.MULTILINE)
_TRANSFER_ENCODING = re.compile(rb"^transfer-encoding:", re.IGNORECASE | re.MULTILINE)
_UNKNOWN = "unknown"


class RecordSummary(msgspec.Struct, frozen=True, gc=False):
    """One readable record, for the comparison with the index and the state.

    Attributes:
        offset, length: its gzip member in the file, bytes.
        kind: `warcinfo`, `response`, ...
        record_id: `urn:uuid:...`.
        date: `WARC-Date`.
        target_uri: empty for `warcinfo`.
        payload_digest: as written; of a resource that of the block; empty if there is none.
        payload_size: bytes stored.
    """

    offset: int
    length: int
    kind: str
    record_id: str
    date: str
    target_uri: str
    payload_digest: str
    payload_size: int


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Something wrong at `offset` of `file`, in one line; `passed` bytes from there on could not be read."""

    file: str
    offset: int
    text: str
    passed: int = 0


def verify_file(
    path: Path, length: int | None = None, *, growing: bool = False
) -> Iterator[Problem | RecordSummary]:
    """Yield each record of the file, and each problem before the record it was found in.

    Every member must be a whole record with right lengths, digests and dates, the first of them warcinfo;
    nothing may stand behind the last. Memory is bounded. After a member that cannot be read it goes
    on with the next one that can.

    Args:
        path: of the file, under its present name.
        length: that was committed; `None` for the size of the file.
        growing: the file may hold more than was committed, because it is, or was, being written.
    """
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            end = size if length is None else min(size, length)
            if length is not None and size != length and not (growing and size > length):
                yield Problem(path.name, end, f"the file has {size} bytes, {length} were committed")
            checker = _Checker(path.name.removesuffix(OPEN_SUFFIX))
            offset = 0
            while offset < end:
                member = Member(stream, offset, end)
                try:
                    scanned = scan(member, 0)
                except StorageError as error:
                    resumed = next_record(stream, offset + 1, end)
                    passed = resumed - offset
                    yield Problem(path.name, offset, f"{error}; {passed} bytes were passed over", passed)
                    checker.lost_track()
                    offset = resumed
                    continue
                for text in checker.problems(scanned):
                    yield Problem(path.name, offset, text)
                yield _summary(offset, member.length, scanned)
                offset += member.length
            if not offset:
                yield Problem(path.name, 0, "the file is empty")
    except OSError as error:
        yield Problem(path.name, 0, f"cannot be read: {error.strerror}")


def _summary(offset: int, length: int, scanned: Scanned) -> RecordSummary:
    get = scanned.fields.get
    return RecordSummary(
        offset,
        length,
        get("warc-type"),
        get("warc-record-id").strip("<>"),
        get("warc-date"),
        get("warc-target-uri"),
        # Of a resource the payload is the block, so its digest stands there alone.
        get("warc-payload-digest") or (get("warc-block-digest") if get("warc-type") == "resource" else ""),
        scanned.payload_size,
    )


class _Checker:
    """Checks the records of one file in their order."""

    __slots__ = ("_main_id", "_name", "_warcinfo_id")

    def __init__(self, name: str) -> None:
        self._name = name
        self._warcinfo_id = ""
        self._main_id = ""

    def lost_track(self) -> None:
        """What came before the next record is not known."""
        self._main_id = _UNKNOWN

    def problems(self, scanned: Scanned) -> list[str]:
        """What is wrong with the next record."""
        fields = scanned.fields
        kind = fields.get("warc-type")
        found = [*scanned.problems, *_field_problems(fields)]
        if kind == "warcinfo":
            self._warcinfo_id = fields.get("warc-record-id")
            if fields.get("warc-filename") != self._name:
                found.append(f"WARC-Filename is {fields.get('warc-filename')!r}")
        elif not self._warcinfo_id:
            found.append("the file does not begin with a warcinfo record")
            self._warcinfo_id = fields.get("warc-warcinfo-id")
        elif fields.get("warc-warcinfo-id") != self._warcinfo_id:
            found.append("WARC-Warcinfo-ID is not that of the file's warcinfo record")
        if kind in MAIN_KINDS:
            self._main_id = fields.get("warc-record-id")
        elif kind not in ("request", "metadata") or self._main_id == _UNKNOWN:
            pass
        elif fields.get("warc-concurrent-to") != self._main_id:
            found.append("WARC-Concurrent-To is not the record before")
        if kind == "response":
            found += _response_problems(scanned)
        elif kind == "revisit":
            found += _revisit_problems(fields)
        elif kind == "conversion" and not fields.get("warc-refers-to"):
            found.append("WARC-Refers-To is missing")
        return found


def _field_problems(fields: Headers) -> list[str]:
    found = []
    if not _RECORD_ID.fullmatch(fields.get("warc-record-id")):
        found.append(f"WARC-Record-ID is {fields.get('warc-record-id')!r}")
    if not _is_date(fields.get("warc-date")):
        found.append(f"WARC-Date is {fields.get('warc-date')!r}")
    uri = fields.get("warc-target-uri")
    if fields.get("warc-type") == "warcinfo":
        return found
    if not uri or not uri.isascii() or not uri.isprintable() or " " in uri or "<" in uri:
        found.append(f"WARC-Target-URI is {uri!r}")
    return found


def _is_date(text: str) -> bool:
    """WARC 1.1, 5.4: UTC with `Z`, at most nine digits of fraction."""
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text[:19])
    except ValueError:
        return False
    return True


def _response_problems(scanned: Scanned) -> list[str]:
    """The head must describe the payload as it is stored."""
    found = []
    if _TRANSFER_ENCODING.search(scanned.http_head):
        found.append("the HTTP head names a Transfer-Encoding, the payload has none")
    lengths = [match.strip() for match in _CONTENT_LENGTH.findall(scanned.http_head)]
    if scanned.payload_size and lengths != [b"%d" % scanned.payload_size]:
        found.append(f"the HTTP head's Content-Length is {lengths!r}, the payload has {scanned.payload_size}")
    return found


def _revisit_problems(fields: Headers) -> list[str]:
    return [
        f"{name} is missing"
        for name in (
            "WARC-Profile",
            "WARC-Refers-To-Target-URI",
            "WARC-Refers-To-Date",
            "WARC-Payload-Digest",
        )
        if not fields.get(name.lower())
    ]
