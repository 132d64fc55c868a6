"""The protocol module of the web where places have log-ins: what guests get there is never handed on.

Whoever holds the lease of a visit has the right to talk to its host. So the log-in is made within the visit that
needs it, with the rests of the host between its requests, while the visits of the same place wait. Nothing of it is
kept but the cookies, which are with the system at once: after `kill -9` the next visit finds whether they still hold.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from gossamer.engine.login.log_in import Recipe, failed, is_in, log_in, refused
from gossamer.fetch.http import HttpModule
from gossamer.fetch.request import redacted
from gossamer.model.candidate import Candidate
from gossamer.model.exchange import Exchange
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome, Refused
from gossamer.model.posted import Posted
from gossamer.model.reasons.codes import LoginCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url
from gossamer.policy.places.index import PlaceIndex
from gossamer.policy.places.place import Asked
from gossamer.policy.robots.file import ALLOW_ALL, RobotsRules

_COOKIE = ("Cookie",)
_MISSING = range(400, 500)


class Manners(msgspec.Struct, frozen=True):
    """How a crawl behaves, as the log-in's own requests need it.

    Attributes:
        refusal: what the robots file of an origin that the crawl has asked has against a visit.
        rules: what the answer to a request for a robots file says; `None` if that cannot be made out.
        rest: seconds that the host of a URL lies still after an exchange.
        obeys: robots files are obeyed.
        tell: called with a place and why it is set aside, once.
    """

    refusal: Callable[[Lease], Refused | Failed | None]
    rules: Callable[[Exchange], Awaitable[RobotsRules | None]]
    rest: Callable[[Url, Exchange], float]
    obeys: bool = True
    tell: Callable[[str, Refused], None] = lambda *_: None


class _Session:
    """One place, and whether one is in.

    Attributes:
        landing: the page that the last log-in has led to; `None`: one is not in, or does not know.
        number: of log-ins so far.
        in_a_row: log-ins since a page was had.
        over: why the place is set aside.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.lock = asyncio.Lock()
        self.landing: Url | None = None
        self.number = 0
        self.in_a_row = 0
        self.over: Refused | None = None


class Sessions:
    """Visits http and https URLs; where a recipe holds, as a member (`gossamer.ports.ProtocolModule`).

    Args:
        http: makes the requests.
        recipes: of the crawl.
        manners: of the crawl.
    """

    schemes = HttpModule.schemes

    def __init__(self, http: HttpModule, recipes: Sequence[Recipe], manners: Manners) -> None:
        self._http, self._manners = http, manners
        self._index = PlaceIndex(recipe.place for recipe in recipes)
        sessions = {recipe.place.text: _Session(recipe) for recipe in recipes}
        self._sessions = [sessions[place.text] for place in self._index.places]
        self._robots: dict[str, RobotsRules] = {}

    async def fetch(self, lease: Lease) -> Outcome:
        """Visit the lease's URL once, as a member where there is a log-in."""
        candidate = lease.candidate
        found = self._index.matching(Asked(candidate.url.host, candidate.url))
        if not found or candidate.kind is LinkKind.ROBOTS:
            return await self._http.fetch(lease)
        return await self._visit(self._sessions[found[0]], lease)

    async def close(self) -> None:
        """Nothing is open but what the module beneath has."""

    async def _visit(self, session: _Session, lease: Lease) -> Outcome:
        while True:
            problem = await self._enter(session, lease)
            if problem is not None:
                return problem
            number = session.number
            outcome = await self._http.fetch(lease)
            if not isinstance(outcome, Fetched):
                return outcome
            exchange = outcome.exchange
            if await self._is_doubtful(session, exchange):
                await asyncio.sleep(self._manners.rest(lease.candidate.url, exchange))
                stands = await self._stands(session, lease, number)
                if stands is not True:
                    exchange.body.close()
                    if stands is False:
                        continue
                    return stands
            session.in_a_row = 0
            # Whoever is given the archive is not given the session.
            head = redacted(exchange.request_head, _COOKIE)
            return Fetched(msgspec.structs.replace(exchange, request_head=head))

    async def _enter(self, session: _Session, lease: Lease) -> Refused | Failed | None:
        """Be in; or what keeps us out."""
        recipe = session.recipe
        async with session.lock:
            if session.over is not None or session.landing is not None:
                return session.over
            if session.in_a_row >= recipe.config.attempts:
                return self._set_aside(session, refused(LoginCode.LOST, session.in_a_row))
            landing = await log_in(recipe, self._asking(lease))
            session.in_a_row += 1
            if isinstance(landing, Url):
                session.landing, session.number = landing, session.number + 1
                return None
            if isinstance(landing, Failed):
                session.in_a_row -= 1  # the host waits, more and more, and may be given up
                return landing
            if not session.number or session.in_a_row >= recipe.config.attempts:
                return self._set_aside(session, landing)  # a recipe that has never worked is wrong
            return Failed(Fault.THROTTLED, landing.detail)

    def _set_aside(self, session: _Session, why: Refused) -> Refused:
        session.over = why
        self._manners.tell(session.recipe.place.text, why)
        return why

    async def _is_doubtful(self, session: _Session, exchange: Exchange) -> bool:
        """Whether it may be what guests get."""
        look = await asyncio.to_thread(session.recipe.marks.look, exchange)
        return look.doubtful

    async def _stands(self, session: _Session, lease: Lease, number: int) -> bool | Failed | Refused:
        """Whether the session of log-in `number` has not ended, by the page that the log-in has led to."""
        async with session.lock:
            if session.number != number or session.landing is None:
                return False  # it has ended, and somebody has seen to it
            outcome = await self._asking(lease)(session.landing, None)
            if not isinstance(outcome, Fetched):
                return outcome if isinstance(outcome, Refused) else Failed(Fault.THROTTLED, outcome.detail)
            exchange = outcome.exchange
            try:
                if (problem := failed(session.landing, exchange)) is not None:
                    return problem
                look = await asyncio.to_thread(session.recipe.marks.look, exchange)
            finally:
                exchange.body.close()
            if is_in(session.recipe, look, exchange, session.recipe.config.fields):
                return True
            session.landing = None
            return False

    def _asking(self, lease: Lease) -> Callable[[Url, Posted | None], Awaitable[Outcome]]:
        """Requests of a log-in that is made within a visit: with the host's rest after each."""

        async def ask(url: Url, posted: Posted | None) -> Outcome:
            asked = Lease(Candidate(url), url.host, b"")
            refusal = await self._refusal(asked, known=url.origin == lease.candidate.url.origin)
            if refusal is not None:
                return refusal
            return await self._rested(asked, posted)

        return ask

    async def _rested(self, asked: Lease, posted: Posted | None) -> Outcome:
        outcome = await self._http.converse(asked, posted)
        if isinstance(outcome, Fetched):
            await asyncio.sleep(self._manners.rest(asked.candidate.url, outcome.exchange))
        return outcome

    async def _refusal(self, asked: Lease, *, known: bool) -> Refused | Failed | None:
        """What the robots file of an origin says; one that is not `known` to the crawl is asked once."""
        url = asked.candidate.url
        if not self._manners.obeys:
            return None
        if known:
            said = self._manners.refusal(asked)
            if isinstance(said, Refused):
                return refused(LoginCode.ROBOTS, url.origin, str(said.detail))
            return said
        rules = self._robots.get(url.origin) or await self._learned(url)
        if isinstance(rules, Failed):
            return rules
        self._robots[url.origin] = rules
        allowed, line = rules.allows(url.target)
        return None if allowed else refused(LoginCode.ROBOTS, url.origin, line)

    async def _learned(self, url: Url) -> RobotsRules | Failed:
        at = Url.from_serialised(url.origin + "/robots.txt")
        assert at is not None
        outcome = await self._rested(Lease(Candidate(at, LinkKind.ROBOTS), at.host, b""), None)
        if isinstance(outcome, Fetched):
            exchange = outcome.exchange
            if exchange.status in _MISSING:
                return ALLOW_ALL
            rules = await self._manners.rules(exchange) if exchange.is_readable else None
            if rules is not None:
                return rules
            said = exchange.said
        else:
            said = str(outcome.fault) if isinstance(outcome, Failed) else ""
        return Failed(Fault.THROTTLED, because(LoginCode.ROBOTS_UNKNOWN, url.origin, said))
