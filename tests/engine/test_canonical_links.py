"""A page and the URL that it says is its own (RFC 6596)."""

import json

import pytest
from small_site import Site
from test_robots_flow import crawl, html, state_of


@pytest.mark.parametrize(("skip", "pages"), [(False, 3), (True, 2)])
def test_a_page_and_its_canonical_twin_are_bound(tmp_path, skip, pages):
    def answer(host, path, asked):
        if path == "/":
            return html("/p?from=home")
        head = b'<link rel="canonical" href="/p">' if path.startswith("/p") else b""
        return 200, {"Content-Type": "text/html"}, head + b"<p>text"

    with Site(answer) as site:
        root = f"http://127.0.0.1:{site.port}"
        crawl(tmp_path / "c", [f"{root}/"], engine__skip_canonical=skip)
    report = json.loads((tmp_path / "c/report.json").read_bytes())
    assert (report["pages"], report["canonicals"]) == (pages, 1)
    story = state_of(tmp_path / "c", f"{root}/p?from=home")
    assert story.record.canonical == f"{root}/p"
    assert f"the page says that its own URL is {root}/p" in [fact.text for fact in story.facts]
    twin = state_of(tmp_path / "c", f"{root}/p")
    assert twin.state == ("unknown" if skip else "done")
    assert skip or twin.record.canonical == ""
