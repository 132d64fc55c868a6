"""The one error that the daemon raises to whoever asks it."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from gossamer.model.errors import GossamerError

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
