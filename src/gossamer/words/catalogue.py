"""Reads the texts of each language, and puts values into them."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from gossamer.model.reasons.catalogue import catalogue
from gossamer.words.amounts import DEFAULT, LANGUAGES, TAGS, Amounts

_CHOICE = re.compile(r"\{(?P<name>\w+)\|(?P<one>[^{}|]*)\|(?P<other>[^{}|]*)\}")

_SPAN = re.compile(r"\{(?P<name>\w+):span\}")

_SHARED = frozenset(("fault", "state"))
"""What the console says of the words for reasons by itself."""


class Words(Amounts):
    """The catalogue of one language, which writes amounts, too.

    A key is a dotted path into `<language>.toml`; a missing one is a bug of ours and raises KeyError. Values
    stand in a text as `str.format` has them (`{size:,} bytes`); `{n|page|pages}` chooses by the number `n`,
    and `{age:span}` writes seconds as a duration.
    Faults, rules and states are in the catalogue of reasons (`gossamer.model.reasons`).
    """

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self.tag = TAGS[language]
        self.table: dict[str, str] = dict(_flat(_read(language)))
        shared = catalogue(language).items()
        self.table |= {key: str(said) for key, said in shared if key.split(".")[0] in _SHARED}
        self.meanings = {} if language == "en" else dict(_flat(_read(f"meanings.{language}")))
        """Of settings and of the tables' columns, by their paths; in English they say it themselves."""

    def __call__(self, key: str, /, **values: object) -> str:
        """The text of `key`, with `values` in their places."""
        text = _SPAN.sub(lambda found: self.duration(_seconds(values[found["name"]])), self.table[key])
        return _CHOICE.sub(lambda found: _chosen(found, values), text).format_map(values)

    def said(self, group: str, value: object) -> str:
        """The word for one of a closed list of values; a value nobody foresaw speaks for itself."""
        return self.table.get(f"{group}.{value}", str(value))

    def failure(self, name: str) -> str:
        """The word for what failed: a fault, `status 404`, or `refused: robots` for a rule of ours."""
        kind, _, code = name.partition(" ")
        match kind:
            case "status":
                return self("failure.status", code=code)
            case "refused:":
                return self("failure.refused", rule=self.said("fault", code))
        return self.said("fault", name)

    def tongue(self, tag: str) -> str:
        """The name of a natural language with its tag (BCP 47): `German (de)`, `Chinese (zh-CN)`."""
        primary = tag.lower().partition("-")[0]
        name = self.said("language", primary)
        return tag if name == primary else f"{name} ({tag})"

    def meaning(self, path: str, english: str) -> str:
        """What a setting means; a plug-in's has its English alone."""
        return self.meanings.get(path, english)

    def has(self, key: str) -> bool:
        """Whether there is such an entry."""
        return key in self.table


@cache
def words(language: str) -> Words:
    """The catalogue of a language, read once."""
    return Words(language if language in LANGUAGES else DEFAULT)


def preferred(header: str) -> str:
    """The first language of an Accept-Language header that the console speaks (RFC 9110, section 12.5.4)."""
    offers: list[tuple[float, int, str]] = []
    for place, part in enumerate(header[:500].split(",")):
        tag, _, weight = part.strip().partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            quality = 0.0
        primary = tag.strip().lower().partition("-")[0]
        if primary in LANGUAGES and quality > 0:
            offers.append((-quality, place, primary))
    return min(offers)[2] if offers else DEFAULT


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / f"{name}.toml").read_text("utf-8"))


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        key = f"{above}{name}"
        if isinstance(value, str):
            yield key, value
        else:
            yield from _flat(value, f"{key}.")


def _seconds(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number of seconds")
    return value


def _chosen(found: re.Match[str], values: Mapping[str, object]) -> str:
    return found["one"] if values[found["name"]] in (1, "1") else found["other"]
