"""Makes, copies and removes the folders of jobs."""

import os
import secrets
from pathlib import Path

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml, to_toml
from gossamer.crawling.run import start
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.whole_files import write_whole


def make(path: Path, config: CrawlConfig) -> None:
    """A folder in which a crawl can begin, with its settings and seeds in it.

    Raises:
        ConfigError: it cannot be used.
        StorageError: the disk refuses.
    """
    folder = CrawlFolder(path)
    try:
        start(folder, config)
    finally:
        folder.release()


def settings_of_copy(path: Path) -> CrawlConfig:
    """The settings of the crawl in `path`, for another folder.

    Raises:
        ConfigError: there are none to be read.
    """
    folder = CrawlFolder(path)
    config = load(CrawlConfig, read_toml(folder.config))
    if config.seeds_file:
        config = msgspec.structs.replace(config, seeds_file=str(path / config.seeds_file))
    return config


def write_settings(path: Path, config: CrawlConfig) -> None:
    """Let the crawl in `path` go on with other settings; it must not be running.

    Raises:
        ConfigError: another process uses the folder.
        StorageError: the disk refuses.
    """
    folder = CrawlFolder(path)
    folder.reopen()
    try:
        write_whole(folder.config, to_toml(config))
    finally:
        folder.release()


def put_aside(path: Path, aside: Path) -> Path:
    """Move a folder out of the way, at once and whole; where it lies now.

    Raises:
        ConfigError: a process uses it.
        StorageError: the disk refuses.
    """
    target = aside / f"{path.name}.{secrets.token_hex(8)}"
    folder = CrawlFolder(path)
    if path.is_symlink():
        raise ConfigError(f"{path}: is a link, not a folder")
    try:
        if folder.config.exists():
            folder.reopen()
        os.replace(path, target)  # noqa: PTH105 - a folder, too
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StorageError(f"{path}: cannot be removed ({error.strerror}).") from None
    finally:
        folder.release()
    return target


def clear(aside: Path) -> None:
    """Remove what was put aside, with what lies on other disks; what cannot be removed is tried again later."""
    for path in aside.iterdir():
        if path.is_dir() and not path.is_symlink():
            CrawlFolder(path).discard()
        else:
            path.unlink(missing_ok=True)


def keep_seeds(aside: Path, seeds: str) -> Path:
    """Put seeds into a file of ours, from which `make` copies them.

    Raises:
        StorageError: the disk refuses.
    """
    path = aside / f"seeds.{secrets.token_hex(8)}"
    write_whole(path, seeds)
    return path
