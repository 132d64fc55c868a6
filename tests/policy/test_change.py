"""What counts as changed: content does; clocks, counters, boxes that rotate, order and markup do not."""

import random
from itertools import pairwise

import pytest

from gossamer.policy.change.alignment import hunks_of
from gossamer.policy.change.change import changed, fingerprint
from gossamer.policy.change.figures import JOINT, digest, figures_of, is_content
from gossamer.policy.change.passages import passages_of
from gossamer.policy.change.pieces import pieces_of
from gossamer.policy.change.volatile import MOST_BYTES, Volatile

PROSE = "".join(f"<h2>Part {name}</h2><p>What {name} is about, in a few words.</p>" for name in "abcdefgh")
SAYINGS = [
    f"{one} and {other} are friends."
    for one in ("Cats", "Dogs", "Hens", "Pigs")
    for other in ("mice", "men", "owls", "bees", "frogs", "ants")
]


def page(*blocks: str) -> list[str]:
    return pieces_of(f"<html><body>{PROSE}{''.join(blocks)}<footer>About us</footer></body></html>")


def learned(*captures: list[str]) -> Volatile:
    volatile = Volatile()
    for before, after in pairwise(captures):
        volatile.learn(before, after)
    return volatile


@pytest.mark.parametrize(
    ("markup", "pieces"),
    [
        ("<p>One <b>two</b></p><p>three", ["One two", "three"]),
        ("<script>x</script><style>y</style><!-- <p>z --><p nonce=1>a", ["a"]),
        ("<tr><td>Won<td>3<td>4</tr><tr><td>Lost<td>5", ["Won 3 4", "Lost 5"]),
        ("<p>Price</p><p>5.99</p>", [f"Price{JOINT}5.99"]),
        ("<p title='a > b'>x &amp; y&nbsp;z</p>", ["x & y z"]),
        ("", []),
        ("<p title='never ends>a<p>b", ["b"]),
    ],
)
def test_a_page_becomes_a_row_of_pieces(markup: str, pieces: list[str]) -> None:
    found = pieces_of(markup)
    assert found[-len(pieces) :] == pieces if pieces else not found


@pytest.mark.parametrize("unit", ["<a ", "<a b='", '<a b="', "<!-- ", "<script ", "< ", "<a =", "a\n"])
def test_no_markup_takes_long(unit: str) -> None:
    pieces_of(unit * 60_000)  # quadratic time would be minutes


@pytest.mark.parametrize(
    "after",
    [
        PROSE.replace("<p>", "<P class='x' data-n='7'>").replace("</p>", "</P>\n\n  "),
        PROSE.replace("What", "<span>What</span>").replace(" is ", "&#32;is\n"),
        PROSE.replace("<p>", "<!-- 1 --><p>") + "<script>nonce(1)</script>",
        PROSE.replace("<h2>", "<div><h2>").replace("</h2>", "</h2></div>"),
    ],
)
def test_markup_is_no_change(after: str) -> None:
    assert not changed(pieces_of(PROSE), pieces_of(after))


def test_another_order_is_no_change() -> None:
    links = [f"<li><a href=/{name}>To {name}</a></li>" for name in "abcdefgh"]
    for order in (links[::-1], links[3:] + links[:3]):
        assert not changed(page(*links), page(*order))
        assert fingerprint(page(*links)) == fingerprint(page(*order))
    assert not changed(page("<p>cat <a>dog</a> hen</p>"), page("<p>hen cat <a>dog</a></p>"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<p>In stock</p>", "<p>Sold out</p>"),
        ("<div>Price: <b>$5.99</b></div>", "<div>Price: <b>$6.99</b></div>"),
        ("<p>Published on 3 May 2026</p>", "<p>Published on 4 May 2026</p>"),
        ("<tr><td>Team<td>3<td>5</tr>", "<tr><td>Team<td>4<td>5</tr>"),
        ("<p>if a &lt; b</p>", "<p>if a &gt; b</p>"),
        ("<p>One.</p>", "<p>One.</p><p>Two.</p>"),
        ("<p>One.</p><p>Two.</p>", "<p>Two.</p>"),
    ],
)
def test_content_is_a_change(old: str, new: str) -> None:
    change = changed(page(old), page(new))
    assert change
    assert len(change.hunks) == 1
    assert change.removed or change.added
    assert 0 < change.share < 0.2
    assert fingerprint(page(old)) != fingerprint(page(new))


def clock(visit: int) -> str:
    return f"<p>Rendered at 2026-11-{visit + 3:02} 12:{visit * 7 % 60:02}:{visit * 13 % 60:02}</p>"


def views(visit: int) -> str:
    return f"<p><b>{3_000 + visit * 17:,}</b> views</p>"


def session(visit: int) -> str:
    return f"<p>Session {random.Random(visit).getrandbits(64):016x}</p>"


def saying(visit: int) -> str:
    return f"<blockquote>{SAYINGS[visit * 5 % 24]}</blockquote>"


def related(visit: int) -> str:
    chosen = random.Random(visit).sample(SAYINGS, 3)
    return "<h3>Related</h3><ul>" + "".join(f"<li>{one}</li>" for one in chosen) + "</ul>"


def beside(visit: int) -> str:
    """A box behind links whose order changes with it now and then."""
    links = "abc" if visit in (0, 1, 3) else "acb"
    return "".join(f"<p>To {name}</p>" for name in links) + saying(visit)


@pytest.mark.parametrize("noise", [clock, views, session, saying, related, beside])
def test_three_visits_teach_what_differs_at_each_and_content_is_still_seen(noise: object) -> None:
    captures = [page(noise(visit)) for visit in range(6)]  # type: ignore[operator]
    volatile = learned(*captures[:3])
    assert changed(captures[2], captures[3])
    for before, after in pairwise(captures[2:]):
        assert not changed(before, after, volatile)
    fourth = [piece.replace("What c is", "What c was") for piece in captures[4]]
    change = changed(captures[3], fourth, volatile)
    assert change
    assert [fourth[hunk.new_start] for hunk in change.hunks] == ["What c was about, in a few words."]


def test_what_is_ignored_has_a_number_of_a_byte() -> None:
    numbers = [
        learned(*(page(noise(visit)) for visit in range(3))).generation
        for noise in (clock, views, session, saying, related)
    ]
    assert all(2 <= number <= 255 for number in numbers)
    assert len(set(numbers)) == len(numbers)
    assert Volatile().generation == learned(page(saying(0)), page(saying(1))).generation == 1


@pytest.mark.parametrize("kept", [6, 7])
def test_a_sentence_that_keeps_half_of_its_words_is_edited_and_no_box(kept: int) -> None:
    beginning = " ".join(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"][:kept])
    captures = [
        page(f"<p>{beginning} {' '.join(name + letter for letter in 'abcdefgh'[: 14 - kept])}</p>")
        for name in "pqrs"
    ]
    assert bool(changed(captures[2], captures[3], learned(*captures[:3]))) is (kept >= 7)


@pytest.mark.parametrize("news", ["first", "last"])
def test_news_in_a_box_are_no_turn_of_it(news: str) -> None:
    def box(*items: str) -> list[str]:
        return page("<h3>Related</h3>", *(f"<p>{item}</p>" for item in items))

    one, other, third = SAYINGS[:4], SAYINGS[6:9], SAYINGS[12:15]
    volatile = learned(box(*one), box(*other), box(*third))
    assert not changed(box(*one), box(*other), volatile)
    more = ["At last.", *third] if news == "first" else [*third, "At last."]
    volatile.learn(box(*third), box(*more))
    volatile.learn(box(*more), box(*more))
    # It has turned twice and stood once: were the news a turn, it would still be one that turns.
    assert changed(box(*one), box(*other), volatile)


def test_a_figure_is_known_by_the_words_up_to_the_next_one() -> None:
    first, second = figures_of("12 visits 34 downloads")
    assert first.keys == (digest(">visits"),)
    assert second.keys == (digest("<visits"), digest(">downloads"))


@pytest.mark.parametrize("between", [23, 24])
def test_a_sign_of_money_near_a_figure_makes_it_content(between: int) -> None:
    for piece in (f"\N{EURO SIGN}{'.' * between}7", f"7{'.' * between}\N{EURO SIGN}"):
        (figure,) = figures_of(piece)
        assert is_content(piece, figure) is (between < 24)


def test_what_is_learned_on_some_pages_holds_for_the_site() -> None:
    volatile = Volatile()
    for visit, name in enumerate(("cat", "dog", "hen")):
        volatile.learn(
            *(pieces_of(f"<p>All of {name}</p>{related(visit + 9 * at)}<p>About {name}") for at in (0, 1))
        )
    one, other = (pieces_of(f"<p>All of pig</p>{related(visit)}<p>About pig</p>") for visit in (50, 51))
    assert changed(one, other)
    assert not changed(one, other, volatile)


def test_news_is_content_though_it_comes_at_each_visit() -> None:
    items = [f"<li>Item {word} of the day</li>" for word in "zyxwvutsrqponmlkjihgfedcba"]
    captures = [page("<h2>News</h2><ul>", *items[10 - at : 18 - at], "</ul>") for at in range(9)]
    volatile = learned(*captures)
    for before, after in pairwise(captures):
        assert changed(before, after, volatile)


def test_a_price_is_content_though_it_differs_at_each_visit() -> None:
    captures = [
        page(f"<p>Price: ${5 + visit}.99</p><p>{visit * 3} EUR</p>{views(visit)}") for visit in range(6)
    ]
    assert changed(captures[4], captures[5], learned(*captures[:5]))


def test_what_stays_again_is_content_again() -> None:
    captures = [page(saying(visit)) for visit in range(4)]
    volatile = learned(*captures, *[captures[3]] * 1)
    for visit in range(8):
        more = [piece.replace("What c is", f"What c was in {'abcdefgh'[visit]}") for piece in captures[3]]
        volatile.learn(captures[3], more)
    assert changed(captures[3], page("<blockquote>At last something new.</blockquote>"), volatile)


def test_ages_are_never_news() -> None:
    assert not changed(page("<p>Bob 59 minutes ago</p>"), page("<p>Bob 1 hour ago</p>"))
    assert not changed(page("<p>5分钟前</p>"), page("<p>2小时前</p>"))


def test_what_is_learned_is_packed_into_a_kilobyte() -> None:
    draw = random.Random(2)
    volatile = Volatile()
    for visit in range(300):
        names = draw.sample("abcdefghijklmnopqrstuvwxyz", 20)
        both = (
            [
                text
                for name in names
                for text in (
                    f"Head {name} {visit % 9}",
                    f"{name} {draw.random()} of {name}",
                    draw.choice(SAYINGS),
                )
            ]
            for _ in range(2)
        )
        volatile.learn(*both)
        assert len(volatile.pack()) <= MOST_BYTES
    again = Volatile.unpack(volatile.pack())
    assert again.pack() == volatile.pack()
    assert Volatile.unpack(b"").pack() == b""
    assert not Volatile.unpack(b"\xff" * 1_000)


def test_rows_are_aligned_and_no_row_takes_quadratic_time() -> None:
    draw = random.Random(1)
    for _ in range(2_000):
        one = [draw.randrange(draw.choice((2, 30))) for _ in range(draw.randrange(20))]
        other = [item for item in one if draw.random() < 0.8]
        for _ in range(draw.randrange(4)):
            other.insert(draw.randrange(len(other) + 1), draw.randrange(9))
        at = new_at = 0
        for hunk in hunks_of(one, other):
            assert one[at : hunk.start] == other[new_at : hunk.new_start]
            at, new_at = hunk.end, hunk.new_end
        assert one[at:] == other[new_at:]
    long = [number % 7 for number in range(40_000)]
    shuffled = draw.sample(long, len(long))
    assert hunks_of(long, shuffled)


def test_a_change_is_shown_with_its_context_and_its_words() -> None:
    before, after = page("<p>The price was five.</p>"), page("<p>The price was six.</p>", "<p>New.</p>")
    (passage,) = passages_of(before, after, changed(before, after), Volatile())
    assert [row.kind for row in passage.rows] == ["same", "same", "changed", "added", "same"]
    assert [span.text for span in passage.rows[2].new if span.differs] == [" six"]
    assert after[passage.at - 1] == passage.rows[0].new[0].text


def test_passages_tell_nothing_twice_and_all_of_it() -> None:
    draw = random.Random(4)
    for _ in range(300):
        before = [f"piece {draw.randrange(40)}" for _ in range(30)]
        after = [
            piece if draw.random() < 0.8 else f"other {draw.random()}"
            for piece in before
            if draw.random() < 0.9
        ]
        change = changed(before, after)
        passages = passages_of(before, after, change, Volatile(), context=draw.randrange(4))
        shown = [
            "".join(span.text for span in row.new) for one in passages for row in one.rows if row.new
        ]  # fmt: skip
        places = iter(after)
        assert all(text in places for text in shown), (before, after, shown)
        for hunk in change.hunks:
            for piece in after[hunk.new_start : hunk.new_end]:
                assert piece in shown
