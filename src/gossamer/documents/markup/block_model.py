"""How likely each block of a page belongs to its main text: boosted trees, learned from annotated pages.

The trees were trained on the 499 pages of WCXB's development split that the benchmark `extraction` is run
on (Foley 2026, CC-BY-4.0; `benchmarks/extraction_training.py` makes `block_model.json` anew); figures of
quality are of folds that a model has not seen.
"""

from functools import lru_cache
from pathlib import Path

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
        trees: each as long as the longest, so that all are followed at once.
    """

    version: str
    names: list[str]
    base: float
    trees: list[Tree]

    def prepared(self) -> "Predictor":
        """The model as arrays, for many predictions."""
        return Predictor(self)


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

        def table(name: str, fill: float, kind: type) -> NDArray[np.generic]:
            rows = [getattr(tree, name) for tree in model.trees]
            return np.array([[*row, *[fill] * (longest - len(row))] for row in rows], kind)

        # One flat array; the children of a node are told by their place in it.
        offsets = (np.arange(len(model.trees)) * longest)[:, None]
        features = table("feature", -1, np.int64)
        self._leaf = (features < 0).ravel()
        self._feature = np.maximum(features, 0).ravel()  # type: ignore[type-var]
        self._threshold = table("threshold", 0, np.float32).ravel()
        self._left = (table("left", 0, np.int64) + offsets).ravel()  # type: ignore[operator]
        self._right = (table("right", 0, np.int64) + offsets).ravel()  # type: ignore[operator]
        self._value = table("value", 0, np.float64).ravel()
        self._roots = offsets.ravel()
        self._base = model.base

    def predict(self, table: Table) -> NDArray[np.float64]:
        """A probability for each row."""
        rows = np.arange(len(table))[:, None]
        at = np.broadcast_to(self._roots, (len(table), len(self._roots)))
        while not self._leaf[at].all():
            smaller = table[rows, self._feature[at]] <= self._threshold[at]
            at = np.where(smaller, self._left[at], self._right[at])
        sums: NDArray[np.float64] = self._value[at].sum(axis=1) + self._base  # type: ignore[assignment]
        return np.clip(sums, 0.0, 1.0)


@lru_cache(maxsize=1)
def block_model() -> Predictor:
    """The model that comes with the program."""
    return msgspec.json.decode(_FILE.read_bytes(), type=BlockModel).prepared()


def most_likely(probability: NDArray[np.float64], words: NDArray[np.float64]) -> tuple[NDArray[np.bool_], float]:
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
