"""Describes routes, what is sent and answered, from the types that read and write it."""

import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Protocol, TypeVar, get_type_hints

import msgspec
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from gossamer.daemon.errors import ServiceError
from gossamer.web.api.problem import MEDIA_TYPE, Problem
from gossamer.web.security.body import JSON

MOST = 1000
"""Items of a page."""

Cursor = Annotated[str | None, Query(max_length=4096, description="from the page before")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="items of a page")]

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
        schema, components = _described(kind)
        taken = {name for name, found in components.items() if self._is_other(name, found)}
        if not taken:
            self.components.update(components)
            return schema
        renamed = {name: f"{getattr(kind, '__name__', '')}{name}" for name in taken}
        for old, component in _plain(components, renamed).items():
            name = renamed.get(old, old)
            assert not self._is_other(name, component), f"two types are named {name}"
            self.components[name] = component
        found: Schema = _plain(schema, renamed)
        return found

    def _is_other(self, name: str, component: Schema) -> bool:
        return self.components.get(name, component) != component

    def body(self, kind: Any) -> Schema:
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

    def files(self, *media_types: str) -> dict[int | str, Schema]:
        """The responses of a route that gives a file, of one of some media types. Of JSON any value may come."""
        content = {
            kind: {"schema": {} if "json" in kind else {"type": "string", "format": "binary"}}
            for kind in media_types
        }
        return {200: {"description": "the file", "content": content}, "default": self.trouble()}

    def trouble(self) -> Schema:
        """What every error looks like."""
        return {"description": "what went wrong", "content": {MEDIA_TYPE: {"schema": self.of(Problem)}}}


@functools.cache
def _described(kind: Any) -> tuple[Schema, dict[str, Schema]]:
    """A type's schema and the components it refers to.

    Kept, because a hundred routes name few types (most of them the same problem), and describing one again for
    each was a third of what the application costs to put together.
    """
    (schema,), components = msgspec.json.schema_components((kind,), ref_template=_REFERENCE)
    return _plain(schema), _plain(components)


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


class Routes:
    """The routes of one part of the interface.

    Args:
        tag: of the part, as the description has it.
        shapes: gathers what they send and answer.
        usual: responses of those that name no others.
    """

    def __init__(self, tag: str, shapes: Shapes, usual: dict[int | str, Schema]) -> None:
        self.router = APIRouter(tags=[tag])
        self._shapes = shapes
        self._usual = usual

    def add(
        self,
        method: str,
        path: str,
        route: Callable[..., Any],
        says: str,
        *,
        brings: Any = None,
        **more: Any,
    ) -> None:
        """Add a route.

        Args:
            brings: type of the request's body.
            more: for FastAPI; `operation_id` is the function's name if not given, `responses` the usual ones.
        """
        if brings is not None:
            more["openapi_extra"] = self._shapes.body(brings)
        more.setdefault("responses", self._usual)
        more.setdefault("operation_id", route.__name__)
        self.router.add_api_route(path, route, methods=[method], summary=says, **more)

    def add_silent(self, method: str, path: str, route: Callable[..., Any], says: str) -> None:
        """Add a route that answers nothing but that it is done."""
        self.add(method, path, route, says, status_code=204, responses={"default": self._shapes.trouble()})


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


class Named(Protocol):
    """Something that has a name."""

    @property
    def name(self) -> str:
        """By which it stands in its list."""


Item = TypeVar("Item", bound=Named)


def page_after(items: Sequence[Item], cursor: str | None, limit: int) -> tuple[list[Item], str | None]:
    """Items after a name, and the cursor of the next page; the list is sorted by name."""
    rest = [item for item in items if cursor is None or item.name > cursor]
    page = rest[:limit]
    return page, page[-1].name if len(rest) > limit else None
