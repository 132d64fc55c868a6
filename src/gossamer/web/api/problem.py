"""Answers that say what went wrong, as RFC 9457 describes them, and makes them of what routes raise."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from gossamer.daemon.errors import ServiceError
from gossamer.model.errors import StorageError
from gossamer.model.reasons.reason import Reason

_LOG = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
_CODES = {
    400: "malformed",
    401: "log_in",
    403: "forbidden",
    404: "not_found",
    405: "method",
    408: "slow",
    409: "conflict",
    413: "too_large",
    414: "too_long",
    415: "media_type",
    421: "wrong_host",
    422: "invalid",
    429: "too_often",
    503: "busy",
}


_STATUSES = {"invalid": 422, "not_found": 404, "conflict": 409, "internal": 500}


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Body of every answer that is an error."""

    type: str = "about:blank"
    """Nothing beyond the status: `code` is what a program looks at."""
    title: str
    status: int
    code: str
    detail: str = ""
    """One sentence: what, and what to do about it."""
    why: Reason | None = None
    """The same as a value: a code with its numbers and names."""
    problems: tuple[str, ...] = ()
    """All that is wrong, each led by the path of what is meant, if the request itself is at fault."""
    reasons: tuple[Reason, ...] = ()
    """The same as values."""


def problem(
    status: int,
    detail: Reason | str,
    *,
    code: str = "",
    problems: Sequence[Reason | str] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error as an answer; `code` is a word for the status if not given (`not_found`)."""
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        code=code or _CODES.get(status, "internal"),
        detail=str(detail),
        problems=tuple(map(str, problems)),
        why=detail if isinstance(detail, Reason) else None,
        reasons=tuple(one for one in problems if isinstance(one, Reason)),
    )
    return Response(
        msgspec.json.encode(body), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {})
    )


def refuse_well(app: FastAPI) -> None:
    """Answer every error with a problem."""
    app.add_exception_handler(ServiceError, _service)
    app.add_exception_handler(StorageError, _storage)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(Exception, _bug)


async def _service(_: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    # Who asked by a form is shown all that is wrong, and no sentence above it.
    why = error.wrong[0] if error.wrong and not error.message else error.why
    return problem(_STATUSES.get(error.code, 409), why, code=error.code, problems=error.wrong)


async def _storage(_: Request, error: Exception) -> Response:
    _LOG.error("%s", error)
    return problem(503, str(error), code="storage")


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/"):
        words = HTTPStatus(error.status_code).phrase
        page = f'<!doctype html><title>{words}</title><h1>{words}</h1><p><a href="/">Gossamer</a>'
        return HTMLResponse(page, error.status_code, error.headers)
    detail = "" if error.status_code in (404, 405) else str(error.detail)
    return problem(error.status_code, detail, headers=error.headers)


async def _validation(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(item["loc"][:1] == ("path",) for item in found):  # a name that nothing can have
        return problem(404, "there is nothing of that name")
    problems = [f"{'.'.join(map(str, item['loc'][1:]))}: {item['msg']}" for item in found]
    return problem(422, "the request makes no sense", code="invalid", problems=problems)


async def _bug(request: Request, error: Exception) -> Response:
    _LOG.error("%s %s", request.method, request.url.path, exc_info=error)
    return problem(500, "a fault of ours; the daemon's standard error tells more")
