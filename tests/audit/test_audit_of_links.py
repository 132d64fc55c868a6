"""Links of a site are what the truth table says, are asked politely and once, and are remembered."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from farm_site import FARM, QUICK, RATE_LIMITED, audit, crawl, resources, site_with_links
from link_farm import Farm, link_farm, page

from gossamer.simweb import SimulatedWeb, WorldSpec


class Audited(NamedTuple):
    first: dict[str, Any]
    second: dict[str, Any]
    folder: Path
    farm: Farm
    limited: Farm
    asked_first: int


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Audited]:
    """One crawl whose page has a link to each of the farm, audited twice."""
    folder = tmp_path_factory.mktemp("audit")
    with (
        link_farm(resources(FARM), "127.0.0.2") as farm,
        link_farm(resources(RATE_LIMITED), "127.0.0.3") as limited,
    ):
        odd = [
            "http://127.0.0.4:1/",
            "http://exa mple/",
            "mailto:a@b",
            "tel:1",
            "javascript:x()",
            "data:,x",
            "gopher://x/",
        ]
        links = [f"{farm.address}{link}" for link in FARM] + [
            f"{limited.address}{link}" for link in RATE_LIMITED
        ]
        with site_with_links([*links, *odd, "/gone", "#here", "", "http://" + "x" * 20_000]) as site:
            path = crawl(site.address, folder)
            first = audit(path)
            asked = len(farm.asked) + len(limited.asked)
            yield Audited(first, audit(path), path, farm, limited, asked)


def links_of(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {link["url"]: link for link in told["links"]}


def test_each_link_is_what_the_table_says(world: Audited) -> None:
    links = links_of(world.first)
    wrong = {
        path: (found["verdict"], found["code"])
        for farm, table in ((world.farm, FARM), (world.limited, RATE_LIMITED))
        for path, (_, verdict, code) in table.items()
        if (found := links[f"{farm.address}{path}"]) and (found["verdict"], found["code"]) != (verdict, code)
    }
    assert wrong == {}
    assert links[f"{world.farm.address}moved?a=1"]["target"] == f"{world.farm.address}ok?a=1&b=2"


def test_what_is_no_page_is_no_link(world: Audited) -> None:
    links = links_of(world.first)
    assert not [url for url in links if url.startswith(("mailto", "tel", "javascript", "data"))]
    assert links["http://127.0.0.4:1/"]["code"] == "connection-refused"
    assert (links["http://exa mple/"]["verdict"], links["http://exa mple/"]["code"]) == (
        "broken",
        "invalid-url",
    )
    assert links["gopher://x/"]["code"] == "scheme"
    assert [link["code"] for url, link in links.items() if url.startswith("http://xxx")] == ["too-long"]


def test_links_come_with_their_pages_and_words_the_worst_first(world: Audited) -> None:
    told = world.first["links"]
    order = ["broken", "unknown", "refused", "moved", "well"]
    assert [link["verdict"] for link in told] == sorted((link["verdict"] for link in told), key=order.index)
    one = links_of(world.first)[f"{world.farm.address}404"]
    assert one["pages"][0]["text"].startswith("to ")
    assert one["found_on"] == len(one["pages"]) == 1
    assert sum(world.first["verdicts"].values()) == len(told)


def test_errors_are_findings(world: Audited) -> None:
    rules = {(finding["rule"], finding["url"]) for finding in world.first["findings"]}
    assert ("link-broken", f"{world.farm.address}404") in rules
    assert ("fragment-missing", f"{world.farm.address}places#absent") in rules
    assert ("redirect-loop", f"{world.farm.address}self") in rules
    assert ("redirect-chain", f"{world.farm.address}found2") in rules
    assert ("robots-forbids", f"{world.farm.address}kept/out") in rules
    assert ("link-moved", f"{world.farm.address}moved") in rules
    assert all(
        finding["level"] != "error" for finding in world.first["findings"] if "moved" in finding["rule"]
    )


def test_a_host_that_limits_is_left_alone(world: Audited) -> None:
    assert world.limited.asked == [("GET", "/robots.txt"), ("HEAD", "/429"), ("HEAD", "/429date")]


def test_what_is_well_costs_one_head(world: Audited) -> None:
    assert [one for one in world.farm.asked if one[1].startswith("/ok?")] == [("HEAD", "/ok?a=1&b=2")] * 2


def test_robots_files_are_asked_once_and_obeyed_for_a_head_too(world: Audited) -> None:
    assert world.farm.count("/robots.txt") == 1
    assert not [path for _, path in world.farm.asked if path.startswith("/kept/")]


def test_the_second_audit_asks_nothing(world: Audited) -> None:
    assert len(world.farm.asked) + len(world.limited.asked) == world.asked_first
    assert world.second["requests"]["outside"] == 0
    assert world.second["requests"]["cached"] > 30
    assert world.second["verdicts"] == world.first["verdicts"]


def test_without_asking_what_was_not_crawled_is_unknown(world: Audited, tmp_path: Path) -> None:
    told = audit(world.folder, msgspec.structs.replace(QUICK, outside=False, max_age=-1.0))
    assert links_of(told)[f"{world.farm.address}404"]["code"] == "not-asked"
    assert told["requests"]["outside"] == 0


def test_hosts_rest_between_requests(tmp_path: Path) -> None:
    pages = dict.fromkeys("abc", page("x"))
    with (
        link_farm(pages, "127.0.0.2") as farm,
        site_with_links([f"{farm.address}{one}" for one in pages]) as site,
    ):
        audit(crawl(site.address, tmp_path), msgspec.structs.replace(QUICK, outside_delay=0.2))
    gaps = [later - before for before, later in zip(farm.times, farm.times[1:], strict=False)]
    assert len(gaps) == 3
    assert min(gaps) >= 0.2


def test_links_into_private_networks_are_not_followed(tmp_path: Path) -> None:
    with link_farm({"a": page("secret")}, "127.0.0.2") as farm, site_with_links([f"{farm.address}a"]) as site:
        folder = crawl(site.address, tmp_path)
        file = folder / "crawl.toml"
        file.write_text(file.read_text().replace("allow_private = true", "allow_private = false"))
        told = audit(folder)
    assert links_of(told)[f"{farm.address}a"]["code"] == "private-address"
    assert farm.asked == []


def test_all_links_to_a_name_that_does_not_exist_are_broken(tmp_path: Path) -> None:
    """The name cache tells so once, and puts off whoever asks again."""
    links = [f"http://nowhere.sim.test/{number}" for number in range(3)]
    with SimulatedWeb(WorldSpec.friendly(hosts=1, pages=1)) as web, site_with_links(links) as site:
        told = audit(crawl(site.address, tmp_path, "--nameserver", web.nameserver))
    assert {url: link["code"] for url, link in links_of(told).items() if "nowhere" in url} == dict.fromkeys(
        links, "no-such-name"
    )
