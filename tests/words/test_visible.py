"""What anybody wrote is shown as text that stays on its line."""

import pytest

from gossamer.words.visible import MOST_MARKS, visible


@pytest.mark.parametrize(
    "text", ["plain", "naïve nai\u0308ve", "שָׁלוֹם", "क्षेत्र", "ที่นี่", "བསྒྲུབས", "Việt Nam", "👍🏽 🇫🇷", "数据"]
)
def test_every_script_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_what_hides_or_steers_is_escaped() -> None:
    assert visible("a\x1b[2J\n\u202eb\u200f") == "a\\x1b[2J\\n\\u202eb\\u200f"


@pytest.mark.parametrize("mark", ["\u0301", "\u0489", "\u20dd"])
def test_marks_do_not_pile_up(mark: str) -> None:
    assert visible(f"z{mark * 50_000}algo e{mark}") == f"z{mark * MOST_MARKS}…algo e{mark}"
    assert visible("z\u0301\u0489" * 1_000) == "z\u0301\u0489" * 1_000, "few on each character"
