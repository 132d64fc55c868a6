"""Hosts that answer as servers do, good and bad, when they are asked the same again: one crawl visits all of them."""

import email.utils
import gzip
import time
from collections.abc import Callable

from changing_web import Answer, Reply, Request, asked_for, at, honest, missing, page

HOSTS: dict[str, Answer] = {}
NEEDS: dict[str, int] = {}
"""Visits of `/` that its tests want to have seen."""
VISITS = 5
RFC850 = "Sunday, 06-Nov-94 08:49:37 GMT"
ASCTIME = "Sun Nov  6 08:49:37 1994"
IMF = "Sun, 06 Nov 1994 08:49:37 GMT"
FUTURE = "Fri, 01 Jan 2100 00:00:00 GMT"
LONG_TAG = '"' + "x" * 100_000 + '"'
LONG_ISH_TAG = '"' + "y" * 2_000 + '"'
RETRY_AFTER = 3
TRUNCATED = 2
"""The visit on which the server breaks off."""

Host = Callable[[Request], Reply]


def host(visits: int = VISITS) -> Callable[[Host], Host]:
    """`/` of the host that is named like the function is answered by it."""

    def register(answer: Host) -> Host:
        HOSTS[answer.__name__] = at("/", answer)
        NEEDS[answer.__name__] = visits
        return answer

    return register


def add(name: str, answer: Host, visits: int = VISITS, others: Host | None = None) -> None:
    HOSTS[name] = at("/", answer, others)
    NEEDS[name] = visits


# Validators …

TAGS: dict[str, str | bytes] = {
    "tag_strong": '"abc-123"',
    "tag_weak": 'W/"abc-123"',
    "tag_empty": '""',
    "tag_odd": b'"a!#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~b"',
    "tag_high": b'"caf\xe9-\xff"',
    "tag_of_gzip": '"abc-gzip"',
}
DATES = {"date_imf": IMF, "date_850": RFC850, "date_asctime": ASCTIME, "date_future": FUTURE}
for _name, _tag in TAGS.items():
    add(_name, honest(etag=lambda _, tag=_tag: tag))  # type: ignore[misc]
for _name, _date in DATES.items():
    add(_name, honest(etag=None, modified=lambda _, date=_date: date))  # type: ignore[misc]
add("both", honest(modified=lambda _: IMF))
add("neither", honest(etag=None))


@host()
def tag_bare(request: Request) -> Reply:
    """An entity tag without its quotes, as some servers send it, and understand it."""
    same = request.get("If-None-Match") == b"abc123"
    return Reply(304 if same else 200, [("ETag", "abc123")], b"" if same else page("Bare."))


@host(8)
def refuses(request: Request) -> Reply:
    """A server that takes any condition for one of a change of its own."""
    status = 412 if request.conditional else 200
    return Reply(status, [("ETag", '"v1"')], b"no" if request.conditional else page("Refuses."))


@host()
def date_nonsense(request: Request) -> Reply:
    return Reply(200, [("Last-Modified", "yesterday")], page("Nonsense."))


@host()
def tag_long(request: Request) -> Reply:
    """What it gives as a tag it would not take back, as no server does."""
    if len(request.head) > 16_384:
        return Reply(431, body=b"header fields too large")
    return Reply(200, [("ETag", LONG_TAG)], page("A long tag."))


@host()
def tag_long_ish(request: Request) -> Reply:
    return honest(etag=lambda _: LONG_ISH_TAG)(request)


@host()
def tag_injects(request: Request) -> Reply:
    """A folded line and a bare carriage return; neither may become a line of a request."""
    if request.number % 2:
        return Reply(200, [("ETag", b'"a\r\n X-Injected: 1"'), ("X", "1")], page(f"Number {request.number}."))
    return Reply(200, [("ETag", b'"a\rX-Injected: 1"')], page(f"Number {request.number}."))


@host()
def two_tags(request: Request) -> Reply:
    return Reply(200, [("ETag", '"one"'), ("ETag", '"two"')], page("Two tags."))


# 304 …


@host(6)
def changes_honestly(request: Request) -> Reply:
    """Versions 1, 1, 2, 2, 3, 3."""
    return honest(version=lambda r: (r.number + 1) // 2, modified=_later)(request)


def _later(version: int) -> str:
    return email.utils.formatdate(784_111_777 + 86_400 * version, usegmt=True)


@host(6)
def there_and_back(request: Request) -> Reply:
    """A, B, A, A, ...: each with its own tag."""
    return honest(version=lambda r: 2 if r.number == 2 else 1)(request)


@host(6)
def same_tag_again(request: Request) -> Reply:
    """A, then a redirect, then A with the same tag as before."""
    if request.number == 2:
        return Reply(302, [("Location", "/elsewhere")], b"moved")
    return honest()(request)


@host()
def unasked_304(request: Request) -> Reply:
    """304 to the first visit, which has asked for no such thing."""
    return Reply(304, [("ETag", '"x"')]) if request.number == 1 else honest()(request)


@host(6)
def other_tag_in_304(request: Request) -> Reply:
    """RFC 9111, 4.3.4: a 304 with a strong tag that is not the stored one updates nothing."""
    if request.number == 2 and asked_for(request, '"v1"'):
        return Reply(304, [("ETag", '"v2"')])
    return honest(version=lambda r: 1 if r.number < 3 else 2)(request)


@host()
def later_date_in_304(request: Request) -> Reply:
    """The date of a 304 moves on, as RFC 9111 allows without a strong tag."""
    date = _later(request.number)
    if request.get("If-Modified-Since"):
        return Reply(304, [("Last-Modified", date), ("X-Visit", str(request.number))])
    return Reply(200, [("Last-Modified", date)], page("The date moves."))


@host()
def body_in_304(request: Request) -> Reply:
    """It must not have one; the next visit is another connection's or another answer's, never its rest."""
    if asked_for(request, '"v1"'):
        return Reply(304, [("ETag", '"v1"')], b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nevil!")
    return Reply(200, [("ETag", '"v1"')], page("The true one."))


# 200 to whatever …


@host()
def always_200(request: Request) -> Reply:
    return Reply(200, [("ETag", '"v1"'), ("Last-Modified", IMF)], page("It never says 304."))


@host()
def tag_moves(request: Request) -> Reply:
    return Reply(200, [("ETag", f'"{request.number}"')], page("The tag moves, the text does not."))


@host()
def tag_disappears(request: Request) -> Reply:
    """The second answer has another text and no tag: the first one's is of no use any more."""
    if request.number == 1:
        return Reply(200, [("ETag", '"first"')], page("First."))
    return Reply(200, body=page("Second."))


@host()
def clock(request: Request) -> Reply:
    """A clock and a counter at each visit, beside a text that stays."""
    said = page("The text stays.").replace(
        b"</article>", f"</article><footer>{time.time()} visitor {request.number}</footer>".encode()
    )
    return Reply(200, [("ETag", f'"{request.number}"'), ("Last-Modified", _later(request.number))], said)


@host()
def gzip_and_not(request: Request) -> Reply:
    """The same text in two codings, by turns."""
    body = page("Packed or not.")
    if request.number % 2:
        return Reply(
            200, [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")], gzip.compress(body, mtime=0)
        )
    return Reply(200, [("Vary", "Accept-Encoding")], body)


@host()
def varies(request: Request) -> Reply:
    """What a server chose by must be the same when it is asked whether it would choose again."""
    fields = [("Vary", "Accept-Encoding, User-Agent, Accept, Accept-Language")]
    return honest(fields=fields)(request)


@host()
def sets_cookie(request: Request) -> Reply:
    return honest(fields=[("Set-Cookie", "session=1; Path=/")])(request)


@host()
def max_age(request: Request) -> Reply:
    """Whoever says how often is not told otherwise by the server."""
    return honest(fields=[("Cache-Control", "max-age=86400, immutable"), ("Expires", FUTURE)])(request)


# Redirects …


@host()
def redirects(request: Request) -> Reply:
    return Reply(301, [("Location", "/target"), ("ETag", '"of-redirect"')], b"")


HOSTS["redirects"] = at("/", redirects, at("/target", honest()))


@host()
def becomes_redirect(request: Request) -> Reply:
    if request.number == 1:
        return honest()(request)
    return Reply(301, [("Location", "/new")], b"moved")


HOSTS["becomes_redirect"] = at("/", becomes_redirect, at("/new", honest(etag=lambda _: '"new"')))


@host()
def redirect_moves(request: Request) -> Reply:
    return Reply(302, [("Location", "/one" if request.number < 3 else "/two")], b"")


HOSTS["redirect_moves"] = at("/", redirect_moves, lambda r: honest(body=lambda _: page(r.target))(r))


# Faults …


@host()
def answers_412(request: Request) -> Reply:
    """No GET should get it; a server that does not like the condition must be asked without."""
    return Reply(412, body=b"no") if request.conditional else Reply(200, [("ETag", '"v1"')], page("Fine."))


@host()
def answers_416(request: Request) -> Reply:
    return Reply(416, body=b"no") if request.conditional else Reply(200, [("ETag", '"v1"')], page("Fine."))


@host()
def breaks_off(request: Request) -> Reply:
    body = page("It is long. " * 200)
    if request.number == TRUNCATED:
        return Reply(200, [("ETag", '"v2"')], body[: len(body) // 2], length=len(body))
    return Reply(200, [("ETag", '"v1"')], body)


@host(4)
def down_for_a_while(request: Request) -> Reply:
    if request.number == 2:
        return Reply(503, [("Retry-After", str(RETRY_AFTER))], b"down")
    return honest(version=lambda r: 1 if r.number == 1 else 2)(request)


@host()
def fault_with_tag(request: Request) -> Reply:
    """Its error page has validators, too; they say nothing of the page."""
    if request.number == 2:
        return Reply(500, [("ETag", '"oops"'), ("Last-Modified", IMF)], b"broken")
    if request.get("If-None-Match") == b'"oops"':
        return Reply(304, [("ETag", '"oops"')])
    return honest()(request)


@host(7)
def fails_long(request: Request) -> Reply:
    """More failures than there are retries, and then it is there again, changed."""
    if 2 <= request.number <= 5:
        return Reply(500, body=b"broken")
    return honest(version=lambda r: 1 if r.number == 1 else 2)(request)


@host(4)
def gone_and_back(request: Request) -> Reply:
    if request.number in (2, 3):
        return missing()
    return honest(version=lambda r: 1 if r.number == 1 else 2)(request)


@host(3)
def gone_once(request: Request) -> Reply:
    return missing() if request.number == 2 else honest()(request)


@host(3)
def answers_410(request: Request) -> Reply:
    return honest()(request) if request.number == 1 else Reply(410, body=b"gone")


@host(4)
def gone_for_good(request: Request) -> Reply:
    return honest()(request) if request.number == 1 else missing()


SORRY = (
    "<title>Oops</title><article><h1>Sorry</h1><p>There is no such page on this site any more; it moved.</p>"
)


def _sorry(status: int) -> Reply:
    return Reply(status, body=f"{SORRY}</article>".encode())


@host(5)
def soft_404(request: Request) -> Reply:
    """A front page that links to a page; later that is what it has for what is not there."""
    return Reply(200, body=page("A front page.", ["/page", "/never-there"]))


HOSTS["soft_404"] = at(
    "/",
    soft_404,
    lambda r: (
        Reply(200, body=page("A true page."))
        if r.target == "/page" and r.number == 1
        else _sorry(200 if r.target == "/page" else 404)
    ),
)


@host(5)
def orphan(request: Request) -> Reply:
    """It links to a page at first, and then no more."""
    return Reply(200, body=page("A hub.", ["/left", "/stays"] if request.number == 1 else ["/stays"]))


HOSTS["orphan"] = at(
    "/",
    orphan,
    lambda r: missing() if r.target == "/robots.txt" else honest(body=lambda _: page(r.target))(r),
)


@host()
def no_robots_later(request: Request) -> Reply:
    return honest()(request)


def _robots(request: Request) -> Reply:
    if request.target != "/robots.txt":
        return missing()
    rules = "User-agent: *\nDisallow:\n" if request.number < 2 else "User-agent: *\nDisallow: /\n"
    return Reply(200, [("ETag", f'"{request.number}"')], rules.encode(), kind="text/plain")


HOSTS["no_robots_later"] = at("/", no_robots_later, _robots)
NEEDS["no_robots_later"] = 2


@host()
def noindex_later(request: Request) -> Reply:
    said = page(f"Version {request.number}.")
    if request.number > 1:
        said = said.replace(b"<head>", b'<head><meta name="robots" content="noindex">')
    return Reply(200, (), said)


@host()
def other_type(request: Request) -> Reply:
    if request.number == 1:
        return honest()(request)
    return honest(
        version=lambda _: 2, body=lambda _: b"plain text now", fields=[("Content-Type", "text/plain")]
    )(request)


@host()
def new_link(request: Request) -> Reply:
    """A hub: from its third visit on it has a link more."""
    links = ["/old"] if request.number < 3 else ["/old", "/new"]
    return Reply(200, (), page("A hub.", links))


HOSTS["new_link"] = at("/", new_link, lambda r: honest(body=lambda _: page(r.target))(r))


# Two pages with one text: what is archived of the second refers to the first.


def _twins(request: Request) -> Reply:
    return honest(etag=lambda _: f'"{request.target}"', body=lambda _: page("Twins."))(request)


add(
    "twins",
    lambda r: (
        Reply(200, [("ETag", '"hub"')], page("Hub.", ["/a", "/b"]))
        if not asked_for(r, '"hub"')
        else Reply(304)
    ),
    others=lambda r: missing() if r.target == "/robots.txt" else _twins(r),
)


assert all(name in NEEDS for name in HOSTS)
