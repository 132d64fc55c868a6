"""A guess at the encoding of a document that declares none and is not UTF-8.

Every candidate reads the same small sample; what it reads is scored by how ordinary it is as text of the
languages written in that encoding. The cost does not grow with the document. Legacy encodings of Chinese,
Japanese, Korean, Cyrillic, Greek, Hebrew, Arabic, Thai, Turkish, Baltic and Central European text are told
apart; the rest is windows-1252, as browsers have it.
"""

# ruff: noqa: RUF001 (letters that look alike are the matter of this file)

import re
from collections.abc import Callable
from functools import partial

from gossamer.extract.labels import CODECS

__all__ = ["detect"]

_WINDOW = 128 << 10
_SAMPLE = 4 << 10
_MARKUP = re.compile(rb"<(?:script|style)[^<]*+|<[^>]*+>", re.IGNORECASE)
_ADVANTAGE = 0.1
"""By how much a guess must beat the last resort."""

# The commonest characters of Chinese running text, in both forms, and what only one form has.
_HAN = frozenset(
    "的一是不了在人有我他中大上和地到以要就出也你生能而子那得于着下自之年作里用道行所然家事成方多天分小部其本心如文日同"
    "都好看起公司新高市小次第月可面本物定明正外相見法理性体全三合回信代化名真品水海山金手主力北西南度情意書口女平安空"
)
_SIMPLIFIED = frozenset(
    "这个们来为国说时会对发后种经么学现当没动样还进实军无长机关点业将两间问应战头见产话内给儿东声语员论处走义认条气题"
    "尔别总电报结较数万变务场区门马书请过开与专华网页设图联系户费车视频链购买关于请"
)
_TRADITIONAL = frozenset(
    "這個們來為國說時會對發後種經麼學現當沒動樣還進實軍無長機關點業將兩間問應戰頭見產話內給兒東聲語員論處走義認條氣題"
    "爾別總電報結較數萬變務場區門馬書請過開與專華網頁設圖聯繫戶費車視頻鏈購買關於請"
)
_HAN_SIMPLIFIED = _HAN | _SIMPLIFIED
_HAN_TRADITIONAL = _HAN | _TRADITIONAL


_CJK_MARKS = "　、。，．：；！？（）「」『』【】《》〈〉・ー…～“”‘’·"
_CYRILLIC_OFTEN = frozenset("оеаинтсрвлкмдпуія")
_CYRILLIC = frozenset("абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўђјљњћџ")
_GREEK = frozenset("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώ")
_HEBREW = frozenset("אבגדהוזחטיכלמנסעפצקרשתםןףךץ")
_ARABIC = frozenset("ابتثجحخدذرزسشصضطظعغفقكلمنهويةىأإآؤئء،؟پچگ")
_THAI = frozenset(map(chr, range(0x0E01, 0x0E4F)))
_LATIN = frozenset("éèàçêâîôûùëïöüäßñáíóúåæøãõœ«»’‘“”„–—…°©®·•§£€¿¡ \u00a0")
_CENTRAL = frozenset("ąćęłńóśźżčďěňřšťůžőűáéíúýäöüôâăîșțşţđß„”“–’")
_TURKISH = frozenset("ğşıİçöüâîûÇÖÜŞĞ’“”–")
_BALTIC = frozenset("ąčęėįšųūžāēģīķļņõäöü„“”–")


def detect(content: bytes) -> str:
    """WHATWG name of the likeliest encoding, lower case."""
    window = content[:_WINDOW]
    if b"\x1b$B" in window or b"\x1b$@" in window:
        return "iso-2022-jp"
    sample = _sample(window)
    if not sample:
        return "windows-1252"
    name = "windows-1252"
    best = _latin(_LATIN, sample.decode("cp1252", "replace")) + _ADVANTAGE
    for candidate, score in _SCORES.items():
        points = score(sample.decode(CODECS[candidate], "replace"))
        if points > best:
            best, name = points, candidate
    return name


def _sample(window: bytes) -> bytes:
    """The words with bytes above 127 at the start of the document, without markup."""
    words: list[bytes] = []
    size = 0
    for word in _MARKUP.sub(b" ", window).split():
        if not word.isascii():
            words.append(word)
            size += len(word)
            if size >= _SAMPLE:
                break
    return b" ".join(words)[:_SAMPLE]


# Each score is the share of characters above 127 that are ordinary in the language, at most 1,
# less a fine for what is not: replacement characters most of all.


def _chinese(ordinary: frozenset[str], text: str) -> float:
    high, wrong = _high(text)
    hits = sum(character in ordinary for character in high)
    kana = sum("\u3040" <= character <= "\u30ff" for character in high)
    return _share(min(2.5 * hits, len(high)) - 2 * kana, high, wrong)


def _japanese(text: str) -> float:
    high, wrong = _high(text)
    kana = sum("\u3041" <= character <= "\u30ff" for character in high)
    narrow = sum("\uff61" <= character <= "\uff9f" for character in high)
    return _share(min(2.5 * kana, len(high)) - 2 * narrow, high, wrong)


def _korean(text: str) -> float:
    high, wrong = _high(text)
    hangul = sum("\uac00" <= character <= "\ud7a3" for character in high)
    return _share(hangul - 2 * (len(high) - hangul), high, wrong)


def _cyrillic(text: str) -> float:
    """Capitals inside words tell KOI8-R read as windows-1251 and the reverse, whose cases are swapped."""
    high, wrong = _high(text)
    often = sum(character in _CYRILLIC_OFTEN for character in high)
    letters = sum(character in _CYRILLIC for character in high)
    capitals = sum("Ѐ" <= character <= "Я" for character in high)
    inside = sum(map(_capital_inside, text, text[1:]))
    strange = len(high) - letters - capitals
    return _share(0.5 * letters + 0.6 * often + 0.4 * capitals - 1.5 * inside - strange, high, wrong)


def _capital_inside(before: str, after: str) -> bool:
    return before in _CYRILLIC and "Ѐ" <= after <= "Я"


def _script(letters: frozenset[str], text: str) -> float:
    """Scripts that fill whole words: a letter beside an ASCII letter speaks against them."""
    high, wrong = _high(text)
    hits = sum(character in letters for character in high)
    capitals = sum(character.lower() in letters for character in high) - hits
    mixed = sum(map(_mixed, text, text[1:]))
    return _share(hits + 0.3 * capitals - (len(high) - hits - capitals) - 2 * mixed, high, wrong)


def _mixed(before: str, after: str) -> bool:
    return (before > "\x7f" and after.isascii() and after.isalpha()) or (
        after > "\x7f" and before.isascii() and before.isalpha()
    )


def _latin(letters: frozenset[str], text: str) -> float:
    high, wrong = _high(text)
    hits = sum(character in letters or character.lower() in letters for character in high)
    return _share(0.8 * hits - 0.5 * (len(high) - hits), high, wrong)


def _high(text: str) -> tuple[list[str], int]:
    """The characters above 127 that count, and how many bytes made no character at all."""
    high = [character for character in text if character > "\x7f" and character not in _CJK_MARKS]
    return high, text.count("\ufffd")


def _share(points: float, high: list[str], wrong: int) -> float:
    return (points - 3 * wrong) / len(high) if high else 0.0


_SCORES: dict[str, Callable[[str], float]] = {
    "shift_jis": _japanese,
    "euc-jp": _japanese,
    "euc-kr": _korean,
    "gbk": partial(_chinese, _HAN_SIMPLIFIED),
    "big5": partial(_chinese, _HAN_TRADITIONAL),
    "windows-1251": _cyrillic,
    "koi8-r": _cyrillic,
    "ibm866": _cyrillic,
    "iso-8859-5": _cyrillic,
    "x-mac-cyrillic": _cyrillic,
    "windows-1253": partial(_script, _GREEK),
    "windows-1255": partial(_script, _HEBREW),
    "windows-1256": partial(_script, _ARABIC),
    "windows-874": partial(_script, _THAI),
    "windows-1250": partial(_latin, _CENTRAL),
    "iso-8859-2": partial(_latin, _CENTRAL),
    "windows-1254": partial(_latin, _TURKISH),
    "windows-1257": partial(_latin, _BALTIC),
}
