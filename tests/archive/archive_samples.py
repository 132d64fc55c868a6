"""Exchanges, bodies and folders for the tests of the archive."""

import hashlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from warcio.checker import Checker

from gossamer.archive.config import ArchiveConfig
from gossamer.archive.file import FaultPoint, no_fault
from gossamer.archive.placement import ArchiveFile
from gossamer.archive.verify import Problem, RecordSummary, verify_file
from gossamer.archive.writer import ArchiveWriter
from gossamer.model.exchange import Exchange, Headers, Truncation
from gossamer.model.url import Url

STARTED = 1_700_000_000.123456
STARTED_DATE = "2023-11-14T22:13:20.123456Z"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
REQUEST = b"GET /page HTTP/1.1\r\nHost: example.org\r\nUser-Agent: test\r\n\r\n"
INFO = [("software", "gossamer test"), ("robots", "obeyed")]


class MemoryBody:
    """A body in memory; `chunked_at` bytes are given at a time."""

    def __init__(self, content: bytes, chunked_at: int = 1 << 16) -> None:
        self._content = content
        self._chunked_at = chunked_at

    @property
    def size(self) -> int:
        return len(self._content)

    @property
    def sha256(self) -> bytes:
        return hashlib.sha256(self._content).digest()

    def open(self) -> BinaryIO:
        return io.BytesIO(self._content)

    def chunks(self, size: int = 1 << 18) -> Iterator[bytes]:
        for start in range(0, len(self._content), min(size, self._chunked_at)):
            yield self._content[start : start + self._chunked_at]

    def read(self, limit: int = -1) -> bytes:
        return self._content if limit < 0 else self._content[:limit]

    def close(self) -> None:
        pass


def exchange(
    body: bytes = b"<p>hello</p>",
    *,
    head: bytes = HEAD,
    url: str = "https://example.org/page",
    status: int = 200,
    request: bytes = REQUEST,
    started: float = STARTED,
    protocol: str = "http/1.1",
    address: str = "192.0.2.7",
    cipher: str = "",
    truncated: Truncation | None = None,
) -> Exchange:
    parsed = Url.parse(url)
    assert parsed is not None
    return Exchange(
        parsed,
        started,
        request,
        status,
        head,
        Headers([]),
        MemoryBody(body),
        protocol=protocol,
        address=address,
        cipher=cipher,
        truncated=truncated,
    )


def open_writer(
    directory: Path,
    files: Sequence[ArchiveFile] = (),
    *,
    info: Sequence[tuple[str, str]] = INFO,
    fault_point: FaultPoint = no_fault,
    **settings: object,
) -> ArchiveWriter:
    return ArchiveWriter.open(directory, ArchiveConfig(**settings), info, files, fault_point)  # type: ignore[arg-type]


def records_by_warcio(path: Path) -> list[tuple[object, bytes]]:
    """Records with their raw payloads; fails the test if a digest does not verify."""
    found = []
    with path.open("rb") as stream:
        for record in WarcioIterator(stream, check_digests="raise"):
            found.append((record, record.raw_stream.read()))
            assert record.digest_checker.passed is not False
    return found


def assert_sound(path: Path) -> list[RecordSummary]:
    """Let warcio, FastWARC and ourselves find nothing wrong with the file; give its records."""

    class Arguments:
        inputs = [str(path)]
        verbose = False

    assert Checker(Arguments()).process_all() == 0
    kinds = []
    for record in FastIterator(str(path), parse_http=False, strict_mode=True):
        kinds.append(record.headers["WARC-Type"])
        assert record.verify_block_digest(False)
        if record.is_http:
            record.parse_http()
            assert record.http_headers is not None
        if "WARC-Payload-Digest" in record.headers and kinds[-1] != "revisit":
            assert record.verify_payload_digest(True)
    ours = list(verify_file(path))
    assert [item for item in ours if isinstance(item, Problem)] == []
    summaries = [item for item in ours if isinstance(item, RecordSummary)]
    assert [item.kind for item in summaries] == kinds == [r.rec_type for r, _ in records_by_warcio(path)]
    return summaries


def only_file(directory: Path) -> Path:
    (path,) = directory.iterdir()
    return path
