"""Says what has changed: of a page between two captures, or between two crawls."""

import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Literal

import msgspec
from rich.text import Text

from gossamer.assembly.folder import CrawlFolder
from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.get import found_captures
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json
from gossamer.cli.terminal.tables import Printer
from gossamer.datasets.one_document import text_in
from gossamer.extract.fields.selector import read_ignored
from gossamer.inspect.archive.lookup import Indexed
from gossamer.inspect.clusters.cluster_folder import holds_cluster
from gossamer.inspect.compare.captures import Asked, Comparison, compare, with_content
from gossamer.inspect.compare.crawls import Counts, Difference, How, differences
from gossamer.inspect.compare.text import Reading
from gossamer.model.errors import ConfigError
from gossamer.policy.change.passages import Passage, Row, Span
from gossamer.state.scratch import Scratch

Form = Literal["text", "html", "json"]


def run_diff(
    path: Path, what: str, asked: Asked, form: Form, ignore: Sequence[str] = (), *, text: bool = False
) -> None:
    """Compare two captures of a URL, or two crawls; exit 1 if there are not two of them.

    Args:
        path: folder of the crawl.
        what: URL, or folder of the other crawl.
        asked: which captures.
        form: of what is printed.
        ignore: selectors of CSS, of elements that are left out of pages.
        text: of two crawls, what differs on each page, not how much alone; on a page of HTML always.

    Raises:
        ConfigError: no crawl lives in `path`, or what is asked makes no sense.
        StorageError: an archive is damaged.
        UnreadableError: what is archived is no text.
    """
    reading = Reading(text_in, read_ignored(ignore))
    if "://" not in what and (CrawlFolder(Path(what)).config.exists() or holds_cluster(Path(what))):
        if asked.since or asked.until:
            raise ConfigError("--from and --to are of one page's captures. Give a URL, or leave them out.")
        shown = text or form == "html"
        _crawls(path, Path(what), How(reading, asked.everything, asked.context if shown else None), form)
        return
    if text:
        raise ConfigError("--text is of two crawls; of one page the text is shown anyway")
    with looked_into(path) as inspection:
        no_folder = "" if "://" in what else f", and no crawl lives in a folder '{safe(what)}'"
        captures = found_captures(inspection, path, what, no_folder)
        comparable = with_content(captures)
        if len(comparable) < 2:
            _too_few(captures, comparable)
        found = compare(inspection, comparable, asked, reading)
    match form:
        case "json":
            show_json(found)
        case "html":
            show(as_html(found))
        case _:
            _show(found, len(comparable), named=bool(ignore))


def _too_few(captures: list[Indexed], comparable: list[Indexed]) -> None:
    """List what there is; exit 1."""
    for one in captures:
        show(f"{one.time}  {one.status or '-':>3}  {safe(one.url)}")
    what = "one capture with content" if comparable else "no capture with content"
    say(f"there is {what}, so there is nothing to compare it with. Crawl it again, then ask again.")
    sys.exit(EXIT_NOTHING)


def _show(found: Comparison, captures: int, *, named: bool) -> None:
    """`named`: blocks that are left out were."""
    if not found.passages:
        say(f"{found.before.time} and {found.after.time}: {_verdict(found, captures, named=named)}")
        return
    out = Printer(highlight=False, soft_wrap=True)
    out.print(Text(f"--- {safe(found.before.url)}  {found.before.time}", style="bold"))
    out.print(Text(f"+++ {safe(found.after.url)}  {found.after.time}", style="bold"))
    _print(out, found.passages)
    if found.cut:
        say("there is more; --json and --html are cut there, too")
    say(_verdict(found, captures, named=named))


def _print(out: Printer, passages: Sequence[Passage]) -> None:
    for passage in passages:
        out.print(Text(f"@@ {passage.at}", style="cyan"))
        for row in passage.rows:
            for line in _lines(row):
                out.print(line)


def _verdict(found: Comparison, captures: int, *, named: bool = False) -> str:
    """What it comes to, in a sentence or two."""
    if found.changed:
        told = f"changed: {plural(found.removed, 'word')} less, {found.added:,} more, {found.share:.1%} of the text"
    elif found.before.digest == found.after.digest:
        told = "the same, byte by byte"
    else:
        told = (
            "it says the same; only markup or order differ"
            if not (found.ignored or named)
            else "it says the same"
        )
    if found.ignored:
        told += "; what differs at each visit is left out (--all shows it)"
    if named:
        told += "; what --ignore names is left out"
    return f"{told}; {plural(captures, 'capture')} in all"


def _lines(row: Row) -> list[Text]:
    if row.kind == "same":
        return [Text(f"  {_plain(row.new)}", style="dim")]
    lines = []
    if row.old:
        lines.append(_marked("- ", row.old, "red", "bold red reverse" if row.kind == "changed" else "red"))
    if row.new:
        lines.append(
            _marked("+ ", row.new, "green", "bold green reverse" if row.kind == "changed" else "green")
        )
    return lines


def _plain(spans: Sequence[Span]) -> str:
    return safe("".join(span.text for span in spans))


def _marked(begins: str, spans: Sequence[Span], usual: str, differs: str) -> Text:
    line = Text(begins, style=usual)
    for span in spans:
        line.append(safe(span.text), style=differs if span.differs else usual)
    return line


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:80rem;padding:0 1rem}"
    "body{color:#1c2430;background:#fff}"
    "table{border-collapse:collapse;width:100%;table-layout:fixed;margin:1rem 0}"
    "td{padding:.15rem .6rem;vertical-align:top;overflow-wrap:anywhere;border-top:1px solid #e3e7ed;width:50%}"
    ".r{background:#fdeceb}.a{background:#e7f6ec}del{background:#f7b9b4}ins{background:#a9dfba;text-decoration:none}"
    "h1{font-size:1.1rem;overflow-wrap:anywhere}h2{font-size:.95rem;white-space:pre-wrap;overflow-wrap:anywhere}p{color:#5a6675}"
    "@media(prefers-color-scheme:dark){body{color:#dfe4ec;background:#14181f}td{border-color:#2b323d}.r{background:#3a2023}"
    ".a{background:#1b3325}del{background:#7a2f2f;color:#fff}ins{background:#25633c;color:#fff}p{color:#9aa5b5}}"
    "@media(max-width:40rem){td{display:block;width:auto}td:empty{display:none}}"
)


def as_html(found: Comparison) -> str:
    """A page of its own: both captures side by side, one below the other where there is little room."""
    title = escape(safe(found.after.url))
    about = f"<p>{found.before.time} · {found.after.time}</p><p>{escape(_verdict(found, 2).rpartition(';')[0])}</p>"
    return "".join(
        [_top(title), f"<h1>{title}</h1>{about}", *_side_by_side(found.passages), "</body></html>"]
    )


def _top(title: str) -> str:
    return (
        "<!doctype html><html><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{title}</title><style>{_STYLE}</style></head><body>"
    )


def _side_by_side(passages: Sequence[Passage]) -> Iterator[str]:
    for passage in passages:
        yield "<table>"
        for row in passage.rows:
            old = row.new if row.kind == "same" else row.old
            sides = (
                ("r" if row.old else "", old, "del"),
                ("a" if row.new and row.kind != "same" else "", row.new, "ins"),
            )
            cells = (
                f"<td{f' class={name}' if name else ''}>{_spans(spans, mark if row.kind == 'changed' else '')}</td>"
                for name, spans, mark in sides
            )
            yield f"<tr>{''.join(cells)}</tr>"
        yield "</table>"


def _spans(spans: Sequence[Span], mark: str) -> str:
    return "".join(
        f"<{mark}>{escape(safe(span.text))}</{mark}>" if mark and span.differs else escape(safe(span.text))
        for span in spans
    )


def _crawls(path: Path, other: Path, how: How, form: Form) -> None:
    counts = Counts()
    encoder = msgspec.json.Encoder()
    out = Printer(highlight=False, soft_wrap=True)
    title = f"{escape(safe(str(path)))} · {escape(safe(str(other)))}"
    if form == "html":
        show(f"{_top(title)}<h1>{title}</h1>")
    with (
        looked_into(path) as before,
        looked_into(other) as after,
        Scratch() as scratch,
    ):
        for one in differences(before, after, Path(scratch), counts, how):
            match form:
                case "json":
                    show(encoder.encode(one).decode())
                case "html":
                    show(
                        f"<h2>{escape(_line(one))}</h2>{''.join(_side_by_side(one.passages))}{_MORE * one.cut}"
                    )
                case _:
                    show(_line(one))
                    _print(out, one.passages)
    match form:
        case "json":
            show(encoder.encode({"kind": "counts"} | msgspec.to_builtins(counts)).decode())
        case "html":
            show(f"<p>{escape(_sums(counts))}</p></body></html>")
        case _:
            say(_sums(counts))


_MORE = "<p>There is more.</p>"


def _sums(counts: Counts) -> str:
    told = f"{counts.changed:,} changed, {counts.moved:,} moved, {counts.new:,} new, {counts.gone:,} gone,"
    told += f" {counts.same:,} the same"
    if counts.ignored:
        told += f" ({counts.ignored:,} of them but for what differs at each visit; --all counts it)"
    return told


def _line(one: Difference) -> str:
    match one.kind:
        case "changed":
            what = f"{one.share:>6.1%} -{one.removed} +{one.added}" if not one.note else "other bytes"
        case "gone":
            what = str(one.status) if one.status else "not asked for"
        case "moved":
            what = f"from {safe(one.was)} to"
        case _:
            what = ""
    return f"{one.kind:<8} {what:<18} {safe(one.url)}".rstrip()
