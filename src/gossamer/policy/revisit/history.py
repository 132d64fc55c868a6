"""What is kept of a page between its visits: 24 bytes, and a few more where several sources speak of it.

The first source that speaks of a page stands in those; each further one takes `VOICE_BYTES`, and what a change of it
leads to takes one byte where that is more than the page itself.
"""

import struct
from itertools import starmap

import msgspec

from gossamer.policy.revisit.gone import Presence

_FORM = struct.Struct("<IIeeeBBBHB4s")
BYTES = _FORM.size
_VOICE = struct.Struct("<Be")
VOICE_BYTES = _VOICE.size
MOST_VOICES = 4
"""Sources that a page is judged by; signals of more are heard, but nothing is learned from them."""
_STANDING = struct.Struct("<4xI9xH")
_FLAGS = 19
"""Byte with the presence, and the first who speaks of the page."""
_HOUR = 3600.0
_MOST_VISITS = 250
_LONGEST = 60_000.0
"""Hours: what half a float holds is 65,504."""
_PLACED = 0.25

UNREAD = bytes(4)
"""`History.text` of a page whose text nobody has looked at."""


class Voice(msgspec.Struct, frozen=True, gc=False):
    """A source that speaks of the page.

    Attributes:
        source: its number at the host of the page (`trust`).
        heard: hours from the last visit to its first signal after that; 0: there was none.
    """

    source: int
    heard: float = 0.0


class History(msgspec.Struct, frozen=True, gc=False):
    """Visits of one page, and how its text fared between them.

    A sum of intervals and their number is all that is kept of the intervals in which it changed, and of those in
    which it did not; both are forgotten together, by halves, when a field is full.

    Attributes:
        last: wall time of the last visit, in whole seconds.
        since: `last`, put back by the signals that came after it: the age by which it stands in its class.
        quiet: hours it was seen unchanged.
        stirred: hours of the intervals at whose end it had changed.
        same: visits that found it unchanged.
        changed: visits that found it changed.
        announced: those of them that a signal had told of.
        place: its class (`classes`).
        presence: as in `gone`.
        text: first 4 bytes of the hash of its main text.
        voices: who speaks of it, the first to do so first.
        brings: pages that a change of it leads to (`hubs`), a power of 2 from 1 to 128.
    """

    last: int
    since: int
    quiet: float = 0.0
    stirred: float = 0.0
    same: int = 0
    changed: int = 0
    announced: int = 0
    place: int = 0
    presence: Presence = Presence.HERE
    text: bytes = bytes(4)
    voices: tuple[Voice, ...] = ()
    brings: int = 1

    @property
    def heard(self) -> float:
        """Hours from the last visit to the first signal after it; 0: there was none."""
        voices = self.voices
        if len(voices) < 2:
            return voices[0].heard if voices else 0.0
        return min((voice.heard for voice in voices if voice.heard), default=0.0)

    def visited(self, now: float, *, changed: bool, heard: float | None = None) -> "History":
        """After another visit that saw its text.

        A change that was announced came shortly before it was, and until then there was none. Who is only visited
        when something was said would seem to change without rest otherwise.

        Args:
            now: wall time, seconds.
            changed: the text is another one than at the last visit.
            heard: hours after which it was said to have changed by who is believed most; the first, if not given.
        """
        hours = max(0.0, now - self.last) / _HOUR
        quiet, stirred = self.quiet, self.stirred
        same, times, announced = self.same, self.changed, self.announced
        if not changed:
            quiet += hours
            same += 1
        else:
            times += 1
            heard = self.heard if heard is None else heard
            if heard:
                announced += 1
                hours = min(hours, heard) * _PLACED
                quiet += hours * (1 / _PLACED - 1)
            stirred += hours
        if same > _MOST_VISITS or times > _MOST_VISITS or quiet > _LONGEST or stirred > _LONGEST:
            quiet, stirred = min(quiet, _LONGEST) / 2, min(stirred, _LONGEST) / 2
            same, times, announced = same + 1 >> 1, times + 1 >> 1, announced >> 1
        moment = int(now)
        silent = tuple(Voice(voice.source) for voice in self.voices) if self.voices else ()
        return History(
            moment, moment, quiet, stirred, same, times, announced, self.place, self.presence, self.text,
            silent, self.brings,
        )  # fmt: skip

    def spoken_of(self, source: int) -> "History":
        """The same, where a source speaks of the page; one too many is not kept."""
        if len(self.voices) >= MOST_VOICES or any(voice.source == source for voice in self.voices):
            return self
        return msgspec.structs.replace(self, voices=(*self.voices, Voice(source)))

    def told(self, now: float, since: int, source: int) -> "History":
        """After a signal of a source, by which it has waited as if since then."""
        hours = min(max(now - self.last, 1.0) / _HOUR, _LONGEST)
        known = self.spoken_of(source)
        voices = tuple(
            Voice(source, hours) if voice.source == source and not voice.heard else voice
            for voice in known.voices
        )
        return msgspec.structs.replace(known, voices=voices, since=min(self.since, max(since, 0)))

    def pack(self) -> bytes:
        """As it is stored; sums are rounded to one part in 2,048."""
        voices = self.voices
        first = voices[0] if voices else _NOBODY
        packed = _FORM.pack(
            self.last, self.since, self.quiet, self.stirred, first.heard, self.same, self.changed, self.announced,
            self.place, first.source << 2 | self.presence, self.text,
        )  # fmt: skip
        if self.brings > 1:
            packed += bytes((self.brings.bit_length() - 1,))
        for voice in voices[1:]:
            packed += _VOICE.pack(voice.source, voice.heard)
        return packed


_NOBODY = Voice(0)
_PRESENCES = tuple(Presence)


def unpack(stored: bytes | bytearray | memoryview) -> History:
    """The history that was stored by `pack`."""
    last, since, quiet, stirred, heard, same, changed, announced, place, flags, text = _FORM.unpack_from(
        stored
    )
    voices: tuple[Voice, ...] = (Voice(flags >> 2, heard),) if flags >> 2 else ()
    brings = 1
    if len(stored) > BYTES:
        at = BYTES
        if (len(stored) - BYTES) % VOICE_BYTES:
            brings, at = 1 << stored[BYTES], BYTES + 1
        voices += tuple(starmap(Voice, _VOICE.iter_unpack(memoryview(stored)[at:])))
    return History(
        last,
        since,
        quiet,
        stirred,
        same,
        changed,
        announced,
        place,
        _PRESENCES[flags & 3],
        text,
        voices,
        brings,
    )


def standing(stored: bytes | bytearray | memoryview) -> tuple[int, int]:
    """Of a stored history no more than since when it stands in its queue, and in which."""
    since, place = _STANDING.unpack_from(stored)
    return since, place


def presence_of(stored: bytes | bytearray | memoryview) -> Presence:
    """Of a stored history no more than whether the page is there."""
    return _PRESENCES[stored[_FLAGS] & 3]
