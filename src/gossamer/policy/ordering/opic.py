"""AOPIC: credit that flows along links tells what is important while it is crawled (W16)."""

from collections.abc import Callable
from math import isqrt
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.reasons.codes import WorthCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import Url
from gossamer.policy.ordering.levels import STEPS, level_at, step_meaning, steps_of

FRONT_STEPS = 3 * STEPS
"""A front page waits as if it had eight times the voice: every page of its site will link to it."""

FOREIGN_STEPS = STEPS
"""A URL that became known from another host waits as if it had twice the voice: a link across says more than
a menu, and pages of a site not yet fetched could not speak for it. Hosts, not registrable domains: many a
university or country has all of its sites under one."""

MOST_CREDIT = 1 << 60
"""All credit there may be, so that every amount fits 64 bits; seeds beyond begin without."""

_WRAP = (1 << 64) - 1
_VOICE_BITS = 20


class OpicConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How credit is made, taxed and forgotten."""

    credit: Annotated[
        int,
        Meta(ge=1, le=10**15, description="credit of each seed; with less, shares are rounded away sooner"),
    ] = 10**12
    tax: Annotated[
        int,
        Meta(ge=1, le=99, description="percent of a page's credit that goes to all pages, not to its links"),
    ] = 10
    window: Annotated[
        float,
        Meta(gt=0, description="turns of the whole credit after which what a page had before is forgotten"),
    ] = 1.0


class Gift(msgspec.Struct, frozen=True, array_like=True):
    """What links bring to a URL.

    Attributes:
        credit: units of credit.
        voice: see `OpicWorth.voice`.
    """

    credit: int
    voice: int


class OpicWorth(msgspec.Struct, frozen=True, array_like=True):
    """The account of a URL.

    Attributes:
        credit: units it holds; what is due from Lambda comes on top.
        seen: Lambda's dividend up to which it has had its share.
        voice: sum over its links of the square root of the credit each brought, in 1/1024; decides its level.
        share: units for each link of the page, while it is being spread; 0 otherwise.
        held: units set aside for the links still to come.
        history: credit it has handed on, of late, as a share of all there is (moving window).
        turn: the clock when `history` was reckoned.
    """

    credit: int
    seen: int
    voice: int
    share: int = 0
    held: int = 0
    history: float = 0.0
    turn: float = 0.0


class Ledger(msgspec.Struct, array_like=True):
    """What there is beside the accounts.

    Attributes:
        total: units ever made.
        known: accounts opened.
        bank: units that Lambda holds.
        dividend: units that each account had from Lambda so far, modulo 2^64 (what is due to one is part of
            `total`, so it is below 2^60, so differences are exact).
        moving: units in gifts that have not arrived.
        clock: credit handed on so far, in turns of `total`; the G of the paper.
    """

    total: int = 0
    known: int = 0
    bank: int = 0
    dividend: int = 0
    moving: int = 0
    clock: float = 0.0


class Opic:
    """Adaptive on-line page importance computation (Abiteboul, Preda, Cobéna, WWW 2003).

    Invariant: the credit of all accounts, with what is held and what is due, plus `bank` plus `moving` is
    `total`, to the unit, after every call. History and clock are statistics in floating point, not credit.
    """

    name = "opic"

    def __init__(self, config: OpicConfig) -> None:
        self._config = config
        self.ledger = Ledger()

    def retune(self, config: OpicConfig) -> None:
        """Go by other settings from now on."""
        self._config = config

    meaning = staticmethod(step_meaning)

    @property
    def worth(self) -> type[OpicWorth]:
        """What is kept of a URL."""
        return OpicWorth

    def restore(self, state: bytes) -> None:
        """Go on; what was under way belongs to Lambda."""
        self.ledger = msgspec.msgpack.decode(state, type=Ledger)
        self.ledger.bank += self.ledger.moving
        self.ledger.moving = 0

    def state(self) -> bytes:
        """The ledger of all credit, to be stored."""
        return msgspec.msgpack.encode(self.ledger)

    def level(self, candidate: Candidate) -> int:
        """Of a URL without an account: after all others."""
        return level_at(0, candidate)

    def admitted(self, candidate: Candidate, gift: Gift | None) -> OpicWorth:
        """Open an account; a seed brings credit into the world, others have what the link brings."""
        ledger = self.ledger
        ledger.known += 1
        credit = voice = 0
        if gift is not None:
            credit, voice = gift.credit, gift.voice
            ledger.moving -= credit
        elif candidate.kind is LinkKind.SEED:
            credit = min(self._config.credit, MOST_CREDIT - ledger.total)
            voice = _voice(self._config.credit)
            ledger.total += credit
        return OpicWorth(credit, ledger.dividend, voice, turn=ledger.clock)

    def waiting_level(self, candidate: Candidate, worth: OpicWorth) -> int:
        """By voice, `STEPS` levels for each doubling of it."""
        step = steps_of(worth.voice)
        if candidate.url.target == "/":
            step += FRONT_STEPS
        if _is_foreign(candidate):
            step += FOREIGN_STEPS
        return level_at(step, candidate)

    def spread(
        self,
        finder: Candidate,  # noqa: ARG002
        worth: OpicWorth,
        targets: int,
        links: int,
    ) -> tuple[OpicWorth, Gift]:
        """Equal shares for all links, after tax; the rest of the division goes to Lambda.

        The shares are reckoned with the first targets and stay the same for those that come later. If the
        number of links is another than was reckoned with (the page was fetched again), it is done anew.
        """
        if worth.share == 0 or worth.held != worth.share * links:
            worth = self._reckon(worth, links)
        given = worth.share * targets
        self.ledger.moving += given
        held = worth.held - given
        gift = Gift(worth.share, _voice(worth.share))
        return msgspec.structs.replace(worth, held=held, share=worth.share if held else 0), gift

    def _reckon(self, worth: OpicWorth, links: int) -> OpicWorth:
        ledger = self.ledger
        if ledger.bank > self._credit(worth):
            known = max(ledger.known, 1)  # all accounts may have come from another agent
            ledger.dividend = (ledger.dividend + ledger.bank // known) & _WRAP
            ledger.bank %= known
        credit = self._credit(worth)
        share = (credit - credit * self._config.tax // 100) // links
        ledger.bank += credit - share * links
        part = credit / max(ledger.total, 1)
        history = _faded(worth.history, part, ledger.clock - worth.turn, self._config.window)
        ledger.clock += part
        return OpicWorth(0, ledger.dividend, worth.voice, share, share * links, history, ledger.clock)

    def closed(self, worth: OpicWorth) -> OpicWorth:
        """What it holds goes to Lambda: the page leads nowhere, or not any more.

        Credit that links bring afterwards is kept for the next visit.
        """
        self.ledger.bank += self._credit(worth)
        return msgspec.structs.replace(worth, credit=0, seen=self.ledger.dividend, share=0, held=0)

    def merge(self, one: Gift, other: Gift) -> Gift:
        """Two gifts to one URL as one."""
        return Gift(one.credit + other.credit, one.voice + other.voice)

    def give(self, worth: OpicWorth, gift: Gift) -> OpicWorth:
        """The worth when the gift has arrived."""
        self.ledger.moving -= gift.credit
        credit = worth.credit + self._due(worth) + gift.credit
        voice = worth.voice + gift.voice
        return msgspec.structs.replace(worth, credit=credit, seen=self.ledger.dividend, voice=voice)

    def lose(self, gift: Gift) -> None:
        """Let the credit of a lost gift go to Lambda."""
        self.ledger.moving -= gift.credit
        self.ledger.bank += gift.credit

    def pack(self, gift: Gift) -> bytes:
        """Its credit leaves this ledger."""
        self.ledger.moving -= gift.credit
        self.ledger.total -= gift.credit
        return msgspec.msgpack.encode(gift)

    def unpack(self, data: bytes) -> Gift:
        """Its credit enters this ledger."""
        gift = msgspec.msgpack.decode(data, type=Gift)
        self.ledger.total += gift.credit
        self.ledger.moving += gift.credit
        return gift

    def arrivals(self, state: bytes) -> Callable[[OpicWorth], OpicWorth]:
        """What accounts of another agent, whose `state()` this is, become in this ledger; once each."""
        theirs = msgspec.msgpack.decode(state, type=Ledger)

        def arrived(worth: OpicWorth) -> OpicWorth:
            ledger = self.ledger
            credit = worth.credit + ((theirs.dividend - worth.seen) & _WRAP)
            ledger.total += credit + worth.held
            ledger.known += 1
            turn = ledger.clock - max(0.0, theirs.clock - worth.turn)
            return msgspec.structs.replace(worth, credit=credit, seen=ledger.dividend, turn=turn)

        return arrived

    def departed(self, worth: OpicWorth) -> None:
        """An account leaves this ledger."""
        self.ledger.total -= self._credit(worth)
        self.ledger.known -= 1

    def importance(self, worth: OpicWorth) -> float:
        """What the page has had of all credit of late, and has, as a multiple of the mean page's."""
        ledger, window = self.ledger, self._config.window
        share = self._credit(worth) / max(ledger.total, 1)
        had = _faded(worth.history, share, max(0.0, ledger.clock - worth.turn), window)
        return had / window * max(ledger.known, 1)

    def explain(self, candidate: Candidate, worth: OpicWorth) -> dict[str, Reason | str]:
        """Shares of all credit, and what decides the level."""
        total = max(self.ledger.total, 1)
        return {
            "credit": because(WorthCode.SHARE, self._credit(worth) / total),
            "of it from Lambda, due": because(WorthCode.SHARE, self._due(worth) / total),
            "voice of its links": because(WorthCode.VOICE, worth.voice / _voice(total)),
            "handed on of late": because(WorthCode.SHARE, worth.history),
            "front page": Reason(WorthCode.EIGHTFOLD if candidate.url.target == "/" else WorthCode.NO),
            "found from another host": Reason(WorthCode.TWICE if _is_foreign(candidate) else WorthCode.NO),
        }

    def _due(self, worth: OpicWorth) -> int:
        return (self.ledger.dividend - worth.seen) & _WRAP

    def _credit(self, worth: OpicWorth) -> int:
        """All that is the page's."""
        return worth.credit + worth.held + self._due(worth)


def _is_foreign(candidate: Candidate) -> bool:
    """Whether the page that made the URL known is of another host; `www.` makes none."""
    host = candidate.url.host
    if not candidate.via or candidate.via.startswith(f"{candidate.url.scheme}://{host}/"):
        return False
    finder = Url.from_serialised(candidate.via)
    return finder is not None and finder.host.removeprefix("www.") != host.removeprefix("www.")


def _voice(credit: int) -> int:
    return isqrt(credit << _VOICE_BITS)


def _faded(history: float, credit: float, passed: float, window: float) -> float:
    """The history after `credit` was handed on, `passed` turns after the last time."""
    if passed < window:
        return history * (window - passed) / window + credit
    return credit * window / passed
