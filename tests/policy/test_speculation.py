"""How far speculative links are believed."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.reasons.codes import SpeculationCode
from gossamer.model.url import Url
from gossamer.policy.speculation.belief import MOST_FORMS, MOST_KINDS, MOST_KNOWN, REMEMBERED, Tried
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.form import (
    Form,
    Where,
    element_of,
    form_of_page,
    group_of,
    is_form,
    is_question,
    known_as,
    prior,
    question,
    summed_as,
    word_of,
)
from gossamer.policy.speculation.forms_config import FormsConfig

EVERY = [element_of(where, form, named=named) for where, form, named in product(Where, Form, (False, True))]
CONFIG = SpeculationConfig()
visits = st.lists(st.tuples(st.sampled_from(EVERY), st.booleans()), max_size=200)


def test_every_kind_has_a_belief_of_its_own_place() -> None:
    assert all(0.0 < prior(element) < 1.0 for element in EVERY)
    assert len(set(EVERY)) == len(EVERY)
    assert prior("script: root named") > prior("script: root") > prior("script: part")
    assert prior("script: file") > prior("script file: file")


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    ("form", "anywhere", "aside"),
    [
        (Form.WHOLE, 0.8, 0.8),
        (Form.ROOT, 0.7, 0.7),
        (Form.DOT, 0.5, 0.35),
        (Form.QUERY, 0.3, 0.21),
        (Form.FILE, 0.5, 0.35),
        (Form.PART, 0.25, 0.175),
        (Form.NAME, 0.2, 0.14),
    ],
)
def test_what_is_believed_at_first(form: Form, anywhere: float, aside: float, named: bool) -> None:
    """By what came of each (benchmarks.script_links); a name adds 0.2, of which a file aside has 0.7."""
    relative = aside < anywhere
    for where in (Where.SCRIPT, Where.DATA, Where.EVENT):
        assert prior(element_of(where, form, named=named)) == pytest.approx(min(anywhere + 0.2 * named, 0.95))
    for where in (Where.FILE, Where.DATA_FILE):
        more = 0.2 * named * (0.7 if relative else 1.0)
        assert prior(element_of(where, form, named=named)) == pytest.approx(min(aside + more, 0.95))
    assert prior(element_of(Where.IMPORT, form, named=named)) == 0.9
    assert prior(element_of(Where.MARKUP, form, named=named)) == 0.7


@given(visits)
def test_what_was_learned_is_kept_and_bounded(made: list[tuple[str, bool]]) -> None:
    tried = Tried()
    for element, found in made:
        tried.came_of(element, found=found)
    assert tried.missing == sum(not found for _, found in made)
    assert len(tried.kinds) <= MOST_KINDS and len(tried.packed()) < 4_096
    again = Tried.unpacked(tried.packed())
    assert all(again.belief(element) == tried.belief(element) for element in EVERY)
    assert all(0.0 <= tried.belief(element) <= 1.0 for element in EVERY)


@pytest.mark.parametrize("element", EVERY)
def test_every_kind_ends_if_it_leads_nowhere_and_comes_back(element: str) -> None:
    tried, vain = Tried(), 0
    config = SpeculationConfig(max_missing=1)
    while tried.doubt(element, 1_000, config) is None:
        tried.came_of(element, found=False)
        vain += 1
    assert vain <= 8
    for _ in range(20):
        tried.came_of(element, found=True)
    assert tried.doubt(element, 1_000, config) is None


def test_known_urls_speak_for_a_kind_but_drown_nothing() -> None:
    tried, element = Tried(), "script: part"
    assert tried.doubt(element, 0, CONFIG) is not None
    news = [tried.was_known(element) for _ in range(1_000)]
    assert sum(news) == MOST_KNOWN
    assert tried.doubt(element, 0, CONFIG) is None
    for _ in range(20):
        tried.came_of(element, found=False)
    doubt = tried.doubt(element, 10_000, CONFIG)
    assert doubt is not None and doubt.code == SpeculationCode.DOUBTED


def test_a_share_of_the_visits_may_lead_nowhere() -> None:
    tried, element = Tried(), "script: root"
    for _ in range(100):
        tried.came_of(element, found=True)
    for pages, most in ((1, CONFIG.first_missing), (1_000, 50)):
        while tried.missing < most:
            assert tried.doubt(element, pages, CONFIG) is None
            tried.came_of(element, found=False)
            for _ in range(10):
                tried.came_of(element, found=True)
        doubt = tried.doubt(element, pages, CONFIG)
        assert doubt is not None and doubt.code == SpeculationCode.SPENT
    assert tried.kinds[element].found + tried.kinds[element].missing <= REMEMBERED


def form(target: str = "/find?q=&lang=en") -> str:
    return known_as(Url.parse(f"http://site.example{target}"))


def test_a_form_is_known_by_its_path_and_the_names_of_its_fields() -> None:
    assert form() == form("/find?q=&lang=de") == "form /find?q&lang"
    names = [
        form("/find?q="),
        form("/find?q=&l="),
        form("/other?q="),
        form(f"/{'x' * 90}?q="),
        form(f"/{'x' * 90}?r="),
    ]
    assert len(set(names)) == len(names) and max(map(len, names)) == 80
    for name in names:
        asked = question(name, "a: b")
        assert is_question(asked) and not is_form(asked)
        assert (group_of(asked), word_of(asked), summed_as(asked)) == (name, "a: b", "form")
    page = form_of_page("utf-8", "q")
    assert is_form(page) and not is_question(page)
    for element in EVERY:
        assert not is_form(element) and not is_question(element)
        assert group_of(element) == summed_as(element) == element


@pytest.mark.parametrize(("found", "most"), [(0, 8), (10, 58), (64, 128)])
def test_a_form_that_brings_nothing_any_more_is_left(found: int, most: int) -> None:
    tried, least = Tried(), FormsConfig().min_yield
    for number in range(found):
        tried.came_of(question(form(), f"good {number}"), found=True)
    vain = 0
    while tried.form_doubt(question(form(), "next"), least) is None:
        tried.came_of(question(form(), f"bad {vain}"), found=False)
        vain += 1
    assert vain <= most and (found or vain == most)
    doubt = tried.form_doubt(question(form(), "next"), least)
    assert doubt is not None and doubt.code == SpeculationCode.FORM_SPENT and doubt.values[0] == form()
    assert tried.form_doubt(question(form("/other?q="), "next"), least) is None
    assert tried.missing == 0 and tried.doubt("script: root", 0, CONFIG) is None, (
        "scripts have their own share"
    )
    assert Tried().form_doubt(question(form(), "x"), 1.0) is not None


def test_each_list_of_words_is_asked_once_and_of_few_forms() -> None:
    tried = Tried()
    assert not tried.asks(form(), 0), "no words"
    tried = Tried()
    assert [tried.asks(form(), words) for words in (5, 5, 7, 7)] == [True, False, True, False]
    others = [tried.asks(form(f"/{number}?q="), 7) for number in range(MOST_FORMS)]
    assert others == [True] * (MOST_FORMS - 1) + [False]
    assert Tried.unpacked(tried.packed()) == tried


def test_what_is_kept_of_forms_is_bounded_beside_all_else() -> None:
    tried = Tried()
    for element in EVERY:
        tried.came_of(element, found=False)
    for number in range(20):
        name = form(f"/{number}{'x' * 100}?q=")
        if tried.asks(name, (1 << 64) - 1):
            tried.came_of(question(name, "word"), found=True)
    assert len(tried.packed()) < 4_096
