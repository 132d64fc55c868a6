"""Commands that search in what was fetched, and tell what has changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click

from gossamer.cli.options.crawl_options import NAMESERVER_HELP, PATH, folder, json, prove_documents, quiet
from gossamer.cli.options.panels import Command, Option, QueryCommand

LIVE = "With --live"


def _live(
    name: str, metavar: str, says: str, **settings: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(name, cls=Option, panel=LIVE, metavar=metavar, help=says, **settings)


WATCHED = "What to watch"


def _of_watch(
    name: str, metavar: str, says: str, **settings: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(name, cls=Option, panel=WATCHED, metavar=metavar, help=says, **settings)


@click.command(cls=Command, epilog="Example: gossamer index ./crawl, then gossamer sql ./crawl")
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
    prove_documents("index")
    from gossamer.cli.index import How, run_index

    run_index(folder, How(search=not no_search, **how), json=json, quiet=quiet)


@click.command(
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


@click.command(
    cls=Command, epilog="Example: gossamer similar ./crawl, or gossamer similar ./crawl report.pdf"
)
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
    prove_documents("similar")
    from gossamer.cli.similar import SimilarAsked, run_similar

    most = limit if limit is not None else 0 if json else 20
    run_similar(folder, SimilarAsked(documents=documents, words=words, limit=most, json=json))


@click.command(
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


@click.command(
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
