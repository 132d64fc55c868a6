"""Tells when a page comes again, and by what reckoning (decision 0026)."""

from collections.abc import Iterator

from gossamer.inspect.clocks import wall_clock
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.why.sentences import Clause, clause
from gossamer.inspect.why.told import about_told, about_weight
from gossamer.model.url import Url
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import activity_of
from gossamer.policy.revisit.config import DAY
from gossamer.policy.revisit.gone import Presence, is_seldom
from gossamer.policy.revisit.history import History, unpack
from gossamer.policy.revisit.threshold import step_of, worth_of_step
from gossamer.policy.revisit.validity import Validity
from gossamer.state.environment import Family
from gossamer.state.keys import HASH_BYTES, again_key
from gossamer.state.records import REVISIT, PageRecord, RevisitRecord, decode, decode_host
from gossamer.words.amounts import moment

_HOUR = 3_600.0
_LONG = 36_500 * DAY


def about_again(
    inspection: Inspection, host: bytes, fingerprint: bytes, url: Url, page: PageRecord
) -> Iterator[Clause]:
    """What there is to say of a page's visits to come, a sentence each; nothing if it does not come again."""
    if page.asked:
        yield clause("again.asked")
    if page.gone:
        yield clause("again.gone", when=f"{moment(page.gone)} UTC")
    if not page.history:
        return
    history, now = unpack(page.history), wall_clock(inspection.environment).now()
    yield _seen(history, now)
    if page.changed:
        yield clause("again.changed", when=f"{moment(page.changed)} UTC")
    yield from _missing(history)
    place = history.place
    fixed = classes.fixed_interval(place)
    data = inspection.environment.get(Family.META, REVISIT)
    sums = decode(data, RevisitRecord) if data else RevisitRecord()
    if fixed is not None:
        yield clause("again.fixed", interval=fixed)
    else:
        rate = classes.rate(place, max(0.0, now - history.since))
        yield clause("again.believed", interval=1 / rate, place=place)
    stored = inspection.environment.get(Family.HOSTS, host)
    known = decode_host(stored) if stored else None
    yield from about_weight(history, inspection.config.revisit.wanted(url))
    yield from about_told(history, page, known)
    if known is not None and known.validators == Validity.FALSE:
        yield clause("again.unbelieved")
    if not inspection.config.revisit.enabled:
        yield clause("again.off")
        return
    entry = again_key(host, place, history.since, fingerprint[HASH_BYTES:])
    if inspection.environment.get(Family.AGAIN, entry) is None:
        yield clause("again.turn")
        return
    longest = classes.LONGEST * sums.fair
    activity = activity_of(known.activity if known is not None else b"")
    step, factor = step_of(sums.level), activity.factor(sums.freshness.activity_power)
    if fixed is None:
        if factor != 1:
            yield clause("again.active", times=factor)
        worth = classes.worth_after(place, max(0.0, now - history.since) * factor)
        yield clause("again.worth", worth=worth, threshold=worth_of_step(step))
    left = min(classes.due_of(history, step, longest, factor) - now, _LONG)
    wanted = inspection.config.revisit.interval(url)
    if wanted is not None and fixed is None:
        yield clause("again.moving")
    elif left > 0:
        yield clause("again.due", seconds=left)
        if fixed is None:
            yield clause("again.threshold")
    else:
        yield clause("again.ready", seconds=-left)


def _missing(history: History) -> Iterator[Clause]:
    match history.presence:
        case Presence.MISSED:
            yield clause("again.missed")
        case Presence.NEVER:
            yield clause("again.never")
    if is_seldom(history.presence, history.same) and classes.fixed_interval(history.place) is None:
        yield clause("again.seldom")


def _seen(history: History, now: float) -> Clause:
    ago = max(0.0, now - history.last)
    if not history.same and not history.changed:
        return clause("again.once", ago=ago)
    return clause(
        "again.seen",
        ago=ago,
        same=history.same,
        changed=history.changed,
        announced=history.announced,
        quiet=history.quiet * _HOUR,
        stirred=history.stirred * _HOUR,
    )
