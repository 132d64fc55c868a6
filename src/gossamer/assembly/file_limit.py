"""Allows the process as many open files as its crawl may need."""

import resource

from gossamer.config.config import CrawlConfig
from gossamer.model.errors import ConfigError

SPARE_FILES = 100


def raise_file_limit(config: CrawlConfig) -> None:
    """Allow as many open files as the crawl may need: sockets, spooled bodies, tables.

    Raises:
        ConfigError: the system does not allow as many.
    """
    needed = 3 * config.engine.workers + config.state.max_open_files + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ConfigError(
            f"engine.workers: {config.engine.workers} workers need {needed} open files, "
            f"the system allows {hard}. Use fewer workers, or raise the limit (ulimit -Hn)."
        )
    if soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard > 0 else needed, hard))
