"""Two names of one site as people are told of them."""

import json
from pathlib import Path

from cli_run import Gossamer
from two_names import FIRST, SECOND, TwoNames

HOSTS = f'scope.hosts=["{FIRST}","{SECOND}"]'
QUICK = ("--min-delay", "0", "--set", "fetch.allow_private=true", "--set", HOSTS)


def test_what_was_found_is_told_with_what_can_be_done(gossamer: Gossamer) -> None:
    with TwoNames() as site:
        ended = gossamer("crawl", site.url(FIRST), "--dir", "c", *QUICK)
    pair = f"{site.url(SECOND)[:-1]} shows the same pages as {site.url(FIRST)[:-1]}: "
    assert f"twins: {pair}" in ended.err
    assert ended.err.count('engine.twins = "skip"') == 1
    assert f"twins     {pair}" in gossamer("status", "c").out
    (told,) = json.loads(gossamer("status", "c", "--json").out)["twins"]
    assert told["alike"] == told["compared"]
    assert gossamer("report", "c", "--out", "zh.html", "--lang", "zh").code == 0
    assert "显示相同的页面" in Path("zh.html").read_text(encoding="utf-8")


def test_what_was_left_out_says_which_page_is_the_same(gossamer: Gossamer) -> None:
    with TwoNames() as site:
        ended = gossamer("crawl", site.url(FIRST), "--dir", "c", *QUICK, "--set", "engine.twins=skip")
    assert "URLs that another name of their site shows" in ended.err
    assert "what the second shows is not fetched from the first" in ended.err
    # Its site map, which is not there, is dropped too, and which of the two comes first is not known.
    listed = [
        json.loads(line) for line in gossamer("list", "c", "--state", "dropped", "--json").out.splitlines()
    ]
    url = next(one["url"] for one in listed if one["why"][0] == "twin")
    story = gossamer("why", "c", url).out
    assert url.replace(SECOND, FIRST) in story
    assert 'resume with engine.twins = "tell"' in story
