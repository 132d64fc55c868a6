"""The same crawl by Scrapy: `python -m benchmarks.scrapy_peer --folder D --pages N START...`.

As lean as an ordinary, resumable Scrapy crawl gets: its own `LinkExtractor`, a job folder,
robots obeyed, no cookies, no delay, no log but errors; one small item a page goes to a feed.
Unlike Gossamer it keeps no page body.
"""

import argparse
import ipaddress
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer


class LoopbackResolver(CachingThreadedResolver):
    """Every name lives on loopback, as in the simulated web."""

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: ARG002, N802  Twisted's names
        """Answer at once."""
        try:
            return defer.succeed(str(ipaddress.ip_address(name)))
        except ValueError:
            return defer.succeed("127.0.0.1")


class SiteSpider(scrapy.Spider):
    """Follows every link of the start URLs' hosts."""

    name = "site"
    # Extensions are not denied: Gossamer fetches documents of every type that a page links to.
    link_extractor = LinkExtractor(deny_extensions=[])

    def parse(self, response: Response) -> Iterator[Any]:
        """One item, and the links."""
        if not isinstance(response, TextResponse) or not response.css("html"):
            yield {"url": response.url, "length": len(response.body)}
            return
        title = response.css("title::text").get()
        yield {"url": response.url, "title": title, "length": len(response.body)}
        for link in self.link_extractor.extract_links(response):
            if not link.nofollow:
                yield scrapy.Request(link.url)


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Scrapy's settings of the crawl."""
    chosen: dict[str, Any] = {
        "ROBOTSTXT_OBEY": True,
        "COOKIES_ENABLED": False,
        "AUTOTHROTTLE_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": arguments.workers,
        "CONCURRENT_REQUESTS_PER_DOMAIN": arguments.visits_per_host,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "FEEDS": {f"{arguments.folder}/items.jsonl": {"format": "jsonlines"}},
        "TWISTED_DNS_RESOLVER": LoopbackResolver,
        # Breadth first, as Scrapy's FAQ tells, so that both visit the same pages.
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    if arguments.order == "default":
        for key in ("DEPTH_PRIORITY", "SCHEDULER_DISK_QUEUE", "SCHEDULER_MEMORY_QUEUE"):
            del chosen[key]
    if arguments.pages:
        chosen["CLOSESPIDER_PAGECOUNT"] = arguments.pages
    if not arguments.no_job:
        chosen["JOBDIR"] = f"{arguments.folder}/job"
    return chosen


def main() -> int:
    """Crawl until there is nothing left, or until so many pages have been fetched."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scrapy_peer")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--pages", type=int, default=0, help="0: all")
    parser.add_argument("--workers", type=int, default=32)
    parser.add_argument("--visits-per-host", type=int, default=16)
    parser.add_argument("--order", choices=["breadth", "default"], default="breadth")
    parser.add_argument("--no-job", action="store_true", help="keep the queue in memory: not resumable")
    parser.add_argument("start", nargs="+")
    arguments = parser.parse_args()
    process = CrawlerProcess(settings(arguments))
    hosts = sorted({urlsplit(url).hostname or "" for url in arguments.start})
    process.crawl(SiteSpider, start_urls=arguments.start, allowed_domains=hosts)
    process.start()
    return 0


if __name__ == "__main__":
    sys.exit(main())
