"""Keeps a Ctrl-C that comes while the command starts.

Python throws `KeyboardInterrupt` away where it is raised in a callback of an import that is being tidied up;
the command would then go on as if nobody had pressed a key.
"""

import signal
from types import FrameType

_pressed: list[int] = []


def watch() -> None:
    """From now on remember a Ctrl-C besides raising `KeyboardInterrupt`; one ignored stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _press)


def heed() -> None:
    """Raise the `KeyboardInterrupt` that was lost, if one was; the next is for whoever listens then."""
    if signal.getsignal(signal.SIGINT) is _press:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _pressed:
        raise KeyboardInterrupt


def pressed() -> bool:
    """Whether one came while the command started. What C code that was loading made of it is any exception."""
    return bool(_pressed)


def _press(number: int, frame: FrameType | None) -> None:
    _pressed.append(number)
    signal.default_int_handler(number, frame)
