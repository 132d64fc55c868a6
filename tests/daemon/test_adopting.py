"""Folders that cannot be adopted are refused with a sentence."""

import asyncio
from pathlib import Path

import pytest
from service_world import WHO, open_daemon, service_config

from gossamer.daemon.errors import ServiceError
from gossamer.model.errors import ConfigError


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("~nobody-of-this-name/crawl", "leads nowhere: write the whole path"),
        ("/etc", "does not lie below"),
        ("ROOT/ring", "leads nowhere|does not lie below|holds no crawl"),
        ("ROOT/nothing", "holds no crawl"),
        ("ROOT/" + "x" * 5_000, "holds no crawl|leads nowhere"),
        ("ROOT/a\0b", "leads nowhere"),
    ],
)
def test_a_folder_that_cannot_be_had(tmp_path: Path, folder: str, says: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "ring").symlink_to(root / "ring")

    async def live() -> None:
        async with open_daemon(tmp_path / "home", roots=[str(root)]) as daemon:
            with pytest.raises(ServiceError, match=says) as caught:
                await daemon.adopt("mine", folder.replace("ROOT", str(root)), who=WHO)
            assert caught.value.code == "invalid"
            assert daemon.jobs() == []

    asyncio.run(live())


def test_a_root_in_nobodys_home_is_told_of_at_the_start() -> None:
    with pytest.raises(ConfigError, match="nobody's home"):
        service_config(roots=["~nobody-of-this-name/crawls"])
