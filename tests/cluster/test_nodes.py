"""Whole crawls by agents on several machines, which are network namespaces with real Ray nodes inside."""

import json
import os
import time
from collections import Counter
from dataclasses import replace

import pytest
from nodes import HEAD, WEB_NET, Machine, Site, hurried, missing, until
from ray_there import needs_ray, never_two_at_once
from whole_crawl import QUICK

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge, to_toml
from gossamer.fetch.config import FORBIDDEN_NETWORKS
from gossamer.simweb import CrawlRules, WorldSpec, truth

REST = 1.0
SPEC = WorldSpec(
    hosts=24, pages=600, exponent=0.0, page_bytes=1_500, cross_links=0.2, seeds=6, network=WEB_NET,
    robots=("absent", "allow", "rules"), sitemaps=0.3, redirects=0.05, far_redirects=0.05, copies=0.03,
    leaves=0.1, missing=0.03,
)  # fmt: skip
RULES = CrawlRules(scope="any", sitemaps=True)
LONGER = replace(SPEC, pages=1_400)
SECONDS = 300.0
MIDWAY = 150
"""Visits after which something is done to the crawl."""
MOVED = 280.0
"""Seconds within which the half of all shards has moved even here."""
GIVE_AWAY = 20.0
"""Seconds after which the coordinator gives a silent agent's hosts to others (`TenureConfig`)."""
AGENT, COORDINATOR = "ray::AgentActor", "ray::CoordinatorActor"

pytestmark = [
    needs_ray,
    never_two_at_once,
    pytest.mark.slow,
    pytest.mark.skipif(bool(why := missing()), reason=why),
]


@pytest.fixture
def site(request):
    with Site(getattr(request, "param", SPEC), workers=2) as site:
        yield site


def options(site: Site) -> list[str]:
    """Of a crawl of the site's web."""
    seeds, config = site.path / "seeds.txt", site.path / "gossamer.toml"
    seeds.write_text("\n".join(site.seeds))
    changes = {
        **QUICK,
        "politeness.min_delay": REST,
        "fetch.forbidden_networks": [net for net in FORBIDDEN_NETWORKS if net != "10.0.0.0/8"],
    }
    config.write_text(to_toml(load(CrawlConfig, merge({"dns": {"nameservers": [site.nameserver]}}, changes))))
    return ["--config", str(config), "--seeds", str(seeds), "--cores", "0.5", "--snapshot-every", "3s"]


def same_as_one_agent(site: Site, report: dict) -> None:
    """The collection is what one agent would have, and nobody was rude to get it."""
    true = truth(site.spec, site.seeds, RULES)
    captured: Counter = Counter()
    statuses: dict[str, int] = {}
    for line in (site.folder / "index.cdxj").read_text().splitlines():
        capture = json.loads(line.split(" ", 2)[2])
        captured[capture["url"]] += 1
        statuses[capture["url"]] = int(capture["status"])
        assert (site.folder / capture["filename"]).stat().st_size >= int(capture["offset"])
    differences = true.compare(statuses)
    assert not (differences.missing or differences.forbidden or differences.wrong)
    assert {url: times for url, times in captured.items() if times > 1 and url not in true.robots} == {}
    assert report["collected"]["doubled"] == 0
    assert hurried(site.visits(), REST - 0.03) == []


def test_nodes_collect_what_one_agent_would(site):
    report = site.report(site.crawl(2, *options(site)), SECONDS)
    same_as_one_agent(site, report)
    nodes = {agent["node"] for agent in report["cluster"]["agents"]}
    assert nodes == {machine.host for machine in site.workers}
    assert {agent["state"] for agent in report["cluster"]["agents"]} == {"live"}


# Failures in mid-crawl …


@pytest.fixture(params=range(int(os.environ.get("GOSSAMER_NODES_REPEAT", "1"))))
def crawling(request, site):
    """A site whose crawl is well under way, with the process that waits for its end."""
    driver = site.crawl(2, *options(site))
    until(lambda: site.fetched() > MIDWAY or driver.poll() is not None, "the crawl to be under way")
    assert driver.poll() is None, site.story()
    return site, driver


def agents_of(machine: Machine) -> list[int]:
    return machine.pids(AGENT)


def states(site: Site) -> dict[str, str]:
    """Of agents, by their nodes."""
    return {agent["node"]: agent["state"] for agent in site.status().get("agents", ())}


def test_an_agent_is_killed(crawling):
    site, driver = crawling
    assert site.workers[0].kill(AGENT)
    same_as_one_agent(site, site.report(driver, SECONDS))


def test_a_node_is_killed(crawling):
    site, driver = crawling
    assert site.workers[0].kill()
    same_as_one_agent(site, site.report(driver, SECONDS))


def test_the_coordinator_is_killed(crawling):
    site, driver = crawling
    assert site.machines[HEAD].kill(COORDINATOR)
    same_as_one_agent(site, site.report(driver, SECONDS))


def test_the_head_is_killed(crawling):
    site, driver = crawling
    assert site.machines[HEAD].kill()
    driver.wait()
    before = {machine.name: agents_of(machine) for machine in site.workers}
    assert all(before.values())
    until(
        lambda: not any(set(pids) & set(agents_of(site.machines[name])) for name, pids in before.items()),
        "agents without a coordinator to end",
        GIVE_AWAY,
    )
    for machine in site.workers:
        machine.kill()  # as its operator would, whose Ray cluster is no more
    site.start_head()
    site.start_nodes()
    same_as_one_agent(site, site.report(site.resume(), SECONDS))


def test_a_node_is_cut_off_and_returns(crawling):
    site, driver = crawling
    cut = site.workers[0]
    before = agents_of(cut)
    assert before
    cut.plug(cut=True)
    cut_at = time.monotonic()
    until(
        lambda: not set(before) & set(agents_of(cut)), "the agent to find that its tenure is over", GIVE_AWAY
    )
    time.sleep(max(0.0, cut_at + 30.0 - time.monotonic()))
    cut.plug(cut=False)
    report = site.report(driver, SECONDS)
    same_as_one_agent(site, report)
    found = Counter(agent["state"] for agent in report["cluster"]["agents"])
    assert (found["live"], found["lost"]) == (2, 1)


@pytest.mark.parametrize("site", [LONGER], indirect=True)  # or it is over before the third is up
def test_a_node_joins(crawling):
    site, driver = crawling
    site.join(3)
    site.gossamer("cluster", "scale", str(site.folder), "3")
    report = site.report(driver, SECONDS)
    same_as_one_agent(site, report)
    agents = {agent["node"]: agent for agent in report["cluster"]["agents"]}
    assert len(agents) == 3
    assert agents["gsm-3"]["pages"] > 0


@pytest.mark.parametrize("site", [LONGER], indirect=True)
def test_a_node_is_drained(crawling):
    site, driver = crawling
    drained = site.workers[0]
    site.gossamer("cluster", "drain", str(site.folder), drained.host)
    until(lambda: states(site).get(drained.host) == "gone", "the node's agent to be gone", MOVED)
    drained.kill()
    report = site.report(driver, SECONDS)
    same_as_one_agent(site, report)
    assert {agent["state"] for agent in report["cluster"]["agents"]} == {"live", "gone"}


def test_the_store_fails_for_a_minute(crawling):
    site, driver = crawling
    aside = site.store.rename(site.path / "aside")
    site.store.touch()
    fetched = site.fetched()
    time.sleep(60.0)
    assert site.fetched() > fetched + MIDWAY
    assert driver.poll() is None
    assert all(agent["problem"].startswith("snapshot: ") for agent in site.status()["agents"])
    site.store.unlink()
    aside.rename(site.store)
    same_as_one_agent(site, site.report(driver, SECONDS))


def test_a_disk_is_wiped(crawling):
    site, driver = crawling
    wiped = site.workers[0]
    assert wiped.kill()
    wiped.wipe()
    site.start_nodes(wiped)
    same_as_one_agent(site, site.report(driver, SECONDS))
