"""What a second of freshness of a page is worth, beside one of any other page."""

from gossamer.policy.revisit.gone import SELDOM, is_seldom
from gossamer.policy.revisit.history import History

MOST_IMPORTANCE = 8.0
"""What pages are worth by the links to them differs by more than anybody's patience with the others."""


def weight(history: History, wanted: float = 1.0, importance: float = 1.0) -> float:
    """The weight of a page, for its class, which rounds it to a power of two.

    Args:
        history: tells whether it is there, and how many pages its changes lead to.
        wanted: by the user (`config.RevisitConfig.weight`).
        importance: by the order of the crawl, 1 for the mean page; cut off at an eighth and eight.
    """
    there = SELDOM if is_seldom(history.presence, history.same) else history.brings
    return there * wanted * min(max(importance, 1 / MOST_IMPORTANCE), MOST_IMPORTANCE)
