"""What differs at each visit, decision by decision: which stretches are boxes, where they end, when they count."""

from itertools import pairwise

import pytest

from gossamer.policy.change.alignment import Hunk
from gossamer.policy.change.figures import digest
from gossamer.policy.change.volatile import Volatile, _Box, _masked, _opposite, _Pair, _Seen, _spans

# Words without figures, that have nothing in common.
WORDS = [
    "amber", "basil", "cedar", "delta", "ember", "fable", "gravel", "harbour", "indigo", "juniper", "kettle",
    "lantern", "marble", "nettle", "ochre", "pepper", "quartz", "raven", "saffron", "timber", "umber", "velvet",
    "willow", "yarrow", "zephyr", "anchor", "bramble", "copper", "drizzle", "eagle", "falcon", "granite",
]  # fmt: skip
SAYINGS = [f"{word} says so" for word in WORDS]


def learned(*captures: list[str], volatile: Volatile | None = None) -> Volatile:
    """What visits to one page have taught, each compared with the one before."""
    volatile = Volatile() if volatile is None else volatile
    for before, after in pairwise(captures):
        volatile.learn(before, after)
        volatile = Volatile.unpack(volatile.pack())  # as it is kept
    return volatile


def boxed(
    *boxes: list[str], before: tuple[str, ...] = ("top",), after: tuple[str, ...] = ("end",)
) -> list[list[str]]:
    """A page with each of these between what stays."""
    return [[*before, *box, *after] for box in boxes]


ONE, TWO, THREE, FOUR, FIVE, SIX = ([saying] for saying in SAYINGS[:6])


@pytest.mark.parametrize("visits", [2, 3, 4])
@pytest.mark.parametrize(
    ("before", "after"),
    [(("top",), ("end",)), ((), ("end",)), (("top",), ()), (("first", "top"), ("end", "last"))],
)
def test_what_stands_between_two_pieces_and_differs_twice_is_a_box(before, after, visits):
    found = learned(*boxed(*[[saying] for saying in SAYINGS[:visits]], before=before, after=after))
    assert bool(found) == (visits > 2)
    hidden: list[str] = []
    page = [*before, "a new one", *after]
    masked = found.masked(page, hidden)
    if visits == 2:
        assert (masked, hidden) == (page, [])
    else:
        assert (masked, hidden) == ([*before, "", *after], ["a new one"])
    assert (found.generation == 1) == (visits == 2)
    # It is as large as it was at most, and stands where it stood.
    assert found.masked(["elsewhere", "a new one", "there"]) == ["elsewhere", "a new one", "there"]


@pytest.mark.parametrize(
    ("boxes", "ignored"),
    [
        ([ONE, TWO, THREE, THREE], False),  # it differed in two of three
        ([ONE, TWO, THREE, FOUR, FOUR], True),  # in three of four
        ([ONE, TWO, THREE, FOUR, FOUR, FOUR], False),
        ([ONE, TWO, THREE, FOUR, FOUR, FOUR, FIVE], False),  # four of six
        ([ONE, TWO, ONE, ONE, ONE], True),  # what comes back rotates: two of four
        ([ONE, TWO, ONE, ONE, ONE, ONE], True),  # two of five
        ([ONE, TWO, ONE, ONE, ONE, ONE, ONE], False),  # two of six
        ([ONE, TWO, TWO], False),
        ([[*ONE, *TWO], [*TWO, *ONE], [*ONE, *TWO]], False),  # another order is no change
    ],
)
def test_a_box_that_stays_is_content_again(boxes, ignored):
    assert bool(learned(*boxed(*boxes))) == ignored


@pytest.mark.parametrize(
    ("boxes", "ignored"),
    [
        ([[], ONE, [], TWO, []], True),  # what goes is a box that is empty, what comes may be news
        ([SAYINGS[:3], [], SAYINGS[3:6], []], True),
        ([SAYINGS[:4], [], SAYINGS[4:8], []], False),  # of four pieces none is left: they were taken off
        ([ONE, [*TWO, *ONE], [*THREE, *TWO, *ONE]], False),  # news at the top
        ([[*ONE, *TWO, *THREE], [*FOUR, *ONE, *TWO], [*FIVE, *FOUR, *ONE]], False),  # the last goes for it
        ([["alpha beta gamma"], ["beta gamma alpha"], ["gamma alpha beta"]], False),  # the same words
    ],
)
def test_news_and_what_is_taken_off_are_no_box(boxes, ignored):
    assert bool(learned(*boxed(*boxes))) == ignored


@pytest.mark.parametrize(("size", "ignored"), [(24, True), (25, False)])
def test_a_box_has_so_many_pieces_at_most(size, ignored):
    frame = tuple(f"frame {word}" for word in WORDS)
    rows = [[f"{word} {name}" for word in WORDS[:size]] for name in ("one", "two", "three")]
    found = learned(*boxed(*rows, before=frame, after=tuple(f"{row} again" for row in frame)))
    assert bool(found) == ignored


@pytest.mark.parametrize(("stays", "ignored"), [(4, True), (5, True), (6, False), (7, False)])
def test_a_long_piece_that_keeps_half_of_its_words_is_edited(stays, ignored):
    """At its ends together: the first of them, and the last."""

    def edited(number: int) -> list[str]:
        new = [f"{WORDS[number]}{word}" for word in WORDS[: 12 - stays]]
        first, last = WORDS[20 : 20 + stays // 2], WORDS[26 : 26 + stays - stays // 2]
        return [" ".join([*first, *new, *last])]

    assert bool(learned(*boxed(edited(0), edited(1), edited(2)))) == ignored


def test_a_redesign_teaches_nothing_of_boxes():
    small = learned(*boxed(ONE, TWO, THREE))
    assert small
    rows = [[f"{word} {name}" for word in WORDS] for name in ("one", "two", "three")]
    assert not learned(*rows)


def test_two_draws_of_a_box_may_have_a_piece_or_two_in_common():
    def page(number: int, between: int) -> list[str]:
        return ["top", SAYINGS[number], *WORDS[:between], SAYINGS[-number - 1], "end"]

    near = learned(*(page(number, 2) for number in range(3)))
    assert near.masked(page(5, 2)) == ["top", "", "", "", "", "end"]
    far = learned(*(page(number, 3) for number in range(3)))
    assert far.masked(page(5, 3)) == ["top", "", *WORDS[:3], "", "end"]


def test_a_box_that_was_seen_with_different_ends_goes_as_far_as_it_was_large():
    first, second = boxed(ONE, TWO, after=("one end",)), boxed(THREE, FOUR, after=("another",))
    wide = learned(*second, volatile=learned(*first))
    assert wide.masked(["top", "a new one", "some end"]) == ["top", "", "some end"]
    narrow = learned(*boxed(THREE, FOUR, after=("one end",)), volatile=learned(*first))
    assert narrow.masked(["top", "a new one", "some end"]) == ["top", "a new one", "some end"]
    assert narrow.masked(["top", "a new one", "one end"]) == ["top", "", "one end"]
    # A piece that is like its anchor stands elsewhere, too: there only what has the end behind it is the box.
    page = ["top", "what is content", "other", "top", "a new one", "one end"]
    assert narrow.masked(page) == ["top", "what is content", "other", "top", "", "one end"]
    assert wide.masked(["top", "it", "x", "top", "it", "y"]) == ["top", "", "x", "top", "it", "y"], (
        "the first"
    )


def test_a_box_is_found_though_it_is_smaller_now_and_not_where_it_would_be_larger():
    found = learned(*boxed(SAYINGS[:3], SAYINGS[3:6], SAYINGS[6:9]))
    assert found.masked(["top", "one", "end"]) == ["top", "", "end"]
    assert found.masked(["top", "one", "two", "three", "end"]) == ["top", "", "", "", "end"]
    page = ["top", "one", "two", "three", "four", "end"]
    assert found.masked(page) == page


@pytest.mark.parametrize(
    ("start", "end", "hunks", "found"),
    [
        (0, 2, [], (0, 2)),
        (3, 5, [], (3, 5)),
        (3, 5, [Hunk(0, 2, 0, 1)], (4, 6)),  # what stands before has grown shorter by one
        (3, 5, [Hunk(0, 1, 0, 3)], (1, 3)),
        (3, 5, [Hunk(0, 0, 0, 3)], (0, 2)),
        (3, 5, [Hunk(0, 0, 0, 4)], (7, 9)),  # it did not stand in the earlier one: where it usually does
        (3, 5, [Hunk(3, 6, 3, 5)], (3, 6)),  # it has grown shorter itself
        (3, 5, [Hunk(3, 3, 3, 5)], (3, 3)),
        (3, 5, [Hunk(3, 4, 3, 6)], (3, 5)),  # what goes on behind it says nothing
        (3, 5, [Hunk(2, 4, 2, 3), Hunk(4, 5, 3, 5)], (4, 5)),
        (3, 5, [Hunk(5, 9, 5, 6)], (3, 5)),
    ],
)
def test_where_a_stretch_stood_before(start, end, hunks, found):
    assert _opposite(start, end, (7, 9), hunks) == found


@pytest.mark.parametrize(
    ("box", "spans"),
    [
        (_Box(4, 2), [(1, 1, 3)]),  # up to its end, if that is no further than it was large
        (_Box(4, 1), []),
        (_Box(2, 1), [(1, 1, 1)]),  # it is empty now
        (_Box(9, 2), []),
        (_Box(9, 3), []),  # the page ends there, but not by what the box ends with
        (_Box(9, 2, wide=True), [(1, 1, 3)]),
        (_Box(0, 3), [(1, 1, 4)]),
        (_Box(0, 2), []),
        (_Box(0, 2, wide=True), [(1, 1, 3)]),
    ],
)
def test_where_a_box_stands(box, spans):
    assert _spans([1, 2, 3, 4], {1: box}) == spans


def test_of_pieces_that_are_alike_those_with_the_end_behind_them_have_the_box():
    digests = [1, 2, 1, 3, 4]
    assert _spans(digests, {1: _Box(4, 1)}) == [(1, 3, 4)]
    assert _spans(digests, {1: _Box(9, 1, wide=True)}) == [(1, 1, 2)], "the first"
    assert _spans(digests, {1: _Box(4, 1, wide=True)}) == [(1, 3, 4)]
    assert _spans([5, 0, 6], {0: _Box(6, 1)}) == [], (
        "of no piece is the beginning of the page, and nothing else"
    )
    assert _spans([5, 6], {0: _Box(6, 1)}) == [(0, 0, 1)]


@pytest.mark.parametrize(
    ("piece", "known_by", "masked"),
    [
        ("17 views", ">views", "\N{HORIZONTAL ELLIPSIS} views"),
        ("17 views", ">likes", "17 views"),
        ("$17 views", ">views", "$17 views"),  # content, however often it differs
        ("$17 views", ">likes", "$17 views"),
        ("17 views of 23 pages", ">views of", "\N{HORIZONTAL ELLIPSIS} views of 23 pages"),
        ("17 views of 23 pages", ">pages", "17 views of \N{HORIZONTAL ELLIPSIS} pages"),
        ("no figure", ">views", "no figure"),
    ],
)
def test_what_is_left_out_of_a_piece(piece, known_by, masked):
    assert _masked(piece, {digest(known_by)}) == masked


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("abc", "abc", "same"),
        ("abc", "cab", "same"),
        ("abc", "xabc", "news"),
        ("abc", "abxc", "news"),
        ("abc", "xab", "news"),  # one came and one fell off
        ("abc", "xaybc", "other"),
        ("abc", "axc", "other"),
        ("abc", "xyz", "other"),
        ("abc", "bc", "news"),
        ("", "abc", "other"),
    ],
)
def test_what_became_of_a_stretch(before, after, kind):
    pair = _Pair([*"<", *before, *">"], [*"<", *after, *">"], [], [])
    assert pair.kind(Hunk(1, 1 + len(before), 1, 1 + len(after))) == kind


def test_how_often_a_figure_stood_and_differed():
    known = Volatile()
    for was, value, seen in (
        ("3", "7", (1, 1)),
        ("7", "8", (1, 1)),  # it was counted: that says nothing
        ("8", "8", (2, 1)),
        ("8", "20", (3, 2)),
        ("20", "1", (4, 3)),
    ):
        known.learn(["top", f"{was} views", "end"], ["top", f"{value} views", "end"])
        assert known._figures == {digest(">views"): seen}, (was, value)


def test_what_only_moved_beside_a_box_is_no_part_of_it():
    rows = ["moves", *WORDS[:3]]
    turned = [*WORDS[:3], "moves"]
    pages = [["top", *(turned if number % 2 else rows), SAYINGS[number], "end"] for number in range(6)]
    found = learned(*pages)
    for order in (rows, turned):
        page = ["top", *order, "a new one", "end"]
        assert found.masked(page)[:5] == page[:5]


def test_what_became_the_same_on_other_pages_is_a_change_of_the_site():
    pages = boxed(ONE, TWO, THREE)
    met: set[int] = set()
    volatile = Volatile()
    for before, after in pairwise(pages):
        other = Volatile()
        other.learn(before, after, met)
        volatile.learn(before, after, met)
    assert not volatile, "another page had it before"
    own = Volatile()
    for before, after in pairwise(pages):
        own.learn(before, after, set())
    assert own


def test_figures_that_differ_are_ignored_by_the_words_beside_them():
    found = learned(*([f"visitors today {number}", "end"] for number in (17, 90, 35)))
    assert found.masked(["visitors today 4", "end"]) == found.masked(["visitors today 999", "end"])
    assert found.masked(["price today 4", "end"]) == ["price today 4", "end"]
    again = learned(*([f"visitors today {number}", "end"] for number in (35, 35, 35, 35)), volatile=found)
    assert again.masked(["visitors today 4", "end"]) == ["visitors today 4", "end"], "it stays now"


def test_of_too_many_what_is_ignored_is_kept_and_of_the_others_the_last():
    volatile = Volatile()
    frame = tuple(f"frame {word}" for word in WORDS)
    for draw in range(3):
        volatile.learn(
            *boxed([SAYINGS[draw]], [SAYINGS[draw + 1]], before=("kept",), after=("behind", *frame))
        )
    for number in range(60):
        anchor, end = (
            f"anchor {WORDS[number % 32]} {WORDS[number // 2]}",
            f"end {WORDS[number % 32]} {WORDS[-number // 2]}",
        )
        volatile.learn(*boxed(ONE, TWO, before=(anchor,), after=(end, *frame)))
    assert len(volatile.pack()) <= 1_024
    assert volatile.masked(["kept", "new", "behind"]) == ["kept", "", "behind"]
    for number in range(200):
        words = f"{WORDS[number % 32]} {WORDS[number // 7 % 32]} {WORDS[number // 32]}"
        volatile.learn([f"{words} {number}", *frame], [f"{words} {number + 5}", *frame])
    assert len(volatile.pack()) <= 1_024
    assert volatile.masked(["kept", "new", "behind"]) == ["kept", "", "behind"]


def test_what_other_versions_have_written_is_not_read():
    packed = learned(*boxed(ONE, TWO, THREE)).pack()
    assert Volatile.unpack(packed).pack() == packed
    assert not Volatile.unpack(bytes((packed[0] + 1,)) + packed[1:])
    assert not Volatile.unpack(packed[:2])


@pytest.mark.parametrize(
    ("before", "differed", "after"),
    [
        (_Seen(0, 0), True, _Seen(1, 1)),
        (_Seen(3, 1), False, _Seen(4, 1)),
        (_Seen(14, 9), True, _Seen(15, 10)),
        (_Seen(15, 9), True, _Seen(9, 6)),
        (_Seen(15, 8), False, _Seen(9, 4)),
    ],
)
def test_what_was_seen_fifteen_times_is_halved(before, differed, after):
    assert before.again(differed) == after


@pytest.mark.parametrize(("key", "number"), [(0, 2), (1, 3), (253, 255), (254, 2)])
def test_the_number_of_what_is_ignored_is_a_byte(key, number):
    known = Volatile()
    known._figures[key] = _Seen(4, 4)
    assert known.generation == number


def test_where_something_else_is_ignored_its_number_is_another():
    one = learned(*boxed(ONE, TWO, THREE))
    numbers = {
        one.generation,
        learned(*boxed(ONE, TWO, THREE, before=("other",))).generation,
        learned(*boxed(ONE, TWO, THREE, after=("other",))).generation,
        learned(*([f"visitors today {number}", "end"] for number in (17, 90, 35))).generation,
    }
    assert len(numbers) == 4
    assert all(1 < number < 256 for number in numbers)
    assert Volatile.unpack(one.pack()).generation == one.generation
    assert learned(*boxed(FOUR, FIVE, SIX)).generation == one.generation, "not what stood there counts"
