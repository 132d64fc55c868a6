"""Replays the archive of one crawl for the console: `python -m gossamer.daemon.reading.replayer FOLDER IDLE`.

It answers each line on its standard input with the address of its list, and ends with that input, or when nobody
has asked for anything for IDLE seconds. Each crawl has a process and a port of its own, and in the browser origins of
its own: what is archived shares nothing with the console.
"""

import asyncio
import os
import resource
import sys
from pathlib import Path

from gossamer.assembly.private import keep_private
from gossamer.model.errors import GossamerError
from gossamer.replay.server import How, view

MEMORY = 4 << 30
"""Bytes of address space."""
NICE = 10
"""Crawls go first."""


async def main(folder: Path, idle: float) -> None:
    """Serve it on loopback until the input ends, or nobody asks any more."""
    questions = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(questions), sys.stdin
    )
    async with view(folder, How(secret=True)) as shown:
        while (left := idle - shown.idle()) > 0:
            try:
                async with asyncio.timeout(left):
                    if not await questions.readline():
                        return
            except TimeoutError:
                continue
            sys.stdout.write(f"{shown.home}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    memory = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(NICE)
    keep_private()
    try:
        asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))
    except GossamerError as error:
        sys.exit(f"gossamer: {error}")
