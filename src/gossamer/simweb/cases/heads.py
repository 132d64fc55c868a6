"""Odd, broken and monstrous response heads."""

from collections.abc import Callable, Iterator, Mapping

from gossamer.simweb.cases.stage import HTML, Stage
from gossamer.simweb.servers.replies import dropped, head, message, said, scripted, silent
from gossamer.simweb.world.resource import Ending, Reply, Scene

_PIECE = 1 << 16


def empty_answer(stage: Stage) -> Scene:
    """Closes the connection without a byte."""
    return stage.doubtful(said(b"", status=0))


def reset_answer(stage: Stage) -> Scene:
    """Resets the connection without a byte."""
    return stage.doubtful(dropped)


def reset_in_head(stage: Stage) -> Scene:
    """Resets in the middle of a field."""
    return stage.doubtful(scripted(b"HTTP/1.1 200 OK\r\nContent-Ty", 0.02, status=0, ending=Ending.RESET))


def never_answers(stage: Stage) -> Scene:
    """Takes the request and says nothing."""
    return stage.doubtful(silent)


def drip_head(stage: Stage) -> Scene:
    """A head that comes byte by byte, without end."""

    def steps() -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\nX-Drip: "
        while True:
            yield b"x"
            yield stage.spec.drip_seconds

    return stage.doubtful(lambda _: Reply(200, steps=steps))


def huge_head(stage: Stage) -> Scene:
    """Fields of a kilobyte each, 40 MB of them."""
    line = b"X-Filler: %s\r\n" % (b"x" * 1_012)
    return _many_lines(stage, line, stage.spec.head_bytes // len(line))


def many_fields(stage: Stage) -> Scene:
    """A head of 300,000 short fields."""
    return _many_lines(stage, b"X: y\r\n", stage.spec.head_lines)


def huge_field(stage: Stage) -> Scene:
    """One field as long as the huge head."""

    def steps() -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\nX-Long: "
        for _ in range(max(1, stage.spec.head_bytes // _PIECE)):
            yield b"x" * _PIECE
        yield b"\r\nContent-Length: 0\r\n\r\n"

    return stage.doubtful(lambda _: Reply(200, steps=steps))


def _many_lines(stage: Stage, line: bytes, count: int) -> Scene:
    per_piece = max(1, _PIECE // len(line))

    def steps() -> Iterator[bytes | float]:
        yield head(200, HTML)
        for start in range(0, count, per_piece):
            yield line * min(per_piece, count - start)
        yield b"Content-Length: 0\r\n\r\n"

    return stage.doubtful(lambda _: Reply(200, steps=steps))


def nul_head(stage: Stage) -> Scene:
    """NUL bytes in a field's value."""
    return stage.doubtful(said(message(200, (*HTML, ("X-Nul", "a\0b")), stage.harmless())))


def nul_status(stage: Stage) -> Scene:
    """NUL bytes in the status line."""
    return stage.doubtful(said(b"HTTP/1.1 200 \0OK\r\nContent-Length: 0\r\n\r\n"))


def wild_status(stage: Stage) -> Scene:
    """A status line without a number."""
    return stage.doubtful(said(b"HTTP/1.1 fine\r\nContent-Length: 0\r\n\r\n", status=0))


def unknown_status(stage: Stage) -> Scene:
    """A status that no class of RFC 9110 holds."""
    return stage.doubtful(said(message(799, HTML, stage.harmless(), reason="Beyond"), status=799))


def not_http(stage: Stage) -> Scene:
    """An answer in another protocol altogether."""
    return stage.doubtful(said(b"220 mail.sim.test ESMTP ready\r\n500 what?\r\n", status=0))


def no_colon(stage: Stage) -> Scene:
    """A line in the head that is no field."""
    body = stage.harmless()
    return stage.doubtful(
        said(head(200, HTML) + b"this is no field\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    )


def switching(stage: Stage) -> Scene:
    """101, though nobody asked to switch."""
    answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    return stage.doubtful(said(answer, status=101))


def flood_1xx(stage: Stage) -> Scene:
    """10,000 interim responses before the final one."""
    final = message(200, HTML, stage.harmless())
    return stage.doubtful(said(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 10_000 + final))


def endless_1xx(stage: Stage) -> Scene:
    """Interim responses and never a final one."""

    def steps() -> Iterator[bytes | float]:
        while True:
            yield b"HTTP/1.1 102 Processing\r\n\r\n" * 1_000
            yield 0.002

    return stage.doubtful(lambda _: Reply(102, steps=steps))


def early_hints(stage: Stage) -> Scene:
    """Two interim responses, then the final one (RFC 8297)."""
    hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </no.css>; rel=preload\r\n\r\n"
    return stage.clear(lambda body: said(hints + message(200, HTML, body), ending=Ending.KEEP))


def folded(stage: Stage) -> Scene:
    """A field that goes on in the next line (obs-fold, RFC 9112 5.2)."""
    fields = (("X-Folded", "one\r\n two\r\n\tthree"), *HTML)
    return stage.clear(lambda body: said(message(200, fields, body), ending=Ending.KEEP))


def no_reason(stage: Stage) -> Scene:
    """A status line that ends after the number."""

    def answer(body: bytes) -> bytes:
        return message(200, HTML, body).replace(b"200 OK\r\n", b"200\r\n", 1)

    return stage.clear(lambda body: said(answer(body), ending=Ending.KEEP))


def odd_case(stage: Stage) -> Scene:
    """Names of fields in wild capitals, values without or with much space."""

    def answer(body: bytes) -> bytes:
        fields = b'cOnTeNt-TyPe:text/html;CHARSET="UTF-8"\r\nCONTENT-LENGTH: \t %d \t\r\n\r\n' % len(body)
        return b"HTTP/1.1 200 oK\r\n" + fields + body

    return stage.clear(lambda body: said(answer(body), ending=Ending.KEEP))


def lf_only(stage: Stage) -> Scene:
    """Lines of the head end in LF alone, which a reader may accept (RFC 9112 2.2)."""

    def answer(body: bytes) -> bytes:
        return b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: %d\n\n" % len(body) + body

    return stage.clear(lambda body: said(answer(body), ending=Ending.KEEP))


def latin_head(stage: Stage) -> Scene:
    """Bytes beyond ASCII in reason phrase and fields, UTF-8 or not."""

    def answer(body: bytes) -> bytes:
        start = b"HTTP/1.1 200 D'accord \xe9\r\nX-Title: \xe9t\xe9 \xff \xe2\x82\xac\r\n"
        return start + b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    return stage.clear(lambda body: said(answer(body), ending=Ending.KEEP))


def terminal(stage: Stage) -> Scene:
    """Escape sequences in reason, fields and title, meant for the terminal of whoever reads a log."""
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u202e"
    bad = stage.text(f"<title>{evil}</title><a href=/beyond.html>{evil}</a>", "/beyond.html").body()
    fields = (("X-Evil", "\x1b[2J\x1b]0;owned\x07"), *HTML)
    spoken = said(message(200, fields, bad, reason="\x1b[31mOK\x07"), ending=Ending.KEEP)
    return stage.clear(lambda _: spoken)


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "empty-answer": empty_answer,
    "reset-answer": reset_answer,
    "reset-in-head": reset_in_head,
    "never-answers": never_answers,
    "drip-head": drip_head,
    "huge-head": huge_head,
    "many-fields": many_fields,
    "huge-field": huge_field,
    "nul-head": nul_head,
    "nul-status": nul_status,
    "wild-status": wild_status,
    "unknown-status": unknown_status,
    "not-http": not_http,
    "no-colon": no_colon,
    "switching": switching,
    "flood-1xx": flood_1xx,
    "endless-1xx": endless_1xx,
    "early-hints": early_hints,
    "folded": folded,
    "no-reason": no_reason,
    "odd-case": odd_case,
    "lf-only": lf_only,
    "latin-head": latin_head,
    "terminal": terminal,
}
