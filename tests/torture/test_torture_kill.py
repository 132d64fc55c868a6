"""`kill -9` in every named state, and at random moments: nothing lost, nothing twice, nobody disturbed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from torture_lives import (
    Life,
    Manners,
    assert_complete,
    assert_sound,
    dice,
    fetched_in_vain,
    rude_visits,
    small_world,
)

from gossamer.simweb import SimulatedWeb, WorldSpec

MANNERS = Manners(min_delay=0.03, retry_after={503: 1.0, 429: 1.0})

BEFORE_COMMIT = (
    "settlement.appended:9",
    "settlement.applying:12",
    "settlement.logged:10",
    "archive.append:25",
    "archive.append.piece:30",
)
"""Something was appended to a file that the state knows, so bytes must be cut and pages fetched again."""

NEW_FILE = ("archive.create:2", "archive.create.after_warcinfo:3")
"""A file was made that the state does not know, so it must be removed."""

AFTER_COMMIT = (
    "settlement.committed:14",
    "archive.rotate.before_sync:1",
    "archive.rotate.before_rename:2",
    "archive.rotate.after_rename:1",
    "checkpoint.synced:1",
    "checkpoint.copied:1",
    "checkpoint.named:2",
)
"""What was appended is committed, so nothing may be cut."""

AT_THE_END = ("end.archive_closed", "end.committed", "end.indexed", "end.told")
AT_THE_START = ("start.created", "start.configured", "start.opened", "start.seeded")
IN_RECOVERY = ("start.opened", "archive.recover", "archive.recover.after_removal", "start.seeded")


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with SimulatedWeb(small_world()) as web:
        yield Life(web, tmp_path / "crawl")


def finish(life: Life) -> list[str]:
    """Resume to the end; what was cut away on the way."""
    ended = life.resume()
    assert ended.status == 0, ended.stderr
    assert_complete(life)
    assert not rude_visits(life, MANNERS)
    return ended.cuts


def kill_with_something_appended(life: Life, point: str) -> None:
    """A group of nothing but visits without an answer appends nothing; which visits make a group is timing.

    What a killed process left can be looked at before anything is mended.
    """
    assert life.crawl(point).killed
    name = point.partition(":")[0]
    while "removes it" not in (checked := life.run("check", str(life.folder))).stdout:
        assert checked.status == 0, checked.stdout
        assert life.resume(die_at=f"{name}:2").killed


@pytest.mark.slow
@pytest.mark.parametrize("point", BEFORE_COMMIT)
def test_killed_before_a_commit_what_was_appended_is_cut_and_fetched_again(life: Life, point: str) -> None:
    kill_with_something_appended(life, point)
    assert finish(life)
    assert fetched_in_vain(life)


@pytest.mark.slow
@pytest.mark.parametrize("point", NEW_FILE)
def test_killed_while_it_begins_a_file_the_file_is_removed(life: Life, point: str) -> None:
    assert life.crawl(point).killed
    cuts = finish(life)
    assert any("removed" in cut for cut in cuts)


@pytest.mark.slow
@pytest.mark.parametrize("point", AFTER_COMMIT)
def test_killed_after_a_commit_nothing_is_cut(life: Life, point: str) -> None:
    assert life.crawl(point).killed
    assert not finish(life)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["settlement.applying:12", "settlement.committed:14", "end.committed"])
@pytest.mark.parametrize(
    "settings",
    [{"frontier.visited": "bloom", "frontier.bloom_error": 1e-9}, {"state.seen_filter": 20_000}],
    ids=["as the table", "before the table"],
)
def test_killed_with_a_bloom_filter(tmp_path: Path, settings: dict[str, object], point: str) -> None:
    with SimulatedWeb(small_world()) as web:
        life = Life(web, tmp_path / "crawl", settings)
        assert life.crawl(point).killed
        finish(life)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["settlement.applying:12", "settlement.committed:14"])
@pytest.mark.parametrize("order", ["dfs", "best", "opic"])
def test_killed_under_every_order(tmp_path: Path, order: str, point: str) -> None:
    with SimulatedWeb(small_world()) as web:
        life = Life(web, tmp_path / "crawl", {"engine.order": order})
        assert life.crawl(point).killed
        finish(life)


@pytest.mark.slow
def test_killed_between_the_links_of_one_page(tmp_path: Path) -> None:
    with SimulatedWeb(WorldSpec.hostile("dense-links")) as web:
        life = Life(web, tmp_path / "crawl")
        assert life.crawl("settlement.ahead:3").killed
        assert life.resume().status == 0
        assert_complete(life)


@pytest.mark.slow
@pytest.mark.parametrize("point", AT_THE_END)
def test_killed_at_the_end_nothing_is_fetched_again(life: Life, point: str) -> None:
    assert life.crawl(point).killed
    assert not finish(life)
    assert not fetched_in_vain(life)


@pytest.mark.slow
@pytest.mark.parametrize("point", AT_THE_START)
def test_killed_at_start_up_it_can_be_taken_up_or_begun_again(life: Life, point: str) -> None:
    assert life.crawl(point).killed
    if point == "start.created":
        assert life.resume().status == 2
        assert life.crawl().status == 0
        assert_complete(life)
    else:
        if point == "start.configured":
            assert "gossamer resume" in life.run("status", str(life.folder)).stderr
        refused = life.crawl()
        assert refused.status == 2 and "gossamer resume" in refused.stderr
        assert not finish(life)


@pytest.mark.slow
@pytest.mark.parametrize("point", IN_RECOVERY)
def test_killed_again_while_it_recovers(life: Life, point: str) -> None:
    kill_with_something_appended(life, "settlement.appended:12")
    first = life.resume(die_at=point)
    assert first.killed
    cuts = finish(life)
    if point != "archive.recover":  # which comes once for every file, of which one is to be cut
        assert bool(cuts) == (point == "start.opened"), (cuts, first.stderr)
    assert fetched_in_vain(life)


@pytest.mark.slow
def test_killed_in_every_session_it_still_gets_there(life: Life) -> None:
    assert life.crawl("settlement.applying:9").killed
    cuts: list[str] = []
    for point in ("settlement.appended:8", "archive.append:18", "archive.rotate.after_rename:1",
                  "settlement.logged:9", "checkpoint.copied:1"):  # fmt: skip
        ended = life.resume(die_at=point)
        assert ended.killed, point
        cuts += ended.cuts
    finish(life)
    assert len(cuts) >= 3
    assert len(fetched_in_vain(life)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_killed_at_four_random_moments(tmp_path: Path, number: int) -> None:
    chance = dice(f"moments {number}")
    with SimulatedWeb(small_world(seed=number + 10)) as web:
        life = Life(web, tmp_path / "crawl", {"politeness.min_delay": "80ms"})
        killed = 0
        process = life.begin_crawl()
        for _ in range(4):
            ended = life.kill_after(process, chance.uniform(0.2, 1.1))
            killed += ended.killed
            process = life.begin_resume() if life.begun else life.begin_crawl()
        assert life.end(process).status == 0
        assert killed == 4
        assert_complete(life)
        assert not rude_visits(life, Manners(min_delay=0.08, retry_after=MANNERS.retry_after))


@pytest.mark.slow
def test_killed_once_and_resumed(life: Life) -> None:
    """The short form of this file, for every run of the tests."""
    # Amid a record, whatever came before: at another point nothing may have been appended yet.
    assert life.crawl("archive.append:25").killed
    assert finish(life)
    assert fetched_in_vain(life)
    assert_sound(life)
