"""Reads sections `[host."..."]`, the form that settings of single hosts had before there were places."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gossamer.config.dotted import join_path
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, of

_NOW: Final = {
    "min_delay": "politeness",
    "max_delay": "politeness",
    "factor": "politeness",
    "visits_per_host": "politeness",
    "max_pages": "budget",
    "max_bytes": "budget",
    "max_speed": "fetch",
    "username": "credentials",
    "password": "credentials",
    "token": "credentials",
}
"""The section in which a setting of `[host]` is now."""
_RENAMED: Final = {
    "max_pages": "pages_per_host",
    "max_bytes": "bytes_per_host",
    "max_speed": "max_host_speed",
}


def renewed_keys(keys: Sequence[str]) -> list[str]:
    """The keys of a setting; one that has those of a section `[host]` is where it is now."""
    match keys:
        case ["host", name, key] if key in _NOW:
            return ["place", name, _NOW[key], _RENAMED.get(key, key)]
        case ["host", *rest]:
            return ["place", *rest]  # where it is told that it is none
    return list(keys)


def renewed(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A tree of settings in which what `[host]` says is said by places.

    Raises:
        ConfigError: both say something of one setting.
    """
    hosts, places = tree.get("host"), tree.get("place", {})
    if not isinstance(hosts, dict) or not isinstance(places, dict):
        return dict(tree)
    new: dict[str, Any] = {**tree, "place": _copied(places)}
    del new["host"]
    twice = []
    for name, section in hosts.items():
        origin = section.get("origin") if isinstance(section, dict) else None
        for key, value in section.items() if isinstance(section, dict) else ():
            if key == "origin":
                continue
            keys = renewed_keys(["host", name, key])
            if origin and keys[2] == "credentials":
                keys[1] = origin
            if not _put(new, keys, value):
                twice.append(of(join_path(["host", name, key]), Reason(ProblemCode.HOST_AND_PLACE)))
    if twice:
        raise ConfigError(*twice)
    return new


def _put(tree: dict[str, Any], keys: Sequence[str], value: Any) -> bool:
    """Whether there was room for it."""
    *tables, last = keys
    for key in tables:
        inner = tree.setdefault(key, {})
        if not isinstance(inner, dict):
            return False
        tree = inner
    return bool(tree.setdefault(last, value) == value)


def _copied(value: Any) -> Any:
    return {key: _copied(inner) for key, inner in value.items()} if isinstance(value, dict) else value
