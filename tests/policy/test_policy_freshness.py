"""How long a response counts as unchanged (RFC 9111, 4.2)."""

import pytest

from gossamer.model.exchange import Headers
from gossamer.policy.visits.freshness import LONGEST_HEURISTIC, fresh_until

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT
DATE = ("Date", "Tue, 14 Nov 2023 22:13:20 GMT")


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ([("Cache-Control", "max-age=600")], 600),
        ([("Cache-Control", "public, max-age = 600, must-revalidate"), ("Expires", "0")], 600),
        ([("Cache-Control", 'max-age="60"')], 60),
        ([DATE, ("Expires", "Tue, 14 Nov 2023 22:23:20 GMT")], 600),
        ([DATE, ("Expires", "Tue, 14 Nov 2023 22:03:20 GMT")], 0),
        ([DATE, ("Last-Modified", "Tue, 14 Nov 2023 20:33:20 GMT")], 600),
        ([DATE, ("Last-Modified", "Thu, 14 Nov 2013 20:33:20 GMT")], LONGEST_HEURISTIC),
    ],
)
def test_fresh_for(fields, seconds):
    assert fresh_until(Headers(fields), NOW) == NOW + seconds


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [("Cache-Control", "no-store, max-age=600")],
        [("Cache-Control", "no-cache")],
        [("Expires", "0")],
        [("Last-Modified", "yesterday")],
        [("Last-Modified", "Tue, 14 Nov 2033 20:33:20 GMT")],
    ],
)
def test_says_nothing(fields):
    assert fresh_until(Headers(fields), NOW) == 0.0
