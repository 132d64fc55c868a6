"""A change as people read it: which rows are shown, which two are one, and which of its words differ."""

import msgspec
import pytest

from gossamer.policy.change.alignment import Hunk
from gossamer.policy.change.change import changed
from gossamer.policy.change.passages import passages_of
from gossamer.policy.change.volatile import Volatile
from gossamer.policy.watching.difference import LONGEST_LINE, MOST_LINES, MOST_PLACES, Line, difference, plain

ROWS = [
    f"row {word} here"
    for word in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
]
SIGNS = {"same": "=", "added": "+", "removed": "-", "changed": "~"}


def told(
    before: list[str], after: list[str], context: int = 1, volatile: Volatile | None = None
) -> list[str]:
    """Each passage as `at: rows`; a row is its sign and its words, those that differ in brackets."""
    change = changed(before, after, volatile or Volatile())
    return [
        f"{one.at}: " + " | ".join(
            SIGNS[row.kind] + "".join(f"[{span.text}]" if span.differs else span.text for span in row.new or row.old)
            for row in one.rows
        )
        for one in passages_of(before, after, change, volatile or Volatile(), context)
    ]  # fmt: skip


def put(*changes: tuple[int, list[str]]) -> list[str]:
    """The rows with others in the places of some."""
    after: list[list[str]] = [[row] for row in ROWS]
    for at, rows in changes:
        after[at] = rows
    return [row for rows in after for row in rows]


@pytest.mark.parametrize(
    ("after", "context", "passages"),
    [
        (put(), 1, []),
        (put((0, ["row 1st here"])), 1, ["1: ~row[ 1st] here | =row two here"]),
        (put((9, ["row 10th here"])), 1, ["9: =row nine here | ~row[ 10th] here"]),
        (put((4, [])), 1, ["4: =row four here | -[row five here] | =row six here"]),
        (put((4, [])), 0, ["5: -[row five here]"]),
        (put((4, ["row five here", "and news"])), 1, ["5: =row five here | +[and news] | =row six here"]),
        # What is near is one passage, what is not is two; nothing is told twice.
        (
            put((2, ["quite another"]), (4, ["something else"])),
            1,
            ["2: =row two here | -[row three here] | +[quite another] | =row four here | -[row five here]"
             " | +[something else] | =row six here"],
        ),
        (
            put((2, ["quite another"]), (5, ["something else"])),
            1,
            ["2: =row two here | -[row three here] | +[quite another] | =row four here | =row five here"
             " | -[row six here] | +[something else] | =row seven here"],
        ),
        (
            put((2, ["quite another"]), (6, ["something else"])),
            1,
            ["2: =row two here | -[row three here] | +[quite another] | =row four here",
             "6: =row six here | -[row seven here] | +[something else] | =row eight here"],
        ),
        (
            put((2, ["quite another"]), (4, ["something else"])),
            0,
            ["3: -[row three here] | +[quite another]", "5: -[row five here] | +[something else]"],
        ),
    ],
)  # fmt: skip
def test_what_is_shown_of_a_change(after: list[str], context: int, passages: list[str]) -> None:
    assert told(ROWS, after, context) == passages


@pytest.mark.parametrize(("every", "shown"), [(2, [21]), (9, [3, 4, 4, 4, 4, 4]), (100, [3])])
def test_no_more_is_looked_for_when_so_many_rows_are_shown(
    every: int, shown: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row once, whether passages are joined or not."""
    monkeypatch.setattr("gossamer.policy.change.passages.MOST_ROWS", 20)
    before = [f"row {chr(97 + at // 10)}{chr(97 + at % 10)} here" for at in range(100)]
    after = [
        row if at % every else row.replace("row", "quite another").replace("here", "")
        for at, row in enumerate(before)
    ]
    found = passages_of(before, after, changed(before, after, Volatile()), Volatile(), 1)
    assert [len(one.rows) for one in found] == shown


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        (["a b c d e"], ["a b x y z"], "~a b[ x y z]"),  # two fifths of the words stay
        (["a b c d e"], ["a x y z w"], "-[a b c d e] | +[a x y z w]"),
        (["a b"], ["a b c d e"], "~a b[ c d e]"),
        (["a b"], ["a b c d e f"], "-[a b] | +[a b c d e f]"),
        (["a b c", "d e f"], ["g h i", "d e x"], "-[a b c] | +[g h i] | ~d e[ x]"),
        (["a b c", "d e f"], ["d e x", "a b y"], "+[d e x] | ~a b[ y] | -[d e f]"),
        (["a b c", "d e f"], ["a b x", "d e y"], "~a b[ x] | ~d e[ y]"),
        (["a b c"], ["a b x", "a b y"], "~a b[ x] | +[a b y]"),
    ],
)
def test_two_rows_are_one_if_much_of_it_stays(old: list[str], new: list[str], rows: str) -> None:
    assert told(["top", *old, "end"], ["top", *new, "end"], 0) == [f"2: {rows}"]


def test_a_row_that_changed_has_both_sides() -> None:
    change = changed(["a b c d e"], ["a b x d e"])
    [passage] = passages_of(["a b c d e"], ["a b x d e"], change, Volatile(), 0)
    [row] = passage.rows
    sides = [[(span.text, span.differs) for span in side] for side in (row.old, row.new)]
    assert sides == [
        [("a b", False), (" c", True), (" d e", False)],
        [("a b", False), (" x", True), (" d e", False)],
    ]


def test_what_is_ignored_is_no_context() -> None:
    ignored = Volatile()
    for word in ("sun", "rain", "snow"):
        ignored.learn(
            ["top", "the weather of today", "middle", "end"], ["top", f"we have {word}", "middle", "end"]
        )
    before = ["top", "the weather of today", "middle", "what stays", "end"]
    after = ["top", "there is wind", "middle", "what comes", "end"]
    if not ignored:
        pytest.fail("it differs at each visit")
    assert told(before, after, 2, ignored) == ["1: =top | =middle | ~what[ comes] | =end"]


# As it is shown to whoever watches a page …


@pytest.mark.parametrize(
    ("hunk", "lines"),
    [
        (Hunk(0, 1, 0, 1), ["- 0", "+ x", "  1", "  2"]),
        (Hunk(1, 2, 1, 2), ["  0", "- 1", "+ x", "  2", "  3"]),
        (Hunk(4, 5, 4, 5), ["  2", "  3", "- 4", "+ x", "  5", "  6"]),
        (Hunk(9, 10, 9, 10), ["  7", "  8", "- 9", "+ x"]),
    ],
)
def test_a_place_is_shown_with_what_stands_around_it(hunk: Hunk, lines: list[str]) -> None:
    before = [str(number) for number in range(10)]
    after = [*before[: hunk.new_start], "x", *before[hunk.new_end :]]
    (place,) = difference(before, after, [hunk])
    assert [f"{line.sign} {line.text}" for line in place.lines] == lines
    assert (place.more, plain([place])) == (0, lines)


def test_places_stand_apart_and_are_bounded() -> None:
    before = [str(number) for number in range(100)]
    after = [row if number % 3 else "x" * number for number, row in enumerate(before)]
    hunks = [Hunk(at, at + 1, at, at + 1) for at in range(0, 100, 3)]
    places = difference(before, after, hunks)
    assert len(places) == MOST_PLACES
    lines = plain(places[:3])
    assert lines.count("...") == 2
    assert lines[0] != "..."
    text = "y" * LONGEST_LINE
    (place,) = difference([text], [text + "z"], [Hunk(0, 1, 0, 1)])
    assert place.lines == (Line("-", text), Line("+", text + "\N{HORIZONTAL ELLIPSIS}"))
    (place,) = difference(
        before[:MOST_LINES], before[: MOST_LINES + 1], [Hunk(0, MOST_LINES, 0, MOST_LINES + 1)]
    )
    assert (len(place.lines), place.more) == (2 * MOST_LINES, 1)


def test_what_differs_at_each_visit_is_marked_when_all_is_shown() -> None:
    before, after = ["Visitor 1", "It stays", "5 crowns"], ["Visitor 2", "It stays", "6 crowns"]
    counted = changed(before[1:], after[1:])
    counted = msgspec.structs.replace(
        counted, hunks=tuple(Hunk(*(at + 1 for at in hunk)) for hunk in counted.hunks)
    )
    (passage,) = passages_of(before, after, changed(before, after), Volatile(), counted=counted)
    assert [(row.kind, row.ignored) for row in passage.rows] == [
        ("changed", True),
        ("same", False),
        ("changed", False),
    ]
