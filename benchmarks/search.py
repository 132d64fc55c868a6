"""Search over real pages: is everything found, how fast, how large is the index, and does it survive being killed?

`python -m benchmarks.search [--data PATH] [--pages N] [--part PART]... [--keep DIR] [--json]`. The web is installed
documentation (see `docs_site`; some 42,000 pages of HTML), the pages of WCXB where `--data` names them (see
`extraction`), and planted pages in eight languages. It is crawled and indexed through the command line. What must be
found is computed from the exported texts by plain Python (`search_questions`). Needs snowballstemmer.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import measure
from benchmarks.docs_site import MIXED, DocsSite, chosen
from benchmarks.extraction_pages import annotated_pages
from benchmarks.planted import (
    Row,
    crawl,
    gossamer,
    index,
    page,
    pdf,
    rows_of,
    served_files,
    size_of,
    words,
    write_site,
)
from benchmarks.search_questions import CJK, STEMS, Texts, phrases, planted_pages, runs_of_han, titles
from benchmarks.similar import clusters
from gossamer.model.errors import GossamerError

PARTS = ("size", "speed", "titles", "languages", "filters", "kills")
TITLES = 500
ASKED = 1_000
WARM = 50
EACH = 40
"""Questions of a kind."""
KILLS = 20
KILLED_PAGES = 1_500
ALL = 1_000_000
PDF_WORD = "zyzzogeton"
"""Stands in one PDF, one text file and one page, and nowhere else."""


class Answer(NamedTuple):
    """What a search says.

    Attributes:
        total: documents that answer, as it tells, near-duplicates counted each.
        urls: of the hits asked for, the best first.
        folded: hit -> near-duplicates that it may stand for.
        facets: name -> value -> documents.
    """

    total: int
    urls: list[str]
    folded: dict[str, list[str]]
    facets: dict[str, dict[str, int]]

    @property
    def everything(self) -> set[str]:
        """Hits, and what may be folded into them."""
        return {*self.urls, *(url for urls in self.folded.values() for url in urls)}


Ask = Callable[..., Answer]


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Ask]:
    """The search of a crawl: `ask(query, limit=10, snippets=True)`. The only place that knows how it is called."""
    from gossamer.search.searching import DEEPEST, Searching

    searching = Searching([folder])
    members: dict[str, list[str]] = {}
    for url, cluster in (cluster_of := clusters(folder)).items():
        members.setdefault(cluster, []).append(url)

    def ask(query: str, *, limit: int = 10, snippets: bool = True) -> Answer:
        try:
            found = searching.search(
                query, limit=min(limit, DEEPEST), facets=limit > DEEPEST, snippets=snippets
            )
        except GossamerError as error:
            # A wrong answer among others, which is counted.
            print(f"{query[:80]!r}: {error}", file=sys.stderr)
            return Answer(-1, [], {}, {})
        urls = [hit.url for hit in found.hits]
        folded = {
            hit.url: [url for url in members[cluster_of[hit.url]] if url not in urls]
            for hit in found.hits
            if hit.similar and hit.url in cluster_of
        }
        facets = {name: {each.value: each.count for each in values} for name, values in found.facets.items()}
        return Answer(found.total, urls, folded, facets)

    yield ask


INDEX = "search"
"""The folder of the index, in a crawl's."""


# The web …


def build(folder: Path, data: Path | None, pages: int) -> None:
    """Crawl everything into `folder`."""
    planted = planted_pages()
    planted["one.pdf"] = pdf(f"The {PDF_WORD} is an assassin bug of the tropics.")
    planted["one.txt"] = f"The {PDF_WORD} lives on trees and hunts other insects.\n"
    planted["one.html"] = page(
        "An insect", [f"Nobody in the village had ever seen a {PDF_WORD}, but all of them feared it."]
    )
    files = Path(tempfile.mkdtemp(prefix="gossamer-search-site-"))
    trees = chosen()
    try:
        write_site(files / "planted", planted)
        write_site(
            files / "real",
            {f"{each.name}.html": each.html for each in (annotated_pages(data) if data else [])},
        )
        with (
            DocsSite(trees, core=measure.cores()[1]) as site,
            served_files(files / "planted", "127.0.1.1") as first,
            served_files(files / "real", "127.0.1.2") as second,
        ):
            # Hosts take turns: with a limit each gives a part.
            crawl(folder, [first, *([second] if data else []), *site.seeds], pages=pages)
    finally:
        shutil.rmtree(files, ignore_errors=True)


# Parts …


def size(folder: Path, rows: Sequence[Row]) -> dict[str, Any]:
    """Bytes of the index by bytes of the texts in it."""
    text = sum(len(row.text.encode()) for row in rows)
    taken = size_of(folder / INDEX)
    return {"text_mb": round(text / 1e6, 1), "index_mb": round(taken / 1e6, 1),
            "index_by_text": round(taken / max(1, text), 3), "documents": len(rows)}  # fmt: skip


def speed(folder: Path, texts: Texts, chance: random.Random) -> dict[str, Any]:
    """Milliseconds of the ten best, everything on one core; queries of all kinds, in turn."""
    number = len(texts.rows)
    often, seldom = texts.common(number // 50, number // 5), texts.common(2, number // 200 + 2)
    runs = phrases(texts.rows, ASKED // 5, chance)
    named = titles(texts.rows, ASKED // 5, chance)
    kinds: dict[str, Callable[[int], str]] = {
        "one_word": lambda _: chance.choice(often),
        "two_words": lambda _: f"{chance.choice(often)} {chance.choice(seldom)}",
        "five_words": lambda _: " ".join(chance.choice(often) for _ in range(5)),
        "phrase": lambda at: f'"{" ".join(runs[at % len(runs)])}"',
        "title": lambda at: named[at % len(named)].title,
    }
    taken: dict[str, list[float]] = {kind: [] for kind in kinds}
    ranked: list[float] = []
    busy: list[float] = []
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {measure.cores()[0]})
    try:
        started = time.perf_counter()
        with opened(folder) as ask:
            ask(chance.choice(often))
            first = time.perf_counter() - started
            for at in range(WARM):
                ask(next(iter(kinds.values()))(at))
            for at in range(2 * ASKED // len(kinds)):
                for kind, query in kinds.items():
                    asked, passages = query(at), at % 2 == 0
                    started, used = time.perf_counter(), time.process_time()
                    ask(asked, snippets=passages)
                    (taken[kind] if passages else ranked).append(1e3 * (time.perf_counter() - started))
                    if passages:
                        busy.append(1e3 * (time.process_time() - used))
    finally:
        os.sched_setaffinity(0, before)
    everything = [each for times in taken.values() for each in times]
    return {
        "top10_ms": round(statistics.median(everything), 2),
        "top10_cpu_ms": round(statistics.median(busy), 2),
        "top10_ms_without_passages": round(statistics.median(ranked), 2),
        "top10_ms_p99": round(float(np.percentile(everything, 99)), 1),
        "first_ms": round(1e3 * first, 1),
        "top10_ms_by_kind": {kind: round(statistics.median(times), 2) for kind, times in taken.items()},
    }


def known_items(ask: Ask, rows: Sequence[Row], chance: random.Random) -> dict[str, Any]:
    """Mean reciprocal rank, within a hundred, of pages whose own title is asked for as it stands.

    Of pages whose title is no other's, and of pages as they come (`any_page`). Of the latter a query cannot tell which
    page is meant where several are called so: `mrr` asks for that page (or the hit it is folded into),
    `mrr_of_the_title` for any that is called so, and `mrr_possible` is what `mrr` would be if all that are called so
    came first, in any order.
    """
    called = {row.url: tuple(words(row.title)) for row in rows}
    alone = [_rank(ask, row, called) for row in titles(rows, TITLES, chance)]
    every = [_rank(ask, row, called) for row in titles(rows, ASKED, chance, alone=False)]
    by_host: dict[str, list[float]] = {}
    for rank in alone:
        by_host.setdefault(rank.row.host, []).append(_reciprocal(rank.page))
    missed = [rank for rank in (*alone, *every) if rank.title != 1]
    return {
        "mrr": _mean(_reciprocal(rank.page) for rank in alone),
        "first": _mean(rank.page == 1 for rank in alone),
        "titles": len(alone),
        "mrr_by_host": {host: _mean(each) for host, each in sorted(by_host.items())},
        "any_page": {
            "mrr": _mean(_reciprocal(rank.page) for rank in every),
            "mrr_of_the_title": _mean(_reciprocal(rank.title) for rank in every),
            "mrr_possible": _mean(
                sum(1 / place for place in range(1, rank.called_so + 1)) / rank.called_so for rank in every
            ),
            "titles_of_several": _mean(rank.called_so > 1 for rank in every),
            "pages": len(every),
        },
        "missed": [
            {"title": rank.row.title, "url": rank.row.url, "rank": rank.title} for rank in missed[:20]
        ],
    }


class _Rank(NamedTuple):
    """Of a page whose title was asked for.

    Attributes:
        row: the page.
        page: place of the page, or of the hit that it is folded into; 0 if it is not among the hits.
        title: place of the first page that is called so.
        called_so: hits that are called so, 1 at least.
    """

    row: Row
    page: int
    title: int
    called_so: int


def _rank(ask: Ask, row: Row, called: Mapping[str, tuple[str, ...]]) -> _Rank:
    answer = ask(row.title, limit=100, snippets=False)
    page = [at for at, url in enumerate(answer.urls, 1) if row.url in (url, *answer.folded.get(url, ()))]
    title = [at for at, url in enumerate(answer.urls, 1) if called.get(url) == called[row.url]]
    return _Rank(row, min(page, default=0), min([*page, *title], default=0), max(1, len(title)))


def _reciprocal(rank: int) -> float:
    return 1 / rank if rank else 0.0


def _mean(values: Iterable[float]) -> float:
    return round(statistics.mean(map(float, values)), 4)


def languages(ask: Ask, rows: Sequence[Row], chance: random.Random) -> dict[str, Any]:
    """Planted words of Chinese, Japanese and Korean, and in other forms; and runs out of real texts."""
    found: dict[str, Any] = {}
    for kind, cases in (("cjk", CJK), ("stem", STEMS)):
        right = 0
        wrong = []
        for number, case in enumerate(cases):
            urls = ask(case.query, limit=100, snippets=False).urls
            has = any(url.endswith(f"/{kind}-{number}-word.html") for url in urls)
            decoy = any(url.endswith(f"/{kind}-{number}-decoy.html") for url in urls)
            right += has and not decoy
            if not has or decoy:
                wrong.append({"language": case.language, "query": case.query, "found": has, "decoy": decoy})
        found[kind] = f"{right} of {len(cases)}"
        found[f"{kind}_wrong"] = wrong
    wanted = got = extra = 0
    for run, truth in runs_of_han(rows, EACH, chance):
        answer = ask(run, limit=ALL, snippets=False)
        wanted += len(truth)
        got += len(truth & answer.everything)
        titled = {row.url for row in rows if run in row.title}
        extra += len({*answer.urls} - truth - titled)
    found["cjk_real"] = {"pages": wanted, "recall": round(got / max(1, wanted), 4), "extra": extra}
    return found


def filters(ask: Ask, texts: Texts, chance: random.Random) -> dict[str, Any]:
    """Words, phrases and each filter against plain Python over the texts."""
    rows = texts.rows
    judged: dict[str, Any] = {}

    def everything(query: str) -> Answer:
        return ask(query, limit=ALL, snippets=False)

    def between(name: str, found: Answer, lower: set[str], upper: set[str]) -> None:
        into = judged.setdefault(name, {"questions": 0, "right": 0, "missing": 0, "extra": 0, "wrong": []})
        missing, extra = lower - found.everything, {*found.urls} - upper
        # What is folded into a hit is told only as a number.
        right = not missing and not extra and len(lower) <= found.total <= max(len(upper), len(found.urls))
        into["questions"] += 1
        into["right"] += right
        into["missing"] += len(missing)
        into["extra"] += len(extra)
        if not right and len(into["wrong"]) < 5:
            samples = {"missing": sorted(missing)[:3], "extra": sorted(extra)[:3], "total": found.total}
            into["wrong"].append({"query": asked, "least": len(lower), "most": len(upper), **samples})

    # Fewer than a search gives at once.
    common = texts.common(10, min(800, max(20, len(rows) // 20)))
    for _ in range(EACH):
        word, other = chance.sample(common, 2)
        asked = word
        between("words", everything(asked), texts.lower(word), texts.upper(word))
        asked = f"{word} {other}"
        # All of them must be there, as the line of filters and words has it, or the best of any come first.
        between("words", everything(asked), texts.lower(word, other), texts.upper(word) | texts.upper(other))
    for phrase in phrases(rows, EACH, chance):
        asked = f'"{" ".join(phrase)}"'
        found = everything(asked)
        # Forms of a phrase are looked for where any of its words are, so that folded pages count, too.
        upper = texts.phrase_upper(
            phrase, texts.upper(*phrase) if found.total > len(found.urls) else found.urls
        )
        between("phrase", found, texts.phrase_lower(phrase), upper)
    hosts = sorted({row.host for row in rows})
    known = sorted({row.language.partition("-")[0] for row in rows if row.language})
    today = datetime.now(UTC).date()
    for at in range(EACH):
        word = chance.choice(common)
        plain = texts.upper(word)
        certain = texts.lower(word)
        host, language = hosts[at % len(hosts)], known[at % len(known)]
        for name, condition, holds in (
            ("site", f"site:{host}", lambda row, host=host: row.host == host),
            (
                "lang",
                f"lang:{language}",
                lambda row, le=language: row.language.partition("-")[0].lower() == le,
            ),
            ("type", "type:html", lambda row: "html" in row.type),
            ("after", f"after:{today - timedelta(2)}", None),
            ("after", f"after:{today + timedelta(400)}", lambda row: row.published[:10] > f"{today}"),
        ):
            asked = f"{word} {condition}"
            # After the day before yesterday are all that say nothing of their own date; of others that date may count.
            undated = {url for url in certain if not texts.by_url[url].published}
            upper = plain if holds is None else {url for url in plain if holds(texts.by_url[url])}
            lower = undated if holds is None else (set() if name == "after" else upper & certain)
            between(name, everything(asked), lower, upper)
        word = chance.choice(words(chance.choice(rows).title) or [word])
        asked = f"title:{word}"
        titled = {row.url for row in rows if word in words(row.title)}
        # By its title any form of the word may be found, so what is beyond must have one in its title.
        found = everything(asked)
        known_forms = {row.url for row in rows if word[:3] in {other[:3] for other in words(row.title)}}
        between("title", found, titled, {url for url in known_forms if _in_title(texts, word, url)})
    for kind, ending in (("pdf", "one.pdf"), ("text", "one.txt"), ("html", "one.html")):
        asked = f"{PDF_WORD} type:{kind}"
        truth = {row.url for row in rows if row.url.endswith(f"/{ending}")}
        between("type", everything(asked), truth, truth)
    return {"filters": judged, "facets": facets(ask, texts, common, chance)}


def _in_title(texts: Texts, word: str, url: str) -> bool:
    return bool(texts.phrase_upper([word], [url])) and any(
        word[:3] == other[:3] for other in words(texts.by_url[url].title)
    )


def facets(ask: Ask, texts: Texts, common: Sequence[str], chance: random.Random) -> dict[str, Any]:
    """Whether the numbers beside the hits are those of the hits, where no near-duplicate is folded."""
    right = asked = 0
    for _ in range(EACH):
        answer = ask(chance.choice(common), limit=ALL, snippets=False)
        if any(answer.folded.values()) or not answer.facets:
            continue
        rows = [texts.by_url[url] for url in answer.urls if url in texts.by_url]
        truth = {
            "site": Counter(row.host for row in rows),
            "language": Counter(row.language.partition("-")[0].lower() for row in rows if row.language),
        }
        asked += 1
        right += all(answer.facets.get(name, {}).get(value) == count
                     for name, counts in truth.items() for value, count in counts.most_common(3))  # fmt: skip
    return {"questions": asked, "right": right}


# Kills …


def kills(folder: Path, chance: random.Random) -> dict[str, Any]:
    """`gossamer index` killed again and again on copies, half of them while only the search index is made."""
    trees = [tree for tree in chosen(MIXED) if tree.name not in ("python", "gtk", "gio")]
    crawled = folder / "crawl"
    with DocsSite(trees, core=measure.cores()[1]) as site:
        crawl(crawled, site.seeds, pages=KILLED_PAGES)
    shutil.copytree(crawled, whole := folder / "whole")
    seconds = {"all": index(whole).seconds}
    rows = rows_of(whole)
    texts = Texts(rows)
    asked = texts.common(5, len(rows) // 4)
    asked = chance.sample(asked, min(100, len(asked))) + [row.title for row in titles(rows, 50, chance)]
    asked += [f'"{" ".join(phrase)}"' for phrase in phrases(rows, 50, chance)]
    with opened(whole) as ask:
        wanted = [_answered(ask, query) for query in asked]
    shutil.copytree(whole, read := folder / "read")
    shutil.rmtree(read / INDEX)
    shutil.copytree(read, again := folder / "again")
    seconds["search"] = index(again).seconds
    killed: Counter[str] = Counter()
    rounds = unequal = 0
    samples: list[dict[str, Any]] = []
    for what, origin in (("all", crawled), ("search", read)):
        while killed[what] < KILLS // 2:
            copy = folder / "copy"
            shutil.copytree(origin, copy)
            while killed[what] < KILLS // 2 and _killed(copy, chance.uniform(0.3, 1) * seconds[what]):
                killed[what] += 1
            index(copy)
            with opened(copy) as ask:
                got = [_answered(ask, query) for query in asked]
            rounds += 1
            differ = [query for query, one, other in zip(asked, wanted, got, strict=True) if one != other]
            unequal += bool(differ) or size_of(copy / INDEX) > 2 * size_of(whole / INDEX)
            samples += [{"round": rounds, "query": query} for query in differ[:3]]
            shutil.rmtree(copy)
    return {"kills": dict(killed), "rounds": rounds, "unequal": unequal, "compared": len(asked),
            "seconds": {name: round(each, 1) for name, each in seconds.items()}, "samples": samples}  # fmt: skip


def _answered(ask: Ask, query: str) -> Answer:
    """What must be the same: the number, the hits in their order, what is folded into each, the facets."""
    return ask(query, limit=ALL, snippets=False)


def _killed(folder: Path, seconds: float) -> bool:
    """Whether `gossamer index` was killed with all its processes before it ended."""
    with (folder.parent / "killed.log").open("ab") as log:
        process = subprocess.Popen(
            gossamer("index", str(folder), "--quiet"), start_new_session=True, stdout=log, stderr=log,
            preexec_fn=measure.end_with_parent,  # noqa: PLW1509  no threads here
        )  # fmt: skip
        try:
            return process.wait(seconds) != 0
        except subprocess.TimeoutExpired:
            # The processes of readers too: they are in its session, and nothing else is.
            os.killpg(process.pid, signal.SIGKILL)
            return process.wait() == -signal.SIGKILL


def run(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Every part that is asked for."""
    parts = arguments.part or PARTS
    chance = random.Random(arguments.seed)
    found: dict[str, Any] = {}
    if set(parts) - {"kills"}:
        crawled = folder / "crawl"
        if not crawled.exists():
            build(crawled, arguments.data, arguments.pages)
        if not (crawled / INDEX).exists():
            usage = index(crawled)
            found["index_seconds"] = round(usage.seconds, 1)
            found["index_peak_mb"] = round(usage.peak_mb, 1)
            shutil.rmtree(crawled / INDEX)
            usage = index(crawled)
            found["search_index_seconds"] = round(usage.seconds, 1)
            found["search_index_peak_mb"] = round(usage.peak_mb, 1)
        rows = rows_of(crawled)
        texts = Texts(rows)
        found["pages"] = len(rows)
        if "size" in parts:
            found |= size(crawled, rows)
        if "speed" in parts:
            found |= speed(crawled, texts, chance)
        with opened(crawled) as ask:
            if "titles" in parts:
                found |= known_items(ask, rows, chance)
            if "languages" in parts:
                found |= languages(ask, rows, chance)
            if "filters" in parts:
                found |= filters(ask, texts, chance)
    if "kills" in parts:
        with tempfile.TemporaryDirectory(prefix="gossamer-search-kills-") as place:
            found["killed"] = kills(Path(place), chance)
    return found


def main() -> int:
    """Print what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--data", type=Path, help="folder or .tar.gz of WCXB")
    parser.add_argument("--pages", type=int, default=0, help="limit; by default all")
    parser.add_argument("--part", action="append", choices=PARTS, help="repeatable; by default all")
    parser.add_argument("--keep", type=Path, help="leave the crawl there, or use the one that is there")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        found = run(arguments, arguments.keep)
    else:
        with tempfile.TemporaryDirectory(prefix="gossamer-search-") as place:
            found = run(arguments, Path(place))
    if arguments.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    for name, value in found.items():
        print(
            f"{name:24} {json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
