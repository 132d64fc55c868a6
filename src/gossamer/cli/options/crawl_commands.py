"""Commands that begin a crawl or go on with it."""

from pathlib import Path
from typing import Any

import click

from gossamer.cli.options.crawl_options import PATH, asked, crawl_options, folder, json, nice, quiet, setting
from gossamer.cli.options.panels import Command


@click.command(cls=Command)
@click.option("--dir", "folder", type=PATH, help="Keep the crawl here instead of a temporary folder.")
@json
def demo(folder: Path | None, *, json: bool) -> None:
    """Crawl a simulated web on loopback: no network needed."""
    from gossamer.cli.demo import run_demo

    run_demo(folder, json=json)


@click.command(
    cls=Command,
    epilog="Example: gossamer crawl https://example.org/docs/ --scope prefix --contact you@example.org",
)
@crawl_options
@quiet
@json
def crawl(folder: Path | None, config: Path | None, *, quiet: bool, json: bool, **given: Any) -> None:
    """Crawl from SEEDs into a folder. Refuses a folder that holds another crawl."""
    from gossamer.cli.crawl import run_new

    run_new(asked(folder, config, given), quiet=quiet, json=json)


@click.command(cls=Command)
@folder
@click.option("--from-checkpoint", is_flag=True, help="Go back to the last checkpoint first.")
@click.option("--release", is_flag=True, help="Visit also what was set aside as endless.")
@click.option(
    "--revisit",
    is_flag=True,
    help="Visit pages again when they are likely to have changed; go on until stopped.",
)
@nice
@click.option("--max-pages", metavar="N", help="Stop after N more pages.")
@click.option("--max-bytes", metavar="SIZE", help="Stop after this many more bytes.")
@click.option("--max-time", metavar="TIME", help="Stop after this much more time.")
@setting
@quiet
@json
def resume(
    folder: Path,
    setting: tuple[str, ...],
    *,
    from_checkpoint: bool,
    release: bool,
    quiet: bool,
    json: bool,
    **further: Any,
) -> None:
    """Go on after a stop, a crash, a kill, a limit. Takes up what was parked.

    The limits of a crawl are for all of its sessions together; --max-pages and its like count from now.
    """
    from gossamer.cli.crawl import run_again

    if release:
        from gossamer.inspect.traps import release_branch

        release_branch(folder, "all")
    if further.pop("revisit"):
        setting = (*setting, "revisit.enabled=true")
    if further.pop("nice"):
        setting = (*setting, "engine.nice=true")
    run_again(folder, setting, further, from_checkpoint=from_checkpoint, quiet=quiet, json=json)
