"""Link graphs that nobody drew: weblogs of 2005, and documentation, out of packages of Debian.

Each comes twice, every host with a registrable domain of its own and all hosts under one. Documentation is
one host on the web; here each of its first folders is.
"""

import gzip
import os
import re
import struct
import subprocess
import tempfile
from pathlib import Path

from benchmarks.docs_site import Tree
from benchmarks.link_graphs import LinkGraph, documentation, reachable
from benchmarks.packages import MissingPackageError, download

__all__ = ["graphs"]

_DOC = Path("usr/share/doc")
_TREES = (
    ("apache", "apache2-doc", _DOC / "apache2-doc/manual"),
    ("rust", "rust-doc", _DOC / "rust-doc/html"),
    ("java", "openjdk-17-doc", _DOC / "openjdk-17-jre-headless/api"),
)
_BLOGS = ("python3-graph-tool", Path("usr/lib/python3/dist-packages/graph_tool/collection/polblogs.gt.gz"))
"""Adamic and Glance, "The political blogosphere and the 2004 US election", 2005: links of front pages."""

_MAGIC = b"\xe2\x9b\xbe gt"
_FIRST_SEED = 5
"""Three of the blogs with most links, but not the first ones, are the seeds."""

_NUMBERS = ((0xFF, "B"), (0xFFFF, "H"), (0xFFFFFFFF, "I"))


def graphs(folder: Path | None = None) -> list[LinkGraph]:
    """All of them, both ways; what is not in the folder is downloaded, some 80 MB.

    Raises:
        MissingPackageError: no apt, no mirror, or another release that lacks a package.
    """
    folder = folder or Path(tempfile.gettempdir()) / f"gossamer-graphs-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    package, path = _BLOGS
    rows = read_graph_tool((_unpacked(package, folder) / path).read_bytes())
    found = [_blogs(rows, apart=apart) for apart in (True, False)]
    for name, package, path in _TREES:
        tree = documentation(Tree(name, package, _unpacked(package, folder) / path))
        found += [by_folder(tree, apart=apart) for apart in (True, False)]
    return found


def _unpacked(package: str, folder: Path) -> Path:
    place = folder / package
    if not place.exists():
        with tempfile.TemporaryDirectory(prefix="gossamer-deb-", dir=folder) as fresh:
            archive = download(package, Path(fresh))
            inside = Path(fresh) / "inside"
            try:
                subprocess.run(["dpkg-deb", "-x", str(archive), str(inside)], check=True)
            except (OSError, subprocess.SubprocessError) as error:
                raise MissingPackageError(f"{package}: {error}") from error
            inside.rename(place)
    return place


def read_graph_tool(content: bytes) -> list[list[int]]:
    """The out-neighbours of each node of a file in graph-tool's binary format, version 1.

    Source: graph-tool.skewed.de, "The gt file format". Its properties are not read.

    Raises:
        ValueError: not such a file.
    """
    data = gzip.decompress(content)
    if not data.startswith(_MAGIC):
        raise ValueError("no graph of graph-tool")
    order = ">" if data[7] else "<"
    length = struct.Struct(f"{order}Q")
    at = 8 + length.size + length.unpack_from(data, 8)[0] + 1  # behind the comment and `directed`
    nodes = length.unpack_from(data, at)[0]
    at += length.size
    number = next(code for most, code in _NUMBERS if nodes <= most)
    rows: list[list[int]] = []
    for _ in range(nodes):
        degree = length.unpack_from(data, at)[0]
        row = struct.Struct(f"{order}{degree}{number}")
        rows.append(list(row.unpack_from(data, at + length.size)))
        at += length.size + row.size
    return rows


def _blogs(rows: list[list[int]], *, apart: bool) -> LinkGraph:
    ending = "org" if apart else "blogs.org"
    by_links = sorted(range(len(rows)), key=lambda node: -len(rows[node]))
    seeds = by_links[_FIRST_SEED : _FIRST_SEED + 3]
    return reachable(
        _named("blogs", apart), [f"http://b{n}.{ending}/" for n in range(len(rows))], rows, seeds
    )


def by_folder(graph: LinkGraph, *, apart: bool) -> LinkGraph:
    """The same links with each first folder as a host."""
    urls: dict[str, None] = {}
    for number, url in enumerate(graph.urls):
        top, slash, rest = url.split("/", 3)[3].partition("/")
        host = re.sub(r"[^a-z0-9]+", "-", top.lower()).strip("-") if slash else "www"
        made = f"http://{host or 'x'}.{'org' if apart else 'docs.org'}/{rest if slash else top}"
        urls[made if made not in urls else f"{made}?n={number}"] = None
    return graph._replace(name=_named(graph.name, apart), urls=list(urls))


def _named(name: str, apart: bool) -> str:
    return f"{name}, domains apart" if apart else f"{name}, one domain"
