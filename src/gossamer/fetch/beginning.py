"""The beginning of a body, and what tells that an answer is the rest of it (RFC 9110 13.1.5, 15.3.7)."""

import re

import msgspec

from gossamer.fetch.body import KeptFile
from gossamer.model.exchange import BodyPart, Exchange, Headers
from gossamer.policy.visits.http_date import parse_http_date

CLOCKS = 60.0
"""Seconds by which a document must have been older than its answer, for its time to be a strong validator
(RFC 9110 8.8.2.2)."""

_STRONG_TAG = re.compile(r'"[\x21\x23-\x7e\x80-\xff]*"')
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII | re.IGNORECASE)
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)


class Beginning(msgspec.Struct, frozen=True):
    """What has come of a document so far.

    Attributes:
        exchange: of the visit that began it, without its body.
        kept: its bytes, in a file.
        validator: strong, an entity tag or a date; of another document it would be another.
        length: of the whole document, if it is known.
    """

    exchange: Exchange
    kept: KeptFile
    validator: str
    length: int | None

    @property
    def fields(self) -> list[bytes]:
        """Ask for the rest, or for the whole if that has changed (RFC 9110 13.1.5, 14.2)."""
        return [b"Range: bytes=%d-" % self.kept.size, b"If-Range: " + self.validator.encode("latin-1")]

    def length_by(self, headers: Headers) -> int:
        """Length of the whole document, if an answer (206) brings the rest of it; 0 if it does not (RFC 9110 15.3.7).

        A tag must be there again. A date need not, nor a content coding: If-Range has compared them.
        """
        found = _RANGE.fullmatch(headers.get("content-range"))
        if found is None:
            return 0
        first, last, length = map(int, found.groups())
        tagged = self.validator.startswith('"')
        said = headers.get("etag" if tagged else "last-modified", "" if tagged else self.validator)
        begun = self.exchange.headers
        coding = headers.get("content-encoding", begun.get("content-encoding"))
        fits = (
            first == self.kept.size
            and last + 1 == length
            and self.length in (None, length)
            and said == self.validator
            and coding.lower() == begun.get("content-encoding").lower()
        )
        return length if fits else 0

    def joined(self, last: Exchange) -> Exchange:
        """The exchange that began it, with all of the body; `last`: of the visit that brought the rest."""
        first, size = self.exchange, self.kept.size
        parts = first.parts or (BodyPart(first.started, first.address, size),)
        return msgspec.structs.replace(
            first,
            body=last.body,
            timing=last.timing,
            truncated=last.truncated,
            certificate_ends=last.certificate_ends,
            certificate=last.certificate,
            further=(*first.further, *last.further),
            parts=(*parts, BodyPart(last.started, last.address, last.body.size - size)),
        )


def strong_validator(exchange: Exchange) -> str:
    """What only this very document has, if parts of it can be asked for; else empty.

    By HTTP its entity tag, or its date where it has no tag (RFC 9110 13.1.5: not a weak tag, nor a date beside a
    tag); by other protocols its date.
    """
    headers = exchange.headers
    answered: float | None = exchange.started
    if exchange.result is None:
        if exchange.status != 200 or headers.get("accept-ranges").lower() != "bytes":
            return ""
        if tag := headers.get("etag"):
            return tag if _STRONG_TAG.fullmatch(tag) else ""
        answered = parse_http_date(headers.get("date"), exchange.started)
    changed = headers.get("last-modified")
    since = parse_http_date(changed, exchange.started)
    strong = since is not None and answered is not None and since + CLOCKS <= answered
    return changed if strong and changed.isprintable() else ""


def length_said(headers: Headers) -> int | None:
    """`Content-Length`, where that is what counts (RFC 9112 6.3)."""
    value = headers.get("content-length")
    return int(value) if _LENGTH.fullmatch(value) and not headers.get("transfer-encoding") else None
