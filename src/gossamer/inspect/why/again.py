"""Tells when a page comes again, and by what reckoning (decision 0026)."""

import time
from collections.abc import Iterator

from gossamer.inspect.inspection import Inspection
from gossamer.inspect.why.sentences import Clause, clause
from gossamer.inspect.why.told import about_told, about_weight
from gossamer.model.url import Url
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.config import DAY
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import History, unpack
from gossamer.policy.revisit.threshold import step_of, worth_of_step
from gossamer.policy.revisit.validity import Validity
from gossamer.state.clock import WallClock
from gossamer.state.environment import Family
from gossamer.state.keys import HASH_BYTES, again_key
from gossamer.state.records import REVISIT, PageRecord, RevisitRecord, decode, decode_host

_HOUR = 3_600.0
_LONG = 36_500 * DAY


def about_again(
    inspection: Inspection, host: bytes, fingerprint: bytes, url: Url, page: PageRecord, wall: WallClock
) -> Iterator[Clause]:
    """What there is to say of a page's visits to come, a sentence each; nothing if it does not come again."""
    if page.asked:
        yield clause("again.asked")
    if page.gone:
        yield clause("again.gone", when=_written(page.gone))
    if not page.history:
        return
    history, now = unpack(page.history), wall.now()
    yield _seen(history, now)
    if page.changed:
        yield clause("again.changed", when=_written(page.changed))
    if history.presence == Presence.MISSED:
        yield clause("again.missed")
    place = history.place
    fixed = classes.fixed_interval(place)
    data = inspection.environment.get(Family.META, REVISIT)
    sums = decode(data, RevisitRecord) if data else RevisitRecord()
    if fixed is not None:
        yield clause("again.fixed", hours=fixed / _HOUR)
    else:
        rate = classes.rate(place, max(0.0, now - history.since))
        yield clause("again.believed", days=1 / rate / DAY, place=place)
    if history.presence == Presence.GONE:
        yield clause("again.seldom")
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
    step = step_of(sums.level)
    if fixed is None:
        worth = classes.worth_after(place, max(0.0, now - history.since))
        yield clause("again.worth", worth=worth, threshold=worth_of_step(step))
    left = min(classes.due(place, history.since, step, longest) - now, _LONG)
    wanted = inspection.config.revisit.interval(url)
    if wanted is not None and fixed is None:
        yield clause("again.moving")
    elif left > 0:
        yield clause("again.due", hours=left / _HOUR)
    else:
        yield clause("again.ready", hours=-left / _HOUR)


def _written(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))


def _seen(history: History, now: float) -> Clause:
    ago = max(0.0, now - history.last) / _HOUR
    if not history.same and not history.changed:
        return clause("again.once", hours=ago)
    return clause(
        "again.seen",
        hours=ago,
        same=history.same,
        changed=history.changed,
        announced=history.announced,
        quiet=history.quiet,
        stirred=history.stirred,
    )
