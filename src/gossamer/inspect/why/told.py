"""Tells who says that a page has changed, and how far that is believed (decision 0026)."""

from collections.abc import Iterator

from gossamer.engine.signals.sources import feed
from gossamer.inspect.why.sentences import Clause, clause
from gossamer.model.link import LinkKind
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.trust import Source, trust_of
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
    if history.heard:
        yield clause("again.heard", seconds=history.heard * _HOUR)
    weight = classes.weight(history.place)
    if weight > 1:
        yield clause("again.hub", weight=weight)
    if not history.source or host is None:
        return
    trust = trust_of(host.trusts, history.source)
    if trust.lies:
        yield clause("again.lies", source=history.source, lies=trust.lies)
    elif trust.right or trust.wrong or trust.missed:
        yield clause(
            "again.trust",
            source=history.source,
            right=trust.right,
            wrong=trust.wrong,
            missed=trust.missed,
            told=trust.told,
        )


def _number(page: PageRecord) -> int:
    """The number of a page as a source, if it is a sitemap or a feed; else 0."""
    # A page that a sitemap lists has the kind of one, too.
    if not page.media_type.endswith(_LISTS):
        return 0
    return Source.SITEMAP if page.kind is LinkKind.SITEMAP else feed(page.url)
