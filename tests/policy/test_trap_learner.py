"""The trap learner: its statistics, what counts as yield, and how it fares on a web with known truth."""

from collections import Counter
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy import trap_learner as learner
from gossamer.policy.beta import chance_below, surely_below
from gossamer.policy.farms import farm_handicap
from gossamer.policy.ordering import LAST_LEVEL
from gossamer.policy.text_sketch import Gists, HostText, HostTexts, Sketch, gist, likeness, sketch
from gossamer.policy.trap_learner import Evidence, PatternRecord, TrapLearnerConfig, judge, learn
from gossamer.policy.trap_quota import SuspectQuota
from gossamer.policy.trap_stems import Stems
from gossamer.policy.traps import repeats_parent
from gossamer.policy.url_pattern import NUMBERS, SESSION

CONFIG = TrapLearnerConfig()
NOWHERE = (0, 0)
BARREN = Evidence("http://e.test/x")
FRUITFUL = Evidence("http://e.test/y", new_text=900)


def learned(
    record: PatternRecord, evidence: Evidence, times: int, start: int = 0, more: int = 1
) -> PatternRecord:
    """After so many pages, each of which leads to `more` of its kind."""
    for _ in range(times):
        record = learn(record, evidence, start, more, CONFIG)
    return record


def verdict(own: PatternRecord, stem: PatternRecord | None = None, **changes: int) -> learner.Verdict:
    fresh = PatternRecord("stem")
    return judge(
        own, stem or fresh, changes.get("doubts", NUMBERS), changes.get("fingerprint", 1), NOWHERE, CONFIG
    )


# Beta …


@given(st.integers(0, 60), st.integers(0, 60))
def test_beta_is_the_binomial_sum(successes: int, failures: int) -> None:
    trials, share = successes + failures + 1, Fraction(1, 10)
    exact = sum(
        comb(trials, wins) * share**wins * (1 - share) ** (trials - wins)
        for wins in range(successes + 1, trials + 1)
    )
    assert chance_below(0.1, successes, failures) == pytest.approx(float(exact), abs=1e-12)


@given(st.integers(0, 60), st.integers(0, 200), st.floats(0.02, 0.4), st.floats(0.5, 0.99))
def test_what_is_plain_need_not_be_computed(wins: int, losses: int, limit: float, certain: float) -> None:
    assert surely_below(limit, wins, losses, certain) == (chance_below(limit, wins, losses) > certain)


def test_beta_of_the_field_notes() -> None:
    assert chance_below(0.1, 0, 27) < 0.95 < chance_below(0.1, 0, 28)


# Records …


def test_quarantine_after_28_judged_pages_without_yield() -> None:
    record = learned(PatternRecord("/x/#"), BARREN, 1 + 27)  # the first page counts for nothing
    assert not record.quarantined
    record = learned(record, BARREN, 1)
    assert record.quarantined
    assert (record.fetched, record.tried, record.gained) == (29, 28, 0)
    actions = Counter(verdict(record, fingerprint=number).action for number in range(10_000))
    assert actions == {"quarantine": 9_900, "probe": 100}


@given(st.integers(0, 1_500), st.integers(1, 3), st.integers(0, 14))
def test_what_has_an_end_is_never_quarantined(pages: int, listing: int, start: int) -> None:
    """However little its pages say: a few of them list all others, the rest leads to nothing new."""
    record = PatternRecord("/std/*/fn.*.html")
    for number in range(pages):
        record = learn(record, BARREN, start, pages if number < listing else 0, CONFIG)
        assert not record.quarantined


@given(st.lists(st.integers(0, 2), min_size=30, max_size=200))
def test_quarantine_takes_nearly_as_many_more_as_were_read(bred: list[int]) -> None:
    record = PatternRecord("/x/#")
    for number, more in enumerate(bred, 1):
        before = record
        record = learn(record, BARREN, 0, more, CONFIG)
        if record.quarantined and not before.quarantined:
            assert 4 * sum(bred[:number]) >= 3 * number
            assert record.tried >= 28


def test_names_without_any_doubt_are_never_turned_away() -> None:
    """Somebody chose each of them, so they come to an end, whatever their pattern did."""
    record = learned(PatternRecord("/x/*"), BARREN, 40)
    assert record.quarantined
    found = verdict(record, doubts=0)
    assert found.action == "admit"
    assert learner.SUSPECT <= found.handicap < learner.LAST_HANDICAP


def test_a_pattern_is_let_out_when_probes_yield_and_only_then() -> None:
    record = learned(PatternRecord("/x/#"), BARREN, 40)
    assert learned(record, BARREN, 20).quarantined
    record = learned(record, FRUITFUL, 2)
    assert record.quarantined
    record = learned(record, FRUITFUL, 6)
    assert not record.quarantined
    assert record.probes > 0


def test_what_the_operator_released_stays_out() -> None:
    record = learner.release(learned(PatternRecord("/x/#"), BARREN, 40))
    record = learned(record, BARREN, 500)
    assert not record.quarantined
    assert verdict(record).action == "admit"
    assert verdict(record).handicap == 0


def test_old_evidence_fades() -> None:
    record = learned(PatternRecord("/x/#"), FRUITFUL, 3_000)
    record = learned(record, BARREN, 1_500)
    assert record.quarantined
    assert record.fetched == 4_500


@given(st.lists(st.booleans(), max_size=400), st.integers(0, 20))
def test_counts_are_sane_whatever_comes(pages: list[bool], start: int) -> None:
    record = PatternRecord("/x/#")
    for good in pages:
        record = learn(record, FRUITFUL if good else BARREN, start, 1, CONFIG)
        assert 0 <= record.gained <= record.tried <= CONFIG.memory
        assert record.yielded <= record.fetched
        assert 0 <= verdict(record).handicap <= learner.LAST_HANDICAP
    assert record.fetched == len(pages)


def test_the_stem_speaks_for_patterns_that_have_not_yielded() -> None:
    stem = learned(PatternRecord("/browse/**"), BARREN, 40)
    assert verdict(PatternRecord("/browse/new/*/"), stem).action == "quarantine"
    good = learned(PatternRecord("/browse/good/*/"), FRUITFUL, 5)
    assert verdict(good, stem).action == "admit"


def test_suspicion_grows_with_barren_pages_and_with_looks() -> None:
    many = PatternRecord("stem", discovered=30)
    handicaps = [verdict(learned(PatternRecord("/x/#"), BARREN, pages), many).handicap for pages in range(28)]
    assert handicaps == sorted(handicaps)
    assert handicaps[0] == 0
    assert handicaps[-1] >= learner.SUSPECT
    young = PatternRecord("/x;sid=H")
    assert verdict(young, doubts=SESSION).handicap >= learner.SUSPECT
    assert verdict(learned(young, FRUITFUL, 4), doubts=SESSION).handicap == 0


def test_fetches_of_an_unsettled_pattern_grow_as_the_root_of_those_discovered() -> None:
    record = PatternRecord("/x/#", discovered=100, fetched=9, tried=1)
    later = PatternRecord("/x/#", discovered=100, fetched=10, tried=1)
    assert verdict(later).handicap > verdict(record).handicap


def test_looks_and_other_hosts_make_quarantine_come_sooner() -> None:
    assert learner.head_start(SESSION, NOWHERE, CONFIG) == CONFIG.looks
    assert learner.head_start(0, (60, 0), CONFIG) == CONFIG.elsewhere
    assert learner.head_start(0, (60, 30), CONFIG) == 0
    assert learned(PatternRecord("x"), BARREN, 1 + 28 - CONFIG.looks, CONFIG.looks).quarantined


def test_links_count_only_towards_what_has_proven_itself() -> None:
    assert learner.yields(Evidence("u", links=2), CONFIG)
    assert not learner.yields(Evidence("u", links=1, open_links=50), CONFIG)
    barren = learned(PatternRecord("/t/#"), BARREN, 5)
    assert not learner.is_proven(barren)
    young = PatternRecord("/new"), PatternRecord("/new/**")
    assert not learner.is_open(barren, young[1])
    assert learner.is_open(*young)
    assert not learner.is_open(young[0], learned(young[1], BARREN, 9))
    assert learner.is_proven(learned(PatternRecord("/a/*"), FRUITFUL, 2))
    patient = learned(PatternRecord("/list/#"), Evidence("u", open_links=9), 8)
    assert patient.tried == 0
    assert learned(patient, Evidence("u", open_links=9), 1).tried == 1


@given(st.integers(0, LAST_LEVEL | 15 << 24), st.integers(0, 7))
def test_handicaps_order_levels_and_spare_robots_files(level: int, handicap: int) -> None:
    assert learner.demoted(0, handicap) == 0
    if level:
        assert learner.handicap_of(learner.demoted(level, handicap)) == handicap
        assert learner.demoted(learner.demoted(level, 5), handicap) == learner.demoted(level, handicap)
        assert learner.demoted(level, handicap) < 1 << 32


# Farms, quota, stems …


@given(st.integers(0, 10**6), st.integers(0, 300))
def test_linking_domains_raise_what_a_domain_may_have(visits: int, linkers: int) -> None:
    few = farm_handicap(visits, linkers, CONFIG, seeded=False)
    assert few >= farm_handicap(visits, linkers + 1, CONFIG, seeded=False)
    assert few <= farm_handicap(visits + 1, linkers, CONFIG, seeded=False) <= learner.LAST_HANDICAP
    assert farm_handicap(visits, linkers, CONFIG, seeded=True) == 0


def test_farm_handicap_begins_beyond_the_allowance() -> None:
    assert farm_handicap(CONFIG.farm_visits * 27 - 1, 3, CONFIG, seeded=False) == 0
    assert farm_handicap(CONFIG.farm_visits * 27, 3, CONFIG, seeded=False) == learner.SUSPECT + 2
    assert farm_handicap(CONFIG.farm_visits * 27 * 16, 3, CONFIG, seeded=False) == learner.SUSPECT + 3


def test_suspects_have_their_share_and_the_rest_when_nobody_else_waits() -> None:
    quota = SuspectQuota(0.01)
    lent = Counter[bool]()
    for _ in range(5_000):
        suspect = quota.allows(others=True)
        quota.count(suspect=suspect)
        lent[suspect] += 1
    assert lent[True] == 50
    assert quota.allows(others=False)


def test_what_suspects_did_not_use_is_not_saved_up() -> None:
    quota = SuspectQuota(0.01)
    for _ in range(5_000):
        quota.count(suspect=False)
    assert quota.allows(others=True)
    quota.count(suspect=True)
    assert not quota.allows(others=True)


def test_stems_are_bounded_and_one_host_does_not_speak_for_all() -> None:
    stems = Stems(10)
    for number in range(1_000):
        stems.learn("/cal/**", number, good=False)
    for number in range(9):
        stems.learn(f"/s{number}/**", 0, good=True)
    assert stems.get("/cal/**") == (100, 0)
    other = Stems()
    other.restore(stems.state())
    assert other.get("/cal/**") == (100, 0)
    stems.learn("/one/more/**", 0, good=True)
    assert stems.get("/cal/**") == NOWHERE


# Texts …

_WORDS = [
    "silk",
    "web",
    "thread",
    "spider",
    "morning",
    "dew",
    "meadow",
    "light",
    "wind",
    "grass",
    "garden",
    "river",
    "stone",
]
_TEXT = " ".join(_WORDS * 6)


def test_numbers_and_dates_are_no_new_text() -> None:
    host = HostText()
    page = "<html><title>x</title><p>Events of {} {} {}: nothing planned, see the other days of {}</p>"
    assert host.new_text(sketch(page.format("Monday", 3, "March", 2024).encode())) > 30
    assert host.new_text(sketch(page.format("Friday", 17, "October", 2031).encode())) == 0


def test_a_word_in_a_template_is_little_new_text_and_an_article_is_much() -> None:
    host = HostText()
    host.new_text(sketch(f"<p>You browse silk.</p><p>{_TEXT}</p>".encode()))
    assert host.new_text(sketch(f"<p>You browse lemonade.</p><p>{_TEXT}</p>".encode())) < 100
    other = " ".join(word[::-1] for word in _WORDS * 6)
    assert host.new_text(sketch(f"<p>{other}</p>".encode())) > 200


def test_hidden_text_does_not_count() -> None:
    content = b"<p>one two three</p><script>var x = 'four five six'</script>"
    start = content.index(b"<script>")
    assert sketch(content, [(start, len(content))]) == sketch(b"<p>one two three</p>")


def test_likeness() -> None:
    one, other = sketch(b"one and the same, said twice"), sketch(b"alpha beta gamma delta epsilon")
    assert likeness(one, one) == 1.0
    assert likeness(one, other) < 0.5
    assert sketch(b"") == Sketch()


@given(st.binary(max_size=400))
def test_any_bytes_can_be_sketched(content: bytes) -> None:
    said, host = sketch(content), HostText()
    assert len(said.pieces) <= 64
    assert host.new_text(said) >= 0
    assert host.new_text(said) == 0


def test_gists_tell_copies_under_other_addresses() -> None:
    gists = Gists()
    page = gist("Title", "", 2_345, 6)
    assert page != 0
    assert gist("Short", "", 20, 6) == 0
    assert (
        len({page, gist("Title", "", 2_346, 6), gist("Title", "", 2_345, 7), gist("Other", "", 2_345, 6)})
        == 4
    )
    assert not gists.met(b"host", page)
    assert gists.met(b"host", page)
    assert not gists.met(b"other", page)
    assert not gists.met(b"host", 0)
    assert not gists.met(b"host", 0)


def test_texts_of_hosts_are_bounded() -> None:
    texts = HostTexts(2)
    said = sketch(_TEXT.encode())
    assert texts.of(b"a").new_text(said) > 0
    assert texts.of(b"a").new_text(said) == 0
    texts.of(b"b")
    texts.of(b"c")
    assert texts.of(b"a").new_text(said) > 0


def test_a_page_that_is_its_own_parent() -> None:
    assert repeats_parent(7, 7)
    assert not repeats_parent(0, 0)
    assert not repeats_parent(7, 8)
