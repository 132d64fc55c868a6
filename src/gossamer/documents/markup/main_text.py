"""The main text of a page: the blocks that a model of annotated pages would choose.

Which sort of page it is, the model learns from its address and its data (`page_type`). Other extractors as
advisers were tried and taught it nothing (docs/decisions/0023-main-text.md).
"""

from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray
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
    "without_copies",
]

EXTRACTOR = "blocks"
MOST_NODES = 400_000
MOST_BLOCKS = 20_000
"""Blocks of a page that are judged; of further ones nothing is kept."""
_LONG = 20
"""Characters from which a line counts as said before."""
_COPIED = 3
"""Such lines in a row that make a copy."""
_DOUBT = 0.3
"""Of the least probability that was chosen: what is less likely is left out even between chosen blocks."""
_LONGEST_HOLE = 8
_GIANT = 0.8
"""Share of the words chosen from which on one block decides the F1 alone, whatever becomes of the others."""
_NOWHERE = -2


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
    cut = segments.cut or len(segments.blocks) > MOST_BLOCKS
    if cut:
        segments = msgspec.structs.replace(segments, blocks=segments.blocks[:MOST_BLOCKS])
    blocks = segments.blocks
    if not blocks:
        return MainText("", 0.0, segments, [], cut)
    model = model or block_model()
    table, names = features(segments, title, page)
    assert names == model.names
    words = np.array([block.words for block in blocks], float)
    probability = model.predict(table)
    chosen, expected = most_likely(probability, words)
    chosen = _without_holes(segments, chosen, probability)
    if chosen.any() and words[chosen].max() >= _GIANT * words[chosen].sum():
        chosen = _with_ends(segments, chosen, probability)
    kept, lines = without_copies([block for block, keep in zip(blocks, chosen, strict=True) if keep])
    return MainText("\n".join(lines), expected, segments, kept, cut)


def _without_holes(
    segments: Segments, chosen: NDArray[np.bool_], probability: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """The choice with what stands between two chosen blocks of one container, and in it.

    Each block is judged by itself, and a paragraph lost from the middle of a text is a worse mistake than one too
    many, though the F1 of annotated pages hardly tells them apart (0023).
    """
    blocks, filled = segments.blocks, chosen.copy()
    places = np.flatnonzero(chosen)
    if not len(places):
        return chosen
    least = _DOUBT * probability[chosen].min()
    for before, after in pairwise(places):
        container = _container(segments, blocks[before])
        if not 1 < after - before <= _LONGEST_HOLE + 1 or _container(segments, blocks[after]) != container:
            continue
        for place in range(before + 1, after):
            block = blocks[place]
            inside = _container(segments, block) == container and not block.hidden
            filled[place] = inside and probability[place] >= least
    return filled


def _with_ends(
    segments: Segments, chosen: NDArray[np.bool_], probability: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """The choice with what stands before and behind it in the same container, as in a hole: beside a giant block the
    F1 tells no more of a short one than that it is short."""
    blocks, filled = segments.blocks, chosen.copy()
    places = np.flatnonzero(chosen)
    least = _DOUBT * probability[chosen].min()
    for end, step in ((places[0], -1), (places[-1], 1)):
        container = _container(segments, blocks[end])
        for place in range(end + step, end + step * (_LONGEST_HOLE + 1), step):
            if not 0 <= place < len(blocks) or _container(segments, blocks[place]) != container:
                break
            if blocks[place].hidden or probability[place] < least:
                break
            filled[place] = True
    return filled


def _container(segments: Segments, block: Block) -> int:
    """What holds the element that a block stands in."""
    return segments.elements[block.element].parent if block.element >= 0 else _NOWHERE


def without_copies(blocks: list[Block]) -> tuple[list[Block], list[str]]:
    """Blocks and their lines, without runs of several that stood in the same order before.

    A page for two screen sizes has all its text twice; a refrain, or a sentence in two places, is text.
    """
    lines = lines_of(blocks)
    first: dict[str, int] = {}
    earlier = []
    for place, (block, line) in enumerate(zip(blocks, lines, strict=True)):
        several = block.tag == "pre" or "\n" in line
        key = " ".join(line.split()) if several and len(line) > _LONG else line
        earlier.append(first.setdefault(key, place) if len(key) > _LONG else _NOWHERE)
    copies: set[int] = set()
    run: list[int] = []
    for place, known in enumerate([*earlier, len(lines)]):
        if known == _NOWHERE:
            continue  # a short line belongs to the run around it
        if known < place and (not run or known > earlier[run[-1]]):
            run.append(place)
            continue
        if len(run) >= _COPIED:
            copies.update(run)
        run = [place] if known < place < len(lines) else []
    kept = [place for place in range(len(blocks)) if place not in copies]
    return [blocks[place] for place in kept], [lines[place] for place in kept]


def lines_of(blocks: list[Block]) -> list[str]:
    """The text of each block with its white space as it is shown."""
    return [block.text.strip("\n") if block.tag == "pre" else _line(block.text) for block in blocks]


def _line(text: str) -> str:
    if "\n" not in text:
        return " ".join(text.split())
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
