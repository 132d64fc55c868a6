"""HTTP heads made fit for storage: honest, parsable, without secrets.

The body is stored without its transfer coding, so the head must not claim one (field.md 5.3). Every
line that leaves here is a start line or `token: value` with CRLF, because readers disagree about the rest:
warcio ends a head at a line of Unicode blanks, FastWARC does not find the end of a head with bare LF and by
default refuses a whole file for one head above 32 KiB.
"""

import re
from functools import lru_cache

from gossamer.model.exchange import REDACTED

MAX_STORED_HEAD = 32_000
"""Bytes of a stored head. FastWARC 2.0 stops reading a file at a head above 32,767 by default."""

_MAX_START_LINE = 8_192
_USUAL_NAME = 64  # bytes of a field name that is remembered; bounds the memory of hostile ones
_ROOM_FOR_LENGTH = 40  # `Content-Length: ` with twenty digits and CRLF

_CONTROLS_TO_BLANKS = bytes(
    0x20 if (byte < 0x20 and byte not in b"\t\r\n") or byte == 0x7F else byte for byte in range(256)
)
_TOKEN = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # RFC 9110 5.6.2
_FIELDS = rb"((?:[!#$%&'*+\-.^_`|~0-9A-Za-z]++:[\t\x20-\x7e\x80-\xff]*+\r\n)*+)\r\n"
"""Nothing but fields, one a line, and nothing in them to be mended."""
_CLEAN = re.compile(_FIELDS)
_CLEAN_HEAD = re.compile(rb"HTTP/[\t\x20-\x7e\x80-\xff]*+\r\n" + _FIELDS)
_FOLD = re.compile(rb"\n[ \t]+")
_STATUS_LINE = re.compile(rb"HTTP/(\d)(?:\.(\d))? +(\d{3})(?: (.*))?$", re.DOTALL)
_REQUEST_VERSION = re.compile(rb" HTTP/[0-9.]+$")
_PSEUDO = re.compile(rb":(?:status|method|path|scheme|authority|protocol):", re.IGNORECASE)


class HeadStore:
    """Rewrites heads, with the field names that are secret."""

    __slots__ = ("_minded", "_name", "_request_fields", "_secret", "_special")

    def __init__(self, redact: tuple[str, ...]) -> None:
        self._secret = frozenset(name.lower().encode("ascii") for name in redact)
        self._special = self._secret | {b"content-length", b"transfer-encoding"}
        names = b"|".join(map(re.escape, sorted(self._special)))
        self._minded = re.compile(rb"\r\n(" + names + rb"):([^\r]*)", re.IGNORECASE)
        # What a host is sent hardly changes from one visit to the next.
        self._request_fields = lru_cache(maxsize=256)(self._fields_of_request)
        # The same few dozen names stand in nearly all responses.
        self._name = lru_cache(maxsize=256)(_name)

    def response(self, head: bytes, status: int, size: int | None) -> tuple[bytes, bool]:
        """The head to store above `size` bytes of body.

        `Transfer-Encoding` and a wrong or repeated `Content-Length` are kept as `X-Crawler-...`, and the
        right length is added; lines that are no fields are kept as `X-Crawler-Malformed`.

        Args:
            head: as received; may be empty (HTTP/0.9).
            status: what the visit took it for; wins over an unreadable status line.
            size: bytes of body, or `None` where the length is not about this message's body
                (304 and 204, RFC 9110 8.6): then lengths stay as they are.

        Returns:
            The head with its empty line, at most `MAX_STORED_HEAD` bytes, and whether fields that did not
            fit were left out.
        """
        length = None if size is None else b"%d" % size
        as_it_is = self._as_it_is(head, length)
        if as_it_is is not None:
            return b"\r\n".join((*_status_line(head.partition(b"\r\n")[0], status), as_it_is)), False
        lines = _logical_lines(head)
        start, *extra = _status_line(lines[0] if lines else b"", status)
        out = [start, *extra]
        found = False
        room = MAX_STORED_HEAD - _ROOM_FOR_LENGTH - 4 - sum(map(len, out)) - 2 * len(out)
        cut = False
        for received in lines[1:]:
            line = received
            written, colon, _ = line.partition(b":")
            name = self._name(written) if colon and len(written) <= _USUAL_NAME else b""
            if not name:
                name, line = _field(line)
            if name in self._special:
                line, right = self._special_field(name, line, b"" if found else length)
                found = found or right
            if not line:
                continue
            if len(line) + 2 > room:
                cut = True
                continue
            room -= len(line) + 2
            out.append(line)
        if length is not None and not found:
            out.append(b"Content-Length: " + length)
        out.append(b"\r\n")
        return b"\r\n".join(out), cut

    def _as_it_is(self, head: bytes, length: bytes | None) -> bytes | None:
        """The fields of a head, with the empty line after them, if nothing of them need be changed, as with most."""
        clean = _CLEAN_HEAD.fullmatch(head)
        if clean is None or len(head) > MAX_STORED_HEAD // 2:
            return None
        minded = self._minded.findall(head)
        if not minded:
            return clean[1] + (b"\r\n" if length is None else b"Content-Length: " + length + b"\r\n\r\n")
        (name, value), *others = minded
        if others or name.lower() != b"content-length" or (length is not None and value.strip() != length):
            return None
        return clean[1] + b"\r\n"

    def _special_field(self, name: bytes, line: bytes, length: bytes | None) -> tuple[bytes, bool]:
        """The line to store for a field of ours to mind, and whether it is the right `Content-Length`."""
        written, _, value = line.partition(b":")
        if name in self._secret:
            return written + b": " + REDACTED, False
        if name == b"transfer-encoding":
            return b"X-Crawler-" + line, False
        if length is None or value.strip() == length:
            return line, length is not None
        return b"X-Crawler-" + line, False

    def request(self, head: bytes) -> bytes:
        """The request head to store: secret values replaced, HTTP/2 spelled as 1.1."""
        start, _, fields = head.partition(b"\n")
        lines = _logical_lines(start)
        if not lines:
            return b""
        return _REQUEST_VERSION.sub(
            _text_version, lines[0][:_MAX_START_LINE].rstrip()
        ) + self._request_fields(fields)

    def _fields_of_request(self, fields: bytes) -> bytes:
        """The fields to store, with the line end before and the empty line after them."""
        if _CLEAN.fullmatch(fields) and not self._minded.search(b"\r\n" + fields):
            return b"\r\n" + fields
        out = [b""]
        for received in _logical_lines(fields):
            name, line = _field(received)
            if not name:
                continue  # not ours; it might be the rest of a secret
            if name in self._secret:
                line = line.partition(b":")[0] + b": " + REDACTED
            out.append(line)
        out.append(b"\r\n")
        return b"\r\n".join(out)


def _logical_lines(head: bytes) -> list[bytes]:
    """Non-empty lines; folded ones joined (RFC 9112 5.2), controls but tab made blanks (RFC 9110 5.5)."""
    text = head.translate(_CONTROLS_TO_BLANKS).replace(b"\r\n", b"\n")
    if b"\r" in text:
        text = text.replace(b"\r", b" ")
    if b"\n " in text or b"\n\t" in text:
        text = _FOLD.sub(b" ", text)
    return [line for line in text.split(b"\n") if line and not line.isspace()]


def _name(written: bytes) -> bytes:
    """The name of a field in lower case; empty if it is none."""
    return b"" if written.translate(None, _TOKEN) else written.lower()


def _field(line: bytes) -> tuple[bytes, bytes]:
    """The name in lower case and the line to store.

    An empty name stands for a line that is no field, an empty line for one of HTTP/2's pseudo-fields.
    """
    name, colon, value = line.partition(b":")
    if name and colon and not name.translate(None, _TOKEN):
        return name.lower(), line
    bare = name.rstrip(b" \t")
    if bare and colon and not bare.translate(None, _TOKEN):
        return bare.lower(), bare + b":" + value
    if _PSEUDO.match(line):
        return b"", b""
    return b"", b"X-Crawler-Malformed: " + line


def _status_line(line: bytes, status: int) -> list[bytes]:
    """An HTTP/1 status line, followed by the original as a field where it was none at all.

    The reason phrase of HTTP/2 is empty and its blank stays (RFC 9112 4).
    """
    match = _STATUS_LINE.match(line[:1000])
    if match is None or int(match[3]) != status:
        spelled = b"HTTP/1.0 %03d " % status
        return [spelled, b"X-Crawler-Status-Line: " + line[:1000]] if line else [spelled]
    version = b"HTTP/1.0" if (match[1], match[2]) == (b"1", b"0") else b"HTTP/1.1"
    return [b"%b %b %b" % (version, match[3], match[4] or b"")]


def _text_version(match: re.Match[bytes]) -> bytes:
    return match[0] if match[0] == b" HTTP/1.0" else b" HTTP/1.1"
