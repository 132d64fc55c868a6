"""Laws of trapped crawls: a trap is left, nothing is lost by that, and what was learned survives."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_site import small_site

from gossamer.app.config import CrawlConfig
from gossamer.app.extensions import Extensions
from gossamer.app.folder import CrawlFolder, write_whole
from gossamer.app.inspection import SET_ASIDE, inspect
from gossamer.app.run import reopen, run, start
from gossamer.app.settings import load, merge, read_toml, to_toml
from gossamer.app.traps import parameter_lines, pattern_lines, release_pattern
from gossamer.app.why import Storyteller
from gossamer.frontier.later import TRAP
from gossamer.state.environment import Family
from gossamer.state.records import decode_queue

GOOD = 25
MAZE = 400
MAZE_PATTERN = "/maze/*#.html"


def _page(path: str) -> str | None:
    name, _, number = path.strip("/").removesuffix(".html").rpartition("-")
    if not path:
        return '<a href="/maze/room-1.html">in</a>' + "".join(
            f'<a href="/docs/page-{n}.html">{n}</a>' for n in range(GOOD)
        )
    if name == "docs/page":
        words = " ".join(
            f"word{chr(97 + int(number))}{chr(97 + n // 26)}{chr(97 + n % 26)}ed" for n in range(90)
        )
        return f"<title>Page {number}</title><p>{words}</p>"
    if name == "maze/room" and int(number) <= MAZE:
        doors = "".join(f'<a href="/maze/room-{int(number) * 2 + n}.html">door</a>' for n in (0, 1))
        return f"<title>A room</title><p>You are in a maze of little rooms, all alike.</p>{doors}"
    return None


@pytest.fixture
def site() -> Iterator[str]:
    with small_site(_page) as address:
        yield address


def _config(site: str, **changes: object) -> CrawlConfig:
    settings = {
        "politeness.min_delay": 0.0,
        "politeness.factor": 0.0,
        "engine.workers": 4,
        "engine.give_up_after": 1.0,
        "engine.checkpoint_every": 0.0,
        "retry.not_found_first": 0.0,
        **{name.replace("__", "."): value for name, value in changes.items()},
    }
    return load(CrawlConfig, merge({"seeds": [site]}, settings))


def _crawl(site: str, path: Path, **changes: object) -> str:
    folder = CrawlFolder(path)
    config = start(folder, _config(site, **changes))
    return asyncio.run(run(folder, config, Extensions(), resumed=False))


def _resume(path: Path, **changes: object) -> str:
    folder = CrawlFolder(path)
    config = reopen(folder)
    if changes:
        settings = {name.replace("__", "."): value for name, value in changes.items()}
        config = load(CrawlConfig, merge(read_toml(folder.config), settings))
        write_whole(folder.config, to_toml(config))
    return asyncio.run(run(folder, config, Extensions(), resumed=True))


def _fetched(path: Path) -> list[str]:
    lines = map(json.loads, CrawlFolder(path).log.read_text().splitlines())
    return [
        line["url"] for line in lines if line["kind"] != "robots" and line["became"] in ("done", "dropped")
    ]


def _set_aside(path: Path) -> set[str]:
    with inspect(path) as inspection:
        entries = [decode_queue(data) for _, data in inspection.environment.scan(Family.LATER)]
        assert inspection.counters.waiting == len(entries)
        assert inspection.counters.queued == 0
    assert all(entry.reason.startswith(TRAP) for entry in entries)
    return {entry.url for entry in entries}


def _known(path: Path) -> int:
    with inspect(path) as inspection:
        return sum(1 for _ in inspection.environment.scan(Family.SEEN))


def test_a_trap_is_left_and_comes_back_when_released(site: str, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    assert _crawl(site, path, trap_learner__learn=True) == "finished"
    fetched, aside = _fetched(path), _set_aside(path)
    good = {f"{site}docs/page-{n}.html" for n in range(GOOD)}
    assert good <= set(fetched)
    assert len(fetched) < 1 + GOOD + 80, "the maze is left long before its end"
    assert aside and not aside & set(fetched)
    assert _known(path) == len(set(fetched) | aside), "nothing is lost"

    with inspect(path) as inspection:
        first = pattern_lines(inspection)[0]
        story = Storyteller(inspection).tell(min(aside))
        host = inspection.status().hosts[0]
    assert (host.state, host.seconds, host.reason) == ("waiting", 0.0, SET_ASIDE), "not for 300,000 years"
    assert (first.state, first.yielded) == ("quarantined", 0)
    assert first.pattern in (MAZE_PATTERN, "/maze/**")
    assert first.barren > 0.95
    assert any("trap: pattern /maze/" in fact.text for fact in story.facts)

    assert _resume(path) == "finished"
    assert _set_aside(path) == aside, "a resume alone lets nothing out"

    for pattern in (MAZE_PATTERN, "/maze/**"):
        assert release_pattern(path, pattern) == ["127.0.0.1"]
    assert _resume(path) == "finished"
    fetched = _fetched(path)
    assert _set_aside(path) == set()
    assert len(fetched) == len(set(fetched)) == _known(path), "each once"
    assert {f"{site}maze/room-{n}.html" for n in range(1, MAZE + 1)} <= set(fetched)


MANUAL = 150


def _manual(path: str) -> str | None:
    """A manual of pages that say the same but for their names, each with a menu of all."""
    menu = "".join(f'<a href="/std/fn.{name}.html">{name}</a>' for name in _names())
    name = path.removeprefix("std/fn.").removesuffix(".html")
    if path and name not in _names():
        return None
    return (
        f"<title>{name}</title><nav>{menu}</nav><p>Function {name}. See the reference for what it does.</p>"
    )


def _names() -> list[str]:
    return [f"v{chr(97 + n % 26)}{chr(97 + n // 26)}_u{n % 7}" for n in range(MANUAL)]


def test_a_manual_of_short_pages_is_fetched_whole(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    with small_site(_manual) as site:
        assert _crawl(site, path, trap_learner__learn=True) == "finished"
        fetched = _fetched(path)
        assert {f"{site}std/fn.{name}.html" for name in _names()} <= set(fetched)
    assert _set_aside(path) == set()
    with inspect(path) as inspection:
        assert not any(line.state == "quarantined" for line in pattern_lines(inspection))


def _shop(path: str) -> str | None:
    """Things with an id, without which there is nothing, and a `ref` that does not matter."""
    page, _, query = path.partition("?")
    given = dict(part.split("=") for part in query.split("&") if "=" in part)
    if not page:
        things = "".join(f'<a href="/thing?id={n}&ref=f{n}">{n}</a>' for n in range(12))
        return things + "".join(f'<a href="/list?sort={n}">{n}</a><a href="/list">x</a>' for n in range(12))
    if page == "thing" and "id" in given:
        number = int(given["id"])
        words = " ".join(f"word{chr(97 + number)}{chr(97 + n // 26)}{chr(97 + n % 26)}ed" for n in range(90))
        return f"<title>Thing {number}</title><p>{words}</p>"
    if page == "list":
        return f"<title>List</title><p>{'abcdefghijklm'[int(given.get('sort', 12))] * 300}</p>"
    return None


@pytest.mark.parametrize("apply", [False, True])
def test_parameters_that_do_not_matter_are_found_by_leaving_them_out(tmp_path: Path, apply: bool) -> None:
    path = tmp_path / "crawl"
    with small_site(_shop) as site:
        assert _crawl(site, path, parameters__test=True, parameters__apply=apply) == "finished"
    with inspect(path) as inspection:
        verdicts = {line.name: line.verdict for line in parameter_lines(inspection)}
    assert verdicts == {"ref": "irrelevant", "id": "required", "sort": "relevant"}
    asked = [url for url in _fetched(path) if "/thing?" in url and "ref=" not in url]
    assert 5 <= len(asked) <= 10, "a few samples, not the whole site again"


def test_no_page_is_asked_for_that_nobody_links_to_unless_switched_on(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    with small_site(_shop) as site:
        assert _crawl(site, path, trap_learner__learn=True) == "finished"
        assert not [url for url in _fetched(path) if "/thing?" in url and "ref=" not in url]
    with inspect(path) as inspection:
        assert {line.name: line.verdict for line in parameter_lines(inspection)} == {"sort": "relevant"}


def test_what_was_learned_survives_a_restart(site: str, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    _crawl(site, path, trap_learner__learn=True, budget__max_pages=70)
    with inspect(path) as inspection:
        before = pattern_lines(inspection)
    assert before[0].state == "quarantined"
    _resume(path, budget__max_pages=1_000)
    with inspect(path) as inspection:
        after = {line.pattern: line for line in pattern_lines(inspection)}
    assert all(after[line.pattern].fetched >= line.fetched for line in before)
    assert len(_fetched(path)) < 1 + GOOD + 80


def test_without_the_learner_everything_is_fetched(site: str, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    _crawl(site, path, trap_learner__learn=False)
    assert len(_fetched(path)) == _known(path)
    with inspect(path) as inspection:
        assert not list(inspection.environment.scan(Family.PATTERNS))
