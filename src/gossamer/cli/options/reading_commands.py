"""Commands that show what was fetched."""

from pathlib import Path
from typing import Any, Literal

import click

from gossamer.cli.options.crawl_options import MATCH, PATH, folder, json, quiet, setting
from gossamer.cli.options.panels import Command


@click.command(
    cls=Command, epilog="Example: gossamer get ./crawl https://example.org/page --output page.html"
)
@folder
@click.argument("url")
@click.option("--text", "part", flag_value="text", help="What it says, as plain text.")
@click.option("--markdown", "part", flag_value="markdown", help="What it says, as Markdown.")
@click.option("--headers", "part", flag_value="headers", help="Only the head of the response.")
@click.option("--raw", "part", flag_value="raw", help="Head and body as they came, content codings and all.")
@click.option("--at", metavar="TIME", default="", help="The capture nearest to this time, not the last.")
@click.option("--captures", is_flag=True, help="List its captures instead.")
@click.option("--output", type=PATH, metavar="FILE", help="Write it there.")
@json
def get(folder: Path, url: str, *, captures: bool, json: bool, **asked: Any) -> None:
    """Print what was archived of a URL. Works on a running crawl too.

    URL may be a path on the first seed's host. Exit 1 if nothing of it is archived, or it cannot be read
    ('--raw' gives it all the same).
    """
    from gossamer.cli.get import run_get, show_captures

    if captures and asked["part"]:
        raise click.UsageError(f"--captures and --{asked['part']} exclude each other: give one of them")
    if captures:
        show_captures(folder, url, json=json)
    else:
        run_get(folder, url, json=json, **asked)


@click.command(cls=Command, epilog="Example: gossamer view ./crawl --at 2026-01-31")
@folder
@click.option("--at", metavar="TIME", default="", help="Pages as they looked at this time, not at last.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="Listen there; 0: at any free one.")
@click.option(
    "--host", metavar="ADDRESS", default="127.0.0.1", help="Listen at this address; if not given, 127.0.0.1."
)
@click.option(
    "--proxy", is_flag=True, help="Answer programs that ask as a proxy, too: curl -x, other browsers."
)
@click.option(
    "--no-open", "open_browser", is_flag=True, flag_value=False, default=True, help="Start no browser."
)
@click.option(
    "--no-banner",
    "banner",
    is_flag=True,
    flag_value=False,
    default=True,
    help="No line with the time in pages.",
)
@click.option(
    "--no-scripts",
    "scripts",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Scripts of pages do not run.",
)
def view(folder: Path, **asked: Any) -> None:
    """Look at a crawl in the browser: its pages as they were, from the archive alone.

    Goes on until Ctrl-C. Nothing that a page asks for leaves this machine.
    """
    from gossamer.cli.view import Viewing, run_view

    run_view(folder, Viewing(**asked))


@click.command(cls=Command, epilog="Example: gossamer proxy ./cache --set fetch.contact=me@example.org")
@folder
@click.option(
    "--listen",
    metavar="ADDRESS:PORT",
    default="127.0.0.1:8781",
    show_default=True,
    help="Listen there; port 0: at any free one.",
)
@click.option(
    "--fresh", metavar="TIME", default="", help="So old may an answer of the archive be; 1h if not given."
)
@setting
@quiet
def proxy(folder: Path, setting: tuple[str, ...], **asked: Any) -> None:
    """Answer other programs as a proxy: from the archive what is fresh, the rest fetched politely and kept.

    If DIR holds no crawl, one without seeds is begun, which fetches what it is asked for. If it holds one, that goes
    on; if it runs, it is asked. Goes on until Ctrl-C.
    """
    from gossamer.cli.proxy import Proxied, run_proxy

    run_proxy(folder, Proxied(settings=setting, **asked))


@click.command(
    cls=Command,
    epilog="Example: gossamer diff ./crawl https://example.org/page, or gossamer diff ./may ./june",
)
@folder
@click.argument("what", metavar="URL|DIR")
@click.option("--from", "since", metavar="TIME", default="", help="Compare the capture nearest to this time.")
@click.option("--to", "until", metavar="TIME", default="", help="With this one; if not given, the last.")
@click.option("--all", "everything", is_flag=True, help="Show also what differs at each visit.")
@click.option(
    "--ignore", metavar="CSS", multiple=True, help="Leave out elements of this selector, e.g. '.related'."
)
@click.option(
    "--context",
    type=click.IntRange(0, 50),
    default=2,
    metavar="N",
    help="Lines around what differs.",
    show_default=True,
)
@click.option("--text", is_flag=True, help="Of two crawls: what differs on each page, not how much alone.")
@click.option("--html", "form", flag_value="html", help="A page with both side by side.")
@click.option("--json", "form", flag_value="json", help="For programs; of two crawls one line each.")
def diff(
    folder: Path,
    what: str,
    *,
    form: Literal["html", "json"] | None,
    ignore: tuple[str, ...],
    text: bool,
    **asked: Any,
) -> None:
    """Show what has changed: on a page between two captures, or between two crawls.

    With a URL: the text of the last capture against the last one before that says something else. With the
    folder of another crawl: which pages are new, gone, changed or moved there, and with --text or --html in
    which words. What differs at each visit,
    whatever else does (clocks, counters, boxes that rotate), is learned from the captures and left out. Works
    on a running crawl too. Exit 1 if there are no two captures.
    """
    from gossamer.cli.diff import run_diff
    from gossamer.inspect.compare.captures import Asked

    run_diff(folder, what, Asked(**asked), form or "text", ignore, text=text)


@click.command(cls=Command, name="list", epilog="Example: gossamer list ./crawl --status 404")
@folder
@click.option("--broken", is_flag=True, help="Links that were given up: 4xx, 5xx, or no answer.")
@click.option("--gone", is_flag=True, help="Pages that answered 404 or 410 at two visits in a row.")
@click.option(
    "--orphans",
    is_flag=True,
    help="Pages that are there, though none mentions them now ('gossamer export links').",
)
@click.option(
    "--near-duplicates", is_flag=True, help="Those that resemble another page ('gossamer similar')."
)
@click.option("--status", metavar="CODE", default="", help="Those with this status: 404, or 4xx.")
@click.option("--state", metavar="STATE", default="", help="done, dropped, rejected, retry, or parked.")
@click.option(
    "--type", metavar="TYPE", default="", help="Those whose media type begins so: text/html, image/."
)
@click.option("--host", metavar="NAME", default="", help="Those of this host; .NAME: those below it too.")
@click.option(
    "--under", metavar="URL", default="", help="Those that begin so; a path is of the first seed's host."
)
@click.option("--match", metavar="PATTERN", default="", help=MATCH)
@click.option("--since", metavar="TIME", default="", help="Those visited since: 2026-01-31, or 2d ago.")
@click.option(
    "--columns", metavar="NAME,...", default="", help="What to show of each, e.g. url,status,title,referrers."
)
@click.option("--format", "form", type=click.Choice(["table", "jsonl", "csv"]), default="table")
@click.option("--json", "form", flag_value="jsonl", help="The same as --format jsonl.")
def list_(
    folder: Path,
    *,
    since: str,
    columns: str,
    form: Literal["table", "jsonl", "csv"],
    near_duplicates: bool,
    **wanted: Any,
) -> None:
    """List URLs that were visited or turned away. Works on a running crawl too.

    \b
    Columns: url, state, status, reason, via (the page it was found on), type, bytes, time, title,
    language, charset, depth, canonical, twin, links, result (of a protocol without HTTP statuses), visits,
    changes (visits that found another text), changed (when the last of them was), gone (since when),
    presence (here, missed, gone, never),
    due (the next visit), referrers (pages that mention it, after 'gossamer export links'), cluster (the first
    of the pages that resemble each other, after 'gossamer index').
    """
    from gossamer.cli.url_list import show_list
    from gossamer.inspect.url_list import Wanted

    show_list(folder, Wanted(**wanted), since, columns, form, resembling=near_duplicates)
