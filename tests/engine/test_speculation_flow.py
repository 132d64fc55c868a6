"""Speculative links on their way: which are visited when their turn comes, and what is learned from each."""

import pytest
from engine_world import SITE, START, parsed

from gossamer.engine.admission.speculation import LINKED, OFF, Speculation, leaves_no_trace
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import PageState
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.reasons.codes import SpeculationCode
from gossamer.model.reasons.reason import text
from gossamer.policy.speculation.belief import Tried
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.form import Form, Where, element_of, form_of_page, known_as, question
from gossamer.policy.speculation.forms_config import FormsConfig
from gossamer.state.records import PageRecord, VisitRecord

URL = f"{SITE}/guess"
LIKELY = element_of(Where.MARKUP, Form.WHOLE)
GUESS = {"kind": LinkKind.SPECULATIVE, "element": LIKELY}


@pytest.fixture
def guesses_of(world_of):
    def make(**settings):
        world = world_of()
        config = SpeculationConfig(**{"follow": True} | settings)
        return world, Speculation(world.frontier, world.identity, world.counters, config)

    return make


def tried(world):
    return Tried.unpacked(world.host().speculation)


def test_a_guess_claims_its_url_when_its_turn_comes_and_once(guesses_of):
    world, guesses = guesses_of()
    lease, other = world.lease(URL, **GUESS), world.lease(URL, **GUESS)
    fingerprint = world.identity.fingerprint(parsed(URL))
    assert guesses.refusal(lease) is None
    assert world.frontier.has_claimed(fingerprint, lease.ticket)
    assert guesses.refusal(lease) is None, "it is its own"
    assert guesses.refusal(other) == Refused(Rule.SPECULATIVE, LINKED), "another page guessed the same"


@pytest.mark.parametrize(
    ("settings", "fields", "detail"),
    [
        ({}, {}, None),
        ({"follow": False}, {}, OFF),
        ({"min_belief": 0.99}, {}, SpeculationCode.DOUBTED),
        ({"follow": False}, {"attempts": 1}, None),  # claimed with its first attempt
        ({"follow": False}, {"again": True}, None),  # it was there
        ({"follow": False}, {"kind": LinkKind.NAVIGATION}, None),
    ],
)
def test_which_guesses_are_visited(guesses_of, settings, fields, detail):
    world, guesses = guesses_of(**settings)
    refused = guesses.refusal(world.lease(URL, **GUESS | fields))
    assert (refused is None) == (detail is None)
    if isinstance(detail, SpeculationCode):
        assert refused.detail.code is detail
    elif detail is not None:
        assert refused == Refused(Rule.SPECULATIVE, detail)
    claimed = world.identity.fingerprint(parsed(URL)) in world.frontier.seen
    assert claimed == (not settings), "what is doubted claims nothing"


def test_a_link_to_the_same_url_comes_first(guesses_of):
    world, guesses = guesses_of()
    world.admit(URL)
    assert guesses.refusal(world.lease(URL, **GUESS)) == Refused(Rule.SPECULATIVE, LINKED)


def test_what_came_of_them_is_counted_for_the_host_and_for_the_crawl(guesses_of):
    world, guesses = guesses_of()
    lease = world.lease(URL, **GUESS)
    for found in (True, False, False):
        with world.frontier.changes():
            guesses.came_of(lease, found=found)
    kind = tried(world).kinds[LIKELY]
    assert (kind.found, kind.missing, tried(world).missing) == (1, 2, 2)
    assert world.counters.speculative == {LIKELY: (1, 2)}


@pytest.mark.parametrize(
    ("kind", "speaks"), [(None, True), (LinkKind.NAVIGATION, True), (LinkKind.SPECULATIVE, False)]
)
def test_a_known_url_speaks_for_its_kind_unless_it_was_guessed(guesses_of, kind, speaks):
    world, guesses = guesses_of()
    fingerprint = world.identity.fingerprint(parsed(URL))
    candidate = Candidate(parsed(URL), **GUESS)
    guesses.was_known(candidate, fingerprint)
    assert world.host() is None, "of a host that nobody knows nothing is kept"
    world.admit(f"{SITE}/")
    if kind is not None:
        record = PageRecord(URL, PageState.DONE, kind=kind, visits=(VisitRecord(START, 0.0, 200),))
        with world.frontier.changes() as batch:
            world.memory.put(fingerprint, record, batch)
    for _ in range(9):
        guesses.was_known(candidate, fingerprint)
    assert tried(world).kinds.get(LIKELY, Tried()) != Tried() or not speaks
    known = tried(world).kinds[LIKELY].known if speaks else 0
    assert known == (4 if speaks else 0), "as far as a few visits would"


def test_each_host_is_doubted_by_what_was_found_there(guesses_of):
    world, guesses = guesses_of(first_missing=2, max_missing=0.0, min_belief=0.0)
    candidate = Candidate(parsed(URL), **GUESS)
    assert guesses.doubt(candidate) is None
    lease = world.lease(URL, **GUESS)
    for doubted in (False, True):
        with world.frontier.changes():
            guesses.came_of(lease, found=False)
        assert (guesses.doubt(candidate) is not None) == doubted
    assert guesses.doubt(candidate).code is SpeculationCode.SPENT
    assert guesses.doubt(Candidate(parsed("http://other.example/x"), **GUESS)) is None


def test_one_to_a_url_waits_at_a_time(guesses_of):
    world, guesses = guesses_of()
    candidate = Candidate(parsed(URL), **GUESS)
    with world.frontier.changes():
        assert guesses.enter(candidate)
        assert not guesses.enter(candidate)
    assert world.identity.fingerprint(parsed(URL)) not in world.frontier.seen
    world.admit(f"{SITE}/linked", depth=9)
    assert world.queued() == [f"{SITE}/linked", URL], "after all links"


@pytest.mark.parametrize(
    ("outcome", "nothing"),
    [
        (Refused(Rule.SPECULATIVE, LINKED), True),
        (Refused(Rule.SPECULATIVE, OFF), True),
        (Refused(Rule.SPECULATIVE, text("doubt")), False),
        (Refused(Rule.ROBOTS), False),
        (Failed(Fault.TIMEOUT), False),
    ],
)
def test_of_what_there_is_nothing_to_tell(outcome, nothing):
    assert leaves_no_trace(outcome) == nothing


FORM = Candidate(parsed(f"{SITE}/find?q=&t=1"), LinkKind.SPECULATIVE, element=form_of_page("utf-8", "q"))


@pytest.fixture
def asking(world_of):
    world = world_of()
    rules = {"now": FormsConfig(words=("one", "two"))}
    made = Speculation(
        world.frontier, world.identity, world.counters, SpeculationConfig(), lambda _: rules["now"]
    )
    return world, made, rules


def queued(world, guesses, form=FORM):
    with world.frontier.changes():
        return [candidate.url.target for candidate in guesses.asked(form) if guesses.enter(candidate)]


def test_a_form_is_asked_its_words_once_whatever_its_pages_put_into_it(asking):
    world, guesses, rules = asking
    other = Candidate(parsed(f"{SITE}/find?q=&t=2"), LinkKind.SPECULATIVE, element=FORM.element)
    assert queued(world, guesses) == ["/find?q=one&t=1", "/find?q=two&t=1"]
    assert queued(world, guesses) == queued(world, guesses, other) == []
    rules["now"] = FormsConfig(words=("one", "three"))
    assert queued(world, guesses) == ["/find?q=three&t=1"], "of another list what is new"
    rules["now"] = FormsConfig()
    assert queued(world, guesses) == []
    assert world.counters.hosts == 1, "a host is counted though a form was the first to name it"


def test_of_a_host_that_is_asked_nothing_nothing_is_kept(asking):
    world, guesses, rules = asking
    rules["now"] = FormsConfig(words=("ж",))
    form = Candidate(FORM.url, LinkKind.SPECULATIVE, element=form_of_page("windows-1252", "q"))
    assert queued(world, guesses, form) == [] and world.host() is None


def test_a_word_is_asked_while_there_are_words_and_its_form_brings_something(asking):
    world, guesses, rules = asking
    element = question(known_as(FORM.url), "one")
    lease = world.lease(f"{SITE}/find?q=one&t=1", kind=LinkKind.SPECULATIVE, element=element)
    world.admit(f"{SITE}/")
    words, rules["now"] = rules["now"], FormsConfig()
    assert guesses.refusal(lease) == Refused(Rule.SPECULATIVE, OFF)
    rules["now"] = words
    guesses.was_known(lease.candidate, world.identity.fingerprint(parsed(f"{SITE}/")))
    assert tried(world).kinds == {}, "that others link to answers says nothing"
    for _ in range(8):
        assert guesses.doubt(lease.candidate) is None
        with world.frontier.changes():
            guesses.came_of(lease, found=False)
    refused = guesses.refusal(lease)
    assert refused.detail.code is SpeculationCode.FORM_SPENT
    assert world.counters.speculative == {"form": (0, 8)}
