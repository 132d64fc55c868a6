"""Opens what a crawl keeps in its folder: the state, and the files whose lengths the state knows."""

import contextlib
from collections.abc import Iterator

import msgspec

from gossamer.archive.committed import archive_files, note_cut
from gossamer.archive.file import OPEN_SUFFIX, SUFFIX
from gossamer.archive.placement import ArchiveFile
from gossamer.archive.writer import ArchiveWriter
from gossamer.assembly.folder import CrawlFolder, state_lost
from gossamer.assembly.release import release_in
from gossamer.config.config import CrawlConfig
from gossamer.engine.checkpoints import RESTORED, sign_of_loss
from gossamer.engine.fault_points import fault_point
from gossamer.engine.settlement.ledger import Ledger
from gossamer.engine.settlement.visit_log import LOG, VisitLog
from gossamer.state.clock import CrawlClock
from gossamer.state.environment import Environment, Family
from gossamer.state.records import CLOCK, ClockRecord, decode


class Storage(msgspec.Struct, frozen=True):
    """What a crawl keeps, open for writing; all of it is as of the last commit.

    Attributes:
        folder: where it lies, with whatever else of the crawl does.
        environment: the state.
        clock: the crawl's.
        ledger: the sums of the crawl.
        log: one line for each visit.
        archive: where records are appended.
    """

    folder: CrawlFolder
    environment: Environment
    clock: CrawlClock
    ledger: Ledger
    log: VisitLog
    archive: ArchiveWriter


@contextlib.contextmanager
def opened(folder: CrawlFolder, config: CrawlConfig) -> Iterator[Storage]:
    """What lies in `folder`, cut back to what was committed, until the end of the block.

    Raises:
        ConfigError: another process uses the folder.
        StorageError: the state or the archive cannot be used.
    """
    if loss := sign_of_loss(folder.checkpoints, folder.state):
        raise state_lost(folder, loss)
    state = Environment.open(folder.state, config.state, create=not folder.has_results)
    with contextlib.closing(state) as environment:
        if not config.branches.set_aside:
            release_in(environment, config.branches, "all")
        fault_point("start.opened")
        folder.clear_tmp()
        last = environment.get(Family.META, CLOCK)
        clock = CrawlClock(decode(last, ClockRecord) if last else None)
        ledger = Ledger.load(environment, clock)
        committed = environment.get(Family.META, LOG)
        with contextlib.closing(VisitLog(folder.log, decode(committed, int) if committed else 0)) as log:
            archive = _archive(folder, config, environment, clock)
            try:
                _note_restoring(environment, clock)
                yield Storage(folder, environment, clock, ledger, log, archive)
            finally:
                archive.abandon()


def _archive(
    folder: CrawlFolder, config: CrawlConfig, environment: Environment, clock: CrawlClock
) -> ArchiveWriter:
    """The archive as the state knows it, whose files each say of the crawl what stands in `info`."""
    fetch = config.fetch
    info = [
        ("software", fetch.agent.partition(" ")[0]),
        ("robots", "obey" if config.robots.obey else "ignore"),
        ("http-header-user-agent", fetch.agent),
        ("isPartOf", folder.name),
    ]
    if fetch.mailbox:
        info.append(("http-header-from", fetch.mailbox))
    files = archive_files(environment)
    if not clock.rebooted and environment.get(Family.META, RESTORED) is None:
        _refuse_to_remove_much(folder, files)
    return ArchiveWriter.open(folder.archive, config.archive, info, files, fault_point)


def _refuse_to_remove_much(folder: CrawlFolder, files: list[ArchiveFile]) -> None:
    """A kill leaves one archive file that the state does not know; more mean that the state is wrong.

    Not to be asked where a power failure or a checkpoint explains it.

    Raises:
        StorageError: there are more.
    """
    found = {path.name.removesuffix(OPEN_SUFFIX) for path in folder.archive.glob(f"*{SUFFIX}*")}
    unknown = sorted(found - {file.name for file in files})
    if len(unknown) > 1:
        raise state_lost(folder, f"it does not know {len(unknown)} archive files, {unknown[0]} first")


def _note_restoring(environment: Environment, clock: CrawlClock) -> None:
    """The archive is as the state has it, which may be less than followers have read."""
    batch = environment.batch()
    if clock.rebooted or environment.get(Family.META, RESTORED) is not None:
        note_cut(environment, batch)
    batch.delete(Family.META, RESTORED)
    environment.commit(batch)
