"""Lays parts of a crawl on other disks, by links under their usual names in its folder (docs/decisions/0039).

What a link leads to lies in a folder that was made for this crawl alone, its *home* on that disk, together with a file
that names the crawl's folder. So a link whose disk is not mounted is told from one whose file is not made yet, a copy
of a crawl's folder from the crawl itself, and what may be removed with a crawl from what was there before.
"""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from gossamer.config.storage_config import StorageConfig
from gossamer.engine.fault_points import fault_point
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of
from gossamer.state.whole_files import PARTIAL, sync_directory, write_whole

LINKS: Final = {
    "archive": ("archive",),
    "log": ("crawl.log",),
    "state": ("state", "checkpoints"),  # RocksDB makes a checkpoint of hard links
    "temporary": ("tmp",),
}
"""Names in a crawl's folder by the setting that puts them elsewhere."""
OWNER = "of-crawl"
"""File in a home that names the crawl's folder."""
_LONGEST = 60
"""Characters of the crawl's name in that of a home: with four bytes each, a file system takes them all."""


def whole_paths(config: StorageConfig) -> StorageConfig:
    """The same with whole paths, which hold from everywhere, whatever becomes of where they were given."""
    given = {name: getattr(config, name) for name in LINKS}
    return msgspec.structs.replace(config, **{name: _whole(path) for name, path in given.items() if path})


def _whole(path: str) -> str:
    whole = Path(os.path.expanduser(path)).absolute()  # noqa: PTH111 - of no user, too
    # Through a folder and back out of it, a link would lead nowhere once that folder is moved.
    return os.path.realpath(whole) if ".." in whole.parts else str(whole)


def prove_places(config: StorageConfig, folder: Path, least: int) -> None:
    """Refuse places that a new crawl in `folder` cannot use; `least`: bytes below which it stops.

    Raises:
        ConfigError: lists every such place.
    """
    places = [(name, Path(path)) for name in LINKS if (path := getattr(config, name))]
    told = [(name, _unusable(place, folder, least)) for name, place in places]
    if problems := [of(f"storage.{name}", problem) for name, problem in told if problem is not None]:
        raise ConfigError(*problems)


def _unusable(place: Path, folder: Path, least: int) -> Reason | None:
    if not os.path.isdir(place):  # noqa: PTH112 - also where we may not look
        return because(ProblemCode.DISK_NOWHERE, str(place))
    if folder.resolve() in (place.resolve(), *place.resolve().parents):
        return because(ProblemCode.DISK_INSIDE, str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        return because(ProblemCode.DISK_UNWRITABLE, str(place))
    if shutil.disk_usage(place).free < least:
        return because(ProblemCode.DISK_LITTLE, str(place), least >> 20)
    return None


def unmoved(config: StorageConfig, wanted: StorageConfig, folder: Path) -> StorageConfig:
    """The settings by which the crawl in `folder` began, if `wanted` says the same: files do not move by settings.
    Where it is copied to may change.

    Raises:
        ConfigError: it says otherwise.
    """
    wanted = whole_paths(wanted)
    moved = [
        (name, links[0]) for name, links in LINKS.items() if getattr(config, name) != getattr(wanted, name)
    ]
    if moved:
        raise ConfigError(
            *(
                of(f"storage.{name}", because(ProblemCode.DISK_MOVES, str(folder / link)))
                for name, link in moved
            )
        )
    return msgspec.structs.replace(config, upload=wanted.upload)


def lay(folder: Path, config: StorageConfig) -> None:
    """Make homes on the disks of `config`, and links to what will lie there, in the folder of a new crawl.

    Links come first, so that whoever begins again after a kill learns from them what to take away.

    Raises:
        ConfigError: a disk or the folder refuses.
    """
    discard(folder)
    name = f"{folder.resolve().name[:_LONGEST]}-{os.urandom(4).hex()}"
    homes = {setting: Path(place) / name for setting in LINKS if (place := getattr(config, setting))}
    try:
        for setting, home in homes.items():
            for link in LINKS[setting]:
                (folder / link).symlink_to(home / link)
        fault_point("start.linked")
        for home in _of_each_disk(homes.values()):
            home.mkdir(mode=0o700)
            fault_point("start.home")
            _own(home, folder)
            sync_directory(home.parent)
    except (OSError, StorageError) as error:
        told = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise ConfigError(f"storage: {told}. Choose other folders.") from None
    fault_point("start.laid")


def _of_each_disk(homes: Iterable[Path]) -> list[Path]:
    """One of those that are the same, however their places were named: by links, or mounted twice."""
    places = ((home, home.parent.stat()) for home in homes)
    return list({(place.st_dev, place.st_ino): home for home, place in places}.values())


def prove_there(folder: Path) -> None:
    """Refuse to take a disk that is not mounted for an empty one.

    Raises:
        StorageError: links of the folder lead nowhere.
    """
    gone: dict[Path, list[str]] = {}
    for link, target in _links(folder):
        if not os.path.exists(target) and _owner(target.parent) is None:  # noqa: PTH110 - also where we may not look
            gone.setdefault(_first_missing(target), []).append(str(link))
    if gone:
        raise StorageError(
            *(because(ProblemCode.DISK_ABSENT, ", ".join(links), str(at)) for at, links in gone.items())
        )


def prove_own(folder: Path) -> None:
    """Refuse to change through links of a copy what another folder's crawl goes on with.

    Raises:
        ConfigError: the folder is a copy, whose links lead to the files of the crawl it was copied from.
        StorageError: links lead nowhere.
    """
    prove_there(folder)
    for link, target in _links(folder):
        owner = _owner(target.parent)
        if owner is not None and not is_ours(folder, link):
            raise ConfigError(because(ProblemCode.DISK_OF_ANOTHER, str(link), str(owner)))


def claim(folder: Path) -> None:
    """Prove that a crawl may go on with what its links lead to; the caller has locked its folder.

    If the folder was moved, its homes learn of it.

    Raises:
        ConfigError: the folder is a copy, whose links lead to the files of the crawl it was copied from.
        StorageError: links lead nowhere, or a disk refuses.
    """
    prove_own(folder)
    for _, target in _links(folder):
        if _owner(target.parent) not in (None, folder.resolve()):
            _own(target.parent, folder)


def elsewhere(folder: Path) -> list[Path]:
    """Where else parts of the crawl in `folder` lie: what its links lead to, or will lead to."""
    return [target if target.exists() else target.parent for _, target in _links(folder)]


def is_ours(folder: Path, link: Path) -> bool:
    """Whether what a link leads to was made for the crawl in `folder`, which may have been moved here since."""
    target = _end(link)
    owner = _owner(target.parent)
    return owner is not None and (owner == folder.resolve() or _end(owner / link.name) != target)


def discard(folder: Path) -> None:
    """Remove the links in a folder, and the homes they lead to with all that is in them.

    What was not made for this crawl stays, and so does what lies on a disk that is not there.
    """
    for link, target in _links(folder):
        home = target.parent
        if is_ours(folder, link):
            shutil.rmtree(home, ignore_errors=True)
        else:
            with contextlib.suppress(
                OSError
            ):  # a start was killed before it was named: there is nothing in it
                (home / (OWNER + PARTIAL)).unlink(missing_ok=True)
                home.rmdir()
        link.unlink(missing_ok=True)


def _links(folder: Path) -> Iterator[tuple[Path, Path]]:
    """(link, where it leads)."""
    for name in (name for names in LINKS.values() for name in names):
        if (link := folder / name).is_symlink():
            yield link, _end(link)


def _end(link: Path) -> Path:
    """Where a link leads through all others; somewhere, too, if it leads back to itself."""
    return Path(os.path.realpath(link))


def _first_missing(target: Path) -> Path:
    """The topmost part of a path that is not there: what all have in common that is gone with one disk."""
    above = reversed(target.parents)
    return next((part for part in above if not os.path.exists(part)), target)  # noqa: PTH110


def _own(home: Path, folder: Path) -> None:
    write_whole(home / OWNER, os.fsencode(folder.resolve()) + b"\n")


def _owner(home: Path) -> Path | None:
    """The folder whose crawl a home was made for; `None` if it is no home."""
    try:
        return Path(os.fsdecode((home / OWNER).read_bytes().removesuffix(b"\n")))
    except OSError:
        return None
