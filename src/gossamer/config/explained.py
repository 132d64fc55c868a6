"""Tells of every setting that can differ by place what holds at one, which place says so, and whom it beats."""

from collections.abc import Iterator

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.config.place_config import KNOWN
from gossamer.config.shape import Setting, settings_of
from gossamer.config.toml_text import inline
from gossamer.policy.places.local import Local, Won
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
    for section, local in config.local.sections.items():
        won = {one.name: one for one in local.won(asked)}
        if section == "credentials" and (found := config.local.credentials_at(asked)) is not None:
            won = {name: Won(name, value, found[0]) for name, value in found[1].items()}
        elif section == "credentials":
            won = {}  # they are sent to one origin, and nowhere else
        base: msgspec.Struct = local.base
        for setting in settings_of(type(base)):
            if setting.name in KNOWN[section]:
                yield _decided(f"{section}.{setting.key}", setting, local, won.get(setting.name))


def _decided(path: str, setting: Setting, local: Local[msgspec.Struct], won: Won | None) -> Decided:
    value = getattr(local.base, setting.name) if won is None else won.value
    written = "none" if value is None else "***" if setting.shape.secret else inline(value, setting.shape)
    if won is None or won.place is None:
        return Decided(path, written)
    winner = won.place
    return Decided(
        path,
        written,
        winner.text,
        tuple(Beaten(other.text, narrower_by(winner, other)) for other in won.beaten),
    )
