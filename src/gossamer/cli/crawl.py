"""Starts and resumes crawls: options to configuration, progress, the closing words."""

import asyncio
import contextlib
import sys
from pathlib import Path

import msgspec
import uvloop

from gossamer.app.build import Extensions, parse_seeds
from gossamer.app.config import CrawlConfig
from gossamer.app.folder import CrawlFolder, write_whole
from gossamer.app.run import INTERRUPTED, reopen, run, start
from gossamer.app.settings import load, merge, read_toml, to_toml
from gossamer.cli import EXIT_INTERRUPTED
from gossamer.cli.printing import duration, safe, say, show_json, size
from gossamer.cli.progress import Progress
from gossamer.engine.crawl import Crawl
from gossamer.model.errors import ConfigError


class Request(msgspec.Struct, frozen=True):
    """What the command line says of a new crawl."""

    seeds: list[str]
    seeds_file: str | None
    config: Path | None
    folder: Path | None
    overrides: dict[str, object]
    settings: list[str]


def run_new(request: Request, *, quiet: bool, json: bool) -> None:
    """Make the folder and crawl."""
    config = compose(request)
    path = request.folder or default_folder(config)
    folder = CrawlFolder(path)
    start(folder, config)
    conduct(folder, config, resumed=False, quiet=quiet, json=json)


def run_again(path: Path, settings: list[str], *, from_checkpoint: bool, quiet: bool, json: bool) -> None:
    """Go on with the crawl in `path`."""
    folder = CrawlFolder(path)
    config = reopen(folder, from_checkpoint=from_checkpoint)
    if settings:
        tree = merge(read_toml(folder.config), parse_settings(settings))
        config = load(CrawlConfig, tree)
        write_whole(folder.config, to_toml(config))
    conduct(folder, config, resumed=True, quiet=quiet, json=json)


def compose(request: Request) -> CrawlConfig:
    """Defaults, then the file, then the options.

    Raises:
        ConfigError: lists every problem there is.
    """
    tree = read_toml(request.config) if request.config else {}
    seeds = [*request.seeds, *(read_seeds(request.seeds_file) if request.seeds_file else [])]
    overrides = {**request.overrides, **parse_settings(request.settings)}
    if seeds:
        overrides["seeds"] = seeds
    return load(CrawlConfig, merge(tree, overrides))


def parse_settings(settings: list[str]) -> dict[str, object]:
    """`NAME=VALUE` as dotted path and TOML value; what is no TOML value is text."""
    import tomllib

    parsed: dict[str, object] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ConfigError(f"--set {setting!r}: write it as NAME=VALUE, e.g. --set fetch.cookies=true")
        try:
            parsed[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parsed[name.strip()] = value
    return parsed


def read_seeds(source: str) -> list[str]:
    """One seed a line; empty lines and lines that begin with # are left out."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--seeds {source}: cannot be read ({error}). Give a UTF-8 file or '-'.") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def default_folder(config: CrawlConfig) -> Path:
    """`./crawl-<host of the first seed>`."""
    if not config.seeds:
        raise ConfigError("seeds: there are none. Name at least one URL, or give --seeds FILE.")
    url = parse_seeds(config.seeds)[0]
    name = "".join(char if char.isalnum() or char in ".-" else "-" for char in url.host)
    port = "" if url.origin.endswith(url.host) else f"-{url.port}"
    return Path(f"crawl-{name}{port}")


def conduct(folder: CrawlFolder, config: CrawlConfig, *, resumed: bool, quiet: bool, json: bool) -> None:
    """Run the crawl with its progress on standard error; exit 130 if interrupted."""
    live = sys.stderr.isatty()
    if not quiet:
        say(f"crawling into {folder.path}" + (" (resumed)" if resumed else ""))
    reason = uvloop.run(_conduct(folder, config, resumed=resumed, quiet=quiet, live=live))
    report = folder.report.read_text(encoding="utf-8")
    if json:
        show_json(msgspec.json.decode(report))
    if not quiet:
        _say_end(reason, msgspec.json.decode(report), folder)
    if reason == INTERRUPTED:
        say(f"interrupted; go on with: gossamer resume {folder.path}")
        sys.exit(EXIT_INTERRUPTED)


async def _conduct(
    folder: CrawlFolder, config: CrawlConfig, *, resumed: bool, quiet: bool, live: bool
) -> str:
    shown: list[asyncio.Task[None]] = []

    def on_start(crawl: Crawl) -> None:
        for repair in crawl.parts.archivist.repairs:
            say(f"archive: {safe(repair)}")
        if not quiet:
            shown.append(asyncio.create_task(Progress(crawl, live=live).run()))

    try:
        return await run(folder, config, Extensions(), resumed=resumed, on_start=on_start)
    finally:
        for task in shown:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def _say_end(reason: str, report: dict[str, object], folder: CrawlFolder) -> None:
    pages, left = report["pages"], int(str(report["queued"])) + int(str(report["waiting"]))
    say(
        f"{reason}: {pages} pages, {size(float(str(report['bytes'])))} in "
        f"{duration(float(str(report['seconds'])))}; {left} URLs left"
    )
    if left and reason != INTERRUPTED:
        say(f"take up what is left with: gossamer resume {folder.path}")
    say(f"archive: {folder.archive}, index: {folder.index}, report: {folder.report}")
