"""Equal content at two addresses: archived once, its links followed twice (docs/decisions/0003)."""

import asyncio
from collections.abc import Sequence

from small_site import small_site

import gossamer
from gossamer.model.events import Event, Visited

TWIN = '<title>twin</title><a href="leaf">leaf</a>'
PAGES = {
    "": '<a href="one/">1</a> <a href="two/">2</a>',
    "one/": TWIN,
    "two/": TWIN,
    "one/leaf": "first leaf",
    "two/leaf": "second leaf",
}


def crawl(site: str, **engine: bool) -> tuple[set[str], Sequence[Visited]]:
    """Paths of pages, and the visits of the two twins in order."""
    heard: list[Event] = []

    async def paths() -> set[str]:
        pages = gossamer.crawl(site, min_delay=0, observers=[heard.append], config={"engine": engine})
        return {page.url.removeprefix(site) async for page in pages}

    found = asyncio.run(paths())
    visits = [event for event in heard if isinstance(event, Visited)]
    return found, [visit for visit in visits if visit.page and visit.page.title == "twin"]


def test_links_of_duplicates_are_followed() -> None:
    with small_site(PAGES.get) as site:
        found, twins = crawl(site)
    assert found == set(PAGES)
    assert [twin.seen_before for twin in twins] == [False, True]
    assert [twin.twin for twin in twins] == ["", site + "one/"]
    places = [twin.place for twin in twins]
    assert places[0] and places[1] and places[0] != places[1], "a revisit record has a place of its own"


def test_skipping_them_loses_pages_as_told() -> None:
    with small_site(PAGES.get) as site:
        found, _ = crawl(site, skip_duplicates=True)
    assert found == set(PAGES) - {"two/leaf"}
