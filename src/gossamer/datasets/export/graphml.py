"""The link graph of pages as GraphML: URLs are nodes, links are edges with their kind.

Source: http://graphml.graphdrawing.org/specification.html.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from gossamer.datasets.export.places import Place
from gossamer.inspect.archive.big_sort import read_lines
from gossamer.inspect.archive.link_graph import LinkGraph, export_links
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import ConfigError
from gossamer.state.scratch import Scratch

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="url" for="node" attr.name="url" attr.type="string"/>
<key id="status" for="node" attr.name="status" attr.type="int"/>
<key id="kind" for="edge" attr.name="kind" attr.type="string"/>
<key id="nofollow" for="edge" attr.name="nofollow" attr.type="boolean"><default>false</default></key>
<graph id="links" edgedefault="directed">
"""
_TAIL = "</graph>\n</graphml>\n"


def write_graphml(inspection: Inspection, place: Place, memory: int, *, packed: bool) -> LinkGraph:
    """Write one file, whole or not at all; an earlier one is replaced.

    Args:
        inspection: of the crawl, which may be running.
        place: where to.
        memory: bytes of lines sorted at once.
        packed: by gzip.

    Raises:
        ConfigError: something else lies there.
        StorageError: the disk refuses.
    """
    name = f"links.graphml{'.gz' if packed else ''}"
    if place.size(name) is None and not place.is_empty():
        raise ConfigError(f"{place.address}: holds other files. Choose an empty folder with --out.")
    with place.alone(), Scratch() as scratch:
        tables = Path(scratch) / "links"
        graph = export_links(inspection, tables, memory)
        with place.create(name) as out:
            packing = gzip.GzipFile("", "wb", 6, out, mtime=0) if packed else None
            for piece in _pieces(tables):
                (packing or out).write(piece.encode())
            if packing is not None:
                packing.close()
    return graph


def _pieces(tables: Path) -> Iterator[str]:
    yield _HEAD
    visited = (line.split(b"\t") for line in read_lines(tables / "pages.tsv.gz"))
    page = next(visited, None)
    for line in read_lines(tables / "urls.tsv.gz"):
        number, url, _ = line.split(b"\t")
        status = ""
        if page is not None and page[0] == number:
            status = f'<data key="status">{int(page[2])}</data>'
            page = next(visited, None)
        yield f'<node id="n{int(number)}"><data key="url">{escape(url.decode())}</data>{status}</node>\n'
    for line in read_lines(tables / "page_edges.tsv.gz"):
        source, target, kind, nofollow = line.split(b"\t")
        mark = '<data key="nofollow">true</data>' if nofollow else ""
        yield (
            f'<edge source="n{int(source)}" target="n{int(target)}">'
            f'<data key="kind">{escape(kind.decode())}</data>{mark}</edge>\n'
        )
    yield _TAIL
