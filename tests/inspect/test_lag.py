"""How far what follows an archive is behind it, by the crawl's log."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from gossamer.archive.committed import archive_key
from gossamer.archive.follower import KEPT, Mark
from gossamer.archive.placement import ArchiveFile
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.inspect import lag
from gossamer.state.environment import Environment, Family
from gossamer.state.records import encode

FILES = ("a.warc.gz", "b.warc.gz")
RECORD = 10
"""Bytes."""
VISITS = 60
Behind = Callable[[Mark | None], lag.Lag]


def line(number: int) -> dict[str, object]:
    """A visit: each fifth failed, each seventh was of a robots file, all else are pages; half of them in each file."""
    said: dict[str, object] = {"at": 1_000.0 + number, "url": f"http://a.example/{number}"}
    if number % 5 == 4:
        return {**said, "kind": "navigation", "fault": "timeout"}
    file, place = divmod(number, VISITS // 2)
    kind = "robots" if number % 7 == 6 else "navigation"
    return {**said, "kind": kind, "status": 200, "file": FILES[file], "offset": place * RECORD}


LINES = [line(number) for number in range(VISITS)]
PAGES = [number for number, said in enumerate(LINES) if "file" in said and said["kind"] != "robots"]


@pytest.fixture
def behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Behind:
    """How far somebody with this mark is behind a crawl, of whose log little is read at a time."""
    monkeypatch.setattr(lag, "_READ_ON", 300)
    folder = CrawlFolder(tmp_path)
    folder.log.write_bytes(b"".join(msgspec.json.encode(said) + b"\n" for said in LINES))
    environment = Environment.open(folder.state, CrawlConfig().state)
    batch = environment.batch()
    for serial, name in enumerate(FILES):
        file = ArchiveFile(name, VISITS // 2 * RECORD, "closed", serial, f"urn:uuid:{serial}")
        batch.put(Family.META, archive_key(name), encode(file))
    environment.commit(batch)

    def looked(mark: Mark | None) -> lag.Lag:
        kept = tmp_path / lag.FOLLOWERS["words"]
        if not kept.exists():
            assert not lag.lags([(folder, environment)]), "nobody follows"
            kept.mkdir()
        if mark is not None:
            (kept / KEPT).write_bytes(msgspec.json.encode({"version": 1, "mark": mark}) + b"\nand its hash")
        found = lag.lags([(folder, environment)])
        assert [one.what for one in found] == ["words"]
        return found[0]

    return looked


def wanted(since: tuple[int, int]) -> Sequence[int]:
    return [number for number in PAGES if divmod(number, VISITS // 2) >= (since[0], since[1] / RECORD)]


@pytest.mark.parametrize(
    "since", [(0, 0), (0, 1), (0, 10), (0, 155), (0, 300), (1, 0), (1, 11), (1, 290), (1, 300)]
)
def test_pages_from_the_mark_on_are_counted_and_the_first_tells_since_when(
    behind: Behind, since: tuple[int, int]
) -> None:
    found, pages = behind(Mark(*since)), wanted(since)
    assert found.pages == len(pages)
    age = time.time() - (1_000.0 + pages[0]) if pages else 0.0
    assert found.seconds == pytest.approx(age, abs=60)


def test_who_has_committed_nothing_is_behind_by_all(behind: Behind) -> None:
    assert behind(None).pages == len(PAGES)


def test_of_very_many_the_number_is_estimated(behind: Behind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag, "_COUNTED", 20)
    assert behind(Mark()).pages == pytest.approx(len(PAGES), rel=0.2)


def test_a_log_that_is_gone_tells_of_nothing(behind: Behind, tmp_path: Path) -> None:
    (tmp_path / "crawl.log").unlink()
    assert behind(Mark()) == lag.Lag("words")
