"""The passage of a hit is that which answers, wherever it stands in a text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

from gossamer.search.query.parser import read_query
from gossamer.search.text.snippets import LENGTH, SEARCHED, Marker
from gossamer.search.text.words import stem_of

FILLER = "Nothing of what is told here is of interest to anybody. "


def _passage(query: str, text: str, language: str = "en") -> tuple[str, list[str]]:
    pieces = Marker(read_query(query), ["en", "zh"]).passage(text, language)
    return "".join(piece.text for piece in pieces), [piece.text for piece in pieces if piece.marked]


@pytest.mark.parametrize("filler", [FILLER, "Ничего интересного здесь нет, и не было. "])
@pytest.mark.parametrize("before", [0, 59_900, 60_000, 200_000, SEARCHED - 1_000])
def test_a_word_is_shown_wherever_it_stands(before: int, filler: str) -> None:
    text = (filler * (before // len(filler) + 1))[:before] + " Two porcupines came. " + filler * 50
    shown, marked = _passage("porcupine", text)
    assert marked == ["porcupines"]
    assert len(shown) < LENGTH + 60


def test_the_passage_with_more_of_the_words_is_shown_though_it_stands_late() -> None:
    text = "A porcupine. " + FILLER * 3_000 + "The porcupine and the kettle. " + FILLER * 3_000
    assert _passage("porcupine kettle", text)[1] == ["porcupine", "kettle"]


def test_what_did_not_occur_among_much_else_is_shown_with_what_stands_beside_it() -> None:
    """Later parts are looked through for the rare word alone: the others are found around it."""
    text = "A thing, a list. " * 5_000 + FILLER * 3_000 + "The list of kettles and things. " + FILLER * 3_000
    shown, marked = _passage("thing list kettle", text)
    assert "The list of kettles and things." in shown
    assert marked == ["list", "kettles", "things"]


@pytest.mark.parametrize("before", range(880, 1_010, 10))
def test_words_that_stand_together_are_shown_wherever_a_part_ends_that_is_looked_through(before: int) -> None:
    text = "A kettle. " + ("- " * before)[: before - 10] + " A kettle with a porcupine. " + FILLER * 50
    assert _passage("porcupine kettle", text)[1] == ["kettle", "porcupine"]


def test_words_that_are_everywhere_hide_no_other() -> None:
    assert "the kettle" in _passage("the kettle", "the thing " * 10_000 + "and the kettle sings.")[0]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [('"to be or not to be"', "To be, or not\nto be, that is"), ('"this or that"', "about this; or that.")],
)
def test_a_phrase_is_shown_rather_than_its_words(query: str, sentence: str) -> None:
    text = "It is not for this man to be there or to do that. " * 400 + sentence + FILLER * 400
    assert " ".join(sentence.split()) in _passage(query, text)[0]


def test_beyond_what_is_looked_at_the_beginning_is_shown() -> None:
    shown, marked = _passage("porcupine", FILLER * (SEARCHED // len(FILLER) + 10) + "A porcupine.")
    assert shown.startswith("Nothing of what is told") and not marked


def test_a_run_of_han_is_shown_wherever_it_stands() -> None:
    assert _passage("数据库", "今天没有消息。" * 20_000 + "这里有数据库。", "zh")[1] == ["数据库"]


@given(
    text=st.lists(
        st.sampled_from(
            ["Porcupine", "porcupines", "kettle", "Kettles'", "kéttle", "pore", "ketchup", "kettledrum", "不"]
        ),
        max_size=40,
    ).map(" ".join),
    language=st.sampled_from(["", "en", "de"]),
)
@settings(max_examples=50, deadline=None)
def test_all_and_only_forms_of_what_was_asked_for_are_marked(text: str, language: str) -> None:
    wanted = {stem_of(word, one) for word in ("porcupine", "kettle") for one in ("", "en")}
    pieces = Marker(read_query("porcupine kettle"), ["en"]).marked(text, language)
    forms = [
        one for one in re.findall(r"[^\W_]+", text) if {stem_of(one, language), stem_of(one, "")} & wanted
    ]
    assert [piece.text for piece in pieces if piece.marked] == forms
    assert "".join(piece.text for piece in pieces) == text


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("tries", "We try it. They tried it.", ["try", "tried"]),
        ("using", "What we use, and the usage.", ["use"]),
        ("verfugbar", "Es ist die verfügbare Menge.", ["verfügbare"]),
        ("going", "Go on, or be gone with the goat.", ["Go"]),
        ("re*", "A rest, a tree, THE REEF.", ["rest", "REEF"]),
        ("i", "İ said: I ski. is it?", ["İ", "I"]),
    ],
)
def test_a_word_is_marked_in_each_form_whatever_letters_it_shares(
    query: str, text: str, marked: list[str]
) -> None:
    language = "de" if "ü" in text else "en"
    pieces = Marker(read_query(query), ["en", "de"]).marked(text, language)
    assert [piece.text for piece in pieces if piece.marked] == marked


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("bucher", "Die Bu\u0308cher.", ["B\u00fccher"]),
        ("\u092a\u0941\u0938\u094d\u0924\u0915", "\u092f\u0939 \u092a\u0941\u0938\u094d\u0924\u0915 \u0939\u0948\u0964",
         ["\u092a\u0941\u0938\u094d\u0924\u0915"]),
        ("\u0643\u062a\u0627\u0628", "\u0643\u0650\u062a\u064e\u0627\u0628\u064c", ["\u0643\u0650\u062a\u064e\u0627\u0628\u064c"]),
        ("\u0437\u0430\u043c\u043e\u043a", "\u0417\u0430\u0301\u043c\u043e\u043a!", ["\u0417\u0430\u0301\u043c\u043e\u043a"]),
        ("hyphen", "A hy\u00adphen.", ["hyphen"]),
        ("python", "\u4f7f\u7528Python\u7f16\u7a0b", ["Python"]),
        ("python", "\u0e17\u0e35\u0e48Python\u0e17\u0e35\u0e48", ["Python"]),
        ("\u30c7\u30fc\u30bf", "\u30c6\u3099\u30fc\u30bf", ["\u30c7\u30fc\u30bf"]),
        ("\u30af\u30ed\u30fc\u30e9", "\uff78\uff9b\uff70\uff97", ["\u30af\u30ed\u30fc\u30e9"]),
        ("\u6587\u5b57", "\u8aad\u3080\u2f42\u5b57", ["\u6587\u5b57"]),
        ("\u0e04\u0e33", "\u0e16\u0e32\u0e21\u0e04\u0e33\u0e16\u0e32\u0e21", ["\u0e04\u0e33"]),
        ("web", "\uff37\uff25\uff22\uff7b\uff72\uff84", ["\uff37\uff25\uff22"]),
    ],
)  # fmt: skip
def test_a_word_is_marked_as_a_whole_however_its_characters_are_written(
    query: str, text: str, marked: list[str]
) -> None:
    """Decomposed, with vowels or points, with what is not seen, within a script without blanks, of half the width."""
    for before in ("", "\u2014", "\u201cOh\u201d "):
        assert _passage(query, before + text)[1] == marked


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("elephant", "\u00e9l\u00e9phant"), ("apfel", "\u00c4PFEL"), ("ubergro*", "\u00dcbergr\u00f6\u00dfe"), ("oedipe", "\u0152dipe"),
        ("izmir", "\u0130zmir"), ("\u0643\u062a\u0627\u0628", "\u0643\u0650\u062a\u064e\u0627\u0628\u064c"), ("efficient", "e\ufb03cient"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("far", [20_000, 600_000])
def test_a_word_with_diacritics_that_were_not_typed_is_shown_wherever_it_stands(
    query: str, word: str, far: int
) -> None:
    text = FILLER * (far // len(FILLER)) + word + " " + FILLER * 50
    assert _passage(query, text)[1] == [word]


def test_a_text_that_becomes_shorter_as_it_is_composed_is_read_on() -> None:
    text = "e\u0301" * 70 + " " + "o\u0308 " * 30_000 + "porcupine " + "o\u0308 " * 30_000
    marker = Marker(read_query("porcupine"), ["en"])
    assert [
        piece.text for piece in marker.passage(text[:90], "en", lambda end: text[:end]) if piece.marked
    ] == ["porcupine"]


@pytest.mark.parametrize(
    ("before", "phrase", "at"),
    [
        ("So it is: maybe or not. ", '"be or"', "To be or not"),
        ("He will be. Or: ", '"kettle is on"', "the KETTLE,\nis ONCE"),
        ("The kettle was on. ", '"the kettle is"', "The kettle is"),
        ("Über den See. ", '"über das kettle"', "Über das Kettle"),
    ],
)
@pytest.mark.parametrize("far", [0, 40_000])
def test_a_phrase_is_found_by_its_words_and_not_by_parts_of_them(
    before: str, phrase: str, at: str, far: int
) -> None:
    text = (before * far)[:far] + FILLER + before + FILLER * 10 + at + " " + FILLER * 10
    assert " ".join(at.split()) in _passage(phrase, text)[0]


@given(
    words=st.lists(
        st.sampled_from(["kettle", "Kettles", "porcupine", "thé", "list", FILLER * 3]), max_size=30
    ),
    size=st.integers(0, 3_000),
    query=st.sampled_from(
        ["kettle", "porcupine kettle", '"list kettle"', "the list porcupine", "absent", "數據"]
    ),
)
@settings(max_examples=60, deadline=None)
def test_a_text_is_read_as_far_as_it_takes_and_the_passage_is_that_of_all_of_it(
    words: list[str], size: int, query: str
) -> None:
    text = " ".join(words)
    asked: list[int] = []

    def more(end: int) -> str:
        asked.append(end)
        return text[:end]

    marker = Marker(read_query(query), ["en", "zh"])
    assert marker.passage(text[:size], "en", more if size < len(text) else None) == marker.passage(text, "en")
    assert asked == sorted({*asked}) and all(end > size for end in asked)


def test_what_stands_at_the_beginning_is_not_looked_for_in_all_of_a_text() -> None:
    def more(end: int) -> str:
        raise AssertionError(end)

    text = "The porcupine and the kettle. " + FILLER * 400
    marker = Marker(read_query("porcupine kettle"), ["en"])
    assert marker.passage(text, "en", more) == marker.passage(text, "en")


def test_no_character_is_shown_that_is_not_seen() -> None:
    pieces = Marker(read_query("porcupine"), ["en"]).marked(
        "\ufeffThe\u200f\u202e porcupine\u2069\u00ad!", "en"
    )
    assert [piece.text for piece in pieces] == ["The ", "porcupine", "!"]
