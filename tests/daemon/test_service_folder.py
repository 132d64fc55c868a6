"""The folder of a daemon is its own."""

from pathlib import Path

import pytest

from gossamer.daemon.config import ServiceFolder
from gossamer.inspect.clusters.cluster_questions import PLAN
from gossamer.model.errors import ConfigError


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("crawl.toml", "is the folder of a crawl. 'gossamer view \"{}\"' shows"),
        ("state", "is the folder of a crawl. 'gossamer view \"{}\"' shows"),
        (PLAN, "is the folder of a cluster. 'gossamer serve --cluster \"{}\"' shows"),
    ],
)
def test_that_of_a_crawl_is_not_taken_and_nothing_is_put_into_it(
    tmp_path: Path, file: str, told: str
) -> None:
    home = tmp_path / "my crawl"
    home.mkdir()
    (home / file).touch()
    with pytest.raises(ConfigError) as caught:
        ServiceFolder(home).create()
    assert told.format(home) in str(caught.value)
    assert [path.name for path in home.iterdir()] == [file]


def test_one_that_is_a_daemons_already_stays_so(tmp_path: Path) -> None:
    ServiceFolder(tmp_path).create()
    (tmp_path / "state").mkdir()
    ServiceFolder(tmp_path).create()
    assert (tmp_path / "jobs").is_dir()
