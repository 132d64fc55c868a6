"""Commands that try one setting, or look one thing up, without a crawl."""

from pathlib import Path
from typing import Any

import click

from gossamer.cli.options.crawl_options import PATH, field, fields_of, json, nameserver
from gossamer.cli.options.panels import Command


@click.command(
    cls=Command, epilog="Example: gossamer fields https://example.org/p/1 --field 'price=.price | number'"
)
@click.argument("url")
@field
@click.option("--config", type=PATH, help="Configuration file with sections [fields.NAME].")
@click.option("--from", "folder", type=PATH, metavar="FOLDER", help="The page as this crawl archived it.")
@json
def fields(
    url: str, fields: tuple[str, ...], config: Path | None, folder: Path | None, *, json: bool
) -> None:
    """Try selectors on one page and show what they find.

    \b
    .price                     text of the first element
    .price | number            1299.5 of "EUR 1.299,50"; also date, url, html
    time::attr(datetime) | date
    .tag | all                 a list
    //h1/text()                XPath (needs lxml)

    With a crawl, 'gossamer crawl --field' or sections [fields.NAME] of its configuration take them of each
    page.
    """
    from gossamer.cli.fields import try_fields

    try_fields(url, fields_of(fields), config, folder, json=json)


@click.command(cls=Command, epilog="Example: gossamer login https://example.org/login > login.toml")
@click.argument("url")
@click.option(
    "--form", default="", metavar="NAME", help="Which form: its id, name or number, if there are several."
)
@click.option("--try", "tried", is_flag=True, help="Log in, too, and say whether that works.")
@click.option(
    "--config",
    type=PATH,
    metavar="FILE",
    help="With --try: the recipe of this file for URL, any page of members.",
)
def login(url: str, form: str, config: Path | None, *, tried: bool) -> None:
    """Find the form on a log-in page and print the recipe to log in by, for the file of --config.

    The recipe names environment variables for name and password; set them, and try it with --try.
    """
    from gossamer.cli.login import show_login

    show_login(url, form, config, tried=tried)


@click.command(cls=Command)
@click.argument("url")
@nameserver
@json
def robots(url: str, nameserver: tuple[str, ...], *, json: bool) -> None:
    """What the robots file of URL's origin says about it."""
    from gossamer.cli.by_hand import show_robots

    show_robots(url, list(nameserver), json=json)


@click.command(cls=Command)
@click.argument("names", metavar="NAME...", nargs=-1)
@click.option("--stats", type=PATH, metavar="FOLDER", help="What the crawl in FOLDER asked and keeps.")
@click.option(
    "--count",
    "counted",
    metavar="DOMAIN",
    multiple=True,
    help="How many names under a top-level or registrable DOMAIN are kept; may be repeated.",
)
@click.option(
    "--serve",
    metavar="ADDRESS:PORT",
    help="Answer other programs of this machine, at a loopback address; with --stats from FOLDER's cache.",
)
@nameserver
@json
def dns(
    names: tuple[str, ...],
    stats: Path | None,
    counted: tuple[str, ...],
    serve: str | None,
    nameserver: tuple[str, ...],
    *,
    json: bool,
) -> None:
    """Resolve names as a crawl would. Exit 1 if one has no address."""
    from gossamer.cli.names import show_kept_names, show_name_statistics, show_names

    if serve is not None:
        if names or counted:
            raise click.UsageError("name hosts, give --count DOMAIN, or --serve ADDRESS:PORT")
        from gossamer.cli.serve_names import serve_names

        serve_names(serve, stats, list(nameserver), json=json)
        return
    if counted:
        if names:
            raise click.UsageError("name hosts, or give --count DOMAIN")
        show_kept_names(list(counted), stats, list(nameserver), json=json)
        return
    if stats is not None:
        show_name_statistics(stats, json=json)
        return
    if not names:
        raise click.UsageError("name at least one host, or give --stats, --count or --serve")
    show_names(list(names), list(nameserver), json=json)


@click.command(cls=Command, epilog="Example: gossamer config politeness fetch.max_head --find robots")
@click.argument("names", metavar="NAME...", nargs=-1)
@click.option("--find", metavar="WORD", default="", help="Settings in whose name or meaning this occurs.")
@click.option(
    "--for",
    "what",
    metavar="URL|WORD",
    help="What holds for URL, and which [place] says so; or what archive, text, links or mirror sets.",
)
@click.option("--config", "file", type=PATH, help="With --for URL: the settings of this file.")
@click.option("--dir", "folder", type=PATH, metavar="FOLDER", help="With --for URL: those of this crawl.")
@click.option("--address", default="", help="With --for URL: the address it has.")
@click.option("--type", "media_type", default="", help="With --for URL: the media type of the answer.")
@click.option("--time", "hour", metavar="HH:MM", default="", help="With --for URL: the time of day, UTC.")
@json
def config(names: tuple[str, ...], find: str, what: str | None, *, json: bool, **where: Any) -> None:
    """Tell what settings or sections mean; without a NAME, print the whole commented configuration.

    With --for URL, tell what holds for it of the settings that can differ by place, and why. With --for and one
    of the words archive, text, links and mirror, tell what it sets for a new crawl; a host of such a name
    is written as a URL: http://archive/.
    """
    from gossamer.config.presets import PRESETS

    if what is not None and what in PRESETS:
        from gossamer.cli.look import show_preset

        show_preset(what, json=json)
        return
    if what is not None:
        from gossamer.cli.places import Where, show_for

        show_for(what, list(names), Where(**where), json=json)
        return
    from gossamer.cli.look import show_config

    show_config(list(names), find, json=json)
