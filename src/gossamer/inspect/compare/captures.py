"""Compares two captures of one page."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gossamer.inspect.archive.lookup import Indexed, nearest_in_time, read_back
from gossamer.inspect.compare.learned import CAPTURES, learned_from
from gossamer.inspect.compare.text import READ, Reading, pieces_in
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import ConfigError
from gossamer.policy.change.change import changed
from gossamer.policy.change.passages import CONTEXT, MOST_ROWS, Passage, passages_of
from gossamer.policy.change.volatile import Volatile

__all__ = ["Asked", "Comparison", "bounded", "compare", "compare_pair", "with_content"]


class Comparison(msgspec.Struct, frozen=True):
    """What became of a page between two captures.

    Attributes:
        before, after: which.
        changed: whether it says something else.
        share: of the words of both that differ, 0 to 1.
        removed, added: words.
        ignored: more differs, but does so at each visit.
        passages: what differs, with its context.
        cut: there were more than `MOST_ROWS` rows.
    """

    before: Indexed
    after: Indexed
    changed: bool
    share: float
    removed: int
    added: int
    ignored: bool
    passages: Sequence[Passage]
    cut: bool = False


def with_content(captures: Sequence[Indexed]) -> list[Indexed]:
    """Those that can be compared: of a document, or of its failure to be there; not redirects and the like that
    bring none."""
    return [one for one in captures if one.status != 304 and not 300 <= one.status < 400]


class Asked(NamedTuple):
    """Which captures, by times as `nearest_in_time` takes them, empty if not said; whether what differs at each visit
    is shown, too; rows around what differs."""

    since: str = ""
    until: str = ""
    everything: bool = False
    context: int = CONTEXT


LATEST = Asked()


def compare(
    inspection: Inspection, captures: Sequence[Indexed], asked: Asked, reading: Reading = READ
) -> Comparison:
    """Compare two captures; without a first time the last of the earlier ones, of a few, that says something else.

    Args:
        inspection: of the crawl.
        captures: at least two of a page, the earliest first.
        asked: which.
        reading: how captures are read.

    Raises:
        ConfigError: the times are none, or lead to the same capture.
        StorageError: the archive is damaged there.
        UnreadableError: one of them is no text.
    """
    after = nearest_in_time([*captures], asked.until)
    if asked.since:
        before = nearest_in_time([*captures], asked.since)
        if before == after:
            raise ConfigError(
                f"both times lead to the capture of {after.time}. Choose others of those it lists."
            )
        if (after.time, after.offset) < (before.time, before.offset):
            before, after = after, before
        return compare_pair(inspection, captures, (before, after), asked, reading)
    place = captures.index(after)
    if not place:
        return compare_pair(inspection, captures, (captures[0], captures[1]), asked, reading)
    others = [one for one in captures[:place] if one.digest != after.digest][-CAPTURES:] or [
        captures[place - 1]
    ]
    nearest: Comparison | None = None
    for before in reversed(others):
        found = compare_pair(inspection, captures, (before, after), asked, reading)
        if found.changed:
            return found
        nearest = nearest or found
    assert nearest is not None
    return nearest


def compare_pair(
    inspection: Inspection,
    captures: Sequence[Indexed],
    pair: tuple[Indexed, Indexed],
    asked: Asked = LATEST,
    reading: Reading = READ,
) -> Comparison:
    """Compare two captures of those of a page, the earlier first; arguments as those of `compare`.

    Raises:
        StorageError: the archive is damaged there.
        UnreadableError: one of them is no text.
    """
    before, after = (pieces_in(inspection, read_back(inspection, one), reading) for one in pair)
    change = whole = changed(before, after)
    volatile, counted = Volatile(), None
    if whole:
        learned = learned_from(inspection, captures, pair, reading)
        counted = changed(before, after, learned)
        if not asked.everything:
            change, volatile, counted = counted, learned, None
    passages, cut = bounded(passages_of(before, after, change, volatile, asked.context, counted))
    ignored = len(whole.hunks) > len(change.hunks) or whole.added > change.added
    return Comparison(
        *pair, bool(change), round(change.share, 4), change.removed, change.added, ignored, passages, cut
    )


def bounded(passages: list[Passage], most: int = MOST_ROWS) -> tuple[list[Passage], bool]:
    """The first of them, of so many rows in all; whether there were more."""
    left = most
    kept: list[Passage] = []
    for passage in passages:
        if left <= 0:
            return kept, True
        rows = passage.rows[:left]
        left -= len(passage.rows)
        kept.append(Passage(passage.at, rows))
    return kept, left < 0
