"""Says how far the tables of documents are behind the crawl."""

from pathlib import Path

from gossamer.assembly.folder import CrawlFolder
from gossamer.cli.terminal.printing import plural, safe, say
from gossamer.datasets.lag import unread
from gossamer.inspect.inspection import Inspection
from gossamer.model.command_line import command_line


def say_behind(inspection: Inspection, path: Path, what: str, then: str = "") -> int:
    """Say how many captures the tables do not tell of, and what brings them in; their number.

    To be asked before the tables are opened: what is read in the meantime is in them all the same.

    Args:
        inspection: of the crawl.
        path: its folder, as the user named it.
        what: that lacks them, e.g. "these tables".
        then: what is to be done after they were read.

    Raises:
        StorageError: a state cannot be read.
    """
    count = unread(inspection)
    if count:
        follows = inspection.config.documents.follow and any(
            CrawlFolder(part.folder.path).in_use() for part in inspection.each.values()
        )
        way = (
            "they are read while the crawl runs"
            if follows
            else f"'{safe(command_line('index', path))}' reads them"
        )
        say(f"{plural(count, 'capture')} not in {what} yet: {way}{then}")
    return count
