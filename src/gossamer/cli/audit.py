"""Says whether a site is well: crawls it if need be, audits what was crawled, and writes the result."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.text import Text

from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.private import keep_private
from gossamer.audit.audit import Told, audited
from gossamer.audit.config import AuditAsked
from gossamer.audit.excused import Baseline, IgnoreList, read_baseline, read_ignored, write_baseline
from gossamer.audit.outputs.as_annotations import as_annotations
from gossamer.audit.outputs.as_csv import as_csv
from gossamer.audit.outputs.as_html import as_html
from gossamer.audit.outputs.as_json import as_json
from gossamer.audit.outputs.as_junit import as_junit
from gossamer.audit.outputs.as_sarif import as_sarif
from gossamer.audit.outputs.message import why
from gossamer.audit.result import AuditResult, Finding
from gossamer.audit.rules import Level
from gossamer.cli.crawl import conduct, run_new
from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.looked_into import looked_into
from gossamer.cli.request import Request
from gossamer.cli.terminal.printing import plural, safe, say, show, show_pieces
from gossamer.cli.terminal.tables import Printer
from gossamer.control.changes.refetching import Refetch, ask_offline
from gossamer.control.views.context import view_context
from gossamer.crawling.run import reopen
from gossamer.inspect.clusters.cluster_folder import holds_cluster
from gossamer.model.errors import ConfigError
from gossamer.state.scratch import Scratch
from gossamer.state.whole_files import write_pieces
from gossamer.words.catalogue import Words, words

__all__ = ["Outputs", "run_audit"]

_SETTINGS = (
    "retry.url_waits=[5.0]",
    "retry.host_first=5.0",
    "retry.not_found_first=5.0",
    "retry.host_attempts=3",
    "retry.park_after=1.0",
    "engine.give_up_after=45.0",
)
"""Of the crawl of an audit, which somebody waits for: what failed twice is told, and tried at the next audit."""
_SAY_EVERY = 5.0
"""Seconds."""
_PAGES = 5
"""Pages that the table shows of each finding."""
_ROWS = 25
"""Findings that the table shows of each rule."""


class Outputs(msgspec.Struct, frozen=True, kw_only=True):
    """Where the result goes; `None` and false for nowhere. Without `json`, `csv` and `annotations` it is a table."""

    json: bool = False
    csv: bool = False
    annotations: bool = False
    html: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    baseline: Path | None = None
    write_baseline: Path | None = None
    ignore: Path | None = None
    language: str = "en"
    quiet: bool = False


def run_audit(targets: Sequence[str], request: Request, asked: AuditAsked, outputs: Outputs) -> None:
    """Audit sites, or a crawl; exit 1 if there are findings at level error that no baseline knows, or the
    archive could not be read whole.

    Args:
        targets: URLs, or one folder.
        request: of the crawl, if there must be one; `folder` is where it is kept.
        asked: how the audit goes about it.
        outputs: where the result goes.

    Raises:
        ConfigError: what is asked for cannot be.
        StorageError: the disk refuses, or an archive is damaged.
    """
    baseline = read_baseline(outputs.baseline) if outputs.baseline else Baseline()
    ignore = read_ignored(outputs.ignore) if outputs.ignore else IgnoreList()
    _prove_writable(outputs)
    keep_private()
    t = words(outputs.language)
    with _crawled(targets, request, quiet=outputs.quiet) as (path, name), looked_into(path) as inspection:
        told = Told() if outputs.quiet else _progress()
        with audited(inspection, asked, baseline, ignore, told) as result:
            failed = _write(result, name, outputs, t)
    if failed:
        sys.exit(EXIT_NOTHING)


def _prove_writable(outputs: Outputs) -> None:
    for option in ("html", "junit", "sarif", "write_baseline"):
        path: Path | None = getattr(outputs, option)
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise ConfigError(f"--{option.replace('_', '-')} {path}: is no file that can be written.")


@contextmanager
def _crawled(targets: Sequence[str], request: Request, *, quiet: bool) -> Iterator[tuple[Path, str]]:
    """The folder to look into, and what it is called; crawled first if URLs were given."""
    folder = _folder(targets)
    if folder is not None:
        if request.folder is not None:
            raise ConfigError("--output: is where the crawl of URLs is kept; a folder stays where it is.")
        yield folder, CrawlFolder(folder).name
        return
    name = " ".join(targets)
    request = msgspec.structs.replace(request, seeds=targets, settings=[*_SETTINGS, *request.settings])
    if request.folder is not None:
        _crawl(request, request.folder, quiet=quiet)
        yield request.folder, name
        return
    with Scratch() as scratch:
        crawled = Path(scratch, "crawl")
        try:
            try:
                _crawl(request, crawled, quiet=quiet)
            finally:  # also if it is interrupted, when its closing words tell how to go on
                if not quiet and CrawlFolder(crawled).used:
                    say("this crawl is removed after the audit; --output DIR keeps it")
            yield crawled, name
        finally:
            CrawlFolder(crawled).discard()


def _folder(targets: Sequence[str]) -> Path | None:
    """The folder of a crawl that is meant; `None` if URLs are."""
    folders = [one for one in targets if "://" not in one and _is_folder(Path(one))]
    if not folders:
        return None
    if len(targets) > 1:
        raise ConfigError(f"{folders[0]}: is a folder. Give one folder and nothing else, or URLs.")
    return Path(folders[0])


def _is_folder(path: Path) -> bool:
    try:
        return CrawlFolder(path).used or holds_cluster(path) or path.is_dir()
    except (OSError, ValueError):
        return False


def _crawl(request: Request, path: Path, *, quiet: bool) -> None:
    """Crawl anew, or, where this was done before, visit all pages again."""
    folder = CrawlFolder(path)
    if not folder.used:
        run_new(msgspec.structs.replace(request, folder=path), quiet=quiet, json=False)
        return
    if not quiet:
        say(f"{path} was audited before: its pages are visited again")
    with view_context(path) as look:
        ask_offline(look, Refetch(match="*"), "audit")
    conduct(folder, reopen(folder), resumed=True, quiet=quiet, json=False)


def _progress() -> Told:
    """Says how far it is, every few seconds."""
    last = time.monotonic()

    def hear(what: str, count: int) -> None:
        nonlocal last
        if what == "to_ask":
            if count:
                say(f"asking for {plural(count, 'link')} that the crawl did not visit")
        elif time.monotonic() - last >= _SAY_EVERY:
            last = time.monotonic()
            say(f"{count:,} {what}")

    return Told(hear)


def _write(result: AuditResult, name: str, outputs: Outputs, t: Words) -> bool:
    """Write all that was asked for; whether the audit fails."""
    if outputs.json:
        show_pieces(as_json(result))
    elif outputs.csv:
        show_pieces(line.encode("utf-8", "backslashreplace") for line in as_csv(result))
    elif outputs.annotations:
        for line in as_annotations(result, t):
            show(safe(line))
    else:
        _table(result, t)
    if outputs.html:
        write_pieces(outputs.html, (piece.encode("utf-8", "replace") for piece in as_html(result, name, t)))
    if outputs.junit:
        write_pieces(outputs.junit, (piece.encode("utf-8", "replace") for piece in as_junit(result, t)))
    if outputs.sarif:
        write_pieces(outputs.sarif, as_sarif(result, t))
    if outputs.write_baseline:
        write_baseline(outputs.write_baseline, ((one.rule, one.url) for one in result.findings(pages=False)))
    counts = result.levels(new=bool(outputs.baseline))
    for problem in result.problems:
        say(safe(problem))
    if not outputs.quiet:
        _tell(result, counts, outputs)
    return bool(result.problems) or (counts[Level.ERROR] > 0 and not outputs.write_baseline)


def _tell(result: AuditResult, counts: Mapping[str, int], outputs: Outputs) -> None:
    for one in result.expired:
        say(
            f"--ignore: since {one.until} it counts again: {safe(one.rule)} {safe(one.url)} ({safe(one.reason)})"
        )
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in result.verdicts.items())
    say(f"{plural(result.pages, 'page')}, links: {told}")
    new = " that the baseline does not know" if outputs.baseline else ""
    levels = ", ".join(plural(count, level) for level, count in counts.items())
    say(f"findings{new}: {levels}" + (f"; {result.ignored:,} ignored" if result.ignored else ""))
    requests = result.requests
    say(
        f"asked outside the crawl: {plural(requests.outside, 'request')}; known from before: {requests.cached:,}"
    )


_STYLES = {Level.ERROR: "bold red", Level.WARNING: "yellow", Level.NOTE: "dim"}


def _table(result: AuditResult, t: Words) -> None:
    """Findings by rule, the gravest first; of each what it is about, and where it stands."""
    out = Printer(highlight=False, soft_wrap=True)
    rule, shown = "", 0
    for finding in result.findings():
        if finding.rule != rule:
            _cut(out, shown)
            rule, shown = finding.rule, 0
            out.print(
                Text(f"\n{finding.level}: {t.said('finding', rule)} [{rule}]", _STYLES[Level(finding.level)])
            )
        shown += 1
        if shown <= _ROWS:
            for line in _rows(finding, t):
                out.print(line)
    _cut(out, shown)


def _cut(out: Printer, shown: int) -> None:
    if shown > _ROWS:
        out.print(Text(f"  and {shown - _ROWS:,} more; --json, --csv and --html have all", "dim"))


def _rows(finding: Finding, t: Words) -> Iterator[Text]:
    more = why(finding, t)
    known = "  (known)" if finding.known else ""
    yield Text(f"  {safe(finding.url)}{known}" + (f"  {more}" if more else ""))
    for page in finding.pages[:_PAGES]:
        said = f"  “{safe(page.text)}”" if page.text else ""
        yield Text(f"      {safe(page.url)}{said}", "dim")
    if len(finding.pages) > _PAGES:
        yield Text(f"      and {len(finding.pages) - _PAGES:,} more", "dim")
