"""`gossamer diff` says what has changed on a page, and between two crawls."""

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from cli_run import Gossamer
from crawled_often import crawled_often
from small_site import Answer, Site

from gossamer.inspect.compare.crawls import LEARNED_FROM

PROSE = "".join(f"<p>Some words about {name}, which stay as they are.</p>" for name in "abcdef")
NEWS = ["Bees are back", "Rain at last", "Bridge opens", "Mayor resigns", "Trains are late"]


def _site(page: Callable[[str, int], str | None]) -> Site:
    """`page` tells the markup at a path for the n-th time, from 1."""

    def answer(host: str, path: str, asked: Counter[tuple[str, str]]) -> Answer:
        found = page(path, asked[host, path])
        fields = {"Content-Type": "text/html; charset=utf-8"}
        return (404, fields, "not here") if found is None else (200, fields, found)

    return Site(answer)


def _news(path: str, visit: int) -> str | None:
    """A page with a clock at each visit, and an item more at the fifth."""
    if path != "/":
        return None
    items = "".join(f"<li>{one}</li>" for one in NEWS[5 - visit // 5 - 3 : 4])
    return f"<title>News</title>{PROSE}<ul>{items}</ul><p>Rendered at 12:0{visit}:{visit * 11}</p><p>Bye</p>"


@pytest.fixture(scope="module")
def crawled_news(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Its address, and a crawl that visited it five times; four seconds."""
    folder = tmp_path_factory.mktemp("news") / "d"
    with _site(_news) as site:
        asyncio.run(crawled_often(site.address, folder, 5))
        return site.address, folder


@pytest.fixture
def news(crawled_news: tuple[str, Path], tmp_path: Path) -> str:
    """The address of the news, of which `d` is a crawl."""
    url, folder = crawled_news
    shutil.copytree(folder, tmp_path / "d")
    return url


def test_a_change_is_told_and_the_clock_is_not(gossamer: Gossamer, news: str) -> None:
    url = news
    ran = gossamer("diff", "d", url)
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if line.startswith(("+ ", "- "))] == ["+ Rain at last"]
    assert "  Bridge opens" in ran.out
    assert "Rendered" not in ran.out
    assert "changed: 0 words less, 3 more" in ran.err
    assert "left out" in ran.err
    everything = gossamer("diff", "d", url, "--all")
    assert "+ Rendered at 12:05:55" in everything.out
    told = json.loads(gossamer("diff", "d", url, "--json").out)
    assert (told["changed"], told["added"], told["removed"], told["ignored"]) == (True, 3, 0, True)
    assert [row["kind"] for row in told["passages"][0]["rows"]].count("added") == 1
    html = gossamer("diff", "d", url, "--html").out
    assert html.startswith("<!doctype html>")
    assert html.count("Rain at last") == 1
    assert "<script" not in html


def test_the_times_choose_which_captures(gossamer: Gossamer, news: str) -> None:
    url = news
    times = [one["time"] for one in json.loads(gossamer("get", "d", url, "--captures", "--json").out)]
    assert len(times) == 5
    ran = gossamer("diff", "d", url, "--from", times[0], "--to", times[3])
    assert ran.out == ""
    assert f"{times[0]} and {times[3]}: it says the same; what differs at each visit is left out" in ran.err
    turned = gossamer("diff", "d", url, "--from", times[4], "--to", times[0])
    assert turned.out.splitlines()[0].endswith(times[0])
    same = gossamer("diff", "d", url, "--from", times[0], "--to", times[0])
    assert same.code == 2
    assert "both times lead to the capture" in same.err
    assert gossamer("diff", "d", url, "--from", "never").code == 2


def test_what_is_to_be_ignored_is_named_by_a_selector(gossamer: Gossamer, tmp_path: Path) -> None:
    def page(path: str, visit: int) -> str | None:
        related = f"<div class=related><p>See {'Bees' if visit == 1 else 'Rain'}</p></div>"
        return f"<p>Price {visit}</p>{PROSE}{related}" if path == "/" else None

    with _site(page) as site:
        url = site.address
        for name, visits in (("d", 2), ("one", 1), ("two", 1)):
            asyncio.run(crawled_often(url, tmp_path / name, visits))

    def signs(*options: str) -> set[str]:
        return {
            line
            for line in gossamer("diff", "d", url, *options).out.splitlines()
            if line.startswith(("+ ", "- "))
        }

    prices = {"- Price 1", "+ Price 2"}
    assert signs() == prices | {"- See Bees", "+ See Rain"}
    assert signs("--ignore", ".related") == prices
    assert signs("--ignore", ".related", "--ignore", "p:first-child") == set()
    said = gossamer("diff", "d", url, "--ignore", ".related", "--ignore", "p:first-child").err
    assert "it says the same; what --ignore names is left out" in said
    assert "1 changed" in gossamer("diff", "one", "two").err
    assert (
        "0 changed" in gossamer("diff", "one", "two", "--ignore", ".related", "--ignore", "p:first-child").err
    )
    refused = gossamer("diff", "d", url, "--ignore", "//p")
    assert refused.code == 2 and "by CSS alone" in refused.err


def test_a_list_where_there_is_nothing_to_compare(gossamer: Gossamer, tmp_path: Path) -> None:
    with _site(lambda path, _: "<p>a\x1b[31m" if path == "/" else None) as site:
        url = site.address
        asyncio.run(crawled_often(url, tmp_path / "d", 1))
    ran = gossamer("diff", "d", url)
    assert ran.code == 1
    assert ran.out.rstrip().endswith(url)
    assert "nothing to compare it with" in ran.err
    assert gossamer("diff", "d", url + "never").code == 1
    assert gossamer("diff", "nowhere", url).code == 2


def test_what_came_from_the_network_steers_nothing(gossamer: Gossamer, tmp_path: Path) -> None:
    with _site(lambda path, visit: f"<p>\x1b[31m&lt;script&gt;{visit}" if path == "/" else None) as site:
        url = site.address
        asyncio.run(crawled_often(url, tmp_path / "d", 2))
    assert "\x1b" not in gossamer("diff", "d", url).out
    html = gossamer("diff", "d", url, "--html").out
    assert "<script" not in html
    assert "\x1b" not in html


def test_two_crawls_are_compared(gossamer: Gossamer, tmp_path: Path) -> None:
    turn = 1
    names = ["same", "clock", "edited", "gone", "old-place", "new-place", "fresh"]
    there = {1: set(names) - {"new-place", "fresh"}, 2: set(names) - {"gone", "old-place"}}
    words = {"edited": {1: "It costs $5.00.", 2: "It costs $6.00."}}

    def page(path: str, _: int) -> str | None:
        name = path[1:]
        if not name:
            return "".join(f"<a href=/{one}>{one}</a> " for one in names)
        if name not in there[turn]:
            return None
        about = "place" if name.endswith("place") else name
        other = "" if about == "same" else f"<p>Request {crc32(f'{name}{turn}'.encode()):010d}</p>"
        own = words.get(name, {}).get(turn, "")
        return f"<h1>About {about}</h1>{PROSE.replace('words', about)}<p>{own}</p>{other}"

    with _site(page) as site:
        url = site.address
        asyncio.run(crawled_often(url, tmp_path / "one", 1))
        turn = 2
        asyncio.run(crawled_often(url, tmp_path / "two", 1))
    ran = gossamer("diff", "one", "two", "--json")
    assert ran.code == 0
    *found, counts = map(json.loads, ran.out.splitlines())
    told = {
        (one["kind"], one["url"].removeprefix(url), one.get("was", "").removeprefix(url)) for one in found
    }
    assert told == {
        ("changed", "edited", ""),
        ("gone", "gone", ""),
        ("new", "fresh", ""),
        ("moved", "new-place", "old-place"),
    }
    assert counts == {
        "kind": "counts",
        "same": 3,
        "ignored": 1,
        "changed": 1,
        "moved": 1,
        "new": 1,
        "gone": 1,
    }
    lines = gossamer("diff", "one", "two")
    assert f"from {url}old-place to {url}new-place" in " ".join(lines.out.split())
    assert "1 changed, 1 moved, 1 new, 1 gone" in lines.err
    everything = gossamer("diff", "one", "two", "--all")
    assert "2 changed" in everything.err
    assert gossamer("diff", "one", "two", "--html", "--from", "2026").code == 2
    text = gossamer("diff", "one", "two", "--text", "--context", "0").out
    assert [line for line in text.splitlines() if line[0] in "+-@"][1:] == [
        "- It costs $5.00.",
        "+ It costs $6.00.",
    ]
    *found, _ = map(json.loads, gossamer("diff", "one", "two", "--text", "--json").out.splitlines())
    changed = next(one for one in found if one["kind"] == "changed")
    assert [row["kind"] for row in changed["passages"][0]["rows"]].count("changed") == 1
    html = gossamer("diff", "one", "two", "--html").out
    assert html.startswith("<!doctype html>") and html.rstrip().endswith("</html>")
    assert "<del>" in html and "1 changed, 1 moved, 1 new, 1 gone" in html
    assert gossamer("diff", "one", url, "--text").code == 2


def test_one_damaged_record_is_one_note(gossamer: Gossamer, tmp_path: Path) -> None:
    turn = 1
    names = ["first", "second", "third"]

    def page(path: str, _: int) -> str | None:
        return (
            "".join(f"<a href={one}>{one}</a>" for one in names)
            if path == "/"
            else f"<p>Turn {turn}.</p>{PROSE}"
        )

    with _site(page) as site:
        asyncio.run(crawled_often(site.address, tmp_path / "one", 1))
        turn = 2
        asyncio.run(crawled_often(site.address, tmp_path / "two", 1))
    [archive] = (tmp_path / "two" / "archive").glob("*.warc.gz")
    lines = (tmp_path / "two" / "index.cdxj").read_text().splitlines()
    place = next(json.loads(line.split(" ", 2)[2]) for line in lines if ")/second " in line)
    data = bytearray(archive.read_bytes())
    data[int(place["offset"]) + 40] ^= 0x55
    archive.write_bytes(data)
    ran = gossamer("diff", "one", "two", "--all", "--json")
    assert ran.code == 0, ran.err
    found = {one["url"]: one.get("note", "") for one in map(json.loads, ran.out.splitlines()) if "url" in one}
    notes = {url.rpartition("/")[2]: note for url, note in found.items()}
    assert "no record can be read" in notes.pop("second")
    assert (notes["first"], notes["third"]) == ("", "")


def test_a_page_under_many_addresses_does_not_stand_for_the_site(gossamer: Gossamer) -> None:
    turn = 1

    def page(path: str, _: int) -> str | None:
        name = path[1:]
        if not name or name.startswith("?"):
            copies = "".join(f"<a href='/?{number:02d}'>again</a> " for number in range(LEARNED_FROM))
            return f"<p>Turn {turn * 'on and '}</p>{PROSE}{copies}<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>"
        return f"{PROSE.replace('words', name)}<p>Request {crc32(f'{name}{turn}'.encode()):010d}</p>"

    with _site(page) as site:
        gossamer("crawl", site.address, "--min-delay", "0", "--dir", "one", "-q")
        turn = 2
        gossamer("crawl", site.address, "--min-delay", "0", "--dir", "two", "-q")
    *found, _ = map(json.loads, gossamer("diff", "one", "two", "--json").out.splitlines())
    told = [one["url"].removeprefix(site.address) for one in found]
    assert len(told) == LEARNED_FROM + 1
    assert {one[:1] for one in told} <= {"", "?"}


def test_a_misspelt_folder_is_not_taken_for_an_address_alone(gossamer: Gossamer, news: str) -> None:
    assert news
    ran = gossamer("diff", "d", "jnue")
    assert ran.code == 1
    assert "http://jnue/: not known to this crawl, and no crawl lives in a folder 'jnue'" in ran.err
    assert "folder" not in gossamer("diff", "d", f"{news}nowhere").err
