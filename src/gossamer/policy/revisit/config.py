"""Settings of visits again, and the fixed intervals among them."""

import re
from fnmatch import translate
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Seconds
from gossamer.model.url import Url

DAY = 86_400.0
FAIR_DAYS = 7
"""Without a number of visits a day there are as many as would reach each page once in so many days."""


class RevisitConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether pages are visited again, and how often."""

    enabled: Annotated[
        bool,
        Meta(
            description="visit pages again when they are likely to have changed; the crawl then does not end"
            " by itself"
        ),
    ] = False
    visits: Annotated[
        float,
        Meta(
            ge=0,
            description="visits again a day, over all hosts; they go to the pages where a visit is worth most."
            " 0: a seventh of the pages a day",
        ),
    ] = 0.0
    share: Annotated[
        float,
        Meta(
            ge=0.01,
            le=0.99,
            description="where a host has new URLs, too: the part of its visits that goes to pages that are due",
        ),
    ] = 0.5
    every: Annotated[
        dict[str, Seconds],
        Meta(
            description='fixed intervals by address, e.g. every."/news/*" = "1h" (* is anything; with a scheme'
            " of the whole address): such pages come again after that time whatever was learned of them and"
            " whatever visits says; the first pattern that matches counts"
        ),
    ] = {}

    def interval(self, url: Url) -> float | None:
        """The fixed interval of a page in seconds, if it has one."""
        for pattern, seconds in self.every.items():
            text = url.text if "://" in pattern else url.target
            if re.compile(translate(pattern)).fullmatch(text):  # `re` keeps what it compiled
                return seconds
        return None

    def rate(self, pages: int) -> float:
        """Visits a second that may be made when so many pages come again."""
        return (self.visits or max(pages, 1) / FAIR_DAYS) / DAY
