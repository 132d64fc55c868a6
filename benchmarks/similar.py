"""Near-duplicates and copies: pages with planted edits, and documents of which passages stand elsewhere.

`python -m benchmarks.similar --data PATH [--pages N] [--part edits|copies] [--json]`. PATH is WCXB (see `extraction`).

*Edits*: each real text is a page of its own; copies of it have 1, 3, 5 and 20% of their words changed, here and there,
or one block of so many words. The true likeness of all pairs is the Jaccard index of their sets of five-word shingles,
computed exactly by plain Python from the texts that the crawl read. *Copies*: of 200 documents that are not crawled, a
passage of 60 to 200 words each stands on another real page, in other markup, with other case, blanks and punctuation.
Questions go through the command line.
"""

import argparse
import html
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import measure
from benchmarks.extraction_pages import Annotated, annotated_pages, score
from benchmarks.planted import (
    SHINGLE,
    Row,
    checked,
    crawl,
    gossamer,
    index,
    jaccard,
    page,
    rows_of,
    served_files,
    shingles,
    size_of,
    words,
    write_site,
)

BASES = 250
LEAST_WORDS = 150
SHARES = (0.01, 0.03, 0.05, 0.2)
ALIKE = 0.6
"""The issue's: recall counts for pairs of this true Jaccard index and more."""
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
DOCUMENTS = 200
PASSAGE = (60, 200)
RIGHT = 0.8
"""F1 of words of a passage against what was planted, from which on it is the right one."""
SAME_RUN = 30
"""A page that has so many words of a document in a row holds a copy of them, whoever planted it."""
AT_ONCE = 50


class Likeness(NamedTuple):
    """A page that is like what was asked for.

    Attributes:
        url: of the page.
        jaccard: estimated, 0 to 1.
        passages: texts that both have.
    """

    url: str
    jaccard: float
    passages: list[str]


def like(folder: Path, asked: Sequence[str]) -> dict[str, list[Likeness]]:
    """What `gossamer similar` says of files or URLs. The only place that knows how it answers."""
    found: dict[str, list[Likeness]] = {}
    for at in range(0, len(asked), AT_ONCE):
        for each in _answer(folder, *asked[at : at + AT_ONCE]):
            found[each["document"]] = [
                Likeness(page["url"], page["resemblance"], [passage["text"] for passage in page["passages"]])
                for page in each["pages"]
            ]
    return found


def clusters(folder: Path) -> dict[str, str]:
    """URL -> its cluster of near-duplicates, for those that have one. The only place that knows where it stands."""
    listed = _answer(folder)["clusters"]
    return {page["url"]: each["cluster"] for each in listed for page in each["pages"]}


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of the index of near-duplicates, and of what finds passages, as it says itself."""
    return {str(name): int(taken) for name, taken in _answer(folder)["bytes"].items()}


def _answer(folder: Path, *asked: str) -> Any:
    line = gossamer("similar", str(folder), "--json", *asked)
    ran = subprocess.run(line, check=False, capture_output=True)
    if ran.returncode not in (0, 1):
        raise RuntimeError(ran.stderr.decode(errors="replace")[-4000:])
    return json.loads(ran.stdout)


SKETCHES = "similar"
"""The folder of the near-duplicates' index, in a crawl's."""


# Edits …


def _cells(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def edited_words(text: str, share: float, chance: random.Random, other: Sequence[str]) -> str:
    """So many words replaced, left out, or put in, anywhere."""
    lines = _cells(text)
    places = [(row, column) for row, line in enumerate(lines) for column in range(len(line))]
    for row, column in chance.sample(places, max(1, round(share * len(places)))):
        old, new = lines[row][column], chance.choice(other)
        lines[row][column] = chance.choice((new, new, "", f"{old} {new}"))
    return "\n".join(" ".join(line) for line in lines)


def edited_block(text: str, share: float, chance: random.Random, other: Sequence[str]) -> str:
    """One run of so many words replaced by one of another page."""
    lines = _cells(text)
    places = [(row, column) for row, line in enumerate(lines) for column in range(len(line))]
    length = max(1, round(share * len(places)))
    start = chance.randrange(len(places) - length + 1)
    begin = chance.randrange(max(1, len(other) - length))
    for (row, column), new in zip(
        places[start : start + length], other[begin : begin + length], strict=False
    ):
        lines[row][column] = new
    return "\n".join(" ".join(line) for line in lines)


EDITS: dict[str, Callable[[str, float, random.Random, Sequence[str]], str]] = {
    "words": edited_words,
    "block": edited_block,
}


def edited_pages(bases: Sequence[Annotated], chance: random.Random) -> dict[str, str | bytes]:
    """File name -> page: each text, and its edits."""
    found: dict[str, str | bytes] = {}
    split = [base.text.split() for base in bases]
    for number, base in enumerate(bases):
        title = base.text.splitlines()[0][:80]
        found[f"{number}-base.html"] = page(title, base.text.splitlines())
        for kind, edit in EDITS.items():
            for share in SHARES:
                other = split[(number + chance.randrange(1, len(split))) % len(split)]
                text = edit(base.text, share, chance, other)
                found[f"{number}-{kind}-{round(100 * share)}.html"] = page(title, text.splitlines())
    return found


def true_pairs(rows: Sequence[Row], least: float) -> dict[tuple[str, str], float]:
    """Jaccard index of every pair of URLs (the lesser first) that has at least `least`, exactly."""
    sets = [shingles(row.text) for row in rows]
    holders: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(sets):
        for shingle in each:
            holders[shingle].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for pages in holders.values():
        shared.update(combinations(pages, 2))
    found = {}
    for (one, other), count in shared.items():
        likeness = count / (len(sets[one]) + len(sets[other]) - count)
        if likeness >= least:
            first, second = sorted((rows[one].url, rows[other].url))
            found[first, second] = likeness
    return found


def _name(url: str) -> str:
    return url.rpartition("/")[2].removesuffix(".html")


def judged_edits(true: dict[tuple[str, str], float], said: dict[tuple[str, str], float]) -> dict[str, Any]:
    """Recall and precision of pairs, by edit and by threshold of the estimate; `true` holds all pairs from .3 on."""
    alike = {pair for pair, likeness in true.items() if likeness >= ALIKE}
    by_edit: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for pair, likeness in true.items():
        one, other = map(_name, pair)
        if one.partition("-")[0] == other.partition("-")[0] and "base" in f"{one}{other}":
            edit = (one if other.endswith("base") else other).partition("-")[2]
            by_edit[edit].append((likeness, pair in said))
    thresholds = {}
    for threshold in THRESHOLDS:
        wanted = {pair for pair, likeness in true.items() if likeness >= threshold}
        got = {pair for pair, likeness in said.items() if likeness >= threshold}
        thresholds[str(threshold)] = {
            "pairs": len(wanted),
            "recall": round(len(wanted & got) / max(1, len(wanted)), 4),
            "precision": round(len(wanted & got) / max(1, len(got)), 4),
            # An estimate has an error, so a pair just below the threshold is no stranger.
            "precision_within_a_tenth": round(
                sum(true.get(pair, 0.0) >= threshold - 0.1 for pair in got) / max(1, len(got)), 4
            ),
        }
    errors = [abs(likeness - true[pair]) for pair, likeness in said.items() if pair in true]
    return {
        "pairs": len(alike),
        "recall": round(len(alike & said.keys()) / max(1, len(alike)), 4),
        # What only holds a passage is told, too, and is no near-duplicate.
        "precision": thresholds[str(ALIKE)]["precision"],
        "precision_within_a_tenth": thresholds[str(ALIKE)]["precision_within_a_tenth"],
        "error": round(statistics.mean(errors), 4) if errors else None,
        "by_edit": {
            edit: {
                "true_jaccard": round(statistics.mean(likeness for likeness, _ in each), 3),
                "pairs": sum(likeness >= ALIKE for likeness, _ in each),
                "found": sum(found for likeness, found in each if likeness >= ALIKE),
            }
            for edit, each in sorted(by_edit.items())
        },
        "by_threshold": thresholds,
    }


def judged_clusters(
    true: dict[tuple[str, str], float], cluster_of: dict[str, str], urls: Iterable[str]
) -> dict[str, Any]:
    """Clusters as sets of pairs: how many of the pairs that are alike they hold, and how many that are not."""
    members: dict[str, list[str]] = defaultdict(list)
    for url in sorted(set(urls) & cluster_of.keys()):
        members[cluster_of[url]].append(url)
    pairs = {pair for each in members.values() for pair in combinations(each, 2)}
    alike = {pair for pair, likeness in true.items() if likeness >= ALIKE}
    # Members of a cluster may be less like each other than each is like a third: of one text is enough.
    related = sum(
        true.get(pair, 0.0) >= ALIKE - 0.1 or _name(pair[0]).partition("-")[0] == _name(pair[1]).partition("-")[0]
        for pair in pairs
    )  # fmt: skip
    return {"clusters": sum(len(each) > 1 for each in members.values()),
            "recall": round(len(alike & pairs) / max(1, len(alike)), 4),
            "related": round(related / max(1, len(pairs)), 4),
            "largest": max((len(each) for each in members.values()), default=0)}  # fmt: skip


def edits(data: Path, number: int, seed: int) -> dict[str, Any]:
    """Crawl, ask for every page, compare with all true pairs."""
    chance = random.Random(seed)
    bases = [each for each in annotated_pages(data) if len(each.text.split()) >= LEAST_WORDS][:number]
    with tempfile.TemporaryDirectory(prefix="gossamer-similar-") as place:
        folder = Path(place) / "crawl"
        pages = edited_pages(bases, chance)
        write_site(Path(place) / "site", pages)
        with served_files(Path(place) / "site") as start:
            crawl(folder, [start])
        index(folder)
        asking = gossamer("similar", str(folder), "--json", "--limit", "1")
        # The first question makes the index.
        cpu = [checked(asking, Path(place) / "log").cpu_seconds for _ in range(2)]
        rows = [row for row in rows_of(folder) if "-" in _name(row.url)]
        assert len(rows) == len(pages), (len(rows), len(pages))
        true = true_pairs(rows, 0.3)
        started = time.monotonic()
        said: dict[tuple[str, str], float] = {}
        asked = [row.url for row in rows if _name(row.url).endswith("-base")]
        for url, found in like(folder, asked).items():
            for each in found:
                if each.url != url and "-" in _name(each.url):
                    first, second = sorted((url, each.url))
                    said[first, second] = max(each.jaccard, said.get((first, second), 0.0))
        seconds = time.monotonic() - started
        return {
            "pages": len(rows),
            # Pairs of two edits are judged in the clusters, for which no question is needed.
            **judged_edits({pair: each for pair, each in true.items() if {*pair} & {*asked}}, said),
            "clusters": judged_clusters(true, clusters(folder), (row.url for row in rows)),
            "bytes_per_page": {
                **{name: round(taken / len(rows)) for name, taken in sizes(folder).items()},
                "folder": round(size_of(folder / SKETCHES) / len(rows)),
            },
            "index_ms_per_page": round(1e3 * (cpu[0] - cpu[1]) / len(rows), 2),
            "ask_ms_per_page": round(1e3 * seconds / len(asked), 2),
            "shingle_words": SHINGLE,
        }


# Copies …


def noisy(run: Sequence[str], kind: str, chance: random.Random) -> str:
    """The same words in another dress."""
    said = list(run)
    if kind in ("case", "all"):
        said = [chance.choice((each.upper(), each.lower(), each.title())) for each in said]
    if kind in ("punctuation", "all"):
        said = [each.strip(',;:()"“”') or each for each in said]
        said = [each + chance.choice(("", "", "", "", ",", " -", "!", "…")) for each in said]
    blanks = (" ", " ", "  ", "\n", "\u00a0", " \t ") if kind in ("blanks", "all") else (" ",)
    return "".join(each + chance.choice(blanks) for each in said).strip()


NOISES = ("none", "case", "blanks", "punctuation", "all")


def _pieces(text: str, length: int) -> list[str]:
    split = html.escape(text).split(" ")
    return [" ".join(split[at : at + length]) for at in range(0, len(split), length)]


MARKUPS: dict[str, Callable[[str], str]] = {
    "paragraph": lambda text: f"<p>{html.escape(text)}</p>",
    "quotation with breaks": lambda text: f"<blockquote>{'<br>'.join(_pieces(text, 9))}</blockquote>",
    "spans": lambda text: (
        "<div><p>" + " ".join(f"<span><em>{piece}</em></span>" for piece in _pieces(text, 4)) + "</p></div>"
    ),
    "paragraphs": lambda text: "".join(f"<p>{piece}</p>" for piece in _pieces(text, 35)),
    "list": lambda text: "<ul>" + "".join(f"<li>{piece}</li>" for piece in _pieces(text, 25)) + "</ul>",
}


def planted_in(host: Annotated, passage: str) -> str | None:
    """A real page with a passage behind a paragraph of its main text; `None` where no paragraph is known to be one."""
    ends = [
        found.end()
        for found in re.finditer(r"<p[^>]*>([^<]{40,})</p>", host.html)
        if html.unescape(found[1]).strip()[:40] in host.text
    ]
    if not ends:
        return None
    at = ends[len(ends) // 2]
    return host.html[:at] + passage + host.html[at:]


class Plant(NamedTuple):
    """A passage of a document on a page."""

    document: str
    page: str
    words: list[str]
    noise: str
    markup: str


def longest_run(one: Sequence[str], other: Sequence[str]) -> int:
    """Words of the longest run that both have."""
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(len(other) - 7):
        places[tuple(other[at : at + 8])].append(at)
    best, ends = 0, {}
    for at in range(len(one) - 7):
        now = {}
        for place in places.get(tuple(one[at : at + 8]), ()):
            now[place] = ends.get(place - 1, 7) + 1
            best = max(best, now[place])
        ends = now
    return best


def copies(data: Path, seed: int) -> dict[str, Any]:
    """Plant, crawl, ask for each document; and for as many of which nothing was planted."""
    chance = random.Random(seed)
    known = [each for each in annotated_pages(data) if each.text]
    chance.shuffle(known)
    long = [each for each in known if len(words(each.text)) >= 2 * PASSAGE[1]]
    documents = long[:DOCUMENTS]
    given = {each.name for each in documents}
    pages: dict[str, str | bytes] = {}
    plants: list[Plant] = []
    waiting = iter(documents)
    with_one = next(waiting, None)
    strangers: list[Annotated] = []
    for host in (each for each in known if each.name not in given):
        html_of_it = None
        if with_one is not None:
            split = with_one.text.split()
            length = chance.randint(*PASSAGE)
            at = chance.randrange(len(split) - length + 1)
            noise, markup = chance.choice(NOISES), chance.choice(tuple(MARKUPS))
            passage = noisy(split[at : at + length], noise, chance)
            html_of_it = planted_in(host, MARKUPS[markup](passage))
        if with_one is not None and html_of_it is not None:
            run = words(" ".join(split[at : at + length]))
            plants.append(Plant(with_one.name, host.name, run, noise, markup))
            pages[f"{host.name}.html"] = html_of_it
            with_one = next(waiting, None)
        elif len(strangers) < DOCUMENTS // 4:
            strangers.append(host)
        else:
            pages[f"{host.name}.html"] = host.html
    planted = {each.document for each in plants}
    strangers += [each for each in documents if each.name not in planted]
    asked = [each for each in documents if each.name in planted] + strangers
    with tempfile.TemporaryDirectory(prefix="gossamer-copies-") as place:
        folder, given_folder = Path(place) / "crawl", Path(place) / "given"
        write_site(Path(place) / "site", pages)
        given_folder.mkdir()
        files = {}
        for number, each in enumerate(asked):
            # As people have them: some as text, some as a page.
            path = given_folder / f"{each.name}.{'txt' if number % 2 else 'html'}"
            text = each.text if number % 2 else page(each.name, each.text.splitlines())
            path.write_text(text, encoding="utf-8")
            files[str(path)] = each
        with served_files(Path(place) / "site") as start:
            crawl(folder, [start])
        index(folder)
        texts = {_name(row.url): row.text for row in rows_of(folder)}
        started = time.monotonic()
        said = {files[path].name: found for path, found in like(folder, list(files)).items()}
        seconds = time.monotonic() - started
    found = judged_copies(plants, said, texts, {each.name: each.text for each in asked})
    found["ask_ms_per_document"] = round(1e3 * seconds / len(asked), 1)
    silent = sum(not said.get(each.name) for each in strangers)
    found["strangers"] = {"documents": len(strangers), "without_a_hit": silent}
    return found


def judged_copies(
    plants: Sequence[Plant],
    said: dict[str, list[Likeness]],
    texts: dict[str, str],
    documents: dict[str, str],
) -> dict[str, Any]:
    """Found, false and right, of hits by document; `texts` is what was read by page."""
    found = right = read = 0
    by: dict[str, dict[str, list[bool]]] = {"noise": defaultdict(list), "markup": defaultdict(list)}
    missed = []
    for plant in plants:
        hits = [each for each in said.get(plant.document, ()) if _name(each.url) == plant.page]
        best = max(
            (score(passage, " ".join(plant.words)).f1 for hit in hits for passage in hit.passages),
            default=0.0,
        )
        stands = longest_run(plant.words, words(texts.get(plant.page, ""))) >= 0.9 * len(plant.words)
        found += bool(hits)
        right += best >= RIGHT
        read += stands
        by["noise"][plant.noise].append(best >= RIGHT)
        by["markup"][plant.markup].append(best >= RIGHT)
        if best < RIGHT and len(missed) < 20:
            missed.append({**plant._asdict(), "words": len(plant.words), "hit": bool(hits),
                           "passage_f1": round(best, 2), "read": stands})  # fmt: skip
    planted = {(plant.document, plant.page) for plant in plants}
    hits = false = 0
    samples = []
    for document, likes in said.items():
        for each in likes:
            hits += 1
            text = texts.get(_name(each.url), "")
            if (document, _name(each.url)) in planted or longest_run(
                words(documents[document]), words(text)
            ) >= SAME_RUN:
                continue
            if jaccard(shingles(documents[document]), shingles(text)) >= ALIKE - 0.1:
                continue
            false += 1
            samples.append({"document": document, "page": each.url, "passages": each.passages[:1]})
    number = max(1, len(plants))
    return {
        "documents": len(plants),
        "read": round(read / number, 4),
        "found": round(found / number, 4),
        "passage_right": round(right / number, 4),
        "hits": hits,
        "false": round(false / max(1, hits), 4),
        "right_by": {
            what: {name: round(statistics.mean(each), 3) for name, each in sorted(kinds.items())}
            for what, kinds in by.items()
        },
        "missed": missed,
        "false_samples": samples[:10],
    }


def main() -> int:
    """Print what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.similar", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--data", type=Path, required=True, help="folder or .tar.gz of WCXB")
    parser.add_argument("--pages", type=int, default=BASES, help="texts that are edited")
    parser.add_argument("--part", choices=["edits", "copies"], help="only this one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    found: dict[str, Any] = {}
    if arguments.part != "copies":
        found["edits"] = edits(arguments.data, arguments.pages, arguments.seed)
    if arguments.part != "edits":
        found["copies"] = copies(arguments.data, arguments.seed)
    print(json.dumps(found, ensure_ascii=False, indent=None if arguments.json else 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
