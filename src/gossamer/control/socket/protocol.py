"""The language of the control socket: one JSON line a request, one line its answer."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

SOCKET = "control.sock"
"""Name of the socket in the crawl's folder."""
LONGEST_REQUEST = 1 << 20
LONGEST_REPLY = 32 << 20
"""Bytes; a page of a thousand URLs, each with its finder and all as long as they may be, takes a third."""

Code = Literal["invalid", "not_found", "conflict", "internal"]


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong with a request; `path` is empty where it concerns the whole."""

    path: str
    problem: str


class LiveError(Exception):
    """What a request comes to if it cannot be done.

    Args:
        code: `invalid` (the request makes no sense), `not_found`, `conflict` (not in this state, or beyond a
            ceiling) or `internal` (our bug, or our disk).
        details: all that is wrong, if it is more than the message says.
    """

    def __init__(self, code: Code, message: str, details: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class NotRunning(Exception):  # noqa: N818 - a state of the crawl, not a failure
    """No process answers for the folder."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One request. `who` is noted with what is changed."""

    method: Annotated[str, Meta(max_length=100)]
    id: int | str | None = None
    params: dict[str, Any] = {}
    who: Annotated[str, Meta(max_length=200)] = ""


class Trouble(msgspec.Struct, frozen=True):
    """The error in a reply."""

    code: Code
    message: str
    details: tuple[Problem, ...] = ()


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer: `error`, or else `result`."""

    id: int | str | None
    result: Any = msgspec.UNSET
    error: Trouble | msgspec.UnsetType = msgspec.UNSET


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of a method that has none."""


def trouble_of(error: LiveError) -> Trouble:
    """As it goes over the wire."""
    return Trouble(error.code, error.message, error.details)


def problem_of(text: str) -> Problem:
    """A problem of `ConfigError`, taken apart: `politeness.min_delay: expected ...`."""
    path, colon, rest = text.partition(": ")
    plain = bool(colon) and " " not in path
    return Problem(path, rest) if plain else Problem("", text)


def invalid(problems: tuple[str, ...]) -> LiveError:
    """The error for settings that `ConfigError` tells of."""
    message = problems[0] if len(problems) == 1 else f"{len(problems)} things are wrong: {problems[0]}, ..."
    return LiveError("invalid", message, tuple(map(problem_of, problems)))
