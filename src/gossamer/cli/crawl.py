"""Starts and resumes crawls: runs them with their progress, and ends with the right status."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import uvloop

from gossamer.assembly.disks import unmoved
from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.private import keep_private
from gossamer.assembly.seeds import Seeds, rereadable
from gossamer.cli.exits import EXIT_CONFIG, EXIT_INTERRUPTED
from gossamer.cli.request import (
    Request,
    compose,
    default_folder,
    option_settings,
    parse_settings,
    start_problems,
)
from gossamer.cli.terminal.ctrl_c import heed
from gossamer.cli.terminal.ending import say_end
from gossamer.cli.terminal.hints import hints
from gossamer.cli.terminal.printing import safe, say, show_json
from gossamer.cli.terminal.progress import Progress
from gossamer.cli.terminal.trouble import Troubles
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge, read_toml, to_toml
from gossamer.crawling.run import prove, prove_store, reopen, run, start
from gossamer.engine.crawl import Crawl
from gossamer.engine.heap import few_arenas, spare_what_stays
from gossamer.inspect.inspection import inspect
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.events import Event, Stopped
from gossamer.model.outcome import Fault
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.ends import FINISHED, INTERRUPTED, UNREACHABLE
from gossamer.model.reasons.reason import Reason
from gossamer.state.records import Counters
from gossamer.state.whole_files import write_whole

LONGEST_NAME = 200
"""Of a folder that a seed may have been meant for."""


def run_new(
    request: Request, *, quiet: bool, json: bool, begin: Callable[[Crawl], None] = lambda _: None
) -> None:
    """Make the folder and crawl; `begin` as in `conduct`."""
    keep_private()
    for seed in request.seeds:
        name = seed.rstrip("/")
        if "/" not in name and len(name) < LONGEST_NAME and CrawlFolder(Path(name)).used:
            raise ConfigError(
                f"{seed}: is the folder of a crawl. '{command_line('resume', seed)}' goes on with it; to crawl a host"
                f" of that name write http://{name}/"
            )
        is_file = "://" not in seed and os.path.isfile(seed)  # noqa: PTH113 - also where we may not look
        if is_file or (seed.startswith(("/", "./", "../")) and os.path.exists(seed)):  # noqa: PTH110 - as above
            raise ConfigError(
                f"{seed}: is a path, not a URL. To crawl what lies there write {Path(seed).resolve().as_uri()}"
                + "/" * Path(seed).is_dir()
                + f"; to crawl the URLs that it lists, '{command_line('crawl', '--seeds', seed)}'" * is_file
                + f"; to crawl a host of that name, http://{seed}/" * ("/" not in seed)
            )
    with rereadable(request.seeds_file) as seeds_file:
        config = compose(msgspec.structs.replace(request, seeds_file=seeds_file))
        folder = CrawlFolder(request.folder or default_folder(config))
        existed = os.path.exists(folder.path)  # noqa: PTH110 - also where we may not look
        config = start(folder, config)
    if not quiet:
        for hint in hints(config, Seeds(config, folder.path)):
            say(hint)
    try:
        conduct(folder, config, resumed=False, quiet=quiet, json=json, begin=begin)
    except _MisspeltError:
        if not existed:
            folder.discard()
            say(f"nothing was kept: {folder.path} is removed")
        sys.exit(EXIT_CONFIG)


class _MisspeltError(Exception):
    """There are no such hosts as the seeds name, so there is nothing to go on with."""


def run_again(
    path: Path,
    settings: Sequence[str],
    further: Mapping[str, str | None],
    *,
    from_checkpoint: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Go on with the crawl in `path`; `further` are limits by their short names, counted from now."""
    keep_private()
    folder, config = taken_up(path, settings, further, from_checkpoint=from_checkpoint)
    conduct(folder, config, resumed=True, quiet=quiet, json=json)


def taken_up(
    path: Path, settings: Sequence[str], further: Mapping[str, object], *, from_checkpoint: bool
) -> tuple[CrawlFolder, CrawlConfig]:
    """The crawl in `path`, for `conduct` to go on with; as `run_again`, and `further` may be any options."""
    folder = CrawlFolder(path)
    config = begun = reopen(folder, from_checkpoint=from_checkpoint, tell=say)
    options = option_settings(further)
    if settings or options:
        parsed, problems = parse_settings(settings)
        if problems:
            raise ConfigError(*problems)
        config = load(
            CrawlConfig, merge(CrawlConfig.renewed(read_toml(folder.config)), {**parsed, **options})
        )
        prove(config)
        storage = unmoved(begun.storage, config.storage, path)
        config = msgspec.structs.replace(config, storage=storage)
        prove_store(config, folder)
        if limits := frozenset(options) & {f"budget.{name}" for name in LIMITS.values()}:
            config = _from_now(folder, config, limits)
        Seeds(config, folder.path).prove()  # or nobody could resume it any more
        if problems := start_problems(config, config.engine.order):
            raise ConfigError(*problems)
        write_whole(folder.config, to_toml(config))
    else:
        prove_store(config, folder)
    return folder, config


LIMITS = {EndCode.MAX_PAGES: "max_pages", EndCode.MAX_BYTES: "max_bytes", EndCode.MAX_TIME: "max_time"}
"""Of the whole crawl, in the section `budget`, by how it ends at them."""


def _from_now(folder: CrawlFolder, config: CrawlConfig, limits: frozenset[str]) -> CrawlConfig:
    """The configuration with what the crawl has used up added to those limits."""
    with inspect(folder.path) as inspection:
        used = _used(inspection.counters)
    budget = config.budget
    chosen = {
        name: getattr(budget, name) + used[code]
        for code, name in LIMITS.items()
        if f"budget.{name}" in limits and getattr(budget, name)  # 0 is no limit
    }
    return msgspec.structs.replace(config, budget=msgspec.structs.replace(budget, **chosen))


def _used(sums: Counters) -> dict[str, float]:
    """What a crawl has used up of each of `LIMITS`, by the code of its end."""
    return {EndCode.MAX_PAGES: sums.pages, EndCode.MAX_BYTES: sums.bytes, EndCode.MAX_TIME: sums.seconds}


def conduct(
    folder: CrawlFolder,
    config: CrawlConfig,
    *,
    resumed: bool,
    quiet: bool,
    json: bool,
    begin: Callable[[Crawl], None] = lambda _: None,
) -> None:
    """Run the crawl, progress on standard error; exit 130 if interrupted, 2 if no page came of any seed.

    `begin` is called when it is built and has its seeds, before anything is visited.
    """
    if not quiet:
        say(f"crawling into {folder.path}" + (" (resumed)" if resumed else ""))
        if config.engine.nice:
            say("  only when nobody else wants the CPU and the disk (engine.nice)")
    few_arenas()
    troubles = Troubles()
    heed()
    used: dict[str, float] = {}

    def begun(crawl: Crawl) -> None:
        used.update(_used(crawl.parts.ledger.counters))
        begin(crawl)

    reason = uvloop.run(_conduct(folder, config, troubles, begun, resumed=resumed, quiet=quiet))
    report = msgspec.json.decode(folder.report.read_bytes())
    if json:
        show_json(report)
    faults = {failed.fault for failed in troubles.unreached.values()}
    misspelt = reason == UNREACHABLE and faults == {Fault.NAME_NOT_FOUND} and not resumed
    nothing = reason == FINISHED and not report["pages"]
    if not quiet or nothing or reason in (INTERRUPTED, UNREACHABLE):
        with inspect(folder.path) as inspection:
            say_end(reason, report, inspection, troubles, used, hopeless=misspelt)
    if config.storage.upload:
        _say_left(folder.path)
    if reason == INTERRUPTED:
        sys.exit(EXIT_INTERRUPTED)
    if misspelt:
        raise _MisspeltError
    if reason == UNREACHABLE or nothing:
        sys.exit(EXIT_CONFIG)


def _say_waiting(event: Event) -> None:
    """Of a crawl that has ended: what it waits for now, which may be long."""
    if isinstance(event, Stopped) and event.reason != INTERRUPTED:
        say("what is left goes to the store; Ctrl-C leaves it to 'gossamer upload'")


def _say_left(path: Path) -> None:
    from gossamer.datasets.upload.ledger import is_whole  # which hardly any crawl needs

    if not is_whole(path):
        say(f"not all is in the store: '{safe(command_line('upload', path))}' sends the rest")


async def _conduct(
    folder: CrawlFolder,
    config: CrawlConfig,
    troubles: Troubles,
    begin: Callable[[Crawl], None],
    *,
    resumed: bool,
    quiet: bool,
) -> Reason:
    shown: list[asyncio.Task[None]] = []
    tells = bool(config.storage.upload) and not quiet

    def on_start(crawl: Crawl) -> None:
        begin(crawl)
        for repair in crawl.parts.archivist.repairs:
            say(f"archive: {safe(repair)}")
        spare_what_stays()
        if not quiet:
            reads = config.documents.follow or config.search.follow
            progress = Progress(crawl, troubles, live=sys.stderr.isatty(), reads=reads)
            shown.append(asyncio.create_task(progress.run()))

    try:
        extensions = Extensions(observers=(troubles.hear, *([_say_waiting] if tells else [])))
        return await run(folder, config, extensions, resumed=resumed, on_start=on_start)
    finally:
        for task in shown:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
