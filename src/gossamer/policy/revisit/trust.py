"""Who says that pages have changed, and how far to believe it.

A *source* speaks of pages of one host: the dates of its sitemap, a feed, `Last-Modified`, a hub page that links to what
is new, pings. Each is judged at every visit to a page that it speaks of: had it said so, and was it so? From the
four counts follow how many of the changes it tells of (beyond what it would by chance), and how likely one is when
it speaks. Who is always wrong weighs nothing in the end, and who is always talking: its silence would mean
something, but there is none. Dates that cannot be true are not even heard.
"""

import enum
import math
import struct

import msgspec

from gossamer.policy.revisit.history import History

_DOUBT_RIGHT, _DOUBT_MISSED = 1.0, 1.0
"""As if it had been right once and had missed a change once; for its silence only the latter counts."""
_DOUBT_FALSE, _DOUBT_DAYS = 0.1, 30.0
"""And had been wrong once in 300 days: what nobody knows is believed at first, where pages change now and then."""
_MOST = 500.0
_DAY = 86_400.0
_FORM = struct.Struct("<5fB3x")
TRUST_BYTES = _FORM.size
MOST_SOURCES = 63
"""By number, from 1 on; what a history has room for."""
LEAST_FOR_LIES = 8
"""Dates of a list that are too few to tell whether they were made up."""
_NEARLY_ALL = 0.9
_SOON = 86_400.0
"""Clocks of other zones are ahead."""


class Trust(msgspec.Struct, frozen=True, gc=False):
    """What was learned of a source. Old evidence is forgotten by halves.

    Attributes:
        right: it had said so, and the page had changed.
        wrong: it had said so, and it had not.
        missed: it had been silent, and the page had changed.
        quiet: it had been silent, and rightly so.
        days: of pages that it speaks of, looked back on.
        lies: readings in a row whose dates could not be true.
    """

    right: float = 0.0
    wrong: float = 0.0
    missed: float = 0.0
    quiet: float = 0.0
    days: float = 0.0
    lies: int = 0

    def judged(self, *, said: bool, changed: bool, seconds: float) -> "Trust":
        """After a visit to a page that it speaks of; `seconds`: since the visit before."""
        right, wrong, missed, quiet = self.right, self.wrong, self.missed, self.quiet
        days = self.days + seconds / _DAY
        if said and changed:
            right += 1
        elif said:
            wrong += 1
        elif changed:
            missed += 1
        else:
            quiet += 1
        if right + wrong + missed + quiet > _MOST:
            return Trust(right / 2, wrong / 2, missed / 2, quiet / 2, days / 2, self.lies)
        return Trust(right, wrong, missed, quiet, days, self.lies)

    def read(self, reading: "Reading") -> "Trust":
        """After a list of dates was read."""
        lies = 0 if reading.verdict is DatesVerdict.PLAUSIBLE else min(self.lies + 1, 100)
        return msgspec.structs.replace(self, lies=lies)

    def pack(self) -> bytes:
        """As it is stored, `TRUST_BYTES`."""
        return _FORM.pack(self.right, self.wrong, self.missed, self.quiet, self.days, self.lies)

    @property
    def told(self) -> float:
        """The part of the changes that it tells of, beyond what it would by chance; 0 if its dates are lies.

        Who speaks half of the time whatever happens has spoken of half of the changes, and told of none.
        """
        if self.lies:
            return 0.0
        silent_at_change = (self.missed + _DOUBT_MISSED) / (self.right + self.missed + _DOUBT_MISSED)
        silent_else = (self.quiet + _DOUBT_MISSED) / (self.wrong + self.quiet + _DOUBT_MISSED)
        return max(0.0, 1 - silent_at_change / silent_else)

    @property
    def unannounced(self) -> float:
        """The rest of the changes."""
        return 1 - self.told

    def precision(self, rate: float) -> float:
        """The probability that a page has changed when the source says so.

        Args:
            rate: of the page, changes a second; where pages hardly change more of what is said is wrong.
        """
        if self.lies:
            return 0.0
        hits = (self.right + _DOUBT_RIGHT) / (self.right + self.missed + _DOUBT_RIGHT + _DOUBT_MISSED)
        right = rate * _DAY * hits
        return right / (right + (self.wrong + _DOUBT_FALSE) / (self.days + _DOUBT_DAYS))


def trust_of(trusts: bytes, source: int) -> Trust:
    """What is known of a source by its number at a host, of which that many are stored."""
    at = (source - 1) * TRUST_BYTES
    return Trust(*_FORM.unpack_from(trusts, at)) if 0 <= at < len(trusts) else Trust()


def with_trust(trusts: bytes, source: int, trust: Trust) -> bytes:
    """The same with what is known of a source now."""
    at = (source - 1) * TRUST_BYTES
    room = trusts.ljust(at, b"\0")
    return room[:at] + trust.pack() + room[at + TRUST_BYTES :]


def unannounced(trusts: bytes, history: History) -> float:
    """The part of the changes of a page that nobody tells of: what the best of its sources leaves.

    Not the product of what each leaves: a sitemap and a feed of one site tell of the same changes.
    """
    if not history.voices:
        return 1.0
    return min(trust_of(trusts, voice.source).unannounced for voice in history.voices)


def judged(trusts: bytes, history: History, seconds: float, *, changed: bool) -> bytes:
    """What is known of the sources at a host after a visit to a page of it; each by what it had said itself.

    Args:
        trusts: as stored.
        history: of the page, before the visit.
        seconds: since the visit before.
        changed: what the visit has found.
    """
    for voice in history.voices:
        after = trust_of(trusts, voice.source).judged(said=voice.heard > 0, changed=changed, seconds=seconds)
        trusts = with_trust(trusts, voice.source, after)
    return trusts


def heard(trusts: bytes, history: History, rate: float) -> float:
    """Hours after which it was said that the page has changed, by who is believed most of those who said so; 0: nobody.

    `rate`: of the page, changes a second.
    """
    said = [voice for voice in history.voices if voice.heard]
    if len(said) < 2:
        return said[0].heard if said else 0.0
    return max(said, key=lambda voice: (trust_of(trusts, voice.source).precision(rate), -voice.heard)).heard


class Source(enum.IntEnum):
    """Who speaks of the pages of a host; the number under which its trust is kept there."""

    SITEMAP = 1
    FEED = 2
    LAST_MODIFIED = 3
    HUB = 4
    PING = 5


class Signal(msgspec.Struct, frozen=True, gc=False):
    """A source says that a page has changed.

    Attributes:
        page: its fingerprint, 16 bytes.
        changed: when, wall time; 0 or not after the last visit: it only says that it speaks of the page.
        source: its number, a `Source` or another one up to `MOST_SOURCES`.
    """

    page: bytes
    changed: float
    source: int


class DatesVerdict(enum.Enum):
    """What a list of dates is."""

    PLAUSIBLE = "plausible"
    FUTURE = "future"
    EQUAL = "equal"
    MOVING = "moving"


class Reading:
    """One reading of a list of dates, of any length, in constant memory.

    Lists that are made anew at each request date everything with the time of the request (18% of the hosts with dates,
    by Bing in 2023); some date everything with tomorrow.
    """

    __slots__ = ("_ahead", "_candidate", "_equal", "_later", "_lead", "_number", "_paired", "_read")

    def __init__(self, read: float) -> None:
        """`read`: wall time of the reading."""
        self._read = read
        self._number = self._ahead = self._later = self._paired = 0
        self._candidate, self._lead, self._equal = math.nan, 0, 0

    def add(self, date: float, before: float | None) -> bool:
        """Take note of an entry.

        Args:
            date: that it bears, wall time.
            before: the one that it bore at the last reading, if it was there.

        Returns:
            Whether it says that its page has changed in between.
        """
        self._number += 1
        self._ahead += date > self._read + _SOON
        # The date that most have, if one has most (Boyer and Moore 1981); counted from when it took the lead.
        if date == self._candidate:
            self._lead += 1
            self._equal += 1
        elif self._lead > 0:
            self._lead -= 1
        else:
            self._candidate, self._lead, self._equal = date, 1, 1
        if before is None:
            return False
        self._paired += 1
        later = date > before
        self._later += later
        return later and date <= self._read + _SOON

    @property
    def verdict(self) -> DatesVerdict:
        """What the list is; short ones are believed. To be asked when all was read, before signals are given."""
        if self._number >= LEAST_FOR_LIES:
            if self._ahead > (1 - _NEARLY_ALL) * self._number:
                return DatesVerdict.FUTURE
            if self._paired >= LEAST_FOR_LIES and self._later >= _NEARLY_ALL * self._paired:
                return DatesVerdict.MOVING
            if self._equal >= _NEARLY_ALL * self._number:
                return DatesVerdict.EQUAL
        return DatesVerdict.PLAUSIBLE
