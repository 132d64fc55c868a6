"""Search forms: how much of a site they open that nothing else leads to, and how soon a useless one is left.

`python -m benchmarks.search_forms [--json] [--documents 500] [--words 100]`: crawls of a small site whose documents are
reachable by its search alone, and of sites whose search brings nothing, each in its own way; CPU time of looking for
forms in a page. Words of the documents follow Zipf's law, those that are asked were drawn from the same list.
Nothing is stored; takes some seconds.
"""

import argparse
import asyncio
import html
import http.server
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import gossamer
from gossamer.extract.config import ExtractConfig
from gossamer.extract.html.search_forms import SearchFormExtractor
from gossamer.extract.registry import builtin_extractors
from gossamer.model.document import Document
from gossamer.model.exchange import Headers
from gossamer.model.url import Url
from gossamer.policy.speculation.forms_config import FormsConfig

Answer = tuple[int, Mapping[str, str], str]
HITS = 10
"""Of a page of results; the others follow by links."""
VOCABULARY = tuple(f"w{number}x" for number in range(2_500))
SORTS = {
    "finds": "ten hits a page, and a link to the next",
    "nothing": "'no results for ...', a link to the same in another order, the time that it took",
    "missing": "404",
    "same": "one page, whatever the word",
    "known": "ten documents that are linked anyway, in another order each time",
    "noise": "a sentence that nobody has said before, and no link",
}


def documents(count: int, seed: int = 1) -> dict[str, str]:
    """Texts of 60 words by path."""
    dice = random.Random(seed)
    weights = [1 / (rank + 1) ** 0.8 for rank in range(len(VOCABULARY))]
    shuffled = dice.sample(VOCABULARY, len(VOCABULARY))
    return {f"/d/{number:x}": " ".join(dice.choices(shuffled, weights, k=60)) for number in range(count)}


def words(count: int, seed: int = 2) -> tuple[str, ...]:
    """Words of which most stand in few documents, if in any."""
    return tuple(random.Random(seed).sample(VOCABULARY, count))


def answering(sort: str, documents: Mapping[str, str]) -> Callable[[str, str, object], Answer]:
    """What a site of one sort answers; its form has a field that is another on each page."""
    dice = random.Random(3)
    few = list(documents)[:HITS]

    def answer(_: str, path: str, __: object) -> Answer:
        url, head = urlsplit(path), {"Content-Type": "text/html; charset=utf-8"}
        form = f"<form action=/find><input name=q><input type=hidden name=t value={dice.random()}></form>"
        if url.path in documents:
            return 200, head, f"{form}<p>{documents[url.path]}"
        if url.path == "/":
            return 200, head, form + (_listed(few, documents) if sort == "known" else "")
        if url.path != "/find" or sort == "missing":
            return 404, head, "not here"
        asked = parse_qs(url.query)
        word, page = asked.get("q", ["-"])[0], int(asked.get("p", ["0"])[0])
        if sort == "nothing":
            other = f"<a href='?q={word}&s=date'>by date</a>"
            return 200, head, f"{form}No results for <b>{html.escape(word)}</b> {other} {dice.random():.3f} s"
        if sort == "noise":
            return 200, head, form + " ".join(f"n{dice.random():.9f}e" for _ in range(20))
        if sort == "same":
            return 200, head, "all that there is"
        found = [one for one in documents if word in documents[one].split()]
        if sort == "known":
            found = dice.sample(few, HITS)
        more = f"<a href='?q={word}&p={page + 1}'>next</a>" if len(found) > HITS * (page + 1) else ""
        return 200, head, form + _listed(found[HITS * page : HITS * (page + 1)], documents) + more

    return answer


def _listed(found: list[str], documents: Mapping[str, str]) -> str:
    return "".join(f"<li><a href='{one}'>{documents[one][:50]}</a>" for one in found)


@contextmanager
def _served(answer: Callable[[str, str, object], Answer]) -> Iterator[tuple[str, list[str]]]:
    """The address of a site, and what it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            status, head, text = answer("", self.path, None)
            body = text.encode()
            self.send_response(status)
            for name, value in {**head, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def crawled(sort: str, documents: Mapping[str, str], words: tuple[str, ...]) -> dict[str, Any]:
    """What a crawl of one site asked for, and what it found."""

    async def crawl(address: str, folder: Path) -> None:
        config = {"engine": {"guess_sitemap": False}, "forms": {"words": words}}
        async for _ in gossamer.crawl(address, folder=folder, config=config, min_delay=0):
            pass

    with tempfile.TemporaryDirectory() as temporary, _served(answering(sort, documents)) as (address, asked):
        asyncio.run(crawl(address, Path(temporary) / "c"))
        report = json.loads((Path(temporary) / "c/report.json").read_text())
    questions = [path for path in asked if path.startswith("/find?q=") and "&t=" in path]
    return {
        "requests": len(asked),
        "words_asked": len(questions),
        "words_that_brought": report["speculative"].get("form", [0, 0])[0],
        "further_pages": sum(path.startswith("/find?") for path in asked) - len(questions),
        "documents": len(documents.keys() & set(asked)),
        "reachable": sum(not set(words).isdisjoint(text.split()) for text in documents.values()),
    }


def cost(rounds: int = 9, repeats: int = 60) -> dict[str, float]:
    """Milliseconds of CPU to look for forms in a page of 44 KB that has none, one at its top or one at its end, beside
    those for `reading` it.
    """
    text = "<p>word <a href=/a/b>link</a> and more text here</p>" * 800
    form = "<form action=/find><input name=q><button>Go</button></form>"
    pages = {"reading": form + text, "none": text, "top": form + text, "end": text + form}
    ours = SearchFormExtractor(lambda _: FormsConfig(words=("word",)))
    usual = [one for one in builtin_extractors(ExtractConfig()) if "text/html" in one.media_types]
    taken: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(rounds):
        for name, page in pages.items():
            document = Document(
                _url("http://site.example/"), "text/html", "utf-8", Headers([]), page.encode()
            )
            begun = time.thread_time()
            for _ in range(repeats):
                for one in usual if name == "reading" else [ours]:
                    one.extract(document)
            taken[name].append((time.thread_time() - begun) / repeats * 1e3)
    return {name: round(statistics.median(times), 3) for name, times in taken.items()}


def _url(text: str) -> Url:
    url = Url.parse(text)
    assert url is not None
    return url


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--words", type=int, default=100)
    given = parser.parse_args()
    texts, asked = documents(given.documents), words(given.words)
    figures = {sort: crawled(sort, texts, asked) for sort in SORTS}
    if given.json:
        print(json.dumps({"sites": figures, "cpu": cost()}, indent=1))
        return
    for sort, found in figures.items():
        print(f"{sort:8} {found}")
    print(f"cpu      {cost()}")


if __name__ == "__main__":
    main()
