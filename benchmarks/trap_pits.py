"""The traps of a web with traps, each a part of a host like its good ones, but without end."""

import itertools
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from urllib.parse import parse_qsl, urlencode

from benchmarks.trap_pages import Docs, Listed, Paper, Section, Writer

_DAY = re.compile(r"/calendar/(\d{4})/(\d{2})/(\d{2})")
_TODAY = date(2026, 11, 21)
_OPTIONS = {
    "color": ("red", "green", "blue", "black", "white", "yellow"),
    "size": ("xs", "s", "m", "l", "xl"),
    "brand": ("acme", "umbra", "nordic", "zenit", "kolibri", "matsu"),
    "sort": ("price", "name", "newest"),
    "view": ("grid", "list"),
}


class DayCalendar:
    """A page for each day, forwards and backwards; the days of the month stand on each."""

    entries = (f"/calendar/{_TODAY:%Y/%m/%d}",)

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def find(self, target: str) -> Paper | None:
        match = _DAY.fullmatch(target)
        if match is None:
            return None
        try:
            day = date(int(match[1]), int(match[2]), int(match[3]))
            days = [day.replace(day=number) for number in range(1, 29)]
            days += [day + timedelta(step) for step in (-31, -1, 1, 31)]
        except (ValueError, OverflowError):
            return None
        text = [
            f"Events on {day:%A}, {day:%d %B %Y}.",
            "There are no events on this day.",
            *_notices(self.writer),
        ]
        return Paper(f"{day:%d %B %Y}", text, [f"/calendar/{one:%Y/%m/%d}" for one in days])


class MonthCalendar:
    """Months in the query, in three views that link to each other."""

    entries = (f"/events?month={_TODAY.month}&view=month&year={_TODAY.year}",)

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def find(self, target: str) -> Paper | None:
        path, _, query = target.partition("?")
        keys = dict(parse_qsl(query))
        if path != "/events" or set(keys) - {"month", "view", "year", "day"} or "month" not in keys:
            return None
        try:
            month, year = int(keys["month"]), int(keys["year"])
            first = date(year, month, 1)
        except (KeyError, ValueError):
            return None
        links = []
        for step, view in itertools.product((-1, 0, 1), ("month", "week", "list")):
            at = 12 * year + month - 1 + step
            links.append(f"/events?month={at % 12 + 1}&view={view}&year={at // 12}")
        links += [f"/events?day={day}&month={month}&view=day&year={year}" for day in range(1, 29)]
        text = [
            f"Calendar of {first:%B %Y}, {keys.get('view')}.",
            "Nothing is planned.",
            *_notices(self.writer),
        ]
        return Paper(f"{first:%B %Y}", text, links)


class Maze:
    """A store whose links carry an id that each fetch mints anew; without it the pages are good ones."""

    def __init__(self, writer: Writer, size: int, fan: int, *, matrix: bool) -> None:
        self._writer = writer
        self._fan = fan
        self._form = "{};jsessionid={:032X}" if matrix else "{}?sid={:026x}"
        self._split = re.compile(r"(.*);jsessionid=[0-9A-F]{32}" if matrix else r"(.*)\?sid=[0-9a-f]{26}")
        self._size = size
        self._minted = itertools.count()
        self.entries = ("/store/",)

    def plain(self, target: str) -> str:
        """The target without its id."""
        match = self._split.fullmatch(target)
        return match[1] if match else target

    def find(self, target: str) -> Paper | None:
        """The good pages, whose links carry no id: a crawl can find all of them without."""
        return self._page(target, self._size)

    def fetch(self, target: str) -> Paper | None:
        """What a visitor gets, ids minted for him."""
        paper = self._page(self.plain(target), self._size)
        if paper is None:
            return None
        minted = self._writer.number("session", next(self._minted)) ** 2
        with_id = [self._form.format(link, minted % (1 << 104)) for link in (*paper.links, "/store/cart")]
        # Pages without an id link to each other without, too; with the id they get the visitor to stay.
        plain = paper.links if target == self.plain(target) else ()
        return paper._replace(links=[*plain, *with_id[-self._fan :]])

    def _page(self, target: str, size: int) -> Paper | None:
        if target in ("/store/", "/store/cart"):
            return Paper("Store", [self._writer.paragraph(40, target)], [self._item(n) for n in range(8)])
        number = target.removeprefix("/store/item-").removesuffix(".html")
        if not number.isdecimal() or target != self._item(int(number)) or int(number) >= size:
            return None
        below = [self._item(n) for n in range(8 * int(number) + 8, 8 * int(number) + 16) if n < size]
        around = [self._item((int(number) + step) % size) for step in (1, 7, 19)]
        return Paper(f"Item {number}", self._writer.article(2, "item", number), [*below, *around])

    def _item(self, number: int) -> str:
        return f"/store/item-{number}.html"


class Loop:
    """A tree of documents with a symbolic link to its own top: all of it again and again."""

    def __init__(self, writer: Writer, size: int, *, folders: Sequence[str]) -> None:
        self._docs = Docs(writer, size)
        self._loop = "/".join(folders)
        self.entries = ("/docs/", f"/docs/{self._loop}/")

    def plain(self, target: str) -> str:
        """The target outside the loop."""
        rest = target.removeprefix("/docs/")
        while rest.startswith(self._loop + "/"):
            rest = rest.removeprefix(self._loop + "/")
        return "/docs/" + rest if target.startswith("/docs/") else target

    def find(self, target: str) -> Paper | None:
        plain = self.plain(target)
        paper = self._docs.find(plain)
        if paper is None:
            return None
        here = target[: len(target) - len(plain) + len("/docs/")]
        links = [here + link.removeprefix("/docs/") for link in paper.links]
        return paper._replace(links=[*links, f"{here}{self._loop}/"])


class Facets:
    """Filters of a list, in the order in which the visitor chose them."""

    def __init__(self, writer: Writer, products: Listed, size: int, fan: int) -> None:
        self._writer = writer
        self._fan = fan
        self._products = products
        self._size = size
        self.entries = ("/shop/?color=red", "/shop/?brand=acme", "/shop/?size=m")

    def find(self, target: str) -> Paper | None:
        path, _, query = target.partition("?")
        chosen = parse_qsl(query)
        options = dict(chosen)
        page = options.pop("page", "1")
        if path != "/shop/" or not options or not page.isdecimal() or not set(options) <= set(_OPTIONS):
            return None
        if any(value not in _OPTIONS[key] for key, value in options.items()) or len(dict(chosen)) < len(
            chosen
        ):
            return None
        dice = self._writer.dice("facets", *itertools.chain(*sorted(options.items())), page)
        shown = [dice.below(self._size) for _ in range(3 + dice.below(9))]
        links = [self._products.places[number] for number in shown]
        filters = [pair for pair in chosen if pair[0] != "page"]
        filtered = sorted("/shop/?" + urlencode([*filters, pair]) for pair in self._further(options))
        links += [filtered[dice.below(len(filtered))] for _ in range(self._fan) if filtered]
        links += ["/shop/?" + urlencode([*filters, ("page", int(page) + 1)])]
        named = "Selected: " + ", ".join(options.values())
        return Paper("Shop", [named, *(self._products.name(number) for number in shown)], links)

    @staticmethod
    def _further(options: Mapping[str, str]) -> list[tuple[str, str]]:
        return [(key, value) for key in _OPTIONS if key not in options for value in _OPTIONS[key]]


class Endless:
    """Folders named at random under folders named at random, all saying the same."""

    entries = ("/browse/all/",)

    def __init__(self, writer: Writer, fan: int) -> None:
        self.writer = writer
        self._fan = fan

    def find(self, target: str) -> Paper | None:
        if not target.startswith("/browse/") or not target.endswith("/"):
            return None
        dice = self.writer.dice("endless", target)
        names = [dice.pick(self.writer.words) for _ in range(self._fan)]
        last = target.strip("/").rpartition("/")[2]
        text = [f"You are browsing {last}.", f"See also {' and '.join(names[:2])}.", *_notices(self.writer)]
        return Paper(f"Browse {last}", text, [f"{target}{name}/" for name in names])


class Farm:
    """A host of a link farm: its pages hold random text, and links to pages of its fellows."""

    entries = ("/",)

    def __init__(self, writer: Writer, fellows: Sequence[str], fan: int) -> None:
        self._writer = writer
        self._fan = fan
        self._fellows = fellows

    def find(self, target: str) -> Paper | None:
        dice = self._writer.dice("farm", target)
        links = []
        for _ in range(self._fan):
            slug = f"{dice.pick(self._writer.words)}-{dice.pick(self._writer.words)}-{dice.below(100_000)}"
            links.append(f"{dice.pick(self._fellows)}/{slug}.html")
        title = self._writer.phrase(4, "farm", target)
        return Paper(title, self._writer.article(3, "farm", target), links)


def _notices(writer: Writer) -> list[str]:
    """What stands on every page of a trap."""
    return [writer.paragraph(30, "notice", number) for number in range(2)]


def pit(kind: str, writer: Writer, size: int, products: Listed, fan: int) -> Section:
    """The trap of a kind, with `size` good pages of its own where it has any, `fan` links where it may be."""
    match kind:
        case "day-calendar":
            return DayCalendar(writer)
        case "month-calendar":
            return MonthCalendar(writer)
        case "matrix-session" | "query-session":
            return Maze(writer, size, fan, matrix=kind == "matrix-session")
        case "loop" | "long-loop":
            return Loop(writer, size, folders=("current",) if kind == "loop" else ("pub", "mirror"))
        case "facets":
            return Facets(writer, products, len(products.places), fan)
    return Endless(writer, fan + 1)
