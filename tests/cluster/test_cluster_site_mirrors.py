"""A site at several addresses that belong to several agents: each page once, whoever has found it."""

import asyncio
from types import SimpleNamespace

import pytest
from agents_here import agents_on, final
from mirror_site import MISSING, MirrorSite

PAGES = 200
LACKING = set(map(str, range(5, PAGES, 9)))


@pytest.mark.slow
def test_agents_share_a_site_by_the_names_of_its_pages(tmp_path):
    def answer(name, path):
        lacks = path.rpartition("/")[2] in LACKING and name != "127.0.0.4"
        return MISSING if lacks else None

    async def run():
        web = SimpleNamespace(seeds=[site.addresses[0]], nameserver="127.0.0.1:9")
        changes = {
            "mirrors": [{"addresses": site.addresses}],
            "fetch.allow_private": True,
            "scope.mode": "host",
        }
        async with agents_on(tmp_path, web, 2, changes) as world:
            await world.until_over()

    with MirrorSite(PAGES, answer) as site:
        asyncio.run(run())
        each = [max(site.asked(name).values()) for name in site.names]
        asked = site.every
    assert each == [1] * 4, "no mirror is asked twice"
    assert asked.keys() == {"", *map(str, range(1, PAGES))}
    assert {page for page, times in asked.items() if times > 1} <= LACKING
    folders = [tmp_path / "node-1" / "a-1", tmp_path / "node-2" / "a-2"]
    parts = [final([folder])[0] for folder in folders]
    assert all(sum(status == 200 for status in part.values()) > 20 for part in parts), "both have work"
    assert sum(status == 200 for part in parts for status in part.values()) == PAGES
