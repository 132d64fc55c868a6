"""Chooses the passage of a text that a hit shows, and marks the words in it that were asked for."""

import functools
import re
from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from gossamer.search.query import asked as ask
from gossamer.search.query.asked import Asked, Field
from gossamer.search.text.words import is_single, is_spaceless, sequences, stems_of, ways_of

__all__ = ["Marker", "Piece", "marked_places", "plain", "shown"]

LENGTH = 240
"""Characters of a passage, roughly."""
SEARCHED = 1_000_000
"""Characters in which a passage is looked for: at most some 70 ms, where words of the query are everywhere."""
_AT_ONCE = 60_000
_PARTS = 40
"""Of a text, each of some ten thousand characters or more, unless it says nothing but the same."""
_FIRST = 2
"""Parts in which all words are looked for; in further ones only those that did not occur, unless none did."""
_AROUND = 3
"""Places of a part around which the other words are looked for."""
_PHRASE = 12
"""Words of a phrase that is looked for as a whole."""
_BEFORE = 60
_MOST = 100
"""Places at which words of a query are found, before the looking ends."""
_AT_A_TIME = 200
"""Words that may be forms of one that is asked for, which are looked up together."""
_SAME = 3
"""Characters with which all forms of a word begin."""
_BLANKS = re.compile(r"\s+")
_UNSEEN = re.compile(r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
"""Format characters (Unicode's category Cf) without a shape: they say how a page is written, not what it says."""


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """Some of a passage, and whether it is what was asked for."""

    text: str
    marked: bool = False


def plain(pieces: Iterable[Piece]) -> str:
    """A passage as one text."""
    return "".join(piece.text for piece in pieces)


def marked_places(pieces: Iterable[Piece]) -> list[tuple[int, int]]:
    """Where in that text stands what was asked for."""
    places, at = [], 0
    for piece in pieces:
        if piece.marked:
            places.append((at, at + len(piece.text)))
        at += len(piece.text)
    return places


class Marker:
    """Finds the words of one query in texts."""

    def __init__(self, asked: Asked, languages: Iterable[str]) -> None:
        """Args:
        asked: the query, read.
        languages: tags of those in the index.
        """
        self._stems: set[str] = set()
        self._asked: list[tuple[ask.Words, frozenset[str]]] = []
        self._rests: dict[tuple[int, ...], Marker] = {}
        self._tags = tuple(languages)
        self._runs: set[str] = set()
        self._beginnings: list[str] = []
        said: set[str] = set()
        phrases = []
        ways = ways_of(self._tags)
        for words in _words(asked):
            if words.pattern:
                begins = [folded[0][1] for folded in sequences(words.text.rstrip("*"))]
                self._asked.append((words, frozenset(begins)))
                self._beginnings += begins
                continue
            each = re.findall(r"[^\W_]+", words.text)
            said.update(map(str.lower, each))
            if words.phrase and 1 < len(each) <= _PHRASE:
                phrases.append(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, each)))
            forms = frozenset(
                word
                for sequence in sequences(words.text, ways)
                for _, word in sequence
                if len(sequence) == 1 or not is_single(word)
            )
            self._asked.append((words, forms))
            self._stems |= forms
        self._runs = {word for word in self._stems if is_spaceless(word)}
        self._stems -= self._runs
        said = {word for word in said if not is_spaceless(word)} | self._runs
        self._enough = len(said) + len(self._beginnings)
        """Different words, from which on no better passage is looked for."""
        self._phrase = re.compile("|".join(phrases), re.IGNORECASE) if phrases else None
        self._known: dict[str, dict[str, frozenset[str]]] = {}
        self._likely = functools.cache(self._candidates)
        runs = "|".join(map(re.escape, sorted(self._runs)))
        # Pairs of neighbours overlap; where all of a run stand, they are one place again.
        self._run = re.compile(f"(?=({runs}))") if runs else None

    def marked(self, text: str, language: str) -> tuple[Piece, ...]:
        """A whole short text, such as a title, with its words marked."""
        return _pieces(text, 0, len(text), _apart(self._places(text, language)))

    def passage(self, text: str, language: str) -> tuple[Piece, ...]:
        """A phrase, or the passage with most of the words, marked; the beginning where none occurs."""
        start = _start(text, max(self._best(text, language) - _BEFORE, 0))
        return self.marked(text[start : _end(text, start + LENGTH)], language)

    def _best(self, text: str, language: str) -> int:
        """Where to look in a text."""
        if self._phrase is not None and (found := self._phrase.search(text, 0, SEARCHED)):
            return found.start()
        best, most, at = 0, 0, 0
        end = min(len(text), SEARCHED)
        seen: set[str] = set()
        for number in range(_PARTS):
            looking = self._rest(seen) if number >= _FIRST and most else self
            if at >= end or most >= self._enough or looking is None:
                break
            part = text[at : min(at + _AT_ONCE, end)]
            places = looking._places(part, language)
            if places:
                if looking is self:
                    words = {part[start:stop] for start, stop in places}
                    forms = self._forms(words, language)
                    seen.update(*(forms[word] for word in words))
                    place, different = _best(places, part)
                else:
                    place, different = self._around(places, part, language)
                if different > most:
                    best, most = at + place, different
            # Where there are many, not all of them were looked at; and what a part's end cuts is in the next.
            at += places[_MOST - 1][0] if len(places) >= _MOST else _AT_ONCE - LENGTH
        return best

    def _rest(self, seen: set[str]) -> "Marker | None":
        """What looks for the words that were not seen; `None` if all were."""
        unseen = tuple(at for at, (_, forms) in enumerate(self._asked) if forms and forms.isdisjoint(seen))
        if unseen and unseen not in self._rests:
            self._rests[unseen] = Marker(ask.All(tuple(self._asked[at][0] for at in unseen)), self._tags)
        return self._rests.get(unseen)

    def _around(self, places: Sequence[tuple[int, int]], text: str, language: str) -> tuple[int, int]:
        """As `_best`, near the first of some places, where others of the words may stand, too."""
        best, most = places[0][0], 0
        for start, _ in places[:_AROUND]:
            low = max(start - LENGTH, 0)
            window = text[low : start + LENGTH]
            place, different = _best(self._places(window, language) or [(start - low, start - low)], window)
            if different > most:
                best, most = low + place, different
        return best, most

    def _places(self, text: str, language: str) -> list[tuple[int, int]]:
        """Where the words stand, in order; pairs of characters overlap."""
        found: list[tuple[int, int]] = []
        if (likely := self._likely(text.isascii())) is not None:
            matches = likely.finditer(text)
            while len(found) < _MOST and (some := [*islice(matches, _AT_A_TIME)]):
                words = [one.group() for one in some]
                forms = self._forms(words, language)
                found += [one.span() for one, word in zip(some, words, strict=True) if forms[word]]
            del found[_MOST:]
        if self._run is not None:
            found += [run.span(1) for run in islice(self._run.finditer(text), _MOST)]
            found.sort()
        return found

    def _candidates(self, plainly: bool) -> re.Pattern[str] | None:
        """Words that begin as a form of one that is asked for may begin, in either case.

        Args:
            plainly: in a text of ASCII only; else any other character may be one of them with a diacritic.
        """
        firsts, begins = set(), set()
        for word in (*self._stems, *self._beginnings):
            same = word[:_SAME] if len(word) > _SAME else word[: max(len(word) - 1, 1)]
            if plainly and not same.isascii():
                continue
            firsts.add(same[0])
            first, *rest = (_letters(letter, plainly=plainly) for letter in same)
            begins.add(f"(?<={first}){''.join(rest)}")
        if not begins:
            return None
        first = _letters("".join(sorted(firsts)), plainly=plainly)
        return re.compile(rf"{first}(?<![^\W_].)(?:{'|'.join(sorted(begins))})[^\W_]*", re.DOTALL)

    def _forms(self, words: Iterable[str], language: str) -> dict[str, frozenset[str]]:
        """Of what is asked for, that which each word of a text is a form of; of further words, too."""
        known = self._known.setdefault(language, {})
        if new := {*words}.difference(known):
            read = [word for word in new if len(word) <= LENGTH]
            own, as_it_is = stems_of(read, language), stems_of(read, "")
            for word in new:
                stems = {own[word], as_it_is[word], word} if word in own else set()
                begun = {one for one in self._beginnings if any(stem.startswith(one) for stem in stems)}
                known[word] = frozenset(begun | (stems & (self._stems | self._runs)))
        return known


def shown(text: str) -> str:
    """Some of a text on one line, without characters that are not seen."""
    return _BLANKS.sub(" ", _UNSEEN.sub("", text))


def _letters(letters: str, *, plainly: bool) -> str:
    """A class of characters: letters in either case, or anything beyond ASCII, too.

    The latter by what it is not: Python takes milliseconds to make a class of a large range.
    """
    wanted = letters + letters.upper()
    if plainly:
        return f"[{re.escape(wanted)}]"
    stops = sorted({ord(one) for one in wanted if one.isascii()})
    gaps = zip([-1, *stops], [*stops, 128], strict=True)
    others = (f"\\x{low + 1:02x}-\\x{high - 1:02x}" for low, high in gaps if high - low > 1)
    return f"[^{''.join(others)}]"


def _words(asked: Asked) -> Iterable[ask.Words]:
    match asked:
        case ask.Words(field=field):
            if field is not Field.URL:
                yield asked
        case ask.All(parts) | ask.Any(parts):
            for part in parts:
                yield from _words(part)


def _best(places: Sequence[tuple[int, int]], text: str) -> tuple[int, int]:
    """Where the passage with most different words begins, the first of several; and how many they are."""
    best, most, low = places[0][0], 0, 0
    words = [text[start:end].lower() for start, end in places]
    for high, (start, _) in enumerate(places):
        while start - places[low][0] > LENGTH - 2 * _BEFORE:
            low += 1
        different = len({*words[low : high + 1]})
        if different > most:
            best, most = places[low][0], different
    return best, most


def _start(text: str, place: int) -> int:
    """The beginning of a word at or behind a place, if one is near."""
    if place == 0:
        return 0
    blank = _BLANKS.search(text, place, place + _BEFORE // 2)
    return blank.end() if blank else place


def _end(text: str, place: int) -> int:
    """The end of a word before a place, if one is near."""
    if place >= len(text):
        return len(text)
    blank = text.rfind(" ", place - _BEFORE // 2, place)
    return blank if blank > 0 else place


def _apart(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    apart: list[tuple[int, int]] = []
    for start, end in places:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _pieces(text: str, start: int, end: int, places: Sequence[tuple[int, int]]) -> tuple[Piece, ...]:
    pieces, at = [], start
    for one, other in places:
        if one < at or other > end:
            continue
        if one > at:
            pieces.append(Piece(shown(text[at:one])))
        pieces.append(Piece(text[one:other], True))
        at = other
    if at < end:
        pieces.append(Piece(shown(text[at:end])))
    return tuple(pieces)
