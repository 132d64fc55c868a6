"""Keeps the standard streams from doing harm where they are closed, full, or nobody's any more."""

import io
import os
import select
import sys


def complete() -> None:
    """Open on nothing what was closed by the caller (`2>&-`), and let any text be printed.

    Otherwise the next file that is opened, one of the archive or of the state perhaps, takes that number, and
    what a library writes to standard error goes into it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        # What is written in other scripts than the terminal knows is shown by its numbers.
        sys.stdout.reconfigure(errors="backslashreplace")


def nobody_reads() -> bool:
    """Whether what we print goes nowhere: the pipe that broke was ours, not one of a library's."""
    streams = select.poll()
    for number in (1, 2):
        streams.register(number, 0)  # errors are told unasked
    return any(told & (select.POLLERR | select.POLLHUP) for _, told in streams.poll(0))


def leave() -> None:
    """Give up what cannot be written any more; Python would complain, and exit with a status of its own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)
