"""Answers that say what went wrong, as RFC 9457 describes them."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec
from starlette.responses import Response

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


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Body of every answer that is an error."""

    type: str = "about:blank"
    """Nothing beyond the status: `code` is what a program looks at."""
    title: str
    status: int
    code: str
    detail: str = ""
    """One sentence: what, and what to do about it."""
    problems: tuple[str, ...] = ()
    """All that is wrong, each led by the path of what is meant, if the request itself is at fault."""


def problem(
    status: int,
    detail: str,
    *,
    code: str = "",
    problems: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error as an answer; `code` is a word for the status if not given (`not_found`)."""
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        code=code or _CODES.get(status, "internal"),
        detail=detail,
        problems=tuple(problems),
    )
    return Response(
        msgspec.json.encode(body), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {})
    )
