"""Writes the report of a crawl as a web page, or its figures for programs."""

from pathlib import Path

from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, show, show_json, size
from gossamer.model.errors import ConfigError
from gossamer.report import write_report
from gossamer.report.census.gather import gather
from gossamer.search.similar.reported import with_near_duplicates


def run_report(path: Path, out: Path | None, language: str, *, json: bool) -> None:
    """Write the page; with `json` print the figures, and write the page only if `out` is given.

    Raises:
        ConfigError: no crawl lives in `path`, or the page has no place.
        StorageError: state or log cannot be read, or the disk refuses.
    """
    target = out if out is not None else path / "report.html"
    with looked_into(path) as inspection:
        if target.is_dir() or not target.parent.is_dir():
            raise ConfigError(f"--out {target}: is no place for a file. Name a file in a folder that exists.")
        figures = with_near_duplicates(gather(inspection), inspection)
    if out is not None or not json:
        write_report(figures, target, language)
    if json:
        show_json(figures)
        return
    sums = figures.sums
    what = f"{plural(sums.pages, 'page')} on {plural(sums.hosts, 'host')}, {size(sums.bytes)}"
    show(f"{safe(str(target))}: {what}")
