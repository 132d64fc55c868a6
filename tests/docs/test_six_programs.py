"""The programs of docs/how-to/fields.md, run as they stand but for the addresses."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import ran
from small_site import small_site

import gossamer

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "fields.md"
PROGRAMS = re.findall(r"^([^\n]+[:.])\n\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
SITE = {
    "/": "<h1>Home</h1><b class=product><a href=/a>a</a></b><a href=/b>b</a>",
    "/a": "<h1>A</h1><p class=price>12,50</p>",
    "/b": "<h1>B</h1>sold out",
    "/list": "<p class=item>one</p><a class=next href=/list2>next</a>",
    "/list2": "<p class=item>two</p>",
}
EXPECTED = [
    ['{"url": "SITE/a", "name": "A", "price": 12.5}', '{"url": "SITE/b", "name": "B"}'],
    ["SITE/a A"],
    ["one", "two"],
    ["SITE/b 2"],
    ["found on SITE/b"],
    ["a SITE/a 12.5", "b SITE/b None"],
]


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with small_site(lambda path: SITE.get(f"/{path}")) as address:
        yield address.rstrip("/")


def test_there_are_six_of_at_most_fifteen_lines() -> None:
    assert len(PROGRAMS) == len(EXPECTED)
    for _, text in PROGRAMS:
        assert len([line for line in text.splitlines() if line.strip()]) <= 15


@pytest.fixture
def _no_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a site of one's own: half of them rest for four seconds."""
    crawl = gossamer.crawl
    monkeypatch.setattr(gossamer, "crawl", lambda *given, **how: crawl(*given, **{"min_delay": 0} | how))


@pytest.mark.usefixtures("_no_rests")
@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_a_program_does_what_it_says(number: int, site: str, tmp_path: Path) -> None:
    text = re.sub(r"https://example\.(org|com)", site, PROGRAMS[number][1])
    ended = ran(lambda: exec(compile(text, str(PAGE), "exec"), {"__name__": "__main__"}), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    said = ended.stdout.splitlines()
    assert {line.replace("SITE", site) for line in EXPECTED[number]} <= set(said), said
