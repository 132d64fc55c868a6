"""The worked example of K3: the graph of figure 1.3 is visited in the order A B C D E F H G I."""

import asyncio

import pytest
from small_site import small_site

import gossamer

GRAPH = {"A": "BCDEF", "B": "", "C": "", "D": "", "E": "H", "F": "G", "G": "", "H": "I", "I": ""}


@pytest.mark.parametrize("workers", [1, 8])
def test_the_worked_example(workers: int) -> None:
    pages = {name: name + "".join(f'<a href="/{to}">to</a>' for to in links) for name, links in GRAPH.items()}

    async def order(site: str) -> str:
        crawled = gossamer.crawl(site + "A", min_delay=0, workers=workers)
        return "".join([page.url.removeprefix(site) async for page in crawled])

    with small_site(pages.get) as site:
        assert asyncio.run(order(site)) == "ABCDEFHGI"
