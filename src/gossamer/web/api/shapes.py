"""Describes what is sent and answered, from the types that read and write it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gossamer.daemon.errors import ServiceError
from gossamer.web.api.problem import MEDIA_TYPE, Problem
from gossamer.web.security.body import JSON

T = TypeVar("T")
Schema = dict[str, Any]

_REFERENCE = "#/components/schemas/{name}"
_LARGEST = (1 << 63) - 1


class Shapes:
    """JSON schemas of types, gathered as routes name them; one name stands for one type."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of a type, with references into `components`.

        A name that another type has already is led by the name of the type that brings it.
        """
        (schema,), components = msgspec.json.schema_components((kind,), ref_template=_REFERENCE)
        taken = {name for name, found in components.items() if self._is_other(name, _plain(found))}
        renamed = {name: f"{getattr(kind, '__name__', '')}{name}" for name in taken}
        for old, component in _plain(components, renamed).items():
            name = renamed.get(old, old)
            assert not self._is_other(name, component), f"two types are named {name}"
            self.components[name] = component
        found: Schema = _plain(schema, renamed)
        return found

    def _is_other(self, name: str, component: Schema) -> bool:
        return self.components.get(name, component) != component

    def body(self, kind: type[msgspec.Struct]) -> Schema:
        """For `openapi_extra`: what the request brings."""
        return {"requestBody": {"required": True, "content": {JSON: {"schema": self.of(kind)}}}}

    def query(self, kind: type[msgspec.Struct]) -> Schema:
        """For `openapi_extra`: a struct's fields as parameters of the query."""
        return {
            "parameters": [
                {
                    "name": field.encode_name,
                    "in": "query",
                    "required": field.required,
                    "schema": self.of(field.type),
                }
                for field in msgspec.structs.fields(kind)
            ]
        }

    def answers(self, kind: Any = Any, says: str = "as asked", status: int = 200) -> dict[int | str, Schema]:
        """For `responses`: the type of what is well, and that all else is a problem."""
        return {
            status: {"description": says, "content": {JSON: {"schema": self.of(kind)}}},
            "default": self.trouble(),
        }

    def trouble(self) -> Schema:
        """What every error looks like."""
        return {"description": "what went wrong", "content": {MEDIA_TYPE: {"schema": self.of(Problem)}}}


def _plain(schema: Any, renamed: Mapping[str, str] = MappingProxyType({})) -> Any:
    """A schema with references to other names, and with tuples as lists of their length, because few programs
    that read OpenAPI know `prefixItems`."""
    if isinstance(schema, list):
        return [_plain(part, renamed) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _plain(part, renamed) for key, part in schema.items()}
    if (places := found.pop("prefixItems", None)) is not None:
        found["items"] = {"anyOf": [kind for at, kind in enumerate(places) if kind not in places[:at]]}
    if isinstance(target := found.get("$ref"), str):
        name = target.rpartition("/")[2]
        found["$ref"] = _REFERENCE.format(name=renamed.get(name, name))
    return found


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value of ours as JSON."""
    body = msgspec.json.encode(value)
    return Response(body, status_code=status, media_type=JSON, headers=headers)


async def sent(request: Request, kind: type[T]) -> T:
    """What the request brings.

    Raises:
        ServiceError: `invalid`: not that shape.
    """
    body = await request.body()
    return _read(lambda: msgspec.json.decode(body or b"{}", type=kind))


def asked(request: Request, kind: type[T]) -> T:
    """The parameters of the query.

    Raises:
        ServiceError: `invalid`: not that shape, or one of them is given twice.
    """
    pairs = request.query_params.multi_items()
    given = dict(pairs)
    if len(given) < len(pairs):
        raise ServiceError("invalid", "a parameter is given twice")
    return _read(lambda: msgspec.convert(given, kind, strict=False))


def plain(params: msgspec.Struct) -> dict[str, Any]:
    """Parameters as they go to a crawl: without what was not said."""
    given: dict[str, Any] = msgspec.to_builtins(params)
    return {name: value for name, value in given.items() if value is not None}


def result_of(function: Callable[..., Any]) -> Any:
    """The type that a view or operation promises."""
    return get_type_hints(function).get("return", Any)


def _read(read: Callable[[], T]) -> T:
    try:
        value = read()
        msgspec.json.encode(value)  # whole numbers beyond 64 bits can be read, and not passed on
    except (msgspec.DecodeError, OverflowError, RecursionError) as error:
        text, _, path = str(error).partition(" - at `$")
        where = path.strip("`.")
        raise ServiceError("invalid", text, (f"{where}: {text}",) if where else ()) from None
    return value
