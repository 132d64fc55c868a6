"""What the console says, in each of its languages."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from gossamer.inspect.why.sentences import SENTENCES

LANGUAGES = {"en": "English", "zh": "中文"}
"""Language by its code, each in its own words."""

DEFAULT = "en"


class Words:
    """The catalogue of one language.

    A key is a dotted path into `words/<language>.toml`; a missing one is a bug of ours and raises KeyError.
    An entry is a text with `{names}` as `str.format` has them, or a table `{one, other}` chosen by the value
    of `n`.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self.tag = {"en": "en", "zh": "zh-Hans"}[language]
        self.table: dict[str, str | dict[str, str]] = dict(_flat(_read(language)))
        self.meanings = {} if language == "en" else dict(_flat(_read(f"meanings.{language}")))
        """Of settings, by their paths; the settings themselves say it in English."""
        if language == "en":
            # The story of a URL is told in English by the command line, too: the words are there once.
            self.table |= {f"story.{key}": text for key, text in SENTENCES.items()}

    def __call__(self, key: str, /, **values: object) -> str:
        """The text of `key`, with `values` in their places."""
        entry = self.table[key]
        if isinstance(entry, dict):
            entry = entry["one" if values.get("count", values.get("n")) in (1, "1") else "other"]
        return entry.format_map(values)

    def said(self, group: str, value: object) -> str:
        """The word for one of a closed list of values; a value nobody foresaw speaks for itself."""
        entry = self.table.get(f"{group}.{value}")
        return entry if isinstance(entry, str) else str(value)

    def meaning(self, path: str, english: str) -> str:
        """What a setting means; a plug-in's has its English alone."""
        entry = self.meanings.get(path)
        return entry if isinstance(entry, str) else english

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
    folder = resources.files("gossamer.web.console") / "words"
    return tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str | dict[str, str]]]:
    for name, value in table.items():
        key = f"{above}{name}"
        if isinstance(value, str) or value.keys() == {"one", "other"}:
            yield key, value
        else:
            yield from _flat(value, f"{key}.")
