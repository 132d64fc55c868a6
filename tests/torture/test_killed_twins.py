"""A crawl of one site under two names is killed again and again: no page is lost, hardly one fetched twice."""

import json
import subprocess
import sys
import time

import pytest
from two_names import FIRST, NEITHER, SECOND, TwoNames, page

PAGES, KILLS = 240, 8
ONLY = {f"/only/{number}" for number in range(4)}
LOST = {f"/{number}" for number in range(100, 104)}


@pytest.mark.slow
def test_twins_survive_kills(tmp_path) -> None:
    every = [f"/{number}" for number in range(PAGES)]

    def answer(name, path):
        if path in ONLY:
            return page(path) if name == SECOND else NEITHER
        if name == FIRST and path in LOST:
            return NEITHER
        if path == "/":
            return page("/", site.url(FIRST), site.url(SECOND), *every)
        return page(path, f"/only/{path[-1]}" if path[-1] in "0123" else "/0")

    with TwoNames(answer) as site:
        run = [sys.executable, "-m", "gossamer"]
        settings = (
            "engine.twins=skip",
            f'scope.hosts=["{FIRST}","{SECOND}"]',
            "fetch.allow_private=true",
            "politeness.min_delay=0.005",
            "politeness.factor=0",
            "engine.guess_sitemap=false",
        )
        quiet = ["--quiet", *(part for each in settings for part in ("--set", each))]
        begin = [*run, "crawl", site.url(FIRST), "--dir", str(tmp_path / "c"), *quiet]

        def total() -> int:
            return site.asked(FIRST).total() + site.asked(SECOND).total()

        for turn in range(KILLS):
            process = subprocess.Popen(
                begin if not turn else [*run, "resume", str(tmp_path / "c"), "--quiet"]
            )
            most = total() + PAGES // (KILLS + 1)
            while total() < most and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            process.wait()
        assert subprocess.run([*run, "resume", str(tmp_path / "c"), "--quiet"], check=False).returncode == 0
        assert subprocess.run([*run, "check", str(tmp_path / "c")], check=False).returncode == 0
    first, second = site.asked(FIRST), site.asked(SECOND)
    assert set(first) >= {"/", *every} - LOST
    assert set(second) >= ONLY | LOST
    assert len(second) < PAGES // 2
    repeated = sum(times - 1 for asked in (first, second) for times in asked.values())
    assert repeated <= 4 * KILLS, "what was under way at each kill, on two hosts, or not yet committed"
    (told,) = json.loads((tmp_path / "c/report.json").read_bytes())["twins"]
    assert told["goes"] == site.url(SECOND)[:-1]
