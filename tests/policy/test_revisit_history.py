"""What is kept of a page between visits, in 24 bytes and a few for each further source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import (
    BYTES,
    MOST_VOICES,
    VOICE_BYTES,
    History,
    Voice,
    presence_of,
    standing,
    unpack,
)

VOICES = st.lists(
    st.builds(Voice, source=st.integers(1, 63), heard=st.floats(0, 60_000, width=16)), max_size=MOST_VOICES
).map(tuple)
HISTORIES = st.builds(
    History,
    last=st.integers(0, 2**32 - 1),
    since=st.integers(0, 2**32 - 1),
    quiet=st.floats(0, 60_000, width=16),
    stirred=st.floats(0, 60_000, width=16),
    same=st.integers(0, 255),
    changed=st.integers(0, 255),
    announced=st.integers(0, 255),
    place=st.integers(0, 65_535),
    presence=st.sampled_from(Presence),
    text=st.binary(min_size=4, max_size=4),
    voices=VOICES,
    brings=st.integers(0, 7).map(lambda each: 1 << each),
)


@given(HISTORIES)
def test_what_is_stored_is_what_is_read(history: History):
    stored = history.pack()
    further = max(0, len(history.voices) - 1)
    assert (BYTES, VOICE_BYTES) == (24, 3)
    assert len(stored) == BYTES + VOICE_BYTES * further + (history.brings > 1)
    assert unpack(stored) == history
    assert standing(stored) == (history.since, history.place)
    assert presence_of(stored) is history.presence


@given(st.lists(st.tuples(st.floats(1, 1e8), st.booleans(), st.booleans()), max_size=600))
def test_no_life_is_too_long_for_its_fields(visits: list[tuple[float, bool, bool]]):
    history = History(0, 0)
    for pause, changed, told in visits:
        now = min(history.last + pause, 2**32 - 1)
        if told:
            history = history.told((history.last + now) / 2, history.since - 1_000_000, 1)
        history = unpack(history.visited(now, changed=changed).pack())
        assert history.last == history.since == int(now) and not history.heard
        assert history.announced <= history.changed


def test_intervals_are_summed_by_what_they_ended_with():
    history = History(0, 0).visited(3_600, changed=False).visited(9_000, changed=True)
    assert (history.quiet, history.stirred) == (1.0, 1.5)
    assert (history.same, history.changed, history.announced) == (1, 1, 0)


def test_an_announced_change_came_shortly_before_it_was_announced():
    history = History(0, 0).told(36_000, -5, 1).visited(720_000, changed=True)
    assert history.quiet == pytest.approx(7.5) and history.stirred == pytest.approx(2.5)
    assert (history.same, history.changed, history.announced) == (0, 1, 1)


def test_a_signal_that_was_wrong_leaves_the_whole_interval_unchanged():
    history = History(0, 0).told(36_000, -5, 1).visited(720_000, changed=False)
    assert (history.quiet, history.stirred, history.same) == (200.0, 0.0, 1)


def test_signals_put_back_and_never_forward_and_the_first_counts():
    history = History(1_000_000, 1_000_000).told(1_007_200, 900_000, 1)
    later = history.told(1_720_000, 950_000, 1)
    assert later.since == 900_000
    assert later.heard == history.heard == 2.0


def test_old_evidence_is_forgotten_by_halves_when_a_count_is_full():
    history = History(0, 0, quiet=1_000.0, stirred=50.0, same=250, changed=11, announced=5)
    after = history.visited(3_600, changed=False)
    assert (after.quiet, after.stirred) == (500.5, 25.0)
    assert (after.same, after.changed, after.announced) == (126, 6, 2)


def test_a_clock_that_was_set_back_adds_nothing():
    history = History(10_000, 10_000).visited(5_000, changed=True)
    assert (history.stirred, history.changed, history.last) == (0.0, 1, 5_000)


def test_each_source_is_remembered_by_what_it_said():
    history = History(0, 0).spoken_of(1).told(7_200, 0, 8).told(36_000, 0, 5).told(72_000, 0, 8)
    assert history.voices == (Voice(1), Voice(8, 2.0), Voice(5, 10.0))
    assert unpack(history.pack()) == history
    assert history.heard == 2.0
    after = history.visited(360_000, changed=True, heard=10.0)
    assert after.voices == (Voice(1), Voice(8), Voice(5))
    assert (after.quiet, after.stirred) == (7.5, 2.5), "before the announcement that is believed most"


def test_more_sources_than_there_is_room_for_are_heard_and_not_kept():
    history = History(1_000_000, 1_000_000)
    for source in range(1, 9):
        history = history.told(1_007_200, 900_000 - source, source)
    assert [voice.source for voice in history.voices] == [1, 2, 3, 4]
    assert history.since == 900_000 - 8


@pytest.mark.parametrize("presence", Presence)
@pytest.mark.parametrize("voices", [(), (Voice(63, 2.0),), (Voice(1), Voice(2, 1.0))])
def test_whether_a_page_is_there_stands_beside_who_speaks_of_it(
    presence: Presence, voices: tuple[Voice, ...]
):
    history = unpack(History(9, 7, presence=presence, voices=voices).pack())
    assert (history.presence, history.voices) == (presence, voices)


@pytest.mark.parametrize(
    ("before", "changed", "after"),
    [
        # quiet, stirred (hours), same, changed, announced; another visit comes an hour later
        ((100.0, 50.0, 249, 250, 5), False, (101.0, 50.0, 250, 250, 5)),
        ((100.0, 50.0, 250, 10, 4), False, (50.5, 25.0, 126, 5, 2)),
        ((100.0, 50.0, 250, 249, 7), True, (100.0, 51.0, 250, 250, 7)),
        ((100.0, 50.0, 250, 250, 7), True, (50.0, 25.5, 125, 126, 3)),
        ((59_999.0, 50.0, 8, 6, 6), False, (60_000.0, 50.0, 9, 6, 6)),
        ((60_000.0, 50.0, 8, 6, 6), False, (30_000.0, 25.0, 5, 3, 3)),
        ((100.0, 59_999.0, 8, 5, 1), True, (100.0, 60_000.0, 8, 6, 1)),
        ((100.0, 60_000.0, 8, 5, 1), True, (50.0, 30_000.0, 4, 3, 0)),
    ],
)
def test_when_one_field_is_full_all_are_halved(
    before: tuple[float, float, int, int, int], changed: bool, after: tuple[float, float, int, int, int]
):
    found = History(0, 0, *before).visited(3_600, changed=changed)
    assert (found.quiet, found.stirred, found.same, found.changed, found.announced) == after


def test_of_a_page_that_was_just_seen_nothing_else_is_known():
    assert History(9, 7) == History(9, 7, 0.0, 0.0, 0, 0, 0, 0, Presence.HERE, bytes(4), (), 1)
