"""The collision area against a sorted list, and the weight's monotony."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dns.zones import area as area_module
from gossamer.dns.zones.area import BLOCK, CollisionArea, Place
from gossamer.dns.zones.kept import Kept
from gossamer.dns.zones.weight import WORTH, weigh
from gossamer.model.name import Answer

SECONDS = st.floats(0, 1e4)
TTL = st.floats(0, 1e9)
TIMES = st.floats(0, 4e9)


def place(name: str, seconds: float = 0.0, ttl: float = 60.0, accessed: float = 0.0) -> Place:
    return Place(Kept(Answer(name, ("192.0.2.1",), ttl), accessed, accessed + ttl), seconds, accessed)


@given(st.tuples(SECONDS, TTL, TIMES), st.tuples(SECONDS, TTL, TIMES))
def test_the_weight_grows_with_each_argument(one, two):
    lower = tuple(map(min, one, two))
    for argument in range(3):
        higher = list(lower)
        higher[argument] = max(one[argument], two[argument])
        assert weigh(*higher) >= weigh(*lower)


@pytest.mark.parametrize("argument", [0, 1, 2])
def test_the_weight_grows_strictly_where_it_matters(argument):
    usual = [2.0, 300.0, 1.7e9]
    more = list(usual)
    more[argument] += 1.0
    assert weigh(*more) > weigh(*usual)


@given(SECONDS, TTL, TIMES)
def test_what_a_name_server_chooses_weighs_two_hours_at_most(seconds, ttl, accessed):
    assert accessed <= weigh(seconds, ttl, accessed) <= accessed + 2 * WORTH


def test_half_of_what_can_be_gained():
    assert weigh(1.0, 0.0, 0.0) == weigh(0.0, 3_600.0, 0.0) == WORTH / 2


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30), st.floats(0, 5)), max_size=80))
def test_like_a_sorted_list(steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(area_module, "BLOCK", 2)
        area = CollisionArea()
        model: list[Place] = []
        for number, (grows, choice, seconds) in enumerate(steps):
            if grows or not model:
                new = place(f"n{number}", seconds)
                area.add(new)
                model.append(new)
            else:
                area.remove(model.pop(choice % len(model)))
            model.sort(key=lambda each: (-each.weight, each.name))
            assert list(area) == model
            assert len(area) == len(model)
            assert all(0 < len(block) <= 4 for block in area._blocks)
            assert area._lasts == [block[-1].rank for block in area._blocks]
            if model:
                assert area.lightest is model[-1]
        assert walked(area) == model


def walked(area: CollisionArea) -> list[Place]:
    found: list[Place] = []
    reached = None
    while part := area.heavier(reached):
        reached = part[0].rank
        found = part + found
    return found


def test_heavier_goes_on_from_any_rank():
    area = CollisionArea()
    places = [place(f"n{number}", accessed=number) for number in range(3 * BLOCK)]
    for each in places:
        area.add(each)
    reached = places[100].rank
    area.remove(places[100])
    part = area.heavier(reached)
    assert part[-1] is places[101]
    assert CollisionArea().heavier(reached) == []
    assert area.heavier(places[-1].rank) == []


def test_equal_weights_stand_by_name():
    area = CollisionArea()
    for name in "bca":
        area.add(place(name))
    assert [each.name for each in area] == ["a", "b", "c"]
    assert repr(area) == "<CollisionArea 3 places in 1 blocks>"
    area.clear()
    assert len(area) == 0 == len(list(area))
