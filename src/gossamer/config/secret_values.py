"""Secrets in settings: kept out of every file, and named by reference instead."""

import os
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gossamer.config.dotted import join_path
from gossamer.config.shape import Kind, Shape, settings_of
from gossamer.model.errors import ConfigError, SecretError

S = TypeVar("S", bound=msgspec.Struct)

AGAIN = "again:"
"""Stands in files in the place of a secret that was given by hand; whoever goes on must give it again."""
_MAX_SECRET = 64 << 10


def is_reference(value: Any) -> bool:
    """Whether a secret says where it is kept (`env:NAME`, `file:PATH`, or nowhere) instead of what it is."""
    return isinstance(value, str) and value.startswith(("env:", "file:", AGAIN))


def is_kept_out(value: Any, shape: Shape) -> bool:
    """Whether a leaf is a secret itself: no reference, nor empty, nor a URL without user and password where only
    these are secret."""
    if not shape.secret or value in (None, "") or is_reference(value):
        return False
    return not shape.secret_login or "@" in value


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
    found = resolver.named(value, [])
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
        except SecretError as error:
            for line in str(error).splitlines():
                name, _, problem = line.partition(": ")
                held = f"what {getattr(struct, name)} holds: " if name in changes else ""
                self._problem([*path, name], held + problem)
            return struct
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
        secret = self.named(value, path)
        if secret is None:
            return value
        try:
            return msgspec.convert(secret, shape.annotation)
        except msgspec.ValidationError:
            self._problem(path, f"what {value} holds is not a possible value")
            return value

    def named(self, reference: str, path: list[str]) -> str | None:
        """What a reference names; `None` and a problem if it leads nowhere."""
        kind, _, name = reference.partition(":")
        match kind:
            case "env":
                return self._from_environment(name, path)
            case "file":
                return self._from_file(name, path)
        self._problem(path, 'a secret is not written down; give it again, or as "env:NAME" or "file:PATH"')
        return None

    def _from_environment(self, name: str, path: list[str]) -> str | None:
        """The value of a variable; `None` and a problem if it is not set."""
        secret = self._environment.get(name)
        if secret is None:
            self._problem(path, f"the environment variable {name} is not set")
        return secret

    def _from_file(self, name: str, path: list[str]) -> str | None:
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
