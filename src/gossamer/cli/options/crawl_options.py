"""What several commands share: options, those of a new crawl above all, and what they prove before they run."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gossamer.cli.options.panels import Option
from gossamer.words.amounts import DEFAULT, LANGUAGES

if TYPE_CHECKING:
    from gossamer.cli.request import Request

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

WHERE, HOW_FAR, MANNERS = "What to crawl", "How far", "Manners"

PATH = click.Path(path_type=Path)
LANGUAGE: Final[dict[str, Any]] = {
    "type": click.Choice(list(LANGUAGES)),
    "default": DEFAULT,
    "help": "Of texts for people.",
}
"""Of an option `--lang`."""

folder = click.argument("folder", type=PATH)
json = click.option("--json", is_flag=True, help="Machine-readable output on standard output.")
quiet = click.option("--quiet", "-q", is_flag=True, help="No progress, no closing words.")
NAMESERVER_HELP = "Ask this name server: ADDRESS, ADDRESS:PORT or https://ADDRESS/PATH; may be repeated."
nameserver = click.option("--nameserver", metavar="SERVER", multiple=True, help=NAMESERVER_HELP)
MATCH = (
    "Those whose path and query match; * is anything: '/docs/*', '*.pdf'. With a scheme the whole address counts;"
    " re:EXPR is a regular expression that occurs in it."
)
nice = click.option("--nice", is_flag=True, help="Use only CPU and disk time that nobody else wants.")
setting = click.option(
    "--set",
    "setting",
    metavar="NAME=VALUE",
    multiple=True,
    help="Any setting of 'gossamer config', by its path.",
)


def _option(panel: str, name: str, metavar: str, says: str | Callable[[], str], **settings: Any) -> Decorator:
    return click.option(name, cls=Option, panel=panel, metavar=metavar, help=says, **settings)


field = click.option(
    "--field",
    "fields",
    cls=Option,
    panel=WHERE,
    metavar="NAME=SELECTOR",
    multiple=True,
    help="A value wanted of each page: 'price=.price | number', by CSS or XPath.",
)


def fields_of(given: Sequence[str]) -> dict[str, str]:
    """Fields as `--field` has them, by name."""
    fields = {}
    for text in given:
        name, equals, selector = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--field {text}: write NAME=SELECTOR, e.g. price=.price")
        fields[name.strip()] = selector
    return fields


def _orders() -> str:
    from gossamer.policy.ordering.orders import ORDERS

    return f"{', '.join(ORDERS)}, or a plug-in."


_OF_A_CRAWL = (
    click.argument("seed", metavar="SEED...", nargs=-1),
    _option(WHERE, "--seeds", "FILE|-", "Read seeds from a file, one a line."),
    click.option(
        "--for",
        "preset",
        cls=Option,
        panel=WHERE,
        metavar="WORD",
        help="What it is for: archive, text, links or mirror ('gossamer config --for archive').",
    ),
    _option(
        WHERE,
        "--scope",
        "host|domain|prefix|any",
        "What belongs to the crawl; if not given, the seeds' hosts.",
    ),
    _option(WHERE, "--exclude", "REGEX", "Leave out matching URLs.", multiple=True),
    _option(
        WHERE, "--requisites", "off|host|any", "Images, scripts and style sheets of pages; if not given, off."
    ),
    field,
    click.option(
        "--documents",
        cls=Option,
        panel=WHERE,
        is_flag=True,
        help="Make text and data of documents meanwhile (see 'gossamer index').",
    ),
    click.option(
        "--search",
        cls=Option,
        panel=WHERE,
        is_flag=True,
        help="The same, and an index of it (see 'gossamer search').",
    ),
    click.option(
        "--revisit",
        cls=Option,
        panel=HOW_FAR,
        is_flag=True,
        help="Visit pages again when they are likely to have changed; go on until stopped.",
    ),
    _option(WHERE, "--order", "NAME", _orders),
    _option(HOW_FAR, "--max-pages", "N", "Stop after N pages."),
    _option(HOW_FAR, "--max-bytes", "SIZE", "Stop after this many bytes: 500MB, 2GiB."),
    _option(HOW_FAR, "--max-depth", "N", "Follow at most N links from a seed."),
    _option(HOW_FAR, "--max-time", "TIME", "Stop after this time: 90s, 2h."),
    _option(
        MANNERS,
        "--min-delay",
        "TIME",
        "Rest of a host after each visit; if not given, 1s; 0 for sites of your own.",
    ),
    _option(MANNERS, "--contact", "ADDRESS", "Your web or mail address, sent with every request."),
    _option(MANNERS, "--user-agent", "TEXT", "The whole User-Agent header."),
    click.option("--ignore-robots", cls=Option, panel=MANNERS, is_flag=True, help="For sites of your own."),
    click.option("--dir", "folder", type=PATH, help="Where the crawl goes; if not given, ./crawl-HOST."),
    click.option("--workers", metavar="N", help="Visits at once over all hosts."),
    nice,
    nameserver,
    click.option("--config", type=PATH, help="Configuration file (see 'gossamer config')."),
    setting,
)


def crawl_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """SEEDs and all options of a new crawl; what they bring, `asked` makes a request of."""
    for option in reversed(_OF_A_CRAWL):
        command = option(command)
    return command


def asked(folder: Path | None, config: Path | None, given: dict[str, Any]) -> "Request":
    """The request that the options of `crawl_options` make."""
    from gossamer.cli.request import Request

    seeds, seeds_file, settings = given.pop("seed"), given.pop("seeds"), given.pop("setting")
    given["fields"] = fields_of(given["fields"]) or None
    for flag in ("documents", "search", "revisit", "nice"):
        given[flag] = True if given.pop(flag) else None
    given["obey_robots"] = False if given.pop("ignore_robots") else None
    # What may be repeated comes as an empty tuple if not given.
    options = {
        name: list(value) or None if isinstance(value, tuple) else value for name, value in given.items()
    }
    return Request(seeds, seeds_file, config, folder, options, settings)


def prove_documents(asked: str) -> None:
    """Refuse a command before its module is loaded, which begins with packages of the extra 'documents'.

    Raises:
        ConfigError: it is not installed.
    """
    from gossamer.datasets.beside import prove_documents
    from gossamer.documents.config import DocumentsConfig

    prove_documents(DocumentsConfig(follow=True), asked)
