"""A whole crawl by agents that are processes of Ray, from the command line."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from agents_here import final
from mirrors import EACH, mirrors, referred_elsewhere, sound
from nodes import until
from patience import PATIENCE, SLOW_SECONDS
from prometheus_text import check
from ray_there import needs_ray, never_two_at_once
from whole_crawl import QUICK

from gossamer.cluster.actors import PAUSE_SECONDS
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge, to_toml
from gossamer.simweb import CrawlRules, SimulatedWeb, WorldSpec, truth

SPEC = WorldSpec.friendly(hosts=16, pages=25, page_bytes=1_000)
LONG = WorldSpec.friendly(hosts=16, pages=2_000, page_bytes=1_000)
"""Nobody waits for the end of it."""
ENOUGH = 12
"""Hosts of which each of two agents has some: who has which depends on a secret that is drawn for each crawl."""
RULES = CrawlRules(scope="any", sitemaps=True)

pytestmark = [needs_ray, never_two_at_once]


def gossamer(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command to its end."""
    command = [sys.executable, "-m", "gossamer", *arguments]
    environment = {**os.environ, "RAY_DEDUP_LOGS": "0"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=SLOW_SECONDS, env=environment, check=False
    )


def configured(path: Path, web: SimulatedWeb) -> list[str]:
    """Options of a crawl of `web`."""
    seeds, config = path / "seeds.txt", path / "gossamer.toml"
    seeds.write_text("\n".join(web.seeds))
    tree = merge({"dns": {"nameservers": [web.nameserver]}}, QUICK)
    config.write_text(to_toml(load(CrawlConfig, tree)))
    return ["--config", str(config), "--seeds", str(seeds), "--cores", "0.5", "--snapshot-every", "3s"]


@pytest.mark.slow
def test_who_reaches_the_coordinator_needs_no_numpy_for_it():
    looked = "import sys, gossamer.cluster.actors; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", looked], check=False).returncode == 0


@pytest.mark.slow
def test_two_processes_fetch_what_one_would(tmp_path):
    with SimulatedWeb(SPEC) as web:
        options = configured(tmp_path, web)
        done = gossamer("cluster", "crawl", "--agents", "2", *options, "--dir", str(tmp_path / "c"), "--json")
        true = truth(SPEC, web.seeds, RULES)
    assert done.returncode == 0, done.stderr
    folders = sorted((tmp_path / "c" / "agents").glob("a-*"))
    assert len(folders) == 2
    statuses, ends = final(folders)
    differences = true.compare(statuses)
    assert not (differences.missing or differences.forbidden or differences.wrong)
    assert {url for url, times in ends.items() if times > 1} == set()
    report = json.loads(done.stdout)
    assert report["collected"]["doubled"] == 0
    lines = (tmp_path / "c" / "index.cdxj").read_text().splitlines()
    assert len(lines) == report["collected"]["captures"]
    for line in lines:
        place = json.loads(line.split(" ", 2)[2])
        assert (tmp_path / "c" / place["filename"]).stat().st_size >= int(place["offset"])
    over = json.loads(gossamer("cluster", "status", str(tmp_path / "c"), "--json").stdout)
    assert (over["state"], over["stop"]) == ("ended", "finished")
    known = json.loads(gossamer("status", str(tmp_path / "c"), "--json").stdout)
    assert (known["state"], known["sums"]["pages"]) == ("ended", over["pages"])
    assert gossamer("check", str(tmp_path / "c")).returncode == 0
    url = next(url for url, status in statuses.items() if status == 200)  # not every end is a page
    assert f"{url}: done" in gossamer("cluster", "why", str(tmp_path / "c"), url).stdout


@pytest.mark.slow
def test_processes_that_share_their_digests_refer_to_each_others_archives(tmp_path):
    with mirrors(ENOUGH) as web:
        options = [*configured(tmp_path, web), "--min-delay", "500ms", "--shared-digests"]
        folder = tmp_path / "c"
        done = gossamer("cluster", "crawl", "--agents", "2", *options, "--dir", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    folders = sorted((folder / "agents").glob("a-*"))
    for each in folders:
        sound(each)
    assert referred_elsewhere(folders)
    for command in (("check",), ("export", "links")):
        asked = gossamer(*command, str(folder))
        assert asked.returncode == 0, asked.stdout + asked.stderr
    assert json.loads(done.stdout)["collected"]["pages"] == ENOUGH * (ENOUGH * EACH + 2), (
        "robots files among them"
    )


@pytest.mark.slow
def test_a_crawl_that_goes_on_tells_its_figures(tmp_path):
    folder = str(tmp_path / "c")
    with SimulatedWeb(LONG) as web:
        options = [*configured(tmp_path, web), "--min-delay", "1s", "--set", "engine.give_up_after=60s"]
        with started("cluster", "crawl", "--agents", "2", *options, "--dir", folder) as crawl:
            ends = time.monotonic() + PATIENCE
            told = ""
            while told.count("gossamer_crawl_pages_total{") < 2 and time.monotonic() < ends:
                assert crawl.poll() is None
                told = gossamer("cluster", "metrics", folder).stdout
            described = check(told)
            assert {"gossamer_agent_shards", "gossamer_cluster_epoch"} <= described
            for agent in ("a-1", "a-2"):
                assert re.search(rf'gossamer_crawl_pages_total{{agent="{agent}",node=".+"}} \d', told)
            stopped = gossamer("cluster", "stop", folder)
            assert stopped.returncode == 0, stopped.stderr
            crawl.wait(PATIENCE)
    over = gossamer("cluster", "status", folder)
    assert over.returncode == 0
    assert f"{folder}: ended: interrupted" in over.stdout


@contextlib.contextmanager
def started(*arguments: str):
    """A command that goes on; it is interrupted in the end if it still does."""
    command = [sys.executable, "-m", "gossamer", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)


@pytest.mark.slow
def test_an_agent_that_cannot_begin_is_tried_again(tmp_path):
    """Ray starts no actor anew whose constructor raised: the crawl would wait for it for ever."""
    folder = tmp_path / "c"
    with SimulatedWeb(WorldSpec.friendly(hosts=2, pages=5, page_bytes=500)) as web:
        words = ["cluster", "crawl", "--agents", "1", *configured(tmp_path, web), "--dir", str(folder)]
        command = [sys.executable, "-m", "gossamer", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as crawl:
            try:
                until(lambda: (folder / "cluster.json").exists(), "the plan")
                in_the_way = folder / "agents"
                in_the_way.write_text("no folder")
                until(lambda: gossamer("cluster", "status", str(folder)).returncode == 0, "the coordinator")
                time.sleep(2 * PAUSE_SECONDS)
                assert crawl.poll() is None
                in_the_way.unlink()
                told, _ = crawl.communicate(timeout=SLOW_SECONDS)
            finally:
                crawl.kill()
    assert crawl.returncode == 0, told
    assert list(in_the_way.glob("a-*"))
