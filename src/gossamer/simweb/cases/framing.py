"""Lies about where a message ends (RFC 9112 6 to 8)."""

from collections.abc import Callable, Iterator, Mapping

from gossamer.simweb.cases.stage import HTML, Stage
from gossamer.simweb.servers.replies import head, message, said, scripted
from gossamer.simweb.world.resource import Ending, Reply, Scene

_CHUNKED = (*HTML, ("Transfer-Encoding", "chunked"))


def _sized(*lengths: str) -> bytes:
    return head(200, (*HTML, *(("Content-Length", length) for length in lengths))) + b"\r\n"


def _chunks(body: bytes, extension: bytes = b"", size: int = 100) -> bytes:
    pieces = (body[start : start + size] for start in range(0, len(body), size))
    return b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces)


def short_body(stage: Stage) -> Scene:
    """Content-Length promises 1,000 bytes more than come."""
    body = stage.harmless()
    return stage.doubtful(said(_sized(str(len(body) + 1_000)) + body))


def long_body(stage: Stage) -> Scene:
    """1,000 bytes more come than Content-Length promises."""
    return stage.clear(lambda body: said(message(200, HTML, body) + b"<a href=/never-there.html>" * 40))


def double_length(stage: Stage) -> Scene:
    """Two Content-Length fields that differ: the classic of request smuggling."""
    body = stage.harmless()
    return stage.doubtful(said(_sized(str(len(body)), str(len(body) + 7)) + body))


def same_double_length(stage: Stage) -> Scene:
    """Two equal Content-Length fields, which a reader may forgive (RFC 9110 8.6)."""
    body = stage.harmless()
    return stage.doubtful(said(_sized(str(len(body)), str(len(body))) + body, ending=Ending.KEEP))


def negative_length(stage: Stage) -> Scene:
    """A head with `Content-Length: -1`."""
    return stage.doubtful(said(_sized("-1") + stage.harmless()))


def huge_length(stage: Stage) -> Scene:
    """A Content-Length that fits no machine word."""
    return stage.doubtful(said(_sized("9" * 40) + stage.harmless()))


def length_and_chunked(stage: Stage) -> Scene:
    """Both ways of framing at once."""
    start = head(200, (*_CHUNKED, ("Content-Length", "5"))) + b"\r\n"
    return stage.doubtful(said(start + _chunks(stage.harmless()) + b"0\r\n\r\n"))


def bad_chunks(stage: Stage) -> Scene:
    """A chunk size that is no number."""
    start = head(200, _CHUNKED) + b"\r\n"
    return stage.doubtful(said(start + _chunks(stage.harmless()) + b"zz\r\nmore\r\n0\r\n\r\n"))


def huge_chunk(stage: Stage) -> Scene:
    """A chunk size beyond 64 bits."""
    start = head(200, _CHUNKED) + b"\r\n"
    return stage.doubtful(said(start + b"FFFFFFFFFFFFFFFFF\r\n" + stage.harmless()))


def cut_chunks(stage: Stage) -> Scene:
    """The connection ends before the last chunk."""
    return stage.doubtful(said(head(200, _CHUNKED) + b"\r\n" + _chunks(stage.harmless())))


def endless_chunk_extension(stage: Stage) -> Scene:
    """A chunk extension that never ends: bytes that count as no body."""

    def steps() -> Iterator[bytes | float]:
        yield head(200, _CHUNKED) + b"\r\n5;"
        while True:
            yield b"x" * 65_536
            yield 0.002

    return stage.doubtful(lambda _: Reply(200, steps=steps, ending=Ending.CLOSE))


def trailers(stage: Stage) -> Scene:
    """A chunked body followed by trailer fields."""
    start = head(200, (*_CHUNKED, ("Trailer", "X-Checked"))) + b"\r\n"
    end = b"0\r\nX-Checked: yes\r\nContent-Type: image/png\r\n\r\n"
    return stage.clear(lambda body: said(start + _chunks(body) + end, ending=Ending.KEEP))


def chunk_extensions(stage: Stage) -> Scene:
    """Small chunks with extensions, which mean nothing."""
    start = head(200, _CHUNKED) + b"\r\n"
    return stage.clear(
        lambda body: said(start + _chunks(body, b';a="b"', 3) + b"0;last\r\n\r\n", ending=Ending.KEEP)
    )


def http10(stage: Stage) -> Scene:
    """HTTP/1.0, the body ends with the connection."""
    return stage.clear(lambda body: said(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + body))


def http09(stage: Stage) -> Scene:
    """A body without any head, as in HTTP/0.9."""
    return stage.doubtful(said(stage.harmless(), status=0))


def keep_alive_lie(stage: Stage) -> Scene:
    """Promises to keep the connection, then closes it."""
    fields = (*HTML, ("Connection", "keep-alive"), ("Keep-Alive", "timeout=60"))
    return stage.clear(lambda body: said(message(200, fields, body)))


def extra_response(stage: Stage) -> Scene:
    """A second response that nobody asked for, and the connection stays open."""
    extra = message(200, HTML, b"<a href=/never-there.html>no</a>")
    return stage.clear(lambda body: scripted(message(200, HTML, body), 0.01, extra, ending=Ending.KEEP))


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "short-body": short_body,
    "long-body": long_body,
    "double-length": double_length,
    "same-double-length": same_double_length,
    "negative-length": negative_length,
    "huge-length": huge_length,
    "length-and-chunked": length_and_chunked,
    "bad-chunks": bad_chunks,
    "huge-chunk": huge_chunk,
    "cut-chunks": cut_chunks,
    "endless-chunk-extension": endless_chunk_extension,
    "trailers": trailers,
    "chunk-extensions": chunk_extensions,
    "http10": http10,
    "http09": http09,
    "keep-alive-lie": keep_alive_lie,
    "extra-response": extra_response,
}
