"""What a struct of settings looks like: its fields, their units, defaults and secrets."""

import types
import typing
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import NODEFAULT, Meta

from gossamer.policy.places.known import MARK, Known

SECRET_NAMES = frozenset({"password", "token"})
"""Settings of these names are secret even where their owner forgot to mark them: leaking is worse."""


class Kind(Enum):
    """How a setting is written in TOML."""

    TABLE = "table"  # a struct
    MAPPING = "mapping"  # names of the operator's choosing: dict[str, X]
    SEQUENCE = "sequence"  # a list of X
    LEAF = "leaf"  # one value


class Shape(msgspec.Struct, frozen=True):
    """One type, taken apart.

    Attributes:
        kind: how it is written.
        annotation: the whole type with its constraints, as msgspec understands it.
        core: the class or generic alias inside; the struct of a table.
        item: of the values of a mapping or the members of a sequence.
        optional: `None` is allowed.
        unit: `s`, `B` or empty.
        secret: the value must never be written or shown.
        metas: constraints and descriptions, the innermost first.
        secret_login: of a secret URL only user and password are secret: one without them may be written.
    """

    kind: Kind
    annotation: Any
    core: Any
    item: "Shape | None"
    optional: bool
    unit: str
    secret: bool
    metas: tuple[Meta, ...]
    secret_login: bool = False

    @property
    def textual(self) -> bool:
        """Whether any text is a value of it."""
        return self.kind is Kind.LEAF and (self.core is str or self.core is Any)


class Setting(msgspec.Struct, frozen=True):
    """One field of a struct of settings."""

    name: str
    key: str
    shape: Shape
    description: str
    example: Any
    required: bool
    default: Any

    @property
    def told_elsewhere(self) -> bool:
        """Whether all that is in it is described with another section, of which it is a part."""
        return bool(getattr(self.shape.core, "told_elsewhere", False))

    @property
    def by_place(self) -> Known | None:
        """What is known when it is asked for, if it may differ by place."""
        return next(
            (meta.extra[MARK] for meta in self.shape.metas if meta.extra and MARK in meta.extra), None
        )

    def reads_none(self, default: Any) -> bool:
        """Whether the word `none` stands for `None`. TOML has no null, and leaving out means `default`.

        For a text that is `None` by default, leaving out suffices, so there the word stays a word.
        """
        return self.shape.optional and not (self.shape.textual and default is None)


@cache
def settings_of(struct_type: type[msgspec.Struct]) -> tuple[Setting, ...]:
    """The fields of `struct_type`, in order."""
    return tuple(map(_setting, msgspec.structs.fields(struct_type)))


def choices(shape: Shape) -> list[str]:
    """The values of an enumeration or `Literal`; empty for other types."""
    core = shape.core
    if isinstance(core, type) and issubclass(core, Enum):
        return [str(member.value) for member in core]
    return (
        [str(member) for member in typing.get_args(core)] if typing.get_origin(core) is typing.Literal else []
    )


def leaf_paths(struct_type: type[msgspec.Struct], prefix: str = "") -> Iterator[str]:
    """Dotted paths of all settings that do not lie in a mapping or sequence."""
    for setting in settings_of(struct_type):
        if setting.shape.kind is Kind.TABLE:
            yield from leaf_paths(setting.shape.core, f"{prefix}{setting.key}.")
        else:
            yield f"{prefix}{setting.key}"


def _setting(field: msgspec.structs.FieldInfo) -> Setting:
    shape = shape_of(field.type, secret=field.name in SECRET_NAMES)
    description, example = "", None
    for meta in shape.metas:
        description = meta.description or description
        example = meta.examples[0] if meta.examples else example
    default = field.default
    if field.default_factory is not NODEFAULT:
        default = field.default_factory()
    return Setting(
        field.name,
        field.encode_name,
        shape,
        description,
        example,
        field.required,
        None if field.required else default,
    )


def shape_of(annotation: Any, *, secret: bool = False) -> Shape:
    """Take a type apart. What lies inside a secret is secret."""
    core, metas, optional = _unwrap(annotation)
    extra: dict[str, Any] = {}
    for meta in metas:
        extra |= meta.extra or {}
    secret = secret or bool(extra.get("secret"))
    kind, item = Kind.LEAF, None
    origin, arguments = typing.get_origin(core), typing.get_args(core)
    if isinstance(core, type) and issubclass(core, msgspec.Struct):
        kind = Kind.TABLE
    elif origin is dict and arguments[0] is str:
        kind, item = Kind.MAPPING, shape_of(arguments[1], secret=secret)
    elif origin in (list, set, frozenset) or (origin is tuple and arguments[1:] == (...,)):
        kind, item = Kind.SEQUENCE, shape_of(arguments[0], secret=secret)
    return Shape(
        kind,
        annotation,
        core,
        item,
        optional,
        extra.get("unit", ""),
        secret,
        metas,
        bool(extra.get("secret_login")),
    )


def _unwrap(annotation: Any) -> tuple[Any, tuple[Meta, ...], bool]:
    """The type inside any `Annotated` and `X | None`, the metas met on the way, whether `None` was."""
    metas: tuple[Meta, ...] = ()
    optional = False
    while True:
        origin = typing.get_origin(annotation)
        if origin is Annotated:
            annotation, *found = typing.get_args(annotation)
            metas = (*(meta for meta in found if isinstance(meta, Meta)), *metas)
            continue
        if origin in (typing.Union, types.UnionType):
            members = typing.get_args(annotation)
            others = [member for member in members if member is not type(None)]
            optional = optional or len(others) < len(members)
            if len(others) == 1:
                annotation = others[0]
                continue
            metas = (*(meta for member in others for meta in _unwrap(member)[1]), *metas)
        return annotation, metas, optional
