"""Forms of pages, as browsers would send them."""

import time

import pytest

from gossamer.extract.html.forms import MOST_CONTROLS, MOST_FORMS, forms_of


def sent(html, **values):
    return forms_of(html.encode(), "utf-8").found[0].filled(values)


@pytest.mark.parametrize(
    ("html", "pairs"),
    [
        ("<form><input name=a value='x&amp;y'><INPUT NAME=b>", [("a", "x&y"), ("b", "")]),
        ("<table><form><tr><td><input name=a value=1></table></form><input name=b>", [("a", "1")]),
        ("<form><form><input name=a></form><input name=b>", [("a", "")]),
        ("<form><input type=checkbox name=a><input type=checkbox name=b checked>", [("b", "on")]),
        ("<form><input type=radio name=a value=1><input type=radio name=a value=2 checked>", [("a", "2")]),
        ("<form><select name=s><option>x<option selected value=2>y<option>z</select>", [("s", "2")]),
        ("<form><select name=s><option> x &amp; </option><option>y</select>", [("s", "x &")]),
        ("<form><textarea name=t>\n<b>&lt;</textarea><input name=u>", [("t", "<b><"), ("u", "")]),
        ("<form><input name=a disabled><input type=file name=f><input type=image name=i>", []),
        ("<form><button name=go value=1>x</button><input type=submit name=b>", [("go", "1")]),
        ("<form><button>x</button><input type=submit name=b value=2>", []),
        ("<form><select name=s multiple><option>x<option selected>y</select>", [("s", "y")]),
        ("<form><select name=s><option disabled>x<option>y</select>", [("s", "y")]),
        ("<form><select name=s><option> x\n\t y&nbsp;</select>", [("s", "x y\xa0")]),
        ("<form><select name=s size=4><option>x<option>y</select>", []),
        ("<form><select name=s size=01><option>x<option>y</select>", [("s", "x")]),
        ("<form><select name=s size=big><option>x<option>y</select>", [("s", "x")]),
        ("<form><select name=s size=4><option>x<option selected>y</select>", [("s", "y")]),
        ("<form><select name=s><option disabled selected>x<option>y</select>", []),
        ("<form><select name=s><option selected>x<option>y<option selected>z</select>", [("s", "z")]),
        (
            "<form><select name=s multiple><option selected>x<option>y<option selected>z"
            "<option selected disabled>d</select><input name=t>",
            [("s", "x"), ("s", "z"), ("t", "")],
        ),
        (
            "<form><input name=t><select name=s disabled multiple><option selected>x<option selected>y",
            [("t", "")],
        ),
        (
            "<form id=f></form><form><select form=f name=s multiple><option selected>x<option selected>y",
            [("s", "x"), ("s", "y")],
        ),
        ("<form><input name=a dirname=d value=1><input name=b>", [("a", "1"), ("d", "ltr"), ("b", "")]),
        ("<form><textarea name=a dirname=d dir=rtl>x</textarea>", [("a", "x"), ("d", "rtl")]),
        ("<form id=f></form><input name=a value=1 form=f><input name=b form=g>", [("a", "1")]),
        (
            "<!-- <form><input name=no> --><script>'<form><input name=no>'</script><form><input name=a>",
            [("a", "")],
        ),
    ],
)
def test_what_a_form_sends(html, pairs):
    assert sent(html) == pairs


def test_what_is_filled_in_takes_the_place_of_what_stood_there():
    html = "<form><input name=u><input type=password name=p value=x><input type=checkbox name=r value=1>"
    assert sent(html, p="5", r="1") == [("u", ""), ("p", "5"), ("r", "1")]
    form = forms_of(html.encode(), "utf-8").found[0]
    assert (form.password, form.names, form.called) == ("p", ["u", "p", "r"], "1")
    html = "<form><input type=submit name=a value=1><input type=submit name=b value=2>"
    assert sent(html, b="3") == [("a", "1"), ("b", "3")]


def test_a_page_says_what_its_addresses_refer_to_and_how_it_is_written():
    forms = forms_of("<base href=/x/><form name=n action=a method=POST>ä".encode("latin-1"), "windows-1252")
    assert (forms.base, forms.codec) == ("/x/", "windows-1252")
    assert (forms.found[0].action, forms.found[0].post, forms.found[0].called) == ("a", True, "n")
    html = b"<form method=x rel=nofollow accept-charset='a b'><button formaction=x></button></form><form method=DIALOG>"
    first, second = forms_of(html, "utf-8").found
    assert (first.method, first.rel, first.charset, second.method) == ("get", "nofollow", "a b", "dialog")
    assert first.controls[0].otherwise and not second.post


@pytest.mark.parametrize(
    "html", ["<form>" + "<input name=a>" * (MOST_CONTROLS + 1), "<form></form>" * (MOST_FORMS + 1)]
)
def test_forms_without_end_are_cut_and_it_is_said(html):
    forms = forms_of(html.encode(), "utf-8")
    assert not forms.whole and len(forms.found) <= MOST_FORMS + 1


@pytest.mark.parametrize(
    "unit", ["<", "<form", "<a b='", "<select name=s><option>", "<!--", "<textarea>", "<input name="]
)
def test_reading_takes_time_in_proportion(unit):
    times = []
    for count in (10_000, 80_000):
        html = unit.encode() * count
        began = time.process_time()
        forms_of(html, "utf-8")
        times.append(time.process_time() - began)
    assert times[1] < 40 * times[0] + 0.2
