"""Chooses the passage of a text that a hit shows, and marks the words in it that were asked for."""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from gossamer.search.query import asked as ask
from gossamer.search.query.asked import Asked, Field
from gossamer.search.text.words import is_single, is_spaceless, sequences, stems_of, ways_of

__all__ = ["Marker", "Piece", "marked_places", "plain", "shown"]

LENGTH = 240
"""Characters of a passage, roughly."""
SEARCHED = 1_000_000
"""Characters in which a passage is looked for."""
_THOROUGHLY = (4_000, 16_000)
"""Characters, from the beginning on, of which the best passage is taken; of the latter if the former have none with all
words. Behind them only words are looked for that they do not have: a passage with more of the others may be there, but
reading on costs as much as all else that an answer takes."""
_OCCURRENCES = 1_000
"""Of the letters with which a word begins, of which it is looked whether they are that word's."""
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
_WORD = re.compile(r"(?<![^\W_])[^\W_]+")
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
        self._literals: list[tuple[str, ...]] = []
        """With which the forms of each begin, as they are most often written."""
        self._runs: set[str] = set()
        self._beginnings: list[str] = []
        said: set[str] = set()
        phrases = []
        ways = ways_of(tuple(languages))
        for words in _words(asked):
            if words.pattern:
                begins = [folded[0][1] for folded in sequences(words.text.rstrip("*"))]
                self._asked.append((words, frozenset(begins)))
                self._beginnings += begins
                self._literals.append(_written((*begins, words.text.rstrip("*").lower())))
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
            self._literals.append(_written(_begun(forms, words.text.lower())))
            self._stems |= forms
        self._runs = {word for word in self._stems if is_spaceless(word)}
        self._stems -= self._runs
        said = {word for word in said if not is_spaceless(word)} | self._runs
        self._enough = len(said) + len(self._beginnings)
        """Different words, from which on no better passage is looked for."""
        self._phrase = re.compile("|".join(phrases), re.IGNORECASE) if phrases else None
        self._known: dict[str, dict[str, frozenset[str]]] = {}
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
        seen: set[str] = set()
        for end in _THOROUGHLY:
            part = text[at:end]
            if not part or most >= self._enough:
                return best
            if places := self._places(part, language):
                known = self._forms({part[start:stop] for start, stop in places}, language)
                seen.update(*(known[part[start:stop]] for start, stop in places))
                place, different = _best(places, part)
                if different > most:
                    best, most = at + place, different
            # Where there are many, not all of them were looked at; and what a part's end cuts is in the next.
            at += places[_MOST - 1][0] if len(places) >= _MOST else max(len(part) - LENGTH, 0)
        for (_, forms), literals in zip(self._asked, self._literals, strict=True):
            if forms and forms.isdisjoint(seen):
                place, different = self._elsewhere(text, at, forms, literals, language)
                if different > most:
                    best, most = place, different
        return best

    def _elsewhere(
        self, text: str, at: int, wanted: frozenset[str], literals: Iterable[str], language: str
    ) -> tuple[int, int]:
        """Where a word stands that was not found before `at`, the first place for each way to write it; how many words
        stand around it.
        """
        best, most = 0, 0
        for literal in literals:
            start = text.find(literal, at, SEARCHED)
            for _ in range(_OCCURRENCES):
                if start < 0:
                    break
                found = _WORD.match(text, start)
                word = literal if literal in self._runs else found.group() if found else ""
                if word and wanted & self._forms([word], language)[word]:
                    low = max(start - LENGTH, 0)
                    window = text[low : start + LENGTH]
                    places = self._places(window, language) or [(start - low, start - low)]
                    place, different = _best(places, window)
                    if different > most:
                        best, most = low + place, different
                    break
                start = text.find(literal, start + 1, SEARCHED)
        return best, most

    def _places(self, text: str, language: str) -> list[tuple[int, int]]:
        """Where the words stand, in order; pairs of characters overlap."""
        found: list[tuple[int, int]] = []
        if self._likely is not None:
            matches = self._likely.finditer(text)
            while len(found) < _MOST and (some := [*islice(matches, _AT_A_TIME)]):
                words = [one.group() for one in some]
                forms = self._forms(words, language)
                found += [one.span() for one, word in zip(some, words, strict=True) if forms[word]]
            del found[_MOST:]
        if self._run is not None:
            found += [run.span(1) for run in islice(self._run.finditer(text), _MOST)]
            found.sort()
        return found

    @functools.cached_property
    def _likely(self) -> re.Pattern[str] | None:
        """Words that begin as a form of one that is asked for may begin, in either case; any character beyond ASCII may
        be one of them with a diacritic.
        """
        firsts, begins = set(), set()
        for word in (*self._stems, *self._beginnings):
            same = word[:_SAME] if len(word) > _SAME else word[: max(len(word) - 1, 1)]
            firsts.add(same[0])
            first, *rest = map(_letters, same)
            begins.add(f"(?<={first}){''.join(rest)}")
        if not begins:
            return None
        first = _letters("".join(sorted(firsts)))
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


def _letters(letters: str) -> str:
    """A class of characters: letters in either case, or anything beyond ASCII.

    The latter by what it is not: Python takes milliseconds to make a class of a large range.
    """
    stops = sorted({ord(one) for one in letters + letters.upper() if one.isascii()})
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


def _begun(forms: Iterable[str], text: str) -> Iterator[str]:
    """With which letters words of a text and their forms begin, as they were typed and without diacritics."""
    for word in _WORD.findall(text):
        bare = "".join(one for one in unicodedata.normalize("NFKD", word) if not unicodedata.combining(one))
        for form in forms:
            pairs = zip(bare, form, strict=False)
            length = next(
                (at for at, (one, other) in enumerate(pairs) if one != other), min(len(bare), len(form))
            )
            if length >= min(_SAME, len(form)):
                yield bare[:length]
                yield word[:length]
    yield from filter(is_spaceless, forms)


def _written(beginnings: Iterable[str]) -> tuple[str, ...]:
    """Beginnings of words in lower case, capitalized, and in upper case; what begins with another is left out."""
    least = sorted({*beginnings})
    least = [one for at, one in enumerate(least) if at == 0 or not one.startswith(least[at - 1])]
    return tuple(dict.fromkeys(case for one in least for case in (one, one.capitalize(), one.upper())))


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
