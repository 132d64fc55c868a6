"""Writes what a crawl found in forms for other programs."""

import sys
from pathlib import Path

from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json
from gossamer.config.units import parse_size
from gossamer.inspect.archive.link_graph import export_links
from gossamer.model.errors import ConfigError


def run_export_links(path: Path, out: Path | None, memory: str, *, json: bool) -> None:
    """Write the link graph; exit 1 if some of the archive could not be read.

    Raises:
        ConfigError: no crawl lives in `path`, or `memory` is no size.
    """
    try:
        size = parse_size(memory)
    except ValueError as error:
        raise ConfigError(f"--memory: {error}") from None
    with looked_into(path) as inspection:
        graph = export_links(inspection, out, size)
    if json:
        show_json(graph)
    else:
        for problem in graph.problems:
            say(safe(problem))
        show(
            f"{safe(graph.folder)}: {plural(graph.pages, 'page')}, {plural(graph.urls, 'URL')}, "
            f"{plural(graph.page_edges, 'link')}; {plural(graph.hosts, 'host')}, "
            f"{plural(graph.host_edges, 'pair')} of them linked"
        )
    if graph.problems:
        sys.exit(1)
