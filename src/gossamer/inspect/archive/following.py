"""A follower of a crawl's archive, of one that runs or has ended."""

from pathlib import Path

from gossamer.archive.committed import Committed, committed
from gossamer.archive.follower import START, Follower, Mark
from gossamer.archive.record_head import MAIN_KINDS
from gossamer.assembly.folder import CrawlFolder
from gossamer.inspect.inspection import crawl_in, state_of
from gossamer.state.environment import StateConfig


def follow(path: Path, mark: Mark = START, kinds: frozenset[str] = MAIN_KINDS) -> Follower:
    """Follow the archive of the crawl in `path`; in a cluster each agent's folder is such a crawl.

    Each `read` looks at the state anew, some 20 ms, because another may stand there by now (`resume
    --from-checkpoint`). Whether more may come, `CrawlFolder.in_use` tells: ask before the last `read`.

    Raises:
        ConfigError: when reading: no crawl lives there.
        StorageError: when reading: its state is damaged, or being exchanged just now.
    """

    def look() -> Committed:
        with state_of(crawl_in(path), StateConfig()) as environment:
            return committed(environment)

    return Follower(CrawlFolder(path).archive, look, mark, kinds)
