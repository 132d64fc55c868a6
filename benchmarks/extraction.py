"""Main text of pages against what readers took for it, beside other extractors in the same run.

`python -m benchmarks.extraction --data PATH [--json] [--shipped] [--pages N]`. PATH is WCXB or a part of it,
in a folder or a `.tar.gz`. Needs scikit-learn, trafilatura, resiliparse and readability-lxml.

Gossamer's pages are judged by models that have not seen them: the pages are parted by site in five folds,
and each fold is read with a model trained on the other four. `--shipped` judges by the model that comes with
the program instead, for pages that it was not trained on. Times are CPU of one process, from decoded HTML to
text.
"""

import argparse
import json
import logging
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from benchmarks.extraction_pages import Annotated, annotated_pages, fold_of, score
from benchmarks.extraction_training import lessons_of, train
from gossamer.documents.gathered import Gathered
from gossamer.documents.limits import Budget, ReadingLimits
from gossamer.documents.markup.block_model import Predictor, block_model
from gossamer.documents.markup.main_text import main_text
from gossamer.documents.markup.nesting import fits_a_tree
from gossamer.documents.markup.page import page_facts
from gossamer.documents.markup.visible_only import visible_only

FOLDS = 5
SAMPLES = 2_000
Reader = Callable[[Annotated], str]


def _gossamer(predictor_of: Callable[[Annotated], Predictor]) -> Reader:
    """As `page.read_page` reads the main text, with a model of our choice."""

    def read(page: Annotated) -> str:
        content = page.html.encode("utf-8", "replace")
        if not fits_a_tree(content):
            return visible_only(content, Gathered(Budget(ReadingLimits()), page.url)).text.text
        tree = LexborHTMLParser(content)
        title, facts = page_facts(tree, page.url)
        return main_text(tree, title, facts, predictor_of(page)).text

    return read


def _trafilatura(page: Annotated) -> str:
    from trafilatura import extract

    return extract(page.html) or ""


def _resiliparse(page: Annotated) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(extract_plain_text(page.html, main_content=True))


def _readability(page: Annotated) -> str:
    from readability import Document

    return LexborHTMLParser(Document(page.html).summary()).text(separator=" ")


def _held_out(pages: list[Annotated]) -> Callable[[Annotated], Predictor]:
    lessons, names = lessons_of(pages)
    folds = {page.name: fold_of(page, FOLDS) for page in pages}
    models = [
        train(
            [lesson for name, lesson in lessons.items() if folds[name] != fold], names, "held-out"
        ).prepared()
        for fold in range(FOLDS)
    ]
    return lambda page: models[folds[page.name]]


def _interval(values: np.ndarray) -> list[float]:
    """95% of the means of resampled pages."""
    random = np.random.default_rng(1)
    means = [values[random.integers(0, len(values), len(values))].mean() for _ in range(SAMPLES)]
    return [round(float(each), 4) for each in np.percentile(means, [2.5, 97.5])]


def _judge(read: Reader, pages: list[Annotated]) -> tuple[dict[str, object], np.ndarray]:
    read(pages[0])
    scores, times = [], []
    for page in pages:
        started = time.process_time()
        try:
            text = read(page)
        except Exception as error:  # noqa: BLE001 (a reader that fails has found nothing)
            print(f"{page.name}: {type(error).__name__}: {error}")
            text = ""
        times.append(time.process_time() - started)
        scores.append(score(text, page.text))
    table = np.array(scores)
    kinds = np.array([page.kind for page in pages])
    f1 = table[:, 2]
    milliseconds = 1e3 * np.array(times)
    return {
        "f1": round(float(f1.mean()), 4),
        "f1_interval": _interval(f1),
        "precision": round(float(table[:, 0].mean()), 4),
        "recall": round(float(table[:, 1].mean()), 4),
        "ms_per_page": round(float(milliseconds.mean()), 2),
        "ms_p99": round(float(np.percentile(milliseconds, 99)), 1),
        "by_type": {
            str(kind): {
                "pages": int((kinds == kind).sum()),
                "f1": round(float(f1[kinds == kind].mean()), 4),
                "f1_interval": _interval(f1[kinds == kind]),
                "ms_per_page": round(float(milliseconds[kinds == kind].mean()), 2),
            }
            for kind in sorted(set(kinds))
        },
    }, f1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder or .tar.gz of WCXB")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--shipped", action="store_true", help="judge the model that comes with the program")
    parser.add_argument("--pages", type=int, help="only so many, for a first look")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    pages = annotated_pages(options.data)[: options.pages]
    predictor_of = (lambda _: block_model()) if options.shipped else _held_out(pages)
    readers: dict[str, Reader] = {
        "gossamer": _gossamer(predictor_of),
        f"trafilatura {version('trafilatura')}": _trafilatura,
        f"resiliparse {version('resiliparse')}": _resiliparse,
        f"readability-lxml {version('readability-lxml')}": _readability,
    }
    results, f1 = {}, {}
    for name, read in readers.items():
        results[name], f1[name] = _judge(read, pages)
    gained = f1["gossamer"] - f1[f"trafilatura {version('trafilatura')}"]
    own = results["gossamer"]
    theirs = results[f"trafilatura {version('trafilatura')}"]
    found = {
        **own,
        "pages": len(pages),
        "model": "shipped" if options.shipped else f"held out, {FOLDS} folds by site",
        "model_version": block_model().version,
        "gain_over_trafilatura": round(float(gained.mean()), 4),
        "gain_interval": _interval(gained),
        "time_of_trafilatura": round(own["ms_per_page"] / theirs["ms_per_page"], 3),
        "others": {name: result for name, result in results.items() if name != "gossamer"},
    }
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for name, result in results.items():
        print(f"{name:28} F1 {result['f1']} {result['f1_interval']} {result['ms_per_page']} ms")
        print("   ", {kind: each["f1"] for kind, each in result["by_type"].items()})
    print(
        f"gain over trafilatura {found['gain_over_trafilatura']} {found['gain_interval']}, "
        f"time {found['time_of_trafilatura']}"
    )


if __name__ == "__main__":
    main()
