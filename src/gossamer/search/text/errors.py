"""What the library raises, as our errors; a panic within it, too, which is no `Exception`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gossamer.model.command_line import command_line
from gossamer.model.errors import StorageError


@contextmanager
def reporting(folder: Path) -> Iterator[None]:
    """Raise `StorageError` for what tantivy raises within.

    Each message names the remedy, for whoever reads it knows nothing of the library.

    Args:
        folder: of the index, within the crawl's.
    """
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise _told(folder, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise _told(folder, error) from error


def _told(folder: Path, error: BaseException) -> StorageError:
    what = str(error).partition("\n")[0][:300].rstrip(" .")
    if "writer was killed" in what:  # the library's guess of why is no help: it ends the same for every cause
        what = "it could not be written"
    return StorageError(
        f"{folder}: the index cannot be used ({what}). '{command_line('index', folder.parent)}' goes on with it or"
        " makes it again; free some space first if the disk is full."
    )
