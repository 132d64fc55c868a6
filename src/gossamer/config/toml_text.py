"""Values of settings as TOML writes them (TOML 1.0)."""

import datetime
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from gossamer.config.dotted import key_text, quoted
from gossamer.config.secret_values import AGAIN, is_kept_out
from gossamer.config.shape import Kind, Setting, Shape, choices, settings_of
from gossamer.config.units import print_duration, print_size

_DATES = (datetime.datetime, datetime.date, datetime.time)
_WIDTH = 100
_TEXTS = ("...", "example.org", "2030-01-31", "2030-01-31T12:00:00Z", "12:00:00")


def inline(value: Any, shape: Shape) -> str:
    """`value` on one line, numbers with a unit in words (`"5min"`), structs as inline tables, no secrets."""
    if value is None:
        return '"none"'
    if shape.kind is Kind.TABLE:
        entries = {
            setting.key: inline(getattr(value, setting.name), setting.shape)
            for setting in settings_of(shape.core)
            if getattr(value, setting.name) is not None or setting.default is not None
        }
        return _inline_table(entries)
    if shape.kind is Kind.LEAF:
        return _leaf(value, shape)
    assert shape.item is not None
    if shape.kind is Kind.MAPPING:
        return _inline_table({key: inline(inner, shape.item) for key, inner in value.items()})
    members = [inline(inner, shape.item) for inner in value]
    if isinstance(value, set | frozenset):
        members.sort()  # so that the same settings give the same file
    return f"[{', '.join(members)}]"


def entry(key: str, value: Any, shape: Shape) -> list[str]:
    """The lines `key = value`: one, or one for each member of a long list."""
    line = f"{key_text(key)} = {inline(value, shape)}"
    if len(line) <= _WIDTH or shape.kind is not Kind.SEQUENCE or len(value) < 2:
        return [line]
    assert shape.item is not None
    members = [f"    {inline(member, shape.item)}," for member in value]
    if isinstance(value, set | frozenset):
        members.sort()
    return [f"{key_text(key)} = [", *members, "]"]


def holds_secret(value: Any, shape: Shape) -> bool:
    """Whether showing `value` would give a secret away."""
    if value is None:
        return False
    if shape.kind is Kind.TABLE:
        return any(
            holds_secret(getattr(value, setting.name), setting.shape) for setting in settings_of(shape.core)
        )
    if shape.kind is Kind.LEAF:
        return is_kept_out(value, shape)
    assert shape.item is not None
    members = value.values() if isinstance(value, dict) else value
    return any(holds_secret(inner, shape.item) for inner in members)


def example(setting: Setting) -> str:
    """A value that the setting would accept, to show how one is written."""
    if setting.shape.secret and setting.shape.kind is Kind.LEAF:
        return quoted("env:NAME")
    return inline(_sample(setting.shape, setting.example), setting.shape)


def _sample(shape: Shape, given: Any = None) -> Any:
    if given is not None:
        return given
    if shape.kind is Kind.MAPPING:
        return {}
    if shape.kind is Kind.SEQUENCE:
        assert shape.item is not None
        needed = max((meta.min_length or 0 for meta in shape.metas), default=0)
        return [_sample(shape.item)] * needed
    bounds = [bound for meta in shape.metas for bound in (meta.ge, meta.le) if bound is not None]
    steps = [meta.gt + 1 for meta in shape.metas if meta.gt is not None]
    numbers = {"s": [10, 1, 60], "B": [1 << 20, 1024]}.get(shape.unit, [10, 1, 0.5])
    for candidate in [*choices(shape), *numbers, *bounds, *steps, True, *_TEXTS]:
        if isinstance(candidate, bool) != (shape.core is bool):
            continue
        try:
            return msgspec.convert(candidate, shape.annotation)
        except (msgspec.ValidationError, TypeError):  # TypeError: the type itself is none to msgspec
            continue
    return ""


def _leaf(value: Any, shape: Shape) -> str:
    if is_kept_out(value, shape):
        return quoted(AGAIN)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if shape.unit and number and value >= 0 and math.isfinite(value):
        return quoted(print_duration(value) if shape.unit == "s" else print_size(value))
    return _plain(msgspec.to_builtins(value, builtin_types=_DATES))


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, _DATES):
        return value.isoformat()
    if isinstance(value, Mapping):
        return _inline_table({str(key): _plain(inner) for key, inner in value.items()})
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return quoted(str(value))


def _inline_table(entries: Mapping[str, str]) -> str:
    if not entries:
        return "{}"
    return f"{{ {', '.join(f'{key_text(key)} = {text}' for key, text in entries.items())} }}"
