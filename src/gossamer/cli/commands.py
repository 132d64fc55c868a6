"""The commands with their options; each imports the rooms it needs only when it runs."""

from pathlib import Path
from typing import Annotated, Optional

import typer

app = typer.Typer(
    name="gossamer",
    help="A polite, durable web crawler that explains itself.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Folder = Annotated[Path, typer.Argument(help="Folder of a crawl.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


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
        Optional[Path], typer.Option("--dir", help="Keep the crawl here instead of a temporary folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Crawl a simulated web on loopback: no network needed."""
    from gossamer.cli.demo import run_demo

    run_demo(folder, json=json)


@app.command()
def crawl(
    seed: Annotated[Optional[list[str]], typer.Argument(help="URLs or bare host names.")] = None,
    folder: Annotated[
        Optional[Path], typer.Option("--dir", help="Where the crawl goes. [default: ./crawl-<host>]")
    ] = None,
    seeds: Annotated[
        Optional[str], typer.Option(metavar="FILE|-", help="Read seeds from a file, one a line.")
    ] = None,
    config: Annotated[
        Optional[Path], typer.Option(help="Configuration file (see 'gossamer config').")
    ] = None,
    scope: Annotated[
        Optional[str], typer.Option(metavar="host|domain|prefix|any", help="What belongs to the crawl.")
    ] = None,
    exclude: Annotated[
        Optional[list[str]], typer.Option(metavar="REGEX", help="Leave out matching URLs.")
    ] = None,
    requisites: Annotated[
        Optional[str], typer.Option(metavar="off|host|any", help="Images, scripts and style sheets of pages.")
    ] = None,
    max_pages: Annotated[Optional[int], typer.Option(help="Stop after so many pages.")] = None,
    max_depth: Annotated[Optional[int], typer.Option(help="Follow so many links from a seed.")] = None,
    max_time: Annotated[
        Optional[str], typer.Option(metavar="TIME", help="Stop after this time: 90s, 2h.")
    ] = None,
    min_delay: Annotated[
        Optional[str],
        typer.Option(metavar="TIME", help="Rest of a host after each visit; 0 for your own sites."),
    ] = None,
    workers: Annotated[Optional[int], typer.Option(help="Visits at once, over all hosts.")] = None,
    order: Annotated[Optional[str], typer.Option(help="bfs, dfs, or a plug-in's name.")] = None,
    user_agent: Annotated[Optional[str], typer.Option(help="The whole User-Agent header.")] = None,
    contact: Annotated[
        Optional[str], typer.Option(help="Your web or mail address, sent with every request.")
    ] = None,
    nameserver: Annotated[
        Optional[list[str]], typer.Option(metavar="ADDRESS:PORT", help="Ask this name server.")
    ] = None,
    ignore_robots: Annotated[bool, typer.Option("--ignore-robots", help="For sites of your own.")] = False,
    setting: Annotated[
        Optional[list[str]],
        typer.Option("--set", metavar="NAME=VALUE", help="Any setting: --set fetch.cookies=true"),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Crawl from SEEDs into a folder; refuses a folder that holds another crawl."""
    from gossamer.app.options import overrides
    from gossamer.cli.crawl import Request, run_new

    given = {
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
    run_new(
        Request(seed or [], seeds, config, folder, overrides(given), setting or []), quiet=quiet, json=json
    )


@app.command()
def resume(
    folder: Folder,
    from_checkpoint: Annotated[
        bool, typer.Option("--from-checkpoint", help="Go back to the last checkpoint first.")
    ] = False,
    setting: Annotated[
        Optional[list[str]], typer.Option("--set", metavar="NAME=VALUE", help="Change a setting from now on.")
    ] = None,
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
    """Verify archive, index and state against each other."""
    from gossamer.cli.look import show_check

    show_check(folder, json=json)


@app.command()
def robots(
    url: Annotated[str, typer.Argument(help="The URL in question.", show_default=False)],
    nameserver: Annotated[
        Optional[list[str]], typer.Option(metavar="ADDRESS:PORT", help="Ask this name server.")
    ] = None,
    json: Json = False,
) -> None:
    """What the robots file of URL's origin says about it."""
    from gossamer.cli.by_hand import show_robots

    show_robots(url, nameserver or [], json=json)


@app.command()
def dns(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Host names.", show_default=False)],
    nameserver: Annotated[
        Optional[list[str]], typer.Option(metavar="ADDRESS:PORT", help="Ask this name server.")
    ] = None,
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
