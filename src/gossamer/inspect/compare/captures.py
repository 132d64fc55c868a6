"""Compares two captures of one page."""

from collections.abc import Sequence

import msgspec

from gossamer.inspect.archive.lookup import Indexed, nearest_in_time, read_back
from gossamer.inspect.compare.learned import learned_from
from gossamer.inspect.compare.text import DocumentText, pieces_in
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import ConfigError
from gossamer.policy.change.change import changed
from gossamer.policy.change.passages import CONTEXT, Passage, passages_of
from gossamer.policy.change.volatile import Volatile

__all__ = ["MOST_ROWS", "Comparison", "choose", "compare", "with_content"]

MOST_ROWS = 2_000


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


def choose(captures: Sequence[Indexed], since: str, until: str) -> tuple[Indexed, Indexed]:
    """Which captures to compare: without times the last one and the one before it that differs from it.

    Args:
        captures: at least two, the earliest first.
        since, until: times as `nearest_in_time` takes them; empty: not said.

    Raises:
        ConfigError: they are none, or lead to the same capture.
    """
    after = nearest_in_time([*captures], until)
    place = captures.index(after)
    if since:
        before = nearest_in_time([*captures], since)
    else:
        earlier = captures[:place] or captures[place + 1 :]
        before = next((one for one in reversed(earlier) if one.digest != after.digest), earlier[-1])
    if before == after:
        raise ConfigError(f"both times lead to the capture of {after.time}. Choose others of those it lists.")
    return (before, after) if (before.time, before.offset) < (after.time, after.offset) else (after, before)


def compare(
    inspection: Inspection,
    captures: Sequence[Indexed],
    pair: tuple[Indexed, Indexed],
    *,
    everything: bool = False,
    text_of: DocumentText | None = None,
    context: int = CONTEXT,
) -> Comparison:
    """Compare two captures by what they say.

    Args:
        inspection: of the crawl.
        captures: all of the page, from which is learned what differs at each visit.
        pair: two of them, the earlier first.
        everything: show that, too.
        text_of: as `pieces_in` takes it.
        context: rows around what differs.

    Raises:
        StorageError: the archive is damaged there.
        UnreadableError: one of them is no text.
    """
    before, after = (pieces_in(inspection, read_back(inspection, one), text_of) for one in pair)
    change = whole = changed(before, after)
    volatile = Volatile()
    if whole and not everything:
        volatile = learned_from(inspection, captures, pair, text_of)
        change = changed(before, after, volatile)
    passages, cut = _bounded(passages_of(before, after, change, volatile, context))
    ignored = len(whole.hunks) > len(change.hunks) or whole.added > change.added
    return Comparison(
        *pair, bool(change), round(change.share, 4), change.removed, change.added, ignored, passages, cut
    )


def _bounded(passages: list[Passage]) -> tuple[list[Passage], bool]:
    left = MOST_ROWS
    kept: list[Passage] = []
    for passage in passages:
        if left <= 0:
            return kept, True
        rows = passage.rows[:left]
        left -= len(passage.rows)
        kept.append(Passage(passage.at, rows))
    return kept, left < 0
