"""What was done while a crawl ran can be taken back, once, by whoever asks."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_world import PACED, Running, running_with
from small_site import small_site

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.config.shape import leaf_paths
from gossamer.config.storage_config import StorageConfig
from gossamer.control.changes.change_log import Change, ChangeLog, read_changes
from gossamer.control.changes.changeable import Group, changeable_paths, plan_changes
from gossamer.control.socket.protocol import LiveError


@pytest.fixture
def site() -> Iterator[str]:
    def page(path: str) -> str | None:
        return "".join(f'<a href="/{n}">x</a>' for n in range(300)) if path == "" else "<p>x"

    with small_site(page) as address:
        yield address


def test_pause_and_park_are_taken_back_and_what_is_granted_is_not(tmp_path: Path, site: str) -> None:
    settings = PACED | {"seeds": [site], "scope.mode": "host", "seeds_watch": "none"}

    async def check(live: Running) -> None:
        await live.until(lambda status: status["sums"]["pages"] >= 2)
        await live.ask("pause")
        assert [one["undoes"] for one in await live.ask("undo", "bob", id=1)] == [1]
        assert (await live.ask("status"))["state"] == "running"
        with pytest.raises(LiveError, match="taken back by change 2"):
            await live.ask("undo", id=1)
        with pytest.raises(LiveError, match="cannot be taken back"):
            await live.ask("undo", id=2)
        await live.ask("host_park", name="127.0.0.1")
        await live.ask("undo", id=3)
        assert (await live.ask("host", name="127.0.0.1"))["state"] != "parked"
        await live.ask("limits", connections=1)
        with pytest.raises(LiveError, match="cannot be taken back"):
            await live.ask("undo", id=5)
        assert (await live.ask("status"))["workers"]["wanted"] == 1
        with pytest.raises(LiveError) as caught:
            await live.ask("undo", id=99)
        assert caught.value.code == "not_found"
        items = (await live.ask("changes"))["items"]
        assert [(one["id"], one["who"], one["undone"]) for one in items][-2:] == [
            (2, "bob", 0),
            (1, "tester", 2),
        ]

    async def run() -> None:
        async with running_with(tmp_path / "crawl", settings) as live:
            await check(live)

    asyncio.run(run())


def test_half_a_line_in_the_log_is_left_out_and_the_next_is_whole(tmp_path: Path) -> None:
    log = ChangeLog(tmp_path)
    log.append([Change(id=1, when=1.0, who="a", path="x")])
    with (tmp_path / "changes.jsonl").open("ab") as file:
        file.write(b'{"id": 2, "wh')
    again = ChangeLog(tmp_path)
    assert list(again.next_ids(2)) == [2, 3]
    again.append([Change(id=2, when=2.0, who="b", path="y", undoes=1)])
    assert [(change.id, change.undone) for change in read_changes(tmp_path)] == [(1, 2), (2, 0)]


def test_every_setting_that_can_change_is_one() -> None:
    known = set(leaf_paths(CrawlConfig))
    for path in changeable_paths():
        assert path in known or path.startswith("place.NAME.")


@pytest.mark.parametrize(
    ("path", "value", "stored"),
    [
        ("politeness.min_delay", "2min", 120.0),
        ("fetch.max_speed", "1MB", 1_000_000),
        ("host.www.example.org.min_delay", 3, 3.0),
        ('host."www.example.org".max_pages', 7, 7),
        ("place.www.example.org/a.b.politeness.factor", 2, 2.0),
        ('place."type:image/*".fetch.max_body', "1KiB", 1024),
        ("scope.max_depth", 4, 4),
        ("scope.max_depth", None, None),
        ("scope.block", ["a.example", "*.b.example"], ["a.example", "*.b.example"]),
    ],
)
def test_values_are_understood_as_in_the_file(path: str, value: Any, stored: Any) -> None:
    config = load(CrawlConfig, {"seeds": ["http://a.example/"]})
    plan = plan_changes(config, {path: value})
    if value is None:
        assert not plan.items
    else:
        assert [item.new for item in plan.items] == [stored]
        back = plan_changes(plan.config, {plan.items[0].path: plan.items[0].old})
        assert back.config.scope == config.scope
        assert back.config.fetch == config.fetch


def test_changes_are_checked_together() -> None:
    config = load(CrawlConfig, {"seeds": ["http://a.example/"]})
    plan = plan_changes(config, {"politeness.min_delay": 40, "politeness.max_delay": 50, "scope.mode": "any"})
    assert plan.groups == {Group.POLITENESS, Group.SCOPE}
    with pytest.raises(LiveError) as caught:
        plan_changes(config, {"engine.workers": 5_000})
    assert "frontier.max_hosts" in caught.value.message
    with pytest.raises(LiveError) as caught:
        plan_changes(config, {"scope.exclude": ["("], "scope.block": ["a/b"], "host.a.password": "x", "": 1})
    assert len(caught.value.details) >= 3


@pytest.mark.parametrize(
    ("given", "change", "changes"),
    [
        ({}, {"address_delay": 1}, False),  # there is no table of rests
        ({}, {"server": "mine"}, False),
        ({"address_delay": 1}, {"address_delay": 2}, True),
        ({"address_delay": 1}, {"address_delay": 0}, False),  # it could not be taken back
        ({"address_delay": 1}, {"server_by": ["address"]}, True),
        ({"address_delay": 1}, {"server_by": ["cname"]}, False),  # the names' chains were not kept
        ({"server_by": ["address", "cname"]}, {"server_by": ["cname"], "address_delay": 2}, True),
        ({"server_by": ["address", "cname"]}, {"server_by": ["address"]}, False),
        ({"server_by": ["certificate"]}, {"server_by": ["cname", "certificate"]}, False),
    ],
)
def test_what_shows_that_hosts_are_on_one_server_stays_while_a_crawl_runs(given, change, changes) -> None:
    config = load(CrawlConfig, {"seeds": ["http://a.example/"], "politeness": given})
    wanted = {f"politeness.{name}": value for name, value in change.items()}
    if changes:
        assert plan_changes(config, wanted).groups == {Group.POLITENESS}
        elsewhere = {f"place.b.example.{path}": value for path, value in wanted.items()}
        assert plan_changes(config, elsewhere).groups == {Group.POLITENESS}
        return
    with pytest.raises(LiveError, match="gossamer resume") as caught:
        plan_changes(config, wanted)
    assert len(caught.value.details) == len(wanted)


def test_who_would_move_a_part_is_not_sent_to_resume_which_moves_none() -> None:
    config = load(CrawlConfig, {"seeds": ["http://a.example/"]})
    for name in StorageConfig.__struct_fields__:
        with pytest.raises(LiveError, match="by hand"):
            plan_changes(config, {f"storage.{name}": "/elsewhere"})
