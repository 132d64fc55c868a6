"""Commands that check what was fetched, and take it elsewhere."""

from pathlib import Path
from typing import Any

import click

from gossamer.cli.options.crawl_options import LANGUAGE, PATH, folder, json, quiet
from gossamer.cli.options.panels import Command

EXPORTED = (
    "pages", "hosts", "captures", "visits", "documents", "text", "links", "fields", "near_duplicates", "files", "wacz",
)  # fmt: skip  # fmt: skip


@click.command(cls=Command)
@folder
@json
def check(folder: Path, *, json: bool) -> None:
    """Verify archive, index and state. Exit 1 if anything is wrong."""
    from gossamer.cli.look import show_check

    show_check(folder, json=json)


@click.command(
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

    Files go to FOLDER/exports/WHAT-FORMAT (tsv to FOLDER/links); _manifest.json there names those that are
    whole. What was interrupted goes on when the same is asked again; once the crawl has gone on, it begins
    anew. Exit 1 if something could not be read, or is not yet in the tables of documents.
    """
    from gossamer.cli.export import Asked, run_export

    run_export(folder, Asked(compress=compress or "", **asked))


@click.command(
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


@click.command(cls=Command)
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


@click.command(cls=Command, epilog="Example: gossamer upload ./crawl")
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
