"""What the daemon says if something cannot be done, also of what crawls, settings and the disk say."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from gossamer.control.socket.protocol import LiveError, Problem
from gossamer.model.errors import ConfigError, GossamerError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of, text

Code: TypeAlias = Literal["invalid", "not_found", "conflict", "internal"]


class ServiceError(GossamerError):
    """Something was asked for that cannot be done; nothing has changed.

    Args:
        code: `invalid`: what was sent makes no sense; `not_found`; `conflict`: not as things stand;
            `internal`: our bug or our disk.
        message: what is wrong.
        details: all that is wrong, each led by the path of the setting where there is one.
    """

    def __init__(self, code: Code, message: Reason | str, details: Iterable[Reason | str] = ()) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = str(message)
        self.wrong = tuple(text(one) if isinstance(one, str) else one for one in details)
        """All that is wrong, if it is more than the message says."""

    @property
    def details(self) -> tuple[str, ...]:
        """All that is wrong, in words, one sentence each."""
        return tuple(map(str, self.wrong))


def service_error(error: LiveError) -> ServiceError:
    """The crawl's no as the daemon's."""
    return ServiceError(error.code, error.why, map(_words, error.details))


def _words(problem: Problem) -> Reason:
    told = problem.why or text(problem.problem)
    return of(problem.path, told) if problem.path else told


@contextlib.contextmanager
def telling() -> Iterator[None]:
    """Let only `ServiceError` out of the block, of all errors that are ours."""
    try:
        yield
    except ConfigError as error:
        more = len(error.reasons) - 1
        message = because(ProblemCode.AND_MORE, error.why, more) if more else error.why
        raise ServiceError("invalid", message, error.reasons) from None
    except StorageError as error:
        raise ServiceError("internal", str(error)) from None
    except LiveError as error:
        raise service_error(error) from None
