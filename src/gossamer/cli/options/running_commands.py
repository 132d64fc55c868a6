"""Commands that look at a crawl and steer it while it runs."""

from pathlib import Path
from typing import Any

import click

from gossamer.cli.options.crawl_options import MATCH, folder, json
from gossamer.cli.options.panels import Command


@click.command(cls=Command)
@folder
@json
def status(folder: Path, *, json: bool) -> None:
    """What is known, fetched, queued, failed. Works on a running crawl too."""
    from gossamer.cli.look import show_status

    show_status(folder, json=json)


@click.command(
    cls=Command, name="set", epilog="Example: gossamer set ./crawl engine.workers=8 fetch.max_speed=1MB"
)
@folder
@click.argument("settings", metavar="NAME=VALUE...", nargs=-1)
@click.option("--undo", metavar="N", type=int, help="Take change N back instead.")
@json
def set_(folder: Path, settings: tuple[str, ...], undo: int | None, *, json: bool) -> None:
    """Change settings of a running crawl. It goes on with them after a stop too."""
    from gossamer.cli.live import show_set, show_undo

    if (undo is None) is not bool(settings):
        raise click.UsageError("give NAME=VALUE, or --undo N")
    if undo is None:
        show_set(folder, settings, json=json)
    else:
        show_undo(folder, undo, json=json)


@click.command(cls=Command)
@folder
@json
def pause(folder: Path, *, json: bool) -> None:
    """Let a running crawl ask for nothing more until 'unpause'."""
    from gossamer.cli.live import show_pause

    show_pause(folder, on=True, json=json)


@click.command(cls=Command)
@folder
@json
def unpause(folder: Path, *, json: bool) -> None:
    """Let a paused crawl go on."""
    from gossamer.cli.live import show_pause

    show_pause(folder, on=False, json=json)


@click.command(
    cls=Command, epilog="Example: gossamer changed ./crawl https://example.org/news https://example.org/about"
)
@folder
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option(
    "--new", is_flag=True, help="Admit those that the crawl does not know, if they are in its scope."
)
@json
def changed(folder: Path, urls: tuple[str, ...], *, new: bool, json: bool) -> None:
    """Tell a running crawl that pages have changed, so that they are visited again sooner.

    For crawls that visit pages again (--revisit). To have pages fetched for certain, use 'gossamer refetch'.
    """
    from gossamer.cli.live import show_changed

    show_changed(folder, urls, new=new, json=json)


@click.command(cls=Command)
@folder
@click.argument("url")
@json
def why(folder: Path, url: str, *, json: bool) -> None:
    """Why a URL was crawled, or was not. Works on a running crawl too."""
    from gossamer.cli.look import show_why

    show_why(folder, url, json=json)


@click.command(cls=Command, epilog="Example: gossamer refetch ./crawl --status 5xx --older-than 1d")
@folder
@click.argument("urls", metavar="URL...", nargs=-1)
@click.option("--match", metavar="PATTERN", default="", help=MATCH)
@click.option("--status", metavar="CODE", default="", help="Those with this status: 404, or 5xx.")
@click.option("--type", metavar="TYPE", default="", help="Those whose media type begins so.")
@click.option("--host", metavar="NAME", default="", help="Those of this host; .NAME: those below it too.")
@click.option("--under", metavar="URL", default="", help="Those that begin so.")
@click.option("--older-than", metavar="TIME", default="", help="Those visited last before: 7d, 12h.")
@click.option("--gone", is_flag=True, help="Those that are gone (see 'gossamer list --gone').")
@click.option("--dry-run", is_flag=True, help="Only say how many.")
@json
def refetch(folder: Path, urls: tuple[str, ...], *, json: bool, **asked: Any) -> None:
    """Visit pages again: a running crawl at once, a stopped one with 'resume'.

    Pages are sent whole, whether they have changed or not. They go ahead of what is new on their hosts, which
    rest as ever between two visits. URL may be a path on the first seed's host. Exit 1 if no URL is known.
    """
    from gossamer.cli.refetch import show_refetch
    from gossamer.control.changes.refetching import Refetch

    show_refetch(folder, Refetch(urls=list(urls), **asked), json=json)


@click.command(cls=Command)
@folder
@click.option("--release", metavar="BRANCH", help="Let a branch out for good; the crawl must not be running.")
@click.option("--host", metavar="NAME", default="", help="Only of this host.")
@json
def traps(folder: Path, release: str | None, host: str, *, json: bool) -> None:
    """The branches of sites, what they brought, and which were set aside. Works on a running crawl too.

    What is set aside is not lost: 'gossamer resume DIR --release' visits it. In a branch 0 stands for digits,
    * for names that came late; in brackets stands what tells it from its siblings.
    """
    from gossamer.cli.traps import release_trap, show_traps

    if release is None:
        show_traps(folder, host, json=json)
    else:
        release_trap(folder, release, host, json=json)
