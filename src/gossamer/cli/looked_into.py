"""Opens a folder for the commands that look into one, and tells what of a cluster is not in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gossamer.cli.terminal.printing import safe, say
from gossamer.inspect.clusters.whole import inspect_whole
from gossamer.inspect.inspection import Inspection


@contextmanager
def looked_into(path: Path) -> Iterator[Inspection]:
    """The crawl in `path`, or all of a cluster's that lie on this machine.

    Raises:
        ConfigError: no crawl lives there.
        StorageError: a state is damaged.
    """
    with inspect_whole(path) as inspection:
        for one in inspection.absent:
            say(safe(one.text))
        yield inspection
