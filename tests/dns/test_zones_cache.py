"""The zoned cache as a whole: against a naive model, zone by zone, and its room."""

import gc
import tracemalloc

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gossamer.dns.zones.backward import ACCESS_STEP
from gossamer.dns.zones.cache import ZonedCache
from gossamer.dns.zones.config import ZonesConfig
from gossamer.dns.zones.weight import weigh
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.ports import NameCache

UPPER = ["a.com", "www.a.com", "m.a.com", "www.b.co.uk", "b.co.uk"]
THIRD = ["1.www.a.com", "2.www.a.com", "3.2.www.a.com", "1.w.b.co.uk", "2.w.b.co.uk"]
NAMES = st.sampled_from(UPPER + THIRD)
LIMIT = 3


class NaiveZones:
    """What the cache promises, with lists that are sorted and searched anew each time."""

    def __init__(self) -> None:
        self.upper: list[tuple[str, Answer, float]] = []  # least recently used first
        self.third: list[list] = []  # [name, answer, since, accessed], in order of arrival
        self.backward: list[list] = []  # [name, answer, since, seconds, accessed]

    def get(self, name, now):
        for entry in self.upper:
            if entry[0] == name and self.fresh(entry, now):
                self.upper.remove(entry)
                self.upper.append(entry)
                return entry[1]
        for entry in self.third:
            if entry[0] == name and self.fresh(entry, now):
                entry[3] = now
                return entry[1]
        for entry in self.backward:
            if entry[0] == name:
                if self.fresh(entry, now):
                    if not entry[4] <= now < entry[4] + ACCESS_STEP:
                        entry[4] = now
                    return entry[1]
                if not entry[1].addresses:
                    self.backward.remove(entry)
        return None

    def stale(self, name, now):
        for entry in (*self.upper, *self.third, *self.backward):
            if entry[0] == name and entry[1].addresses and not self.fresh(entry, now):
                return entry[1]
        return None

    def put(self, answer, seconds, now):
        name = answer.name
        forward = answer.addresses and seconds < 1 and answer.ttl > 0
        self.backward = [entry for entry in self.backward if entry[0] != name]
        self.upper = [entry for entry in self.upper if entry[0] != name]
        if not forward:
            self.third = [entry for entry in self.third if entry[0] != name]
            if answer.ttl > 0:
                self.backward.append([name, answer, now, seconds, now])
                self.backward.sort(key=lambda entry: (-weigh(entry[3], entry[1].ttl, entry[4]), entry[0]))
                self.backward = self.backward[:LIMIT]
        elif name in UPPER:
            self.upper = [*self.upper, (name, answer, now)][-LIMIT:]
        else:
            self.put_third(name, answer, now)

    def put_third(self, name, answer, now):
        for entry in self.third:
            if entry[0] == name:
                entry[1:] = answer, now, now
                return
        self.third.append([name, answer, now, now])
        if len(self.third) > LIMIT:
            leaving = sorted(self.third, key=lambda entry: entry[3])[: (len(self.third) + 1) // 2]
            self.third = [entry for entry in self.third if entry not in leaving]

    @staticmethod
    def fresh(entry, now):
        return entry[2] <= now < entry[2] + entry[1].ttl


class ZonedCacheMachine(RuleBasedStateMachine):
    """Whatever is put and asked for, whatever the clock does, the cache answers as the naive one."""

    def __init__(self) -> None:
        super().__init__()
        config = ZonesConfig(
            forward_names=LIMIT, third_level_names=LIMIT, backward_names=LIMIT, removal_every=1e12
        )
        self.cache = ZonedCache(config)
        self.model = NaiveZones()
        self.now = 1e6
        self.cache.get("a.com", self.now)  # the first removal, over nothing, is behind us
        self.cache.get("a.com", self.now)

    @rule(seconds=st.sampled_from([0.0, 1.0, 59.0, 60.0, 3_600.0, -5.0]))
    def wait(self, seconds):
        self.now += seconds

    @rule(name=NAMES, ttl=st.sampled_from([0, 60, 600]), seconds=st.sampled_from([0.0, 0.5, 1.0, 30.0]))
    def put_addresses(self, name, ttl, seconds):
        self.put(Answer(name, ("192.0.2.1", "2001:db8::1"), ttl, seconds=seconds, asked=self.now))

    @rule(name=NAMES, fault=st.sampled_from([Fault.NAME_FAILED, Fault.NAME_NOT_FOUND]))
    def put_failure(self, name, fault):
        self.put(Answer(name, (), 60.0, fault, "NXDOMAIN", seconds=0.1, asked=self.now))

    def put(self, answer):
        self.cache.put(answer, self.now)
        kept = Answer(
            answer.name, answer.addresses, answer.ttl, answer.fault, answer.detail, asked=answer.asked
        )
        self.model.put(kept, answer.seconds, self.now)

    @rule(name=NAMES)
    def get(self, name):
        assert self.cache.get(name, self.now) == self.model.get(name, self.now)

    @rule(name=NAMES)
    def stale(self, name):
        assert self.cache.stale(name, self.now) == self.model.stale(name, self.now)

    @invariant()
    def they_hold_the_same(self):
        model, cache = self.model, self.cache
        assert list(cache._forward._upper) == [entry[0] for entry in model.upper]
        assert set(cache._forward._third) == {entry[0] for entry in model.third}
        model.backward.sort(key=lambda entry: (-weigh(entry[3], entry[1].ttl, entry[4]), entry[0]))
        assert [kept.answer.name for kept in cache._backward.kept()] == [entry[0] for entry in model.backward]
        census = cache.census()
        assert census.entries == len(cache) == len(model.upper) + len(model.third) + len(model.backward)
        assert census.negative == sum(not entry[1].addresses for entry in model.backward)
        assert all(
            name in cache._forward.names(registrable_domain(name))
            for name in (*cache._forward._upper, *cache._forward._third)
        )


TestZonedCacheMachine = ZonedCacheMachine.TestCase


def found(name: str, seconds: float = 0.0, ttl: float = 60.0) -> Answer:
    return Answer(name, ("192.0.2.1",), ttl, seconds=seconds)


def failure(name: str, fault: Fault = Fault.NAME_FAILED) -> Answer:
    return Answer(name, (), 60.0, fault, "SERVFAIL", seconds=0.1)


@pytest.fixture
def cache() -> NameCache:
    return ZonedCache(ZonesConfig())


@pytest.mark.parametrize(
    ("answer", "zones"),
    [
        (found("www.a.com", 0.999), (1, 0)),
        (found("www.a.com", 1.0), (0, 1)),
        (failure("www.a.com"), (0, 1)),
        (failure("www.a.com", Fault.NAME_NOT_FOUND), (0, 1)),
    ],
)
def test_how_long_it_took_decides_on_the_zone(cache, answer, zones):
    cache.put(found("www.a.com"), 0.0)
    cache.put(answer, 1.0)
    assert (len(cache._forward), len(cache._backward)) == zones
    kept = cache.get("www.a.com", 1.0)
    assert kept.seconds == 0.0
    assert (kept.addresses, kept.fault, kept.ttl) == (answer.addresses, answer.fault, answer.ttl)


def test_the_threshold_is_a_setting():
    cache = ZonedCache(ZonesConfig(fast_below=0.0))
    cache.put(found("www.a.com", 0.0), 0.0)
    assert repr(cache) == "<ZonedCache 0 forward, 1 backward>"


@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_addresses_outlive_their_time_as_stale_answers(cache, seconds):
    cache.put(found("a.com", seconds), 0.0)
    assert cache.stale("a.com", 59.9) is None
    assert cache.get("a.com", 60.0) is None
    assert cache.stale("a.com", 60.0).addresses == ("192.0.2.1",)


def test_a_name_that_is_gone_has_no_stale_answer(cache):
    cache.put(found("a.com"), 0.0)
    cache.put(failure("a.com", Fault.NAME_NOT_FOUND), 100.0)
    assert cache.stale("a.com", 100.0) is None
    assert cache.stale("a.com", 200.0) is None


def test_an_answer_without_time_to_live_forgets(cache):
    cache.put(found("a.com"), 0.0)
    cache.put(found("a.com", ttl=0.0), 1.0)
    assert cache.get("a.com", 1.0) is None
    assert len(cache) == 0


def test_removal_needs_nothing_but_questions(cache):
    for number in range(10):
        cache.put(failure(f"{number}.com"), 0.0)
    for second in range(3):
        cache.get("other.com", 100.0 + second)
    assert len(cache) == 0


def test_closing_forgets(cache):
    cache.put(found("a.com"), 0.0)
    cache.put(found("b.com", 5.0), 0.0)
    cache.close()
    assert cache.census().entries == 0


@pytest.mark.parametrize(
    ("pattern", "seconds"), [("www.site{}.com", 0.0), ("a{}.www.a.com", 0.0), ("x{}.org", 9.0)]
)
def test_the_census_counts_what_the_process_spends(pattern, seconds):
    count = 5_000
    registrable_domain.cache_clear()
    cache = ZonedCache(ZonesConfig())
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(count):
            now = 1e9 + number
            name = pattern.format(number)
            address = f"192.0.2.{number}"
            cache.put(Answer(name, (address,), 60.0 + number, seconds=seconds, asked=now), now)
        del name, address, now
        registrable_domain.cache_clear()
        gc.collect()
        spent = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert cache.census().entries == count
    assert cache.census().bytes == pytest.approx(spent, rel=0.15)
