"""What the library raises, as our errors; a panic within it, too, which is no `Exception`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gossamer.model.errors import StorageError


@contextmanager
def reporting(folder: Path) -> Iterator[None]:
    """Raise `StorageError` for what tantivy raises within.

    Args:
        folder: of the index, named in the message.
    """
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise StorageError(f"{folder}: {_first_line(error)}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise StorageError(f"{folder}: the index cannot be used ({_first_line(error)})") from error


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]
