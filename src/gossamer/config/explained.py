"""Tells of every setting that can differ by place what holds at one, which place says so, and whom it beats."""

from collections.abc import Iterator, Sequence

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.config.place_config import KNOWN
from gossamer.config.shape import Setting, settings_of
from gossamer.config.toml_text import inline
from gossamer.policy.places.local import Given
from gossamer.policy.places.place import Asked, Measure, narrower_by


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
