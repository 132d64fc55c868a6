"""A crawl that is copied to a store while it goes on: whoever is killed when, in the end the store has it all."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from torture_lives import Life, assert_complete, small_world

from gossamer.simweb import SimulatedWeb

UPLOADERS = ("upload.sending:1", "upload.sent:2", "upload.noted:3")
CRAWLS = (
    "archive.rotate.before_rename:2",
    "archive.rotate.after_rename:2",
    "checkpoint.named:2",
    "end.committed",
    "end.told",
)


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with SimulatedWeb(small_world()) as web:
        yield Life(web, tmp_path / "crawl", {"storage.upload": f"file://{tmp_path}/store/crawl"})


def whole(path: Path) -> dict[str, bytes]:
    """What is below a folder, by name."""
    return {str(one.relative_to(path)): one.read_bytes() for one in path.rglob("*") if one.is_file()}


def assert_nothing_half(life: Life) -> None:
    """What is in the store under its last name is a whole file of the archive."""
    for path in (life.folder.parent / "store" / "crawl" / "archive").glob("*.warc.gz"):
        assert path.read_bytes() == (life.folder / "archive" / path.name).read_bytes()


def assert_all_there(life: Life) -> None:
    """The store has the archive and the rest, and what was taken from it is the crawl."""
    store = life.folder.parent / "store" / "crawl"
    stored, here = whole(store), whole(life.folder)
    for name in ("crawl.toml", "crawl.log", "index.cdxj", "report.json"):
        assert stored[name] == here[name]
    archive = {name: content for name, content in here.items() if name.startswith("archive/")}
    assert {name: content for name, content in stored.items() if name.startswith("archive/")} == archive
    assert not [name for name in stored if "unfinished" in name]
    assert {one["path"] for one in json.loads(stored["datapackage.json"])["resources"]} == set(stored) - {
        "datapackage.json"
    }
    (store / "seeds.txt").unlink(missing_ok=True)
    checked = subprocess.run(
        [sys.executable, "-m", "gossamer", "check", str(store)], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize("point", UPLOADERS)
def test_the_crawl_does_not_care_whether_its_uploader_dies(life: Life, point: str) -> None:
    ended = life.crawl(point)
    assert ended.status == 0, ended.stderr
    assert f"not all is in the store: 'gossamer upload {life.folder}' sends the rest" in ended.stderr
    assert_complete(life)
    assert_nothing_half(life)
    assert life.run("upload", str(life.folder)).status == 0
    assert_all_there(life)


@pytest.mark.slow
@pytest.mark.parametrize("point", CRAWLS)
def test_what_was_left_when_the_crawl_was_killed_goes_there_with_the_next(life: Life, point: str) -> None:
    assert life.crawl(point).killed
    assert_nothing_half(life)
    ended = life.resume()
    assert ended.status == 0
    assert "what is left goes to the store; Ctrl-C leaves it to 'gossamer upload'" in ended.stderr
    assert "not all is in the store" not in ended.stderr
    assert_complete(life)
    assert_all_there(life)


@pytest.mark.slow
def test_after_a_return_to_a_checkpoint_the_store_returns_too(life: Life) -> None:
    assert life.crawl("checkpoint.named:2").killed
    assert life.resume("--from-checkpoint").status == 0
    assert_complete(life)
    assert_all_there(life)
