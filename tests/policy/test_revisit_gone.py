"""When a page is gone."""

import pytest

from gossamer.policy.revisit.gone import Presence, after


@pytest.mark.parametrize(("first", "second"), [(404, 404), (404, 410), (410, 410)])
def test_twice_is_gone(first: int, second: int):
    once = after(Presence.HERE, first)
    assert once is Presence.MISSED
    assert after(once, second) is Presence.GONE
    assert after(Presence.GONE, second) is Presence.GONE


@pytest.mark.parametrize("status", [None, 401, 403, 429, 500, 503])
def test_what_says_nothing_changes_nothing(status: int | None):
    for presence in Presence:
        assert after(presence, status) is presence


@pytest.mark.parametrize("status", [200, 206, 301, 304])
def test_it_may_come_back(status: int):
    for presence in Presence:
        assert after(presence, status) is Presence.HERE
