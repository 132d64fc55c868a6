"""Answers for single URLs: from the archive if what it has is fresh enough, else by a visit with all manners (K23)."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from typing import Annotated, Literal, NoReturn

import msgspec
from msgspec import Meta

from gossamer.assembly.seeds import parse_seed
from gossamer.config.units import parse_duration
from gossamer.control.socket.protocol import LiveError, invalid
from gossamer.control.views.context import ViewContext
from gossamer.engine.admission.identity import Identity
from gossamer.engine.observe import Observers
from gossamer.inspect.archive.lookup import Indexed, captures_of
from gossamer.model.disposition import SETTLED, Dropped, PageState
from gossamer.model.events import Event, Visited
from gossamer.model.outcome import Rule
from gossamer.model.reasons.codes import MirrorCode, ProblemCode, RetryCode
from gossamer.model.reasons.reason import Reason, because, of, text
from gossamer.model.url import Url
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, VisitRecord, decode_host
from gossamer.words.amounts import machine_time

FETCH = "fetch"
"""Name of the method."""
MOST_WAITING = 16
"""Who waits at once; of the connections to a crawl there are twice as many. Others are told to ask again."""
_LATEST = 8
"""Captures looked at for the last one of a URL."""
_UNMODIFIED = 304


class Demand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A URL, or a bare host name.

    `fresh` is a time span (`1h`): an answer that is at most that old is given as it is, an older page is visited
    again; empty: as `demand.fresh` has it. `since`, seconds since 1970, says the same by the clock, for a second
    request. `wait`: how long the answer may take, at most 45 s; empty: as `demand.wait` has it. Without `visit`, and by
    a crawl that does not run, only what is fresh enough is given.
    """

    url: Annotated[str, Meta(min_length=1, max_length=8_192)]
    fresh: Annotated[str, Meta(max_length=40)] = ""
    since: Annotated[float, Meta(ge=0)] = 0.0
    wait: Annotated[str, Meta(max_length=40)] = ""
    visit: bool = True


class Demanded(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of it.

    Attributes:
        url: as it is known.
        state: `archive`, it was fresh enough; `fetched`; `failed`, the visit brought nothing that is kept;
            `refused`, it is not visited; `waits`, for its turn: it is visited all the same, ask again.
        since: to ask again with, if it waits.
        at: when it was visited.
        status: of the last answer; 0 for other protocols, and without one.
        why: it failed, is refused or waits; `says`: the same in English.
        capture: what the archive has of it; its content is at `/content`.
        waits: as `state` says.
    """

    url: str
    state: Literal["archive", "fetched", "failed", "refused", "waits"]
    since: float = 0.0
    at: str = ""
    status: int = 0
    why: Reason | None = None
    says: str = ""
    capture: Indexed | None = None
    waits: bool = False


class Question(msgspec.Struct, frozen=True):
    """A demand, as the state is asked.

    Attributes:
        url: wanted.
        floor: wall time; what was visited since is fresh enough.
        visited: a visit was made for it, so what that brought is the answer.
    """

    url: Url
    floor: float
    visited: bool = False


class Demands:
    """Who waits for visits of single URLs."""

    def __init__(self, identity: Identity, observers: Observers) -> None:
        self._identity = identity
        self._waiting: dict[bytes, set[asyncio.Event]] = {}
        observers.add(self._hear)

    @contextlib.contextmanager
    def waiting(self, url: Url) -> Iterator[asyncio.Event]:
        """An event that is set when a visit of a URL is settled, until the end of the block."""
        page, settled = self._identity.document(url), asyncio.Event()
        self._waiting.setdefault(page, set()).add(settled)
        try:
            yield settled
        finally:
            self._waiting[page].discard(settled)
            if not self._waiting[page]:
                del self._waiting[page]

    @property
    def full(self) -> bool:
        """As many wait as may; whoever comes now is answered at once."""
        return sum(map(len, self._waiting.values())) > MOST_WAITING

    def _hear(self, event: Event) -> None:
        if self._waiting and isinstance(event, Visited) and not _passed_on(event):
            page = self._identity.document(event.lease.candidate.url)
            for settled in self._waiting.get(page, ()):
                settled.set()


def _passed_on(event: Visited) -> bool:
    """Whether another mirror is asked for it next."""
    ended = event.disposition
    return isinstance(ended, Dropped) and ended.reason.code == MirrorCode.NEXT


def fetch_offline(look: ViewContext, params: Demand, _who: str) -> Demanded:
    """The answer of a crawl that does not run.

    Raises:
        LiveError: `conflict`, the archive has none that is fresh enough; `invalid`, as `fetch`.
    """
    held = answer(look, question_of(params, look.config.demand.fresh))
    if held is None and params.visit:
        raise LiveError("conflict", because(ProblemCode.NOT_RUNNING, FETCH))
    return held or not_held(params)


def not_held(params: Demand) -> NoReturn:
    """Nothing was to be visited, and there is nothing.

    Raises:
        LiveError: `not_found`.
    """
    raise LiveError("not_found", because(ProblemCode.NOT_HELD, params.url))


def question_of(params: Demand, fresh: float) -> Question:
    """What is asked; `fresh`: seconds, if it does not say.

    Raises:
        LiveError: `invalid`: it is no URL, or no time span.
    """
    url = parse_seed(params.url)
    if isinstance(url, Reason):
        raise invalid((url,))
    return Question(url, params.since or time.time() - span("fresh", params.fresh, fresh))


def span(name: str, written: str, usual: float) -> float:
    """Seconds of a parameter, or the usual ones.

    Raises:
        LiveError: `invalid`: it is none.
    """
    try:
        return parse_duration(written) if written else usual
    except ValueError as error:
        raise invalid((of(name, text(str(error))),)) from None


def found_at(look: ViewContext, question: Question) -> Question:
    """The question, of the URL at which the document was had, or is asked for first, where its site has mirrors."""
    return msgspec.structs.replace(question, url=look.places().where(question.url))


def answer(look: ViewContext, question: Question) -> Demanded | None:
    """What is known of a URL; `None` if that is no answer, and it must be visited."""
    places = look.places()
    record = places.record(places.fingerprint(places.where(question.url)))
    if record is None or record.state is PageState.REJECTED:
        return None
    visit = record.visits[-1] if record.visits else None
    fresh = visit is not None and visit.at >= question.floor
    if not fresh and not question.visited:
        return None
    if _is_refused(record):
        return Demanded(record.url, "refused", why=record.reason, says=str(record.reason))
    return (
        None if visit is None else _visited(look, record, visit, "fetched" if question.visited else "archive")
    )


def _is_refused(record: PageRecord) -> bool:
    """We did not ask, at last: a rule of ours or the host's forbids it."""
    return record.state is PageState.DROPPED and record.reason is not None and record.reason.code in _RULES


_RULES = frozenset(str(rule) for rule in Rule)


def _visited(
    look: ViewContext, record: PageRecord, visit: VisitRecord, how: Literal["archive", "fetched"]
) -> Demanded:
    url = Url.from_serialised(record.url)
    captures = captures_of(look.inspection(), url, latest=_LATEST) if url is not None else []
    last = captures[-1] if captures and captures[-1].url == record.url else None
    told = Demanded(record.url, how, at=machine_time(visit.at), status=visit.status, capture=last)
    kept = last is not None and visit.status in (last.status, _UNMODIFIED)
    if kept and not visit.fault and record.state in SETTLED:
        return told
    why = record.reason or because(RetryCode.STATUS, visit.status)
    return msgspec.structs.replace(told, state="failed", why=why, says=str(why))


def waiting_for(look: ViewContext, question: Question) -> Demanded:
    """For what a URL waits, if more than its turn."""
    places = look.places()
    data = look.environment.get(Family.HOSTS, places.host(places.where(question.url)))
    host = decode_host(data) if data else None
    why = None if host is None else host.parked or host.reason
    said = "" if why is None else str(why)
    return Demanded(question.url.text, "waits", since=question.floor, why=why, says=said, waits=True)
