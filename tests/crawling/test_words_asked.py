"""Search forms are asked words: what only a search leads to is found, and a useless form is left soon."""

import asyncio
import json
from pathlib import Path

import pytest
from benchmarks.search_forms import Answer, answering, documents, words
from in_process import gossamer as command
from small_site import Site

import gossamer
from gossamer.engine.settlement import long_pages, settlement
from gossamer.engine.settlement.long_pages import LINKS_AT_ONCE
from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.story import Storyteller

FORM = "<form action=/find><input type=search name=q></form>"
FOUND = {"zebra": "/d/striped", "gnu": "/d/horned"}


def small(_: str, path: str, __: object) -> Answer:
    head = {"Content-Type": "text/html"}
    if path == "/robots.txt":
        return 200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /shut"
    if path in FOUND.values():
        return 200, head, f"{FORM} one of {path}"
    for word, target in FOUND.items():
        if path.endswith(f"?q={word}"):
            return 200, head, f"{FORM} here is <a href={target}>one</a><a href=/linked>x</a>"
    if path == "/":
        return 200, head, f'{FORM}<form action=/shut/find><input name=s></form><a href="/linked">x</a>'
    return (
        (200 if path in ("/linked", "/find", "/find?q=") else 404),
        head,
        f"{FORM} page {path.partition('?')[0]}",
    )


def test_a_form_is_asked_though_its_own_address_with_nothing_filled_in_is_known(tmp_path: Path) -> None:
    with Site(small) as served:
        served.address += "find?q="
        assert "/find?q=gnu" in crawled(served, tmp_path / "c", {"forms": {"words": ["gnu"]}})


def crawled(served: Site, folder: Path, config: dict[str, object], **more: object) -> list[str]:
    async def crawl() -> None:
        whole = {"engine": {"guess_sitemap": False}, **config}
        async for _ in gossamer.crawl(served.address, folder=folder, config=whole, min_delay=0, **more):
            pass

    asyncio.run(crawl())
    return [path for _, path in served.asked if path != "/robots.txt"]


@pytest.mark.parametrize("at_once", [LINKS_AT_ONCE, 0])
def test_a_form_is_asked_after_all_links_once_and_within_all_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """`at_once`: also where the links of a page are followed before it is settled."""
    monkeypatch.setattr(settlement, "LINKS_AT_ONCE", at_once)
    monkeypatch.setattr(long_pages, "SLICE", 100 if at_once else 1)
    with Site(small) as served:
        asked = crawled(served, tmp_path / "c", {"forms": {"words": ["zebra", "unicorn", "gnu"]}})
        assert asked[0] == "/" and set(asked[1:3]) == {"/linked", "/find"}
        # What an answer leads to comes before the next word; robots files keep out of the other form.
        assert asked[3:] == ["/find?q=zebra", "/d/striped", "/find?q=unicorn", "/find?q=gnu", "/d/horned"]
        report = json.loads((tmp_path / "c/report.json").read_text())
        assert report["speculative"] == {"form": [2, 1]}
        with inspect(tmp_path / "c") as inspection:
            story = Storyteller(inspection).tell(f"{served.address}find?q=gnu")
            refused = Storyteller(inspection).tell(f"{served.address}shut/find?s=gnu")
            linked = Storyteller(inspection).tell(f"{served.address}d/horned")
        told = " ".join(fact.text for fact in story.facts)
        assert story.record.hops == "X" and "form /find?q" in told and "'gnu'" in told and "2 words" in told
        assert (refused.state, linked.record.hops) == ("dropped", "XL")
    assert command("check", "c", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, []),
        ({"forms": {"words": ["gnu"], "fields": ["r"]}}, []),
        ({"place": {"127.0.0.1/find": {"forms": {"words": ["gnu"]}}}}, ["/find?q=gnu"]),
        ({"forms": {"words": ["gnu"]}, "scope": {"exclude": ["/find[?]"]}}, []),
    ],
)
def test_where_forms_are_asked(tmp_path: Path, config: dict[str, object], words: list[str]) -> None:
    with Site(small) as served:
        assert [path for path in crawled(served, tmp_path / "c", config) if "?" in path] == words


def test_new_words_are_asked_when_a_crawl_goes_on_and_none_twice(tmp_path: Path) -> None:
    with Site(small) as served:
        crawled(served, tmp_path / "c", {"forms": {"words": ["unicorn", "gnu"]}}, max_pages=2)
        settings = ("budget.max_pages=0", 'forms.words=["gnu", "unicorn", "zebra"]')
        further = [each for one in settings for each in ("--set", one)]
        assert command("resume", "c", "--quiet", *further, cwd=tmp_path).returncode == 0
        asked = [path for _, path in served.asked if "?q" in path]
    assert sorted(asked) == ["/find?q=gnu", "/find?q=unicorn", "/find?q=zebra"]


@pytest.mark.parametrize(("sort", "most"), [("nothing", 8), ("same", 8), ("known", 8), ("finds", 20)])
def test_a_form_that_brings_nothing_is_left(tmp_path: Path, sort: str, most: int) -> None:
    """Its pages have another hidden field each, and yet it is one form."""
    texts, asking = documents(40), words(20)
    with Site(answering(sort, texts)) as served:
        asked = crawled(served, tmp_path / "c", {"forms": {"words": list(asking)}})
        assert sum("&t=" in path for path in asked) <= most
        if sort == "finds":
            reachable = {path for path, text in texts.items() if not set(asking).isdisjoint(text.split())}
            assert texts.keys() & set(asked) == reachable and len(reachable) > 10
        lines = command("list", "c", "--state", "dropped", cwd=tmp_path).stdout
    assert ("&t=" in lines) is (sort != "finds")


@pytest.mark.parametrize("target", ["/find/?q={}", "/login?next=%2Ffind%3Fq%3D{}"])
@pytest.mark.parametrize("finds", [False, True])
def test_where_a_redirect_repeats_the_word_what_is_said_there_counts(
    tmp_path: Path, target: str, finds: bool
) -> None:
    def answer(_: str, path: str, __: object) -> Answer:
        word, head = path.rpartition("=")[2] if "=" in path else "", {"Content-Type": "text/html"}
        if path == f"/find?q={word}":
            return 302, {"Location": target.format(word)}, ""
        found = f"<a href=/d/{word}>{word}</a>" if finds and word else ""
        return (200 if path != "/robots.txt" else 404), head, f"{FORM}Nothing but this is said here. {found}"

    words = [f"w{number}" for number in range(12)]
    with Site(answer) as served:
        asked = crawled(served, tmp_path / "c", {"forms": {"words": words}})
    times = [
        sum(path.startswith(begun) for path in asked) for begun in ("/find?q=", target.partition("{")[0])
    ]
    assert times == ([12, 12] if finds else [8, 8])
    report = json.loads((tmp_path / "c/report.json").read_text())
    assert report["speculative"] == {"form": [12, 0] if finds else [0, 8]}


@pytest.mark.slow
def test_of_500_documents_all_are_found_that_a_hundred_words_stand_in(tmp_path: Path) -> None:
    texts, asking = documents(500), words(100)
    with Site(answering("finds", texts)) as served:
        asked = crawled(served, tmp_path / "c", {"forms": {"words": list(asking)}})
    reachable = {path for path, text in texts.items() if not set(asking).isdisjoint(text.split())}
    assert texts.keys() & set(asked) == reachable and len(reachable) > 400
    assert len(asked) == len(set(asked))
