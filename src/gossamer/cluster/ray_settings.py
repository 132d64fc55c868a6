"""What Ray must find in the environment; it reads it once, when it is imported."""

import contextlib
import os
from pathlib import Path

from gossamer.assembly.private import OTHERS

LOCAL = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Where clusters of several machines are switched off (some systems have none) Ray takes 127.0.0.1 for this
machine's address, and listens there only; else it listens on all addresses."""
TOKEN = "RAY_AUTH_MODE"  # noqa: S105 - whether there is one, not what it is
TASK_EVENTS = "RAY_task_events_report_interval_ms"
"""How often a record of each call between processes is sent, for Ray's state listings; 0: none is kept."""
NICENESS = "RAY_worker_niceness"
"""By which Ray's workers step back behind all else, 15 unless told otherwise: agents would then miss their
leases on a busy machine."""


def settle(address: str) -> None:
    """Call before Ray is imported. `address`: of the Ray cluster to reach; empty: one is started here.

    Whoever reaches Ray can run any program, so its token is asked for unless the operator switches it off.
    """
    os.environ.setdefault(TOKEN, "token")
    if not address or address.startswith("127."):
        os.environ[LOCAL] = "0"
    if not address:
        os.environ.setdefault(TASK_EVENTS, "0")
        os.environ.setdefault(NICENESS, "0")


def hide_token() -> None:
    """Take the file with Ray's token from the eyes of the machine's other users, if it is ours and there."""
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
    with contextlib.suppress(OSError):
        if path.stat().st_mode & OTHERS:
            path.chmod(0o600)
