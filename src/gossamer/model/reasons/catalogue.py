"""The words for reasons, in each language."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gossamer.model.reasons.codes import TextCode

LANGUAGE = "en"
"""Of the command line, the log and the messages."""

Entry = str | Mapping[str, str]
"""A text with `{0}` for a value as `str.format` has them, or `{one, other}` by the first number."""


@cache
def catalogue(language: str) -> Mapping[str, Entry]:
    """The words of one language by the code of the reason, read once."""
    table = Path(__file__).with_name("words") / f"{language}.toml"
    return dict(_flat(tomllib.loads(table.read_text("utf-8"))))


def in_words(code: str, values: Sequence[str | float], language: str) -> str:
    """What a code with its values is called; values that its words leave out follow them.

    Faults and rules have one word each, behind which stands what they say beyond it.
    """
    words = catalogue(language)
    entry = words.get(code) or words.get(f"fault.{code}")
    if entry is None:
        return " ".join(map(str, (code, *values)))
    if not isinstance(entry, str):
        first = next((value for value in values if isinstance(value, int | float)), 0)
        entry = entry["one" if first == 1 else "other"]
    said = entry.format(*values)
    if values and values[0] != "" and "." not in code:
        joint = words[TextCode.BECAUSE]
        assert isinstance(joint, str)
        return joint.format(said, values[0])
    return said


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Entry]]:
    for name, value in table.items():
        key = f"{above}{name}"
        if isinstance(value, str) or value.keys() == {"one", "other"}:
            yield key, value
        else:
            yield from _flat(value, f"{key}.")
