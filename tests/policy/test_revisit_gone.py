"""When a page is gone."""

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit.gone import Presence, after, is_seldom


@pytest.mark.parametrize(("first", "second"), [(404, 404), (404, 410), (410, 410)])
def test_twice_is_gone(first: int, second: int):
    once = after(Presence.HERE, first)
    assert once is Presence.MISSED
    assert after(once, second) is Presence.GONE
    assert after(Presence.GONE, second) is Presence.GONE


@given(st.lists(st.sampled_from([None, 0, 404, 410, 401, 500, 503])))
def test_what_was_never_there_is_not_gone(statuses: list[int | None]):
    assert reduce(after, statuses, Presence.NEVER) is Presence.NEVER


def test_what_two_visits_missed_is_looked_for_seldom():
    assert not is_seldom(Presence.NEVER, 0) and is_seldom(Presence.NEVER, 1)
    assert is_seldom(Presence.GONE, 0) and not is_seldom(Presence.MISSED, 3)


@pytest.mark.parametrize("status", [None, 401, 403, 429, 500, 503])
def test_what_says_nothing_changes_nothing(status: int | None):
    for presence in Presence:
        assert after(presence, status) is presence


@pytest.mark.parametrize("status", [200, 206, 301, 304])
def test_it_may_come_back(status: int):
    for presence in Presence:
        assert after(presence, status) is Presence.HERE
