"""Where the Ray cluster of a crawl was last reached."""

import socket
from pathlib import Path

from gossamer.inspect.clusters.cluster_questions import ADDRESS
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError

REACH_SECONDS = 10.0


class NothingRunsError(ConfigError):
    """The cluster was never started, or has ended."""


def address_of(folder: Path) -> str:
    """Where the Ray cluster of the crawl in `folder` was last reached, and somebody listens now.

    Ray itself would try for minutes to reach one that is no more.

    Raises:
        NothingRunsError: it was never started, or has ended.
    """
    try:
        address = (folder / ADDRESS).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise NothingRunsError(
            f"{folder}: nothing runs there. '{command_line('cluster', 'resume', folder)}' goes on."
        ) from None
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise NothingRunsError(
            f"{folder}: its Ray cluster does not answer at {address} ({error})."
            f" If it has ended, '{command_line('cluster', 'resume', folder)}' goes on."
        ) from None
    return address
