"""Shows which settings hold for a URL, and which place says so."""

from pathlib import Path

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.cli.terminal.printing import safe, show, show_json
from gossamer.config.config import CrawlConfig
from gossamer.config.explained import Decided, SettingsThere, settings_there
from gossamer.config.presets import with_preset
from gossamer.config.settings import load, read_toml
from gossamer.inspect.why.by_place import told_of
from gossamer.inspect.why.sentences import in_english


class Where(msgspec.Struct, frozen=True):
    """What settings are asked, and what is known beside the URL.

    Attributes:
        file: of settings; or `folder`, of a crawl. The defaults if both are `None`.
        address: what the host has; empty: not known.
        media_type: of the answer; empty: not known.
        hour: of the day, UTC; empty: now.
    """

    file: Path | None = None
    folder: Path | None = None
    address: str = ""
    media_type: str = ""
    hour: str = ""


def show_for(text: str, names: list[str], where: Where, *, json: bool) -> None:
    """Print each setting that can differ by place, with its value for a URL and why.

    Args:
        text: the URL; http, if no scheme is written.
        names: of settings or sections; all if none are given.
        where: in which settings, and under which conditions.
        json: as data.

    Raises:
        ConfigError: the settings, or what is asked for, cannot be read.
    """
    path = where.file or (CrawlFolder(where.folder).config if where.folder is not None else None)
    config = load(CrawlConfig, with_preset(read_toml(path)) if path is not None else {})
    there = settings_there(config, text, address=where.address, media_type=where.media_type, hour=where.hour)
    found = [one for one in there.settings if not names or _is_named(one, names)]
    if json:
        show_json(SettingsThere(there.url, found))
        return
    for one in found:
        show(safe(in_english(told_of(one))))


def _is_named(one: Decided, names: list[str]) -> bool:
    return any(one.path == name or one.path.startswith(f"{name}.") for name in names)
