"""Chooses the passage of a text that a hit shows, and marks the words in it that were asked for.

A word is looked for by the letters with which all its forms begin, by plain search: to make an expression that finds
them costs as much as to search several texts.
"""

import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from gossamer.search.query import asked as ask
from gossamer.search.query.asked import Asked, Field
from gossamer.search.text.words import (
    COMBINING,
    HIDDEN,
    SPACELESS,
    folded,
    is_single,
    is_spaceless,
    sequences,
    stems_of,
    ways_of,
)

__all__ = ["Marker", "Piece", "marked_places", "plain", "shown"]

LENGTH = 240
"""Characters of a passage, roughly."""
SEARCHED = 1_000_000
"""Characters in which a passage is looked for."""
_THOROUGHLY = (1_000, 4_000, 16_000)
"""Characters, from the beginning on, of which the best passage is taken; of the next if these have none with all words.
Behind them only words are looked for that they do not have: a passage with more of the others may be there, but
reading on costs as much as all else that an answer takes."""
_FURTHER = (64_000, SEARCHED)
"""Characters in which these are looked for, and phrases: of the latter if they are not in the former."""
_OCCURRENCES = 1_000
"""Of the letters with which a word begins, of which it is looked whether they are that word's."""
_PHRASE_OCCURRENCES = 10_000
"""Of a word of a phrase, of which it is looked whether the others stand around it."""
_PHRASE = 12
"""Words of a phrase that is looked for as a whole."""
_BEFORE = 60
_SAME = 3
"""Characters with which all forms of a word begin."""
_BLANKS = re.compile(r"\s+")
_LETTER = rf"[^\W_{SPACELESS}]"
_ON = rf"{_LETTER}*(?:[{COMBINING}]+{_LETTER}*)*"
_WORD = re.compile(rf"(?<!{_LETTER})(?<![{COMBINING}]){_LETTER}{_ON}")
"""As the index has it, which ends where a script without blanks begins."""
_BEYOND = re.compile(rf"[^\x00-\x7f](?:(?<={_LETTER})|(?<=[{COMBINING}])){_ON}")
"""A word from its first letter beyond ASCII on, which may be another with a diacritic."""
_IN_WORD = re.compile(rf"{_LETTER}|[{COMBINING}]")
_WORD_OF_PHRASE = re.compile(r"(?<![^\W_])[^\W_]+")
_NEXT_WORD = re.compile(r"[\W_]+([^\W_]+)")
_LIKE_OTHERS = r"\u0edc\u0edd\u2e80-\u2fdf\uff66-\uff9f"
"""Ligatures of Lao; radicals, which PDF files have in the place of Han; kana of half the width."""
_COMPATIBLE = re.compile(f"[{_LIKE_OTHERS}]")
_TO_COMPOSE = re.compile(f"[{HIDDEN}{_LIKE_OTHERS}]")
_UNSEEN = re.compile(r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
"""Format characters (Unicode's category Cf) without a shape: they say how a page is written, not what it says."""

_Places = list[tuple[int, int, frozenset[int]]]
"""Beginning and end of words in a text, and the numbers of the words asked for that each is a form of."""


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


class _Part(msgspec.Struct, frozen=True):
    """Words that stand as one in a query: their forms, and the numbers by which the words are counted."""

    words: ask.Words
    forms: frozenset[str]
    numbers: range


class _Reading:
    """A text, read and composed as far as it is looked through."""

    def __init__(self, text: str, more: Callable[[int], str] | None) -> None:
        self.text = ""
        self.beginning = len(text)
        """Characters of it that were read before."""
        self._written = text
        self._more = more
        self._all = False
        self._lower = ""

    def upto(self, end: int) -> str:
        """So many characters of it, if it has them, or more, and what a word or a passage has behind them."""
        wanted = end = end + 2 * LENGTH
        while end > len(self.text) and not self._all:
            if self._more is not None and wanted > len(self._written):
                self._written = self._more(wanted)
            self._all = wanted > len(self._written)
            self.text, self._lower = _composed(self._written, wanted), ""
            wanted *= 2  # composed it is shorter
        return self.text

    def lower(self, end: int) -> str:
        """The same in lower case, if it is ASCII: of others that takes longer than to search for each case."""
        text = self.upto(end)
        if not text.isascii():
            return text
        self._lower = self._lower or text.lower()
        return self._lower


class Marker:
    """Finds the words of one query in texts."""

    def __init__(self, asked: Asked, languages: Iterable[str]) -> None:
        """Args:
        asked: the query, read.
        languages: tags of those in the index.
        """
        self._parts: list[_Part] = []
        self._phrases: list[list[str]] = []
        self._numbers: dict[str, set[int]] = {}
        """By the form of a word."""
        self._beginnings: dict[str, set[int]] = {}
        """The same of words that may go on."""
        self._enough = 0
        """Words in a passage, from which on no better one is looked for."""
        ways = ways_of(tuple(languages))
        for words in _words(asked):
            each: dict[int | str, set[str]] = {}
            if words.pattern:
                each[0] = {sequence[0][1] for sequence in sequences(words.text.rstrip("*"))}
            else:
                for sequence in sequences(words.text, ways):
                    for at, word in sequence:
                        if len(sequence) == 1 or not is_single(word):
                            each.setdefault(word if is_spaceless(word) else at, set()).add(word)
                phrase = _WORD_OF_PHRASE.findall(_lower(_composed(words.text)))
                if words.phrase and 1 < len(phrase) <= _PHRASE:
                    self._phrases.append(phrase)
            by_form = self._beginnings if words.pattern else self._numbers
            numbers = range(self._enough, self._enough + len(each))
            for number, forms in zip(numbers, each.values(), strict=True):
                for form in forms:
                    by_form.setdefault(form, set()).add(number)
            self._parts.append(_Part(words, frozenset().union(*each.values()), numbers))
            self._enough = numbers.stop
        self._beyond = not all(word.isascii() for phrase in self._phrases for word in phrase)
        self._runs = [form for form in self._numbers if is_spaceless(form)]
        self._firsts = _least(map(_first, (*(self._numbers.keys() - self._runs), *self._beginnings)))
        self._known: dict[str, dict[str, frozenset[int]]] = {}

    @functools.cached_property
    def _written(self) -> list[tuple[str, ...]]:
        """With which the forms of each part begin, as they are most often written."""
        return [
            _written(
                (*part.forms, part.words.text.rstrip("*").lower())
                if part.words.pattern
                else _begun(part.forms, part.words.text.lower())
            )
            for part in self._parts
        ]

    def marked(self, text: str, language: str) -> tuple[Piece, ...]:
        """A whole short text, such as a title, with its words marked."""
        text = _composed(text)
        return _pieces(text, _apart(self._places(text, 0, len(text), language)))

    def passage(
        self, text: str, language: str, more: Callable[[int], str] | None = None
    ) -> tuple[Piece, ...]:
        """A phrase, or the passage with most of the words, marked; the beginning where none occurs.

        Args:
            text: all of it, or its beginning.
            language: its BCP 47 tag, or nothing.
            more: gives so many characters of it, from the beginning on; `None` if `text` is all.
        """
        reading = _Reading(text, more)
        best = self._best(reading, language)
        text = reading.upto(best)
        start = _start(text, max(best - _BEFORE, 0))
        return self.marked(text[start : _end(text, start + LENGTH)], language)

    def _best(self, reading: "_Reading", language: str) -> int:
        """Where to look in a text, of which that is read then."""
        for end in (reading.beginning, *_FURTHER) if self._phrases else ():
            if (found := self._phrase(reading.upto(end))) is not None:
                return found
        best, most, at = 0, 0, 0
        seen: set[int] = set()
        for end in _THOROUGHLY:
            text = reading.upto(end)
            if places := self._places(text, at, end, language):
                seen.update(*(numbers for _, _, numbers in places))
                place, different = _fullest(places)
                if different > most:
                    best, most = place, different
            if most >= self._enough or end >= len(text):
                return best
            at = end - LENGTH  # a passage that the end cuts is in the next
        for part, literals in zip(self._parts, self._written, strict=True):
            if part.forms and seen.isdisjoint(part.numbers):
                for end in _FURTHER:
                    place, different = self._elsewhere(reading.lower(end), at, end, part, literals, language)
                    if different > most:
                        best, most = place, different
                    if different:
                        break
        return best if most else self._otherwise(reading.text, at, language)

    def _otherwise(self, text: str, at: int, language: str) -> int:
        """Where words stand behind `at` that are written otherwise than they are most often, such as with diacritics
        that were not typed; the beginning of the text if none does.
        """
        if not text.isascii():
            step = _THOROUGHLY[-1]
            for start in range(at, min(len(text), SEARCHED), step):
                letters = folded(text[start : start + step + LENGTH])
                if any(literal in letters for literal in (*self._firsts, *self._runs)) and (
                    places := self._places(text, start, start + step, language)
                ):
                    return _fullest(places)[0]
        return 0

    def _phrase(self, text: str) -> int | None:
        """Where the first phrase that a text has stands."""
        lower = (_lower if self._beyond else _ascii_lower)(text[:SEARCHED])
        return next(
            (found for phrase in self._phrases if (found := _phrase_place(lower, phrase)) is not None), None
        )

    def _elsewhere(
        self, text: str, at: int, end: int, part: _Part, literals: Iterable[str], language: str
    ) -> tuple[int, int]:
        """Where a word stands that was not found before `at`: its first place, or one before that where it is written
        otherwise; how many words stand around it.
        """
        best, most = 0, 0
        for literal in literals:
            if text.isascii() and literal != literal.lower():
                continue
            start = text.find(literal, at, end)
            for _ in range(_OCCURRENCES):
                if start < 0:
                    break
                found = _WORD.match(text, start)
                word = literal if literal in self._runs else found.group() if found else ""
                if word and not self._forms_of_one(word, language).isdisjoint(part.numbers):
                    places = self._places(text, max(start - LENGTH, 0), start + LENGTH, language)
                    place, different = _fullest(places) if places else (start, 1)
                    if different > most:
                        best, most = place, different
                    end = start
                    break
                start = text.find(literal, start + 1, end)
        return best, most

    def _places(self, text: str, start: int, end: int, language: str) -> _Places:
        """Where words of a part of a text stand, in order; pairs of characters overlap."""
        lower = _lower(text[start:end])
        found = {
            start + at
            for literal in self._firsts
            for at in _all_places(lower, literal)
            if not at or not lower[at - 1].isalnum() or not lower[at - 1].isascii()
        }
        if self._firsts and not lower.isascii():
            found.update(_word_begins(text, one.start()) for one in _BEYOND.finditer(text, start, end))
        words = {at: word[0] for at in sorted(found) if (word := _WORD.match(text, at))}
        forms = self._forms(words.values(), language)
        places = [(at, at + len(word), numbers) for at, word in words.items() if (numbers := forms[word])]
        if self._runs:
            places += [
                (start + at, start + at + len(run), frozenset(self._numbers[run]))
                for run in self._runs
                for at in _all_places(lower, run)
            ]
            places.sort(key=lambda place: place[:2])
        return places

    def _forms_of_one(self, word: str, language: str) -> frozenset[int]:
        known = self._known.get(language, {}).get(word)
        return self._forms((word,), language)[word] if known is None else known

    def _forms(self, words: Iterable[str], language: str) -> dict[str, frozenset[int]]:
        """The numbers of the words asked for that each word of a text is a form of; of further words, too."""
        known = self._known.setdefault(language, {})
        if new := {*words}.difference(known):
            read = [word for word in new if len(word) <= LENGTH]
            own, as_it_is = stems_of(read, language), stems_of(read, "")
            for word in new:
                stems = {own[word], as_it_is[word], word} if word in own else set()
                numbers = [self._numbers.get(stem, ()) for stem in stems]
                numbers += [
                    begun
                    for one, begun in self._beginnings.items()
                    if any(stem.startswith(one) for stem in stems)
                ]
                known[word] = frozenset().union(*numbers)
        return known


def _composed(text: str, end: int = sys.maxsize) -> str:
    """As it is shown and looked through, of so many characters or more: letters and their diacritics are one character,
    those of scripts without blanks are the ones that people type, and what is not seen is not within words.
    """
    if text.isascii():
        return text
    text = text[:end]
    if _TO_COMPOSE.search(text):  # hardly any has
        for one in HIDDEN:
            text = text.replace(one, "")
        text = _COMPATIBLE.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    return unicodedata.normalize("NFC", text)


def _lower(text: str) -> str:
    """In lower case, each character in its place: one becomes two."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("\u0130", "I").lower()


def _ascii_lower(text: str) -> str:
    """The letters of ASCII in lower case; of a text with others in a third of the time."""
    return (
        text.lower()
        if text.isascii()
        else str(text.encode(errors="surrogatepass").lower(), errors="surrogatepass")
    )


def _all_places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _first(stem: str) -> str:
    """The letters with which the words of a stem begin, unless they have others beyond ASCII."""
    if len(stem) > _SAME:
        return stem[: max(len(stem) - (2 if len(stem) > 5 else 1), _SAME)]
    return stem[:-1] if len(stem) == _SAME and stem[-1] in "ei" else stem  # try, tries; use, using


def _least(beginnings: Iterable[str]) -> list[str]:
    """Without those that begin with another."""
    least = sorted({*beginnings})
    return [one for at, one in enumerate(least) if at == 0 or not one.startswith(least[at - 1])]


def _word_begins(text: str, at: int) -> int:
    """Where the word begins that goes on at a place; somewhere in it if it is too long to be one."""
    least = max(at - LENGTH, 0)
    while at > least and _IN_WORD.match(text, at - 1):
        at -= 1
    return at


def _phrase_place(lower: str, phrase: Sequence[str]) -> int | None:
    """Where words stand one after the other, whatever is between them; the last may go on.

    The longest of them is looked for, and what stands around it.
    """
    longest = max(range(len(phrase)), key=lambda number: len(phrase[number]))
    before, after = [*phrase[:longest]], phrase[longest + 1 :]
    reach = sum(map(len, before)) + _BEFORE
    for at in islice(_all_places(lower, phrase[longest]), _PHRASE_OCCURRENCES):
        if not _goes_on(lower, at + len(phrase[longest]), after):
            continue
        words = [*_WORD_OF_PHRASE.finditer(lower, max(at - reach, 0), at + 1)][-len(before) - 1 :]
        if words and words[-1].start() == at and [word.group() for word in words[:-1]] == before:
            return words[0].start()
    return None


def _goes_on(lower: str, end: int, words: Sequence[str]) -> bool:
    """Whether words stand behind a place, the last of which may go on."""
    for number, word in enumerate(words, 1):
        found = _NEXT_WORD.match(lower, end)
        if found is None or not (found[1].startswith(word) if number == len(words) else found[1] == word):
            return False
        end = found.end()
    return True


def shown(text: str) -> str:
    """Some of a text on one line, without characters that are not seen."""
    return _BLANKS.sub(" ", text if text.isascii() else _UNSEEN.sub("", text))


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
    """Beginnings of words in lower case, capitalized, and in upper case."""
    return tuple(
        dict.fromkeys(case for one in _least(beginnings) for case in (one, one.capitalize(), one.upper()))
    )


def _fullest(places: _Places) -> tuple[int, int]:
    """Where the passage with most of the words begins, the first of several; and how many they are."""
    best, most, low = 0, 0, 0
    here: dict[int, int] = {}
    for start, _, numbers in places:
        for number in numbers:
            here[number] = here.get(number, 0) + 1
        while start - places[low][0] > LENGTH - 2 * _BEFORE:
            for number in places[low][2]:
                here[number] -= 1
                if not here[number]:
                    del here[number]
            low += 1
        if len(here) > most:
            best, most = places[low][0], len(here)
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


def _apart(places: _Places) -> list[tuple[int, int]]:
    apart: list[tuple[int, int]] = []
    for start, end, _ in places:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _pieces(text: str, places: Iterable[tuple[int, int]]) -> tuple[Piece, ...]:
    pieces, at = [], 0
    for start, end in places:
        if start > at:
            pieces.append(Piece(shown(text[at:start])))
        pieces.append(Piece(text[start:end], True))
        at = end
    if at < len(text):
        pieces.append(Piece(shown(text[at:])))
    return tuple(pieces)
