"""Ways to answer, of which the behaviours are made."""

import asyncio
import email.utils
import gzip
import time
from collections.abc import Sequence

from benchmarks.audit_farm.conversation import Conversation, Field, Says, page

CHALLENGE = (
    '<!doctype html><html lang="en"><head><title>Just a moment...</title></head><body><noscript>Enable JavaScript and '
    'cookies to continue</noscript><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>'
    "<p>Checking your browser before accessing the site. Verify you are human.</p></body></html>"
)
WALL: tuple[Field, ...] = (
    ("Server", "cloudflare"),
    ("cf-mitigated", "challenge"),
    ("CF-RAY", "8f00aa11bb22-FRA"),
)
NOT_FOUND = page("Page not found", "<p>Sorry, we could not find the page that you asked for. Error 404.</p>")
ANCHORS = (
    '<h2 id="part-1">Part</h2><h2 id="Mixed-Case">Mixed</h2><a name="old">Old</a><h2 id="café">Café</h2>'
    '<h2 id="with space">Blank</h2><h2 id="100%25">Percent</h2>'
)
SCRIPTED = (
    '<div id="app"></div><script>for (const n of [1, 2])'
    'document.getElementById("app").innerHTML += "<p id=made-" + n + ">";</script>'
)


def ok(inside: str = "", fields: Sequence[Field] = ()) -> Says:
    """A good page; `{case}` stands for ours."""

    async def says(talk: Conversation) -> None:
        await talk.send(200, fields, page(talk.case, inside.replace("{case}", talk.case)))

    return says


def status(code: int, fields: Sequence[Field] = (), body: str | None = None) -> Says:
    """One status, always."""

    async def says(talk: Conversation) -> None:
        await talk.send(code, fields, page(f"{code}") if body is None and code != 204 else body or b"")

    return says


def to(code: int, location: str, then: Says | None = None) -> Says:
    """A redirect; `{case}` and `{origin}` stand for ours. Below the case's own path comes `then`."""

    async def says(talk: Conversation) -> None:
        if talk.request.path.endswith("/new") or talk.request.path.endswith("/new/"):
            await (then or ok())(talk)
            return
        await talk.send(code, [("Location", location.format(case=talk.case, origin=talk.origin))])

    return says


def chain(codes: Sequence[int], then: Says) -> Says:
    """One redirect after another."""

    async def says(talk: Conversation) -> None:
        at = talk.request.step
        if at == len(codes):
            await then(talk)
        else:
            await talk.send(codes[at], [("Location", f"/{talk.case}/{at + 1}")])

    return says


def first(times: int, now: Says, then: Says) -> Says:
    """Another answer to the first so many requests."""

    async def says(talk: Conversation) -> None:
        await (now if talk.request.nth < times else then)(talk)

    return says


def until(seconds: float, now: Says, then: Says) -> Says:
    """Another answer for some time from the first request on."""

    async def says(talk: Conversation) -> None:
        await (now if talk.request.since_first < seconds else then)(talk)

    return says


def on_head(head: Says, otherwise: Says) -> Says:
    """HEAD is answered in another way."""

    async def says(talk: Conversation) -> None:
        await (head if talk.request.is_head else otherwise)(talk)

    return says


def later(seconds: float, then: Says) -> Says:
    """The same, slowly."""

    async def says(talk: Conversation) -> None:
        await asyncio.sleep(seconds)
        await then(talk)

    return says


def raw(data: bytes, head: bytes | None = None) -> Says:
    """Bytes, and the end of the connection; to HEAD others, if given."""

    async def says(talk: Conversation) -> None:
        await talk.raw(head if talk.request.is_head and head is not None else data)
        await talk.close()

    return says


def too_many(retry_after: str | None, code: int = 429) -> Says:
    """Too many requests; `date:N` is the time in N seconds."""

    async def says(talk: Conversation) -> None:
        fields = []
        if retry_after is not None:
            date, _, seconds = retry_after.rpartition(":")
            value = email.utils.formatdate(time.time() + float(seconds), usegmt=True) if date else retry_after
            fields = [("Retry-After", value)]
        await talk.send(code, fields, page("Too many requests"))

    return says


async def hang(talk: Conversation) -> None:
    """Never answers."""
    await talk.hang()


async def reset(talk: Conversation) -> None:
    """Tears the connection."""
    await talk.reset()


async def empty(talk: Conversation) -> None:
    """Closes it without a byte."""
    await talk.close()


async def stalls(talk: Conversation) -> None:
    """Head at once, body hardly."""
    await talk.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 90000\r\n\r\n")
    if not talk.request.is_head:
        await talk.raw(b"<!doctype html><title>slow</title>")
        await talk.hang()


async def endless(talk: Conversation) -> None:
    """A body without end; HEAD is not allowed."""
    if talk.request.is_head:
        await talk.send(405, [("Allow", "GET")])
        return
    await talk.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<!doctype html>")
    await talk.flood(60)


async def wants_cookie(talk: Conversation) -> None:
    """Redirects to itself until the client shows the cookie that it was given."""
    if "seen=1" in talk.request.fields.get("cookie", ""):
        await talk.send(200, (), page(talk.case))
    else:
        await talk.send(302, [("Set-Cookie", "seen=1; Path=/"), ("Location", talk.request.target)])


async def cookie_detour(talk: Conversation) -> None:
    """Goes by a second address that wants the cookie of the first."""
    if "seen=1" in talk.request.fields.get("cookie", ""):
        await talk.send(200, (), page(talk.case))
    elif talk.request.path.endswith("/check"):
        await talk.send(302, [("Location", f"/{talk.case}")])
    else:
        await talk.send(302, [("Set-Cookie", "seen=1; Path=/"), ("Location", f"/{talk.case}/check")])


async def to_login(talk: Conversation) -> None:
    """Sends who is not logged in to a form."""
    if talk.request.path.endswith("/login"):
        form = '<form method="post"><input name="user"><input type="password" name="password"></form>'
        await talk.send(200, (), page("Log in", form))
    else:
        await talk.send(302, [("Location", f"/{talk.case}/login?next=/{talk.case}")])


async def endless_redirects(talk: Conversation) -> None:
    """Always one further."""
    await talk.send(302, [("Location", f"/{talk.case}/{talk.request.step + 1}")])


async def ping_pong(talk: Conversation) -> None:
    """Two addresses that send to each other."""
    other = f"/{talk.case}" if talk.request.path.endswith("/other") else f"/{talk.case}/other"
    await talk.send(301, [("Location", other)])


async def query(talk: Conversation) -> None:
    """Good if the query arrived whole."""
    good = talk.request.target.partition("?")[2] in ("a=1&b=2", "q=caf%C3%A9", "q=a+b")
    await talk.send(200 if good else 404, (), page(talk.case))


async def path_of_letters(talk: Conversation) -> None:
    """Good if letters beyond ASCII, and blanks, came as UTF-8 and escaped."""
    good = talk.request.path.rpartition("/")[2].upper() in ("GR%C3%B6%C3%9FE".upper(), "A%20B", "%E6%BC%A2")
    await talk.send(200 if good else 404, (), page(talk.case))


async def moved_query(talk: Conversation) -> None:
    """Moved together with its query."""
    path, _, asked = talk.request.target.partition("?")
    if path.endswith("/new"):
        await talk.send(200 if asked == "x=1&y=2" else 404, (), page(talk.case))
    else:
        await talk.send(301, [("Location", f"/{talk.case}/new?{asked}")])


async def broken_gzip(talk: Conversation) -> None:
    """Says gzip, and the data is cut and spoilt."""
    data = bytearray(gzip.compress(page(talk.case).encode() * 20, mtime=0))
    data[30] ^= 0xFF
    await talk.send(200, [("Content-Encoding", "gzip")], bytes(data[:-12]))


def of_type(media_type: str, body: bytes) -> Says:
    """A file that is no page."""
    return status_of(200, [("Content-Type", media_type)], body)


def status_of(code: int, fields: Sequence[Field], body: bytes) -> Says:
    """The same for bytes."""

    async def says(talk: Conversation) -> None:
        await talk.send(code, fields, body)

    return says
