"""What of a long page is looked at to tell whether it says something new."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.text_sketch import HostText, likeness, page_sketch

_RANDOM = random.Random(4)
_WORDS = ["".join(_RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=_RANDOM.randint(3, 9))) for _ in range(900)]


def _prose(seed: int, words: int) -> str:
    return " ".join(random.Random(seed).choices(_WORDS, k=words))


_MENU = "".join(f'<li class="entry"><a href="/topic/{i}">{_prose(i, 2)}</a></li>' for i in range(200))
_NOTICE = f"<footer><p>{_prose(7, 900)}</p></footer>"
_SCRIPT = f"<script>{''.join(f'function f{i}(a) {{ return a + {i}; }}' for i in range(2_000))}</script>"
_STYLE = f"<style>{''.join(f'.c{i} {{ margin: {i}px }}' for i in range(9_000))}</style>"


def _article(number: int) -> str:
    return "".join(f"<p>{_prose(1_000 * number + part, 50)}</p>" for part in range(4))


_LAYOUTS = {
    "a menu before it": "<body>{menu}{article}",
    "a menu behind it": "<body>{article}{menu}",
    "menus around it": "<body>{menu}{article}{menu}{menu}",
    "a script behind it": "<body>{article}{script}{menu}",
    "a style sheet before it": "<head>{style}</head><body>{menu}{article}",
    "a notice of law below it": "<body>{article}{notice}",
    "a notice of law above it": "<body>{notice}{menu}{article}",
}


def _page(layout: str, article: str) -> bytes:
    parts = {"menu": _MENU, "script": _SCRIPT, "style": _STYLE, "notice": _NOTICE}
    return _LAYOUTS[layout].format(article=article, **parts).encode()


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_an_article_is_new_wherever_it_stands_on_a_long_page(layout: str) -> None:
    host = HostText()
    host.new_text(page_sketch(_page(layout, _article(1))))
    for number in range(2, 6):
        assert host.new_text(page_sketch(_page(layout, _article(number)))) > 500


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_a_long_page_without_an_article_of_its_own_says_nothing_new(layout: str) -> None:
    host = HostText()
    host.new_text(page_sketch(_page(layout, "<p>Events of the 3rd of March 2024</p>")))
    for day in range(4, 9):
        assert host.new_text(page_sketch(_page(layout, f"<p>Events of the {day}th of March 2024</p>"))) < 60


def test_a_long_list_sorted_otherwise_says_nothing_new() -> None:
    rows = [f"<li>{_prose(i, 9)}</li>" for i in range(300)]
    one, other = page_sketch("".join(rows).encode()), page_sketch("".join(reversed(rows)).encode())
    host = HostText()
    host.new_text(one)
    assert host.new_text(other) < 130
    assert likeness(one, other) > 0.8


def test_of_a_page_that_is_one_stretch_of_text_much_is_looked_at() -> None:
    host = HostText()
    host.new_text(page_sketch(f"<pre>{_prose(1, 200)} {_prose(2, 9_000)}</pre>".encode()))
    assert host.new_text(page_sketch(f"<pre>{_prose(1, 200)} {_prose(3, 9_000)}</pre>".encode())) > 500


@given(st.binary(max_size=300))
def test_any_bytes_are_sketched_as_a_page(content: bytes) -> None:
    said, host = page_sketch(b"<p>" + content), HostText()
    assert host.new_text(said) <= said.length
    assert host.new_text(said) == 0
