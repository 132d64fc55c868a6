"""Settings of visits again, and the fixed intervals among them."""

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

    def __post_init__(self) -> None:
        problems = [
            of("every", because(ProblemCode.EXPRESSION, pattern, problem))
            for pattern in self.every
            if (problem := address_problem(pattern)) is not None
        ]
        if problems:
            raise WrongValueError(*problems)

    def interval(self, url: Url) -> float | None:
        """The fixed interval of a page in seconds, if it has one."""
        for pattern, seconds in self.every.items():
            if address_pattern(pattern).matches(url.text):
                return seconds
        return None

    def rate(self, pages: int) -> float:
        """Visits a second that may be made when so many pages come again."""
        return (self.visits or max(pages, 1) / FAIR_DAYS) / DAY
