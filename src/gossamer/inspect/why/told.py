"""Tells who says that a page has changed, and how far that is believed (decision 0026)."""

from collections.abc import Iterator

from gossamer.engine.signals.sources import feed
from gossamer.inspect.why.sentences import Clause, clause
from gossamer.model.link import LinkKind
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.gone import is_seldom
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.trust import Source, Trust, trust_of
from gossamer.state.records import HostRecord, PageRecord

_HOUR = 3_600.0
_LISTS = ("xml", "json")


def about_told(history: History, page: PageRecord, host: HostRecord | None) -> Iterator[Clause]:
    """What there is to say of it, a sentence each; nothing if nobody speaks of the page.

    Args:
        history: of the page.
        page: what else is known of it.
        host: its own, where what is known of its sources is kept.
    """
    if host is not None and (lies := trust_of(host.trusts, _number(page)).lies):
        yield clause("again.liar", lies=lies)
    for voice in history.voices:
        if voice.heard:
            yield clause("again.heard", seconds=voice.heard * _HOUR, source=voice.source)
    if host is None:
        return
    for voice in history.voices:
        yield from _about_source(voice.source, trust_of(host.trusts, voice.source))


def _about_source(source: int, trust: Trust) -> Iterator[Clause]:
    if trust.lies:
        yield clause("again.lies", source=source, lies=trust.lies)
    elif trust.right or trust.wrong or trust.missed:
        yield clause(
            "again.trust",
            source=source,
            right=trust.right,
            wrong=trust.wrong,
            missed=trust.missed,
            told=trust.told,
        )


def about_weight(history: History, wanted: float) -> Iterator[Clause]:
    """What a page weighs, and why, if it is another than most.

    Args:
        history: of the page.
        wanted: what the page is worth to the user.
    """
    weight = classes.weight(history.place)
    if classes.fixed_interval(history.place) is not None or is_seldom(history.presence, history.same):
        return
    if history.brings > 1:
        yield clause("again.hub", weight=history.brings)
    if wanted != 1:
        yield clause("again.wanted", times=wanted)
    linked = weight / history.brings / wanted
    if not 2**-0.5 <= linked <= 2**0.5:
        yield clause("again.linked", times=linked)
    if weight != 1:
        yield clause("again.weight", weight=weight)


def _number(page: PageRecord) -> int:
    """The number of a page as a source, if it is a sitemap or a feed; else 0."""
    # A page that a sitemap lists has the kind of one, too.
    if not page.media_type.endswith(_LISTS):
        return 0
    return Source.SITEMAP if page.kind is LinkKind.SITEMAP else feed(page.url)
