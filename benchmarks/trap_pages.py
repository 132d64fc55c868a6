"""The good parts of a web with traps: pages some of which look like traps, and are none."""

import bisect
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import cached_property
from typing import NamedTuple, Protocol

from gossamer.simweb.world.dice import Dice, fingerprint

_SYLLABLES = (  # noqa: SIM905  a list of words is read more easily
    "ba be bi bo da de do fa fi ga go ha he ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe pi ra re ri"
    " ro sa se si so ta te ti to va ve vi wa ze zo"
).split()
_WORDS = 4_000
_SHORT_WORDS = "the of and in to a is that it for on with as at by from this be or an are was not".split()  # noqa: SIM905


class Paper(NamedTuple):
    """What a page shows.

    Attributes:
        title: heading.
        text: paragraphs, plain.
        links: written as they stand in `href`.
    """

    title: str
    text: Sequence[str]
    links: Sequence[str] = ()


class Section(Protocol):
    """A part of a host."""

    entries: tuple[str, ...]
    """Targets in the menu of each page of the host."""

    def find(self, target: str) -> Paper | None:
        """What stands at a target; `None`: nothing of this section."""


def vocabulary(seed: int) -> list[str]:
    """Made-up words of two to four syllables."""
    dice = Dice(seed, "vocabulary")
    words = {"".join(dice.pick(_SYLLABLES) for _ in range(2 + dice.below(3))) for _ in range(_WORDS)}
    return sorted(words)


class Writer:
    """Writes the texts of one host: equal keys, equal texts."""

    def __init__(self, seed: int, host: str, words: Sequence[str]) -> None:
        self._key = f"{seed} {host}"
        self.words = words

    def dice(self, *key: int | str) -> Dice:
        return Dice(self._key, *key)

    def number(self, *key: int | str) -> int:
        """64 bits that depend on the key alone."""
        return fingerprint(self._key, *key)

    def phrase(self, words: int, *key: int | str) -> str:
        dice = self.dice("phrase", *key)
        return " ".join(dice.pick(self.words) for _ in range(words))

    def slug(self, words: int, *key: int | str) -> str:
        return self.phrase(words, "slug", *key).replace(" ", "-")

    def paragraph(self, words: int, *key: int | str) -> str:
        """A third of the words are the short ones that every text is full of."""
        dice = self.dice("paragraph", *key)
        words = max(5, dice.near(words))
        picked = [dice.pick(_SHORT_WORDS if dice.roll() % 3 == 0 else self.words) for _ in range(words)]
        return " ".join(picked).capitalize() + "."

    def article(self, paragraphs: int, *key: int | str) -> list[str]:
        return [self.paragraph(60, number, *key) for number in range(paragraphs)]


class Blog:
    """Articles by date, reached through pages of a list and through archives by month: all of it real."""

    def __init__(self, writer: Writer, size: int, *, paged: bool) -> None:
        self._writer = writer
        self._size = size
        self._paged = paged
        first = date(2019, 1, 3) + timedelta(writer.number("first") % 300)
        self._gap = 2 + writer.number("gap") % 5
        self._dates = [first + timedelta(number * self._gap) for number in range(size)]
        self._months = sorted({(day.year, day.month) for day in self._dates})
        self.entries = ("/blog/",) if paged else (f"/blog/{self._months[-1][0]}/{self._months[-1][1]:02}/",)

    @cached_property
    def _articles(self) -> dict[str, int]:
        return {self._place(number): number for number in range(self._size)}

    def _place(self, number: int) -> str:
        day = self._dates[number]
        return f"/blog/{day:%Y/%m/%d}/{self._writer.slug(3, number)}/"

    def find(self, target: str) -> Paper | None:
        if not target.startswith("/blog/"):
            return None
        if (number := self._articles.get(target)) is not None:
            near = [self._place(other) for other in (number - 1, number + 1) if 0 <= other < self._size]
            return Paper(self._title(number), self._writer.article(4, number), near)
        parts = target.strip("/").split("/")[1:]
        if self._paged and target == self._page(number := int(parts[1]) if len(parts) == 2 else 1):
            return self._list(number)
        if len(parts) == 2 and target == self._month(key := (int(parts[0]), int(parts[1]))):
            return self._archive(key) if key in self._months else None
        return None

    def _title(self, number: int) -> str:
        return f"{self._writer.phrase(4, 'title', number)}, {self._dates[number]:%d %B %Y}"

    def _page(self, number: int) -> str:
        return f"/blog/page/{number}/" if number > 1 else "/blog/"

    def _list(self, page: int) -> Paper | None:
        newest = range(self._size - 1, -1, -1)[8 * (page - 1) : 8 * page]
        if not newest:
            return None
        links = [self._place(number) for number in newest]
        links += [self._page(page - 1)] if page > 1 else []
        links += [self._page(page + 1)] if 8 * page < self._size else []
        return Paper(f"Blog, page {page}", [self._title(number) for number in newest], links)

    def _month(self, key: tuple[int, int]) -> str:
        return f"/blog/{key[0]}/{key[1]:02}/"

    def _archive(self, key: tuple[int, int]) -> Paper:
        here = [n for n, day in enumerate(self._dates) if (day.year, day.month) == key]
        at = bisect.bisect_left(self._months, key)
        around = self._months[max(0, at - 1) : at] + self._months[at + 1 : at + 2]
        links = [self._place(number) for number in here] + [self._month(month) for month in around]
        title = date(*key, 1).strftime("Archive of %B %Y")
        return Paper(title, [self._title(number) for number in here], links)


class Listed:
    """Things by number, reached through the pages of a list only."""

    def __init__(self, writer: Writer, size: int, kind: str) -> None:
        self._writer = writer
        self._size = size
        self._list_form, self._place, self._on_page, self._paragraphs = _LISTED[kind]
        self.kind = kind
        self.entries = (self._list_form(0),)

    @cached_property
    def places(self) -> list[str]:
        """Of the things, by number."""
        return [self._place(self._writer, number) for number in range(self._size)]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {place: number for number, place in enumerate(self.places)}

    @cached_property
    def _lists(self) -> dict[str, int]:
        return {self._list_form(page): page for page in range(-(-self._size // self._on_page))}

    def name(self, number: int) -> str:
        """What lists call the thing."""
        return self._writer.phrase(3, "name", number)

    def find(self, target: str) -> Paper | None:
        if (number := self._numbers.get(target)) is not None:
            back = self._list_form(number // self._on_page)
            related = self.places[self._writer.number("related", number) % self._size]
            return Paper(self.name(number), self._writer.article(self._paragraphs, number), [back, related])
        if (page := self._lists.get(target)) is None:
            return None
        shown = range(self._size)[page * self._on_page : (page + 1) * self._on_page]
        links = [self.places[number] for number in shown]
        links += [self._list_form(other) for other in (page - 1, page + 1) if 0 <= other < len(self._lists)]
        return Paper(f"List {page + 1}", [self.name(number) for number in shown], links)


_ListForm = Callable[[int], str]
_PlaceForm = Callable[[Writer, int], str]
_LISTED: dict[str, tuple[_ListForm, _PlaceForm, int, int]] = {
    "products": (
        lambda page: f"/shop/?page={page + 1}" if page else "/shop/",
        lambda writer, number: f"/product/{10_000 + 37 * number + writer.number('product', number) % 37}",
        12,
        1,
    ),
    "papers": (
        lambda page: f"/papers?offset={20 * page}",
        lambda writer, number: f"/paper/{writer.number('paper', number):016x}",
        20,
        3,
    ),
    "forum": (
        lambda page: f"/viewforum.php?f=2&start={25 * page}",
        lambda _, number: f"/viewtopic.php?f=2&t={500 + number}",
        25,
        3,
    ),
    "items": (
        lambda page: f"/items.html?lang=en&p={page}",
        lambda _, number: f"/item.php?id={number + 1}&lang=en&ref=list",
        10,
        2,
    ),
}
LISTED_KINDS = tuple(_LISTED)


class Wiki:
    """Pages by long names that link across; some are hardly more than a line."""

    entries = ("/wiki/Main_Page",)

    def __init__(self, writer: Writer, size: int) -> None:
        self._writer = writer
        self._size = size

    @cached_property
    def _places(self) -> list[str]:
        names = (self._writer.phrase(2 + n % 4, "wiki", n).replace(" ", "_") for n in range(1, self._size))
        return ["/wiki/Main_Page", *(f"/wiki/{name.capitalize()}_{n}" for n, name in enumerate(names))]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {place: number for number, place in enumerate(self._places)}

    def find(self, target: str) -> Paper | None:
        if (number := self._numbers.get(target)) is None:
            return None
        dice = self._writer.dice("see", number)
        links = self._places[4 * number + 1 : 4 * number + 5]
        links += [self._places[dice.below(self._size)] for _ in range(5)]
        text = self._writer.article(1 + number % 4, "wiki", number)
        return Paper(self._writer.phrase(3, "wiki", number), text, links)


class Docs:
    """A tree of folders with relative links, four levels deep."""

    entries = ("/docs/",)

    def __init__(self, writer: Writer, size: int) -> None:
        self._writer = writer
        self._size = size

    @cached_property
    def _tree(self) -> tuple[dict[str, int], list[str]]:
        places = ["/docs/"]
        for number in range(1, self._size):
            parent = places[(number - 1) // 6].rpartition("/")[0]
            name = self._writer.words[self._writer.number("docs", number) % len(self._writer.words)]
            folder = 6 * number + 1 < self._size and parent.count("/") < 4
            places.append(f"{parent}/{name}/" if folder else f"{parent}/{name}-{number}.html")
        return {place: number for number, place in enumerate(places)}, places

    def find(self, target: str) -> Paper | None:
        numbers, places = self._tree
        if (number := numbers.get(target)) is None:
            return None
        links = places[6 * number + 1 : 6 * number + 7]
        links += places[number + 1 : number + 2]
        return Paper(self._writer.phrase(3, "docs", number), self._writer.article(4, "docs", number), links)
