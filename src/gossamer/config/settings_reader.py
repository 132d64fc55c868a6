"""Reads settings: a TOML file and overrides become one tree, and the tree a checked struct."""

import math
import re
import tomllib
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gossamer.config.dotted import MOST_PARTS, join_path, nearest, split_path
from gossamer.config.secret_values import is_reference
from gossamer.config.shape import Kind, Setting, Shape, choices, leaf_paths, settings_of
from gossamer.config.units import parse_duration, parse_size
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, WrongValueError, because, of, placed, text

Tree = dict[str, Any]
S = TypeVar("S", bound=msgspec.Struct)

MAX_FILE = 16 << 20
_TOML_BREAKS = frozenset("=,[]{}\n")
_TOML_TOKEN = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"""|\'\'\'(?:[^\']++|\'(?!\'\'))*+\'\'\'|"(?:[^"\\\n]++|\\.)*+"|\'[^\'\n]*+\'|#[^\n]*+|[.=,\[\]{}\n]',
    re.DOTALL,
)
"""Texts and comments as wholes, dots, and what a name does not go beyond."""
_HINTED = 20
"""Problems up to which unknown keys are compared with all settings, at some ms each: a text may hold many."""
_NOTHING = object()


def parse_toml(text: str) -> Tree:
    """The tree in a text of TOML, from anybody.

    Raises:
        ConfigError: it is not TOML, or its names have too many parts: `tomllib` takes memory by their square.
    """
    parts = 0
    for token in _TOML_TOKEN.finditer(text):
        mark = token[0]
        if mark == ".":
            parts += 1
            if parts == MOST_PARTS:
                line = text.count("\n", 0, token.start()) + 1
                raise ConfigError(f"a name of more than {MOST_PARTS} parts (line {line})")
        elif mark in _TOML_BREAKS:
            parts = 0
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of 5,000 digits and of 1,000 brackets
        raise ConfigError(str(error)) from None


def read_toml(path: Path) -> Tree:
    """The tree in a TOML file.

    Raises:
        ConfigError: the file cannot be read, or is not TOML; names the line.
    """
    try:
        if path.stat().st_size > MAX_FILE:
            raise ConfigError(f"{path}: larger than {MAX_FILE >> 20} MiB, so it is no configuration")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 (byte {error.start})") from None
    try:
        return parse_toml(text)
    except ConfigError as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from None


def merge(tree: Tree, overrides: Mapping[str, Any]) -> Tree:
    """A copy of `tree` in which each dotted path (`host."example.org".min_delay`) has its value.

    Raises:
        ConfigError: a path cannot be read, or leads through something that is no table.
    """
    merged: Tree = _copied(tree)
    problems: list[str] = []
    for path, value in overrides.items():
        try:
            *tables, key = split_path(path)
        except ValueError as error:
            problems.append(str(error))
            continue
        table = merged
        for depth, name in enumerate(tables):
            inner = table.setdefault(name, {})
            if not isinstance(inner, dict):
                problems.append(f"{path}: {join_path(tables[: depth + 1])} is not a table")
                break
            table = inner
        else:
            table[key] = value
    if problems:
        raise ConfigError(*problems)
    return merged


def load(struct_type: type[S], tree: Tree) -> S:
    """The settings of `tree`, checked; what it leaves out has its default.

    Numbers that carry a unit may be text (`"10s"`, `"64MiB"`); `"none"` empties an optional setting. A struct
    that had another form makes the tree what it is now, by its `renewed`.

    Raises:
        ConfigError: lists every unknown key, wrong type and impossible value with its path.
    """
    renew = getattr(struct_type, "renewed", None)
    if renew is not None and isinstance(tree, dict):
        tree = renew(tree)
    reader = _Reader(struct_type)
    struct = reader.table(tree, struct_type, [], default=None)
    if reader.problems:
        raise ConfigError(*reader.problems)
    return typing.cast("S", struct)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


class _Reader:
    """Walks a tree along a struct type and notes every problem; what has one comes back as `_NOTHING`."""

    def __init__(self, root: type[msgspec.Struct]) -> None:
        self.problems: list[Reason] = []
        self._root = root
        self._named: set[tuple[str, ...]] = set()
        """Paths of tables that stand under a name of the user's, as those of places do."""

    def table(
        self, tree: Any, struct_type: type[msgspec.Struct], path: list[str], default: msgspec.Struct | None
    ) -> Any:
        """A struct from a table; what is left out comes from `default`, or else the struct's own."""
        if not isinstance(tree, dict):
            return self._problem(path, because(ProblemCode.TABLE, _shown(tree)))
        settings = {setting.key: setting for setting in settings_of(struct_type)}
        values: dict[str, Any] = {}
        for key, value in tree.items():
            if key in settings:
                values[settings[key].name] = self._setting(value, settings[key], [*path, key], default)
            else:
                self._unknown(key, value, path, struct_type)
        for key, setting in settings.items():
            if key in tree:
                continue
            if default is not None:
                values[setting.name] = getattr(default, setting.name)
            elif setting.required:
                values[setting.name] = self._problem([*path, key], Reason(ProblemCode.MISSING))
        if any(value is _NOTHING for value in values.values()):
            return _NOTHING
        try:
            return struct_type(**values)
        except WrongValueError as error:
            for where, problem in map(placed, error.reasons):
                self._problem([*path, *_keys(where)], problem)
            return _NOTHING
        except ValueError as error:
            for line in _masked(str(error), values, struct_type).splitlines():
                key, colon, rest = line.partition(": ")
                inner = bool(colon) and key in settings
                self._problem([*path, key] if inner else path, rest if inner else line)
            return _NOTHING

    def _setting(self, value: Any, setting: Setting, path: list[str], owner: msgspec.Struct | None) -> Any:
        default = getattr(owner, setting.name) if owner is not None else setting.default
        if value == "none" and setting.reads_none(default):
            return None
        return self._value(value, setting.shape, path, default)

    def _value(self, value: Any, shape: Shape, path: list[str], default: Any = None) -> Any:
        if shape.kind is Kind.TABLE:
            return self.table(value, shape.core, path, default)
        if shape.kind is Kind.MAPPING:
            return self._mapping(value, shape, path)
        if shape.kind is Kind.SEQUENCE:
            return self._sequence(value, shape, path)
        return self._leaf(value, shape, path)

    def _mapping(self, value: Any, shape: Shape, path: list[str]) -> Any:
        if not isinstance(value, dict):
            return self._problem(path, because(ProblemCode.TABLE, _shown(value, shape)))
        assert shape.item is not None
        self._named |= {(*path, key) for key in value}
        items = {key: self._value(inner, shape.item, [*path, key]) for key, inner in value.items()}
        return self._collected(items, items.values(), shape, path)

    def _sequence(self, value: Any, shape: Shape, path: list[str]) -> Any:
        if not isinstance(value, list | tuple):
            of_texts = shape.item is not None and shape.item.core is str
            code = ProblemCode.TEXTS if of_texts else ProblemCode.LIST
            return self._problem(path, because(code, _shown(value, shape)))
        assert shape.item is not None
        items = [
            self._value(inner, shape.item, [*path[:-1], f"{path[-1]}[{number}]"])
            for number, inner in enumerate(value)
        ]
        return self._collected(items, items, shape, path)

    def _collected(self, items: Any, values: Any, shape: Shape, path: list[str]) -> Any:
        if any(value is _NOTHING for value in values):
            return _NOTHING
        for meta in shape.metas:
            if meta.min_length is not None and len(items) < meta.min_length:
                return self._problem(path, because(ProblemCode.TOO_FEW, meta.min_length, len(items)))
            if meta.max_length is not None and len(items) > meta.max_length:
                return self._problem(path, because(ProblemCode.TOO_MANY, meta.max_length, len(items)))
        return items if isinstance(items, dict) else typing.get_origin(shape.core)(items)

    def _leaf(self, value: Any, shape: Shape, path: list[str]) -> Any:
        if isinstance(value, str) and (flaw := _flaw(value)):
            return self._problem(path, flaw)
        if shape.secret and is_reference(value):
            return value
        try:
            if shape.unit and isinstance(value, str):
                value = _with_unit(value, shape)
            if isinstance(value, float) and not math.isfinite(value):
                return self._problem(path, because(ProblemCode.NUMBER, str(value)))
            return msgspec.convert(value, shape.annotation)
        except msgspec.ValidationError as error:
            return self._problem(path, _explained(str(error), value, shape))
        except WrongValueError as error:
            return self._problem(path, *error.reasons)
        except ValueError as error:
            return self._problem(path, str(error))

    def _unknown(self, key: str, value: Any, path: list[str], struct_type: type[msgspec.Struct]) -> None:
        """What a struct itself knows of a name that is none of its settings (`unknown_setting`), or the nearest."""
        unknown = getattr(struct_type, "unknown_setting", None)
        told: Reason | None = unknown(key, self._root) if unknown is not None else None
        if told is not None:
            self._problem([*path, key], told)
            return
        near = ""
        if len(self.problems) < _HINTED:
            known = dict.fromkeys(
                (
                    *(join_path([*path, setting.key]) for setting in settings_of(struct_type)),
                    *leaf_paths(self._root),
                )
            )
            near = nearest(join_path([*path, key]), known)
        if not near and isinstance(value, dict) and tuple(path) in self._named and "." not in path[-1]:
            # `[place.example.org]`, which TOML reads as three names
            near = join_path([*path[:-1], ".".join([path[-1], key, *_further(value, struct_type)])])
        self._problem([*path, key], not_a_setting(near))

    def _problem(self, path: list[str], problem: Reason | str) -> Any:
        told = text(problem) if isinstance(problem, str) else problem
        self.problems.append(of(join_path(path), told) if path else told)
        return _NOTHING


def _further(table: dict[str, Any], struct_type: type[msgspec.Struct]) -> list[str]:
    """The rest of a name with dots that stood without quotes, up to the table with its settings."""
    settings = {setting.key for setting in settings_of(struct_type)}
    rest: list[str] = []
    while len(table) == 1:
        ((key, inner),) = table.items()
        if key in settings or not isinstance(inner, dict):
            break
        rest.append(key)
        table = inner
    return rest


def _keys(inner: str) -> list[str]:
    """The keys of a path within a struct, as its own check gave it; what is no path is one key."""
    try:
        return split_path(inner) if inner else []
    except ValueError:
        return [inner]


def not_a_setting(near: str) -> Reason:
    """What is wrong with a name; `near`: the settings that are spelt most like it."""
    return because(ProblemCode.NOT_SETTING_NEAR, near) if near else Reason(ProblemCode.NOT_SETTING)


def _flaw(text: str) -> str:
    """Why a text can be neither written into `crawl.toml` nor name a file; empty if it can."""
    try:
        text.encode()
    except UnicodeEncodeError:  # bytes of a command line that are none come as surrogates
        return "is not UTF-8"
    return "holds a character NUL" if "\0" in text else ""


def _with_unit(text: str, shape: Shape) -> Any:
    """The number in `text`; the text itself where it is a value of its own (`Seconds | Literal["auto"]`)."""
    try:
        return msgspec.convert(text, shape.annotation)
    except msgspec.ValidationError:
        number = parse_duration(text) if shape.unit == "s" else parse_size(text)
        return int(number) if shape.core is int and number == int(number) else number


_EXPECTED = {
    "`int`": (ProblemCode.WHOLE, ProblemCode.WHOLE_BOUND),
    "`float`": (ProblemCode.NUMBER, ProblemCode.NUMBER_BOUND),
    "`str`": (ProblemCode.TEXT, None),
    "`bool`": (ProblemCode.BOOLEAN, None),
    "`array`": (ProblemCode.LIST, None),
    "`object`": (ProblemCode.TABLE, None),
}
"""By the type that msgspec expected; the second is for a bound behind it."""
_TYPE_WORDS = {"`int`": "a whole number", "`float`": "a number", "`str`": "text", "`null`": "none"}


def _explained(said: str, value: Any, shape: Shape) -> Reason:
    """msgspec's sentence as a problem, with the value unless it is secret; it is read here alone."""
    shown = _shown(value, shape)
    words = choices(shape)
    if words:
        from difflib import get_close_matches  # for wrong values alone

        near = get_close_matches(str(value), words, 1)
        listed = ", ".join(words)
        if near:
            return because(ProblemCode.ONE_OF_NEAR, listed, shown, near[0])
        return because(ProblemCode.ONE_OF, listed, shown)
    said = said.partition(" - at `$")[0].partition(", got ")[0]
    kind, _, bound = said.removeprefix("Expected ").partition(" ")
    plain, bounded = _EXPECTED.get(kind, (None, None))
    if plain is not None and not bound:
        return because(plain, shown)
    if bounded is not None and bound[0] in "<>":
        return because(bounded, bound, shown)
    for word, words_for_it in _TYPE_WORDS.items():
        said = said.replace(word, words_for_it)
    return text(f"{said[0].lower()}{said[1:]}, got {shown}")


def _shown(value: Any, shape: Shape | None = None) -> str:
    if shape is not None and shape.secret:
        return "something else"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _masked(text: str, values: Mapping[str, Any], struct_type: type[msgspec.Struct]) -> str:
    """`text` without the secrets among `values`, which a struct's own check may have quoted."""
    secret = {setting.name for setting in settings_of(struct_type) if setting.shape.secret}
    for name, value in values.items():
        if name in secret:
            for part in _texts(value):
                text = text.replace(part, "***")
    return text


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _texts(inner)
