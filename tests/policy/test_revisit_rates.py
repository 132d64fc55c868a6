"""How often pages change, by what their visits saw and what others do."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import CELLS, DAY, SLOWEST, SPREAD_BYTES, Belief, Spread


def after(days: float, visits: str, spread: Spread | None = None) -> tuple[History, Belief]:
    """The history of visits every so many days, `c` those that saw a change, and what is believed of it."""
    history = History(0, 0)
    for each in visits:
        history = history.visited(history.last + days * DAY, changed=each == "c")
    return history, (spread or Spread()).believe(history)


def per_day(belief: Belief) -> float:
    return math.exp(belief.mean) * DAY


def test_a_page_without_visits_is_like_the_web():
    belief = Spread().believe(History(0, 0))
    assert 1 / per_day(belief) == pytest.approx(60, rel=0.2)
    assert math.sqrt(belief.variance) == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize(
    ("days", "visits", "rate", "variance"),
    [
        (1.0, "s", 0.0146802, 3.49189),
        (1.0, "ssss", 0.0118605, 3.05804),
        (10.0, "sc", 0.0230001, 2.15380),
        (1.0, "sccs", 0.0674775, 3.55812),
        (0.1, "scsscsscss", 0.0364414, 5.65227),
        (30.0, "cccccs", 0.0362674, 1.04400),
        (3.0, "s" * 20 + "c", 0.0108263, 1.45091),
    ],
)
def test_the_figures_that_the_simulations_were_made_with(
    days: float, visits: str, rate: float, variance: float
):
    """By what is held likely of boxes, clocks and bursts: whoever changes that simulates again (benchmarks.revisit)."""
    _, belief = after(days, visits)
    assert (per_day(belief), belief.variance) == (
        pytest.approx(rate, rel=1e-4),
        pytest.approx(variance, rel=1e-4),
    )


def test_the_same_for_changes_that_were_announced_and_for_a_site_that_was_learned():
    history = History(0, 0)
    for _ in range(3):
        history = history.told(history.last + 9 * DAY, 0, 1).visited(history.last + 10 * DAY, changed=True)
    belief = Spread().believe(history.visited(history.last + 10 * DAY, changed=False))
    assert per_day(belief) == pytest.approx(0.0512169, rel=1e-4)
    site = Spread(Spread())
    for _ in range(16):
        site.learn(after(0.2, "csccs")[0], 1.0)
    assert per_day(site.believe(History(0, 0))) == pytest.approx(0.0315444, rel=1e-4)
    assert len(site.rates) == 22, "they are stored so"


def test_many_visits_tell_the_rate_whatever_the_web_does():
    # At a tenth of the visits: the rate is -ln(0.9) a visit.
    for days in (1.0, 3.0, 10.0):
        _, belief = after(days, "sssscsssss" * 20)
        assert per_day(belief) * days == pytest.approx(-math.log(0.9), rel=0.35)
        assert belief.variance < 0.3


@given(st.integers(0, 3), st.integers(31, 60), st.floats(1, 30))
def test_a_change_more_is_a_faster_page(changes: int, rest: int, days: float):
    _, less = after(days, "c" * changes + "s" * (rest + 1))
    _, more = after(days, "c" * (changes + 1) + "s" * rest)
    assert more.mean >= less.mean


def test_a_few_changes_of_many_at_short_intervals_may_be_a_box_that_turns():
    _, belief = after(0.1, "scsscsscss")
    _, rare = after(0.1, "s" * 100 + "c" * 6)
    assert belief.variance > 2 > rare.variance


def test_visits_without_a_change_make_it_ever_slower():
    means = [after(10, "s" * number)[1].mean for number in (0, 1, 3, 10, 30, 100)]
    assert means == sorted(means, reverse=True) and means[-1] < means[0] - 2.5


def test_a_page_that_has_changed_at_each_visit_is_not_given_up():
    _, belief = after(30, "c" * 12)
    # It is fast, or has a clock: nobody knows, so it is any page.
    assert belief == Spread().believe(History(0, 0))
    # One visit without a change says that there is no clock.
    _, seen = after(30, "c" * 12 + "s")
    assert seen.mean > belief.mean + 0.5 and seen.variance < belief.variance


def test_changes_that_were_announced_are_no_clock():
    history = History(0, 0)
    for _ in range(12):
        history = history.told(history.last + 29 * DAY, 0, 1).visited(history.last + 30 * DAY, changed=True)
    belief = Spread().believe(history)
    assert per_day(belief) == pytest.approx(1 / 29, rel=0.5)
    assert belief.variance < 0.3


@given(
    st.floats(0, 60_000), st.floats(0, 60_000), st.integers(0, 255), st.integers(0, 255), st.integers(0, 255)
)
def test_whatever_was_seen_something_is_believed(quiet, stirred, same, changed, announced):
    history = History(
        0, 0, quiet=quiet, stirred=stirred, same=same, changed=changed, announced=min(announced, changed)
    )
    site = Spread(Spread())
    for belief in (site.believe(history), site.learn(history, 1.0), site.learn(history, 1e-6)):
        assert math.isfinite(belief.mean) and math.isfinite(belief.variance) and belief.variance >= 0
    assert all(math.isfinite(each) and each >= 0 for each in site.rates)


def test_a_site_is_learned_and_others_are_only_a_little_like_it():
    crawl = Spread()
    fast = Spread(crawl)
    for _ in range(400):
        history, _ = after(0.2, "csccsccscc")
        fast.learn(history, 1.0)
    new = History(0, 0)
    assert per_day(fast.believe(new)) > 1
    # The crawl has learned as well, and a site of which nothing is known is like it.
    assert Spread(crawl).believe(new).mean == pytest.approx(crawl.believe(new).mean)
    assert fast.believe(new).variance <= crawl.believe(new).variance < Spread().believe(new).variance
    assert sum(fast.rates) == pytest.approx(1)


def test_a_page_counts_by_its_time_not_by_its_visits():
    spread = Spread()
    slow, _ = after(100, "s" * 20)
    fast, _ = after(1, "c" * 10 + "s" * 10)
    for _ in range(200):
        spread.learn(slow, 1.0)
        for _ in range(100):
            spread.learn(fast, 0.01)
    middle = CELLS // 2
    border = next(cell for cell in range(middle, 0, -1) if SLOWEST * 2**cell * DAY < 0.02)
    assert sum(spread.rates[:border]) == pytest.approx(0.5, abs=0.1)


def test_what_a_site_has_learned_is_stored():
    crawl = Spread()
    site = Spread(crawl)
    history, _ = after(5, "sscsssc")
    for _ in range(160):
        site.learn(history, 1.0)
    stored = site.pack()
    assert len(stored) == SPREAD_BYTES
    again = Spread(crawl, stored)
    assert again.rates == pytest.approx(site.rates, rel=1e-3)


def test_the_crawl_learns_each_visit_once_whatever_is_stored_in_between():
    crawl = Spread()
    site = Spread(crawl)
    history, _ = after(5, "sscsssc")
    for number in range(64):
        site.learn(history, 1.0)
        if number == 31:
            site = Spread(crawl, site.pack())
    alone = Spread()
    for _ in range(64):
        alone.learn(history, 1.0)
    assert sum(crawl._cells) == pytest.approx(64, rel=0.01)


def test_new_evidence_outweighs_what_is_old():
    site = Spread(Spread())
    slow, _ = after(100, "s" * 20)
    fast, _ = after(1, "cscscscscs")
    for _ in range(600):
        site.learn(slow, 100.0)
    before = per_day(site.believe(History(0, 0)))
    for _ in range(400):
        site.learn(fast, 100.0)
    assert per_day(site.believe(History(0, 0))) > 20 * before


def test_what_is_stored_means_the_same_rates_for_ever():
    """Cell `n` stands for 2^n changes in thirty years."""
    for cell in (0, 10, CELLS - 1):
        cells = [0.0] * CELLS
        cells[cell] = 1e9
        belief = Spread(Spread(), struct.pack(f"<{CELLS}f", *cells)).believe(History(0, 0))
        assert per_day(belief) == pytest.approx(2**cell / (30 * 365.25), rel=1e-3)


def test_half_of_what_is_too_much_is_forgotten_and_the_rest_is_a_distribution():
    site = Spread(Spread())
    slow, _ = after(100, "s" * 20)
    for _ in range(5 * 16):
        site.learn(slow, 1_000.0)
        assert sum(site.rates) == pytest.approx(1)
    assert sum(struct.unpack(f"<{CELLS}f", site.pack())) < 40_000
