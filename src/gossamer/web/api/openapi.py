"""The OpenAPI description of the interface."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from gossamer.web.api.shapes import Shapes

_ABOUT = """\
Send a token as `Authorization: Bearer ...` (`gossamer serve-user token NAME` makes one), or log in at
`POST /api/v1/session` and send header `X-CSRF-Token` with whatever is not a GET. Lists come in pages: give
`cursor` of one page to get the next. Errors are `application/problem+json` (RFC 9457)."""
_TAGS = (
    ("session", "Sessions: who is asking."),
    ("jobs", "Jobs: crawls with their settings and state."),
    ("crawl", "One crawl: what it does, why, and what it shall do."),
    ("clusters", "Crawls by several agents, which run without the daemon."),
    ("events", "Live figures."),
    ("daemon", "What all jobs share."),
)


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
