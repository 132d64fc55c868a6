import json

import pytest
from cli_run import Gossamer


def test_selectors_are_tried_on_a_live_and_on_an_archived_page(gossamer: Gossamer, site: str) -> None:
    options = ("--field", "t=title", "--field", "to=a::attr(href) | url | all", "--field", "no=.none")
    live = gossamer("fields", site, *options)
    assert live.code == 0
    assert f'  t: "Home"\n  to: "http://{site}/a.html" (the first of 5 values)' in live.out
    assert "  no: nothing" in live.out
    assert gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "-q", "--field", "t=title").code == 0
    archived = gossamer("fields", "/a.html", "--from", "d", "--json")
    assert json.loads(archived.out)["fields"] == [
        {"group": "page", "matches": True, "found": {"t": ["Page A"]}}
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "no fields"),
        (("--field", "x"), "NAME=SELECTOR"),
        (("--field", "x=..a"), "no selector of CSS"),
        (
            ("--field", "p=p | frobnicate"),
            "unknown conversion frobnicate; there are number, date, url, html, text, all",
        ),
        (("--field", "x=h1", "--from", "nowhere"), "no crawl"),
        (("--field", "x=h1"), "no seed could be reached"),
    ],
)
def test_what_cannot_be_tried_is_told(gossamer: Gossamer, options: tuple[str, ...], words: str) -> None:
    ran = gossamer("fields", "127.0.0.1:9", *options)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
