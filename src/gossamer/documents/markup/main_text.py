"""The main text of a page: the blocks that a model of annotated pages would choose.

Which sort of page it is, the model learns from its address and its data (`page_type`). Other extractors as
advisers were tried and taught it nothing (docs/decisions/0023-main-text.md).
"""

import re

import msgspec
import numpy as np
from selectolax.lexbor import LexborHTMLParser

from gossamer.documents.markup.block_features import features
from gossamer.documents.markup.block_model import Predictor, block_model, most_likely
from gossamer.documents.markup.blocks import Block, Segments, segments_of

__all__ = [
    "EXTRACTOR",
    "MOST_NODES",
    "MainText",
    "extractor_version",
    "lines_of",
    "main_text",
    "without_repetitions",
]

EXTRACTOR = "blocks"
MOST_NODES = 400_000
MOST_BLOCKS = 20_000
"""Blocks of a page that are judged; of further ones nothing is kept."""
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")
_LONG = 20


class MainText(msgspec.Struct, frozen=True):
    """What was chosen.

    Attributes:
        text: block by block, one line or more each.
        expected: the F1 that the model expects of it.
        segments: the whole page.
        kept: of its blocks.
        cut: there were more nodes or blocks than are looked at.
    """

    text: str
    expected: float
    segments: Segments
    kept: list[Block]
    cut: bool


def extractor_version() -> str:
    """Of the model that chooses."""
    return block_model().version


def main_text(
    tree: LexborHTMLParser, title: str, page: dict[str, float], model: Predictor | None = None
) -> MainText:
    """Choose the main text of a page that `fits_a_tree`.

    Args:
        tree: of the page, as parsed.
        title: of the page.
        page: what `page_features` says.
        model: judges the blocks; without one that which comes with the program.
    """
    segments = segments_of(tree, MOST_NODES)
    cut = len(segments.blocks) > MOST_BLOCKS
    if cut:
        segments = msgspec.structs.replace(segments, blocks=segments.blocks[:MOST_BLOCKS])
    blocks = segments.blocks
    if not blocks:
        return MainText("", 0.0, segments, [], cut)
    model = model or block_model()
    table, names = features(segments, title, page)
    assert names == model.names
    words = np.array([block.words for block in blocks], float)
    chosen, expected = most_likely(model.predict(table), words)
    kept, lines = without_repetitions([block for block, keep in zip(blocks, chosen, strict=True) if keep])
    return MainText("\n".join(lines), expected, segments, kept, cut)


def without_repetitions(blocks: list[Block]) -> tuple[list[Block], list[str]]:
    """Blocks and their lines, each once: a page for two screen sizes has all its text twice."""
    seen: set[str] = set()
    kept, lines = [], []
    for block, plain in zip(blocks, lines_of(blocks), strict=True):
        key = " ".join(plain.split())
        if len(key) > _LONG and key in seen:
            continue
        seen.add(key)
        kept.append(block)
        lines.append(plain)
    return kept, lines


def lines_of(blocks: list[Block]) -> list[str]:
    """The text of each block with its white space as it is shown."""
    return [block.text.strip("\n") if block.tag == "pre" else _line(block.text) for block in blocks]


def _line(text: str) -> str:
    return _LINES.sub("\n", _BLANKS.sub(" ", text.strip()))
