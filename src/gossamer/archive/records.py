"""Builds WARC 1.1 records, uncompressed.

Section numbers are those of "The WARC Format 1.1" (IIPC). Payload digests are over the entity body without
transfer coding and with content codings kept; block digests over the block as stored. `WARC-Protocol`
and `WARC-Cipher-Suite` follow the IIPC's proposals (iipc/warc-specifications, issues 42 and 86).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from gossamer.archive.head import HeadStore
from gossamer.archive.placement import Original, RecordKind, digest_label
from gossamer.archive.stamps import named_record_id, new_record_id, timestamp14, warc_date
from gossamer.model.errors import InternalError, StorageError
from gossamer.model.exchange import Body, Exchange, FurtherRecord
from gossamer.model.name import Answer

Pairs = Sequence[tuple[str, str]]
"""Fields of `application/warc-fields`, in order; names may repeat."""

REVISIT_SAME = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
REVISIT_UNMODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

RECORD_END = b"\r\n\r\n"

_MAX_VALUE = 8_192  # characters of a metadata value; FastWARC reads lines of that length
_NOT_IN_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NOT_IN_NAME = re.compile("[^!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_URI = re.compile(rb"[^\x21-\x7e]")
_OURS = frozenset(
    f"warc-{name}"
    for name in (
        "type",
        "record-id",
        "date",
        "target-uri",
        "warcinfo-id",
        "concurrent-to",
        "refers-to",
        "block-digest",
    )
) | {"content-type", "content-length"}
"""Fields that say what a record is and where it belongs."""
_NO_BODY = frozenset((204, 304))  # status codes whose Content-Length is not about their own message
_SERVER = re.compile(r"\[?([0-9a-fA-F:.]+?)\]?(?::\d+)?$")


class Record(NamedTuple):
    """One record ready to be compressed.

    Attributes:
        parts: the WARC fields, then the block, or its beginning if there is a `body`.
        body: the rest of the block, if it is too large to be held in memory.
    """

    parts: tuple[bytes, ...]
    body: Body | None = None

    def pieces(self) -> Iterator[bytes]:
        """The record's bytes, a large body in chunks."""
        yield from self.parts
        if self.body is not None:
            left = self.body.size
            for chunk in self.body.chunks():
                left -= len(chunk)
                yield chunk
            _require_whole(left)
        yield RECORD_END


class Resource(NamedTuple):
    """What `Placed` says of a further record that is a resource; `number` is its place among the records."""

    number: int
    url: str
    media_type: str
    record_id: str
    sha256: bytes


class Visit(NamedTuple):
    """The records of one visit, the main one first, with what `Placed` says of it."""

    records: list[Record]
    kind: RecordKind
    record_id: str
    date: str
    sha256: bytes
    resources: tuple[Resource, ...] = ()


class RecordBuilder:
    """Makes the records of one archive file.

    Args:
        heads: rewrites HTTP heads.
        warcinfo_id: of the file, `urn:uuid:...`.
        include_requests: whether visits have a request record.
    """

    __slots__ = ("_heads", "_include_requests", "_warcinfo")

    def __init__(self, heads: HeadStore, warcinfo_id: str, *, include_requests: bool) -> None:
        self._heads = heads
        self._warcinfo = f"WARC-Warcinfo-ID: <{warcinfo_id}>\r\n"
        self._include_requests = include_requests

    def visit(self, exchange: Exchange, fields: Pairs, refers_to: Original | None) -> Visit:
        """Response or revisit, then request, then metadata if there are `fields`."""
        main_id = new_record_id()
        date = warc_date(exchange.started)
        common = f"WARC-Date: {date}\r\nWARC-Target-URI: {safe_uri(exchange.url.text)}\r\n{self._warcinfo}"
        wire = _wire_fields(exchange)
        if exchange.url.scheme not in ("http", "https"):
            kind: RecordKind = "resource"
            main = _resource(exchange, main_id, common + wire)
        elif refers_to is not None:
            kind, main = "revisit", self._revisit(exchange, main_id, common + wire, refers_to)
        else:
            kind, main = "response", self._response(exchange, main_id, common + wire)
        sha256 = refers_to.sha256 if refers_to is not None and kind == "revisit" else exchange.body.sha256
        records = [main]
        concurrent = f"{common}WARC-Concurrent-To: <{main_id}>\r\n"
        if self._include_requests and kind != "resource":
            head = self._heads.request(exchange.request_head)
            if head:
                records.append(
                    _whole(
                        "request",
                        concurrent + wire,
                        "application/http; msgtype=request",
                        head + exchange.request_body,
                    )
                )
        if fields:
            records.append(_whole("metadata", concurrent, "application/warc-fields", warc_fields(fields)))
        resources = []
        # What has a capture of its own comes last: metadata is about the main record before it.
        for further in sorted(exchange.further, key=lambda one: one.kind == "resource"):
            record, record_id, digest = self._further(further, exchange, date, main_id)
            if further.kind == "resource":
                target = further.target or exchange.url.text
                resources.append(Resource(len(records), target, further.media_type, record_id, digest))
            records.append(record)
        return Visit(records, kind, main_id, date, sha256, tuple(resources))

    def _further(
        self, further: FurtherRecord, exchange: Exchange, date: str, main_id: str
    ) -> tuple[Record, str, bytes]:
        """A record that the visit left beside the main one; with its name and the digest of its block."""
        record_id = new_record_id()
        relation = "WARC-Refers-To" if further.kind == "conversion" else "WARC-Concurrent-To"
        own = [
            f"{_safe_name(name)}: {_safe_value(value)}\r\n"
            for name, value in further.fields
            if name.lower() not in _OURS
        ]
        fields = (
            f"WARC-Date: {date}\r\nWARC-Target-URI: {safe_uri(further.target or exchange.url.text)}\r\n"
            f"{self._warcinfo}{relation}: <{main_id}>\r\n{''.join(own)}"
        )
        media_type = _safe_value(further.media_type) or "application/octet-stream"
        record = _whole(further.kind, fields, media_type, further.block, record_id)
        return record, record_id, hashlib.sha256(further.block).digest()

    def _response(self, exchange: Exchange, record_id: str, common: str) -> Record:
        body = exchange.body
        size = None if exchange.status in _NO_BODY and not body.size else body.size
        head, cut = self._heads.response(exchange.response_head, exchange.status, size)
        fields = (
            f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <{record_id}>\r\n{common}"
            f"WARC-Payload-Digest: {digest_label(body.sha256)}\r\n{_truncated(exchange, head_cut=cut)}"
            "Content-Type: application/http; msgtype=response\r\n"
        )
        return _with_body(fields, head, body)

    def _revisit(self, exchange: Exchange, record_id: str, common: str, original: Original) -> Record:
        """6.7.2 and 6.7.3: the head only; the payload digest is the original's, which stands for ours."""
        unmodified = exchange.status == 304
        if not unmodified and original.sha256 != exchange.body.sha256:
            raise InternalError(f"{exchange.url}: a revisit of {original.url}, whose payload differs")
        size = None if unmodified else exchange.body.size
        head, cut = self._heads.response(exchange.response_head, exchange.status, size)
        refers_to = f"WARC-Refers-To: <{original.record_id}>\r\n" if original.record_id else ""
        fields = (
            f"{common}WARC-Profile: {REVISIT_UNMODIFIED if unmodified else REVISIT_SAME}\r\n"
            f"{refers_to}WARC-Refers-To-Target-URI: {safe_uri(original.url)}\r\n"
            f"WARC-Refers-To-Date: {original.date}\r\n"
            f"WARC-Payload-Digest: {digest_label(original.sha256)}\r\n{_truncated(exchange, head_cut=cut)}"
        )
        return _whole("revisit", fields, "application/http; msgtype=response", head, record_id)

    def dns(self, answer: Answer) -> Visit:
        """A `dns:` resource record (RFC 4501): the date, then a line for each address."""
        record_id = new_record_id()
        date = warc_date(answer.asked)
        lines = [timestamp14(answer.asked)]
        lines += [
            f"{answer.name}.\t{int(answer.ttl)}\tIN\t{'AAAA' if ':' in address else 'A'}\t{address}"
            for address in answer.addresses
        ]
        block = ("\n".join(lines) + "\n").encode("ascii", "replace")
        server = _SERVER.match(answer.server)
        fields = (
            f"WARC-Date: {date}\r\nWARC-Target-URI: dns:{safe_uri(answer.name)}\r\n{self._warcinfo}"
            + (f"WARC-IP-Address: {server[1]}\r\n" if server else "")
            + "WARC-Protocol: dns\r\n"
        )
        record = _whole("resource", fields, "text/dns", block, record_id)
        return Visit([record], "resource", record_id, date, hashlib.sha256(block).digest())


class Warcinfo(msgspec.Struct, frozen=True):
    """The first record of a file, less its date; the same file name and fields make the same `record_id`."""

    name: str
    block: bytes
    record_id: str

    @classmethod
    def of(cls, name: str, fields: Pairs) -> "Warcinfo":
        """For the file called `name`."""
        block = warc_fields(fields)
        return cls(name, block, named_record_id(name.encode() + b"\n" + block))

    def record(self, now: float) -> Record:
        """6.2: neither a target nor a payload digest."""
        fields = f"WARC-Date: {warc_date(now)}\r\nWARC-Filename: {self.name}\r\n"
        return _whole("warcinfo", fields, "application/warc-fields", self.block, self.record_id)


def warc_fields(pairs: Iterable[tuple[str, str]]) -> bytes:
    """`application/warc-fields` in UTF-8; no name or value can start a line of its own."""
    return "".join([f"{_safe_name(name)}: {_safe_value(value)}\r\n" for name, value in pairs]).encode(
        "utf-8", "replace"
    )


def safe_uri(text: str) -> str:
    """`text` with every byte that may not stand in a URI percent-encoded; URLs of ours have none."""
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    return _NOT_IN_URI.sub(
        lambda match: b"%%%02X" % match[0][0], text.encode("utf-8", "surrogatepass")
    ).decode("ascii")


@lru_cache(maxsize=256)
def _safe_name(name: str) -> str:
    return _NOT_IN_NAME.sub("-", name)[:100] or "-"


def _safe_value(value: str) -> str:
    value = value[:_MAX_VALUE]
    return value if value.isprintable() else _NOT_IN_LINE.sub(" ", value)


def _wire_fields(exchange: Exchange) -> str:
    """Who answered, in which protocol. Behind a proxy there is no address, as it would be the proxy's."""
    address = f"WARC-IP-Address: {exchange.address}\r\n" if exchange.address else ""
    if not exchange.cipher:
        return f"{address}WARC-Protocol: {exchange.protocol}\r\n"
    version, _, suite = exchange.cipher.partition(" ")
    tls = version.lower().replace("tlsv", "tls/")
    if tls == "tls/1":
        tls = "tls/1.0"
    suites = f"WARC-Cipher-Suite: {suite}\r\n" if suite else ""
    return f"{address}WARC-Protocol: {exchange.protocol}\r\nWARC-Protocol: {tls}\r\n{suites}"


def _require_whole(left: int) -> None:
    """Refuse a body of which `left` bytes are missing (or, if negative, too many)."""
    if left:
        raise StorageError(
            f"a spooled body has {left} bytes less than were received: check the disk under the crawl's "
            "folder (tmp/), then resume"
        )


def _truncated(exchange: Exchange, *, head_cut: bool) -> str:
    """5.13. A head that was cut counts as `length`."""
    reason = exchange.truncated or ("length" if head_cut else "")
    return f"WARC-Truncated: {reason}\r\n" if reason else ""


def _whole(kind: str, fields: str, content_type: str, block: bytes, record_id: str = "") -> Record:
    """A record whose block is at hand."""
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{record_id or new_record_id()}>\r\n{fields}"
        f"WARC-Block-Digest: sha256:{hashlib.sha256(block).hexdigest()}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return Record((head.encode("latin-1", "replace"), block))


def _resource(exchange: Exchange, record_id: str, common: str) -> Record:
    """6.4: what came by another protocol than HTTP.

    The payload is the block, so the block digest is its digest; FastWARC calls a second one wrong.
    """
    media_type = _safe_value(exchange.headers.get("content-type")) or "application/octet-stream"
    fields = (
        f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <{record_id}>\r\n{common}"
        f"{_truncated(exchange, head_cut=False)}"
        f"Content-Type: {media_type}\r\n"
    )
    return _with_body(fields, b"", exchange.body)


def _with_body(fields: str, head: bytes, body: Body) -> Record:
    """A record whose block is `head` and `body`; the body is read twice, first for the block digest."""
    digest = hashlib.sha256(head)
    small = body.read() if body.size <= SMALL_BODY else None
    if small is not None:
        _require_whole(body.size - len(small))
        digest.update(small)
    else:
        for chunk in body.chunks():
            digest.update(chunk)
    front = (
        f"{fields}WARC-Block-Digest: sha256:{digest.hexdigest()}\r\n"
        f"Content-Length: {len(head) + body.size}\r\n\r\n"
    ).encode("latin-1", "replace")
    if small is not None:
        return Record((front, head, small))
    return Record((front, head), body)


SMALL_BODY = 1 << 20
"""Bodies up to this many bytes are compressed in one go; larger ones stream, in bounded memory."""
