"""The settings that the console offers to change while a crawl runs, as fields of a form."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from gossamer.config.dotted import join_path
from gossamer.config.units import print_duration, print_size
from gossamer.web.console.jobs.new_job import typed
from gossamer.words.catalogue import Words


class LiveField(msgspec.Struct, frozen=True):
    """A setting with its label in the catalogue."""

    path: str
    label: str
    kind: Literal["text", "number", "lines", "choice"] = "text"
    choices: tuple[str, ...] = ()


GROUPS: tuple[tuple[str, tuple[LiveField, ...]], ...] = (
    (
        "speed",
        (
            LiveField("engine.workers", "workers", "number"),
            LiveField("politeness.min_delay", "min_delay"),
            LiveField("fetch.max_speed", "max_speed"),
            LiveField("fetch.max_host_speed", "max_host_speed"),
        ),
    ),
    (
        "scope",
        (
            LiveField("scope.mode", "mode", "choice", ("host", "domain", "prefix", "any")),
            LiveField("scope.max_depth", "max_depth", "number"),
            LiveField("scope.exclude", "exclude", "lines"),
            LiveField("scope.include", "include", "lines"),
            LiveField("scope.hosts", "hosts", "lines"),
            LiveField("scope.block", "block", "lines"),
        ),
    ),
    (
        "budget",
        (
            LiveField("budget.max_pages", "max_pages", "number"),
            LiveField("budget.max_bytes", "max_bytes"),
            LiveField("budget.max_time", "max_time"),
            LiveField("budget.pages_per_host", "pages_per_host", "number"),
        ),
    ),
)
OFFERED = frozenset(field.path for _, fields in GROUPS for field in fields)
_KINDS = {field.path: field.kind for _, fields in GROUPS for field in fields}


class ShownField(msgspec.Struct):
    """A field as the page shows it; `was` is what stood there when the page was made."""

    path: str
    label: str
    kind: str
    choices: tuple[str, ...]
    value: str
    was: str


def shown_groups(
    described: Mapping[str, Mapping[str, Any]], tree: Mapping[str, Any], form: Mapping[str, str]
) -> list[tuple[str, list[ShownField]]]:
    """The fields with what is in force, or with what was typed in if the form comes back."""
    groups = []
    for name, fields in GROUPS:
        shown = []
        for field in fields:
            about = described.get(field.path)
            if about is None and described:
                continue  # this crawl has no such setting
            value = _found(tree, field.path)
            was = form.get(f"was:{field.path}", written(value, str((about or {}).get("unit", ""))))
            shown.append(
                ShownField(
                    field.path,
                    field.label,
                    field.kind,
                    field.choices,
                    form.get(f"set:{field.path}", was),
                    was,
                )
            )
        if shown:
            groups.append((name, shown))
    return groups


class SettingLine(msgspec.Struct, frozen=True):
    """A setting that is in force, with its field."""

    path: str
    value: str
    description: str = ""
    live: bool = True


def effective(
    described: Mapping[str, Mapping[str, Any]], tree: Mapping[str, Any], t: Words
) -> list[SettingLine]:
    """Every setting with its value and meaning, those of single hosts last."""
    lines = [
        SettingLine(
            path,
            "***" if about.get("secret") else written(_found(tree, path), str(about.get("unit", ""))),
            t.meaning(path, str(about.get("description", ""))),
            bool(about.get("live")),
        )
        for path, about in described.items()
    ]
    for host, overrides in (tree.get("host") or {}).items():
        lines += (
            SettingLine(join_path(["host", host, field]), written(value, ""))
            for field, value in overrides.items()
            if value is not None
        )
    return lines


def changes_of(form: Mapping[str, str]) -> dict[str, Any]:
    """What the form changes: fields that differ from what the page showed. An emptied one is unset."""
    changes: dict[str, Any] = {}
    for name, text in form.items():
        path = name.removeprefix("set:")
        if path == name:
            continue
        kind = _KINDS.get(path, "number")
        if _same(text) != _same(form.get(f"was:{path}", "")):
            changes[path] = _value(text.strip(), kind)
    if path := form.get("path", "").strip():
        changes[path] = _free(form.get("value", "").strip())
    return changes


def written(value: Any, unit: str) -> str:
    """A value as one types it in."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(one if isinstance(one, str) else msgspec.json.encode(one).decode() for one in value)
    if isinstance(value, str):
        return value
    if unit == "B":
        return print_size(int(value))
    if unit == "s":
        return print_duration(float(value))
    return msgspec.json.encode(value).decode()


def _value(text: str, kind: str) -> Any:
    if kind == "lines":
        return typed(text, "lines")
    return typed(text, kind) if text else None


def _free(text: str) -> Any:
    """A value for any path: JSON (true, 5, ["a"]), else plain text; nothing unsets."""
    if not text:
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _same(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _found(tree: Mapping[str, Any], path: str) -> Any:
    value: Any = tree
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
