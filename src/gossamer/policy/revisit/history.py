"""What is kept of a page between its visits: 24 bytes."""

import struct

import msgspec

from gossamer.policy.revisit.gone import Presence

_FORM = struct.Struct("<IIeeeBBBHB4s")
BYTES = _FORM.size
_STANDING = struct.Struct("<4xI9xH")
_HOUR = 3600.0
_MOST_VISITS = 250
_LONGEST = 60_000.0
"""Hours: what half a float holds is 65,504."""
_PLACED = 0.25


class History(msgspec.Struct, frozen=True, gc=False):
    """Visits of one page, and how its text fared between them.

    A sum of intervals and their number is all that is kept of the intervals in which it changed, and of those in
    which it did not; both are forgotten together, by halves, when a field is full.

    Attributes:
        last: wall time of the last visit, in whole seconds.
        since: `last`, put back by the signals that came after it: the age by which it stands in its class.
        quiet: hours it was seen unchanged.
        stirred: hours of the intervals at whose end it had changed.
        heard: hours from the last visit to the first signal after it; 0: there was none.
        same: visits that found it unchanged.
        changed: visits that found it changed.
        announced: those of them that a signal had told of.
        place: its class (`classes`).
        source: number of the source at its host that speaks of it (`trust`); 0: none does.
        presence: as in `gone`.
        text: first 4 bytes of the hash of its main text.
    """

    last: int
    since: int
    quiet: float = 0.0
    stirred: float = 0.0
    heard: float = 0.0
    same: int = 0
    changed: int = 0
    announced: int = 0
    place: int = 0
    source: int = 0
    presence: Presence = Presence.HERE
    text: bytes = bytes(4)

    def visited(self, now: float, *, changed: bool) -> "History":
        """After another visit that saw its text.

        A change that was announced came shortly before it was, and until then there was none. Who is only visited
        when something was said would seem to change without rest otherwise.

        Args:
            now: wall time, seconds.
            changed: the text is another one than at the last visit.
        """
        hours = max(0.0, now - self.last) / _HOUR
        quiet, stirred = self.quiet, self.stirred
        same, times, announced = self.same, self.changed, self.announced
        if not changed:
            quiet += hours
            same += 1
        else:
            times += 1
            if self.heard:
                announced += 1
                hours = min(hours, self.heard) * _PLACED
                quiet += hours * (1 / _PLACED - 1)
            stirred += hours
        if same > _MOST_VISITS or times > _MOST_VISITS or quiet > _LONGEST or stirred > _LONGEST:
            quiet, stirred = min(quiet, _LONGEST) / 2, min(stirred, _LONGEST) / 2
            same, times, announced = same + 1 >> 1, times + 1 >> 1, announced >> 1
        moment = int(now)
        return History(
            moment, moment, quiet, stirred, 0.0, same, times, announced, self.place, self.source, self.presence,
            self.text,
        )  # fmt: skip

    def told(self, now: float, since: int) -> "History":
        """After a signal, by which it has waited as if since then."""
        heard = self.heard or min(max(now - self.last, 1.0) / _HOUR, _LONGEST)
        return msgspec.structs.replace(self, heard=heard, since=min(self.since, max(since, 0)))

    def pack(self) -> bytes:
        """As it is stored; sums are rounded to one part in 2,048."""
        return _FORM.pack(
            self.last, self.since, self.quiet, self.stirred, self.heard, self.same, self.changed, self.announced,
            self.place, self.source << 2 | self.presence, self.text,
        )  # fmt: skip


def unpack(stored: bytes | bytearray | memoryview, at: int = 0) -> History:
    """The history that was stored by `pack`, from byte `at` on."""
    last, since, quiet, stirred, heard, same, changed, announced, place, flags, text = _FORM.unpack_from(
        stored, at
    )
    return History(
        last,
        since,
        quiet,
        stirred,
        heard,
        same,
        changed,
        announced,
        place,
        flags >> 2,
        Presence(flags & 3),
        text,
    )


def standing(stored: bytes | bytearray | memoryview, at: int = 0) -> tuple[int, int]:
    """Of a stored history no more than since when it stands in its queue, and in which."""
    since, place = _STANDING.unpack_from(stored, at)
    return since, place
