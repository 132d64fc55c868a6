"""An agent and whoever gets its shards never act at the same moment, whatever clocks and messages do."""

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.cluster.agreement.tenure import DRIFT, Silence, Tenure, TenureConfig

RATES = st.floats(1 - DRIFT, 1 + DRIFT)


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data(), old=RATES, coordinator=RATES, offset=st.floats(-1e6, 1e6))
def test_the_old_has_ended_before_the_new_begins(
    data: st.DataObject, old: float, coordinator: float, offset: float
) -> None:
    """Times are true ones; each clock has its own zero and rate, each message its delay, or is lost."""
    config, tenure = TenureConfig(), Tenure()
    began = data.draw(
        st.sampled_from([0.0, 7.0, 30.0, 60.0])
    )  # the coordinator; another one was there before
    silence = Silence(began * coordinator, config.give_away)
    answers, sent = [], 0.0
    for _ in range(data.draw(st.integers(1, 12))):
        sent += data.draw(st.floats(0.01, 12))
        there = sent + data.draw(st.floats(0, 30))
        if there >= began:
            silence.answered("a-1", there * coordinator)
        if data.draw(st.booleans()):
            answers.append((there + data.draw(st.floats(0, 30)), sent))
    end = 0.0
    for back, sent in sorted(answers):
        if end and back >= end:
            break  # its process has ended
        tenure.renewed(sent * old + offset, config.lease, config.end)
        end = (tenure.left(0.0) - offset) / old
        assert not tenure.may_lend(end * old + offset)
    gone = end + config.exit / old
    # Who is answered once more after it was given away is told that it is fenced.
    assert gone <= silence.free_at("a-1") / coordinator + 1e-6


def test_lending_ends_before_the_process_does() -> None:
    tenure = Tenure()
    assert not tenure.may_lend(0.0)
    assert tenure.left(1e9) > 0
    assert tenure.left(5.0) == float("inf")
    tenure.renewed(100.0, 10.0, 15.0)
    assert tenure.may_lend(109.9)
    assert not tenure.may_lend(110.0)
    assert tenure.left(114.9) > 0
    assert tenure.left(115.0) <= 0
    tenure.renewed(90.0, 10.0, 15.0)  # an older answer that came late
    assert tenure.may_lend(109.9)
    assert tenure.left(110.0) == 5.0
    tenure.fenced()
    assert not tenure.may_lend(0.0)
    assert tenure.left(0.0) <= 0


def test_a_withheld_lease_lends_nothing_and_ends_nothing() -> None:
    tenure = Tenure()
    tenure.renewed(100.0, 0.0, 15.0)
    assert not tenure.may_lend(100.0)
    assert tenure.left(114.0) > 0


def test_a_coordinator_that_begins_takes_everyone_for_just_answered() -> None:
    silence = Silence(50.0, 20.0)
    assert not silence.may_give_away("a-1", 69.9)
    assert silence.may_give_away("a-1", 70.0)
    silence.answered("a-1", 60.0)
    silence.answered("a-1", 55.0)
    assert silence.since("a-1") == 60.0
    assert silence.free_at("a-1") == 80.0
    silence.forget("a-1")
    assert silence.since("a-1") is None


@pytest.mark.parametrize(
    "wrong",
    [{"lease": 15.0}, {"give_away": 17.0}, {"end": 18.0}, {"exit": 5.0}, {"lease": 20.0, "end": 15.0}],
)
def test_times_that_could_meet_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        TenureConfig(**wrong)
