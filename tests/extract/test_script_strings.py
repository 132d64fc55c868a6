"""Strings of scripts and data that may be addresses."""

import json

import pytest
from benchmarks.script_links import planted
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gossamer.extract.scripts.addresses import form_of
from gossamer.extract.scripts.literals import literals
from gossamer.extract.scripts.pages import in_page
from gossamer.extract.scripts.strings import in_source
from gossamer.policy.speculation.form import Form, Where, prior

NOTHING = """/ /g a/b text/html 16/9 2024/05/17 Europe/Berlin // /users/:id /docs/* /ab/[slug] /ab/{id} ^/ab/(.*)$
//div[@class] /usr/lib/x ../moment ./locale/de a.b.c #x/y http://www.w3.org/2000/svg https://schema.org M0/0L10/10
@scope/pkg/dist/index.js javascript:void(0) data:a/b.html mailto:a@b.example /ab/... /ab%zz C:\\a\\b.html
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoH"""


def whole(script: str) -> list[str]:
    return [one.value for one in literals(script) if one.whole]


@pytest.mark.parametrize(
    ("script", "strings"),
    [
        ("a = 'x'; // 'y'\nb = \"z\" /* 'q' */", ["x", "z"]),
        ("a = '<!-- x'; \n<!-- 'y'\n'z'\n--> 'w'\n'v'", ["<!-- x", "z", "v"]),
        ("a = b / 'x' / c", ["x"]),
        ("a = /'/ ; b = 'x'", ["x"]),
        ("return /'/.test('x')", ["x"]),
        ("if (a) /'/.exec(b); 'x'", ["x"]),
        ("a = (b) / 2, 'x', 4 / 2", ["x"]),
        ("a = /[/']/, 'x'", ["x"]),
        ("a = i++ / 2 + '/' + j / 2; 'x'", ["x"]),
        ("`a${ {b: `c${'x'}`} }d` + `e`, `f`", ["x", "f"]),
        ("tag`a`, typeof `b`", ["b"]),
        ("'a' + 'b' + c, 'd', 'g' + 'h', e + 'i'", ["d", "gh"]),
        ("a += 'x'; b = 'y'; '/z/'.concat(c)", ["y"]),
        ("a = 'not closed\nb = 'x'", ["x"]),
        (
            r"'a\/b\u002Fc\x2fd\u{2f}e\'f\
g'",
            ["a/b/c/d/e'fg"],
        ),
        ('{"a": "b", "c": [1, "d"]}', ["a", "b", "c", "d"]),
    ],
)
def test_literals(script: str, strings: list[str]) -> None:
    assert whole(script) == strings


@given(st.dictionaries(st.text(max_size=8), st.lists(st.text(max_size=12), max_size=4), max_size=4))
def test_all_strings_of_json_are_found(value: dict[str, list[str]]) -> None:
    expected = [text for name, texts in value.items() for text in (name, *texts)]
    assert whole(json.dumps(value)) == expected
    assert whole(json.dumps(value, ensure_ascii=False)) == expected


@given(st.text(alphabet="ab/'\"`\\${}[]()+=<>!-* \n.,:;x0?&", max_size=80))
@example("`${`${'")
@example("}{`}")
def test_any_text_is_read_to_its_end(text: str) -> None:
    end = 0
    for one in literals(text):
        assert end <= one.start < one.end <= len(text)
        end = one.end
    for where in Where:
        assert all(0.0 <= prior(mention.element) <= 1.0 for mention in in_source(text, where))
    list(in_page(text.encode() + b"<script>" + text.encode(), "utf_8"))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(["/", "/[", "'", '"', "`", "`${", "}", "<!--", "/*", "\\", "'/a'", "+", ")/a", " "]),
        min_size=1,
        max_size=4,
    )
)
def test_each_character_is_looked_at_a_few_times(parts: list[str]) -> None:
    """Counted by how far literals look, not timed: no literal and no comment is begun twice."""
    starts = [one.start for one in literals("".join(parts) * 50)]
    assert starts == sorted(set(starts))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("/ab/c", Form.ROOT),
        ("/a/b.html?x=1#y", Form.ROOT),
        ("https://a.example/x", Form.WHOLE),
        ("//a.example/x.js", Form.WHOLE),
        ("../a/b.html", Form.DOT),
        ("./ab/", Form.DOT),
        ("?page=2&a=b", Form.QUERY),
        ("a/b.html", Form.FILE),
        ("b.js", Form.PART),
        ("", None),
        ("/ab/<%= b %>", None),
        ("see /ab/c.html", None),
        ("x" * 3000 + ".html", None),
        *((nothing, None) for nothing in NOTHING.split()),
    ],
)
def test_forms(text: str, form: Form | None) -> None:
    assert form_of(text) is form


def test_a_name_says_what_a_path_without_an_ending_is() -> None:
    assert form_of("guide/install/", named=True) is Form.NAME
    assert form_of("guide/install/") is None


def test_what_was_planted_is_found_and_little_else() -> None:
    figures = planted()
    assert figures["pages"] >= 60
    assert figures["recall"] >= 0.93 and figures["precision"] >= 0.94, figures["wrong"]


def test_markup_and_data_within_strings_end() -> None:
    nested = '"/a/b.html"'
    for _ in range(5):
        nested = json.dumps(f"[{nested}]")
    assert len(list(in_source(nested, Where.DATA))) <= 1
