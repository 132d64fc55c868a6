"""Runs a crawl in its folder: from configuration to report."""

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from gossamer.assembly.build import Built, build
from gossamer.assembly.disks import claim, lay, prove_places, whole_paths
from gossamer.assembly.extensions import Extensions
from gossamer.assembly.file_limit import raise_file_limit
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.plugins import load_extractors, with_plugins
from gossamer.assembly.report import summary
from gossamer.assembly.revisits import revisit_sums
from gossamer.assembly.seeds import Seeds
from gossamer.assembly.storage import opened
from gossamer.assembly.twins import twin_sites
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml, resolve_secrets, to_toml
from gossamer.control.session import answering
from gossamer.datasets.beside import beside, prove_documents
from gossamer.engine.checkpoints import restore
from gossamer.engine.crawl import Crawl
from gossamer.engine.fault_points import fault_point
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.events import ProblemFound
from gossamer.model.reasons.ends import FAILED, INTERRUPTED
from gossamer.model.reasons.reason import Reason
from gossamer.search.extra import prove_search
from gossamer.state.whole_files import write_whole

SWITCH_SECONDS = 0.0005


def start(folder: CrawlFolder, config: CrawlConfig) -> CrawlConfig:
    """Make the folder of a new crawl, with its seeds and its effective configuration in it.

    Returns:
        the configuration, which names the folder's own copy of the seeds.

    Raises:
        ConfigError: there are no seeds, one is no URL, the folder is taken, or a disk cannot be used.
    """
    config = msgspec.structs.replace(config, storage=whole_paths(config.storage))
    seeds = Seeds(config)
    seeds.prove()
    prove(config)
    prove_places(config.storage, folder.path, config.engine.min_free_disk)
    prove_store(config, folder)
    folder.create()
    fault_point("start.created")
    try:
        config = msgspec.structs.replace(config, seeds_file=seeds.keep(folder))
        lay(folder.path, config.storage)
        write_whole(folder.config, to_toml(config))
    except BaseException:
        folder.release()
        raise
    fault_point("start.configured")
    return config


def prove(config: CrawlConfig) -> None:
    """Refuse what cannot be done here.

    Raises:
        ConfigError: it needs an extra that is not installed, or a watch or a receiver makes no sense.
    """
    prove_documents(config.documents)
    prove_search(config.search)
    if config.watch or config.notify:
        # Here, because mail, search and a database are loaded for it, which hardly any crawl needs.
        from gossamer.watch.watches import prove_watches

        prove_watches(config)


def prove_store(config: CrawlConfig, folder: CrawlFolder) -> None:
    """Refuse a store to which the crawl in `folder` cannot be copied.

    Raises:
        ConfigError: it cannot be used, or holds another crawl.
    """
    if config.storage.upload:
        # Here, because hardly any crawl needs it.
        from gossamer.datasets.upload.proof import prove_upload

        prove_upload(config.storage.upload, folder.path)


_OLD_SECTION = "trap_learner"
_TOO_OLD = (
    "the crawl in {path} was begun by a Gossamer of before November 2026, and this one cannot go on with its"
    " queue. What it fetched is all there, in its archive and its log; go on with the version that began it,"
    " or begin anew in another folder, with the same seeds"
)
"""Of a section of `crawl.toml`, which names every setting: the learner went together with the old queue."""


def reopen(
    folder: CrawlFolder, *, from_checkpoint: bool = False, tell: Callable[[str], None] = lambda _: None
) -> CrawlConfig:
    """The configuration of the crawl in `folder`, whose state goes back to a checkpoint if asked to.

    Raises:
        ConfigError: no crawl lives there, its configuration has been damaged, or another process uses it.
        StorageError: the checkpoint cannot be used, or a disk is not mounted.
    """
    folder.reopen()
    try:
        settings = read_toml(folder.config)
        if _OLD_SECTION in settings:
            raise ConfigError(_TOO_OLD.format(path=folder.path))
        config = load(CrawlConfig, settings)
        Seeds(config, folder.path).prove()
        prove(config)
        claim(folder.path)
        if from_checkpoint:
            restored = restore(folder.checkpoints, folder.state, config.state)
            kept = f"; the state of before is kept in {restored.kept}" if restored.kept else ""
            tell(f"went back to checkpoint {restored.name}{kept}")
    except BaseException:
        folder.release()
        raise
    return config


async def run(
    folder: CrawlFolder,
    config: CrawlConfig,
    extensions: Extensions,
    *,
    resumed: bool,
    on_start: Callable[[Crawl], None] = lambda _: None,
    handle_signals: bool = True,
) -> Reason:
    """Crawl until finished, at a limit, or interrupted; the reason, as in the report.

    Raises:
        ConfigError, StorageError: see `gossamer.model.errors`.
    """
    # Hashing and writing give up the interpreter's lock for each piece of a body; with the default of
    # 5 ms a thread that reads a large document would then hold up the event loop for 5 ms a piece.
    sys.setswitchinterval(SWITCH_SECONDS)
    lacking = _as_idle() if config.engine.nice else ()
    async with beside() as documents:
        try:
            raise_file_limit(config)
            resolved = resolve_secrets(config)
            extractors = [*extensions.extractors, *load_extractors()]
            extensions = msgspec.structs.replace(extensions, extractors=extractors)
            extensions = with_plugins(extensions, config.plugins)
            with opened(folder, resolved) as storage:
                built = build(storage, resolved, extensions, resumed=resumed)
                for problem in lacking:
                    built.crawl.parts.observers.tell(ProblemFound("engine.nice", problem))
                if resumed:
                    built.crawl.take_up()
                if extensions.membership is not None:
                    extensions.membership.built(built)
                documents.start(
                    folder.path,
                    documents=config.documents.follow,
                    search=config.search.follow,
                    upload=bool(config.storage.upload),
                    watches=partial(_watches, built, folder.path, time.time()),
                    tell=lambda what, why: built.crawl.parts.observers.tell(ProblemFound(what, why)),
                )
                with _signals(built.crawl) if handle_signals else contextlib.nullcontext():
                    reason = await _conduct(built, config, on_start)
        finally:
            folder.release()
        await documents.end(interrupted=reason == INTERRUPTED)
    return reason


def _watches(built: Built, path: Path, session: float) -> bool:
    """Whether anything is watched; if so, that counts from now on, however late those who follow come."""
    if not built.effective.config.watch:
        return False
    from gossamer.watch.following import begin

    begin(path, session)
    return True


async def _conduct(built: Built, config: CrawlConfig, on_start: Callable[[Crawl], None]) -> Reason:
    """Crawl what was built, answering meanwhile; then give it up, and report."""
    reason, ended, crawl = FAILED, None, built.crawl
    try:
        async with contextlib.aclosing(built), answering(built, config):
            crawl.seed(built.seeds)
            fault_point("start.seeded")
            on_start(crawl)
            ended = await crawl.run()
        reason = ended
    except asyncio.CancelledError:
        if not crawl.parts.dispatch.ended:
            raise
        reason = INTERRUPTED
    finally:
        if ended is None:  # the last commit was not the end, and its time is not the crawl's
            crawl.parts.ledger.counters.seconds = crawl.parts.ledger.seconds
        # On a full disk the first failure is the one to tell of.
        with contextlib.suppress(StorageError) if reason == FAILED else contextlib.nullcontext():
            write_whole(built.folder.report, _report(built, reason))
    return reason


def _report(built: Built, reason: Reason) -> str:
    """The text of `report.json`, by what the crawl has counted."""
    crawl = built.crawl
    ledger, frontier = crawl.parts.ledger, crawl.parts.frontier
    sums = msgspec.to_builtins(
        summary(ledger.counters, ledger.names, frontier.seen.figures(), frontier.order_figures())
    )
    told = {"ended": str(reason), "why": reason, **sums, "cut": crawl.cut}
    told["twins"] = twin_sites(built.effective.config.engine.twins, [frontier.environment])
    pace = crawl.parts.pace
    if pace.on or pace.record.visits:
        hosts = ((record.heads, record.activity) for _, record in frontier.hosts.scan())
        now, pages = frontier.again.wall.now(), ledger.counters.enrolled
        told["revisit"] = revisit_sums(pace.record, pace.config, pages, hosts, now)
    return msgspec.json.format(msgspec.json.encode(told)).decode() + "\n"


@contextlib.contextmanager
def _signals(crawl: Crawl) -> Iterator[None]:
    """SIGINT, SIGTERM or SIGHUP once: finish what is lent; twice: stop now. `nohup` goes on."""
    loop = asyncio.get_running_loop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)

    def interrupt() -> None:
        if crawl.parts.dispatch.ended == INTERRUPTED:
            crawl.stop_now()
        else:
            crawl.stop(INTERRUPTED)

    for number in numbers:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _as_idle() -> list[str]:
    """Use idle time only; what this system cannot do of it."""
    from gossamer.assembly.idle import NOT_SPARED, Spared, only_when_idle

    return [NOT_SPARED[what] for what in sorted(frozenset(Spared) - only_when_idle())]
