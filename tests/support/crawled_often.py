"""A crawl that visits each page several times, so that its archive has several captures of it."""

from pathlib import Path
from typing import Any

import gossamer


class Often:
    """Each page is visited so often, one second apart: captures are told apart by their seconds."""

    def __init__(self, visits: int) -> None:
        self._visits = visits

    def again(self, _lease: Any, _outcome: Any, _page: Any, visits: int) -> float | None:
        return 1.0 if visits < self._visits else None


async def crawled_often(url: str, folder: Path, visits: int, **sections: Any) -> None:
    """Crawl it; `sections` of the configuration."""
    config = {"engine": {"guess_sitemap": False}, **sections}
    policy, most = Often(visits), 10 * visits
    async for _ in gossamer.crawl(
        url, folder=folder, config=config, min_delay=0, revisits=policy, max_pages=most
    ):
        pass
