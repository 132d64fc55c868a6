"""The account books of OPIC, one entry at a time: whole numbers, so each is exact."""

import pytest

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.reasons.codes import WorthCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url
from gossamer.policy.ordering import levels
from gossamer.policy.ordering.levels import level_at, step_meaning, steps_of
from gossamer.policy.ordering.opic import (
    FOREIGN_STEPS,
    FRONT_STEPS,
    MOST_CREDIT,
    Gift,
    Opic,
    OpicConfig,
    OpicWorth,
)
from gossamer.policy.ordering.ordering import ROBOTS_LEVEL

VOICE = 1 << 10  # of a link that brings one unit


def found(text="http://a.example/page", kind=LinkKind.NAVIGATION, via="http://a.example/", depth=1):
    return Candidate(Url.parse(text), kind, depth, via=via)


SEED = found("http://a.example/", LinkKind.SEED, "", 0)


def opic(**told):
    return Opic(OpicConfig(**{"credit": 1_000, "tax": 10, **told}))


def books(order):
    ledger = order.ledger
    return {name: getattr(ledger, name) for name in ("total", "known", "bank", "dividend", "moving")}


def test_seeds_bring_credit_into_the_world():
    order = opic()
    worth = order.admitted(SEED, None)
    assert (worth.credit, worth.seen, worth.held, worth.share) == (1_000, 0, 0, 0)
    assert worth.voice == int((1_000 << 20) ** 0.5)
    assert books(order) == {"total": 1_000, "known": 1, "bank": 0, "dividend": 0, "moving": 0}
    other = order.admitted(found(), None)
    assert (other.credit, other.voice) == (0, 0)
    assert books(order)["known"] == 2 and books(order)["total"] == 1_000


def test_credit_is_bounded():
    order = opic()
    order.ledger.total = MOST_CREDIT - 400
    assert order.admitted(SEED, None).credit == 400
    assert order.admitted(SEED, None).credit == 0
    assert order.ledger.total == MOST_CREDIT == 1 << 60


def test_a_page_gives_equal_shares_after_tax():
    order = opic()
    worth, gift = order.spread(SEED, order.admitted(SEED, None), 3, 7)
    # 900 after tax in seven shares of 128; what is left of the division goes to all.
    assert gift == Gift(128, int((128 << 20) ** 0.5))
    assert (worth.credit, worth.share, worth.held) == (0, 128, 4 * 128)
    assert books(order) == {
        "total": 1_000,
        "known": 1,
        "bank": 1_000 - 7 * 128,
        "dividend": 0,
        "moving": 3 * 128,
    }
    assert order.ledger.clock == 1.0 and (worth.history, worth.turn) == (1.0, 1.0)
    # The rest of its links get the same shares.
    worth, again = order.spread(SEED, worth, 4, 4)
    assert again == gift and (worth.share, worth.held) == (0, 0)
    assert books(order)["moving"] == 7 * 128
    assert order.ledger.clock == 1.0


def test_another_number_of_links_is_reckoned_anew():
    order = opic()
    worth, _ = order.spread(SEED, order.admitted(SEED, None), 1, 2)
    assert worth.held == 450
    worth, gift = order.spread(SEED, worth, 1, 3)
    # It holds 450, and of the bank's 100 not more than there is; the tax again.
    assert gift.credit == (450 - 45) // 3
    assert order.ledger.bank == 100 + 45


def test_the_bank_pays_a_dividend_when_it_holds_more_than_the_page():
    order = opic()
    poor = order.admitted(found(), None)
    rich = order.admitted(SEED, None)
    order.closed(rich)
    assert books(order) == {"total": 1_000, "known": 2, "bank": 1_000, "dividend": 0, "moving": 0}
    worth, gift = order.spread(found(), poor, 1, 1)
    assert books(order) == {"total": 1_000, "known": 2, "bank": 50, "dividend": 500, "moving": 450}
    assert gift.credit == 450 and worth.seen == 500
    assert order.ledger.clock == 0.5


def test_the_bank_keeps_what_cannot_be_divided():
    order = opic()
    worths = [order.admitted(found(), None) for _ in range(3)]
    order.ledger.total = order.ledger.bank = 1_000
    order.spread(found(), worths[0], 1, 1)
    assert (order.ledger.dividend, order.ledger.bank) == (333, 1 + 333 - 300)


@pytest.mark.parametrize(("bank", "dividend"), [(999, 0), (1_000, 0), (1_001, 1_001)])
def test_no_dividend_before_the_bank_holds_more(bank, dividend):
    order = opic()
    worth = order.admitted(SEED, None)
    order.ledger.bank = bank
    order.ledger.total += bank
    order.spread(SEED, worth, 1, 1)
    assert order.ledger.dividend == dividend


def test_gifts_arrive():
    order = opic()
    _, gift = order.spread(SEED, order.admitted(SEED, None), 2, 2)
    new = order.admitted(found(), gift)
    assert (new.credit, new.voice) == (450, gift.voice)
    assert order.ledger.moving == 450
    order.ledger.dividend += 7
    richer = order.give(new, gift)
    assert (richer.credit, richer.seen, richer.voice, order.ledger.moving) == (907, 7, 2 * gift.voice, 0)
    assert order.merge(gift, Gift(3, 4)) == Gift(453, gift.voice + 4)


def test_lost_gifts_and_closed_pages_go_to_all():
    order = opic()
    worth, gift = order.spread(SEED, order.admitted(SEED, None), 1, 2)
    order.lose(gift)
    assert books(order)["moving"] == 0 and books(order)["bank"] == 100 + 450
    order.ledger.dividend += 5
    closed = order.closed(worth)
    assert (closed.credit, closed.share, closed.held, closed.seen) == (0, 0, 0, 5)
    assert books(order)["bank"] == 550 + 450 + 5


def test_gifts_travel_between_ledgers():
    one, two = opic(), opic()
    _, gift = one.spread(SEED, one.admitted(SEED, None), 1, 1)
    arrived = two.unpack(one.pack(gift))
    assert arrived == gift
    assert (one.ledger.total, one.ledger.moving) == (100, 0)
    assert (two.ledger.total, two.ledger.moving) == (900, 900)


def test_accounts_travel_between_ledgers():
    one, two = opic(), opic()
    worth = one.admitted(SEED, None)
    one.ledger.dividend, one.ledger.clock = 30, 5.0
    worth = OpicWorth(1_000, 10, worth.voice, 4, 40, 0.5, 3.0)
    two.ledger.dividend, two.ledger.clock = 7, 9.0
    here = two.arrivals(one.state())(worth)
    assert (here.credit, here.held, here.seen, here.turn, here.history) == (1_020, 40, 7, 7.0, 0.5)
    assert (two.ledger.total, two.ledger.known) == (1_060, 1)
    future = OpicWorth(0, 30, 0, turn=6.0)
    assert two.arrivals(one.state())(future).turn == 9.0
    one.ledger.total += 60
    one.departed(worth)
    assert (one.ledger.total, one.ledger.known) == (0, 0)


def test_what_was_under_way_at_a_crash_goes_to_all():
    order = opic()
    order.spread(SEED, order.admitted(SEED, None), 1, 1)
    again = opic()
    again.restore(order.state())
    assert books(again) == {"total": 1_000, "known": 1, "bank": 1_000, "dividend": 0, "moving": 0}
    assert again.ledger.clock == 1.0


@pytest.mark.parametrize(
    ("passed", "history"),
    [(0.0, 0.8 + 0.5), (0.5, 0.4 + 0.5), (0.999, 0.0008 + 0.5), (1.0, 0.5), (2.0, 0.25)],
)
def test_what_was_handed_on_fades(passed, history):
    order = opic()
    order.ledger.total, order.ledger.clock, order.ledger.known = 2_000, 3.0, 9
    worth = OpicWorth(1_000, 0, 0, history=0.8, turn=3.0 - passed)
    found_now, _ = order.spread(SEED, worth, 1, 1)
    assert found_now.history == pytest.approx(history)
    assert found_now.turn == order.ledger.clock == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("url", "via", "steps"),
    [
        ("http://a.example/x", "http://a.example/", 0),
        ("http://a.example/", "http://a.example/x", FRONT_STEPS),
        ("http://a.example/x", "http://b.example/", FOREIGN_STEPS),
        ("http://a.example/", "http://b.example/", FRONT_STEPS + FOREIGN_STEPS),
        ("http://a.example/x", "", 0),
        ("http://a.example/x", "https://a.example/", 0),
        ("http://www.a.example/x", "http://a.example/", 0),
        ("http://a.example/x", "http://www.a.example/", 0),
        ("http://a.example/x", "no url", 0),
    ],
)
def test_front_pages_and_links_across_weigh_more(url, via, steps):
    order = opic()
    worth = OpicWorth(0, 0, 1_000)
    candidate = found(url, via=via)
    assert order.waiting_level(candidate, worth) == level_at(steps_of(1_000) + steps, candidate)
    assert (FRONT_STEPS, FOREIGN_STEPS) == (3 * levels.STEPS, levels.STEPS)


def test_without_an_account_a_url_is_last():
    order = opic()
    assert order.level(found()) == level_at(0, found()) > order.waiting_level(found(), OpicWorth(0, 0, 2))


def test_other_settings_hold_from_now_on():
    order = opic()
    order.retune(OpicConfig(credit=50, tax=50))
    worth = order.admitted(SEED, None)
    assert worth.credit == 50
    assert order.spread(SEED, worth, 1, 1)[1].credit == 25


def test_what_is_explained_adds_up():
    order = opic()
    worth = order.admitted(SEED, None)
    order.ledger.dividend, order.ledger.total = 100, 2_000
    said = order.explain(SEED, worth)
    assert said["credit"] == because(WorthCode.SHARE, 0.55)
    assert said["of it from Lambda, due"] == because(WorthCode.SHARE, 0.05)
    assert said["voice of its links"].code == WorthCode.VOICE
    assert said["voice of its links"].values[0] == pytest.approx(0.5**0.5, abs=0.001)
    assert len({said["front page"], order.explain(found(), worth)["front page"]}) == 2
    foreign = found(via="http://b.example/")
    assert said["found from another host"] != order.explain(foreign, worth)["found from another host"]


# Levels …


@pytest.mark.parametrize(("amount", "doublings"), [(0, 0), (1, 0), (2, 1), (4, 2), (1 << 40, 40)])
def test_steps_count_doublings(amount, doublings):
    assert steps_of(amount) == doublings * levels.STEPS


def test_steps_rise_evenly_between_doublings():
    found_steps = [steps_of(amount) for amount in range(1 << 12, 2 << 12)]
    assert found_steps == sorted(found_steps)
    assert sorted(set(found_steps)) == list(range(12 * levels.STEPS, 13 * levels.STEPS))


@pytest.mark.parametrize("step", [0, 1, 50, levels.FIRST_STEP - 1, levels.FIRST_STEP])
@pytest.mark.parametrize("depth", [0, 1, 9])
def test_levels_hold_step_and_depth(step, depth):
    level = level_at(step, found(depth=depth))
    assert step_meaning(level) == ("step", step, depth)
    assert level > ROBOTS_LEVEL
    if step:
        assert level < level_at(step - 1, found(depth=depth))
    assert level < level_at(step, found(depth=depth + 1))


def test_levels_are_bounded():
    assert step_meaning(level_at(-5, found())).number == 0
    assert step_meaning(level_at(10**9, found())).number == levels.FIRST_STEP
    assert step_meaning(level_at(3, found(depth=10**9))) == step_meaning(level_at(3, found(depth=10**8)))
    assert level_at(3, found(depth=10**9)) < level_at(2, found(depth=0))
    assert level_at(levels.FIRST_STEP, found(depth=0)) == ROBOTS_LEVEL + 1
    assert level_at(5, found(kind=LinkKind.ROBOTS)) == ROBOTS_LEVEL
