"""A real little cluster through the interface and the page of a real daemon."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import loopback
import pytest
from live_service import LiveService, live_service
from patience import SLOW_SECONDS
from ray_there import needs_ray, never_two_at_once
from service_world import job_settings

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge, to_toml
from gossamer.simweb import SimulatedWeb, WorldSpec

pytestmark = [pytest.mark.slow, needs_ray, never_two_at_once]
SPEC = WorldSpec.friendly(hosts=16, pages=2_000, page_bytes=1_000)
"""It is stopped long before it ends, however long Ray takes."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[LiveService]:
    with live_service(tmp_path) as running:
        yield running


@pytest.fixture
def crawl(tmp_path: Path, service: LiveService) -> Iterator[subprocess.Popen[bytes]]:
    """A cluster of two agents among the jobs; it is interrupted in the end if it still runs."""
    with SimulatedWeb(SPEC) as web:
        config, folder = tmp_path / "crawl.toml", tmp_path / "jobs" / "big"
        tree = job_settings(web, politeness__min_delay="1s", engine__give_up_after="60s")
        config.write_text(to_toml(load(CrawlConfig, merge({}, tree))))
        command = [sys.executable, "-m", "gossamer", "cluster", "crawl", "--config", str(config)]
        command += ["--agents", "2", "--cores", "0.5", "--snapshot-every", "3s", "--dir", str(folder)]
        # Ray would have its processes wait behind all others of the machine.
        environment = {**os.environ, "RAY_worker_niceness": "0"}
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(120)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def reach(
    service: LiveService, good: Callable[[dict[str, Any]], Any], crawl: subprocess.Popen[bytes] | None = None
) -> dict[str, Any]:
    """Look at the cluster until it is so; while its crawl goes on, if that is given."""
    ends = time.monotonic() + SLOW_SECONDS / 2  # Ray alone takes minutes where nothing is left of the machine
    while True:
        answer = loopback.get(f"{service.url}/api/v1/clusters/big")
        view: dict[str, Any] = answer.json()
        if answer.status_code == 200 and good(view):
            return view
        assert time.monotonic() < ends, view
        assert crawl is None or crawl.poll() is None, "the cluster could not begin, or has ended"
        time.sleep(0.5)


def crawls(view: dict[str, Any]) -> bool:
    figures = view["figures"]
    return bool(
        view["state"] == "running"
        and figures["overview"]["owned"] == figures["overview"]["shards"]
        and figures["overview"]["pages"]
        and len(figures["crawls"]) == 2
    )


def test_a_cluster_is_seen_and_stopped(service: LiveService, crawl: subprocess.Popen[bytes]) -> None:
    view = reach(service, crawls, crawl)
    overview = view["figures"]["overview"]
    live = {agent["name"] for agent in overview["agents"] if agent["state"] == "live"}
    assert len(live) == 2
    assert {f"a-{holder}" for holder in overview["ring"]} == live
    for crawl_of in view["figures"]["crawls"].values():
        assert crawl_of["memory"] > 10 << 20
    assert sum(crawl_of["hosts"] for crawl_of in view["figures"]["crawls"].values()) >= 2
    page = loopback.get(f"{service.url}/clusters/big").text
    assert '<svg class="chart ring"' in page
    for name in live:
        assert f'<th scope="row">{name}</th>' in page
    assert re.search(r'class="state running"', page)
    empty = {"node": "no-such-machine"}
    refused = loopback.post(f"{service.url}/api/v1/clusters/big/drain", json=empty)
    assert refused.status_code == 422
    scaled = loopback.post(f"{service.url}/api/v1/clusters/big/scale", json={"agents": 1})
    assert scaled.status_code == 200, scaled.text
    reach(service, lambda view: view["figures"]["overview"]["wanted_agents"] == 1, crawl)
    stopped = loopback.post(f"{service.url}/api/v1/clusters/big/stop", json={})
    assert stopped.status_code == 200, stopped.text
    assert crawl.wait(SLOW_SECONDS / 2) == 130, "interrupted, as by Ctrl-C"
    over = reach(service, lambda view: view["state"] == "stopped")
    assert over["figures"]["overview"]["pages"], "what was seen last is still told"
    assert "gossamer cluster resume" in loopback.get(f"{service.url}/clusters/big").text
