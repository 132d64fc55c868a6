"""Seeds from a file: never all in memory, kept with the crawl, admitted in many small commits."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.assembly.build import build
from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.seeds import MOST_PROBLEMS, Seeds
from gossamer.assembly.storage import opened
from gossamer.config.config import CrawlConfig
from gossamer.crawling.run import reopen, start
from gossamer.engine.crawl import SEEDED_TOGETHER, Crawl
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url

HOSTS = 3 * SEEDED_TOGETHER + 500


class KilledError(Exception):
    """Stands for the end of the process in the middle of the seeds."""


@pytest.fixture
def config(tmp_path: Path) -> CrawlConfig:
    seeds = tmp_path / "given.txt"
    seeds.write_text("# hosts\n\n" + "".join(f"h{number}.example\n" for number in range(HOSTS)))
    return CrawlConfig(seeds=("first.example",), seeds_file=str(seeds))


def test_the_folder_keeps_a_copy_and_the_configuration_holds_none(
    config: CrawlConfig, tmp_path: Path
) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    begun = start(folder, config)
    folder.release()
    Path(config.seeds_file).unlink()
    again = reopen(folder)
    folder.release()
    assert again == begun
    assert again.seeds == ("first.example",)
    assert "h1.example" not in folder.config.read_text()
    hosts = [url.host for url in Seeds(again, folder.path)]
    assert hosts == ["first.example", *(f"h{number}.example" for number in range(HOSTS))]


def test_seeds_are_read_as_they_are_committed_and_a_kill_in_between_loses_none(
    config: CrawlConfig, tmp_path: Path
) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    config = start(folder, config)
    drawn = 0

    def watched(crawl: Crawl, until: int) -> Iterator[Url]:
        nonlocal drawn
        for drawn, url in enumerate(Seeds(config, folder.path)):
            if drawn == until:
                raise KilledError
            yield url
            assert drawn - crawl.parts.ledger.counters.admitted <= SEEDED_TOGETHER
            assert len(crawl.parts.frontier.seen._uncommitted) < SEEDED_TOGETHER

    async def session(until: int, *, resumed: bool) -> int:
        with opened(folder, config) as storage:
            built = build(storage, config, Extensions(), resumed=resumed)
            async with contextlib.aclosing(built):
                with contextlib.suppress(KilledError):
                    built.crawl.seed(watched(built.crawl, until))
            return built.crawl.parts.ledger.counters.queued

    assert asyncio.run(session(2 * SEEDED_TOGETHER + 10, resumed=False)) == 2 * SEEDED_TOGETHER
    assert asyncio.run(session(-1, resumed=True)) == HOSTS + 1
    assert asyncio.run(session(-1, resumed=True)) == HOSTS + 1
    folder.release()


def test_a_file_may_come_from_any_editor(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(b"\xef\xbb\xbfhttp://a.example/\r\n\r\n  # indented\r\n\tb.example \r\n")
    assert list(Seeds(CrawlConfig(seeds_file=str(file))).texts()) == ["http://a.example/", "b.example"]


def test_what_is_wrong_is_listed_up_to_a_bound(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("good.example\n" + "http://[\n" * (MOST_PROBLEMS + 5))
    with pytest.raises(ConfigError) as raised:
        Seeds(CrawlConfig(seeds_file=str(bad))).prove()
    assert len(raised.value.problems) == MOST_PROBLEMS + 1
    assert raised.value.problems[-1] == "seeds: 5 more cannot be used"


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"# nothing\n"], ids=["missing", "binary", "empty"])
def test_a_file_that_gives_no_seed_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "seeds.txt"
    if content is not None:
        file.write_bytes(content)
    folder = CrawlFolder(tmp_path / "crawl")
    with pytest.raises(ConfigError, match=r"cannot be read|there are none"):
        start(folder, CrawlConfig(seeds_file=str(file)))
    assert not folder.path.exists()
