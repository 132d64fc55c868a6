"""Asks for one page as a crawl does: politely, and not if the robots file forbids it."""

import asyncio
import warnings
from collections.abc import Mapping
from typing import Any

from gossamer.crawling.interface import CrawledPage, crawl
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError, UnreachableWarning
from gossamer.model.events import Event, Visited
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fetched, Outcome, Refused, Rule
from gossamer.model.reasons.reason import because


def one_page(address: str, config: Mapping[str, Any] | None = None) -> CrawledPage:
    """The page at an address, or the one that it redirects to, whatever its status.

    Args:
        address: with or without a scheme.
        config: settings of the crawl.

    Raises:
        ConfigError: there is none; says why.
    """
    ended = _Ended()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UnreachableWarning)
        page = asyncio.run(_asked(address, config or {}, ended))
    if page is None:
        unreached = next((str(one.message) for one in told), "")
        raise ConfigError(f"{address}: {unreached or ended.words(address)}")
    return page


async def _asked(address: str, config: Mapping[str, Any], ended: "_Ended") -> CrawledPage | None:
    async for page in crawl(address, max_pages=1, follow=False, config=config, observers=(ended.hear,)):
        if not 300 <= page.status < 400:  # what it leads to comes next
            return page
    return None


class _Ended:
    """How the last visit but those of robots files ended."""

    def __init__(self) -> None:
        self._outcome: Outcome | None = None

    def hear(self, event: Event) -> None:
        """Take note of a visit."""
        if isinstance(event, Visited) and event.lease.candidate.kind is not LinkKind.ROBOTS:
            self._outcome = event.outcome

    def words(self, address: str) -> str:
        """Why there is no page."""
        match self._outcome:
            case Fetched(exchange=exchange):
                return f"status {exchange.said}" if exchange.result is None else exchange.said
            case Refused(rule=Rule.ROBOTS):
                return f"forbidden by the robots file; see '{command_line('robots', address)}'"
            case Refused(rule=rule, detail=detail):
                return str(because(rule, detail))
            case Failed(fault=fault, detail=detail):
                return f"{fault} ({detail})" if detail else str(fault)
        return "no page was got"
