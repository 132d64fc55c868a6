"""Prints tables and coloured text."""

import errno
import os

from rich.console import Console


class Printer(Console):
    """One that leaves it to `main` what a reader who has left means; by itself it would exit with status 1."""

    def on_broken_pipe(self) -> None:
        """What stands where it is called from: nobody reads.

        Raises:
            BrokenPipeError: always.
        """
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
