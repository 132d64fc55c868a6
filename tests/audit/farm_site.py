"""A site whose links lead to all that a farm has, crawled once and audited as often as wanted."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import in_process
import msgspec
from link_farm import Behaviour, Farm, head_lies, link_farm, page, to

from gossamer.audit.audit import audited
from gossamer.audit.config import AuditAsked
from gossamer.audit.excused import Baseline, IgnoreList
from gossamer.audit.outputs.as_json import as_json
from gossamer.inspect.inspection import inspect
from gossamer.policy.linkcheck.verdicts import Patience

QUICK = AuditAsked(outside_delay=0.0, patience=Patience(longest=0.4, again=0.0))
LONG = "words " * 100

FARM: dict[str, tuple[Behaviour, str, str]] = {
    "ok": (page("fine"), "well", "ok"),
    "empty": (page("", 204), "well", "ok"),
    "head405": (head_lies(405, page("fine")), "well", "ok"),
    "head404": (head_lies(404, page("fine")), "well", "ok"),
    "head500": (head_lies(500, page("fine")), "well", "ok"),
    "head403": (head_lies(403, page("fine")), "well", "ok"),
    "headclosed": (lambda method, _: None if method == "HEAD" else (200, {}, "fine"), "well", "ok"),
    "404": (page("no", 404), "broken", "not-found"),
    "410": (page("no", 410), "broken", "gone"),
    "500": (page("no", 500), "broken", "server-error"),
    "500once": (lambda _, times: (500 if times < 3 else 200, {}, "x"), "well", "ok"),
    "503": (page("no", 503), "unknown", "unavailable"),
    "401": (page("no", 401), "refused", "login"),
    "403": (page("no", 403), "refused", "forbidden"),
    "451": (page("no", 451), "refused", "legal"),
    "999": (page("no", 999), "refused", "bot-wall"),
    "wall": (page("<title>Just a moment...</title>", 503), "refused", "bot-wall"),
    "400": (page("no", 400), "unknown", "client-error"),
    "closed": (lambda _method, _times: None, "unknown", "connection"),
    "moved": (to("/ok"), "moved", "moved"),
    "moved308": (to("/ok", 308), "moved", "moved"),
    "moved?a=1": (to("/ok?a=1&b=2"), "moved", "moved"),
    "ok?a=1&b=2": (page("fine"), "well", "ok"),
    "found": (to("/ok", 302), "well", "ok"),
    "found2": (to("/moved", 302), "well", "ok"),
    "moved404": (to("/404"), "broken", "not-found"),
    "loop": (to("/loop2", 302), "broken", "redirect-loop"),
    "loop2": (to("/loop", 302), "broken", "redirect-loop"),
    "self": (to("/self"), "broken", "redirect-loop"),
    "cookies": (to("/cookies", 302, Set_Cookie="a=1"), "unknown", "cookie-loop"),
    "away": (to("https://"), "broken", "invalid-url"),
    "kept/out": (page("fine"), "refused", "robots"),
    "kept/place#there": (page("<p id=there>"), "refused", "robots"),
    "places#there": (page(f"<p id=there>{LONG}<a name=too>"), "well", "ok"),
    "places#too": (page("x"), "well", "ok"),
    "places#absent": (page("x"), "broken", "fragment-missing"),
    "places#There": (page("x"), "broken", "fragment-missing"),
    "places#top": (page("x"), "well", "ok"),
    "places#:~:text=words": (page("x"), "well", "ok"),
    "scripted#made": (
        page(f"<p id=a>{LONG}<script>document.createElement('p').id='made'</script>"),
        "unknown",
        "fragment-by-script",
    ),
    "scripted#other": (page("x"), "broken", "fragment-missing"),
    "film.mp4#t=30": (page("x", Content_Type="video/mp4"), "well", "ok"),
}
"""Behaviour by address, with the truth: verdict and code. Of one resource the first behaviour counts."""

RATE_LIMITED: dict[str, tuple[Behaviour, str, str]] = {
    "429": (page("no", 429, Retry_After="3600"), "refused", "rate-limited"),
    "429date": (page("no", 429, Retry_After="Fri, 01 Jan 2100 00:00:00 GMT"), "refused", "rate-limited"),
}
"""Of a host of its own, which is left alone after two."""

ROBOTS = page("User-agent: *\nDisallow: /kept/\n", Content_Type="text/plain")


def resources(table: Mapping[str, tuple[Behaviour, str, str]]) -> dict[str, Behaviour]:
    """What a server answers, by path."""
    told: dict[str, Behaviour] = {}
    for address, (behaviour, _, _) in table.items():
        told.setdefault(address.partition("#")[0], behaviour)
    return {**told, "robots.txt": ROBOTS}


def crawl(address: str, folder: Path, *options: str) -> Path:
    """A crawl of the site at `address`, kept below `folder`."""
    ran = in_process.gossamer(
        "crawl", address, "--min-delay", "0", "--dir", "d", "-q", "--set", "fetch.allow_private=true",
        "--set", "retry.url_waits=[]", "--set", "engine.guess_sitemap=false", *options, cwd=folder,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return folder / "d"


def audit(folder: Path, asked: AuditAsked = QUICK, ignore: IgnoreList | None = None) -> dict[str, Any]:
    """The result of an audit as JSON has it."""
    with (
        inspect(folder) as inspection,
        audited(inspection, asked, Baseline(), ignore or IgnoreList()) as result,
    ):
        told: dict[str, Any] = msgspec.json.decode(b"".join(as_json(result)))
    return told


@contextmanager
def site_with_links(links: list[str], others: Mapping[str, Behaviour] | None = None) -> Iterator[Farm]:
    """A site whose only page of interest holds links, a word each."""
    body = "".join(f'<a href="{link}">to {number}</a> ' for number, link in enumerate(links))
    home = f"<html lang=en><title>Home</title><meta name=description content=x><h1>Home</h1>{body}"
    with link_farm({"": page(home), **(others or {})}) as farm:
        yield farm
