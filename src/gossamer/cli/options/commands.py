"""The commands with their options; each imports the rooms it needs only when it runs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click

from gossamer.cli.options.audit_command import audit
from gossamer.cli.options.cluster_commands import cluster
from gossamer.cli.options.crawl_options import (
    LANGUAGE,
    NAMESERVER_HELP,
    PATH,
    asked,
    crawl_options,
    field,
    fields_of,
    folder,
    json,
    nameserver,
    nice,
    quiet,
    setting,
)
from gossamer.cli.options.panels import Command, Commands, Option, QueryCommand
from gossamer.cli.options.serve_users import serve_user

LIVE = "With --live"


def _live(
    name: str, metavar: str, says: str, **settings: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(name, cls=Option, panel=LIVE, metavar=metavar, help=says, **settings)


MATCH = (
    "Those whose path and query match; * is anything: '/docs/*', '*.pdf'. With a scheme the whole address counts;"
    " re:EXPR is a regular expression that occurs in it."
)
WATCHED = "What to watch"
EXPORTED = (
    "pages", "hosts", "captures", "visits", "documents", "text", "links", "fields", "near_duplicates", "files", "wacz",
)  # fmt: skip


def _of_watch(
    name: str, metavar: str, says: str, **settings: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(name, cls=Option, panel=WATCHED, metavar=metavar, help=says, **settings)


def _prove_documents(asked: str) -> None:
    """Refuse a command before its module is loaded, which begins with packages of the extra 'documents'.

    Raises:
        ConfigError: it is not installed.
    """
    from gossamer.datasets.beside import prove_documents
    from gossamer.documents.config import DocumentsConfig

    prove_documents(DocumentsConfig(follow=True), asked)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="First steps: gossamer demo, then gossamer crawl https://example.org/ --max-pages 20",
)
@click.version_option(package_name="gossamer", message="gossamer %(version)s")
def app() -> None:
    """A polite, durable web crawler that explains itself."""


def run() -> None:
    """Do what the command line says.

    Not by click's own `main`, which ends with status 1 and no word if any pipe breaks, be it a library's.

    Raises:
        KeyboardInterrupt: interrupted.
        BrokenPipeError: nobody reads what we print, or a pipe of a library has broken.
    """
    try:
        with app.make_context("gossamer", sys.argv[1:]) as context:
            app.invoke(context)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as end:  # --help, --version
        sys.exit(end.exit_code)
    except (click.Abort, EOFError):  # Ctrl-D at a question
        raise KeyboardInterrupt from None


@app.command(cls=Command)
@click.option("--dir", "folder", type=PATH, help="Keep the crawl here instead of a temporary folder.")
@json
def demo(folder: Path | None, *, json: bool) -> None:
    """Crawl a simulated web on loopback: no network needed."""
    from gossamer.cli.demo import run_demo

    run_demo(folder, json=json)


@app.command(
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


@app.command(cls=Command)
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


@app.command(cls=Command)
@folder
@json
def status(folder: Path, *, json: bool) -> None:
    """What is known, fetched, queued, failed. Works on a running crawl too."""
    from gossamer.cli.look import show_status

    show_status(folder, json=json)


@app.command(
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


@app.command(cls=Command)
@folder
@json
def pause(folder: Path, *, json: bool) -> None:
    """Let a running crawl ask for nothing more until 'unpause'."""
    from gossamer.cli.live import show_pause

    show_pause(folder, on=True, json=json)


@app.command(cls=Command)
@folder
@json
def unpause(folder: Path, *, json: bool) -> None:
    """Let a paused crawl go on."""
    from gossamer.cli.live import show_pause

    show_pause(folder, on=False, json=json)


@app.command(
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


@app.command(cls=Command)
@folder
@click.argument("url")
@json
def why(folder: Path, url: str, *, json: bool) -> None:
    """Why a URL was crawled, or was not. Works on a running crawl too."""
    from gossamer.cli.look import show_why

    show_why(folder, url, json=json)


@app.command(cls=Command, epilog="Example: gossamer refetch ./crawl --status 5xx --older-than 1d")
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


@app.command(cls=Command, epilog="Example: gossamer get ./crawl https://example.org/page --output page.html")
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


@app.command(cls=Command, epilog="Example: gossamer view ./crawl --at 2026-01-31")
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


@app.command(cls=Command, epilog="Example: gossamer proxy ./cache --set fetch.contact=me@example.org")
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


@app.command(
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


@app.command(cls=Command, name="list", epilog="Example: gossamer list ./crawl --status 404")
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


@app.command(cls=Command, epilog="Example: gossamer index ./crawl, then gossamer sql ./crawl")
@folder
@click.option("--processes", type=click.IntRange(1, 64), metavar="N", help="Documents read at a time.")
@click.option("--once", is_flag=True, help="Do not go on with a crawl that runs.")
@click.option("--no-search", is_flag=True, help="Make no search index.")
@click.option("--wait", is_flag=True, help="Wait while another process does it.")
@quiet
@json
def index(folder: Path, *, no_search: bool, quiet: bool, json: bool, **how: Any) -> None:
    """Make text, data and links of the documents that were crawled. Works on a running crawl too.

    Main text, Markdown, title, authors, dates, language, structured data, e-mail addresses, links and
    fields, of HTML, PDF, office files, EPUB and others, into FOLDER/documents, from where it stopped last;
    and of these an index for 'gossamer search', into FOLDER/search. 'gossamer crawl --documents' or
    '--search' does it while it crawls. Needs the extra 'documents'; the index needs 'search'.
    """
    _prove_documents("index")
    from gossamer.cli.index import How, run_index

    run_index(folder, How(search=not no_search, **how), json=json, quiet=quiet)


@app.command(cls=Command, epilog="Example: gossamer upload ./crawl")
@folder
@click.option("--once", is_flag=True, help="Do not go on with a crawl that runs.")
@click.option("--wait", is_flag=True, help="Wait while another process does it.")
@quiet
@json
def upload(folder: Path, *, once: bool, wait: bool, quiet: bool, json: bool) -> None:
    """Copy a crawl to the store of its settings (storage.upload), from where it stopped last.

    Archive files as they become whole, the rest once the crawl has ended. The crawl itself does it while it runs;
    this goes on where it could not. Needs the extra 'store'.
    """
    from gossamer.cli.upload import run_upload

    run_upload(folder, once=once, wait=wait, json=json, quiet=quiet)


@app.command(
    cls=QueryCommand,
    epilog="Example: gossamer search ./crawl 'polite crawler \"rests after\" site:example.org after:2026-01'",
)
@click.argument("given", metavar="FOLDER QUERY... | --live QUERY SEED...", nargs=-1, required=True)
@click.option("--url", metavar="PATTERN", default="", help="Only addresses like this: '*/docs/*.pdf'.")
@click.option("--also", type=PATH, metavar="FOLDER", multiple=True, help="Search this crawl, too.")
@click.option("--limit", type=click.IntRange(0, 1_000), default=10, show_default=True, metavar="N")
@click.option(
    "--offset", type=click.IntRange(0, 1_000), default=0, metavar="N", help="Leave out the first N."
)
@click.option("--facets", is_flag=True, help="Count sites, types, languages and years, too.")
@click.option("--json", is_flag=True, help="A line of JSON for each hit.")
@click.option("--live", cls=Option, panel=LIVE, is_flag=True, help="Crawl until the query is answered.")
@_live("--max-pages", "N", "Stop after N pages.", default="200", show_default=True)
@_live("--dir", "FOLDER", "Keep the crawl here instead of nowhere.", type=PATH)
@_live("--contact", "ADDRESS", "Your web or mail address, sent with every request.")
@_live("--min-delay", "TIME", "Rest of a host after each visit; if not given, 1s.")
@_live("--nameserver", "SERVER", NAMESERVER_HELP, multiple=True)
@_live("--set", "NAME=VALUE", "Any setting of 'gossamer config', by its path.", multiple=True)
def search(given: tuple[str, ...], also: tuple[Path, ...], *, json: bool, live: bool, **asked: Any) -> None:
    """Find documents by what they say. Works on a running crawl too.

    \b
    words here             all of them, in any of their forms
    "a phrase"  pre*       one after the other; words that begin so
    -without  this OR that  (brackets)
    title:word  url:word  url:*/docs/*.pdf
    site:example.org  type:pdf  lang:de  after:2026-01  before:2026-02-15

    A query that begins with - comes after --. 'gossamer index' makes the index, 'gossamer crawl --search' while
    it crawls. Exit 1 if nothing is found. Needs the extra 'search'.
    """
    from gossamer.config.search_config import SearchConfig
    from gossamer.search.extra import prove_search

    prove_search(SearchConfig(follow=True), "search")
    from gossamer.cli.search import Live, Wanted, run_live, run_search

    kept = {
        name: asked.pop(name) for name in ("max_pages", "dir", "contact", "min_delay", "nameserver", "set")
    }
    first, *rest = given
    if live:
        run_live(rest, Wanted(first, **asked), Live(**kept), json=json)
    else:
        run_search([Path(first), *also], Wanted(" ".join(rest), **asked), json=json)


@app.command(cls=Command, epilog="Example: gossamer similar ./crawl, or gossamer similar ./crawl report.pdf")
@folder
@click.argument("documents", metavar="[FILE|URL]...", nargs=-1)
@click.option(
    "--words", type=click.IntRange(10, 10_000), default=40, show_default=True, help="In a row, of a passage."
)
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=None,
    metavar="N",
    help="Clusters, or pages of a document; 0: all. If not given: 20, with --json all.",
)
@json
def similar(folder: Path, documents: tuple[str, ...], words: int, limit: int | None, *, json: bool) -> None:
    """Pages that resemble each other, or that contain or resemble documents. Works on a running crawl too.

    Without a document: clusters of near-duplicates, pages whose main text is nearly that of others. With files
    (HTML, PDF, office files, plain text and others) or URLs of the crawl: the pages that contain passages of
    each, or resemble it, with the passages. After 'gossamer index'. Exit 1 if a document could not be read.
    """
    _prove_documents("similar")
    from gossamer.cli.similar import SimilarAsked, run_similar

    most = limit if limit is not None else 0 if json else 20
    run_similar(folder, SimilarAsked(documents=documents, words=words, limit=most, json=json))


@app.command(
    cls=Command,
    epilog="Example: gossamer watch https://example.org/prices --every 1h --selector .price --when 'number < 100'"
    " --notify https://example.org/hook",
)
@click.argument("target", metavar="URL... | FOLDER", nargs=-1, required=True)
@_of_watch("--every", "TIME", "How often to visit the pages; if not given, 1h.")
@_of_watch("--selector", "CSS", "Only this part of them; as for 'gossamer fields'.", default="")
@_of_watch("--xpath", "XPATH", "The same, by XPath.", default="")
@_of_watch("--ignore", "CSS", "Without elements of this selector; also in 'gossamer diff'.", multiple=True)
@_of_watch(
    "--match",
    "PATTERN",
    "All pages of the sites whose path and query match (as in 'gossamer list'), e.g. '/news/*'.",
    default="",
)
@_of_watch("--query", "QUERY", "All pages of the sites that answer a search.", default="")
@_of_watch(
    "--when",
    "CONDITION",
    "Only when this begins to hold: 'contains TEXT', 'lacks TEXT', 'number > 10'.",
    multiple=True,
)
@_of_watch(
    "--notify",
    "URL",
    "Tell this webhook or apprise address; env:NAME and file:PATH keep it secret.",
    multiple=True,
)
@_of_watch("--quiet-time", "TIMES", "Tell nobody then: 22:00-07:00 Europe/Berlin.", default="")
@_of_watch("--name", "NAME", "What the watch is called.", default="")
@_of_watch("--contact", "ADDRESS", "Your web or mail address, sent with every request.")
@_of_watch("--min-delay", "TIME", "Rest of a host after each visit; if not given, 1s.")
@_of_watch("--nameserver", "SERVER", NAMESERVER_HELP, multiple=True)
@_of_watch("--config", "FILE", "Configuration, with mail servers for example.", type=PATH)
@_of_watch("--set", "NAME=VALUE", "Any setting of 'gossamer config', by its path.", multiple=True)
@click.option("--dir", "folder", type=PATH, help="Where it is kept; if not given, ./watch-HOST.")
@click.option("--once", is_flag=True, help="Visit every page once and end; exit 1 if something has changed.")
@click.option(
    "--notices",
    type=click.IntRange(0, 10_000),
    default=10,
    metavar="N",
    help="Of FOLDER: show the last N notices.",
)
@click.option("--send", is_flag=True, help="Of FOLDER: compare what its crawl has archived since, and tell.")
@click.option("--test", is_flag=True, help="Of FOLDER: send everybody a test.")
@click.option("--retry", is_flag=True, help="Of FOLDER: send again what was given up.")
@click.option("--pause", metavar="NAME", help="Of FOLDER: tell nobody of this watch any more.")
@click.option("--unpause", metavar="NAME", help="Of FOLDER: tell of this watch again.")
@click.option("--remove", metavar="NAME", help="Of FOLDER: watch this no more.")
@quiet
@json
def watch(target: tuple[str, ...], folder: Path | None, **given: Any) -> None:
    """Watch pages and tell what changes, or show the watches of a FOLDER.

    What differs at each visit, whatever else does (clocks, counters, boxes that rotate), is learned and left
    out, but not of what --selector or --xpath find. Goes on until Ctrl-C. Notices go to
    webhooks, mail ([notify.NAME] of the configuration), apprise (extra 'notify') and FOLDER/watch/feed.xml;
    they are tried again until they arrive, also after a crash. Any crawl can watch: '[[watch]]' in its
    configuration.
    """
    from gossamer.cli.watching import run_on_folder, run_on_pages

    if folder is None and len(target) == 1 and "://" not in target[0] and Path(target[0]).is_dir():
        run_on_folder(Path(target[0]), given)
    else:
        run_on_pages(target, folder, given)


@app.command(
    cls=Command, epilog="Example: gossamer sql ./crawl 'select host, count(*) from pages group by host'"
)
@folder
@click.argument("question", required=False)
@click.option("--format", "form", type=click.Choice(["table", "jsonl", "csv"]), default="table")
@click.option("--json", "form", flag_value="jsonl", help="The same as --format jsonl.")
@click.option("--time", metavar="TIME", default="60s", show_default=True, help="How long it may take.")
def sql(folder: Path, question: str | None, form: Literal["table", "jsonl", "csv"], time: str) -> None:
    """Answer a question in SQL (DuckDB's) over what was crawled. Works on a running crawl too.

    Without a QUESTION, tell which tables and columns there are. The tables are kept as Parquet files in
    FOLDER/tables, for other programs too. Needs the extra 'sql'.
    """
    from gossamer.cli.sql import run_sql, show_tables

    if question is None:
        show_tables()
    else:
        run_sql(folder, question, form, time)


@app.command(cls=Command)
@folder
@json
def check(folder: Path, *, json: bool) -> None:
    """Verify archive, index and state. Exit 1 if anything is wrong."""
    from gossamer.cli.look import show_check

    show_check(folder, json=json)


app.add_command(audit)


@app.command(cls=Command)
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


@app.command(
    cls=Command, name="export", epilog="Example: gossamer export pages ./crawl --format csv --out pages"
)
@click.argument("what", metavar="WHAT", type=click.Choice(EXPORTED))
@folder
@click.option(
    "--format", "form", metavar="FORMAT", default="", help="As below; if not given, the first there."
)
@click.option("--out", metavar="PLACE", default="", help="Folder, or address that fsspec knows: s3://...")
@click.option("--to", metavar="URL", default="", help="Into a database, as below, instead of files.")
@click.option("--split", metavar="SIZE", default="", help="Files of roughly this size at most.")
@click.option(
    "--compress", type=click.Choice(["gzip", "none"]), default=None, help="If not given: gzip, graphml none."
)
@click.option("--columns", metavar="NAME,...", default="", help="Only these; 'gossamer sql' names them.")
@click.option("--where", metavar="SQL", default="", help="Only rows of which this is true; needs 'sql'.")
@click.option("--names", metavar="RULE", default="", help="Of files: {host}/{path}/{title}.{ext}")
@click.option(
    "--texts",
    metavar="SIZE",
    default="",
    help="Of wacz: take the documents' texts if they are no longer; 16MiB.",
)
@click.option("--memory", metavar="SIZE", default="64MiB", help="Of tsv and graphml: lines sorted at once.")
@json
def export(folder: Path, *, compress: str | None, **asked: Any) -> None:
    """Take what was crawled along. Works on a running crawl too.

    \b
    pages, hosts, captures, visits   as jsonl, csv or parquet
    documents, fields, near_duplicates   the same, after 'gossamer index'
    text                             documents that have text; as wet (WARC), too
    links                            as tsv: the graph of pages and hosts, in numbers
                                     as graphml: the same graph of pages
                                     as jsonl, csv, parquet: with their texts, after 'gossamer index'
    files                            each document in a file: as content, text or markdown
    wacz                             all of it in one file that ReplayWeb.page opens, to browse it
    --to sqlite:///FILE, postgresql://USER@HOST/DB, opensearch+https://HOST:9200/INDEX

    Files go to FOLDER/exports/WHAT-FORMAT (tsv to FOLDER/links); manifest.json there names those that are
    whole. What was interrupted goes on when the same is asked again; once the crawl has gone on, it begins
    anew. Exit 1 if something could not be read, or is not yet in the tables of documents.
    """
    from gossamer.cli.export import Asked, run_export

    run_export(folder, Asked(compress=compress or "", **asked))


@app.command(
    cls=Command,
    epilog="Example: gossamer mirror ./crawl ./offline --match '/docs/*', then open ./offline/index.html",
)
@folder
@click.argument("out", metavar="OUT", type=PATH)
@click.option(
    "--at", metavar="TIME", default="", help="Of each page the capture nearest to this time, not the last."
)
@click.option(
    "--outside",
    type=click.Choice(["live", "note"]),
    default="live",
    show_default=True,
    help="Pages that were not crawled: link to the web, or to a note that says so.",
)
@click.option("--zip", "packed", is_flag=True, help="OUT is a ZIP file.")
@click.option(
    "--match",
    metavar="PATTERN",
    default="",
    help="Only pages whose path and query match, with what they load; as for 'gossamer list'.",
)
@click.option(
    "--names",
    metavar="RULE",
    default=None,
    help="Of files; if not given: {host}/{folder}/{stem}{query}.{ext}; there is {digest}, too.",
)
@json
def mirror(folder: Path, out: Path, *, packed: bool, names: str | None, json: bool, **asked: Any) -> None:
    """Write files for reading without a network: from a disk, or from any server of files.

    Links lead from file to file; all else is as it was crawled. The same command again writes what has changed,
    and removes what is gone. manifest.csv in OUT says which file is of which address.
    """
    from gossamer.cli.mirror import run_mirror
    from gossamer.mirror.making import Asked

    if names is not None:
        asked["names"] = names
    run_mirror(folder, out, Asked(**asked), packed=packed, json=json)


@app.command(cls=Command)
@folder
@click.option("--out", type=PATH, metavar="FILE", help="The page; if not given, FOLDER/report.html.")
@click.option("--lang", **LANGUAGE)
@json
def report(folder: Path, out: Path | None, lang: str, *, json: bool) -> None:
    """Write a web page with charts of all that was crawled. Works on a running crawl too.

    One file, without scripts, that loads nothing. With --json the figures are printed instead; the page is
    written then only if --out is given.
    """
    from gossamer.cli.report import run_report

    run_report(folder, out, lang, json=json)


@app.command(
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


@app.command(cls=Command, epilog="Example: gossamer login https://example.org/login > login.toml")
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


@app.command(cls=Command)
@click.argument("url")
@nameserver
@json
def robots(url: str, nameserver: tuple[str, ...], *, json: bool) -> None:
    """What the robots file of URL's origin says about it."""
    from gossamer.cli.by_hand import show_robots

    show_robots(url, list(nameserver), json=json)


@app.command(cls=Command)
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


@app.command(cls=Command, epilog="Example: gossamer config politeness fetch.max_head --find robots")
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


@app.command(cls=Command, epilog="Then open http://127.0.0.1:8470/ in a browser.")
@click.option(
    "--dir",
    "folder",
    type=PATH,
    default=Path("gossamer-jobs"),
    show_default=True,
    help="The daemon's folder: settings, database, jobs.",
)
@click.option("--host", metavar="ADDRESS", help="Listen here; if not given, as service.toml says: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="If not given: 8470.")
@click.option(
    "--cluster",
    "clusters",
    type=PATH,
    metavar="FOLDER",
    multiple=True,
    help="Show this cluster, too; may be repeated. Those below the folder's jobs/ are shown anyway.",
)
@click.option(
    "--token-file",
    "token_file",
    metavar="auto|FILE|none",
    default="auto",
    show_default=True,
    help="Without accounts, let in who brings the token in this file, made if it is not there. auto:"
    " FOLDER/token, if others can log in to this machine; none: let in all its users.",
)
def serve(
    folder: Path, host: str | None, port: int | None, clusters: tuple[Path, ...], token_file: str
) -> None:
    """Run many crawls as a daemon, with a console. Needs the extra 'console'."""
    from gossamer.cli.serve import run_serve

    run_serve(folder, host, port, clusters, token_file)


app.add_command(serve_user)
app.add_command(cluster)
