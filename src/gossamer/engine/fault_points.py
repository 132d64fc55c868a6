"""Named places at which a test can make the process die, as a `kill -9` there would."""

import os
import signal

_target, _, _count = os.environ.get("GOSSAMER_DIE_AT", "").partition(":")
_left = int(_count or 1)


def fault_point(name: str) -> None:
    """Die here if the environment says `GOSSAMER_DIE_AT=name[:nth time]`."""
    global _left  # noqa: PLW0603 - one process, one death
    if name == _target:
        _left -= 1
        if _left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
