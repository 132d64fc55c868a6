"""What must be found, as `benchmarks.search` and `benchmarks.similar` compute it without the index."""

import random
from importlib.util import find_spec

import pytest
from benchmarks.planted import Row, jaccard, page, pdf, shingles, words
from benchmarks.search import Answer, known_items
from benchmarks.search_questions import CJK, STEMS, Texts, phrases, planted_pages, stems, titles
from benchmarks.similar import (
    MARKUPS,
    NOISES,
    SHARES,
    Likeness,
    Plant,
    edited_block,
    edited_words,
    judged_clusters,
    judged_copies,
    judged_edits,
    longest_run,
    noisy,
    true_pairs,
)

from gossamer.documents.reading import read

pytestmark = pytest.mark.skipif(find_spec("snowballstemmer") is None, reason="only the benchmarks need it")

STORY = [
    "The",
    "keeper",
    "of",
    "the",
    "lighthouse",
    "wrote",
    "that",
    "the",
    "wind",
    "had",
    "turned",
    "and",
    "nobody",
    "came",
    "to",
    "the",
    "island",
    "any",
    "more",
]
WORDS = [
    f"{one}{other}" for one in ("ka", "ve", "lo", "mi", "ru") for other in ("tan", "sel", "por", "dim", "gul")
]


def row(url: str, text: str, title: str = "") -> Row:
    return Row(f"http://h/{url}", title, text, "text/html", "en", "", "2026-01-01T00:00:00Z")


def test_words_and_phrases_have_a_lower_and_an_upper_set() -> None:
    texts = Texts(
        [row("a", "cold spring mornings"), row("b", "spring is cold"), row("c", "colds", "Springs")]
    )
    assert texts.lower("cold", "spring") == {"http://h/a", "http://h/b"}
    assert texts.upper("cold", "spring") == {"http://h/a", "http://h/b", "http://h/c"}
    assert texts.phrase_lower(["cold", "spring"]) == {"http://h/a"}
    assert texts.phrase_upper(["spring", "morning"], texts.by_url) == {"http://h/a"}
    assert texts.lower("warm") == texts.upper("warm") == set()


@pytest.mark.parametrize("case", STEMS)
def test_planted_words_are_other_forms_of_what_is_asked(case) -> None:
    there, decoy = words(case.sentence), words(case.decoy)
    for word in words(case.query):
        assert word not in there
        assert any(stems(word) & stems(other) for other in there)
    assert not any(stems(word) & stems(other) for word in words(case.query) for other in decoy)


@pytest.mark.parametrize("case", CJK)
def test_planted_words_stand_inside_sentences(case) -> None:
    assert case.form in case.sentence
    assert case.query not in case.decoy
    assert case.form not in words(case.sentence), "not by itself"
    assert set(case.query) & set(case.decoy)


def test_planted_pages_are_read_as_they_were_written() -> None:
    for name, content in planted_pages().items():
        kind, number, _ = name.split("-")
        case = (CJK if kind == "cjk" else STEMS)[int(number)]
        said = read(
            content.encode() if isinstance(content, str) else content, f"http://h/{name}", "text/html"
        )
        assert (case.sentence in said.text.text) != (case.decoy in said.text.text)
        assert said.language == case.language
    assert (
        read(pdf("one line of words"), "http://h/x.pdf", "application/pdf").text.text.strip()
        == "one line of words"
    )


def test_titles_that_two_pages_have_are_not_asked_for() -> None:
    rows = [
        row("a", "x", "The same title"),
        row("b", "x", "the same title!"),
        row("c", "x", "An own title"),
        row("d", "x", "One"),
    ]
    assert [each.title for each in titles(rows, 10, random.Random(1))] == ["An own title"]
    assert len(titles(rows, 10, random.Random(1), alone=False)) == 4


def test_a_page_that_shares_its_title_is_as_good_as_chance_allows() -> None:
    rows = [row("a", "x", "Shared title"), row("b", "x", "Shared title"), row("c", "x", "An own title")]

    def ask(query: str, *, limit: int = 10, snippets: bool = True) -> Answer:
        urls = [each.url for each in rows if each.title == query]
        return Answer(len(urls), urls, {}, {})

    judged = known_items(ask, rows, random.Random(1))
    assert judged["mrr"] == 1
    # Of two, one comes first and one second; of one, always first.
    assert (
        judged["any_page"]["mrr"]
        == judged["any_page"]["mrr_possible"]
        == pytest.approx((0.75 * 2 + 1) / 3, abs=1e-4)
    )
    assert judged["any_page"]["mrr_of_the_title"] == 1
    assert not judged["missed"]


def test_phrases_stand_in_a_text() -> None:
    text = f"{' '.join(STORY)} and so on, as it was told.\n" * 5
    for phrase in phrases([row("a", text)], 5, random.Random(1)):
        assert " ".join(phrase) in text


@pytest.mark.parametrize("share", SHARES)
def test_edits_change_the_share_that_they_say(share: float) -> None:
    chance = random.Random(1)
    text = " ".join(chance.choice(WORDS) + str(number) for number in range(1_000))
    other = [f"x{number}" for number in range(500)]
    block = edited_block(text, share, chance, other)
    changed = sum(word[0] == "x" for word in block.split())
    assert changed == round(1_000 * share)
    # One block breaks as many shingles as it has words, and four more; scattered words up to five each.
    assert jaccard(shingles(text), shingles(block)) > (1 - share - 0.005) / (1 + share + 0.005)
    scattered = jaccard(shingles(text), shingles(edited_words(text, share, chance, other)))
    assert 0.5 * (1 - share) ** 5 < scattered < (1 - share) ** 2


def test_true_pairs_are_all_and_exact() -> None:
    chance = random.Random(2)
    base = [chance.choice(WORDS) for _ in range(60)]
    rows = [row("1-base", " ".join(base)), row("1-words-1", " ".join([*base[:-1], "other"])),
            row("2-base", " ".join(reversed(base)))]  # fmt: skip
    found = true_pairs(rows, 0.1)
    assert set(found) == {("http://h/1-base", "http://h/1-words-1")}
    assert found["http://h/1-base", "http://h/1-words-1"] == jaccard(
        shingles(rows[0].text), shingles(rows[1].text)
    )


def test_recall_precision_and_clusters() -> None:
    true = {
        ("h/1-base", "h/1-words-1"): 0.9,
        ("h/2-base", "h/2-block-20"): 0.65,
        ("h/3-base", "h/3-words-5"): 0.55,
    }
    said = {
        ("h/1-base", "h/1-words-1"): 0.88,
        ("h/3-base", "h/3-words-5"): 0.61,
        ("h/1-base", "h/9-base"): 0.6,
    }
    found = judged_edits(true, said)
    assert (found["pairs"], found["recall"]) == (2, 0.5)
    assert found["precision"] == round(1 / 3, 4)
    assert found["precision_within_a_tenth"] == round(2 / 3, 4)
    with_a_passage = {**said, ("h/1-base", "h/8-base"): 0.1}
    assert judged_edits(true, with_a_passage)["precision"] == round(1 / 3, 4), (
        "it is not said to be a near-duplicate"
    )
    assert found["by_edit"]["block-20"] == {"true_jaccard": 0.65, "pairs": 1, "found": 0}
    clusters = judged_clusters(
        true, {"h/1-base": "a", "h/1-words-1": "a", "h/9-base": "a"}, ["h/1-base", "h/1-words-1", "h/9-base"]
    )
    assert (clusters["clusters"], clusters["recall"], clusters["related"], clusters["largest"]) == (
        1,
        0.5,
        0.3333,
        3,
    )


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("markup", MARKUPS)
def test_planted_passages_keep_their_words(noise: str, markup: str) -> None:
    run = [word for number in range(20) for word in (*STORY, f"(as {number} said),")]
    passage = MARKUPS[markup](noisy(run, noise, random.Random(3)))
    said = read(page("x", []).replace("</h1>", f"</h1>{passage}").encode(), "http://h/x", "text/html")
    wanted = words(" ".join(run))
    assert longest_run(wanted, words(said.text.text)) == len(wanted)


def test_longest_run() -> None:
    assert longest_run(STORY, ["x", *STORY, "y"]) == len(STORY)
    assert longest_run(STORY, [*STORY[:9], "x", *STORY[9:]]) == max(9, len(STORY) - 9)
    assert longest_run(STORY, STORY[:5]) == 0, "runs below eight words are not looked for"


def test_copies_found_right_and_false() -> None:
    run = words(" ".join(STORY * 4))
    plants = [Plant("d1", "p1", run, "none", "list"), Plant("d2", "p2", run, "case", "list")]
    said = {
        "d1": [
            Likeness("http://h/p1.html", 0.0, [" ".join(run)]),
            Likeness("http://h/p3.html", 0.0, ["the wind"]),
        ],
        "d2": [Likeness("http://h/p2.html", 0.0, ["something else"])],
    }
    texts = {"p1": " ".join(run), "p2": "nothing of it", "p3": "the wind had turned"}
    found = judged_copies(plants, said, texts, {"d1": " ".join(run), "d2": " ".join(run)})
    assert (found["found"], found["passage_right"], found["read"]) == (1.0, 0.5, 0.5)
    assert (found["hits"], found["false"]) == (3, round(1 / 3, 4))
