"""What is done about a process that takes more memory than before."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.daemon.allocation.claims import MIB
from gossamer.daemon.memory import Advice, is_calm, look

SIZES = st.integers(0, 1 << 40)


def test_little_is_nothing_and_near_asks_for_more() -> None:
    assert look(100 * MIB, 200 * MIB, 400 * MIB, waits=False).advice is Advice.NOTHING
    found = look(190 * MIB, 200 * MIB, 400 * MIB, waits=False)
    assert (found.advice, found.amount) == (Advice.ASK, 32 * MIB)


def test_who_waits_is_left_alone_until_far_above_what_it_holds() -> None:
    assert look(210 * MIB, 200 * MIB, 400 * MIB, waits=True).advice is Advice.NOTHING
    assert look(260 * MIB, 200 * MIB, 400 * MIB, waits=True).advice is Advice.END


def test_above_the_claim_it_ends() -> None:
    assert look(410 * MIB, 400 * MIB, 400 * MIB, waits=False).advice is Advice.END
    assert look(510 * MIB, 400 * MIB, 400 * MIB, waits=False).advice is Advice.KILL


@given(resident=SIZES, held=SIZES, more=SIZES, waits=st.booleans())
def test_never_asks_for_more_than_the_claim_and_always_for_enough(
    resident: int, held: int, more: int, waits: bool
) -> None:
    claim = held + more
    found = look(resident, held, claim, waits=waits)
    if found.advice is Advice.ASK:
        assert 0 < found.amount <= more
        assert held + found.amount == claim or resident <= held + found.amount
    else:
        assert found.amount == 0


def test_who_takes_less_than_half_is_calm() -> None:
    assert is_calm(99 * MIB, 200 * MIB)
    assert not is_calm(100 * MIB, 200 * MIB) and not is_calm(0, 0)
