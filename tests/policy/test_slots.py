"""What of a site's templates differs at each visit, by two captures of many pages; and where on a page text stands."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.inspect.compare.learned import learned_together
from gossamer.policy.change.change import changed
from gossamer.policy.change.figures import figures_of, is_content
from gossamer.policy.change.pieces import pieces_of
from gossamer.policy.change.places import places_of
from gossamer.policy.change.slots import Placed, Slots
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


def test_a_price_below_a_clock_makes_it_no_content() -> None:
    (piece,) = pieces_of("<p>Rendered at 2024-10-04 03:27:50</p><div>39,99 €</div>")
    clock, price = figures_of(piece)
    assert (is_content(piece, clock), is_content(piece, price)) == (False, True)
