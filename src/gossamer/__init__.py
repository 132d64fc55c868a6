"""Gossamer, a polite, durable web crawler that explains itself.

The Python interface::

    import asyncio
    import gossamer


    async def main():
        async for page in gossamer.crawl("https://example.org/", max_pages=100):
            print(page.status, page.url, page.page.title)


    asyncio.run(main())
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gossamer.config.config import CrawlConfig
    from gossamer.crawling.interface import CrawledPage, crawl
    from gossamer.documents.said import DocumentText
    from gossamer.model.candidate import Candidate
    from gossamer.model.document import Document, Findings
    from gossamer.model.errors import (
        ConfigError,
        GossamerError,
        PluginWarning,
        StorageError,
        UnreachableWarning,
        UnreadableWarning,
    )
    from gossamer.model.link import Link, LinkKind
    from gossamer.model.page import Page
    from gossamer.model.url import Url

__all__ = [
    "Candidate",
    "ConfigError",
    "CrawlConfig",
    "CrawledPage",
    "Document",
    "DocumentText",
    "Findings",
    "GossamerError",
    "Link",
    "LinkKind",
    "Page",
    "PluginWarning",
    "StorageError",
    "UnreachableWarning",
    "UnreadableWarning",
    "Url",
    "crawl",
]

NOT_ON_WINDOWS = (
    "Gossamer does not run on Windows, whose files cannot be locked or renamed as it needs. "
    "Use WSL 2 there (wsl --install), or a container: docs/how-to/systems.md"
)
_HOMES = {
    "config.config": ("CrawlConfig",),
    "crawling.interface": ("CrawledPage", "crawl"),
    "documents.said": ("DocumentText",),
    "model.candidate": ("Candidate",),
    "model.document": ("Document", "Findings"),
    "model.errors": (
        "ConfigError",
        "GossamerError",
        "PluginWarning",
        "StorageError",
        "UnreachableWarning",
        "UnreadableWarning",
    ),
    "model.link": ("Link", "LinkKind"),
    "model.page": ("Page",),
    "model.url": ("Url",),
}


def __getattr__(name: str) -> object:
    """Public names load the rooms behind them when they are used: `import gossamer.model` stays light."""
    for home, names in _HOMES.items():
        if name in names:
            if os.name == "nt":
                raise ImportError(NOT_ON_WINDOWS)
            return getattr(import_module(f"gossamer.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
