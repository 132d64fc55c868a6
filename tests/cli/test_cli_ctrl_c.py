"""A Ctrl-C while the command starts is not lost, even where Python throws it away."""

import signal
import subprocess
import sys

LOST = """
import os, signal, weakref
from gossamer.cli.terminal.ctrl_c import heed, watch

class Thing:
    pass

watch()
thing = Thing()
kept = weakref.ref(thing, lambda _: (os.kill(os.getpid(), signal.SIGINT), [None for _ in range(10_000)]))
del thing  # Python says "Exception ignored in", and goes on
print("went on", flush=True)
heed()
print("nothing was kept")
"""


def test_an_interrupt_that_python_throws_away_is_heeded_later() -> None:
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=False)
    assert "Exception ignored in" in done.stderr, "nothing was thrown away, so nothing was tried"
    assert done.stdout == "went on\n"
    assert done.returncode == -signal.SIGINT


def test_without_an_interrupt_nothing_happens() -> None:
    source = LOST.replace("os.kill(os.getpid(), signal.SIGINT)", "None")
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "went on\nnothing was kept\n")


LOADING = """
from gossamer.cli import main
from gossamer.cli.options import commands
from gossamer.cli.terminal import ctrl_c

PRESSED
commands.run = lambda: int(None)
main()
"""


def test_what_loading_makes_of_an_interrupt_is_one() -> None:
    """`import ssl` raises `TypeError: expected a message argument` where its `_ssl` is interrupted."""
    ended = []
    for pressed in ("", "ctrl_c._pressed.append(2)"):
        command = [sys.executable, "-c", LOADING.replace("PRESSED", pressed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        ended.append((done.returncode, "Traceback" in done.stderr))
    assert ended == [(1, True), (130, False)]
