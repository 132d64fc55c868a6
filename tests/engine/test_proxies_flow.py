"""A crawl by two proxies of which one dies: nothing is lost, nothing is held against a host, no password is kept."""

import json
import threading
from collections import defaultdict

import pytest
from patience import PATIENCE
from small_site import Site
from test_requests_flow import gossamer
from test_robots_flow import html

from gossamer.fetch.proxies import Proxies

PAGES = 10
EACH = 6
"""Hosts by each of the proxies, as long as both stand."""


def hosts_of(one, other):
    """Which proxy a host goes by depends on their ports: any hosts, and all may go by one."""
    named = [f"site{number}.example" for number in range(200)]
    chosen = {host: Proxies().choose((one, other), host) for host in named}
    return {proxy: [host for host in named if chosen[host] == proxy][:EACH] for proxy in (one, other)}


@pytest.mark.slow
def test_a_proxy_dies_under_a_crawl_that_is_killed(tmp_path):
    def page(host, path, asked):
        status, fields, body = html(*[f"/{number}" for number in range(PAGES)])
        return status, {**fields, "Connection": "close"}, body

    dies, dead = threading.Event(), threading.Event()

    def last_words(host, path, asked):
        if len(dying.asked) >= 25:  # it answers no more until nobody else can come
            dies.set()
            dead.wait(PATIENCE)
        return page(host, path, asked)

    with Site(page) as one:
        dying = Site(last_words)
        dying.__enter__()

        def die():
            dies.wait(PATIENCE)
            dying.__exit__()
            dead.set()

        death = threading.Thread(target=die)
        death.start()
        addresses = [f"http://me:word-5ecret@127.0.0.1:{proxy.port}" for proxy in (one, dying)]
        going = hosts_of(*addresses)
        (tmp_path / "proxies").write_text("\n".join(addresses))
        folder = tmp_path / "crawl"
        settings = {
            "fetch.proxy": f"file:{tmp_path / 'proxies'}",
            "fetch.names_by_proxy": "true",
            "politeness.min_delay": "0",
        }
        said = gossamer(
            "crawl",
            *[f"http://{host}/" for hosts in going.values() for host in hosts],
            *["--dir", folder],
            *[word for path, value in settings.items() for word in ("--set", f"{path}={value}")],
            die_at="settlement.committed:20",
        )
        said += gossamer("resume", folder)
        death.join()
    ways = defaultdict(set)
    pages = defaultdict(int)
    for proxy in (one, dying):
        for host, url in proxy.asked:
            ways[host].add(proxy)
            pages[host] += not url.endswith("robots.txt")
    always, before = (set(hosts) for hosts in going.values())
    assert set(ways) == always | before
    assert all(ways[host] == {one} for host in always), "they had never gone by the one that died"
    assert {host for host in before if ways[host] == {one, dying}}
    report = json.loads((folder / "report.json").read_text())
    assert report["pages"] == 2 * EACH * (PAGES + 2), "with the sitemap that is looked for"
    assert 1 <= report["faults"].pop("proxy_down") <= 20
    assert set(report["faults"]) <= {"reset"}, "of what was under way"
    held = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    for secret in ("word-5ecret", "bWU6d29yZC01ZWNyZXQ="):
        assert secret.encode() not in held and secret not in said
