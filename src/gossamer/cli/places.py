"""Shows which settings hold for a URL, and which place says so."""

import re
from pathlib import Path

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.cli.terminal.printing import safe, show, show_json
from gossamer.config.config import CrawlConfig
from gossamer.config.effective import minute_of_day
from gossamer.config.explained import Decided, explained
from gossamer.config.presets import with_preset
from gossamer.config.settings import load, read_toml
from gossamer.inspect.why.by_place import told_of
from gossamer.inspect.why.sentences import in_english
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url
from gossamer.policy.places.place import Asked, address_of

_HOUR = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


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
    address, hour = where.address, where.hour
    url = Url.parse(text if "://" in text else f"http://{text}")
    time = _HOUR.fullmatch(hour)
    if url is None:
        raise ConfigError(because(ProblemCode.NO_URL, text))
    if address and address_of(address) is None:
        raise ConfigError(because(ProblemCode.PLACE_ADDRESS, address))
    if hour and time is None:
        raise ConfigError(because(ProblemCode.PLACE_TIME, hour))
    path = where.file or (CrawlFolder(where.folder).config if where.folder is not None else None)
    config = load(CrawlConfig, with_preset(read_toml(path)) if path is not None else {})
    minute = minute_of_day() if time is None else 60 * int(time[1]) + int(time[2])
    asked = Asked(url.host, url, address, where.media_type.lower(), minute)
    found = [one for one in explained(config, asked) if not names or _is_named(one, names)]
    if json:
        show_json({"url": url.text, "settings": found})
        return
    for one in found:
        show(safe(in_english(told_of(one))))


def _is_named(one: Decided, names: list[str]) -> bool:
    return any(one.path == name or one.path.startswith(f"{name}.") for name in names)
