import gzip
import struct

import pytest
from benchmarks.link_graphs import reachable
from benchmarks.quality import judge, report

from benchmarks import real_graphs


def graph_tool_file(rows: list[list[int]], order: str) -> bytes:
    data = b"\xe2\x9b\xbe gt\x01" + bytes([order == ">"])
    data += struct.pack(f"{order}Q", 7) + b"comment" + b"\x01" + struct.pack(f"{order}Q", len(rows))
    number = "B" if len(rows) < 256 else "H"
    for row in rows:
        data += struct.pack(f"{order}Q{len(row)}{number}", len(row), *row)
    return gzip.compress(data + struct.pack(f"{order}Q", 0))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nodes", [4, 300])
def test_files_of_graph_tool_are_read(order: str, nodes: int) -> None:
    rows = [[(node * 7 + step) % nodes for step in range(node % 3)] for node in range(nodes)]
    assert real_graphs.read_graph_tool(graph_tool_file(rows, order)) == rows


def test_folders_become_hosts_of_one_domain_or_of_many() -> None:
    paths = ["", "a.html", "library/", "library/b.html", "C API/b.html", "c-api/b.html"]
    urls = [f"http://docs.example/{path}" for path in paths]
    graph = reachable("docs", urls, [[(page + 1) % 6] for page in range(6)], [0])
    apart = real_graphs.by_folder(graph, apart=True)
    together = real_graphs.by_folder(graph, apart=False)
    assert apart.urls[:4] == [
        "http://www.org/",
        "http://www.org/a.html",
        "http://library.org/",
        "http://library.org/b.html",
    ]
    assert together.urls[2] == "http://library.docs.org/"
    assert len(set(apart.urls)) == len(set(together.urls)) == 6
    assert report({"docs": judge(apart)})["best_ahead_of_bfs"].keys() == {"docs"}
