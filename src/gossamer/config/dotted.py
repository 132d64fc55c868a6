"""Dotted paths of settings, written as TOML writes keys: `place."example.org".politeness.min_delay`."""

import re
from collections.abc import Iterable, Sequence

MOST_PARTS = 32
"""Parts of a dotted name; settings have four."""
_NEAREST = 3
_ALIKE = 0.6
"""Two words that share so much of their letters may be one, misspelt (difflib's own default)."""
_ALIKE_ALONE = 0.75
"""As much, where nothing but the last word tells."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_INDEXED = re.compile(r"[A-Za-z0-9_-]+\[[0-9]+\]")
_NAMED = {"place": 2, "host": 1}
"""Sections whose next part is a name that may hold dots, and the parts behind it."""
_PART = re.compile(r'([A-Za-z0-9_-]+)|"((?:[^"\\]|\\["\\])*)"')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text: str) -> str:
    """A TOML basic string (TOML 1.0, String); on one line whatever it holds."""
    escaped = (
        _ESCAPES.get(char) or (f"\\u{ord(char):04x}" if ord(char) < 32 or ord(char) == 127 else char)
        for char in text
    )
    return f'"{"".join(escaped)}"'


def key_text(key: str) -> str:
    """A key as TOML writes it: quoted only where it must be."""
    return key if _BARE.fullmatch(key) else quoted(key)


def join_path(keys: Sequence[str]) -> str:
    """The dotted path of `keys`; list positions (`name[2]`) stay as they are."""
    return ".".join(key if _INDEXED.fullmatch(key) else key_text(key) for key in keys)


def split_path(path: str) -> list[str]:
    """The keys of a dotted path.

    Raises:
        ValueError: it is none.
    """
    keys: list[str] = []
    position = 0
    while True:
        part = _PART.match(path, position)
        if part is None:
            raise ValueError(
                f'{path!r} is not the path of a setting; write e.g. dns.attempts or place."a.org".fetch.x'
            )
        keys.append(part[1] or re.sub(r"\\(.)", r"\1", part[2] or ""))
        position = part.end()
        if len(keys) > MOST_PARTS:
            raise ValueError(f"{path[:40]!r}... is not the path of a setting: more than {MOST_PARTS} parts")
        if position == len(path):
            return keys
        if path[position] != ".":
            raise ValueError(f"{path!r} is not the path of a setting: unexpected {path[position]!r}")
        position += 1


def setting_keys(path: str) -> list[str]:
    """The keys of a setting; the name of a place, which may be a host, need not be quoted.

    `place.example.org/a.b.politeness.min_delay` is `place."example.org/a.b".politeness.min_delay`, and
    `host.example.org.min_delay`, its older form, is `host."example.org".min_delay`.

    Raises:
        ValueError: it is no path.
    """
    section, _, rest = path.partition(".")
    if '"' not in path and section in _NAMED:
        name, *keys = rest.rsplit(".", _NAMED[section])
        if name and len(keys) == _NAMED[section]:
            return [section, name, *keys]
    return split_path(path)


def nearest(path: str, known: Iterable[str]) -> str:
    """`X or Y`, the settings that an unknown path comes closest to, or nothing.

    A section may be misspelt, a key, or both; where the section is wrong or missing, the key alone tells.
    """
    section, _, key = path.rpartition(".")
    here: dict[str, float] = {}
    same: dict[str, float] = {}
    similar: dict[str, float] = {}
    for other in known:
        its_section, _, its_key = other.rpartition(".")
        alike = _alike(key, its_key)
        near = _alike(section, its_section)
        if min(alike, near) >= _ALIKE:
            here[other] = alike + near
        elif its_key == key:
            same[other] = near
        elif alike >= _ALIKE_ALONE:
            similar[other] = alike
    if here:
        found = [max(here, key=here.__getitem__)]
    else:
        found = sorted(same or similar, key=(same or similar).__getitem__, reverse=True)[:_NEAREST]
    return " or ".join(found)


def _alike(one: str, other: str) -> float:
    from difflib import SequenceMatcher  # for wrong names alone

    if one == other:
        return 1.0
    most = 2 * min(len(one), len(other)) / (len(one) + len(other))  # first, for keys from outside may be long
    return SequenceMatcher(None, one, other).ratio() if most >= _ALIKE else 0.0
