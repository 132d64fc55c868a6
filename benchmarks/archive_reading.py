"""Read a crawl's archive and index with other people's tools (fastwarc, warcio, zlib)."""

import hashlib
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import msgspec
import zstandard
from fastwarc.warc import ArchiveIterator, WarcRecordType

CHECK_SECONDS = 1800
MAX_PROBLEMS = 20


class Capture(msgspec.Struct, frozen=True):
    """One archived answer.

    Attributes:
        url: as requested.
        status: of HTTP.
        kind: `response` or `revisit`.
        digest: the record's payload digest, without `sha256:`.
        digest_holds: the digest is that of the stored payload; not checked for a revisit, which stores none.
        content_sha256: of the body with content codings undone, hexadecimal; empty for a revisit.
        size: bytes of that body.
    """

    url: str
    status: int
    kind: str
    digest: str
    digest_holds: bool
    content_sha256: str
    size: int


def archives(folder: Path) -> list[Path]:
    """A crawl's WARC files; one that is still open is an error, not overlooked."""
    if unfinished := sorted((folder / "archive").glob("*.open")):
        raise RuntimeError(f"not closed: {unfinished[0]}")
    return sorted((folder / "archive").glob("*.warc.gz"))


def captures(folder: Path) -> Iterator[Capture]:
    """Every HTTP answer in the archive, in order."""
    wanted = WarcRecordType.response | WarcRecordType.revisit
    for path in archives(folder):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, record_types=wanted, parse_http=True):
                http = record.http_headers
                revisit = record.record_type == WarcRecordType.revisit
                payload = record.reader.read()
                body = payload if revisit else _decoded(payload, http.get("Content-Encoding") or "")
                digest = (record.headers.get("WARC-Payload-Digest") or "").removeprefix("sha256:")
                yield Capture(
                    url=record.headers["WARC-Target-URI"],
                    status=http.status_code or 0,
                    kind="revisit" if revisit else "response",
                    digest=digest,
                    digest_holds=revisit or digest == hashlib.sha256(payload).hexdigest(),
                    content_sha256="" if revisit else hashlib.sha256(body).hexdigest(),
                    size=len(body),
                )


def _decoded(body: bytes, coding: str) -> bytes:
    match coding.strip().lower():
        case "gzip":
            return zlib.decompress(body, 31)
        case "br":
            return bytes(brotli.decompress(body))
        case "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(body)
    return body


def index_problems(folder: Path) -> tuple[int, list[str]]:
    """(lines of `index.cdxj`, what is wrong with them): order, and whether each leads to its record."""
    problems: list[str] = []
    before = b""
    number = 0
    files = {path.name: path for path in archives(folder)}
    with (folder / "index.cdxj").open("rb") as index:
        for number, line in enumerate(index, 1):
            if line.startswith((b"!", b" ")):
                continue
            if line < before:
                problems.append(f"line {number} is out of order")
            before = line
            if problem := _line_problem(line, files):
                problems.append(f"line {number}: {problem}")
    return number, problems


def _line_problem(line: bytes, files: dict[str, Path]) -> str:
    try:
        _, stamp, text = line.decode("utf-8").rstrip("\n").split(" ", 2)
        entry: dict[str, Any] = msgspec.json.decode(text)
        path, offset, length = files[entry["filename"]], int(entry["offset"]), int(entry["length"])
    except (ValueError, KeyError) as error:
        return f"not readable: {error!r}"
    with path.open("rb") as archive:
        archive.seek(offset)
        member = archive.read(length)
    decompressor = zlib.decompressobj(31)
    try:
        record = decompressor.decompress(member)
    except zlib.error as error:
        return f"no gzip member at its place: {error}"
    if not decompressor.eof or decompressor.unused_data:
        return "its length is not that of one gzip member"
    fields = _fields(record)
    # A `dns:` record has no payload of its own, only a block.
    digest = fields.get("warc-payload-digest") or fields.get("warc-block-digest", "")
    date = "".join(filter(str.isdigit, fields.get("warc-date", "")))
    if fields.get("warc-target-uri") != entry.get("url"):
        return f"leads to {fields.get('warc-target-uri')}"
    if digest.removeprefix("sha256:") != str(entry.get("digest", "")).removeprefix("sha256:"):
        return f"the record's digest is {digest}"
    return "" if date.startswith(stamp) else f"the record's date is {date}"


def _fields(record: bytes) -> dict[str, str]:
    head = record.partition(b"\r\n\r\n")[0].decode("utf-8")
    lines = (line.partition(":") for line in head.split("\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in lines}


def tool_problems(folder: Path) -> dict[str, list[str]]:
    """What `warcio check` and `fastwarc check` find, by tool."""
    found: dict[str, list[str]] = {"warcio": [], "fastwarc": []}
    for path in archives(folder):
        for tool, module in (("warcio", "warcio.cli"), ("fastwarc", "fastwarc.cli")):
            command = [sys.executable, "-m", module, "check", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=CHECK_SECONDS, check=False)
            if done.returncode:
                lines = (done.stdout + done.stderr).splitlines()
                found[tool] += [f"{path.name}: {line}" for line in lines[-MAX_PROBLEMS:]]
    return found
