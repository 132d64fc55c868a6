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
