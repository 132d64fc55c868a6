"""Jobs on other disks: only below the daemon's roots, and what was made for a job goes with it."""

import asyncio
from pathlib import Path

import pytest
from service_world import WHO, job_settings, open_daemon, until

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs import endings

NOWHERE = ["http://nowhere.test/"]


def test_what_was_made_for_a_job_goes_with_it_and_copies_have_their_own(home: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    (disk / "of the operator").touch()

    async def live() -> None:
        async with open_daemon(home, roots=[str(disk)]) as daemon:
            await daemon.create(
                "spread", job_settings(None, seeds=NOWHERE, storage__archive=str(disk), storage__state=str(disk)),
                who=WHO,
            )  # fmt: skip
            disk.rename(tmp_path / "unplugged")
            with pytest.raises(ServiceError, match="Mount its disk"):
                await daemon.ask("spread", "status", who=WHO)
            (tmp_path / "unplugged").rename(disk)
            await daemon.clone("spread", "copy", who=WHO)
            assert len(list(disk.glob("spread-*"))) == len(list(disk.glob("copy-*"))) == 1
            await daemon.delete("spread", confirm="spread", who=WHO)
            await until(lambda: not list(disk.glob("spread-*")))
            assert len(list(disk.glob("copy-*"))) == 1
            await daemon.delete("copy", confirm="copy", who=WHO)
            await until(lambda: [path.name for path in disk.iterdir()] == ["of the operator"])

    asyncio.run(live())


def test_a_job_lies_below_the_roots_and_stays_where_it_is(home: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()

    async def live() -> None:
        async with open_daemon(home, roots=[str(disk), str(home)]) as daemon:
            for name in ("archive", "log", "state", "temporary"):
                elsewhere = job_settings(None, seeds=NOWHERE, **{f"storage__{name}": str(tmp_path)})
                with pytest.raises(ServiceError, match=f"storage.{name}: .* does not lie below"):
                    await daemon.create("far", elsewhere, who=WHO)
            elsewhere = job_settings(None, seeds=NOWHERE, storage__upload=f"file://{disk}/store")
            with pytest.raises(ServiceError, match=r"storage.upload: a job does not choose where"):
                await daemon.create("far", elsewhere, who=WHO)
            for own in (home / "jobs", home / "tmp"):
                within = job_settings(None, seeds=NOWHERE, storage__archive=str(own))
                with pytest.raises(ServiceError, match=r"storage.archive: .* removes what is no job's"):
                    await daemon.create("within", within, who=WHO)
            await daemon.create("near", job_settings(None, seeds=NOWHERE), who=WHO)
            with pytest.raises(ServiceError, match=r"storage.log: cannot change"):
                await daemon.ask("near", "set", {"changes": {"storage.log": str(disk)}}, who=WHO)
            with pytest.raises(ServiceError, match=r"storage.upload: "):
                await daemon.ask("near", "set", {"changes": {"storage.upload": f"file://{disk}"}}, who=WHO)
            assert not list(disk.iterdir())

    asyncio.run(live())


def test_a_disk_of_the_job_may_be_the_full_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "disk" / "home"
    home.mkdir(parents=True)
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "archive").symlink_to(home / "archive")
    looked: list[Path] = []

    def usage(path: Path) -> object:
        looked.append(path)
        return type("Usage", (), {"free": 0 if path == home else 1 << 40})

    monkeypatch.setattr(endings.shutil, "disk_usage", usage)
    assert endings._is_full(tmp_path / "crawl")
    assert looked == [tmp_path / "crawl", home]
