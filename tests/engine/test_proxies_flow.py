"""A crawl by two proxies of which one dies: nothing is lost, nothing is held against a host, no password is kept."""

import json
import threading
import time
from collections import defaultdict

import pytest
from small_site import Site
from test_requests_flow import gossamer
from test_robots_flow import html

PAGES = 10
HOSTS = [f"site{number}.example" for number in range(12)]


@pytest.mark.slow
def test_a_proxy_dies_under_a_crawl_that_is_killed(tmp_path):
    def page(host, path, asked):
        status, fields, body = html(*[f"/{number}" for number in range(PAGES)])
        return status, {**fields, "Connection": "close"}, body

    with Site(page) as one:
        dying = Site(page)
        dying.__enter__()

        def die():
            while len(dying.asked) < 25:
                time.sleep(0.01)
            dying.__exit__()

        death = threading.Thread(target=die)
        death.start()
        (tmp_path / "proxies").write_text(
            "".join(f"http://me:word-5ecret@127.0.0.1:{proxy.port}\n" for proxy in (one, dying))
        )
        folder = tmp_path / "crawl"
        settings = {
            "fetch.proxy": f"file:{tmp_path / 'proxies'}",
            "fetch.names_by_proxy": "true",
            "politeness.min_delay": "0",
        }
        said = gossamer(
            "crawl",
            *[f"http://{host}/" for host in HOSTS],
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
    assert set(ways) == set(HOSTS)
    assert {host for host in HOSTS if ways[host] == {one}}, "some had never gone by the one that died"
    assert {host for host in HOSTS if ways[host] == {one, dying}}
    report = json.loads((folder / "report.json").read_text())
    assert report["pages"] == len(HOSTS) * (PAGES + 2), "with the sitemap that is looked for"
    assert 1 <= report["faults"].pop("proxy_down") <= 20
    assert set(report["faults"]) <= {"reset"}, "of what was under way"
    held = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    for secret in ("word-5ecret", "bWU6d29yZC01ZWNyZXQ="):
        assert secret.encode() not in held and secret not in said
