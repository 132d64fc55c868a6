"""Programs in this process: where it is not the process that is tested, half a second less a time."""

import contextlib
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch


def gossamer(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line: what a process in the folder `cwd` would have ended with and said."""
    from gossamer.cli import main

    return ran(main, *arguments, cwd=cwd)


def ran(program: Callable[[], object], *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """How a program ends in the folder `cwd`, and what it says; what it raises is raised."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: object = 0
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.object(sys, "argv", ["gossamer", *arguments]),
    ):
        try:
            program()
        except SystemExit as ended:
            code = ended.code
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(["gossamer", *arguments], int(code or 0), *texts)
