"""Runs a crawl in its folder: from configuration to report."""

import asyncio
import contextlib
import resource
import signal
from collections.abc import Callable, Iterator

import msgspec

from gossamer.app.build import Extensions, build, parse_seeds
from gossamer.app.config import CrawlConfig
from gossamer.app.folder import CrawlFolder, write_whole
from gossamer.app.plugins import load_extractors
from gossamer.app.report import make_report
from gossamer.app.settings import load, read_toml, resolve_secrets, to_toml
from gossamer.engine.checkpoints import restore
from gossamer.engine.crawl import Crawl
from gossamer.model.errors import ConfigError

INTERRUPTED = "interrupted"
SPARE_FILES = 100


def start(folder: CrawlFolder, config: CrawlConfig) -> CrawlConfig:
    """Make the folder of a new crawl, with its effective configuration in it.

    Raises:
        ConfigError: there are no seeds, one is no URL, or the folder is taken.
    """
    if not config.seeds:
        raise ConfigError("seeds: there are none. Name at least one URL, or give --seeds FILE.")
    parse_seeds(config.seeds)
    folder.create()
    write_whole(folder.config, to_toml(config))
    return config


def reopen(folder: CrawlFolder, *, from_checkpoint: bool = False) -> CrawlConfig:
    """The configuration of the crawl in `folder`, whose state goes back to a checkpoint if asked to.

    Raises:
        ConfigError: no crawl lives there, or its configuration has been damaged.
    """
    folder.reopen()
    if from_checkpoint:
        restore(folder.checkpoints, folder.state)
    return load(CrawlConfig, read_toml(folder.config))


async def run(
    folder: CrawlFolder,
    config: CrawlConfig,
    extensions: Extensions,
    *,
    resumed: bool,
    on_start: Callable[[Crawl], None] = lambda _: None,
    handle_signals: bool = True,
) -> str:
    """Crawl until finished, at a limit, or interrupted; the reason, as in the report.

    Raises:
        ConfigError, StorageError: see `gossamer.model.errors`.
    """
    raise_file_limit(config)
    config = resolve_secrets(config)
    extensions = msgspec.structs.replace(extensions, extractors=[*extensions.extractors, *load_extractors()])
    crawl, seeds = build(folder, config, extensions, resumed=resumed)
    reason = "failed"
    with _signals(crawl) if handle_signals else contextlib.nullcontext():
        try:
            crawl.seed(seeds)
            on_start(crawl)
            reason = await crawl.run()
        except asyncio.CancelledError:
            if not crawl.parts.dispatch.ended:
                raise
            reason = INTERRUPTED
        finally:
            write_whole(folder.report, make_report(crawl, reason))
    return reason


def raise_file_limit(config: CrawlConfig) -> None:
    """Allow as many open files as the crawl may need: sockets, spooled bodies, tables.

    Raises:
        ConfigError: the system does not allow as many.
    """
    needed = 2 * config.engine.workers + config.state.max_open_files + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ConfigError(
            f"engine.workers: {config.engine.workers} workers need {needed} open files, the system allows {hard}. "
            "Use fewer workers, or raise the limit (ulimit -Hn)."
        )
    if soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard > 0 else needed, hard))


@contextlib.contextmanager
def _signals(crawl: Crawl) -> Iterator[None]:
    """SIGINT or SIGTERM once: finish what is lent; twice: stop now."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        if crawl.parts.dispatch.ended == INTERRUPTED:
            crawl.stop_now()
        else:
            crawl.stop(INTERRUPTED)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
