"""How likely each block of a page belongs to its main text: boosted trees, learned from annotated pages.

The trees were trained on the 499 pages of WCXB's development split that the benchmark `extraction` is run
on (Foley 2026, CC-BY-4.0; `benchmarks/extraction_training.py` makes `block_model.json` anew); figures of
quality are of folds that a model has not seen.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.documents.markup.block_features import Table

__all__ = ["BlockModel", "Predictor", "Tree", "block_model", "most_likely"]

_FILE = Path(__file__).with_name("block_model.json")


class Tree(msgspec.Struct, frozen=True, array_like=True):
    """A regression tree; node 0 is its root.

    Attributes:
        feature: column that a node looks at; -1 for a leaf.
        threshold: what is at most this goes left.
        left, right: nodes to go on at; of a leaf itself.
        value: of a leaf, else 0.
    """

    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    value: list[float]


class BlockModel(msgspec.Struct, frozen=True):
    """Trees whose values are added.

    Attributes:
        version: of the training; told with every text that the model made.
        names: of the columns, in the order that the trees know.
        base: value before the first tree.
        trees: in the order of training.
    """

    version: str
    names: list[str]
    base: float
    trees: list[Tree]

    @property
    def depth(self) -> int:
        """Steps from a root to the furthest leaf."""
        return max(_depth(tree) for tree in self.trees)

    def prepared(self) -> "Predictor":
        """The model as arrays, for many predictions."""
        return Predictor(self)


def _depth(tree: Tree) -> int:
    level = [0]
    steps = 0
    while inner := [node for node in level if tree.feature[node] >= 0]:
        level = [child for node in inner for child in (tree.left[node], tree.right[node])]
        steps += 1
    return steps


class Predictor:
    """Follows all trees at once, for all blocks of a page at once.

    Attributes:
        version: of the model.
        names: of its columns.
    """

    def __init__(self, model: BlockModel) -> None:
        self.version = model.version
        self.names = model.names
        longest = max(len(tree.feature) for tree in model.trees)

        def table(name: str, kind: type) -> NDArray[Any]:
            rows = [getattr(tree, name) for tree in model.trees]
            return np.array([[*row, *[0] * (longest - len(row))] for row in rows], kind)

        # One flat array; a node's children, right and left in turn, are told by their places in it, and a leaf leads
        # to itself.
        offsets = (np.arange(len(model.trees)) * longest)[:, None]
        feature = table("feature", np.int64)
        places = np.arange(longest)[None, :]
        self._depth = model.depth
        self._feature = np.maximum(feature, 0).ravel()
        self._threshold = table("threshold", np.float32).ravel()
        left = (np.where(feature < 0, places, table("left", np.int64)) + offsets).ravel()
        right = (np.where(feature < 0, places, table("right", np.int64)) + offsets).ravel()
        self._children = np.column_stack([right, left]).ravel()
        self._value = table("value", np.float64).ravel()
        self._roots = offsets.ravel()
        self._base = model.base

    def predict(self, table: Table) -> NDArray[np.float64]:
        """A probability for each row."""
        size, width = table.shape
        cells, rows = table.ravel(), (np.arange(size) * width)[:, None]
        at = np.broadcast_to(self._roots, (size, len(self._roots)))
        for _ in range(self._depth):
            # Flat look-ups take half as long as those by row and column.
            smaller = cells.take(rows + self._feature.take(at)) <= self._threshold.take(at)
            at = self._children.take(2 * at + smaller)
        sums: NDArray[np.float64] = np.clip(self._value.take(at).sum(axis=1) + self._base, 0.0, 1.0)
        return sums


@lru_cache(maxsize=1)
def block_model() -> Predictor:
    """The model that comes with the program."""
    return msgspec.json.decode(_FILE.read_bytes(), type=BlockModel).prepared()


def most_likely(
    probability: NDArray[np.float64], words: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], float]:
    """The choice of blocks that promises the highest F1, and that F1.

    What is expected to be right over what is taken and what should be is highest for a prefix of the blocks
    by their probability (Lewis 1995), so a page of doubtful blocks gets a lower threshold than a clear one.
    """
    order = np.argsort(-probability, kind="stable")
    right = np.cumsum((probability * words)[order])
    taken = np.cumsum(words[order])
    expected = 2 * right / np.maximum(taken + right[-1], 1e-9)
    best = int(expected.argmax())
    return probability >= probability[order[best]], float(expected[best])
