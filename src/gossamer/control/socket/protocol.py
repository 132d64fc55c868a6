"""The language of the control socket: one JSON line a request, one line its answer."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, placed, text

SOCKET = "control.sock"
"""Name of the socket in the crawl's folder."""
LONGEST_REQUEST = 1 << 20
LONGEST_REPLY = 32 << 20
"""Bytes; a page of a thousand URLs, each with its finder and all as long as they may be, takes a third."""

Code = Literal["invalid", "not_found", "conflict", "internal"]


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong with a request; `path` is empty where it concerns the whole.

    Attributes:
        why: `problem` as a value.
    """

    path: str
    problem: str
    why: Reason | None = None


class LiveError(Exception):
    """What a request comes to if it cannot be done.

    Args:
        code: `invalid` (the request makes no sense), `not_found`, `conflict` (not in this state, or beyond a
            ceiling) or `internal` (our bug, or our disk).
        details: all that is wrong, if it is more than the message says.
    """

    def __init__(self, code: Code, message: Reason | str, details: tuple[Problem, ...] = ()) -> None:
        super().__init__(str(message))
        self.code = code
        self.message = str(message)
        self.why = text(message) if isinstance(message, str) else message
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
    why: Reason | None = None


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer: `error`, or else `result`."""

    id: int | str | None
    result: Any = msgspec.UNSET
    error: Trouble | msgspec.UnsetType = msgspec.UNSET


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of a method that has none."""


def trouble_of(error: LiveError) -> Trouble:
    """As it goes over the wire."""
    return Trouble(error.code, error.message, error.details, error.why)


def problem_of(reason: Reason) -> Problem:
    """A problem of `ConfigError`, with its path."""
    path, inner = placed(reason)
    return Problem(path, str(inner), inner)


def invalid(problems: tuple[Reason, ...]) -> LiveError:
    """The error for settings that `ConfigError` tells of."""
    message = problems[0]
    if len(problems) > 1:
        message = because(ProblemCode.SEVERAL, len(problems), problems[0])
    return LiveError("invalid", message, tuple(map(problem_of, problems)))
