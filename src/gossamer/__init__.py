"""Gossamer, a polite, durable web crawler that explains itself.

The Python interface::

    import asyncio
    import gossamer


    async def main():
        async for page in gossamer.crawl("https://example.org/", max_pages=100):
            print(page.status, page.url, page.page.title)


    asyncio.run(main())
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gossamer.app.interface import CrawledPage, crawl
    from gossamer.model.errors import ConfigError, GossamerError, StorageError

__all__ = ["ConfigError", "CrawledPage", "GossamerError", "StorageError", "crawl"]


def __getattr__(name: str) -> object:
    """Public names load the rooms behind them only when they are used: `import gossamer.model` stays light."""
    if name in ("CrawledPage", "crawl"):
        from gossamer.app import interface

        return getattr(interface, name)
    if name in __all__:
        from gossamer.model import errors

        return getattr(errors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
