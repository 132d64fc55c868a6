"""Which links of a page are followed."""

import pytest
from engine_world import link, page

from gossamer.engine.settlement.doors import LinkRules
from gossamer.model.link import LinkKind

PLAIN, OWN = link("/a"), link("/own", LinkKind.CANONICAL)
GUESSED, OTHER, FORBIDDEN = (
    link("/a", LinkKind.SPECULATIVE), link("/b", LinkKind.SPECULATIVE), link("/a", nofollow=True),
)  # fmt: skip


@pytest.mark.parametrize(
    ("told", "links", "nofollow", "seen_before", "followed"),
    [
        ({}, (PLAIN, OWN), False, False, (PLAIN, OWN)),
        ({}, (PLAIN,), False, True, (PLAIN,)),
        ({"skip_duplicates": True}, (PLAIN,), False, True, ()),
        ({"skip_duplicates": True}, (PLAIN,), False, False, (PLAIN,)),
        ({}, (PLAIN,), True, False, ()),
        ({"honour_meta": False}, (PLAIN,), True, False, (PLAIN,)),
        ({"honour_nofollow": False}, (PLAIN,), True, False, ()),
        ({"skip_canonical": True}, (PLAIN, OWN), False, False, (PLAIN,)),
        ({"skip_canonical": True}, (PLAIN,), False, False, (PLAIN,)),
        ({"skip_canonical": True}, (OWN,), False, False, ()),
        # No guess leads to what a link of the same page forbids.
        ({"speculative": True}, (GUESSED, OTHER, FORBIDDEN), False, False, (OTHER, FORBIDDEN)),
        ({"speculative": True}, (GUESSED, OTHER, PLAIN), False, False, (GUESSED, OTHER, PLAIN)),
        (
            {"speculative": True, "honour_nofollow": False},
            (GUESSED, FORBIDDEN),
            False,
            False,
            (GUESSED, FORBIDDEN),
        ),
    ],
)
def test_links_that_are_followed(told, links, nofollow, seen_before, followed):
    read = page("http://site.example/", *links, nofollow=nofollow)
    assert LinkRules(**told).followed(read, seen_before=seen_before) == followed


def test_defaults_follow_what_pages_allow():
    rules = LinkRules()
    assert (rules.honour_nofollow, rules.honour_meta) == (True, True)
    assert (rules.skip_duplicates, rules.skip_canonical, rules.back) == (False, False, False)
