"""What the daemon says if something cannot be done, also of what crawls, settings and the disk say."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from gossamer.control.socket.protocol import LiveError, Problem
from gossamer.model.errors import ConfigError, GossamerError, StorageError

Code: TypeAlias = Literal["invalid", "not_found", "conflict", "internal"]


class ServiceError(GossamerError):
    """Something was asked for that cannot be done; nothing has changed.

    Args:
        code: `invalid`: what was sent makes no sense; `not_found`; `conflict`: not as things stand;
            `internal`: our bug or our disk.
        message: one sentence.
        details: all that is wrong, one sentence each, led by the path of the setting where there is one.
    """

    def __init__(self, code: Code, message: str, details: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.details = tuple(details)


def service_error(error: LiveError) -> ServiceError:
    """The crawl's no as the daemon's."""
    return ServiceError(error.code, error.message, map(_words, error.details))


def _words(problem: Problem) -> str:
    return f"{problem.path}: {problem.problem}" if problem.path else problem.problem


@contextlib.contextmanager
def telling() -> Iterator[None]:
    """Let only `ServiceError` out of the block, of all errors that are ours."""
    try:
        yield
    except ConfigError as error:
        more = f" (and {len(error.problems) - 1} more)" if len(error.problems) > 1 else ""
        raise ServiceError("invalid", error.problems[0] + more, error.problems) from None
    except StorageError as error:
        raise ServiceError("internal", str(error)) from None
    except LiveError as error:
        raise service_error(error) from None
