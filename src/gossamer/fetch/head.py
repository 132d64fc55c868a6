"""Reads response heads line by line, within bounds."""

import re

from gossamer.model.exchange import FIELD_BLANKS, Headers

_LINE_END = 2
_FIELDS = re.compile(r"\n([^:\n]*+):([^\n]*+)")
"""Lines that have a colon, the first line left out."""


class HeadReader:
    """Takes the lines that libcurl hands on and keeps those of the final response's head.

    libcurl gives everything that looks like a head in order: a proxy's answers to CONNECT, interim
    (1xx) heads, the head, trailers. `complete` holds if and only if the empty line of a final head
    was seen; what follows it are trailers, or where libcurl answers a challenge (`challenged`), the next head.
    """

    __slots__ = (
        "_interim_left",
        "_lines",
        "_lines_left",
        "_max_size",
        "challenged",
        "complete",
        "excess",
        "expects_tunnel",
        "size",
        "status",
    )

    def __init__(self, *, max_size: int, max_lines: int, max_interim: int) -> None:
        self.size = 0
        self._max_size = max_size
        self._lines_left = max_lines
        self._interim_left = max_interim
        self._lines: list[bytes] = []
        self.status = 0
        self.complete = False
        self.excess = ""
        self.expects_tunnel = False
        self.challenged = False

    def feed(self, line: bytes) -> int | None:
        """Take one line with its end; -1, as libcurl wants it, once a bound is passed."""
        length = len(line)
        self.size = size = self.size + length
        self._lines_left = left = self._lines_left - 1
        if size > self._max_size or left < 0:
            self.excess = "too many bytes" if size > self._max_size else "too many lines"
            return -1
        if self.complete:
            if not (self.challenged and line.startswith(b"HTTP/")):
                return None
            self.complete, self._lines = False, []  # of the answer to the same request, with our proof
        self._lines.append(line)
        if length <= _LINE_END and line in (b"\r\n", b"\n"):
            return self._end()
        return None

    def raw(self) -> bytes:
        """The final head as received, ending in an empty line.

        HTTP/2 and 3 have no status line; libcurl's stand-in is rewritten as readers of archives
        expect it (`HTTP/1.1 200 `).
        """
        first = self._lines[0]
        if first.startswith((b"HTTP/2 ", b"HTTP/3 ")):
            self._lines[0] = b"HTTP/1.1 %03d \r\n" % self.status
        return b"".join(self._lines)

    def _end(self) -> int | None:
        self.status = _status(self._lines[0])
        if self.expects_tunnel and 200 <= self.status < 300:
            self.expects_tunnel = False
            self._lines = []
        elif 100 <= self.status < 200:
            self._interim_left -= 1
            if self._interim_left < 0:
                self.excess = "too many interim heads"
                return -1
            self._lines = []
        else:
            self.complete = True
        return None


def parse_fields(head: bytes) -> Headers:
    """The fields of a raw head, in order; folded lines joined by a space (RFC 9112 5.2)."""
    text = head.decode("latin-1")
    if "\n " not in text and "\n\t" not in text:
        return Headers(
            [(name.rstrip(FIELD_BLANKS), value.strip(FIELD_BLANKS)) for name, value in _FIELDS.findall(text)]
        )
    return Headers(_folded(text))


def _folded(head: str) -> list[tuple[str, str]]:
    """The same, of a head in which lines may go on with the next."""
    fields: list[tuple[str, str]] = []
    for line in head.split("\n")[1:]:
        text = line.rstrip("\r")
        if text[:1] in (" ", "\t"):
            if fields:
                name, value = fields[-1]
                fields[-1] = (name, f"{value} {text.strip(FIELD_BLANKS)}")
            continue
        name, colon, value = text.partition(":")
        if colon:
            fields.append((name.rstrip(FIELD_BLANKS), value.strip(FIELD_BLANKS)))
    return fields


def _status(line: bytes) -> int:
    """Three digits of a status line that libcurl accepted."""
    words = line.split(None, 2)
    return int(words[1][:3]) if len(words) > 1 and words[1][:3].isdigit() else 0
