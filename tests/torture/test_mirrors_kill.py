"""A site of 2,000 pages at four addresses: each page once, nothing lost or twice when a mirror or the crawl dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from mirror_site import MirrorSite
from warcio.archiveiterator import ArchiveIterator

from gossamer.engine.settlement.settlement import GROUP

PAGES = 2_000
WHOLE = Counter(["", *map(str, range(1, PAGES))])
DELAY = 0.01
SETTINGS = {
    "politeness": {"min_delay": DELAY, "factor": 0.0},
    "fetch": {"allow_private": True},
    "retry": {"host_first": 0.2, "not_found_first": 5.0, "host_longest": 5.0},
    "robots": {"hold_first": 0.2, "hold_longest": 5.0},
    "engine": {"guess_sitemap": False, "give_up_after": 2.0},
}


def begin(folder, site, *, count=4, again=False):
    """Start a crawl in a process of its own."""
    addresses = site.addresses[:count]
    if again:
        command = ["resume", str(folder)]
    else:
        lines = [f"[[mirrors]]\naddresses = {json.dumps(addresses)}"] if count > 1 else []
        for section, values in SETTINGS.items():
            lines += [f"[{section}]", *(f"{name} = {json.dumps(value)}" for name, value in values.items())]
        config = folder.with_suffix(".toml")
        config.write_text("\n".join(lines))
        command = ["crawl", addresses[0], "--config", str(config), "--dir", str(folder)]
    command += ["--quiet", "--contact", "you@example.org"][: 1 if again else 3]
    return subprocess.Popen([sys.executable, "-m", "gossamer", *command])


def wait_for(site, crawl, pages):
    while site.every.total() < pages:
        assert crawl.poll() is None
        time.sleep(0.05)


def archived(folder):
    found = Counter()
    for file in sorted((folder / "archive").glob("*.warc.gz*")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                    found[record.rec_headers.get_header("WARC-Target-URI").rpartition("/")[2]] += 1
    return found


@pytest.mark.slow
def test_four_mirrors_share_a_site(tmp_path):
    with MirrorSite(PAGES) as site:
        assert begin(tmp_path / "c", site).wait() == 0
        asked = [site.asked(name).total() for name in site.names]
        assert site.every == WHOLE
    print(f"\npages by mirror {asked}")
    assert all(PAGES / 4 * 0.85 < part < PAGES / 4 * 1.15 for part in asked)
    assert archived(tmp_path / "c") == WHOLE


@pytest.mark.slow
def test_a_mirror_dies_midway(tmp_path):
    with MirrorSite(PAGES) as site:
        crawl = begin(tmp_path / "c", site)
        wait_for(site, crawl, PAGES // 4)
        site.stop("127.0.0.3")
        assert crawl.wait() == 0
        asked = {name: site.asked(name).total() for name in site.names}
        assert site.every.keys() == WHOLE.keys()
    print(f"\npages by mirror {asked}")
    assert archived(tmp_path / "c") == WHOLE


@pytest.mark.slow
def test_the_crawl_is_killed_and_resumed(tmp_path):
    kills = 4
    with MirrorSite(PAGES) as site:
        crawl = begin(tmp_path / "c", site)
        for kill in range(1, kills + 1):
            wait_for(site, crawl, PAGES * kill // (kills + 1))
            os.kill(crawl.pid, signal.SIGKILL)
            crawl.wait()
            crawl = begin(tmp_path / "c", site, again=True)
        assert crawl.wait() == 0
        asked = site.every
    print(f"\nasked for twice after {kills} kills: {asked.total() - PAGES}")
    assert archived(tmp_path / "c") == WHOLE
    assert asked.keys() == WHOLE.keys() and asked.total() - PAGES <= kills * GROUP
