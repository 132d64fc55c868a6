"""Writes settings as TOML files: the commented default, and what a crawl runs with."""

import textwrap
from typing import Any

import msgspec

from gossamer.config.dotted import join_path, key_text
from gossamer.config.shape import Kind, Setting, Shape, choices, settings_of
from gossamer.config.toml_text import entry, example, inline
from gossamer.config.units import print_duration, print_size
from gossamer.model.errors import ConfigError

_WIDTH = 100


def to_toml(struct: msgspec.Struct) -> str:
    """The settings of `struct`; `load` reads an equal struct back.

    In the place of a secret stands `again:`, which whoever goes on by the file must give again; references to
    secrets (`env:NAME`) are written.

    Raises:
        ConfigError: a value that TOML or `load` would read as another.
    """
    writer = _EffectiveWriter()
    writer.table(struct, [], default=None)
    return writer.text()


def commented_toml(struct_type: type[msgspec.Struct]) -> str:
    """Every setting with its default and what it is for.

    A line that begins with `#` and a blank is a comment; one that begins with `#` alone is a setting
    that has no default, or an example of a section.
    """
    writer = _DefaultWriter()
    writer.table(struct_type, [], default=None, mark="")
    return writer.text()


def _is_section(value: Any, shape: Shape) -> bool:
    """Whether a value gets a heading of its own, so that it must stand behind the plain settings."""
    if shape.kind is Kind.SEQUENCE:
        assert shape.item is not None
        return shape.item.kind is Kind.TABLE and bool(value)
    return shape.kind is Kind.TABLE or (shape.kind is Kind.MAPPING and bool(value))


class _EffectiveWriter:
    """Writes the values that a struct has."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def text(self) -> str:
        return "\n".join(self._lines).strip("\n") + "\n"

    def table(self, struct: msgspec.Struct, path: list[str], default: msgspec.Struct | None) -> None:
        sections: list[tuple[Setting, Any, Any]] = []
        for setting in settings_of(type(struct)):
            value = getattr(struct, setting.name)
            standard = getattr(default, setting.name) if default is not None else setting.default
            if value is not None and _is_section(value, setting.shape):
                sections.append((setting, value, standard))
            else:
                self._plain(setting, value, standard, path)
        for setting, value, standard in sections:
            self._section(setting.shape, value, standard, [*path, setting.key])

    def _plain(self, setting: Setting, value: Any, standard: Any, path: list[str]) -> None:
        if value is None and (standard is None or setting.required):
            return
        word = setting.reads_none(standard)
        if (value is None and not word) or (value == "none" and word):
            raise ConfigError(f"{join_path([*path, setting.key])}: the value {value!r} cannot be written")
        self._lines += entry(setting.key, value, setting.shape)

    def _section(self, shape: Shape, value: Any, standard: Any, path: list[str]) -> None:
        if shape.kind is Kind.TABLE:
            self._heading(f"[{join_path(path)}]")
            self.table(value, path, standard)
            return
        assert shape.item is not None
        if shape.kind is Kind.SEQUENCE:
            for member in value:
                self._heading(f"[[{join_path(path)}]]")
                self.table(member, path, None)
            return
        sections = {key for key, inner in value.items() if _is_section(inner, shape.item)}
        if len(sections) < len(value):
            self._heading(f"[{join_path(path)}]")
        for key in value:
            if key not in sections:
                self._lines.append(f"{key_text(key)} = {inline(value[key], shape.item)}")
        for key in value:
            if key in sections:
                self._section(shape.item, value[key], None, [*path, key])

    def _heading(self, text: str) -> None:
        self._lines += ["", text]


class _DefaultWriter:
    """Writes what a struct type has by default, with comments. `mark` is `#` inside what is an example."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def text(self) -> str:
        return "\n".join(self._lines).strip("\n") + "\n"

    def table(
        self, struct_type: type[msgspec.Struct], path: list[str], default: msgspec.Struct | None, mark: str
    ) -> None:
        sections: list[tuple[Setting, Any]] = []
        for setting in settings_of(struct_type):
            value = getattr(default, setting.name) if default is not None else setting.default
            if _is_section([True], setting.shape):
                sections.append((setting, value))
            else:
                self._plain(setting, value, mark)
        for setting, value in sections:
            if not setting.told_elsewhere:
                self._section(setting, value, [*path, setting.key], mark)

    def _plain(self, setting: Setting, value: Any, mark: str) -> None:
        required = setting.required and value is None
        self._lines.append("")
        self._comment(sentence(setting, required))
        if value is None or setting.shape.secret:
            self._lines.append(f"#{key_text(setting.key)} = {example(setting)}")
        elif not mark:
            self._lines += entry(setting.key, value, setting.shape)
        else:
            self._lines.append(f"{mark}{key_text(setting.key)} = {inline(value, setting.shape)}")

    def _section(self, setting: Setting, value: Any, path: list[str], mark: str) -> None:
        shape = setting.shape
        self._lines.append("")
        self._comment(sentence(setting, setting.required and value is None))
        if shape.kind is Kind.TABLE:
            self._comment(_first_line(shape.core))
            if value is None:
                mark = "#"
            self._lines.append(f"{mark}[{join_path(path)}]")
            self.table(shape.core, path, value, mark)
            return
        assert shape.item is not None
        if shape.kind is Kind.SEQUENCE:
            inner = mark if value else "#"
            for number, member in enumerate(value or [None]):
                self._lines += [""] * (number > 0)
                self._lines.append(f"{inner}[[{join_path(path)}]]")
                before = len(self._lines)
                self.table(shape.item.core, path, member, inner)
                if number:  # what the settings mean, the first member says
                    told = self._lines[before:]
                    self._lines[before:] = [line for line in told if line and not line.startswith("# ")]
            return
        self._mapping(setting, value or {}, path, mark)

    def _mapping(self, setting: Setting, value: dict[str, Any], path: list[str], mark: str) -> None:
        item = setting.shape.item
        assert item is not None
        if item.kind is Kind.TABLE:
            for key, member in value.items() or [("example.org", None)]:
                inner = mark if value else "#"
                self._lines.append(f"{inner}[{join_path([*path, key])}]")
                self.table(item.core, [*path, key], member, inner)
            return
        self._lines.append(f"{mark if value else '#'}[{join_path(path)}]")
        for key, member in value.items():
            self._lines.append(f"{mark}{key_text(key)} = {inline(member, item)}")
        if not value:
            shown = setting.example or {"name": None}
            for key, member in shown.items():
                sample = msgspec.structs.replace(setting, shape=item, example=member)
                self._lines.append(f"#{key_text(key)} = {example(sample)}")

    def _comment(self, text: str) -> None:
        if text:
            self._lines += textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _first_line(struct_type: type[msgspec.Struct]) -> str:
    return (struct_type.__doc__ or "").strip().partition("\n")[0]


def sentence(setting: Setting, required: bool) -> str:
    """The description, with what limits the value."""
    notes = ["required"] if required else []
    if setting.shape.kind is Kind.LEAF:
        notes += _limits(setting.shape)
    notes += ["can differ by place"] * (setting.by_place is not None)
    note = f"({'; '.join(notes)})" if notes else ""
    return " ".join(part for part in (setting.description.strip(), note) if part)


def _limits(shape: Shape) -> list[str]:
    words = choices(shape)
    if words:
        return [f"one of {', '.join(words)}"]
    least: Any = None
    most: Any = None
    for meta in shape.metas:
        least = meta.ge if meta.ge is not None else least
        most = meta.le if meta.le is not None else most
    limits = []
    if least:  # that nothing may be negative goes without saying
        limits.append(f"at least {_limit(least, shape)}")
    if most is not None:
        limits.append(f"at most {_limit(most, shape)}")
    return limits


def _limit(bound: float, shape: Shape) -> str:
    if not shape.unit:
        return str(bound)
    return print_duration(bound) if shape.unit == "s" else print_size(int(bound))
