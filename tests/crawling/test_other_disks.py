"""A crawl that lies on several disks is the same crawl, for whoever makes it and whoever reads it."""

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import in_process
import msgspec
import pytest
from small_disk import MIB, Disk
from small_site import small_site

from gossamer.assembly.disks import LINKS
from gossamer.model.errors import StorageError
from gossamer.state.environment import Environment

NAMES = tuple(LINKS)
LARGE = "<p>" + "word " * 60_000
QUICK = ("politeness.min_delay=0", "politeness.factor=0", "engine.give_up_after=1s", "engine.guess_sitemap=false",
         "engine.min_free_disk=1MiB", "fetch.memory_body=64KiB")  # fmt: skip


def page(path: str) -> str | None:
    """Forty pages, some of which do not fit into memory."""
    if not path:
        return "".join(f'<a href="/{number}.html">{number}</a>' for number in range(40))
    return f"{path} {LARGE if path[0] == '7' else ''}" if path.endswith(".html") else None


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with small_site(page) as address:
        yield address


def settings(*more: str) -> list[str]:
    return [part for each in (*QUICK, *more) for part in ("--set", each)]


def elsewhere(root: Path) -> list[str]:
    """Settings by which each part lies in a folder of its own below `root`."""
    for name in NAMES:
        (root / name).mkdir(parents=True, exist_ok=True)
    return [f"storage.{name}={root / name}" for name in NAMES]


def captures(folder: Path) -> Counter[tuple[str, str, str]]:
    """(URL, status, digest) of every capture in the index."""
    entries = (folder / "index.cdxj").read_bytes().splitlines()
    lines = [msgspec.json.decode(entry[entry.index(b"{") :]) for entry in entries]
    return Counter((line["url"], line["status"], line["digest"]) for line in lines)


@pytest.fixture(scope="module")
def both(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `one`, an ordinary crawl, and `spread`, the same on four disks below `disks`."""
    root = tmp_path_factory.mktemp("both")
    for name, more in (("one", []), ("spread", elsewhere(root / "disks"))):
        done = in_process.gossamer("crawl", site, "--dir", name, "--quiet", *settings(*more), cwd=root)
        assert done.returncode == 0, done.stderr
    return root


@pytest.mark.slow
def test_it_has_the_same_captures(both: Path) -> None:
    assert captures(both / "one") == captures(both / "spread")
    assert len(captures(both / "spread")) == 42
    assert not list((both / "spread" / "tmp").iterdir())
    assert (both / "spread" / "checkpoints").is_symlink()
    inodes = [
        {path.stat().st_ino for path in (both / "spread" / name).rglob("*.sst")}
        for name in ("state", "checkpoints")
    ]
    assert inodes[0] & inodes[1], "a checkpoint costs no room"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "check {}", "status {}", "list {}", "why {} /7.html", "traps {}", "report {}",
        "sql {}!select count(*) from visits", "sql {}!select count(*) from captures", "export links {}",
        "mirror {} out-{}", "export wacz {} --out {}.wacz", "export pages {} --format csv --out csv-{}", "diff {} one",
        "resume {}",
    ],
)  # fmt: skip
def test_whoever_reads_it_goes_on_unchanged(both: Path, site: str, command: str) -> None:
    ended = []
    for name in ("one", "spread"):
        head, _, last = command.replace("{}", name).replace(" /", f" {site}").partition("!")
        ended.append(in_process.gossamer(*head.split(), *([last] if last else []), cwd=both))
    plain, spread = ended
    assert "Traceback" not in spread.stderr
    assert plain.returncode == 0, plain.stderr
    assert (spread.returncode, spread.stderr.count("\n")) == (plain.returncode, plain.stderr.count("\n")), (
        spread
    )
    assert spread.stdout.count("\n") == plain.stdout.count("\n")
    if command.startswith("sql"):
        assert spread.stdout == plain.stdout


@pytest.mark.slow
def test_settings_that_would_move_it_are_refused_with_the_way_by_hand(both: Path) -> None:
    kept = (both / "spread" / "crawl.toml").read_bytes()
    again = [sys.executable, "-m", "gossamer", "resume", "spread", "--set", f"storage.archive={both}"]
    done = subprocess.run(again, cwd=both, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "storage.archive: moves no crawl that has begun" in done.stderr
    assert "ln -sfn NEW spread/archive" in done.stderr
    assert (both / "spread" / "crawl.toml").read_bytes() == kept


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_without_a_disk_nothing_is_begun_anew(both: Path, name: str) -> None:
    disk, unplugged = both / "disks" / name, both / "unplugged"
    disk.rename(unplugged)
    disk.mkdir()  # what a mount point is without its disk
    try:
        for command in ("resume", "check", "status"):
            done = in_process.gossamer(command, "spread", cwd=both)
            assert done.returncode == 3
            assert "Mount its disk" in done.stderr
            assert done.stderr.count("\n") == 1
            assert all(f"spread/{link}" in done.stderr for link in LINKS[name])
        assert in_process.gossamer("resume", "spread", "--from-checkpoint", cwd=both).returncode == 3
        assert not list(disk.iterdir())
    finally:
        disk.rmdir()
        unplugged.rename(disk)
    assert in_process.gossamer("check", "spread", cwd=both).returncode == 0


@pytest.mark.slow
def test_it_goes_back_to_a_checkpoint_on_the_disk_of_the_state(site: str, tmp_path: Path) -> None:
    begin = ["crawl", site, "--dir", "c", "--quiet", *settings(*elsewhere(tmp_path / "disks"))]
    assert in_process.gossamer(*begin, cwd=tmp_path).returncode == 0
    shutil.rmtree((tmp_path / "c" / "state").resolve())
    assert in_process.gossamer("status", "c", cwd=tmp_path).returncode == 3
    done = in_process.gossamer("resume", "c", "--from-checkpoint", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c" / "state").is_symlink()
    assert in_process.gossamer("check", "c", cwd=tmp_path).returncode == 0
    done = in_process.gossamer("resume", "c", "--from-checkpoint", "--quiet", cwd=tmp_path)
    assert done.returncode == 0
    assert len(list((tmp_path / "disks" / "state").glob("*/state.replaced-1"))) == 1


@pytest.mark.slow
def test_a_crawl_of_a_misspelt_host_leaves_nothing_on_any_disk(tmp_path: Path) -> None:
    given = settings(*elsewhere(tmp_path / "disks"))
    done = in_process.gossamer(
        "crawl", "http://no-such-host.invalid/", "--dir", "c", "--quiet", *given, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "c is removed" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["disks"]
    assert not list((tmp_path / "disks").glob("*/*"))


def refuse(copy: Path, *_: object, **__: object) -> None:
    """As RocksDB refuses a state; of which all that it would read was there."""
    assert all(table.read_bytes() for table in copy.glob("*.sst"))
    raise StorageError("damaged")


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[dict[str, Disk]]:
    """A file system for each part, below `tmp_path / "disks"`."""
    made: dict[str, Disk] = {}
    try:
        for name in NAMES:
            made[name] = Disk(tmp_path / "disks" / name)
        yield made
    finally:
        for disk in made.values():
            disk.close()


@pytest.mark.slow
def test_on_real_file_systems_it_is_the_same_too(
    both: Path, site: str, tmp_path: Path, disks: dict[str, Disk], monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = {disk.place.stat().st_dev for disk in disks.values()}
    assert len(devices) == len(NAMES)
    begin = [
        "crawl",
        site,
        "--dir",
        "c",
        "--quiet",
        *settings(*elsewhere(tmp_path / "disks"), "archive.max_file_size=8KiB"),
    ]
    done = in_process.gossamer(*begin, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert captures(tmp_path / "c") == captures(both / "one")
    for command in (
        ["check", "c"],
        ["sql", "c", "select count(*) from visits"],
        ["resume", "c", "--from-checkpoint"],
    ):
        done = in_process.gossamer(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    (tmp_path / "c" / "tmp").resolve().rmdir()  # somebody has tidied up there
    with monkeypatch.context() as patch:
        patch.setattr(Environment, "open", refuse)
        assert (
            "damaged 'gossamer resume c --from-checkpoint'"
            in in_process.gossamer("check", "c", cwd=tmp_path).stdout
        )
    disks["archive"].leave(MIB // 2)
    again = subprocess.run(
        [sys.executable, "-m", "gossamer", "crawl", site, "--dir", "d", "--quiet", *begin[5:]],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert again.returncode == 2
    assert "less than 1 MiB free" in again.stderr
    assert not (tmp_path / "d").exists()
