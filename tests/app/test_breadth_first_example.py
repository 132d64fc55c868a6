"""The worked example of K3: the graph of figure 1.3 is visited in the order A B C D E F H G I."""

import asyncio
import http.server
import threading
from collections.abc import Iterator

import pytest

import gossamer

GRAPH = {"A": "BCDEF", "E": "H", "F": "G", "H": "I"}


class Graph(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.removeprefix("/")
        found = name in "ABCDEFGHI" and len(name) == 1
        body = "".join(f'<a href="/{to}">{to}</a>' for to in GRAPH.get(name, "")).encode() + b"."
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def graph() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Graph) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("workers", [1, 8])
def test_the_worked_example(graph: str, workers: int) -> None:
    async def order() -> str:
        pages = gossamer.crawl(graph + "A", min_delay=0, workers=workers)
        return "".join([page.url.removeprefix(graph) async for page in pages])

    assert asyncio.run(order()) == "ABCDEFHGI"
