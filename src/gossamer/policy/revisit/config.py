"""Settings of visits again, and what they say of an address: fixed intervals, weights."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import SECONDS
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import WrongValueError, because, of
from gossamer.model.url import Url
from gossamer.policy.scope.address_pattern import address_pattern, address_problem

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
            le=1e12,
            description="how many pages may be visited again each day, over all hosts; visits go where they are worth"
            " most. 0: a seventh of all pages",
        ),
    ] = 0.0
    share: Annotated[
        float,
        Meta(
            ge=0.01,
            le=0.99,
            description="of hosts that have new URLs as well: the part of their visits that goes to pages that are due",
        ),
    ] = 0.5
    every: Annotated[
        dict[str, Annotated[float, Meta(ge=1, extra=SECONDS)]],
        Meta(
            description='fixed intervals by address, e.g. every."/news/*" = "1h" (* is anything; path and query'
            " are compared, or the whole address if the pattern has a scheme; re:EXPR is a regular expression):"
            " such pages are visited again after that time, whatever was learned of them and whatever visits says;"
            " the first pattern that matches counts"
        ),
    ] = {}
    weight: Annotated[
        dict[str, Annotated[float, Meta(ge=1 / 16, le=16)]],
        Meta(
            description='what pages are worth by address, e.g. weight."/news/*" = 4 (as in every): to have one of them'
            " fresh is worth as much as to have that many others; counted as powers of two. Of pages with a fixed"
            " interval it changes nothing; the first pattern that matches counts"
        ),
    ] = {}

    def __post_init__(self) -> None:
        problems = [
            of(key, because(ProblemCode.EXPRESSION, pattern, problem))
            for key, patterns in (("every", self.every), ("weight", self.weight))
            for pattern in patterns
            if (problem := address_problem(pattern)) is not None
        ]
        if problems:
            raise WrongValueError(*problems)

    def interval(self, url: Url) -> float | None:
        """The fixed interval of a page in seconds, if it has one."""
        return _first(self.every, url) if self.every else None

    def wanted(self, url: Url) -> float:
        """What the page is worth to the user."""
        found = _first(self.weight, url) if self.weight else None
        return 1.0 if found is None else found

    def rate(self, pages: int) -> float:
        """Visits a second that may be made when so many pages come again."""
        return (self.visits or max(pages, 1) / FAIR_DAYS) / DAY


def _first(by_pattern: dict[str, float], url: Url) -> float | None:
    """What is said of an address by the first pattern that matches it."""
    return next(
        (value for pattern, value in by_pattern.items() if address_pattern(pattern).matches(url.text)), None
    )
