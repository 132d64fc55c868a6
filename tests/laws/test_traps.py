"""Laws of trapped crawls: a trap is left, nothing is lost by that, and what was learned survives."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_site import small_site

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge, read_toml, to_toml
from gossamer.crawling.run import reopen, run, start
from gossamer.inspect.hosts import SET_ASIDE
from gossamer.inspect.inspection import inspect
from gossamer.inspect.status import status_of
from gossamer.inspect.traps import branch_lines, parameter_lines, release_branch
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.reason import Reason
from gossamer.state.environment import Family
from gossamer.state.records import decode_queue
from gossamer.state.whole_files import write_whole

pytestmark = pytest.mark.slow

GOOD = 25
PATIENCE = 60


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
    if name == "maze/room":
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
        "engine.guess_sitemap": False,
        "engine.checkpoint_every": 0.0,
        "retry.not_found_first": 0.0,
        "branches.patience": PATIENCE,
        **{name.replace("__", "."): value for name, value in changes.items()},
    }
    return load(CrawlConfig, merge({"seeds": [site]}, settings))


def _crawl(site: str, path: Path, **changes: object) -> Reason:
    folder = CrawlFolder(path)
    config = start(folder, _config(site, **changes))
    return asyncio.run(run(folder, config, Extensions(), resumed=False))


def _resume(path: Path, **changes: object) -> Reason:
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
        entries = [decode_queue(data).url for _, data in inspection.environment.scan(Family.QUEUE)]
        assert inspection.counters.aside == inspection.counters.queued == len(entries)
        assert inspection.counters.waiting == 0
    return set(entries)


def _known(path: Path) -> int:
    with inspect(path) as inspection:
        return sum(1 for _ in inspection.environment.scan(Family.SEEN))


def test_a_trap_is_left_and_goes_on_when_released(site: str, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    assert _crawl(site, path).code == EndCode.FINISHED
    fetched, aside = _fetched(path), _set_aside(path)
    good = {f"{site}docs/page-{n}.html" for n in range(GOOD)}
    assert good <= set(fetched)
    assert len(fetched) < 1 + GOOD + PATIENCE + 200
    assert aside and not aside & set(fetched)
    assert _known(path) == len(set(fetched) | aside), "nothing is lost"

    with inspect(path) as inspection:
        first = branch_lines(inspection)[0]
        host = status_of(inspection).hosts[0]
    assert (host.state, host.seconds, host.why) == ("waiting", 0.0, SET_ASIDE), "not for 300,000 years"
    assert (first.state, first.branch[:6]) == ("aside", "/maze/") and first.dry >= 80

    assert _resume(path).code == EndCode.FINISHED
    assert _set_aside(path) == aside, "a resume alone lets nothing out"

    assert release_branch(path, "all") == ["127.0.0.1"]
    assert _resume(path, budget__max_pages=len(fetched) + 50).code == EndCode.MAX_PAGES
    again = _fetched(path)
    assert len(again) == len(set(again)) == len(fetched) + 50, "each once"
    with inspect(path) as inspection:
        assert inspection.counters.aside == 0


def test_what_was_set_aside_goes_on_when_the_setting_is_changed(site: str, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    _crawl(site, path)
    pages = len(_fetched(path))
    changes = {"branches__set_aside": False, "budget__max_pages": pages + 20}
    assert _resume(path, **changes).code == EndCode.MAX_PAGES
    assert len(_fetched(path)) == pages + 20


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
        assert _crawl(site, path).code == EndCode.FINISHED
        fetched = _fetched(path)
        assert {f"{site}std/fn.{name}.html" for name in _names()} <= set(fetched)
    assert _set_aside(path) == set()


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
        ended = _crawl(site, path, parameters__test=True, parameters__apply=apply)
        assert ended.code == EndCode.FINISHED
    with inspect(path) as inspection:
        verdicts = {line.name: line.verdict for line in parameter_lines(inspection)}
    assert verdicts == {"ref": "irrelevant", "id": "required", "sort": "relevant"}
    asked = [url for url in _fetched(path) if "/thing?" in url and "ref=" not in url]
    assert 5 <= len(asked) <= 10, "a few samples, not the whole site again"


def test_no_page_is_asked_for_that_nobody_links_to_unless_switched_on(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    with small_site(_shop) as site:
        assert _crawl(site, path).code == EndCode.FINISHED
        assert not [url for url in _fetched(path) if "/thing?" in url and "ref=" not in url]
    with inspect(path) as inspection:
        assert {line.name: line.verdict for line in parameter_lines(inspection)} == {"sort": "relevant"}


def test_what_was_learned_survives_a_restart(site: str, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    _crawl(site, path, budget__max_pages=100)
    with inspect(path) as inspection:
        before = branch_lines(inspection)
    assert sum(line.visits for line in before)
    _resume(path, budget__max_pages=1_000)
    with inspect(path) as inspection:
        after = {line.branch: line for line in branch_lines(inspection)}
    assert all(after[line.branch].visits >= line.visits for line in before if line.branch in after)
    assert after["/"].visits > max(line.visits for line in before)


def test_without_sharing_everything_is_fetched_in_the_crawls_order(site: str, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    _crawl(site, path, branches__share=False, budget__max_pages=600)
    assert len(_fetched(path)) == 600
    with inspect(path) as inspection:
        assert not list(inspection.environment.scan(Family.BRANCHES))
