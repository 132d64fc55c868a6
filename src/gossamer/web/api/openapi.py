"""The OpenAPI description of the interface, and the same as a page: no script, nothing from elsewhere."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from gossamer.web.api.shapes import Shapes, answer
from gossamer.web.console.assets import Assets, own_assets
from gossamer.web.console.request_context import theme_of

_ABOUT = """\
Send a token as `Authorization: Bearer ...` (`gossamer serve-user token NAME` makes one), or log in at
`POST /api/v1/session` and send header `X-CSRF-Token` with whatever is not a GET. Lists come in pages: give
`cursor` of one page to get the next. Errors are `application/problem+json` (RFC 9457)."""
_TAGS = (
    ("session", "Sessions: who is asking."),
    ("jobs", "Jobs: crawls with their settings and state."),
    ("crawl", "One crawl: what it does, why, and what it shall do."),
    ("reading", "What a crawl has archived, and questions in SQL about it."),
    ("search", "Pages found by what they say, in one crawl or in all, and pages like them."),
    ("watches", "What is watched of a crawl's pages, and what was told of it."),
    ("clusters", "Crawls by several agents, which run without the daemon."),
    ("events", "Live figures."),
    ("daemon", "What all jobs share."),
)
_OWN_STYLE = """\
article { border: 1px solid var(--edge); border-radius: 8px; background: var(--paper); margin: .6rem 0;
  padding: .5rem .9rem; }
article h3 { font-family: var(--mono); margin: .2rem 0; }
article h3 b { display: inline-block; min-width: 4.5rem; color: var(--accent); }
article p { margin: .3rem 0; }
.contents { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: 0 0 1.5rem; }
"""
"""What the console's style sheets, which the page has too, do not say."""

_TABLE, _TABLE_END = '<div class="scroll"><table>', "</table></div>"
Tree = dict[str, Any]


def describe(app: FastAPI, shapes: Shapes) -> None:
    """Let `app.openapi()` give the description, with the schemas of `shapes`."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = get_openapi(
                title=app.title,
                version=app.version,
                description=_ABOUT,
                routes=app.routes,
                tags=[{"name": name, "description": says} for name, says in _TAGS],
            )
            parts = found.setdefault("components", {})
            parts.setdefault("schemas", {}).update(sorted(shapes.components.items()))
            parts["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "gossamer-PORT"},
            }
            found["security"] = [{"token": []}, {"session": []}]
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's documentation has it


def page_routes(app: FastAPI, prefix: str) -> APIRouter:
    """`openapi.json`, `docs` and its style sheet, below `prefix`."""
    router = APIRouter(prefix=prefix, include_in_schema=False)

    async def description() -> Response:
        return answer(app.openapi())

    assets = own_assets()

    async def page(request: Request) -> Response:
        return HTMLResponse("".join(_page(app.openapi(), prefix, assets, theme_of(request))))

    async def style() -> Response:
        return Response(_OWN_STYLE, media_type="text/css")

    router.add_api_route("/openapi.json", description, methods=["GET"])
    router.add_api_route("/docs", page, methods=["GET"])
    router.add_api_route("/docs.css", style, methods=["GET"])
    return router


def _page(described: Tree, prefix: str, assets: Assets, theme: str) -> Iterator[str]:
    title = escape(f"{described['info']['title']} {described['info']['version']}: the interface")
    chosen = f' data-theme="{theme}"' if theme else ""
    yield f'<!doctype html><html lang="en"{chosen}><head><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<link rel="icon" type="image/svg+xml" href="{assets.address("mark.svg")}">'
    for sheet in (assets.address("charts.css"), assets.address("console.css"), f"{prefix}/docs.css"):
        yield f'<link rel="stylesheet" href="{sheet}">'
    yield '</head><body><header class="top"><a class="brand" href="/">Gossamer</a>'
    yield '<nav class="main-nav"><a href="/">Console</a><a href="/help">Help</a></nav></header>'
    yield f'<main id="main"><h1>{title}</h1>'
    yield f"<p>{escape(described['info']['description'])}</p>"
    yield f'<p><a href="{prefix}/openapi.json">openapi.json</a></p><nav><ul class="contents">'
    for tag in described["tags"]:
        yield f'<li><a href="#{escape(tag["name"])}">{escape(tag["description"])}</a></li>'
    yield '<li><a href="#shapes">Shapes</a></li></ul></nav>'
    for tag in described["tags"]:
        yield f'<section id="{escape(tag["name"])}"><h2>{escape(tag["description"])}</h2>'
        for path, operations in described["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation.get("tags", ()):
                    yield from _operation(path, method, operation)
        yield "</section>"
    yield '<section id="shapes"><h2>Shapes</h2>'
    for name, schema in described["components"]["schemas"].items():
        yield f'<article id="shape-{escape(name)}"><h3>{escape(name)}</h3>'
        yield f"<p>{escape(schema.get('description', ''))}</p>{_TABLE}"
        for key, value in schema.get("properties", {}).items():
            needed = key in schema.get("required", ())
            yield _row(key, needed=needed, schema=value, says=value.get("description", ""))
        yield f"{_TABLE_END}</article>"
    yield "</section></main></body></html>"


def _operation(path: str, method: str, operation: Tree) -> Iterator[str]:
    yield f"<article><h3><b>{method.upper()}</b> {escape(path)}</h3>"
    for text in dict.fromkeys((operation.get("summary", ""), operation.get("description", ""))):
        if text:
            yield f"<p>{escape(text)}</p>"
    if operation.get("parameters"):
        yield _TABLE
        for item in operation["parameters"]:
            says = item.get("description", item["schema"].get("description", ""))
            yield _row(
                f"{item['name']} ({item['in']})", needed=item["required"], schema=item["schema"], says=says
            )
        yield _TABLE_END
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield f"<p>Takes {_kind(content['schema'])}</p>"
    for status, response in operation.get("responses", {}).items():
        kinds = [_kind(content.get("schema", {})) for content in response.get("content", {}).values()]
        yield f"<p>{escape(status)}: {escape(response['description'])} {', '.join(kinds)}</p>"
    yield "</article>"


def _row(name: str, *, needed: bool, schema: Tree, says: str) -> str:
    mark = "" if needed else "optional"
    return f"<tr><th>{escape(name)}</th><td>{_kind(schema)}</td><td>{mark}</td><td>{escape(says)}</td></tr>"


def _kind(schema: Tree) -> str:
    """A type in a few words, with links to the shapes it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#shape-{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_kind(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return escape(" | ".join(map(json.dumps, schema["enum"])))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(schema.get('items') or {})}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])}"
    return escape(str(kind))
