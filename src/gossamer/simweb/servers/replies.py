"""Puts answers into the words of HTTP/1.1 (RFC 9112)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from email.utils import formatdate, parsedate
from functools import lru_cache
from http import HTTPStatus
from time import time

from gossamer.simweb.servers.coding import TOKENS, encode
from gossamer.simweb.world.dice import fingerprint
from gossamer.simweb.world.resource import Answer, Ending, Place, Reply, Request, Resource
from gossamer.simweb.world.spec import WorldSpec

Fields = Iterable[tuple[str, str]]
_EPOCH = 1_577_836_800  # 2020-01-01
_DAYS = 1_200
_BODILESS = frozenset({204, 304})


def message(status: int, fields: Fields, body: bytes = b"", *, reason: str | None = None) -> bytes:
    """A whole response with an honest Content-Length."""
    length = b"" if status in _BODILESS else b"Content-Length: %d\r\n" % len(body)
    return head(status, fields, reason=reason) + length + b"\r\n" + body


def head(status: int, fields: Fields = (), *, reason: str | None = None) -> bytes:
    """Status line and fields without the empty line that ends them."""
    phrase = _phrase(status) if reason is None else reason
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 {status} {phrase}\r\n{lines}".encode("latin-1", "replace")


def ordinary(seed: int, place: Place, resource: Resource, request: Request) -> Reply:
    """Answer as a good server does: conditional requests (RFC 9110 13), codings as accepted."""
    fields = [("Server", "gossamer-simweb"), *resource.fields]
    if resource.content_type:
        fields.append(("Content-Type", resource.content_type))
    if resource.status != 200:
        return Reply(resource.status, message(resource.status, fields, resource.body()))
    coding = resource.coding
    if coding != "identity":
        fields.append(("Vary", "Accept-Encoding"))
        if TOKENS[coding] not in request.fields.get("accept-encoding", ""):
            coding = "identity"
    etag, modified = validators(seed, place, coding)
    fields += [("ETag", etag), ("Last-Modified", modified)]
    if _unchanged(request, etag, modified):
        return Reply(304, message(304, fields))
    body = resource.body()
    if coding != "identity":
        fields.append(("Content-Encoding", TOKENS[coding]))
        body = encode(coding, body)
    return Reply(200, message(200, fields, body))


def validators(seed: int, place: Place, coding: str) -> tuple[str, str]:
    """ETag and Last-Modified of what stands at `place`, forever the same."""
    number = fingerprint(seed, place.host, place.target)
    suffix = "" if coding == "identity" else f"-{coding}"
    return f'"{number:016x}{suffix}"', _date(_EPOCH + number % _DAYS * 86_400)


def failing(resource: Resource, spec: WorldSpec) -> Resource:
    """`resource`, but the first visits get 503 with Retry-After."""
    return replace(resource, early=(throttle(503, spec.retry_after),) * spec.failures)


def throttle(status: int, seconds: int, *, as_date: bool = False) -> Answer:
    """An answer that asks to come back later (RFC 9110 10.2.3); the date lies `seconds` ahead, rounded up."""

    def answer(_: Request) -> Reply:
        after = formatdate(int(time()) + seconds + 1, usegmt=True) if as_date else str(seconds)
        return Reply(status, message(status, (("Retry-After", after),), b"later\n"))

    return answer


def error(status: int) -> Answer:
    """A plain error page without links."""
    reply = Reply(status, message(status, (("Content-Type", "text/plain"),), b"%d\n" % status))
    return lambda _: reply


def dropped(_: Request) -> Reply:
    """Not a byte, then a reset."""
    return Reply(0, ending=Ending.RESET)


def silent(_: Request) -> Reply:
    """Not a byte, for an hour."""
    return Reply(0, steps=lambda: iter((3600.0,)), ending=Ending.CLOSE)


def scripted(*parts: bytes | float, status: int = 200, ending: Ending = Ending.CLOSE) -> Answer:
    """Send and pause as told."""

    def steps() -> Iterator[bytes | float]:
        return iter(parts)

    return lambda _: Reply(status, steps=steps, ending=ending)


def said(data: bytes, status: int = 200, ending: Ending = Ending.CLOSE) -> Answer:
    """These bytes and no others."""
    reply = Reply(status, data, ending=ending)
    return lambda _: reply


def _unchanged(request: Request, etag: str, modified: str) -> bool:
    known = request.fields.get("if-none-match")
    if known is not None:  # takes precedence (RFC 9110 13.2.2); weak comparison
        return known.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in known.split(","))
    since = parsedate(request.fields.get("if-modified-since", ""))
    return since is not None and since[:6] >= (parsedate(modified) or ())[:6]


@lru_cache(maxsize=_DAYS)
def _date(moment: int) -> str:
    return formatdate(moment, usegmt=True)


@lru_cache(maxsize=128)
def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Odd"
