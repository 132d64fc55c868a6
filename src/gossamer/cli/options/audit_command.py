"""The command `audit` with its options."""

from typing import Any

import click

from gossamer.cli.options.crawl_options import (
    HOW_FAR,
    LANGUAGE,
    MANNERS,
    PATH,
    WHERE,
    Decorator,
    nameserver,
    quiet,
    setting,
)
from gossamer.cli.options.panels import Command, Option

OUTPUT, COUNTS = "What comes out", "What counts"


def _of(panel: str, *names: str, **settings: Any) -> Decorator:
    return click.option(*names, cls=Option, panel=panel, **settings)


@click.command(
    cls=Command,
    epilog="Example: gossamer audit https://example.org/ --output my-audit --html audit.html",
)
@click.argument("targets", metavar="URL...|DIR", nargs=-1, required=True)
@_of(OUTPUT, "--json", is_flag=True, help="Machine-readable output on standard output.")
@_of(OUTPUT, "--csv", is_flag=True, help="A line for each finding and page that holds it.")
@_of(OUTPUT, "--annotations", is_flag=True, help="Lines that GitHub Actions shows beside the run.")
@_of(OUTPUT, "--html", type=PATH, metavar="FILE", help="A report for people.")
@_of(OUTPUT, "--junit", type=PATH, metavar="FILE", help="JUnit XML, for CI servers.")
@_of(OUTPUT, "--sarif", type=PATH, metavar="FILE", help="SARIF 2.1.0, for code scanning and editors.")
@_of(OUTPUT, "--lang", "language", **LANGUAGE)
@_of(COUNTS, "--baseline", type=PATH, metavar="FILE", help="Findings in it do not fail the audit.")
@_of(COUNTS, "--write-baseline", type=PATH, metavar="FILE", help="Keep what is found as known.")
@_of(COUNTS, "--ignore", type=PATH, metavar="FILE", help="TOML: what is ignored, why, and until when.")
@_of(COUNTS, "--changed", is_flag=True, help="Only pages that changed since the last audit of the folder.")
@_of(
    WHERE,
    "--output",
    "folder",
    type=PATH,
    metavar="DIR",
    help="Keep crawl and answers here, for the next audit.",
)
@_of(
    WHERE,
    "--scope",
    metavar="host|domain|prefix|any",
    help="What belongs to the site; if not given, the hosts.",
)
@_of(WHERE, "--exclude", metavar="REGEX", multiple=True, help="Leave out matching URLs.")
@_of(HOW_FAR, "--max-pages", metavar="N", help="Crawl at most N pages.")
@_of(HOW_FAR, "--max-depth", metavar="N", help="Follow at most N links from a URL given.")
@_of(
    HOW_FAR,
    "--max-time",
    metavar="TIME",
    help="How long to crawl, and then to ask outside, at most: 90s, 2h.",
)
@_of(HOW_FAR, "--no-outside", is_flag=True, help="Do not ask for what the crawl did not visit.")
@_of(
    HOW_FAR,
    "--max-age",
    metavar="TIME",
    default="1d",
    show_default=True,
    help="Up to which age kept answers count.",
)
@_of(
    MANNERS, "--min-delay", metavar="TIME", help="Rest of the site after each visit; 0 for sites of your own."
)
@_of(
    MANNERS,
    "--outside-delay",
    metavar="TIME",
    default="1s",
    show_default=True,
    help="The same of other hosts.",
)
@_of(MANNERS, "--contact", metavar="ADDRESS", help="Your web or mail address, sent with every request.")
@_of(MANNERS, "--user-agent", metavar="TEXT", help="The whole User-Agent header.")
@_of(MANNERS, "--ignore-robots", is_flag=True, help="For sites of your own.")
@nameserver
@click.option("--config", type=PATH, help="Configuration file of the crawl (see 'gossamer config').")
@setting
@quiet
def audit(targets: tuple[str, ...], **given: Any) -> None:
    """Say whether a site is well: broken links, and what its pages lack.

    Crawls the URLs and audits what was crawled, or audits the crawl in DIR. Ends with status 1 if something is
    found that is an error.
    """
    from gossamer.audit.config import AuditAsked
    from gossamer.cli.audit import Outputs, run_audit
    from gossamer.cli.request import Request

    if sum(given[name] for name in ("json", "csv", "annotations")) > 1:
        raise click.UsageError("--json, --csv and --annotations exclude each other: give one of them")
    outputs = Outputs(**{name: given.pop(name) for name in Outputs.__struct_fields__})
    asked = AuditAsked(
        outside=not given.pop("no_outside"),
        outside_delay=_seconds("--outside-delay", given.pop("outside_delay")),
        max_age=_seconds("--max-age", given.pop("max_age")),
        max_time=_seconds("--max-time", given["max_time"] or "0"),
        changed=given.pop("changed"),
    )
    folder, config, settings = given.pop("folder"), given.pop("config"), given.pop("setting")
    given["obey_robots"] = False if given.pop("ignore_robots") else None
    # What may be repeated comes as an empty tuple if not given.
    options = {
        name: list(value) or None if isinstance(value, tuple) else value for name, value in given.items()
    }
    run_audit(targets, Request((), None, config, folder, options, settings), asked, outputs)


def _seconds(option: str, text: str) -> float:
    from gossamer.config.units import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise click.UsageError(f"{option} {text}: {error}") from None
