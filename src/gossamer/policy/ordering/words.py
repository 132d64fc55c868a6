"""Words of texts, and how often those of a query stand in them."""

import re
from collections import Counter

from gossamer.model.errors import ConfigError

__all__ = ["Query"]

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts that put no space between words: Han and kana (Unicode 16, blocks)."""
_WORD = re.compile(r"[^\W_]+")
_WORD_OR_CJK = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_ANY_CJK = re.compile(f"[{_CJK}]")
_ASCII = bytes(ord(char.lower()) if (char := chr(code)).isalnum() else 32 for code in range(128)).ljust(256)
"""Lower case of letters and digits, spaces for all else."""
_RUN = re.compile(rf"([{_CJK}]+)|([^\W_{_CJK}]+)")

MOST_WORDS = 32
"""Words of a query; each costs a look-up for every text."""


class Query:
    """The words that a crawl is after.

    Letters count without case. A word and its regular English plural are the same (the S stemmer of Harman,
    How Effective Is Suffixing?, 1991, turned round: the forms are worked out once, so that no word of a
    text need be stemmed). Where words are not set apart (Han, kana), pairs of characters stand for them.
    """

    def __init__(self, text: str) -> None:
        """Args:
            text: words in any order, each counted once.

        Raises:
            ConfigError: it holds no word, or more than 32.
        """
        forms: dict[str, list[str]] = {}
        self._pairs: list[tuple[int, str]] = []
        for run, word in _RUN.findall(text.casefold()):
            if word:
                forms.setdefault(_singular(word), [])
            else:
                for pair in [run[at : at + 2] for at in range(max(1, len(run) - 1))]:
                    forms.setdefault(pair, [])
        if not forms:
            raise ConfigError("order.focus.query: names no word. Set it to the words the crawl is after.")
        if len(forms) > MOST_WORDS:
            raise ConfigError(
                f"order.focus.query: has {len(forms)} words, at most {MOST_WORDS} are looked for."
            )
        self.words = tuple(forms)
        self._forms = [_forms(word) for word in self.words]
        self._pairs = [(at, word) for at, word in enumerate(self.words) if _is_pair(word)]

    def count(self, text: str) -> tuple[int, tuple[int, ...]]:
        """How many words `text` has, and how often each word of the query is among them. Linear time."""
        text = text.casefold()
        words = _split(text)
        if not words:
            return 0, (0,) * len(self.words)
        times = Counter(words)
        counts = [sum([times[form] for form in forms]) for forms in self._forms]
        for at, pair in self._pairs:
            counts[at] = text.count(pair)
        return len(words), tuple(counts)


def _split(text: str) -> list[str]:
    """The words of a text in lower case, each Han or kana character as one; the quickest way that will do."""
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    return (_WORD_OR_CJK if _ANY_CJK.search(text) else _WORD).findall(text)


def _is_pair(word: str) -> bool:
    return _RUN.fullmatch(word)[1] is not None  # type: ignore[index]  # it is one run


def _singular(word: str) -> str:
    """The S stemmer's three rules, the first that applies."""
    if len(word) > 3 and word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    if len(word) > 3 and word.endswith("s") and word[-2] not in "us":
        return word[:-1]
    return word


def _forms(word: str) -> tuple[str, ...]:
    """The words of which `word` is the singular."""
    candidates = (word, word + "s", word[:-1] + "ies")
    return tuple(dict.fromkeys(form for form in candidates if _singular(form) == word))
