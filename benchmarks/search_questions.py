"""Questions to a search with their answers, computed from the texts by plain Python.

A question has a *lower* set, which every search of these words must find, and an *upper* one, beyond which it must
not: words as they stand, and words that a stemmer of one of the languages takes for the same. `snowballstemmer` is
pure Python and not what the index uses.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from benchmarks.planted import Row, page, words

LANGUAGES = ("english", "german", "french", "russian", "spanish", "italian", "portuguese", "dutch", "danish",
             "swedish", "norwegian", "finnish", "hungarian", "romanian", "turkish", "greek", "arabic")  # fmt: skip
_PLAIN = re.compile(r"[a-z]{3,14}")


class Planted(NamedTuple):
    """A word in other forms, on pages of its own.

    Attributes:
        language: BCP 47.
        query: the form that is asked for.
        form: the form that stands on the page.
        sentence: with the form, in the language.
        decoy: without it: what looks like it and is not.
    """

    language: str
    query: str
    form: str
    sentence: str
    decoy: str


CJK = (
    Planted("zh", "报告", "报告", "委员会昨天公布了年度报告并且回答了记者的问题。",
            "他告诉大家报纸上的消息并不准确。"),
    Planted("zh", "数据库", "数据库", "我们把所有的记录都存进数据库里面以便日后查询。",
            "这些数据放在仓库的旧柜子里面。"),
    Planted("ja", "図書館", "図書館", "昨日は市立図書館で古い地図を三枚見つけました。",
            "図面と書類は館内の棚にあります。"),
    Planted("ja", "検索", "検索", "この機能で文書を検索することができます。", "索引の点検は来週の予定です。"),
    Planted("ko", "도서관", "도서관", "어제 시립도서관에서 오래된 지도를 찾았습니다.",
            "도시의 서쪽에는 관청이 있습니다."),
    Planted("ko", "검색", "검색", "이 기능으로 문서를검색할 수 있습니다.", "색인 점검은 다음 주에 있습니다."),
)  # fmt: skip
"""Two words of each, inside sentences; a decoy has the same characters apart or turned round."""

STEMS = (
    Planted("en", "wandering lighthouses", "wandered lighthouse",
            "For three years he wandered from one lighthouse to the next and wrote down what the keepers said.",
            "The light of the house was out when we came home from the wedding, and nobody said a word."),
    Planted("en", "harvests", "harvesting",
            "They were harvesting barley when the rain came and the carts could not be moved from the field.",
            "The field was empty and the carts stood in the rain when they had gone home for the winter."),
    Planted("de", "Leuchttürme", "Leuchtturm",
            "Der alte Leuchtturm steht am Ende der Straße, und niemand weiß, wer ihn früher einmal gebaut hat.",
            "Die Leuchte im Turm ist seit Jahren aus, und niemand weiß, wer sie früher einmal gekauft hat."),
    Planted("de", "Wanderungen", "Wanderung",
            "Nach einer langen Wanderung kamen wir am Abend müde, aber zufrieden in dem kleinen Dorf an.",
            "Am Abend saßen wir müde, aber zufrieden vor dem kleinen Haus und sprachen von früher."),
    Planted("fr", "chevaux", "cheval",
            "Le vieux cheval du meunier ne voulait plus traverser la rivière depuis que le pont avait été emporté.",
            "Les cheveux de la meunière étaient blancs depuis que le pont avait été emporté par la rivière."),
    Planted("fr", "moissonner", "moissonnait",
            "On moissonnait encore à la main dans cette vallée, et toute la famille y travaillait jusqu'au soir.",
            "Dans cette vallée toute la famille travaillait encore à la main, du matin jusqu'au soir."),
    Planted("ru", "маяками", "маяков",
            "Вдоль всего северного берега стояло несколько старых маяков, и каждый из них имел своё имя.",
            "Вдоль всего северного берега стояло несколько старых домов, и каждый из них имел своё имя."),
    Planted("ru", "мельница", "мельницу",
            "Старую мельницу у реки продали весной, и новый хозяин сразу же начал чинить её крышу.",
            "Старый дом у реки продали весной, и новый хозяин сразу же начал чинить его крышу."),
    Planted("es", "canciones", "canción",
            "La abuela cantaba siempre la misma canción cuando los niños no podían dormir por la tormenta.",
            "La abuela contaba siempre la misma historia cuando los niños no podían dormir por la tormenta."),
    Planted("es", "molinos", "molino",
            "El molino del pueblo dejó de girar cuando el río cambió su curso después de las grandes lluvias.",
            "El reloj del pueblo dejó de andar cuando el río cambió su curso después de las grandes lluvias."),
)  # fmt: skip
"""Two words of each language; the query is in another form than the page."""

FILLERS = {
    "en": "This page was written so that a reader may know its language, and it has nothing else to tell anybody.",
    "de": "Diese Seite wurde geschrieben, damit man ihre Sprache erkennt, und sie hat sonst nichts zu erzählen.",
    "fr": "Cette page a été écrite pour que l'on reconnaisse sa langue, et elle n'a rien d'autre à raconter.",
    "ru": "Эта страница написана для того, чтобы можно было узнать её язык, и больше ей рассказать нечего.",
    "es": "Esta página se escribió para que se reconozca su idioma, y no tiene nada más que contar a nadie.",
    "zh": "这个网页是为了让读者认出它的语言而写的，此外没有什么可说的。",
    "ja": "このページは言語がわかるように書かれたもので、ほかに伝えることはありません。",
    "ko": "이 페이지는 언어를 알아볼 수 있도록 쓴 것이며 그밖에 전할 말은 없습니다.",
}


def planted_pages() -> dict[str, str | bytes]:
    """File name -> page: each word's page and its decoy."""
    found: dict[str, str | bytes] = {}
    for kind, cases in (("cjk", CJK), ("stem", STEMS)):
        for number, case in enumerate(cases):
            # A decoy has no filler, so that it is no near-duplicate.
            written = {"word": [case.sentence, FILLERS[case.language]], "decoy": [case.decoy]}
            for name, paragraphs in written.items():
                title = f"{kind} {number} {name[0]}"
                found[f"{kind}-{number}-{name}.html"] = page(title, paragraphs, language=case.language)
    return found


# Truth …


@cache
def _stemmers() -> tuple[Callable[[str], str], ...]:
    import snowballstemmer  # half a second

    known = snowballstemmer.algorithms()
    return tuple(snowballstemmer.stemmer(each).stemWord for each in LANGUAGES if each in known)


@cache
def stems(word: str) -> frozenset[tuple[int, str]]:
    """The word's stem in each language."""
    return frozenset((number, stem(word)) for number, stem in enumerate(_stemmers()))


class Texts:
    """All rows, with where each word stands."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.by_url = {row.url: row for row in rows}
        self._pages: dict[str, set[int]] = defaultdict(set)
        self._near: dict[str, set[int]] = defaultdict(set)
        for number, row in enumerate(rows):
            for word in set(words(row.text)):
                self._pages[word].add(number)
            # What a search may look at beside the text: titles and addresses.
            for word in {*words(row.title), *words(row.url)}:
                self._near[word].add(number)
        # A stemmer leaves the beginning of a word as it is: only words that begin alike need be stemmed.
        self._begins: dict[str, list[str]] = defaultdict(list)
        for word in {*self._pages, *self._near}:
            self._begins[word[:3]].append(word)

    def common(self, least: int, most: int) -> list[str]:
        """Plain words that stand on so many pages."""
        return sorted(
            word
            for word, pages in self._pages.items()
            if least <= len(pages) <= most and _PLAIN.fullmatch(word)
        )

    def lower(self, *wanted: str) -> set[str]:
        """Pages whose text has each of these words as it stands."""
        pages = set.intersection(*(self._pages.get(word, set()) for word in wanted))
        return {self.rows[number].url for number in pages}

    def upper(self, *wanted: str) -> set[str]:
        """Pages that have a form of each in text, title or address."""
        pages: set[int] | None = None
        for word in wanted:
            alike = {other for other in self._begins[word[:3]] if stems(other) & stems(word)} | {word}
            here = set().union(*(self._pages.get(o, set()) | self._near.get(o, set()) for o in alike))
            pages = here if pages is None else pages & here
        return {self.rows[number].url for number in pages or ()}

    def phrase_lower(self, phrase: Sequence[str]) -> set[str]:
        """Pages whose text has these words one after the other."""
        return {
            url for url in self.lower(*phrase) if _has(words(self.by_url[url].text), phrase, lambda a, b: a == b)
        }  # fmt: skip

    def phrase_upper(self, phrase: Sequence[str], among: Iterable[str]) -> set[str]:
        """Of these pages, those with forms of the words one after the other, in text, title or address."""
        found = set()
        for url in among:
            row = self.by_url.get(url)
            parts = [row.text, row.title, row.url] if row else []
            if any(_has(words(part), phrase, lambda a, b: bool(stems(a) & stems(b))) for part in parts):
                found.add(url)
        return found


def _has(text: Sequence[str], phrase: Sequence[str], same: Callable[[str, str], bool]) -> bool:
    return any(
        all(same(text[at + step], word) for step, word in enumerate(phrase))
        for at in range(len(text) - len(phrase) + 1)
    )


# Questions …


def titles(rows: Sequence[Row], number: int, chance: random.Random, *, alone: bool = True) -> list[Row]:
    """Pages with a title: of two words or more that no other page has, or any."""
    known: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        known[tuple(words(row.title))].append(row)
    found = [
        row
        for title, same in known.items()
        if title and (not alone or (len(same) == 1 and len(title) > 1))
        for row in same
        if row.text
    ]
    found.sort(key=lambda row: row.url)
    return chance.sample(found, min(number, len(found)))


def phrases(rows: Sequence[Row], number: int, chance: random.Random) -> list[tuple[str, ...]]:
    """Runs of three or four plain words of a line of a text."""
    found: list[tuple[str, ...]] = []
    texts = [row.text for row in rows if len(row.text) > 400]
    for _ in range(number * 200):
        lines = [line for line in chance.choice(texts).splitlines() if len(line) > 60]
        split = chance.choice(lines).split(" ") if lines else []
        length, at = chance.choice((3, 4)), chance.randrange(max(1, len(split) - 4))
        run = tuple(split[at : at + length])
        if len(run) == length and all(map(_PLAIN.fullmatch, run)):
            found.append(run)
        if len(found) == number:
            break
    return found


def runs_of_han(rows: Sequence[Row], number: int, chance: random.Random) -> Iterator[tuple[str, set[str]]]:
    """(two to four characters of a real text in Chinese, Japanese or Korean, pages that hold them)."""
    theirs = [row for row in rows if row.language.partition("-")[0] in ("zh", "ja", "ko") and row.text]
    runs = [(row, run) for row in theirs for run in re.findall(r"[一-鿿ぁ-ヿ가-힣]{4,}", row.text)]
    for row, run in chance.sample(runs, min(number, len(runs))):
        length = chance.randint(2, 4)
        at = chance.randint(0, len(run) - length)
        wanted = run[at : at + length]
        assert wanted in row.text
        yield wanted, {other.url for other in theirs if wanted in other.text}
