"""Draws how fresh a crawl is: what was predicted against what was seen, and the stale share of each site."""

from collections.abc import Sequence

from gossamer.inspect.freshness import PredictedBin, SiteFreshness
from gossamer.report.charts import Axis, Bar
from gossamer.words.catalogue import Words

LISTED = 12


def shares(t: Words) -> Axis:
    """Of parts of a whole."""
    return Axis(tick=t.share, value=t.share, unit="rate")


def predicted_bars(bins: Sequence[PredictedBin], t: Words) -> list[Bar]:
    """How many visits found a change, a bar for each tenth of what was predicted, with that behind it."""
    return [
        Bar(
            f"{t.share(each.low)} \u2013 {t.share(each.high)}",
            each.seen or 0.0,
            t.share(each.predicted),
            more=t("report.predicted_of", n=round(each.visits), share=t.share(each.predicted)),
        )
        for each in bins
        if each.visits
    ]


def site_bars(sites: Sequence[SiteFreshness], t: Words, most: int = LISTED) -> list[Bar]:
    """The stale share of the largest sites."""
    told = [site for site in sites if site.stale is not None][:most]
    return [Bar(site.host, site.stale or 0.0, t("freshness.pages", n=site.pages), tone=2) for site in told]
