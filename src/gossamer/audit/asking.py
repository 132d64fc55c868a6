"""Asks for what links lead to: `HEAD` first, `GET` where that will not do, each host in turn.

**Robots files** are obeyed for a `HEAD` as for a `GET`: RFC 9309 knows no difference. It costs a request for
each origin. What the file forbids is *refused*; where the file cannot be had, the link is *unknown*.
"""

import asyncio
import time
from collections.abc import Callable

import ada_url
import msgspec

from gossamer.audit.manners import Manners
from gossamer.audit.page import AuditedPage, page_of
from gossamer.audit.store import Kept
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.fetch.http import HttpModule
from gossamer.model.candidate import Candidate
from gossamer.model.exchange import Exchange, StatusAction
from gossamer.model.lease import Lease
from gossamer.model.outcome import Failed, Fault, Fetched
from gossamer.model.url import Url
from gossamer.policy.linkcheck.fragments import PagePlaces
from gossamer.policy.linkcheck.verdicts import (
    Answer,
    Ask,
    Code,
    Judged,
    LinkVerdict,
    Method,
    Patience,
    is_refused,
    next_step,
)
from gossamer.policy.linkcheck.walls import is_wall, is_wall_head
from gossamer.policy.robots.access import Hold, RobotsConfig, UseBody, access_for, effective_crawl_delay
from gossamer.policy.robots.file import ALLOW_ALL, PRODUCT_TOKEN, RobotsRules, parse_robots
from gossamer.policy.urls.queue_key import queue_key
from gossamer.policy.visits.politeness import retry_after
from gossamer.policy.visits.retry import redirect_location, status_action

__all__ = ["LONGEST_BODY", "Asker", "Found", "asking_config"]

LONGEST_BODY = 1 << 20
"""Bytes of a page outside that are read, for its places and for signs of a wall."""
MOST_REDIRECTS = 20
"""In a row; browsers follow 20."""
_PERMANENT = frozenset({301, 308})
_WEB = frozenset({"http", "https"})
_MOST_ROBOTS = 2_000
_HELD = msgspec.structs.replace(ALLOW_ALL, rules=((False, "/"),))
"""Of origins whose robots file cannot be had."""
_HELD_BACK = Judged(LinkVerdict.UNKNOWN, Code.UNAVAILABLE)
_UNREACHED = frozenset(
    {
        Fault.NAME_NOT_FOUND,
        Fault.NAME_FAILED,
        Fault.NAME_DEFERRED,
        Fault.ADDRESS_FORBIDDEN,
        Fault.CONNECT,
        Fault.CONNECT_TIMEOUT,
        Fault.PROXY,
        Fault.PROXY_DOWN,
        Fault.TLS,
    }
)
"""Faults before anything was asked."""
_KEPT_OUT = Judged(LinkVerdict.REFUSED, Code.ROBOTS)


class Found(msgspec.Struct, frozen=True):
    """What was learned of one address.

    Attributes:
        kept: what it amounts to.
        page: what the last answer held, if that was read.
        places: of it, where fragments may lead.
        certificate_ends: wall time; 0 if that was not seen.
    """

    kept: Kept
    page: AuditedPage | None = None
    places: PagePlaces | None = None
    certificate_ends: float = 0.0


class _Redirect(msgspec.Struct, frozen=True):
    location: str
    status: int
    cookies: bool


class _Step(msgspec.Struct, frozen=True):
    """What one address of a chain came to."""

    end: Judged | _Redirect
    page: AuditedPage | None = None
    places: PagePlaces | None = None
    certificate_ends: float = 0.0


def asking_config(config: FetchConfig) -> FetchConfig:
    """The settings of a crawl for single questions: less patience, and no more of a body than is looked at."""
    return msgspec.structs.replace(
        config,
        connect_timeout=min(config.connect_timeout, 10.0),
        idle_timeout=min(config.idle_timeout, 10.0),
        visit_timeout=min(config.visit_timeout, 30.0),
        max_body=min(config.max_body, LONGEST_BODY),
        cookies=False,
        cookies_file="",
    )


class Asker:
    """Asks single addresses, over the fetch room and its guard.

    Args:
        http: makes the requests.
        config: its settings, by `asking_config`.
        patience: with each address.
        until: loop time after which nothing is asked any more; 0: no limit.

    Attributes:
        requests: made so far, robots files included.
    """

    def __init__(
        self,
        http: HttpModule,
        config: FetchConfig,
        robots: RobotsConfig,
        manners: Manners,
        patience: Patience,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._http, self._config = http, config
        self._robots = _RobotsFiles(self, robots)
        self._manners = manners
        self._patience = patience
        self._late = late
        self._queue_key = queue_key("host")
        self.requests = 0
        self._unknown_names: set[str] = set()

    async def ask(self, address: str, *, body: bool = False) -> Found:
        """Find out what an address leads to, through its redirects. Never raises for a failing web.

        Args:
            address: without fragment.
            body: the content is wanted, too.
        """
        found = await self._chain(address, body=body)
        if found.kept.code in (Code.REDIRECT_LOOP, Code.TOO_MANY_REDIRECTS) and not body:
            return await self._chain(address, body=True)  # some send only HEAD round in circles
        return found

    async def _chain(self, address: str, *, body: bool) -> Found:
        hops, cookies, target, permanent, ends = [address], False, "", True, 0.0
        end: Judged
        step = _Step(Judged(LinkVerdict.UNKNOWN, Code.NOT_ASKED))
        while True:
            url = Url.parse(hops[-1])
            if url is None or url.scheme not in _WEB:
                end = _foreign(hops[-1], hops[max(len(hops) - 2, 0)])
                break
            step = await self._one(url, body=body)
            ends = ends or step.certificate_ends
            if isinstance(step.end, Judged):
                end = step.end
                break
            cookies = cookies or step.end.cookies
            following = Url.parse(step.end.location, url.text)
            text = following.text if following is not None else step.end.location
            permanent = permanent and step.end.status in _PERMANENT
            if permanent:
                target = text
            circle = text in hops
            hops.append(text)
            if circle or len(hops) > MOST_REDIRECTS:
                code = Code.REDIRECT_LOOP if circle else Code.TOO_MANY_REDIRECTS
                end = Judged(LinkVerdict.BROKEN, code, step.end.status)
                if cookies:
                    end = Judged(LinkVerdict.UNKNOWN, Code.COOKIE_LOOP, step.end.status)
                break
        if end.verdict is LinkVerdict.WELL and target:
            end = Judged(LinkVerdict.MOVED, Code.MOVED, end.status)
        kept = Kept(
            time.time(), end.verdict, end.code, end.status, target, tuple(hops) if len(hops) > 1 else (), body
        )
        return Found(kept, step.page, step.places, ends)

    async def _one(self, url: Url, *, body: bool) -> _Step:
        """Ask one address of a chain, until it is clear what it is."""
        answers: list[Answer] = []
        ends = 0.0
        page: AuditedPage | None = None
        places: PagePlaces | None = None
        host = self._queue_key(url)
        while True:
            step = next_step(answers, self._patience, body=body)
            if isinstance(step, Judged):
                return _Step(step, page, places, ends)
            if self._manners.is_closed(host):
                return _Step(Judged(LinkVerdict.REFUSED, Code.RATE_LIMITED))
            if self._late():
                return _Step(Judged(LinkVerdict.UNKNOWN, Code.NOT_ASKED))
            rules = await self._robots.rules(url)
            if not rules.allows(url.target)[0]:
                return _Step(_HELD_BACK if rules is _HELD else _KEPT_OUT)
            if step.wait:
                await asyncio.sleep(step.wait)  # others of the host may have their turns
            outcome = await self.request(url, step)
            if isinstance(outcome, Failed):
                refused = is_refused(outcome.errno)
                answers.append(
                    Answer(step.method, fault=outcome.fault, refused=refused, certificate=outcome.certificate)
                )
                continue
            try:
                ends = ends or outcome.certificate_ends
                location = redirect_location(outcome.status, outcome.headers)
                if location is not None:
                    cookies = bool(outcome.headers.get("set-cookie"))
                    return _Step(_Redirect(location, outcome.status, cookies), certificate_ends=ends)
                content = self._content(outcome) if step.method is Method.GET else b""
                answers.append(self._answer(step.method, outcome, content))
                if content and 200 <= outcome.status < 300:
                    page, places = _read(outcome, content)
            finally:
                outcome.body.close()
            self._note(host, answers[-1])

    def _note(self, host: str, answer: Answer) -> None:
        too_long = answer.wait is None or answer.wait > self._patience.longest
        self._manners.note_throttled(host, on=answer.status == 429 and too_long)

    async def request(self, url: Url, step: Ask) -> Exchange | Failed:
        """One request, when its host has its turn and has rested; robots files are asked for by this, too."""
        host = self._queue_key(url)
        lease = Lease(Candidate(url), host, b"")
        async with self._manners.turn(host) as turn:
            self.requests += 1
            ask = self._http.head if step.method is Method.HEAD else self._http.fetch
            outcome = await ask(lease)
            turn.crawl_delay = self._robots.delay(url)
            if isinstance(outcome, Fetched):
                exchange = outcome.exchange
                turn.elapsed = exchange.timing.total
                if exchange.status in (429, 503):
                    wait = retry_after(exchange.headers, time.time())
                    if wait is not None:
                        turn.asked_for = min(wait, self._patience.longest)
                return exchange
            assert isinstance(outcome, Failed)
            turn.elapsed = outcome.elapsed
            return self._of_name(url.host, outcome)

    def _of_name(self, name: str, failed: Failed) -> Failed:
        """The name cache tells but once that a name does not exist; from then on it only takes it for such."""
        if failed.fault is Fault.NAME_NOT_FOUND:
            self._unknown_names.add(name)
        elif failed.fault is Fault.NAME_DEFERRED and name in self._unknown_names:
            return msgspec.structs.replace(failed, fault=Fault.NAME_NOT_FOUND)
        return failed

    def _content(self, exchange: Exchange) -> bytes:
        decoded = decode_content(exchange.body, exchange.headers, self._config, LONGEST_BODY)
        return decoded.content if isinstance(decoded, Decoded) else b""

    def _answer(self, method: Method, exchange: Exchange, content: bytes) -> Answer:
        wall = (
            is_wall(exchange.status, exchange.headers, content)
            if content
            else is_wall_head(exchange.status, exchange.headers)
        )
        wait = retry_after(exchange.headers, time.time()) if exchange.status in (429, 503) else None
        return Answer(method, exchange.status, wait=wait, wall=wall)


def _foreign(address: str, base: str) -> Judged:
    """What an address amounts to that nobody can ask by HTTP; `base`: what it was written on, or itself."""
    try:
        ada_url.join_url(base, address)
    except ValueError:
        return Judged(LinkVerdict.BROKEN, Code.INVALID_URL)
    return Judged(LinkVerdict.UNKNOWN, Code.SCHEME)


def _read(exchange: Exchange, content: bytes) -> tuple[AuditedPage | None, PagePlaces]:
    """What a page outside holds."""
    page = page_of(exchange, content)
    if page is None:
        return None, PagePlaces(html=False)
    places = page.places
    if exchange.truncated is not None or len(content) >= LONGEST_BODY:
        places = msgspec.structs.replace(places, whole=False)
    return page, places


class _RobotsFiles:
    """The robots files of origins outside, asked for before anything else of theirs."""

    def __init__(self, asker: Asker, config: RobotsConfig) -> None:
        self._asker = asker
        self._config = config
        self._known: dict[str, RobotsRules] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    def delay(self, url: Url) -> float | None:
        """What the robots file of an origin asks for between requests, if it is known."""
        rules = self._known.get(url.origin)
        return None if rules is None else effective_crawl_delay(rules, self._config)

    async def rules(self, url: Url) -> RobotsRules:
        """The rules of an address's origin."""
        if not self._config.obey:
            return ALLOW_ALL
        known = self._known.get(url.origin)
        if known is not None:
            return known
        async with self._asking.setdefault(url.origin, asyncio.Lock()):
            known = self._known.get(url.origin)  # another may have asked meanwhile
            if known is None:
                known = await self._ask(url)
                if len(self._known) >= _MOST_ROBOTS:
                    self._known.clear()
                self._known[url.origin] = known
        self._asking.pop(url.origin, None)
        return known

    async def _ask(self, url: Url) -> RobotsRules:
        """Fetch a robots file; one that cannot be had forbids all, one that is not there nothing (RFC 9309, 2.3.1)."""
        where: Url | None = Url.parse("/robots.txt", url.text)
        for _ in range(self._config.max_redirects + 1):
            if where is None or where.scheme not in _WEB:
                return ALLOW_ALL
            outcome = await self._asker.request(where, Ask(Method.GET))
            if isinstance(outcome, Failed):
                if outcome.fault in _UNREACHED:
                    return ALLOW_ALL  # the page will not be had either, and says why
                return _HELD
            try:
                if status_action(outcome.status) is StatusAction.REDIRECT:
                    location = redirect_location(outcome.status, outcome.headers)
                    where = Url.parse(location, where.text) if location is not None else None
                    continue
                access = access_for(outcome.status, None, 0, self._config)
                if isinstance(access, UseBody):
                    return parse_robots(
                        outcome.body.read(self._config.max_size), PRODUCT_TOKEN, self._config.max_size
                    )
                return _HELD if isinstance(access, Hold) else ALLOW_ALL
            finally:
                outcome.body.close()
        return ALLOW_ALL
