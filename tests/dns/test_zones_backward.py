"""The backward zone: the lightest leaves, and periodic removal without a thread."""

import pytest

from gossamer.dns.zones import area as area_module
from gossamer.dns.zones.backward import ACCESS_STEP, BackwardZone
from gossamer.dns.zones.kept import Kept
from gossamer.dns.zones.weight import weigh
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault


def slow(name: str, now: float, ttl: float = 60.0) -> Kept:
    return Kept(Answer(name, ("192.0.2.1",), ttl), now, now + ttl)


def failed(name: str, now: float, ttl: float = 60.0) -> Kept:
    return Kept(Answer(name, (), ttl, Fault.NAME_FAILED, "time-out"), now, now + ttl)


def names(zone: BackwardZone) -> list[str]:
    return [kept.answer.name for kept in zone.kept()]


def tidied(zone: BackwardZone, now: float) -> list[str]:
    for _ in range(20):
        zone.tidy(now)
    return names(zone)


def test_the_heaviest_stands_first_and_the_lightest_leaves():
    zone = BackwardZone(3, 3_600, 1e9)
    zone.put(slow("dear.com", 0), 9.0, 0)
    zone.put(slow("long.com", 0, 7_200), 1.0, 0)
    zone.put(slow("cheap.com", 0), 1.0, 0)
    assert names(zone) == ["long.com", "dear.com", "cheap.com"]
    zone.put(slow("late.com", 7_000), 1.0, 7_000)
    assert names(zone) == ["late.com", "long.com", "dear.com"]
    assert repr(zone) == "<BackwardZone 3 of 3>"


def test_access_adds_weight_once_a_minute():
    zone = BackwardZone(3, 3_600, 1e9)
    for name in ("a.com", "b.com"):
        zone.put(slow(name, 0, 600), 1.0, 0)
    assert names(zone) == ["a.com", "b.com"]
    zone.get("b.com", ACCESS_STEP - 1)
    assert zone._places["b.com"].weight == weigh(1.0, 600, 0)
    zone.get("b.com", ACCESS_STEP)
    assert zone._places["b.com"].weight == weigh(1.0, 600, ACCESS_STEP)
    assert names(zone) == ["b.com", "a.com"]


def test_what_is_light_and_not_renewed_leaves():
    zone = BackwardZone(9, renewal_period=5_000, removal_every=60)
    zone.put(slow("old.com", 0), 1.0, 0)
    zone.put(slow("renewed.com", 0), 1.0, 0)
    zone.put(slow("heavy.com", 0, 1e6), 90.0, 0)
    weight = weigh(1.0, 60.0, 0.0)
    assert len(tidied(zone, weight + 100)) == 3  # light, but not yet five thousand seconds old
    zone.put(slow("renewed.com", 3_000), 1.0, 3_000)
    assert tidied(zone, 5_100) == ["heavy.com", "renewed.com"]
    assert tidied(zone, 1e6) == []


def test_failures_leave_when_their_time_is_over_however_heavy():
    zone = BackwardZone(9, 5_000, 60)
    zone.put(failed("a.com", 0), 90.0, 0)
    zone.put(slow("b.com", 0), 90.0, 0)
    assert tidied(zone, 59) == ["a.com", "b.com"]
    assert tidied(zone, 125) == ["b.com"]  # its addresses may still serve
    assert zone.stale("b.com", 125).answer.addresses


@pytest.mark.parametrize("jump", [30.0, -10.0])
def test_removal_begins_when_it_is_time_also_after_the_clock_went_back(jump):
    zone = BackwardZone(9, 0, 60)
    zone.tidy(100.0)
    zone.tidy(100.0)
    zone.put(failed("a.com", 100.0, 0.5), 0.0, 100.0)
    zone.tidy(100.0 + jump)
    assert len(zone) == (1 if jump > 0 else 0)


def test_one_call_looks_at_one_block(monkeypatch):
    monkeypatch.setattr(area_module, "BLOCK", 4)
    zone = BackwardZone(100, 0, 60)
    for number in range(50):
        zone.put(failed(f"{number}.com", number, 1.0), 0.0, number)
    left = [len(zone)]
    while len(zone):
        zone.tidy(1e6)
        assert 0 <= left[-1] - len(zone) <= 8
        left.append(len(zone))
        assert len(left) < 100


def test_an_expired_failure_is_forgotten_when_asked_for():
    zone = BackwardZone(9, 5_000, 1e9)
    zone.put(failed("a.com", 0), 9.0, 0)
    assert zone.get("a.com", 59.9).answer.detail == "time-out"
    assert zone.get("a.com", 60.0) is None
    assert len(zone) == 0


def test_a_failure_is_never_stale():
    zone = BackwardZone(9, 5_000, 1e9)
    zone.put(failed("a.com", 0), 9.0, 0)
    assert zone.stale("a.com", 59) is None
    assert zone.stale("a.com", 61) is None
    zone.clear()
    assert names(zone) == []
