"""The port of the visited table (W13), with the choice of the one that the configuration names."""

from collections.abc import Callable
from typing import Protocol

from gossamer.frontier.config import FrontierConfig
from gossamer.frontier.seen.exact import SeenSet
from gossamer.model.errors import ConfigError
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import VISITED, VisitedRecord


class VisitedTable(Protocol):
    """Answers whether a fingerprint (16 bytes: host queue, canonical URL) was ever admitted.

    A fingerprint that was added is found from then on. What was added is on disk if and only if the
    batch is that was open when it was added, so a crash forgets the URL and its queue entry together.
    """

    def __contains__(self, fingerprint: bytes) -> bool:
        """Whether it was added, or is taken for one that was."""

    def add(self, fingerprint: bytes, ticket: bytes, batch: Batch) -> None:
        """Remember a URL that is queued at `ticket` within `batch`."""

    def flush(self, batch: Batch) -> None:
        """Put what is still missing into `batch`, which is committed next; if that fails, all is over."""

    def figures(self) -> VisitedRecord:
        """What the report says of the table."""

    def save(self) -> None:
        """Between two commits, at checkpoints and at the end: keep what makes the next start short."""


def open_visited(
    environment: Environment, config: FrontierConfig, warn: Callable[[str], None]
) -> VisitedTable:
    """The table that `frontier.seen.visited` names, as it was last committed.

    An exact table can go on as a Bloom filter: all that it holds goes in. There is no way back, for a
    filter does not know what it holds.

    Raises:
        ConfigError: `exact` is asked for and the crawl has gone on with `bloom`.
    """
    if config.visited == "bloom":
        from gossamer.frontier.seen.bloom import BloomTable

        return BloomTable(environment, config.bloom_urls, config.bloom_error, warn)
    if environment.get(Family.META, VISITED) is not None:
        raise ConfigError(
            "frontier.visited: this crawl has used the table 'bloom', which cannot become 'exact' again. "
            "Set it to 'bloom' in the crawl's crawl.toml, or begin a new crawl."
        )
    return SeenSet(environment, config.seen_cache)
