"""What counts as new on a page: text, numbers, pictures; not its own address, nor the order of a list."""

import random
from pathlib import Path

import pytest
from tests.support.plain_pieces import plain_pieces

from gossamer.policy.branches.novelty import Novelty, Said, likeness, pieces, shown


def said(html: str, target: str = "/", linked: tuple[str, ...] = ()) -> Said:
    return Said(pieces(html.encode(), target, linked))


def values(*pages: Said) -> list[float]:
    novelty = Novelty()
    return [novelty.value(page) for page in pages]


MENU = "<nav><a>Home</a> <a>About us</a></nav><footer>All rights reserved for ever and a day</footer>"


def test_a_page_said_before_brings_nothing_and_an_article_nearly_all():
    text = " ".join(f"word{n}le" for n in range(80))
    first, again, other = values(
        said(f"{MENU}<p>{text}"), said(f"{MENU}<p>{text}"), said(f"{MENU}<p>One line of a diary, no more.")
    )
    assert (again, first > 0.9) == (0.0, True)
    assert 0.3 <= other <= 0.8, "short, and yet worth a visit"


def test_the_days_of_a_calendar_say_nothing_that_tables_of_figures_do():
    def day(number: int, body: str) -> Said:
        html = f"{MENU}<h1>{number} May 2031</h1>{body}<a>{number - 1}</a><a>{number + 1}</a>"
        near = tuple(f"/2031/05/{n:02}" for n in (number - 1, number + 1))
        return said(html, f"/2031/05/{number:02}", near)

    empty = values(*(day(number, "<p>No events.</p>") for number in range(2, 30)))
    assert set(empty[1:]) == {0.0}
    dice = random.Random(1)
    rows = ["".join(f"<td>{dice.randint(-90, 300) / 10}</td>" for _ in range(5)) for _ in range(28)]
    told = values(*(day(number, f"<table><tr>{row}</tr></table>") for number, row in enumerate(rows, 2)))
    assert min(told[1:]) > 0.3


def test_a_list_in_another_order_says_nothing_new():
    items = [f"<li><b>Thing number{chr(97 + n)}le</b> <i>{n}.50 EUR</i></li>" for n in range(20)]
    lists = [f"{MENU}<ul>{''.join(random.Random(seed).sample(items, 20))}</ul>" for seed in range(5)]
    assert values(*map(said, lists))[1:] == [0.0] * 4


def test_its_own_address_is_no_news():
    pages = [said(f"<p>/x/{n}/nothing was not found here.</p>", f"/x/{n}/nothing") for n in "abc"]
    assert values(*pages)[1:] == [0.0, 0.0]


def test_pictures_are_worth_something_by_their_names_alone():
    names = [shown([f"a{n}.jpg", "logo.png"]) for n in range(4)]
    assert all(value >= 0.4 for value in values(*(Said((), marks) for marks in names)))
    assert values(*(Said((), shown(["logo.png"])) for _ in range(3)))[1:] == [0.0, 0.0]
    assert values(Said(size=9), Said(size=9)) == [1.0, 1.0], "what is no text"


@pytest.mark.parametrize("language", ["zh", "de"])
def test_texts_of_any_language_are_cut_into_pieces(language):
    chinese = "今天天气很好\uff0c我们去公园散步。图书馆里有很多旧书"
    text = chinese if language == "zh" else "Die Mühle steht schon lange still und leer"
    assert len(pieces(f"<p>{text}".encode(), "/", ())) >= 2


def test_scripts_and_styles_say_nothing():
    assert pieces(b"<script>var secret = 1 < 2</script><style>p{}</style><SCRIPT>x", "/", ()) == ()
    assert likeness((), (1,)) == 0.0 and likeness((1, 2), (2, 3)) == pytest.approx(1 / 3)


def test_memory_grows_with_the_logarithm_and_new_stays_new():
    novelty = Novelty()
    dice = random.Random(3)
    told = [novelty.value(Said(tuple(dice.getrandbits(64) for _ in range(200)))) for _ in range(3_000)]
    assert sum(value <= 0.5 for value in told) < 150, "filters err, seldom"
    assert novelty.marks.size < 24 * 3_000


def test_pages_too_short_for_a_sample_are_told_apart_on_large_hosts_too():
    novelty = Novelty()
    dice = random.Random(4)
    for _ in range(1_000):
        novelty.value(Said(tuple(dice.getrandbits(64) for _ in range(200))))
    log_in = said("<h1>Log in</h1><p>You have to log in before you can write</p>")
    pages = [said(f"<p>The password of the door {chr(97 + n // 26)}{chr(97 + n % 26)}c") for n in range(300)]
    assert [novelty.value(log_in) for _ in range(20)][1:] == [0.0] * 19
    assert sum(novelty.value(page) > 0.3 for page in pages) > 290


@pytest.mark.parametrize("address", ["/?m=203105", "/cal/2031-05", "/20310512.html"])
def test_however_a_date_is_written_in_the_address_it_says_nothing(address):
    def month(number: int) -> Said:
        target = address.replace("05", f"{number:02}")
        name = ["May", "June"][number % 2]
        day = "12." if "12" in address else ""
        return said(f"{MENU}<h1>{name} 2031</h1><p>Seen on {day}{number}.2031<p>No events.", target)

    assert values(*map(month, (5, 6, 7, 8, 9)))[2:] == [0.0] * 3


@pytest.mark.slow
def test_hostile_markup_is_read_in_linear_time():
    numbers = "/".join(map(str, range(20_000)))
    assert pieces(numbers.encode(), "/", (numbers,)) == ()
    for piece in (b"<" * 9, b"<a ", b"<p>1.1.1", b"<script>", b"1:" * 5, b"</", b"&#x3c;", b"\xff"):
        assert isinstance(pieces(piece * (150_000 // len(piece)), "/1", ("/2",) * 300), tuple)


TOKENS = (
    *b"< > <b> <p> </p> <br/> </td> <!--x--> <script> </script> <STYLE> </STYLE> </style> git e d . , 12 05".split(),
    *b"2031 12.5.2031 time, &amp; A Z! git.html /2031/05/git.html \xff".split(),
    *(
        b" ",
        b"   ",
        b"\n",
        b"\t",
        b"\r\n",
        b"\0",
        b"|",
        b"<td x>",
        b"<b ",
        b"e ",
        b"y\n",
        b". ",
        b",\n",
        b"git git git ",
    ),
    *(word.encode() for word in ("\u3002", "\uff0c", "\u5929", "long words were here ", "M\u00fchle ")),
)
TARGETS = "/", "/2031/05/git.html", "/time/%E5%A4%A9?d=20310512&e=0", "/git/"
LINKED = (), ("/7", "/2031/05"), tuple(f"/{number}" for number in range(0, 2_200, 7))


def test_whole_passes_give_the_pieces_that_the_plain_form_gives():
    dice = random.Random(5)
    for _ in range(4_000):
        content = b"".join(dice.choices(TOKENS, k=dice.randrange(40)))
        target, linked = dice.choice(TARGETS), dice.choice(LINKED)
        found = pieces(content, target, linked)
        assert len(found) == len({*found})
        assert {*found} == plain_pieces(content, target, linked), (content, target)


def test_they_do_so_on_whole_texts_too():
    pages = [*Path(__file__).parents[2].glob("docs/**/*.md")]
    assert pages
    for page in pages:
        text = page.read_bytes()[:90_000]
        markup = text.replace(b"\n\n", b"</p>\n<p>").replace(b" | ", b"</td> <td>").replace(b" `", b" <code>")
        for content in (text, markup):
            assert {*pieces(content, "/docs/2031-05/the", LINKED[1])} == plain_pieces(
                content, "/docs/2031-05/the", LINKED[1]
            ), page
