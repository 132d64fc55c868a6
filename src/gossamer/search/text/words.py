"""Tells the words of a text apart, by its script, and brings their forms together, by its language.

Scripts that write no blanks between words (Chinese, Japanese, Thai, ...) and Korean, whose words carry endings,
are cut into pairs of neighbouring characters: such a pair is found wherever it stands. The last character of a run
stands alone, too, so that every character begins something. All else is cut at what is no letter or
digit, in lower case, without diacritics, reduced to its stem where the language has a stemmer. A word that ends with
`+` or `#`, or begins with a dot, stands once more with the sign, so that C++ is not C, nor .NET net.

One field holds the words of all languages. A query does not tell its language: each of its words is looked
for in the forms that the languages of the index give it.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import re2

from gossamer.search.extra import needed
from gossamer.search.symbols import without_symbols

__all__ = [
    "COMBINING",
    "HIDDEN",
    "SPACELESS",
    "STEMMERS",
    "Ways",
    "Words",
    "common_in",
    "folded",
    "is_single",
    "is_spaceless",
    "of_document",
    "plain",
    "primary",
    "sequences",
    "stem_of",
    "stems_of",
    "subtag",
]

STEMMERS = {
    "ar": "arabic", "da": "danish", "nl": "dutch", "en": "english", "fi": "finnish", "fr": "french",
    "de": "german", "el": "greek", "hu": "hungarian", "it": "italian", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "es": "spanish", "sv": "swedish",
    "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""By `primary` of a language."""
_STOPS = frozenset(
    ("danish", "dutch", "english", "finnish", "french", "german", "hungarian", "italian", "norwegian",
     "portuguese", "russian", "spanish", "swedish")
)  # fmt: skip
"""Languages whose commonest words (the, of, und, ...) are left out of the text,
where they are a fifth of all."""
_OF = {
    "yue": "zh", "wuu": "zh", "cmn": "zh", "arb": "ar", "ary": "ar", "arz": "ar", "nb": "no", "nn": "no",
    "uzs": "uz", "sdh": "ku", "fuv": "ff", "gug": "gn", "ltg": "lv", "iw": "he", "in": "id",
    "hbo": "he", "grc": "el",
}  # fmt: skip
"""The language that people ask for, by its varieties (macrolanguages of ISO 639-3), by tags of earlier times,
and by what a text of today is taken for that is short, or has the points of Hebrew or the accents of old Greek."""
LONGEST = 100
"""Bytes of a word; what is longer is data and no word."""

Words = tuple[tuple[int, str], ...]
"""Words with their positions."""
Ways = tuple[str, ...]
"""Names of stemmers; the empty one leaves words as they are."""

SPACELESS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Characters of a class of regular expressions: of the scripts that are cut into pairs."""
_SPACED = (range(0x0300, 0x0E00), range(0x0F00, 0x1000), range(0x1200, 0x1780), range(0x1800, 0x1E00),
           range(0xA66F, 0xAC00))  # fmt: skip
COMBINING = "".join(one for one in map(chr, chain(*_SPACED)) if unicodedata.category(one).startswith("M"))
"""Marks of all others, which are part of a word (vowels of Devanagari), though Python's `\\w` does not know them."""
HIDDEN = "\u200b\u200c\u200d\u00ad"
"""Characters within words that are not seen, and belong to no word."""
_BETWEEN = re.compile(r"([\W_]+)")
_LOWER_WORDS = bytes(place if chr(place).isalnum() else 32 for place in range(128)).lower().ljust(256)
"""For `bytes.translate`, of ASCII: words in lower case, and for all else a blank."""
_REMEMBERED = 50_000
"""Words of a language of which it is known that they are none of the commonest, roughly at most."""
_PAIR = "0"
"""Joins two words into one that nobody writes."""
_SIGN = re.compile(r"[+#](?<=[A-Za-z0-9].)[+#]?(?![A-Za-z0-9+#])|\.(?<!\S.)(?=[A-Za-z])")
"""Begins with the sign, and looks back from there: few characters are signs."""
_ENDS = re.compile(r"[A-Za-z0-9]+\Z")
_BEGINS = re.compile(r"[A-Za-z0-9]+")
_SIGNED = 20
"""Characters of a word with a sign, at most."""
_RUN = re.compile(f"[{SPACELESS}]+")
_LAST_RUN = re.compile(f"[{SPACELESS}]+(?=\\s*$)")
_MARKED = re2.compile(r"\p{M}")
_FOLDED = str.maketrans(
    "άέήίόύώϊϋΐΰςё" "ΆΈΉΊΌΎΏΪΫЁ" "\u0623\u0625\u0622\u0671\u0649\u06cc\u06a9\u06c1\u0130",
    "αεηιουωιυιυσе" "αεηιουωιυе" "\u0627\u0627\u0627\u0627\u064a\u064a\u0643\u0647\u0049",
    "\u0640" + "".join(one for one in COMBINING if one < "\u0653") + HIDDEN,
)  # fmt: skip
"""Accents of Greek, letters of Russian and Arabic that are often written otherwise (the yeh, kaf and heh of Persian and
Urdu, for which many keyboards have those of Arabic); the Turkish I with a dot, of which
lower case makes two characters; diacritics that no letter is composed with (stress in Russian, points in Hebrew); what
is not seen."""
_FOLDABLE = re.compile(f"[{''.join(map(chr, _FOLDED))}]+")


@lru_cache(1_024)
def subtag(language: str) -> str:
    """The primary subtag of a BCP 47 tag, in lower case: `pt` of `pt-BR`."""
    return re.split("[-_]", language.strip().lower(), maxsplit=1)[0][:8]


def primary(language: str) -> str:
    """The language of a BCP 47 tag: its primary subtag, or that of the language of which it is a variety."""
    return _OF.get(tag := subtag(language), tag)


def plain(text: str) -> str:
    """A text with compatibility characters resolved: full width, ligatures, composed letters; symbols are but one."""
    text = without_symbols(text)
    if text.isascii():
        return text
    # Translating all of a text takes ten times as long as finding the few places.
    text = _FOLDABLE.sub(lambda found: found.group().translate(_FOLDED), unicodedata.normalize("NFKC", text))
    return text.replace("\u0e4d\u0e32", "\u0e33").replace(
        "\u0ecd\u0eb2", "\u0eb3"
    )  # am, as Thai and Lao write it


def folded(text: str) -> str:
    """A text in the letters of its words as they are kept, but for their stems."""
    return "".join(_folding().analyze(plain(text)))


def of_document(text: str, language: str, *, common: bool = True) -> Any:
    """A document's text as tantivy's `PreTokenizedString`, its words in their order.

    Args:
        text: of the document.
        language: its BCP 47 tag, or nothing.
        common: with the commonest words; else only pairs of them, and the others keep their positions.
    """
    ready, stemmer = _cut(plain(text)), STEMMERS.get(primary(language), "")
    if not common:
        ready = _paired(ready, stemmer)
    return _analyser(stemmer, _is_marked(ready), _stops(stemmer, common)).pre_tokenize(ready)


def ways_of(languages: Iterable[str]) -> Ways:
    """In which ways words may be written in an index, by the languages (tags) of its documents."""
    return tuple(dict.fromkeys(["", *(STEMMERS.get(primary(one), "") for one in languages)]))


@lru_cache(4_096)
def sequences(text: str, ways: Ways = ("",), *, common: bool = True) -> tuple[Words, ...]:
    """The words of a query, in each of the ways in which documents may have them, without repetitions.

    A run of a script without blanks at the end of the query may go on in the document.

    Args:
        text: one word or several.
        ways: of the index.
        common: with the commonest words; else each way leaves out its own, as a document does.
    """
    common = common or not _has_commonest(text)
    said = dict.fromkeys(_in_way(text, way, common) for way in ways)
    return tuple(words for words in said if words)


@lru_cache(1_024)
def common_in(text: str, ways: Ways) -> tuple[str, ...]:
    """Languages (primary subtags) whose texts are kept without these words, because all are of the commonest."""
    if not _has_commonest(text) or not _in_way(text, "", True):
        return ()
    left_out = {way for way in ways if way in _STOPS and not _in_way(text, way, False)}
    return tuple(language for language, way in STEMMERS.items() if way in left_out)


@lru_cache(16_384)
def _in_way(text: str, way: str, common: bool) -> Words:
    ready, marked = _ready(text)
    if not common:
        ready = _paired(ready, way)
    elif ready.isascii() and len(words := ready.split()) > 1 and "".join(words).isalnum():
        each = [_in_way(word, way, True) for word in words]  # most of them are asked for alone, too
        if all(each):
            return tuple((at, word) for at, [(_, word)] in enumerate(each))
    tokens = _analyser(way, marked, _stops(way, common)).pre_tokenize(ready).tokens
    return tuple((token.position - tokens[0].position, token.text) for token in tokens)


@lru_cache(4_096)
def _ready(text: str) -> tuple[str, bool]:
    """The text of a query, cut as no language does otherwise; and whether it has combining marks."""
    text = plain(text)
    ready = _cut(text)
    last = _LAST_RUN.search(text)
    if last is not None and len(last.group()) > 1:
        ready = ready.rstrip().removesuffix(last.group()[-1])
    return ready, _is_marked(ready)


@lru_cache(4_096)
def _has_commonest(text: str) -> bool:
    """Whether a word of a query is of the commonest of any language; few are, and to ask each takes long."""
    ready, marked = _ready(text)
    uncommon = _analyser("", marked, tuple(sorted(_STOPS)))
    return len(uncommon.analyze(ready)) < len(_analyser("", marked, ()).analyze(ready))


def is_single(text: str) -> bool:
    """Whether it is one character of a script without blanks."""
    return len(text) == 1 and _RUN.fullmatch(text) is not None


def is_spaceless(word: str) -> bool:
    """Whether it is of a script without blanks."""
    return _RUN.fullmatch(word) is not None


def stem_of(word: str, language: str) -> str:
    """What a single word becomes in documents of a language; empty if it is none."""
    ready = plain(word)
    found = _analyser(STEMMERS.get(primary(language), ""), _is_marked(ready), ()).analyze(ready)
    return found[0] if found else ""


def stems_of(words: Iterable[str], language: str) -> dict[str, str]:
    """What `stem_of` says of each; the words are of letters and digits only. Asking for many at once costs a tenth."""
    words = [*words]
    single = [word for word in words if word.isascii() and len(word) <= LONGEST]  # none is cut, none left out
    if stemmer := STEMMERS.get(primary(language), ""):
        found = dict(zip(single, _analyser(stemmer, False, ()).analyze(" ".join(single)), strict=True))
    else:
        found = {word: word.lower() for word in single}
    return found | {word: stem_of(word, language) for word in words if word not in found}


def _cut(text: str) -> str:
    text = _SIGN.sub(_signed, text)
    return text if text.isascii() else _RUN.sub(_pairs, text)


def _signed(found: re.Match[str]) -> str:
    """A word more in the place of the signs: their word, and their numbers, which no stemmer changes."""
    text, sign = found.string, found.group()
    if sign == ".":
        word = _BEGINS.match(text, found.end(), found.end() + _SIGNED)
    else:
        word = _ENDS.search(text, max(found.start() - _SIGNED, 0), found.start())
    return f" {word.group() if word else ''}{_PAIR}{''.join(str(ord(one)) for one in sign)} "


def _pairs(found: re.Match[str]) -> str:
    run = found.group()
    return " " + " ".join([*map("".join, pairwise(run)), run[-1]]) + " "


def _paired(text: str, stemmer: str) -> str:
    """A text with a word more between any two of the commonest that stand together: both as one.

    The commonest words themselves are left out of texts. By these pairs phrases of them are found.
    """
    if stemmer not in _STOPS:
        return text
    if text.isascii():  # its words will do, whatever stands between them
        pieces = text.encode().translate(_LOWER_WORDS).decode().split()
        words, step, joined = pieces.copy(), 1, " "
    else:
        pieces = _BETWEEN.split(text)  # words, and what stands between them, in turn
        words, step, joined = pieces[::2], 2, ""
    common = _commonest(stemmer).among({*words})
    are_common = bytes(map(common.__contains__, words))
    number = are_common.find(b"\1\1")
    while number >= 0:
        pair = f"{words[number].lower()}{_PAIR}{words[number + 1].lower()}"
        if step == 1:
            pieces[number] += f" {pair}"
        else:
            pieces[2 * number + 1] = f" {pair} "
        number = are_common.find(b"\1\1", number + 1)
    return joined.join(pieces)


def _is_marked(text: str) -> bool:
    """Whether it has combining marks, at which the fast tokeniser would cut (Devanagari, ...)."""
    return not text.isascii() and _MARKED.search(text) is not None


class _Commonest:
    """Tells which words are of the commonest of a language, whatever their case.

    It remembers what it was asked, because most words of a text are those of the texts before.
    """

    def __init__(self, stemmer: str) -> None:
        tantivy = needed()
        cut = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        self._uncommon = cut.filter(tantivy.Filter.stopword(stemmer)).build()
        self._common: set[str] = set()
        self._others = {""}

    def among(self, words: set[str]) -> set[str]:
        """Those of some words, which hold no blanks, that are of the commonest."""
        new = words - self._others - self._common
        if new:
            lower = {word: word.lower() for word in new}
            uncommon = {*self._uncommon.analyze(" ".join(lower.values()))}
            common = {word for word in new if lower[word] not in uncommon}
            if len(self._others) > _REMEMBERED:
                self._others = {""}
            self._common |= common
            self._others |= new - common
        return words & self._common


@lru_cache
def _commonest(stemmer: str) -> _Commonest:
    return _Commonest(stemmer)


def _stops(stemmer: str, common: bool) -> tuple[str, ...]:
    """Of which languages a text is kept without the commonest words."""
    return (stemmer,) if not common and stemmer in _STOPS else ()


@lru_cache
def _folding() -> Any:
    tantivy = needed()
    whole = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.lowercase())
    return whole.filter(tantivy.Filter.ascii_fold()).build()


@lru_cache
def _analyser(stemmer: str, marked: bool, stops: tuple[str, ...]) -> Any:
    tantivy = needed()
    cut = tantivy.Tokenizer.regex(r"[\p{Alphabetic}\p{M}\p{N}]+") if marked else tantivy.Tokenizer.simple()
    builder = tantivy.TextAnalyzerBuilder(cut)
    builder = builder.filter(tantivy.Filter.remove_long(LONGEST)).filter(tantivy.Filter.lowercase())
    for language in stops:
        builder = builder.filter(tantivy.Filter.stopword(language))
    if stemmer:
        builder = builder.filter(tantivy.Filter.stemmer(stemmer))
    return builder.filter(tantivy.Filter.ascii_fold()).build()
