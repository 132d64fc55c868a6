"""The table: how servers behave, and what a link checker may say of links to them.

A verdict is one of *well, moved, refused, unknown, broken*. What may only be broken must be told as broken; what may
not be broken must not; where a reader of the page may see it either way (a certificate that has ended, a server that
fails at each of a few visits) nothing is counted but a verdict that is none of the allowed.
"""

from enum import StrEnum
from typing import NamedTuple

from benchmarks.audit_farm import answers as a
from benchmarks.audit_farm.conversation import Says, page
from gossamer.simweb.world.resource import Speech

Truth = frozenset[str]


def _truth(text: str) -> Truth:
    return frozenset(text.split())


WELL, MOVED, REFUSED, UNKNOWN, BROKEN = map(_truth, ("well", "moved", "refused", "unknown", "broken"))
WORKS = WELL | UNKNOWN
"""It works, but a checker need not find out."""
STAYS = WELL | MOVED
"""It works, under another address, too."""
SHUT = REFUSED | UNKNOWN
DOUBTFUL = BROKEN | UNKNOWN
"""A reader sees an error, which may be gone tomorrow."""
BAD_TLS = BROKEN | UNKNOWN | REFUSED
NOT_BROKEN = WELL | MOVED | REFUSED | UNKNOWN
ANYTHING = NOT_BROKEN | BROKEN
"""Only a finding is wanted."""


class Home(StrEnum):
    """Where cases of a behaviour live."""

    SHARED = "shared"  # on a host with many others
    OWN = "own"  # each on a host of its own
    SITE = "site"  # on the site that is audited
    NGINX = "nginx"  # on a real web server
    NOWHERE = "nowhere"  # no server of ours is asked


class Behaviour(NamedTuple):
    """A row of the table.

    Attributes:
        name: of the behaviour; its cases are NAME-0 and on.
        truth: the verdicts allowed.
        says: how it answers.
        href: how pages write the link. `{base}` is the case's address; `{case}` (in other case `{upper}`), `{host}` (as
            sent: `{ascii}`) and `{port}` are parts of it; `{dead}` is a port that refuses, `{mute}` one that accepts
            and says nothing.
        instances: cases.
        label: of an own host, before the number.
        certificate: of an own host; the site's own ends soon.
        speech: what the name server makes of an own host.
        target: where a moved link leads now, if that is checked; in terms of `href`.
        finding: part of the name of the rule that must be told besides.
        robots: robots file of an own host; none: 404.
        element: that links.
    """

    name: str
    truth: Truth
    says: Says = a.ok()
    home: Home = Home.SHARED
    scheme: str = "http"
    href: str = "{base}"
    instances: int = 6
    label: str = ""
    certificate: str = "good"
    speech: Speech = Speech.ANSWER
    target: str = ""
    finding: str = ""
    robots: Says | None = None
    element: str = "a"


B, H = Behaviour, Home
_CUT = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<!doctype html><title>cut</title>"
_LONG = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n<!doctype html><title>more</title>"
_CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<!doc\r\nzz\r\n"
)
_OLD = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"
_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n"
_NONE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"
_DENY = a.of_type("text/plain", b"User-agent: *\nDisallow: /\n")
_DELAY = a.of_type("text/plain", b"User-agent: *\nCrawl-delay: 2\n")

WELL_BEHAVED = [
    B("page", WELL, instances=12),
    B("page-tls", WELL, scheme="https", instances=12),
    B("page-inside", WELL, home=H.SITE, instances=8),
    B("page-nginx", WELL, home=H.NGINX, href="{base}.html", instances=8),
    B("folder-nginx", STAYS, home=H.NGINX, href="{base}d", target="{base}d/", instances=4),
    B("no-content", WELL, a.status(204), instances=4),
    B("partial", WELL | UNKNOWN, a.status_of(206, [("Content-Range", "bytes 0-9/10")], b"0123456789"), instances=4),
    B("other-2xx", WELL, a.status(203), instances=3),
    B("pdf", WELL, a.of_type("application/pdf", b"%PDF-1.4\n%%EOF\n"), instances=4),
    B("picture", WELL, a.of_type("image/gif", b"GIF89a\1\0\1\0\0\0\0;"), element="img", instances=4),
    B("query", WELL, a.query, href="{base}?a=1&amp;b=2"),
    B("query-letters", WELL, a.query, href="{base}?q=café", instances=4),
    B("path-letters", WELL, a.path_of_letters, href="{base}/größe", instances=4),
    B("path-escaped", WELL, a.path_of_letters, href="{base}/gr%C3%B6%C3%9Fe", instances=3),
    B("path-blank", WELL, a.path_of_letters, href="{base}/a b", instances=4),
    B("path-han", WELL, a.path_of_letters, href="{base}/漢", instances=3),
    B("idn", WELL, home=H.OWN, label="bücher", instances=4),
    B("idn-ascii", WELL, home=H.OWN, label="müller", href="http://{ascii}:{port}/{case}", instances=3),
    B("old-http", WELL, a.raw(_OLD + page("old").encode(), _OLD), instances=3),
    B("early-hints", WELL, a.raw(_HINTS + _OLD + page("hints").encode(), _HINTS + _OLD), instances=3),
    B("crawl-delay", WELL, home=H.OWN, robots=_DELAY, instances=3),
    B("empty-page", WELL | UNKNOWN, a.raw(_NONE), instances=3),
]  # fmt: skip

HEADS = [
    B(f"head-{code}", WELL, a.on_head(a.status(code), a.ok()), instances=4)
    for code in (400, 403, 404, 405, 410, 501)
] + [
    B("head-500", WELL, a.on_head(a.status(500), a.ok()), home=H.OWN, instances=3),
    B("head-503", WELL | UNKNOWN, a.on_head(a.status(503), a.ok()), home=H.OWN, instances=3),
    B("head-429", WELL | SHUT, a.on_head(a.status(429), a.ok()), home=H.OWN, instances=3),
    B("head-hangs", WELL | UNKNOWN, a.on_head(a.hang, a.ok()), home=H.OWN, instances=3),
    B("head-reset", WELL | UNKNOWN, a.on_head(a.reset, a.ok()), home=H.OWN, instances=3),
    B("head-empty", WELL | UNKNOWN, a.on_head(a.empty, a.ok()), home=H.OWN, instances=3),
    B("head-login", WELL | REFUSED, a.on_head(a.to(302, "/{case}/new", a.status(401)), a.ok()), instances=3),
    B("head-and-get-404", BROKEN, a.on_head(a.status(405), a.status(404)), instances=4),
]  # fmt: skip

GONE = [
    B("404", BROKEN, a.status(404), instances=12),
    B("404-tls", BROKEN, a.status(404), scheme="https", instances=8),
    B("404-inside", BROKEN, a.status(404), home=H.SITE, instances=8),
    B("404-nginx", BROKEN, home=H.NGINX, href="{base}-gone.html", instances=8),
    B("404-no-body", BROKEN, a.status(404, body=""), instances=4),
    B("404-picture", BROKEN, a.status(404), element="img", home=H.SITE, instances=4),
    B("404-style", BROKEN, a.status(404), element="link", home=H.SITE, instances=2),
    B("404-script", BROKEN, a.status(404), element="script", home=H.SITE, instances=2),
    B("410", BROKEN, a.status(410), instances=8),
    B("410-inside", BROKEN, a.status(410), home=H.SITE, instances=4),
    B("other-case", BROKEN, href="http://{host}:{port}/{upper}", instances=4),
    B("no-such-name", BROKEN, home=H.NOWHERE, href="http://{case}.nowhere.test:{port}/", instances=8),
    B("no-such-name-tls", BROKEN, home=H.NOWHERE, href="https://{case}.nowhere.test/", instances=4),
    B("no-such-idn", BROKEN, home=H.NOWHERE, href="http://größe-{case}.nowhere.test:{port}/", instances=4),
    B("refused-port", BROKEN, home=H.OWN, href="http://{host}:{dead}/x", instances=6),
    B("bad-port", BROKEN, home=H.NOWHERE, href="http://{case}.nowhere.test:99999/", instances=4),
    B("bad-host", BROKEN, home=H.NOWHERE, href="http://{case} nowhere.test/", instances=4),
    B("bad-bracket", BROKEN, home=H.NOWHERE, href="http://[{case}/", instances=3),
]  # fmt: skip

REDIRECTS = [
    B("301", MOVED, a.to(301, "/{case}/new"), target="{base}/new", instances=8),
    B("308", MOVED, a.to(308, "/{case}/new"), target="{base}/new"),
    B("301-inside", MOVED, a.to(301, "/{case}/new"), target="{base}/new", home=H.SITE),
    B("302", WELL, a.to(302, "/{case}/new")),
    B("303", WELL, a.to(303, "/{case}/new"), instances=3),
    B("307", WELL, a.to(307, "/{case}/new")),
    B("relative-location", MOVED, a.to(301, "./{case}/new"), target="{base}/new", instances=4),
    B("absolute-location", MOVED, a.to(301, "{origin}/{case}/new"), target="{base}/new", instances=4),
    B("moved-query", MOVED, a.moved_query, href="{base}?x=1&amp;y=2", target="{base}/new?x=1&y=2"),
    B("moved-fragment", MOVED, a.to(301, "/{case}/new#part-1", a.ok(a.ANCHORS)), instances=3),
    B("chain-5", STAYS, a.chain([301] * 5, a.ok()), instances=4),
    B("chain-12", STAYS, a.chain([301, 302] * 6, a.ok()), instances=3),
    B("chain-mixed", STAYS, a.chain([302, 301, 308], a.ok()), instances=4),
    B("to-404", BROKEN, a.to(302, "/{case}/new", a.status(404)), instances=6),
    B("moved-to-410", BROKEN, a.to(301, "/{case}/new", a.status(410)), instances=6),
    B("chain-to-404", BROKEN, a.chain([301, 302, 301], a.status(404)), instances=4),
    B("to-no-name", BROKEN, a.to(301, "http://{case}.nowhere.test/"), instances=4),
    B("to-403", SHUT | MOVED, a.to(301, "/{case}/new", a.status(403)), instances=4),
    B("to-429", SHUT | MOVED, a.to(301, "/{case}/new", a.too_many("3600")), home=H.OWN, instances=3),
    B("loop-self", BROKEN, a.to(301, "/{case}"), instances=4),
    B("loop-two", BROKEN, a.ping_pong, instances=4),
    B("endless-redirects", BROKEN, a.endless_redirects, instances=4),
    B("no-location", DOUBTFUL, a.status(302), instances=3),
    B("bad-location", DOUBTFUL, a.to(302, "http://[::bad/{case}"), instances=3),
    B("location-letters", MOVED, a.to(301, "/{case}/größe/new"), instances=3),
    B("refresh", STAYS, a.ok('<meta http-equiv="refresh" content="0; url=/{case}/x">'), instances=3),
    B("refresh-to-404", ANYTHING, a.ok('<meta http-equiv="refresh" content="0; url=/gone">'), instances=2),
    B("cookie-wanted", WORKS | REFUSED, a.wants_cookie, instances=4),
    B("cookie-detour", WORKS | REFUSED, a.cookie_detour, instances=4),
    B("to-login", WORKS | REFUSED, a.to_login, instances=4),
    B("unasked-304", NOT_BROKEN, a.status(304, body=""), instances=2),
]  # fmt: skip

REFUSALS = [
    B("401", REFUSED, a.status(401, [("WWW-Authenticate", 'Basic realm="x"')]), instances=8),
    B("403", REFUSED, a.status(403), instances=8),
    B("403-nginx", REFUSED, home=H.NGINX, href="{base}e/", instances=3),
    B("407", SHUT, a.status(407), instances=3),
    B("451", REFUSED, a.status(451), instances=4),
    B("999", REFUSED, a.status(999), instances=4),
    B("418", SHUT, a.status(418), instances=2),
    B("wall-403", REFUSED, a.status(403, a.WALL, a.CHALLENGE), home=H.OWN, instances=5),
    B("wall-503", SHUT, a.status(503, a.WALL, a.CHALLENGE), home=H.OWN, instances=5),
    B("wall-200", NOT_BROKEN, a.status(200, a.WALL, a.CHALLENGE), home=H.OWN, instances=3),
    B("429-soon", WELL | REFUSED, a.until(2, a.too_many("2"), a.ok()), home=H.OWN, instances=5),
    B("429-date", WELL | REFUSED, a.until(3, a.too_many("date:3"), a.ok()), home=H.OWN, instances=5),
    B("429-long", REFUSED, a.too_many("3600"), home=H.OWN, instances=5),
    B("429-long-date", REFUSED, a.too_many("date:3600"), home=H.OWN, instances=3),
    B("429-silent", REFUSED, a.too_many(None), home=H.OWN, instances=4),
    B("429-garbage", REFUSED, a.too_many("soon"), home=H.OWN, instances=3),
    B("503-soon", WELL | SHUT, a.until(2, a.too_many("2", 503), a.ok()), home=H.OWN, instances=3),
    B("503-always", SHUT, a.too_many("120", 503), home=H.OWN, instances=4),
    B("robots-forbidden", WORKS | REFUSED, home=H.OWN, robots=_DENY, instances=5),
    B("robots-500", WORKS | REFUSED, home=H.OWN, robots=a.status(500), instances=3),
    B("robots-hangs", WORKS | REFUSED, home=H.OWN, robots=a.hang, instances=2),
]  # fmt: skip

TROUBLE = [
    B("500-once", WORKS, a.first(1, a.status(500), a.ok()), home=H.OWN, instances=6),
    B("500-twice", WORKS | BROKEN, a.first(2, a.status(500), a.ok()), home=H.OWN, instances=3),
    B("502-once", WORKS, a.first(1, a.status(502), a.ok()), home=H.OWN, instances=4),
    B("500-always", DOUBTFUL, a.status(500), home=H.OWN, instances=4),
    B("504-always", DOUBTFUL, a.status(504), home=H.OWN, instances=2),
    B("500-inside", DOUBTFUL, a.status(500), home=H.SITE, instances=1),
    B("400", DOUBTFUL | REFUSED, a.status(400), instances=3),
    B("405-always", DOUBTFUL | REFUSED, a.status(405), instances=2),
    B("soft-404", ANYTHING, a.status(200, body=a.NOT_FOUND), instances=8),  # who asks by HEAD cannot see it
    B("soft-404-inside", ANYTHING, a.status(200, body=a.NOT_FOUND), home=H.SITE, finding="soft", instances=4),
    B("slow", WELL, a.later(3, a.ok()), home=H.OWN, instances=4),
    B("slower", WORKS, a.later(12, a.ok()), home=H.OWN, instances=2),
    B("never-answers", UNKNOWN, a.hang, home=H.OWN, instances=5),
    B("never-speaks", UNKNOWN, home=H.OWN, href="http://{host}:{mute}/x", instances=3),
    B("never-shakes-hands", UNKNOWN, home=H.OWN, href="https://{host}:{mute}/x", instances=3),
    B("stalls", WORKS, a.stalls, home=H.OWN, instances=3),
    B("endless", WORKS, a.endless, home=H.OWN, instances=2),
    B("reset", DOUBTFUL, a.reset, home=H.OWN, instances=4),
    B("reset-once", WORKS, a.first(1, a.reset, a.ok()), home=H.OWN, instances=4),
    B("empty-answer", DOUBTFUL, a.empty, home=H.OWN, instances=3),
    B("no-http", DOUBTFUL, a.raw(b"220 mail.test ESMTP\r\n"), home=H.OWN, instances=3),
    B("length-too-long", WORKS, a.raw(_CUT), home=H.OWN, instances=4),
    B("length-too-short", WORKS, a.raw(_LONG), home=H.OWN, instances=4),
    B("chunks-broken", WORKS, a.raw(_CHUNKED), home=H.OWN, instances=3),
    B("gzip-broken", WORKS, a.broken_gzip, instances=4),
    B("name-fails", UNKNOWN, home=H.OWN, speech=Speech.SERVFAIL, instances=4),
    B("name-silent", UNKNOWN, home=H.OWN, speech=Speech.SILENT, instances=2),
    B("tls-expired", BAD_TLS, home=H.OWN, scheme="https", certificate="expired", instances=3),
    B("tls-self-signed", BAD_TLS, home=H.OWN, scheme="https", certificate="self-signed", instances=3),
    B("tls-wrong-name", BAD_TLS, home=H.OWN, scheme="https", certificate="wrong-name", instances=3),
    B("tls-stranger", BAD_TLS, home=H.OWN, scheme="https", certificate="stranger", instances=3),
    B("tls-ends-soon", WELL, home=H.OWN, scheme="https", certificate="soon", instances=4),
    B("tls-ends-soon-inside", WELL, home=H.SITE, scheme="https", finding="certificate", instances=4),
]  # fmt: skip

FRAGMENTS = [
    B("fragment", WELL, a.ok(a.ANCHORS), href="{base}#part-1", instances=6),
    B("fragment-inside", WELL, a.ok(a.ANCHORS), href="{base}#part-1", home=H.SITE, instances=4),
    B("fragment-name", WELL, a.ok(a.ANCHORS), href="{base}#old", instances=3),
    B("fragment-letters", WELL, a.ok(a.ANCHORS), href="{base}#café", instances=3),
    B("fragment-escaped", WELL, a.ok(a.ANCHORS), href="{base}#caf%C3%A9", instances=4),
    B("fragment-top", WELL, a.ok(a.ANCHORS), href="{base}#top", instances=3),
    B("fragment-TOP", WELL, a.ok(a.ANCHORS), href="{base}#ToP", instances=2),
    B("fragment-none", WELL, a.ok(a.ANCHORS), href="{base}#", instances=2),
    B("fragment-text", WELL, a.ok(a.ANCHORS), href="{base}#:~:text=something", instances=3),
    B("fragment-id-text", WELL, a.ok(a.ANCHORS), href="{base}#part-1:~:text=Part", instances=2),
    B("fragment-scripted", WORKS, a.ok(a.SCRIPTED), href="{base}#made-1", instances=4),
    B("fragment-scripted-inside", WORKS, a.ok(a.SCRIPTED), href="{base}#made-1", home=H.SITE, instances=3),
    B("fragment-route", WORKS, a.ok(a.SCRIPTED), href="{base}#/users/7", instances=3),
    B("fragment-pdf", WELL, a.of_type("application/pdf", b"%PDF-1.4\n%%EOF\n"), href="{base}#page=3", instances=3),
    B("fragment-moved", STAYS, a.to(301, "/{case}/new", a.ok(a.ANCHORS)), href="{base}#part-1", instances=3),
    B("fragment-absent", BROKEN, a.ok(a.ANCHORS), href="{base}#part-9", instances=6),
    B("fragment-absent-inside", BROKEN, a.ok(a.ANCHORS), href="{base}#part-9", home=H.SITE, instances=4),
    B("fragment-case", BROKEN, a.ok(a.ANCHORS), href="{base}#mixed-case", instances=4),
    B("fragment-of-404", BROKEN, a.status(404), href="{base}#part-1", instances=3),
]  # fmt: skip

OTHER_SCHEMES = [
    B("mailto", NOT_BROKEN, home=H.NOWHERE, href="mailto:{case}@nowhere.test", instances=2),
    B("tel", NOT_BROKEN, home=H.NOWHERE, href="tel:+49-30-1234", instances=2),
    B("javascript", NOT_BROKEN, home=H.NOWHERE, href="javascript:void('{case}')", instances=2),
    B("data", NOT_BROKEN, home=H.NOWHERE, href="data:text/plain,{case}", instances=2),
]  # fmt: skip

TABLE = (*WELL_BEHAVED, *HEADS, *GONE, *REDIRECTS, *REFUSALS, *TROUBLE, *FRAGMENTS, *OTHER_SCHEMES)
