"""What a limit does to visits that are under way, and which waits are not the end."""

import json
import time

from small_site import Site
from test_robots_flow import crawl, html

from gossamer.inspect.inspection import inspect


def test_a_visit_that_drips_is_broken_off_after_the_limit_and_made_again_later(tmp_path):
    slow = [True]

    def answer(host, path, asked):
        if path == "/slow":
            until = time.monotonic() + 30
            while slow[0] and time.monotonic() < until:
                time.sleep(0.01)
            return html()
        return html("/slow", "/a") if path == "/" else html()

    with Site(answer) as site:
        settings = {"budget__max_time": 3.0, "engine__limit_grace": 0.2, "politeness__visits_per_host": 4}
        reason = crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"], **settings)
        assert str(reason) == "max_time 3"
        report = json.loads((tmp_path / "c/report.json").read_bytes())
        assert (report["cut"], report["pages"], report["queued"]) == (1, 2, 1)
        slow[0] = False
        reason = crawl(tmp_path / "c", [], again=True, budget__max_time=0.0)
        assert str(reason) == "finished"
        report = json.loads((tmp_path / "c/report.json").read_bytes())
        assert (report["cut"], report["pages"], report["queued"]) == (0, 3, 0)


def test_a_visit_that_ends_within_the_grace_counts(tmp_path):
    def answer(host, path, asked):
        if path == "/slow":
            time.sleep(1.0)
        return html("/slow") if path == "/" else html()

    with Site(answer) as site:
        settings = {"budget__max_pages": 1, "engine__limit_grace": 30.0, "engine__workers": 1}
        assert str(crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"], **settings)) == "max_pages 1"
    assert json.loads((tmp_path / "c/report.json").read_bytes())["cut"] == 0


def test_a_host_that_rests_is_waited_for_however_impatient_one_is(tmp_path):
    def answer(host, path, asked):
        if path == "/robots.txt":
            return 200, {}, b"User-agent: *\nCrawl-delay: 0.3\n"
        return html("/a", "/b") if path == "/" else html()

    with Site(answer) as site:
        reason = crawl(tmp_path / "c", [f"http://127.0.0.1:{site.port}/"], engine__give_up_after=0.0)
    assert str(reason) == "finished"
    with inspect(tmp_path / "c") as inspection:
        assert (inspection.counters.pages, inspection.counters.queued) == (3, 0)
