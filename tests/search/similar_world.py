"""Documents with likenesses that are known, their tables, and what an index holds."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.archive.follower import Mark
from gossamer.datasets.derived import FOLDER as DOCUMENTS
from gossamer.datasets.derived import Store as TableStore
from gossamer.datasets.deriving import DocumentRow
from gossamer.documents.said import Derived, DocumentText, Metadata
from gossamer.search.similar.clusters import clusters_of
from gossamer.search.similar.indexing import Document
from gossamer.search.similar.store import Known
from gossamer.search.similar.texts import Place, Tables


def text_of(seed: int, words: int = 200) -> str:
    """A text of its own, with some words that are common."""
    chance = random.Random(seed)
    return " ".join(f"w{int(chance.paretovariate(0.4)) % 50_000}" for _ in range(words))


def edited(text: str, share: float, seed: int) -> str:
    """The text with so many of its words replaced, here and there."""
    chance = random.Random(seed)
    words = text.split(" ")
    for at in chance.sample(range(len(words)), round(share * len(words))):
        words[at] = f"new{chance.randrange(10**9)}"
    return " ".join(words)


def documents(texts: Sequence[tuple[str, str]], first: int = 0) -> list[Document]:
    """Captures of (URL, text) one after the other, the first at place `first`; ten to an archive file."""
    return [Document(url, at // 10, at % 10 * 100, text) for at, (url, text) in enumerate(texts, first)]


def after(some: Sequence[Document]) -> Mark:
    """The mark behind these."""
    return Mark(some[-1].serial, some[-1].offset + 50) if some else Mark()


def write_tables(crawl: Path, some: Sequence[Document], rows: int = 20, *, begin: int = 0) -> None:
    """Commit their rows, those before `begin` being there."""
    crawl.mkdir(exist_ok=True)
    store = TableStore(crawl / DOCUMENTS, "")
    for at in range(begin, len(some), rows):
        part = some[at : at + rows]
        said = [
            DocumentText(
                media_type="text/html", text=Derived(text=one.text), metadata=Metadata(title=f"of {one.url}")
            )
            for one in part
        ]
        made = [
            DocumentRow(one.url, 1e9, one.serial, one.offset, 200, what, ())
            for one, what in zip(part, said, strict=True)
        ]
        store.commit({"documents": made, "links": [], "fields": []}, after(part), 0.1, ())
    store.close()


class Remembered(Tables):
    """Tables that hold just these texts."""

    def __init__(self) -> None:
        self.texts: dict[Place, str] = {}

    def keep(self, some: Sequence[Document]) -> None:
        """They are committed."""
        self.texts.update({(one.serial, one.offset): one.text for one in some})

    def rows(self, places: Sequence[Place], columns: Sequence[str]) -> Iterator[tuple[Place, dict[str, Any]]]:
        """As tables do."""
        assert list(columns) == ["text"]
        for place in sorted(places):
            yield place, {"text": self.texts[place]}


def held(known: Known) -> dict[str, object]:
    """All that an index holds, however it is cut into parts."""
    kinds: dict[str, object] = {
        name: np.sort(np.concatenate([np.zeros(0, np.uint64), *getattr(known, name)])).tolist()
        for name in ("bands", "urls", "fingerprints")
    }
    for name in ("pages", "pairs"):
        kinds[name] = b"".join(part.tobytes() for part in getattr(known, name))
    kinds["clusters"] = [(first, pages.tolist()) for first, pages, _ in clusters_of(known)]
    return kinds
