"""A crawl that follows addresses in scripts is killed again and again: nothing is lost, little is asked twice."""

import json
import subprocess
import sys
import time

import pytest
from benchmarks.search_forms import answering, documents, words
from small_site import Site

HIDDEN, NONSENSE, KILLS = 120, 40, 6


@pytest.mark.slow
def test_speculative_links_survive_kills(tmp_path) -> None:
    real = [f"/real/{number}.html" for number in range(HIDDEN)]
    vain = [f"/vain-{number}.htm" for number in range(NONSENSE)]
    pages = {path: f"page {path}" for path in real}
    pages["/"] = (
        f"<script>go({json.dumps(real)}); var vain = {json.dumps([path[1:] for path in vain])}</script>"
    )

    def answer(_: str, path: str, __: object) -> tuple[int, dict[str, str], str]:
        return (200 if path in pages else 404), {"Content-Type": "text/html"}, pages.get(path, "not here")

    with Site(answer) as served:
        run = [sys.executable, "-m", "gossamer"]
        settings = (
            "speculation.follow=true",
            "politeness.min_delay=0.02",
            "politeness.factor=0",
            "engine.guess_sitemap=false",
        )
        quiet = ["--quiet", *(part for each in settings for part in ("--set", each))]
        begin = [*run, "crawl", served.address, "--dir", str(tmp_path / "c"), *quiet]
        for turn in range(KILLS):
            process = subprocess.Popen(
                begin if not turn else [*run, "resume", str(tmp_path / "c"), "--quiet"]
            )
            most = len(served.asked) + HIDDEN // (KILLS + 2)
            while len(served.asked) < most and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            process.wait()
        assert subprocess.run([*run, "resume", str(tmp_path / "c"), "--quiet"], check=False).returncode == 0
        assert subprocess.run([*run, "check", str(tmp_path / "c")], check=False).returncode == 0
        asked = [path for _, path in served.asked]
    assert set(real) <= set(asked)
    assert sum(asked.count(path) - 1 for path in set(real)) <= KILLS
    assert sum(path in vain for path in asked) <= 6 + KILLS  # 5% of the pages, and what was under way


@pytest.mark.slow
def test_words_asked_of_a_form_survive_kills(tmp_path) -> None:
    """The form has another hidden field on each page, so what was asked is known by the form, not by its addresses."""
    texts, asking = documents(150), words(60)
    with Site(answering("finds", texts)) as served:
        run = [sys.executable, "-m", "gossamer"]
        settings = (
            f"forms.words={json.dumps(asking)}",
            "politeness.min_delay=0.01",
            "politeness.factor=0",
            "engine.guess_sitemap=false",
        )
        quiet = ["--quiet", *(part for each in settings for part in ("--set", each))]
        begin = [*run, "crawl", served.address, "--dir", str(tmp_path / "c"), *quiet]
        resume = [*run, "resume", str(tmp_path / "c"), "--quiet"]
        for turn in range(KILLS):
            process = subprocess.Popen(resume if turn else begin)
            most = len(served.asked) + 20
            while len(served.asked) < most and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            process.wait()
        assert subprocess.run(resume, check=False).returncode == 0
        assert subprocess.run([*run, "check", str(tmp_path / "c")], check=False).returncode == 0
        asked = [path for _, path in served.asked]
    reachable = {path for path, text in texts.items() if not set(asking).isdisjoint(text.split())}
    assert texts.keys() & set(asked) == reachable and len(reachable) > 50
    questions = [path.partition("&t=")[0] for path in asked if "&t=" in path]
    assert len(questions) - len(set(questions)) <= KILLS
