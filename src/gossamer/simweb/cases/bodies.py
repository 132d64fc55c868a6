"""Bodies that never end, hardly come, expand without measure or are not what they are called."""

import gzip
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from gossamer.simweb.cases.stage import HTML, Stage
from gossamer.simweb.servers.coding import bomb, encode
from gossamer.simweb.servers.replies import head, message, said, scripted
from gossamer.simweb.world.leaves import leaf
from gossamer.simweb.world.resource import Ending, Reply, Request, Resource, Scene

_CLOSE_DELIMITED = head(200, (*HTML, ("Connection", "close"))) + b"\r\n"


def endless_body(stage: Stage) -> Scene:
    """A body without end, some 100 MB a second."""

    def steps() -> Iterator[bytes | float]:
        yield _CLOSE_DELIMITED + stage.harmless()
        while True:
            yield b"<p>and on, and on</p>\n" * 12_000
            yield 0.002

    return stage.doubtful(lambda _: Reply(200, steps=steps))


def drip_body(stage: Stage) -> Scene:
    """A body that comes byte by byte, without end."""

    def steps() -> Iterator[bytes | float]:
        yield _CLOSE_DELIMITED + stage.harmless()
        while True:
            yield b"x"
            yield stage.spec.drip_seconds

    return stage.doubtful(lambda _: Reply(200, steps=steps))


def stalled_body(stage: Stage) -> Scene:
    """Half a body, then silence."""
    body = stage.harmless()
    whole = message(200, HTML, body)
    return stage.doubtful(scripted(whole[: -len(body) // 2], 3600.0))


def reset_body(stage: Stage) -> Scene:
    """Half a body, then a reset."""
    body = stage.harmless()
    whole = message(200, HTML, body)
    return stage.doubtful(scripted(whole[: -len(body) // 2], 0.02, ending=Ending.RESET))


def slow_body(stage: Stage) -> Scene:
    """A body in ten pieces with pauses, within the patience of any reader."""

    def answer(body: bytes) -> Iterator[bytes | float]:
        whole = message(200, HTML, body)
        size = -(-len(whole) // 10)
        for start in range(0, len(whole), size):
            if start:
                yield stage.spec.slow_seconds / 10
            yield whole[start : start + size]

    return stage.clear(lambda body: lambda _: Reply(200, steps=partial(answer, body)))


def _bomb(coding: str, label: str, stage: Stage) -> Scene:
    def speak(_: Request) -> Reply:
        packed = bomb(coding, stage.spec.bomb_bytes)
        return Reply(200, message(200, (*HTML, ("Content-Encoding", label)), packed))

    return stage.doubtful(speak)


def _coded(label: str, code: Callable[[bytes], bytes], stage: Stage) -> Scene:
    """A page in a coding that is sent whether accepted or not, and can be read."""
    fields = (*HTML, ("Content-Encoding", label))
    return stage.clear(lambda body: said(message(200, fields, code(body)), ending=Ending.KEEP))


def _miscoded(label: str, code: Callable[[bytes], bytes], stage: Stage) -> Scene:
    """A page whose coding is a lie or damaged."""
    fields = (*HTML, ("Content-Encoding", label))
    return stage.doubtful(said(message(200, fields, code(stage.harmless())), ending=Ending.KEEP))


def _members(body: bytes) -> bytes:
    return encode("gzip", body[:100]) + encode("gzip", body[100:])


def _cut(body: bytes) -> bytes:
    packed = encode("gzip", body)
    return packed[: len(packed) * 2 // 3]


def _damaged(body: bytes) -> bytes:
    packed = encode("gzip", body)
    return packed[:-8] + bytes(8)


def _twice(body: bytes) -> bytes:
    return gzip.compress(gzip.compress(body, mtime=0), mtime=0)


def empty_body(_: Stage) -> Scene:
    """200 with nothing in it."""
    return Scene(resources={"/bad": Resource()})


def no_content(_: Stage) -> Scene:
    """204, which has no body."""
    return Scene(resources={"/bad": Resource(status=204, content_type="")})


def unasked_304(stage: Stage) -> Scene:
    """304, though the request had no condition."""
    return stage.doubtful(said(message(304, ()), status=304, ending=Ending.KEEP), status=304)


def partial_content(stage: Stage) -> Scene:
    """206, though no range was asked for."""
    body = stage.harmless()
    fields = (*HTML, ("Content-Range", f"bytes 0-{len(body) - 1}/{len(body) * 2}"))
    return stage.doubtful(said(message(206, fields, body), status=206, ending=Ending.KEEP), status=206)


def wrong_type(stage: Stage) -> Scene:
    """HTML called a picture, a picture called HTML."""
    html = stage.page("HTML in disguise", "/good-1.html")
    return Scene(
        resources={
            "/bad": Resource(content_type="image/png", body=html.body),
            "/picture.html": Resource(body=lambda: leaf("png", stage.spec.seed)),
        },
        entries=("/bad", "/picture.html"),
    )


def odd_types(stage: Stage) -> Scene:
    """Bodies whose Content-Type is missing or malformed."""
    html = stage.page("Some page", "/good-1.html")
    types = ("", "html", "text/html;;;charset", "/", "text/html; charset=no-such-charset")
    pages = {f"/odd-{n}": Resource(content_type=t, body=html.body) for n, t in enumerate(types)}
    return Scene(resources={**pages}, entries=tuple(pages))


def nul_body(stage: Stage) -> Scene:
    """NUL bytes in text, tags and attributes, none of them in the link that counts."""
    html = b"\0<!DOCTYPE html>\0<title>N\0ul</title><p cl\0ass=x>\0\0\0<a href='/beyond.html'>on\0ward</a>\0"
    return Scene(resources={"/bad": stage.text(html, "/beyond.html")})


def big_body(stage: Stage) -> Scene:
    """100 MB, honestly announced: more than a crawler keeps."""

    def steps() -> Iterator[bytes | float]:
        piece = b"<p>a very long page</p>\n" * 4_096
        count = 100_000_000 // len(piece)
        yield head(200, (*HTML, ("Content-Length", str(count * len(piece))))) + b"\r\n"
        for _ in range(count):
            yield piece

    return stage.doubtful(lambda _: Reply(200, steps=steps, ending=Ending.KEEP))


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "endless-body": endless_body,
    "drip-body": drip_body,
    "stalled-body": stalled_body,
    "reset-body": reset_body,
    "slow-body": slow_body,
    "big-body": big_body,
    "bomb-gzip": partial(_bomb, "gzip", "gzip"),
    "bomb-gzip-twice": partial(_bomb, "gzip-twice", "gzip, gzip"),
    "bomb-br": partial(_bomb, "br", "br"),
    "bomb-zstd": partial(_bomb, "zstd", "zstd"),
    "gzip": partial(_coded, "gzip", partial(encode, "gzip")),
    "x-gzip": partial(_coded, "x-gzip", partial(encode, "gzip")),
    "gzip-members": partial(_coded, "gzip", _members),
    "deflate": partial(_coded, "deflate", partial(encode, "deflate")),
    "raw-deflate": partial(_coded, "deflate", partial(encode, "raw-deflate")),
    "br": partial(_coded, "br", partial(encode, "br")),
    "zstd": partial(_coded, "zstd", partial(encode, "zstd")),
    "identity": partial(_coded, "identity", bytes),
    "gzip-twice": partial(_miscoded, "gzip, gzip", _twice),
    "bad-gzip": partial(_miscoded, "gzip", bytes),
    "bad-br": partial(_miscoded, "br", bytes),
    "bad-zstd": partial(_miscoded, "zstd", bytes),
    "bad-deflate": partial(_miscoded, "deflate", bytes),
    "cut-gzip": partial(_miscoded, "gzip", _cut),
    "damaged-gzip": partial(_miscoded, "gzip", _damaged),
    "unknown-coding": partial(_miscoded, "rot13", bytes),
    "empty-body": empty_body,
    "no-content": no_content,
    "unasked-304": unasked_304,
    "partial-content": partial_content,
    "wrong-type": wrong_type,
    "odd-types": odd_types,
    "nul-body": nul_body,
}
