"""Tells of every setting that can differ by place what holds at one, which place says so, and whom it beats."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.config.effective import minute_of_day
from gossamer.config.place_config import KNOWN
from gossamer.config.shape import Setting, settings_of
from gossamer.config.toml_text import inline
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url
from gossamer.policy.places.local import Given
from gossamer.policy.places.place import Asked, Measure, address_of, narrower_by

_HOUR = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


class Beaten(msgspec.Struct, frozen=True):
    """A place that says something else of a setting.

    Attributes:
        place: as written.
        by: in what the place that wins is narrower.
    """

    place: str
    by: Measure


class Decided(msgspec.Struct, frozen=True):
    """One setting, as it stands somewhere.

    Attributes:
        path: dotted, as it is written where it holds everywhere.
        value: as TOML writes it; three asterisks for a secret.
        place: that says so; empty where none does.
        beaten: wider places, the narrowest first.
    """

    path: str
    value: str
    place: str = ""
    beaten: tuple[Beaten, ...] = ()


class SettingsThere(msgspec.Struct, frozen=True):
    """The settings that can differ by place, as they stand at one URL."""

    url: str
    settings: list[Decided]


def settings_there(
    config: CrawlConfig, text: str, *, address: str = "", media_type: str = "", hour: str = ""
) -> SettingsThere:
    """All settings that can differ by place, as they stand at a URL.

    Args:
        config: of a crawl.
        text: the URL; http, if no scheme is written.
        address: what its host has; empty: not known, unless the host is one.
        media_type: of the answer; empty: not known.
        hour: of the day, UTC, as `HH:MM`; empty: now.

    Raises:
        ConfigError: one of them cannot be read.
    """
    url = Url.parse(text if "://" in text else f"http://{text}")
    time = _HOUR.fullmatch(hour)
    if url is None:
        raise ConfigError(because(ProblemCode.NO_URL, text))
    if address and address_of(address) is None:
        raise ConfigError(because(ProblemCode.PLACE_ADDRESS, address))
    if hour and time is None:
        raise ConfigError(because(ProblemCode.PLACE_TIME, hour))
    if not address and address_of(url.host) is not None:
        address = url.host.strip("[]")
    minute = minute_of_day() if time is None else 60 * int(time[1]) + int(time[2])
    asked = Asked(url.host, url, address, media_type.lower(), minute)
    return SettingsThere(url.text, list(explained(config, asked)))


def explained(config: CrawlConfig, asked: Asked) -> Iterator[Decided]:
    """All settings that can differ by place, in the order of the file."""
    local = config.local
    for section, here in local.sections.items():
        matching = here.matching(asked)
        if section == "credentials":  # they are sent to one origin, and nowhere else
            found = local.credentials_at(asked)
            matching = [] if found is None else [found]
        base: msgspec.Struct = here.base
        for setting in settings_of(type(base)):
            if setting.name in KNOWN[section]:
                yield _decided(f"{section}.{setting.key}", setting, base, matching)


def _decided(path: str, setting: Setting, base: msgspec.Struct, matching: Sequence[Given]) -> Decided:
    """`matching`: what places say of the section, the narrowest first."""
    said = [(place, values[setting.name]) for place, values in matching if setting.name in values]
    value = said[0][1] if said else getattr(base, setting.name)
    written = "none" if value is None else "***" if setting.shape.secret else inline(value, setting.shape)
    if not said:
        return Decided(path, written)
    winner, *wider = (place for place, _ in said)
    beaten = tuple(Beaten(other.text, narrower_by(winner, other)) for other in wider)
    return Decided(path, written, winner.text, beaten)
