"""Train the model that chooses the main text of pages, anew.

`python -m benchmarks.extraction_training --data PATH [--out FILE]`. Needs scikit-learn. The same data give
the same model. PATH is as for `benchmarks.extraction`.
"""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from benchmarks.extraction_pages import Annotated, annotated_pages
from gossamer.documents.markup import block_model
from gossamer.documents.markup.block_features import features
from gossamer.documents.markup.block_model import BlockModel, Tree
from gossamer.documents.markup.blocks import normal_words, segments_of
from gossamer.documents.markup.main_text import MOST_NODES
from gossamer.documents.markup.page import page_facts

BLOCKS_A_PAGE = 100
"""Blocks that a page trains with: pages of thousands would teach only themselves."""
TREES = 80
DEEPEST = 6
LEAVES = 15
_SEED = 1


class Lesson(NamedTuple):
    """A page's blocks with how much of each belongs to the main text, and their weight."""

    table: NDArray[np.float32]
    share: NDArray[np.float64]
    weight: NDArray[np.float64]


def lesson_of(page: Annotated) -> tuple[Lesson, list[str]] | None:
    """What a page teaches, and the names of the features; nothing if it has no blocks."""
    tree = LexborHTMLParser(page.html)
    segments = segments_of(tree, MOST_NODES)
    if not segments.blocks:
        return None
    title, facts = page_facts(tree, page.url)
    table, names = features(segments, title, facts)
    share = _shares([normal_words(block.text) for block in segments.blocks], page.text)
    return Lesson(table, share, np.array([block.words for block in segments.blocks], float)), names


def _shares(blocks: list[list[str]], text: str) -> NDArray[np.float64]:
    """How much of each block stands in the main text: by triples of words, of short ones as a line."""
    words = normal_words(text)
    joined = f" {' '.join(words)} "
    triples = set(zip(words, words[1:], words[2:], strict=False))
    lines = {" ".join(normal_words(line)) for line in text.split("\n")}
    found = []
    for block in blocks:
        line = " ".join(block)
        if len(block) < 3:
            found.append(1.0 if line in lines else 0.5 if f" {line} " in joined else 0.0)
        else:
            own = list(zip(block, block[1:], block[2:], strict=False))
            found.append(sum(each in triples for each in own) / len(own))
    return np.array(found)


def train(lessons: list[Lesson], names: list[str], version: str) -> BlockModel:
    """A model of the share, by gradient-boosted trees over a sample of each page's blocks."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    random = np.random.default_rng(_SEED)
    tables, shares, weights = [], [], []
    for lesson in lessons:
        words = lesson.weight
        table, share, weight = lesson.table, lesson.share, words / max(50.0, words.sum())
        if len(words) > BLOCKS_A_PAGE:
            chance = np.sqrt(words) / np.sqrt(words).sum()
            chosen = random.choice(len(words), BLOCKS_A_PAGE, replace=False, p=chance)
            table, share, weight = table[chosen], share[chosen], words[chosen] / chance[chosen]
            weight = weight / weight.sum()
        tables.append(table)
        shares.append(share)
        weights.append(weight)
    weight = np.concatenate(weights)
    fitted = HistGradientBoostingRegressor(
        max_iter=TREES,
        learning_rate=0.1,
        max_leaf_nodes=LEAVES,
        max_depth=DEEPEST,
        min_samples_leaf=20,
        l2_regularization=5.0,
        max_features=0.3,
        max_bins=63,
        random_state=_SEED,
    ).fit(np.vstack(tables), np.concatenate(shares), sample_weight=weight * len(weight) / weight.sum())
    trees = []
    for [predictor] in fitted._predictors:
        nodes = predictor.nodes
        trees.append(
            Tree(
                feature=[
                    -1 if leaf else int(f)
                    for f, leaf in zip(nodes["feature_idx"], nodes["is_leaf"], strict=True)
                ],
                threshold=[float(f"{t:.6g}") if np.isfinite(t) else 0.0 for t in nodes["num_threshold"]],
                left=[int(n) for n in nodes["left"]],
                right=[int(n) for n in nodes["right"]],
                value=[
                    float(f"{v:.5g}") if leaf else 0.0
                    for v, leaf in zip(nodes["value"], nodes["is_leaf"], strict=True)
                ],
            )
        )
    return BlockModel(version, names, round(float(np.ravel(fitted._baseline_prediction)[0]), 6), trees)


def lessons_of(pages: list[Annotated]) -> tuple[dict[str, Lesson], list[str]]:
    """What all pages teach, by their names, and the names of the features."""
    lessons, names = {}, []
    for page in pages:
        if found := lesson_of(page):
            lessons[page.name], names = found
    return lessons, names


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path(block_model.__file__).with_name("block_model.json"))
    parser.add_argument("--name", default="1", help="version of the model")
    options = parser.parse_args()
    lessons, names = lessons_of(annotated_pages(options.data))
    model = train(list(lessons.values()), names, options.name)
    options.out.write_bytes(re.sub(rb"(\]\]),", rb"\1,\n", msgspec.json.encode(model)) + b"\n")
    print(f"{len(lessons)} pages, {len(model.trees)} trees, {len(names)} features: {options.out}")


if __name__ == "__main__":
    main()
