"""Turns what is wrong with settings, or with the disk, into what the daemon tells those who ask."""

import contextlib
from collections.abc import Iterator

from gossamer.control.socket.protocol import LiveError
from gossamer.daemon.asking import service_error
from gossamer.daemon.errors import ServiceError
from gossamer.model.errors import ConfigError, StorageError


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
