"""Secrets in settings: kept out of every file, and named by reference instead."""

import os
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gossamer.config.dotted import join_path
from gossamer.config.shape import Kind, Shape, settings_of
from gossamer.model.errors import ConfigError

S = TypeVar("S", bound=msgspec.Struct)

_MAX_SECRET = 64 << 10


def is_reference(value: Any) -> bool:
    """Whether a secret says where it is kept (`env:NAME`, `file:PATH`) instead of what it is."""
    return isinstance(value, str) and value.startswith(("env:", "file:"))


def resolve_secrets(struct: S, environment: Mapping[str, str] | None = None) -> S:
    """`struct` with every reference in a secret setting replaced by what it names.

    Keep the struct with the references for writing (`to_toml`); hand this one only to what needs it.

    Args:
        struct: any tree of settings.
        environment: for `env:NAME`; by default the process's.

    Raises:
        ConfigError: lists every reference that leads nowhere. Never shows a secret.
    """
    resolver = _Resolver(os.environ if environment is None else environment)
    resolved = resolver.table(struct, type(struct), [])
    if resolver.problems:
        raise ConfigError(*resolver.problems)
    return typing.cast("S", resolved)


def secret_of(value: str, environment: Mapping[str, str] | None = None) -> str:
    """What a reference names; any other text as it is.

    Raises:
        ConfigError: it leads nowhere.
    """
    if not is_reference(value):
        return value
    resolver = _Resolver(os.environ if environment is None else environment)
    kind, _, name = value.partition(":")
    found = resolver.from_environment(name, []) if kind == "env" else resolver.from_file(name, [])
    if found is None:
        raise ConfigError(*resolver.problems)
    return found


class _Resolver:
    """Walks a struct and rebuilds the parts that hold references."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self._environment = environment

    def table(
        self, struct: msgspec.Struct, struct_type: type[msgspec.Struct], path: list[str]
    ) -> msgspec.Struct:
        changes: dict[str, Any] = {}
        for setting in settings_of(struct_type):
            value = getattr(struct, setting.name)
            resolved = self._value(value, setting.shape, [*path, setting.key])
            if resolved is not value:
                changes[setting.name] = resolved
        if not changes or self.problems:
            return struct
        try:
            return msgspec.structs.replace(struct, **changes)
        except ValueError:
            # The sentence may quote a secret, so it is not shown.
            names = ", ".join(changes)
            self._problem(path, f"is impossible once its secrets ({names}) are put in")
            return struct

    def _value(self, value: Any, shape: Shape, path: list[str]) -> Any:
        if value is None:
            return None
        if shape.kind is Kind.TABLE:
            return self.table(value, shape.core, path)
        if shape.kind is Kind.LEAF:
            return self._leaf(value, shape, path)
        assert shape.item is not None
        if shape.kind is Kind.MAPPING:
            items = {key: self._value(inner, shape.item, [*path, key]) for key, inner in value.items()}
            return items if any(items[key] is not value[key] for key in items) else value
        members = list(value)
        resolved = [
            self._value(inner, shape.item, [*path[:-1], f"{path[-1]}[{number}]"])
            for number, inner in enumerate(members)
        ]
        changed = any(new is not old for new, old in zip(resolved, members, strict=True))
        return typing.get_origin(shape.core)(resolved) if changed else value

    def _leaf(self, value: Any, shape: Shape, path: list[str]) -> Any:
        if not shape.secret or not is_reference(value):
            return value
        kind, _, name = value.partition(":")
        secret = self.from_environment(name, path) if kind == "env" else self.from_file(name, path)
        if secret is None:
            return value
        try:
            return msgspec.convert(secret, shape.annotation)
        except msgspec.ValidationError:
            self._problem(path, f"what {value} holds is not a possible value")
            return value

    def from_environment(self, name: str, path: list[str]) -> str | None:
        """The value of a variable; `None` and a problem if it is not set."""
        secret = self._environment.get(name)
        if secret is None:
            self._problem(path, f"the environment variable {name} is not set")
        return secret

    def from_file(self, name: str, path: list[str]) -> str | None:
        """What a file holds; `None` and a problem if it cannot be read."""
        try:
            with Path(name).expanduser().open("rb") as file:
                content = file.read(_MAX_SECRET + 1)
            if len(content) > _MAX_SECRET:
                self._problem(path, f"the file {name} is larger than 64 KiB")
                return None
            return content.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except (OSError, RuntimeError) as error:  # RuntimeError: `~` of nobody
            self._problem(
                path, f"the file {name} cannot be read: {getattr(error, 'strerror', None) or error}"
            )
        except UnicodeDecodeError:
            self._problem(path, f"the file {name} is not UTF-8 text")
        return None

    def _problem(self, path: list[str], text: str) -> None:
        self.problems.append(f"{join_path(path)}: {text}" if path else text)
