"""Tells a process that sleeps from one that waits: for a processor, for a disk, or because it was stopped."""

from pathlib import Path

_STATE, _SWITCHES = "State", ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
_ASLEEP = "S"


def sleep_of(pid: int) -> list[str] | None:
    """By what this sleep of a process is told from its next; `None` if a thread of it is awake, or nobody knows.

    Each thread is counted when it falls asleep (proc_pid_status(5)), so that two equal answers say that none of them
    has woken up in between.
    """
    sleep = []
    try:
        for thread in sorted(Path(f"/proc/{pid}/task").iterdir()):
            lines = (thread / "status").read_text().splitlines()
            said = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
            if said[_STATE][:1] != _ASLEEP:
                return None
            sleep.append(" ".join((thread.name, *(said[name] for name in _SWITCHES))))
    except (OSError, KeyError):
        return None
    return sleep
