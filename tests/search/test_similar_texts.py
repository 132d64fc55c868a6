"""Words, shingles, sketches and fingerprints against plain Python."""

import random
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.similar_world import edited, text_of

from gossamer.search.similar.shingles import (
    SHINGLE,
    SKETCH,
    WINDOW,
    contained,
    distinct,
    estimates,
    fingerprints,
    resemblance,
    shingles,
    signature,
)
from gossamer.search.similar.words import origins, words

_CHARACTERWISE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u4e00-\u9fff]"
)


def _plain_words(text: str) -> list[str]:
    """One character after the other, as the module says."""
    folded = unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold()
    found, held = [], ""
    for character in folded + " ":
        within = character.isalnum() or unicodedata.category(character)[0] == "M"
        if held and (not within or _CHARACTERWISE.match(character)):
            found.append(held)
            held = ""
        if within and _CHARACTERWISE.match(character):
            found.append(character)
        elif within:
            held += character
    return found


TEXT = st.text(
    st.one_of(
        st.sampled_from("ab AB\n_-.,éß\xad\u0301漢字かなไทยﬁ①Ⅷहि"),
        st.characters(max_codepoint=0x2FFF, exclude_categories=["Cs", "Cn"]),
    ),
    max_size=80,
)


@given(TEXT)
def test_words_are_runs_of_letters_digits_and_marks_and_single_characters_of_scripts_without_spaces(
    text: str,
) -> None:
    found, plain = words(text), _plain_words(text)
    assert len(found.hashes) == len(plain)
    numbers: dict[int, str] = {}
    for number, word in zip(found.hashes.tolist(), plain, strict=True):
        assert numbers.setdefault(number, word) == word, "different words, different hashes"
    assert len(numbers) == len(set(plain)), "equal words, equal hashes"


@given(TEXT)
def test_offsets_lead_back_to_the_word_in_the_text_itself(text: str) -> None:
    found, back = words(text), origins(text)
    for start, end in zip(found.starts, found.ends, strict=True):
        assert 0 <= back[start] <= back[end - 1] < len(text)
    if text.isascii():
        for number, start, end in zip(found.hashes, found.starts, found.ends, strict=True):
            assert words(text[back[start] : back[end - 1] + 1]).hashes.tolist() == [number]


def test_forms_of_one_word_are_one() -> None:
    for one, other in (
        ("Straße", "STRASSE"),
        ("ﬁnd", "find"),
        ("caf\u00e9", "cafe\u0301"),
        ("co\u00adoperate", "cooperate"),
        ("\uff21\uff22\uff23", "abc"),
    ):
        assert words(one).hashes.tolist() == words(other).hashes.tolist(), one
    assert len(words("snake_case").hashes) == 2
    assert len(words("漢字かな").hashes) == 4


def test_a_long_text_has_the_words_of_its_parts() -> None:
    """It is cut in blocks, which must not show; nor does a word of a megabyte end it."""
    piece = "lorem ipsum Straße 漢字 "
    assert words(piece * 30_000).hashes.tolist() == words(piece).hashes.tolist() * 30_000
    long = words("a " * 200_000 + "x" * 1_000_000 + " end")
    assert 200_002 <= len(long.hashes) < 200_020
    assert long.hashes[-1] == words("end").hashes[0]
    assert len(words("漢" * 600_000).hashes) == 600_000


def test_what_is_no_text_has_no_words() -> None:
    for text in ("", " \n", "...!?", "\ud800", "\x00"):
        assert not len(words(text).hashes), repr(text)
        assert signature(distinct(words(text).hashes)).size == 0
        assert not len(fingerprints(shingles(words(text).hashes)))


@given(st.lists(st.sampled_from("abcd"), max_size=40), st.lists(st.sampled_from("abcd"), max_size=40))
def test_resemblance_is_that_of_sets_of_runs_of_five_words(one: list[str], other: list[str]) -> None:
    def plain(some: list[str]) -> set[tuple[str, ...]]:
        count = max(1, len(some) - SHINGLE + 1) if some else 0
        return {tuple(some[at : at + SHINGLE]) for at in range(count)}

    mine, theirs = (distinct(words(" ".join(some)).hashes) for some in (one, other))
    first, second = plain(one), plain(other)
    assert len(mine) == len(first)
    assert resemblance(mine, theirs) == (len(first & second) / len(first | second) if first | second else 0)
    assert contained(mine, theirs) == (len(first & second) / len(first) if first else 0)


@given(st.integers(0, 10**6), st.integers(0, 90), st.integers(0, 90), st.integers(0, 30))
def test_texts_with_44_words_in_a_row_in_common_share_a_fingerprint(
    seed: int, before: int, following: int, more: int
) -> None:
    passage = text_of(seed, WINDOW + SHINGLE - 1 + more)
    one = f"{text_of(seed + 1, before)} {passage} {text_of(seed + 2, following)}"
    other = f"{text_of(seed + 3, following)} {passage} {text_of(seed + 4, before)}"
    mine, theirs = (fingerprints(shingles(words(text).hashes)) for text in (one, other))
    assert len(np.intersect1d(mine, theirs))


def test_about_one_word_in_twenty_has_a_fingerprint() -> None:
    found = fingerprints(shingles(words(text_of(5, 20_000)).hashes))
    assert 20_000 / 23 < len(found) < 20_000 / 18


@pytest.mark.parametrize("share", [0.01, 0.03, 0.05])
def test_texts_that_resemble_each_other_share_a_band_and_are_estimated_well(share: float) -> None:
    shared, errors, pairs = 0, [], 120
    for seed in range(pairs):
        text = text_of(seed, random.Random(seed).randrange(30, 600))
        one, other = (distinct(words(each).hashes) for each in (text, edited(text, share, seed)))
        true = resemblance(one, other)
        mine, theirs = signature(one), signature(other)
        assert len(mine.sketch) == SKETCH
        errors.append(estimates(mine.sketch[None], theirs.sketch[None])[0] - true)
        shared += bool((mine.bands == theirs.bands).any()) or true < 0.6
    assert shared >= 0.98 * pairs
    assert np.std(errors) < 0.055
    assert abs(np.mean(errors)) < 0.02


def test_unrelated_texts_share_no_band() -> None:
    bands = [signature(distinct(words(text_of(seed)).hashes)).bands for seed in range(200)]
    assert len(np.unique(np.concatenate(bands))) == sum(map(len, bands))


@settings(max_examples=20)
@given(TEXT)
def test_a_text_without_five_words_resembles_the_same_text_only(text: str) -> None:
    few = " ".join(_plain_words(text)[:4])
    assert len(distinct(words(few).hashes)) == bool(few.strip())
    assert not len(np.intersect1d(distinct(words(few).hashes), distinct(words(few + " more").hashes)))
