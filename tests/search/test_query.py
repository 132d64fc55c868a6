"""The language of queries: what is typed becomes a tree, and nothing anybody types is an error but a few."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.query.asked import All, Any, Asked, Field, Filter, Kind, Not, Span, Words
from gossamer.search.query.parser import DEPTH, LENGTH, PARTS, Unreadable, read_query


def _at(year: int, month: int = 1, day: int = 1) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("typed", "tree"),
    [
        ("", All()),
        ("fox", Words("fox")),
        ("quick fox", All((Words("quick"), Words("fox")))),
        ('"quick fox" den', All((Words("quick fox", phrase=True), Words("den")))),
        ("“quick fox”", Words("quick fox", phrase=True)),
        ("fox -dog", All((Words("fox"), Not(Words("dog"))))),
        ('fox -"big dog"', All((Words("fox"), Not(Words("big dog", phrase=True))))),
        ("fox OR dog cat", Any((Words("fox"), All((Words("dog"), Words("cat")))))),
        ("(fox OR dog) cat", All((Any((Words("fox"), Words("dog"))), Words("cat")))),
        ("cat -(fox dog)", All((Words("cat"), Not(All((Words("fox"), Words("dog"))))))),
        ("site:Example.org", Filter(Kind.SITE, "example.org")),
        ("年度报告 site：example.org", All((Words("年度报告"), Filter(Kind.SITE, "example.org")))),
        ("报告：年度", Words("报告：年度")),
        ("type:pdf,doc", Any((Filter(Kind.TYPE, "pdf"), Filter(Kind.TYPE, "doc")))),
        ("-lang:de", Not(Filter(Kind.LANGUAGE, "de"))),
        ("title:fox", Words("fox", Field.TITLE)),
        ('title:"the fox"', Words("the fox", Field.TITLE, phrase=True)),
        ("inurl:docs", Words("docs", Field.URL)),
        ("url:*/docs/?.pdf", Words("*/docs/?.pdf", Field.URL, pattern=True)),
        ("pre*", Words("pre*", pattern=True)),
        ("title:pre*", Words("pre*", Field.TITLE, pattern=True)),
        ("p*", Words("p*")),
        ("after:2026", Span(since=_at(2026))),
        ("before:2026-02", Span(before=_at(2026, 2))),
        ("after:2026-2-3", Span(since=_at(2026, 2, 3))),
        ("foo:bar", All((Words("foo"), Words("bar")))),
        ("http://h/p", Words("//h/p", Field.URL)),
        ("sftp://h/p", Words("//h/p", Field.URL)),
        ("a:b:c", All((Words("a:b:c"),)).parts[0]),
        ("(fox", Words("fox")),
        ("fox)", Words("fox")),
        ('"fox', Words("fox", phrase=True)),
        ("OR fox OR", Words("fox")),
        ("() fox ()", Words("fox")),
        ("- fox", All((Words("-"), Words("fox")))),
        ("or fox", All((Words("or"), Words("fox")))),
    ],
)
def test_what_is_typed(typed: str, tree: Asked) -> None:
    assert read_query(typed) == tree


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("fox " + "(" * 3_000, f"more than {DEPTH} brackets are open at character {4 + DEPTH + 1}"),
        ("-(" * 2_000, f"more than {DEPTH} brackets"),
        ("w " * 2_000, f"more than {PARTS} words and filters, at character {2 * PARTS + 1}"),
        ("fox after:2026-13", "after:2026-13 at character 5 is no date"),
        ("before:" + "9" * 3_000, "is no date"),
        ("(" * 1_000_000, f"more than {LENGTH} characters"),
        ("数" * (LENGTH + 1), f"more than {LENGTH} characters"),
        ("before:yesterday", "before:yesterday at character 1 is no date"),
    ],
)
def test_what_is_refused_is_said_in_a_line_with_its_place(typed: str, said: str) -> None:
    before = time.process_time()
    with pytest.raises(Unreadable) as refused:
        read_query(typed)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200
    assert time.process_time() - before < 5, "whatever the machine"


def test_a_refusal_has_words_in_chinese() -> None:
    with pytest.raises(Unreadable) as refused:
        read_query("(" * 100)
    assert "括号" in refused.value.why.said("zh")


PIECES = [*'ab*?:-()"“” \t|书é\x00\ud800.', "OR", "site:", "title:", "url:", "after:", "(((((", "**", "?*"]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_nothing_else_is_refused(typed: str) -> None:
    try:
        read_query(typed)
    except Unreadable as refused:
        assert str(refused.why.code).startswith("query.")
