"""The commands with their options; each imports the rooms it needs only when it runs."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="gossamer",
    help="A polite, durable web crawler that explains itself.",
    epilog="First steps: gossamer demo, then gossamer crawl https://example.org/ --max-pages 20",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Folder = Annotated[Path, typer.Argument(help="Folder of a crawl.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no closing words.")]
Nameserver = Annotated[list[str] | None, typer.Option(metavar="ADDRESS:PORT", help="Ask this name server.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any setting of 'gossamer config', by its path."),
]

WHERE, HOW_FAR, MANNERS = "What to crawl", "How far", "Manners"


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"gossamer {version('gossamer')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Keep the crawl here instead of a temporary folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Crawl a simulated web on loopback: no network needed."""
    from gossamer.cli.demo import run_demo

    run_demo(folder, json=json)


@app.command(
    epilog="Example: gossamer crawl https://example.org/docs/ --scope prefix --contact you@example.org"
)
def crawl(
    seed: Annotated[
        list[str] | None, typer.Argument(metavar="SEED...", help="URLs or bare host names.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Where the crawl goes; if not given, ./crawl-HOST.")
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Read seeds from a file, one a line.", rich_help_panel=WHERE),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="host|domain|prefix|any",
            help="What belongs to the crawl; if not given, the seeds' hosts.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="REGEX", help="Leave out matching URLs.", rich_help_panel=WHERE),
    ] = None,
    requisites: Annotated[
        str | None,
        typer.Option(
            metavar="off|host|any",
            help="Images, scripts and style sheets of pages; if not given, off.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="bfs|dfs|NAME", help="Breadth or depth first, or a plug-in.", rich_help_panel=WHERE
        ),
    ] = None,
    max_pages: Annotated[
        str | None, typer.Option(metavar="N", help="Stop after so many pages.", rich_help_panel=HOW_FAR)
    ] = None,
    max_depth: Annotated[
        str | None,
        typer.Option(metavar="N", help="Follow at most so many links from a seed.", rich_help_panel=HOW_FAR),
    ] = None,
    max_time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Stop after this time: 90s, 2h.", rich_help_panel=HOW_FAR),
    ] = None,
    min_delay: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Rest of a host after each visit; if not given, 1s; 0 for sites of your own.",
            rich_help_panel=MANNERS,
        ),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Your web or mail address, sent with every request.",
            rich_help_panel=MANNERS,
        ),
    ] = None,
    user_agent: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The whole User-Agent header.", rich_help_panel=MANNERS),
    ] = None,
    ignore_robots: Annotated[
        bool, typer.Option("--ignore-robots", help="For sites of your own.", rich_help_panel=MANNERS)
    ] = False,
    workers: Annotated[str | None, typer.Option(metavar="N", help="Visits at once over all hosts.")] = None,
    nameserver: Nameserver = None,
    config: Annotated[Path | None, typer.Option(help="Configuration file (see 'gossamer config').")] = None,
    setting: Setting = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Crawl from SEEDs into a folder; refuses a folder that holds another crawl."""
    from gossamer.cli.crawl import run_new
    from gossamer.cli.request import Request

    options = {
        "scope": scope,
        "exclude": exclude or None,
        "max_depth": max_depth,
        "requisites": requisites,
        "max_pages": max_pages,
        "max_time": max_time,
        "min_delay": min_delay,
        "workers": workers,
        "order": order,
        "user_agent": user_agent,
        "contact": contact,
        "nameserver": nameserver or None,
        "obey_robots": False if ignore_robots else None,
    }
    run_new(Request(seed or [], seeds, config, folder, options, setting or []), quiet=quiet, json=json)


@app.command()
def resume(
    folder: Folder,
    from_checkpoint: Annotated[
        bool, typer.Option("--from-checkpoint", help="Go back to the last checkpoint first.")
    ] = False,
    setting: Setting = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on after a stop, a crash, a kill; takes up what was parked."""
    from gossamer.cli.crawl import run_again

    run_again(folder, setting or [], from_checkpoint=from_checkpoint, quiet=quiet, json=json)


@app.command()
def status(folder: Folder, json: Json = False) -> None:
    """What is known, fetched, queued, resting, parked, failed; works on a running crawl too."""
    from gossamer.cli.look import show_status

    show_status(folder, json=json)


@app.command()
def why(
    folder: Folder,
    url: Annotated[str, typer.Argument(help="Any URL.", show_default=False)],
    json: Json = False,
) -> None:
    """The life of one URL, or why it was not crawled; works on a running crawl too."""
    from gossamer.cli.look import show_why

    show_why(folder, url, json=json)


@app.command()
def check(folder: Folder, json: Json = False) -> None:
    """Verify archive, index and state against each other; exit 1 if anything is wrong."""
    from gossamer.cli.look import show_check

    show_check(folder, json=json)


@app.command()
def robots(
    url: Annotated[str, typer.Argument(help="The URL in question.", show_default=False)],
    nameserver: Nameserver = None,
    json: Json = False,
) -> None:
    """What the robots file of URL's origin says about it."""
    from gossamer.cli.by_hand import show_robots

    show_robots(url, nameserver or [], json=json)


@app.command()
def dns(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Host names.", show_default=False)],
    nameserver: Nameserver = None,
    json: Json = False,
) -> None:
    """Resolve names as a crawl would."""
    from gossamer.cli.by_hand import show_names

    show_names(names, nameserver or [], json=json)


@app.command()
def config() -> None:
    """Print the whole commented default configuration."""
    from gossamer.app.config import CrawlConfig
    from gossamer.app.settings import commented_toml

    typer.echo(commented_toml(CrawlConfig), nl=False)
