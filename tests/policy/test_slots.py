"""What of a site's templates differs at each visit, by two captures of many pages; and where on a page text stands."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.inspect.compare.learned import learned_together
from gossamer.policy.change.change import changed
from gossamer.policy.change.figures import figures_of, is_content, is_next
from gossamer.policy.change.pieces import pieces_of
from gossamer.policy.change.places import places_of
from gossamer.policy.change.slots import Placed, Slots, _slotted
from gossamer.policy.change.volatile import Volatile

PAGES = 12
WORDS = ["river", "market", "engine", "window", "council", "report", "library", "garden", "signal", "harbour"]


def placed(markup: str) -> Placed:
    places: list[str] = []
    return Placed(pieces_of(markup, places=places), places)


def page(number: int, block: str, text: str = "What it is about") -> Placed:
    """A block somewhere on a page of its own."""
    prose = [f"<p>{text} {WORDS[number % 10]} part {part}" for part in "abcdefgh"]
    prose.insert(number % 8, block)
    return placed("\n".join(prose))


def phrase(draw: random.Random) -> str:
    return " ".join(draw.sample(WORDS, 5))


def learned(block: Callable[[random.Random, int], str], share: float = 1.0) -> tuple[Slots, random.Random]:
    """From pages of which each has a block, made anew on a share of them."""
    draw = random.Random(7)
    pairs = []
    for number in range(PAGES):
        before = after = block(draw, number)
        if number < share * PAGES:
            after = block(draw, number)
        pairs.append((page(number, before), page(number, after)))
    return Slots.learned(pairs), draw


def noise(block: Callable[[random.Random, int], str]) -> bool:
    """Whether it is left out of another page of the site, and nothing else of that is."""
    slots, draw = learned(block)
    before, after = page(3, block(draw, 3)), page(3, block(draw, 3))
    volatile = Volatile().beside(slots.within(before, after))
    other = page(3, block(draw, 3), "What else it is")
    assert changed(before.pieces, other.pieces, Volatile().beside(slots.within(before, other)))
    return not changed(before.pieces, after.pieces, volatile)


@pytest.mark.parametrize(
    "block",
    [
        lambda draw, _: f"<div class='ad box'><a href=/{draw.random()}>{phrase(draw)}</a></div>",
        lambda draw, _: f"<blockquote>{phrase(draw)}</blockquote>",
        lambda draw, _: f"<p>Reference: {''.join(draw.sample(WORDS, 2))}",
        lambda draw, _: f"<p>{phrase(draw)} ({draw.randrange(900)})",
        lambda draw, _: f"<nav><ul><li>{phrase(draw)}<li>{phrase(draw)}</ul></nav>",
    ],
    ids=["class", "element", "first word", "last word", "elements around it"],
)
def test_what_is_new_on_each_page_is_left_out(block: Callable[[random.Random, int], str]) -> None:
    assert noise(block)


@pytest.mark.parametrize(
    "block",
    [
        lambda draw, _: f"<div class=price>Now ${draw.randrange(1, 900)}.99</div>",
        lambda draw, _: f"<div class=v>Version {draw.randrange(9)}.{draw.randrange(99)}</div>",
    ],
)
def test_prices_and_versions_are_content_though_all_differ(
    block: Callable[[random.Random, int], str],
) -> None:
    assert not noise(block)


def test_what_changed_on_some_pages_is_content() -> None:
    slots, draw = learned(lambda draw, _: f"<div class=box>{phrase(draw)}</div>", share=0.4)
    assert not slots.within(page(1, f"<div class=box>{phrase(draw)}</div>"))


def test_what_became_the_same_on_all_pages_is_a_change_of_the_site() -> None:
    old, new = "<footer>All rights of one", "<footer>All rights of another"
    slots = Slots.learned([(page(number, old), page(number, new)) for number in range(PAGES)])
    assert not slots.within(page(1, old), page(1, new))


def test_pages_that_are_rewritten_teach_nothing() -> None:
    draw = random.Random(1)
    many = [
        [placed("".join(f"<p>{phrase(draw)}" for _ in range(30))) for _ in range(2)] for _ in range(PAGES)
    ]
    assert not Slots.learned([(before, after) for before, after in many]).within(*many[0])


def test_a_page_of_which_nothing_stayed_is_another_page() -> None:
    draw = random.Random(1)
    many = [(placed(f"<p>{phrase(draw)}"), placed(f"<p>{phrase(draw)}")) for _ in range(PAGES)]
    learned_of = learned_together(many, Volatile())
    for before, after in many:
        assert changed(before.pieces, after.pieces, learned_of.of(before, after))


def test_pages_on_which_a_slot_only_appears_do_not_count() -> None:
    pairs = []
    for number in range(12):
        same = page(number, "")
        old, new = (page(number, f"<div class=box>{word(100 * at + number)}</div>") for at in (1, 2))
        pairs.append((old if number < 6 else same, new))
    another = page(1, "<div class=box>another</div>")
    assert Slots.learned(pairs).within(another) == {"another"}


@pytest.mark.parametrize(
    ("piece", "place", "slots"),
    [
        ("River of 17", "", {"<river", ">0"}),
        ("one", "div.a p", {"<one", ">one", "div.a p", "p"}),
        ("(848) two", "a b c d e", {"<(0)", ">two", "a b c d e", "c d e", "e"}),
    ],
)
def test_the_slots_of_a_piece(piece: str, place: str, slots: set[str]) -> None:
    assert [*_slotted(Placed([piece], [place]))] == [(piece, slots)]


def word(number: int) -> str:
    """Letters alone: figures are all alike."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


@pytest.mark.parametrize(
    ("made_anew", "left", "gone", "came", "stayed", "others", "volatile"),
    [
        # Pages whose slot became something else; that have it and did not change.
        (4, 0, 1, 1, 0, 20, True),
        (3, 0, 1, 1, 0, 20, False),
        (6, 4, 1, 1, 0, 20, True),
        (5, 4, 1, 1, 0, 20, False),
        # Pieces of the slot that went, came and stayed: the larger of what differs, as a share of all.
        (8, 0, 5, 1, 0, 20, True),
        (8, 0, 1, 5, 0, 20, True),
        (8, 0, 3, 3, 1, 20, True),
        (8, 0, 1, 1, 1, 20, False),
        # So many pieces are content.
        (8, 0, 24, 24, 0, 40, True),
        (8, 0, 25, 25, 0, 40, False),
        # Of so many pieces of the page, half of 24 at least, it is another page.
        (8, 0, 12, 12, 0, 0, True),
        (8, 0, 13, 13, 0, 0, False),
        (8, 0, 13, 1, 0, 0, False),
        (8, 0, 1, 13, 0, 0, False),
        (8, 0, 20, 20, 0, 20, True),
        (8, 0, 20, 20, 0, 19, False),
    ],
)
def test_when_a_slot_is_volatile(
    made_anew: int, left: int, gone: int, came: int, stayed: int, others: int, volatile: bool
) -> None:
    number = 1_000

    def rows(of_slot: int, elsewhere: int) -> Placed:
        nonlocal number
        number += of_slot + elsewhere
        texts = [f"{word(at)} says {word(at)}" for at in range(number - of_slot - elsewhere, number)]
        return Placed(texts, ["aside"] * of_slot + ["main"] * elsewhere)

    def joined(*parts: Placed) -> Placed:
        return Placed(
            [piece for part in parts for piece in part.pieces],
            [place for part in parts for place in part.places],
        )

    pairs = []
    for page in range(made_anew + left):
        same = rows(stayed, others)
        old = rows(gone, 0)
        pairs.append((joined(old, same), joined(rows(came, 0) if page < made_anew else old, same)))
    another = rows(1, 0)
    assert Slots.learned(pairs).within(another) == (frozenset(another.pieces) if volatile else frozenset())


def test_what_explains_most_is_taken_first() -> None:
    def block(draw: random.Random, _: int) -> str:
        return f"<ol class=top><li>River {phrase(draw)}<li>Market {phrase(draw)}</ol>"

    slots, draw = learned(block)
    assert slots.within(page(0, block(draw, 0)))
    assert not slots.within(page(0, "<h1>River of news"))


@pytest.mark.parametrize(
    ("runs", "places"),
    [
        (
            ["<div class='a  b2'>", "<P>", "</p><br/>", "</div>"],
            ["", "div.a.b0", "div.a.b0 p", "div.a.b0", ""],
        ),
        (["<ul><li>", "<li>", "</ul></div>"], ["", "ul li", "ul li", ""]),
        (["<nav id=x><ul data-class=y>"], ["", "nav.x ul"]),
        (["<i a='>'>", "<!doctype html>"], ["", "i", "i"]),
        (["<div>" * 9], ["", "div div"]),
    ],
)
def test_an_element_is_named_as_a_style_sheet_would(runs: list[str], places: list[str]) -> None:
    assert places_of(runs) == places


@given(
    st.lists(
        st.sampled_from(["<p>", "</p>", "<td>", "a", "7", "&#10;", "&amp;", "\n", "<li class=x>", "<", "'"])
    )
)
def test_each_piece_has_its_place(parts: list[str]) -> None:
    places: list[str] = []
    assert pieces_of("".join(parts), places=places) == pieces_of("".join(parts))
    assert len(places) == len(pieces_of("".join(parts)))


@pytest.mark.parametrize(
    ("value", "following", "counted"),
    [
        ("7", "8", True), ("9", "10", True), ("1,999", "2,000", True), ("3 of 7", "3 of 8", True),
        ("7", "7", False), ("7", "9", False), ("8", "7", False), ("3 of 7", "4 of 8", False), ("7", "7 8", False),
        ("7 8", "7", False), ("12:03", "12:04", False), ("7h03", "7h04", False), ("", "", False),
    ],
)  # fmt: skip
def test_a_number_that_went_up_by_one_was_counted(value: str, following: str, counted: bool) -> None:
    assert is_next(value, following) is counted


def test_a_price_below_a_clock_makes_it_no_content() -> None:
    (piece,) = pieces_of("<p>Rendered at 2024-10-04 03:27:50</p><div>39,99 €</div>")
    clock, price = figures_of(piece)
    assert (is_content(piece, clock), is_content(piece, price)) == (False, True)
