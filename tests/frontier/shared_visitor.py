"""A process that visits hosts by turns with others, for tests that kill it.

Arguments: folder of the table, file for the log, number of hosts, rest and length of a visit in microseconds,
a file that ends it by being there. Writes a line `b|e HOST MICROS PID` where each visit begins and ends.
"""

import os
import sys
import time
from pathlib import Path

from gossamer.frontier.gates.shared_rests import Return, SharedRests, boot_micros


def main(folder: str, log: str, hosts: str, rest: str, length: str, stop: str) -> None:
    table = SharedRests(Path(folder))
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    owed = int(rest)
    due = dict.fromkeys((f"h{number}" for number in range(int(hosts))), 0)
    while not Path(stop).exists():
        now = boot_micros()
        name = min(due, key=due.__getitem__)
        if due[name] > now:
            time.sleep((due[name] - now) / 1e6)
        wait = table.claim(name, owed, owed, 1)
        if wait:
            due[name] = boot_micros() + wait
            continue
        os.write(out, f"b {name} {boot_micros()} {os.getpid()}\n".encode())
        time.sleep(int(length) / 1e6)
        os.write(out, f"e {name} {boot_micros()} {os.getpid()}\n".encode())
        table.give_back([Return(name, owed, True)])
        due[name] = boot_micros() + owed


if __name__ == "__main__":
    main(*sys.argv[1:])
