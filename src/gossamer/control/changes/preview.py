"""Shows what a change of scope would do to what is queued, before it is made (K15)."""

import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import msgspec

from gossamer.control.changes.changeable import Group, Settings, plan_changes, widens
from gossamer.control.live_crawl import LiveCrawl
from gossamer.control.socket.protocol import LiveError, invalid
from gossamer.control.views.context import ViewContext
from gossamer.engine.admission.reclaim import kept_out
from gossamer.engine.in_thread import in_thread
from gossamer.inspect.draws import Draws, by_hash
from gossamer.model.candidate import Candidate
from gossamer.model.errors import ConfigError
from gossamer.model.outcome import Rule
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.scope.scope import Scope
from gossamer.state.environment import Family
from gossamer.state.keys import HASH_BYTES, TICKET_BYTES
from gossamer.state.records import decode_host, decode_page, decode_queue

ALL_JUDGED = 200_000
"""A queue no longer than this is judged whole, some 10 us for each URL; of a longer one, so many are."""
SECONDS = 8.0
COMING_SECONDS = 1.0
HOSTS = 50
SAMPLE = 20


class HostLoss(msgspec.Struct, frozen=True):
    """What would go of one host's queue."""

    name: str
    going: int
    of: int


class Going(msgspec.Struct, frozen=True):
    """A URL that would go, and why: in words, and as a value."""

    url: str
    rule: str
    why: Reason


class Preview(msgspec.Struct, frozen=True):
    """What a change of scope would do.

    Attributes:
        queued: URLs that wait in queues.
        judged: of them were looked at.
        going: would be dropped when their turn comes.
        coming: URLs turned away or dropped earlier that would come in; `None` if the change takes only away.
        hosts: those that would lose most.
        sample: some that would go.
        complete: all were judged; if not, the figures are scaled to all.
        seconds: that looking took.
    """

    queued: int
    judged: int
    going: int
    coming: int | None
    hosts: list[HostLoss]
    sample: list[Going]
    complete: bool
    seconds: float


async def preview_scope(live: LiveCrawl, params: Settings, who: str) -> Preview:  # noqa: ARG001 - nothing is noted
    """What changing settings of the scope would do; nothing is changed."""
    plan = plan_changes(live.config, params.changes)
    if plan.groups - {Group.SCOPE}:
        other = next(item.path for item in plan.items if item.group is not Group.SCOPE)
        raise LiveError("invalid", f"{other}: is none of the scope's settings")
    try:
        scope: Scope = await in_thread(live.built.scope_of, plan.config)
    except ConfigError as error:
        raise invalid(error.reasons) from None
    wider = widens(live.config, plan.config)
    return await live.look(lambda look, _: _preview(look, scope, widens=wider), None, slow=True)


def _preview(look: ViewContext, scope: Scope, *, widens: bool) -> Preview:
    began = time.monotonic()
    queued = look.counters().queued
    going: Counter[str] = Counter()
    of: Counter[str] = Counter()
    sample: list[Going] = []
    judged = 0
    weight_all = weight_going = 0.0
    complete = True
    for name, url, weight in _drawn(look, queued):
        judged += 1
        weight_all += weight
        of[name] += 1
        verdict = scope.judge(url)
        if not verdict.admitted:
            weight_going += weight
            going[name] += 1
            if len(sample) < SAMPLE:
                sample.append(Going(url.url.text, str(verdict.reason), verdict.reason))
        if not judged % 256 and time.monotonic() - began > SECONDS:
            complete = False
            break
    complete = complete and judged >= weight_all
    scale = queued / weight_all if weight_all and not complete else 1.0
    coming = _coming(look, scope) if widens else None
    return Preview(
        queued=queued,
        judged=judged,
        going=round(weight_going * scale),
        coming=coming,
        hosts=[_loss(look, name, lost, of[name]) for name, lost in going.most_common(HOSTS)],
        sample=sample,
        complete=complete,
        seconds=round(time.monotonic() - began, 3),
    )


def _loss(look: ViewContext, name: str, going: int, judged: int) -> HostLoss:
    """Scaled to the host's whole queue, of which so many were judged."""
    data = look.environment.get(Family.HOSTS, look.fingerprints().host(name))
    queued = max(decode_host(data).queued if data else 0, judged)
    return HostLoss(name, round(going * queued / judged), queued)


def _drawn(look: ViewContext, queued: int) -> Iterator[tuple[str, Candidate, float]]:
    """(host, URL, for how many it stands): all, or about `ALL_JUDGED`, drawn in proportion to the queues."""
    step = max(1.0, queued / ALL_JUDGED)
    drawing = Draws(step)
    for key, data in look.environment.scan(Family.HOSTS):
        record = decode_host(data)
        if not record.queued:
            continue
        if step == 1.0:
            for _, value in look.environment.scan(Family.QUEUE, key + record.head, key):
                yield record.name, decode_queue(value).candidate(), 1.0
            continue
        if draws := drawing.of(record.queued):
            found = list(_of_host(look, key, record.head, draws, record.queued))
            for candidate in found:
                yield record.name, candidate, draws * step / len(found)


def _of_host(look: ViewContext, key: bytes, head: bytes, draws: int, queued: int) -> Iterator[Candidate]:
    """URLs of one host, drawn evenly over their hashes where a table knows their places, else the first."""

    def waiting(value: bytes) -> Candidate | None:
        entry = look.environment.get(Family.QUEUE, key + value[:TICKET_BYTES])
        return decode_queue(entry).candidate() if entry is not None else None

    found = 0
    if queued > 2 * draws:
        for found, candidate in enumerate(  # noqa: B007 - whether there were any is asked below
            by_hash(look.environment, Family.SEEN, key, draws, waiting, SAMPLE), 1
        ):
            yield candidate
    if not found:
        for _, value in islice(look.environment.scan(Family.QUEUE, key + head, key), draws):
            yield decode_queue(value).candidate()


def _coming(look: ViewContext, scope: Scope) -> int:
    """URLs known and not admitted that the scope would have, scaled by how far the looking came."""
    until = time.monotonic() + COMING_SECONDS
    found = 0
    for number, (key, data) in enumerate(look.environment.scan(Family.PAGES)):
        record = decode_page(data)
        # What another name shows is left out by any scope, as long as this session goes on.
        if kept_out(record) and (record.reason is None or record.reason.code != Rule.TWIN):
            url = Url.from_serialised(record.url)
            if url is not None:
                candidate = Candidate(url, record.kind, record.depth, record.hops, record.via)
                found += scope.judge(candidate).admitted
        if not number % 256 and time.monotonic() > until:
            # Keys are keyed hashes of hosts, so the part of the keys is the part of the hosts.
            part = int.from_bytes(key[:HASH_BYTES], "big") / 2**64
            return round(found / max(part, 1e-6))
    return found
