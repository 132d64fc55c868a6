"""Queries made to break, hang, flood or fool a search; and pages that do so where they are shown."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import PATIENCE
from search_world import Ran, Search, assert_plain, gossamer

pytestmark = pytest.mark.slow

MOST_SECONDS = 6.0
"""CPU time of a question, start-up of libraries included, on a machine of any load."""

QUERIES: dict[str, str] = {
    "empty": "",
    "blanks": " \t\n ",
    "a million brackets": "(" * 1_000_000,
    "a million brackets that close": "(" * 500_000 + "wolf" + ")" * 500_000,
    "a million square brackets": "[" * 1_000_000,
    "a million braces": "{" * 1_000_000,
    "a million minus signs": "-" * 1_000_000 + "wolf",
    "a million quotes": '"' * 1_000_000,
    "one quote": '"',
    "a quote that does not close": '"wolf of the',
    "quotes within quotes": '"a "b" c"',
    "empty phrase": '""',
    "a phrase of one word": '"wolf"',
    "a phrase of blanks": '"   "',
    "a phrase of ten thousand words": '"' + "wolf " * 10_000 + '"',
    "only stop words": "the of and a to",
    "a stop word": "the",
    "a word of a million letters": "a" * 1_000_000,
    "a word of a million han": "数" * 1_000_000,
    "a hundred thousand words": " ".join(f"w{number}" for number in range(100_000)),
    "one word a hundred thousand times": "wolf " * 100_000,
    "a hundred thousand filters": "site:a.example " * 100_000,
    "emoji": "🦡",
    "a family": "👩‍👩‍👧‍👦",
    "a flag": "🇫🇷",
    "combining marks": "\u0301" * 10_000,
    "a letter with marks": "z" + "\u0301" * 10_000,
    "mixed scripts": "Πλάτων 数据 мельница مرحبا שלום नमस्ते สวัสดี",
    "punctuation": "!?.,;:-_/\\|@#$%^&*()[]{}<>~`'",
    "a zero byte": "wolf\x00wolf",
    "terminal": "\x1b[31mwolf\x1b]0;owned\x07",
    "bidi": "wolf\u202e\u2066gnp",
    "lone surrogate": "wolf \udcff",
    "noncharacters": "\ufffe\uffff\U0010ffff",
    "invisible": "\u200b\u200c\u200d\ufeff\u00ad",
    "operators": "AND OR NOT",
    "operators apart": "wolf AND",
    "or": "OR wolf",
    "not": "NOT wolf",
    "minus": "-wolf",
    "minus alone": "-",
    "plus": "+",
    "star": "*",
    "stars": "*" * 10_000,
    "question marks": "?" * 10_000,
    "everything": "*:*",
    "a field that is none": "nothing:wolf",
    "a field of the index": "_id:1 body:wolf text:wolf",
    "field without value": "title:",
    "fields without values": "site: type: lang: title: after:",
    "field with a quote": 'title:"',
    "filter in quotes": '"site:example.org"',
    "filter of filters": "site:site:site:site",
    "colon": ":",
    "boost": "wolf^1e308",
    "boost of nothing": "wolf^nan",
    "slop": '"wolf night"~999999999999999999999',
    "fuzzy": "wolf~9999",
    "range": "[a TO z]",
    "range without an end": "title:[a TO",
    "set": "title: IN [a b c",
    "regular expression": "/(a+)+$/",
    "regular expression of a field": "title:/.*.*.*.*.*.*=.*/",
    "pattern": "url:" + "*a" * 5_000,
    "pattern that is none": "url:[z-a]*{{{",
    "date": "after:yesterday",
    "date that is none": "after:2026-13-45",
    "year of five figures": "after:99999-01",
    "year nought": "after:0000-00-00",
    "negative year": "after:-1",
    "language that is none": "lang:" + "x" * 10_000,
    "type that is none": "type:../../etc/passwd",
    "site that is an address": "site:http://user:secret@[::1]:99999/..%2f",
    "site of letters": "site:\u0130.example",
    "SQL": "'; drop table documents; --",
    "script": "<script>alert(1)</script>",
    "template": "{{7*7}} ${7*7} %s %n %(x)s",
    "shell": "$(reboot) `reboot` ; reboot",
    "option in disguise": "site:127.0.0.1 --help",
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(
    "form", [(), pytest.param(("--json",), marks=pytest.mark.slow)], ids=["people", "json"]
)
def test_any_query_ends_in_an_answer_or_a_sentence(
    library: Path, here: Callable[..., Ran], name: str, form: tuple[str, ...]
) -> None:
    started = time.process_time()
    ran = here("search", *form, library, "--", QUERIES[name])
    assert time.process_time() - started < MOST_SECONDS
    assert ran.code in (0, 1, 2)
    if ran.code == 2:
        assert ran.out == ""
        assert ran.err.strip()
    assert "Traceback" not in ran.err and "panicked" not in ran.err
    assert len(ran.err) < 4_000, "what was asked is not printed back whole"
    if not form:
        assert_plain(ran)
        assert len(ran.out) < 20_000


@pytest.mark.parametrize("query", ["after:yesterday", "after:2026-13-45", "after:-1"])
def test_a_date_that_is_none_is_named(library: Path, here: Callable[..., Ran], query: str) -> None:
    ran = here("search", library, query)
    assert ran.code == 2
    assert query.partition(":")[2] in ran.err and "2026-01" in ran.err, "what, and how it is written"


@pytest.mark.parametrize("name", ["empty", "blanks", "punctuation", "one quote", "empty phrase"])
def test_a_query_without_a_word_is_everything_or_is_told_so(
    library: Path, here: Callable[..., Ran], name: str
) -> None:
    ran = here("search", library, QUERIES[name])
    assert ran.code in (0, 1, 2)
    assert (ran.out + ran.err).strip()


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ('"wolf of [2J the terminal', "/terminal"),  # what a text has between two words is between them
        ('"howled 31m all night', "/terminal"),
        ("((((wolf))))", "/terminal"),
        ("wolf) OR (moon", "/terminal"),
        ("wolf: howled", "/terminal"),
        ("wolf! (howled)", "/terminal"),
        ("the wolf's moon", None),
        ("C++", None),
    ],
)
def test_what_is_no_syntax_is_read_as_words(ask: Search, query: str, path: str | None) -> None:
    found = ask(query)
    assert path is None or path in found.paths


@pytest.mark.parametrize("path", ["/script", "/terminal", "/bidi", "/formula"])
def test_hostile_titles_and_texts_are_shown_harmlessly(
    library: Path, here: Callable[..., Ran], path: str
) -> None:
    ran = here("search", library, "wolf", "--limit", "20")
    assert path in ran.out
    assert_plain(ran)


def test_markup_in_a_snippet_is_only_ours(ask: Search) -> None:
    for hit in ask("wolf", "--limit", "20").hits:
        snippet = hit["snippet"]
        if isinstance(snippet, str) and ("<b>" in snippet or "<mark>" in snippet or "<em>" in snippet):
            bare = snippet.replace("<b>", "").replace("</b>", "").replace("<mark>", "").replace("</mark>", "")
            assert "<" not in bare.replace("<em>", "").replace("</em>", "")


@pytest.mark.parametrize(
    "arguments", [["--limit", "-1"], ["--limit", "many"], ["--limit", "99999999999999999999"]]
)
def test_limits_that_are_none(library: Path, here: Callable[..., Ran], arguments: list[str]) -> None:
    ran = here("search", library, "wolf", *arguments)
    assert ran.code in (0, 2)
    assert_plain(ran)


def test_memory_of_a_question_is_bounded(library: Path) -> None:
    # One argument of a program has at most 128 KiB.
    for query in ("(" * 130_000, "wolf " * 26_000, '"' + "a " * 65_000, "数" * 43_000, "*a" * 65_000):
        line = f'ulimit -v {4 << 20}; exec "$0" "$@"'
        ran = gossamer_under(line, library, query)
        assert ran.code in (0, 1, 2), ran.err
        assert_plain(ran)


def gossamer_under(line: str, folder: Path, query: str) -> Ran:
    import subprocess
    import sys

    command = ["sh", "-c", line, sys.executable, "-m", "gossamer", "search", str(folder), "--", query]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def test_folders_that_are_no_index(tmp_path: Path, library: Path) -> None:
    for folder in (tmp_path / "nowhere", tmp_path, Path("/dev/null")):
        ran = gossamer("search", folder, "wolf")
        assert ran.code == 2
        assert_plain(ran)
        assert str(folder) in ran.err
