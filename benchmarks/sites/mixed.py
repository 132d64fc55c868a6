# ruff: noqa: ARG001, ARG005
"""Made-up sites with a good finite part and, beside it, one or more endless parts.

On many of them the endless part shows the good pages again under other targets (sessions, print copies,
folders that contain themselves). `CANONICAL` says which good target a copy shows: any copy counts as having
the page.
"""

import hashlib
import math
import random
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import cache, partial
from urllib.parse import parse_qsl, quote, urlencode

from benchmarks.sites import MISSING, Answer, Site, link, listed, page, prose, vocabulary

Go = Callable[[str], str]  # how an answer spells a link to a target
Drawn = tuple[str, str] | Answer  # a page's title and body, or a whole answer
Draw = Callable[[Go], Drawn]
Pair = tuple[str, str]  # a target and the text of a link to it
Pages = dict[str, Draw]

_LOOKS = {
    "blog": (
        '<header class="site-header"><p class="site-title">{home}</p><nav id="menu">{menu}</nav></header>',
        '<aside class="widget-area">{aside}</aside><footer class="site-info">By {home}</footer>',
    ),
    "table": (
        '<table width="760"><tr><td bgcolor="#336699" colspan="2"><font size="5">{home}</font></td></tr>'
        '<tr><td valign="top" width="150">{menu}</td><td>',
        "<hr>{aside}</td></tr></table><center><small>Best viewed at 800 x 600. {home}</small></center>",
    ),
    "app": (
        '<div id="banner">{home}</div><div id="tabs">{menu}</div><div id="content">',
        '</div><div id="sidebar">{aside}</div><div id="footer">&copy; All rights reserved. Imprint.</div>',
    ),
    "bare": ("", "{aside}<hr><address>Apache/2.4.41 (Unix) Server</address>"),
}


def _same(target: str) -> str:
    return target


def _made(
    name: str,
    title: str,
    menu: Iterable[Pair],
    pages: Pages,
    traps: tuple[str, ...],
    *,
    trap: Callable[[str], Drawn | None] = lambda target: None,
    aside: Callable[[str, str, Go], str] = lambda target, base, go: "",
    go: Callable[[str], Go] = lambda target: _same,
    ends: bool = False,
    look: str = "blog",
    language: str = "en",
    start: str = "/",
) -> Site:
    """The site of `pages`: `go` makes the spelling of the links in the answer to a target, `aside` is on
    every page (of the target as asked and the good target it shows), `trap` answers what is not a good page,
    and copies of good pages if it likes."""
    above, below = _LOOKS[look]
    shown, entries = CANONICAL.get(name, _same), tuple(menu)

    def answer(target: str) -> Answer:
        base = shown(target)
        spell, draw = go(target), pages.get(base)
        drawn = None if draw and target == base else trap(target)
        drawn = draw(spell) if draw and drawn is None else drawn
        if drawn is None or isinstance(drawn, Answer):
            return drawn or MISSING
        parts = {"home": link(spell(start), title), "menu": _links(spell, entries),
            "aside": aside(target, base, spell)}  # fmt: skip
        top, foot = above.format(**parts), below.format(**parts)
        return page(f"{drawn[0]} - {title}", drawn[1], top=top, foot=foot, language=language)

    return Site(name, frozenset(pages), answer, start, ends, traps)


def _hash(text: str, size: int = 12) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:size]


def _crc(text: str) -> int:
    return zlib.crc32(text.encode())


def _names(seed: str, count: int, words: int = 2, language: str = "en") -> list[str]:
    """Different made-up names."""
    dice, known, names = random.Random(seed), vocabulary(language), dict[str, None]()
    while len(names) < count:
        names[" ".join(dice.choices(known, k=words)).capitalize()] = None
    return list(names)


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def _text(seed: str, words: int, language: str = "en") -> str:
    """Paragraphs."""
    parts = 1 + words // 90
    return "".join(f"<p>{prose(f'{seed} {part}', words // parts, language)}</p>" for part in range(parts))


def _links(go: Go, pairs: Iterable[Pair]) -> str:
    return listed((go(target), text) for target, text in pairs)


def _story(
    title: str, seed: str, words: int = 0, language: str = "en", more: Sequence[Pair] = (), lead: str = ""
) -> Draw:
    """A page of prose: `words` of it, or else 70 to 250."""

    def draw(go: Go) -> Drawn:
        text = _text(seed, words or 70 + _crc(seed) % 180, language)
        return title, f"<h1>{title}</h1>{lead}{text}" + (_links(go, more) if more else "")

    return draw


def _record(title: str, fields: Sequence[Pair], more: Sequence[Pair] = ()) -> Draw:
    """A thin page: a table of a few fields."""

    def draw(go: Go) -> Drawn:
        rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in fields)
        return title, f"<h2>{title}</h2><table>{rows}</table>" + "".join(
            link(go(one), text) for one, text in more
        )

    return draw


def _index(title: str, items: Sequence[Pair], lead: str = "", pager: Sequence[Pair] = ()) -> Draw:
    """A page that lists others."""

    def draw(go: Go) -> Drawn:
        turn = " ".join(link(go(target), text) for target, text in pager)
        return title, f'<h1>{title}</h1>{lead}{_links(go, items)}<div class="pager">{turn}</div>'

    return draw


def _paged(
    pages: Pages,
    first: str,
    more: str,
    title: str,
    items: Sequence[Pair],
    per: int,
    lead: str = "",
    turn: bool = False,
    step: int = 0,
) -> None:
    """Adds the pages of a list, `first` and those `more` spells by number (with `step` by offset); each links
    to all others, or with `turn` to the next and the last one before."""
    count = math.ceil(len(items) / per)
    spelled = [first, *(more.format((n - 1) * step if step else n) for n in range(2, count + 1))]
    for at in range(count):
        near = [at - 1, at + 1] if turn else range(count)
        pager = [(spelled[one], f"Page {one + 1}") for one in near if 0 <= one < count]
        pages[spelled[at]] = _index(title, items[at * per : (at + 1) * per], lead, pager)


def _chained(
    pages: Pages,
    targets: Sequence[str],
    titles: Sequence[str],
    draw: Callable[[int, list[Pair]], Draw] | None = None,
    language: str = "en",
) -> None:
    """Adds pages (of prose, unless `draw` makes them) that link to the one before and the one after."""
    pairs = list(zip(targets, titles, strict=True))
    for at, (target, title) in enumerate(pairs):
        near = [(one, f"Previous: {name}") for one, name in pairs[max(at - 1, 0) : at]]
        near += [(one, f"Next: {name}") for one, name in pairs[at + 1 : at + 2]]
        pages[target] = draw(at, near) if draw else _story(title, target, 0, language, near)


def _added(href: str, extra: str) -> str:
    return f"{href}{'&' if '?' in href else '?'}{extra}"


def _query(target: str) -> dict[str, str]:
    return dict(parse_qsl(target.partition("?")[2], keep_blank_values=True))


def _without(*names: str) -> Callable[[str], str]:
    """Drops parameters from a target's query."""

    def shown(target: str) -> str:
        path, _, query = target.partition("?")
        kept = [part for part in query.split("&") if part and part.partition("=")[0] not in names]
        return f"{path}?{'&'.join(kept)}" if kept else path

    return shown


def _day(year: str, month: str, day: str = "01") -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _ym(day: date, mark: str = "-") -> str:
    return str(day)[:7].replace("-", mark)  # strftime does not pad the years before 1000


def _later(day: date, months: int) -> date:
    """The first of a later or earlier month, within what dates can say."""
    count = min(max(day.year * 12 + day.month - 1 + months, 12), 9999 * 12)
    return date(count // 12, count % 12 + 1, 1)


def _month(day: date) -> list[date]:
    """All days of a day's month."""
    first = day.replace(day=1)
    days = [first + timedelta(days=step) for step in range(28)]
    return days + [one for step in (28, 29, 30) if (one := first + timedelta(days=step)).month == day.month]


# --- Sites whose endless part says nothing new


def council() -> Site:
    """A town council's WordPress with The Events Calendar: month, week, day and iCal views of any date."""
    dice, names = random.Random("council"), _names("council events", 300, 4)
    days = sorted(date(2019, 1, 7) + timedelta(days=dice.randrange(2_100)) for _ in names)
    topics, by_day = _names("council topics", 40), dict[date, list[Pair]]()
    subjects = [(f"/council/{_slug(name)}/", name) for name in topics]
    menu = [("/council/", "Council"), ("/events/list/", "Events"), ("/events/month/2024-03/", "Calendar")]
    pages: Pages = {
        "/": _story("Welcome", "council", 120, more=menu),
        "/council/": _index("Council", subjects),
    }
    pages |= {target: _story(name, target) for target, name in subjects}
    for name, day in zip(names, days, strict=True):
        by_day.setdefault(day, []).append((target := f"/event/{_slug(name)}/", name))
        where = f"<p>{day}, {dice.randint(9, 20)}:00, {dice.choice(topics)} Hall</p>"
        pages[target] = _story(
            name, target, 25 + _crc(name) % 70, lead=where, more=[(f"/events/{day}/", f"{day}")]
        )
    everything = [
        (f"/event/{_slug(name)}/", f"{name} ({day})") for name, day in zip(names, days, strict=True)
    ]
    _paged(pages, "/events/list/", "/events/list/page/{}/", "Events", everything, 10)

    def trap(target: str) -> Drawn | None:
        asked = re.fullmatch(r"/events/(?:(month|week)/)?(\d{4})-(\d\d)(?:-(\d\d))?/(\?ical=1)?", target)
        first = asked and _day(asked[2], asked[3], asked[4] or "01")
        if not asked or not first or not 1 < first.year < 9999 or (asked[1] == "month") != (asked[4] is None):
            return None
        view = asked[1] or ""
        shown = {"month": _month(first), "week": [first + timedelta(days=n) for n in range(7)]}.get(
            view, [first]
        )
        if asked[5]:
            lines = [f"BEGIN:VEVENT\r\nSUMMARY:{name}\r\nEND:VEVENT" for day in shown for _,
                name in by_day.get(day, ())]  # fmt: skip
            body = "\r\n".join(["BEGIN:VCALENDAR", *lines, "END:VCALENDAR"])
            return Answer(body.encode(), media_type="text/calendar; charset=utf-8")
        found = [event for day in shown for event in by_day.get(day, ())]
        body = listed(found) if found else "<p>There are no upcoming events.</p>"
        body += "".join(link(f"/events/{day}/", f"{day.day}") for day in shown)
        around = [("Previous", shown[0] - timedelta(days=len(shown) if view == "week" else 1))]
        around += [("Next", shown[-1] + timedelta(days=1))]
        body += listed(
            (f"/events/month/{_ym(day)}/" if view == "month" else f"/events/{view and 'week/'}{day}/", word)
            for word, day in around
        )
        views = [(f"/events/month/{_ym(first)}/", "Month"), (f"/events/week/{first}/", "Week")]
        return f"Events {asked[2]}-{asked[3]}", body + listed([*views, (f"{target}?ical=1", "Export iCal")])

    traps = ("month calendar in the path", "week calendar", "day calendar", "iCal view of every period")
    return _made("m-council", "Town Council", menu, pages, traps, trap=trap, ends=True)


def parish() -> Site:
    """A parish diary in PHP: ten years of months with events that only the chain of months leads to, any
    month and day beyond answers too, without events (like old WebCalendar)."""
    dice, known = random.Random("parish"), vocabulary("da")
    months = [_later(date(2015, 1, 1), step) for step in range(120)]
    by_day, pages = dict[date, list[Pair]](), Pages()

    def month_view(first: date, go: Go) -> Drawn:
        body = "".join(
            f"<tr><td>{link(f'/diary.php?day={day}', f'{day.day}')}{listed(by_day.get(day, ()))}</td></tr>"
            for day in _month(first)
        )
        near = ((-12, "&laquo; year"), (-1, "&lsaquo; month"), (1, "month &rsaquo;"), (12, "year &raquo;"))
        turn = " ".join(
            f'<a href="/diary.php?month={_ym(_later(first, step))}">{text}</a>' for step, text in near
        )
        return f"Diary {first:%m/%Y}", f"<h2>{first:%m/%Y}</h2>{turn}<table border=1>{body}</table>{turn}"

    for first in months:
        pages[f"/diary.php?month={_ym(first)}"] = partial(month_view, first)
        for _ in range(dice.randint(2, 5)):
            day, title = dice.choice(_month(first)), " ".join(dice.choices(known, k=3)).capitalize()
            number = 100 + sum(map(len, by_day.values()))
            by_day.setdefault(day, []).append((f"/diary.php?event={number}", title))
            fields = [("When", f"{day} {dice.randint(8, 20)}:30"), ("Where", dice.choice(known).capitalize())]
            fields.append(("Note", prose(f"parish {number}", dice.randint(3, 14), "da")))
            pages[f"/diary.php?event={number}"] = _record(
                title, fields, [(f"/diary.php?month={_ym(first)}", "Back to the month")]
            )
    menu = [("/", "Home"), ("/church.php", "The church"), ("/vicar.php", "Vicar"),
        ("/diary.php?month=2020-06", "Diary")]  # fmt: skip
    pages |= {target: _story(text, f"parish {target}", language="da", more=menu) for target, text in menu[:3]}

    def trap(target: str) -> Drawn | None:
        asked = re.fullmatch(r"/diary\.php\?(?:month=(\d{4})-(\d\d)|day=(\d{4})-(\d\d)-(\d\d))", target)
        day = asked and (_day(asked[1], asked[2]) if asked[1] else _day(asked[3], asked[4], asked[5]))
        if not asked or not day or not 1 < day.year < 9999:
            return None
        if asked[1]:
            return month_view(day, _same)
        found = _links(_same, by_day[day]) if day in by_day else "<p>No entries.</p>"
        near = [
            (f"/diary.php?day={day + timedelta(days=step)}", text)
            for step, text in ((-1, "day before"), (1, "day after"))
        ]
        return f"Diary {day}", found + listed([*near, (f"/diary.php?month={_ym(day)}", "month")])

    return _made("m-parish", "Parish", menu, pages, ("calendar by ?month=", "calendar by ?day="), trap=trap,
        ends=True, look="table", language="da")  # fmt: skip


def oscommerce() -> Site:
    """A shop of osCommerce whose every answer starts a new session in its links (osCsid)."""
    pages, kinds = Pages(), _names("osc kinds", 12)
    goods = _names("osc goods", 330, 3)
    shelves = [(f"/index.php?cPath={at}", name) for at, name in enumerate(kinds, 1)]
    menu = [("/shipping.php", "Shipping"), ("/conditions.php", "Conditions"), ("/contact_us.php", "Contact")]
    pages["/"] = _story("What's New Here?", "osc", 60, more=shelves)
    pages |= {target: _story(text, f"osc {target}") for target, text in menu}
    for at, (shelf, name) in enumerate(shelves):
        items = [
            (f"/product_info.php?products_id={n + 1}", goods[n]) for n in range(at, len(goods), len(shelves))
        ]
        _paged(pages, shelf, shelf + "&page={}", name, items, 10)
        for target, text in items:
            price = f"<p><b>${_crc(text) % 9_000 / 100:.2f}</b> [{_crc(target) % 7_000:05}]</p>"
            pages[target] = _story(text, target, 20 + _crc(text) % 90, lead=price, more=[(shelf, name)])

    def go(target: str) -> Go:
        return lambda href: _added(href, f"osCsid={_hash(target, 26)}")

    def aside(target: str, base: str, go: Go) -> str:
        return f"<h4>Categories</h4>{_links(go, shelves)}"

    return _made("m-oscommerce", "Shop", menu, pages, ("session in the query (osCsid)",), go=go, aside=aside,
        ends=True, look="table")  # fmt: skip


def opac() -> Site:
    """A library catalogue with thin records under a folder of a session token, a new one in every answer."""
    pages, letters = Pages(), "abcdefghiklmnoprstvw"
    titles, authors = _names("opac titles", 580, 4, "nl"), _names("opac authors", 90, 2, "nl")
    menu = [("/", "Search"), ("/help", "Help"), ("/hours", "Opening hours")]
    browse = [(f"/browse/{letter}/", letter.upper()) for letter in letters]
    pages |= {target: _story(text, f"opac {target}", 90, "nl", browse) for target, text in menu}
    for at, letter in enumerate(letters):
        items = [(f"/rec/b{100_000 + n}", titles[n]) for n in range(at, len(titles), len(letters))]
        _paged(pages, f"/browse/{letter}/", f"/browse/{letter}/{{}}", f"Titles {letter}", items,
            10)  # fmt: skip
        for target, title in items:
            key = _crc(target)
            fields = [("Title", title), ("Author", authors[key % 90]), ("Year", f"{1890 + key % 130}")]
            fields += [("Shelf", f"{letter.upper()} {key % 997}"), ("Copies", f"{1 + key % 3}")]
            pages[target] = _record(title, fields, [(f"/browse/{letter}/", "Back to the list")])

    def go(target: str) -> Go:
        return lambda href: f"/s/{_hash(target, 10)}{href}"

    return _made("m-opac", "Catalogus", menu, pages, ("session token as a folder (/s/token/)",), go=go,
        ends=True, look="app", language="nl")  # fmt: skip


def jsp() -> Site:
    """A manual served by a Java web application that writes ;jsessionid= into every link."""
    pages, chapters = Pages(), _names("jsp chapters", 14)
    menu = [("/manual/toc.do", "Contents"), ("/glossary.do?page=1", "Glossary"), ("/support.do", "Support")]
    contents = [(f"/manual/{_slug(name)}.do", name) for name in chapters]
    pages |= {"/": _story("Manual", "jsp", 80, more=menu), "/manual/toc.do": _index("Contents", contents)}
    pages["/support.do"] = _story("Support", "jsp support")
    for target, name in contents:
        titles = _names(f"jsp {name}", 9, 3)
        sections = [f"{target[:-3]}/section.do?no={n + 1}" for n in range(9)]
        pages[target] = _index(name, list(zip(sections, titles, strict=True)))
        _chained(pages, sections, titles)
    terms = _names("jsp terms", 120, 1)
    items = [(f"/glossary.do?term={_slug(term)}", term) for term in terms]
    _paged(pages, "/glossary.do?page=1", "/glossary.do?page={}", "Glossary", items, 30)
    pages |= {target: _story(term, target, 8 + _crc(term) % 30) for target, term in items}

    def go(target: str) -> Go:
        def spell(href: str) -> str:
            path, mark, query = href.partition("?")
            return f"{path};jsessionid={_hash(target, 32).upper()}.node1{mark}{query}"

        return spell

    return _made(
        "m-jsp", "Manual", menu, pages, ("session in the path (;jsessionid=)",), go=go, ends=True, look="app"
    )


@cache
def _club() -> dict[str, str]:
    """The good targets of the hiking club, with titles."""
    targets = {"/": "Home", "/guestbook.php": "Guestbook"}
    for folder, count in (("about", 12), ("walks", 110), ("news", 70), ("huts", 24)):
        targets[f"/{folder}/"] = folder.capitalize()
        targets |= {
            f"/{folder}/{_slug(name)}.html": name for name in _names(f"club {folder}", count, 3, "de")
        }
    return targets


def _club_shown(target: str) -> str:
    path = target.partition("?")[0]
    if "/guestbook.php/" in path:
        return "/guestbook.php"
    tail = re.fullmatch(
        r".*?(/(?:(?:about|walks|news|huts)/)?[^/]*)", path
    )  # the last folder counts, as it says
    return (tail[1] if tail and tail[1] != "/" and tail[1] in _club() else "/" if path == "/index.html"
        else target)  # fmt: skip


def club() -> Site:
    """A hiking club whose menu is relative in every folder (href="about/"), on a server that goes by the end
    of the path, and by what stands before a script's extra path."""
    targets, pages = _club(), Pages()
    for target, title in targets.items():
        inside = [
            (one, text) for one, text in targets.items() if one.startswith(target) and target[-1:] == "/"
        ]
        inside = [] if target == "/" else [pair for pair in inside if pair[0] != target]
        more = inside or [(target.rpartition("/")[0] + "/", "Overview")]
        pages[target] = _story(title, f"club {target}", 30 + _crc(target) % 130, "de", more)
    menu = [
        (target, text) for target, text in targets.items() if target.count("/") == 2 and target[-1] == "/"
    ]

    def go(target: str) -> Go:
        base = _club_shown(target)
        folder = base.rpartition("/")[0] + "/"

        def spell(href: str) -> str:
            if href == "/":
                return "/"
            inside = href.startswith(folder) and folder != "/" and href != folder
            return (
                href.removeprefix(folder) if inside else href[1:] + ("/" if href == "/guestbook.php" else "")
            )

        return spell

    traps = ("nested relative folders (about/about/)", "extra path behind a script (guestbook.php/)")
    return _made("m-club", "Wanderverein", [*menu, ("/guestbook.php", "Guestbook")], pages, traps, go=go,
        ends=True, look="table", language="de")  # fmt: skip


_DEFAULTS = r"(?<=[?&])product_list_(?:mode=(?:list|grid)|order=position|dir=asc|limit=12)(?:&|$)"


def layered() -> Site:
    """A Magento shop with layered navigation: values of several filters, sort orders and sizes combine."""
    filters = {"color": ("red", "blue", "green", "black", "white", "grey", "brown", "pink"),
        "size": ("xs", "s", "m", "l", "xl"), "brand": tuple(map(_slug, _names("layered brands", 9, 1))),
        "price": ("0-10", "10-20", "20-50", "50-100", "100-")}  # fmt: skip
    choices = {"product_list_order": ("name", "price", "position"), "product_list_dir": ("asc", "desc"),
        "product_list_limit": ("12", "24", "36"), "product_list_mode": ("list", "grid")}  # fmt: skip
    kinds, names, pages = _names("layered kinds", 9, 1), _names("layered goods", 450, 3), Pages()
    menu = [(f"/{_slug(kind)}.html", kind) for kind in kinds]
    stock: dict[str, list[tuple[str, str, dict[str, str]]]] = {target: [] for target, _ in menu}
    for number, name in enumerate(names):
        dice, shelf = random.Random(f"layered {number}"), menu[number % len(menu)][0]
        traits = {key: dice.choice(values) for key, values in filters.items()}
        stock[shelf].append((target := f"/{_slug(name)}.html", name, traits))
        pages[target] = _story(
            name, target, 20 + number % 90, lead=listed((shelf, v) for v in traits.values())
        )

    def shelf_view(path: str, asked: dict[str, str], go: Go) -> Drawn:
        wanted = {key: asked[key].split("_") for key in filters if key in asked}
        found = [one for one in stock[path] if all(one[2][key] in values for key, values in wanted.items())]
        order = asked.get("product_list_order", "position")
        if order != "position":
            found.sort(key=lambda one: one[1] if order == "name" else one[2]["price"])
        found = found[::-1] if asked.get("product_list_dir") == "desc" else found
        limit = asked.get("product_list_limit", "")
        per = int(limit) if limit in ("24", "36") else 12
        number = int(asked["p"]) if asked.get("p", "").isdecimal() else 1
        kept = {key: value for key, value in asked.items() if key != "p"}
        count = math.ceil(len(found) / per) or 1
        others = []
        for key, values in filters.items():
            have = asked[key].split("_") if key in asked else []
            others += [(kept | {key: "_".join([*have, value])}, f"{key}: {value}") for value in values
                if value not in have]  # fmt: skip
        others += [(kept | {key: value}, value) for key, values in choices.items() for value in values]
        turn = [(kept | {"p": f"{n}"} if n > 1 else kept, f"{n}") for n in range(1, count + 1)]

        def spelled(queries: list[tuple[dict[str, str], str]]) -> str:
            return listed((f"{path}?{urlencode(query)}" if query else path, text) for query, text in queries)

        body = _links(go, [(target, name) for target, name, _ in found[(number - 1) * per : number * per]])
        body = body if found else "<p>We can't find products matching the selection.</p>"
        return path[1:-5], f"{body}{spelled(turn)}<dl>{spelled(others)}</dl>"

    pages["/"] = _story("Home", "layered", more=menu)
    for target, _ in menu:
        for number in range(1, math.ceil(len(stock[target]) / 12) + 1):
            asked = {"p": f"{number}"} if number > 1 else {}
            pages[f"{target}?p={number}" if number > 1 else target] = partial(shelf_view, target, asked)

    def trap(target: str) -> Drawn | None:
        path = target.partition("?")[0]
        return shelf_view(path, _query(target), _same) if path in stock else None

    traps = ("filters that combine", "sort orders and page sizes that combine")
    return _made("m-layered", "Store", menu, pages, traps, trap=trap, ends=True, look="app")


def register() -> Site:
    """A public register in ASP.NET of thin entries, whose list turns on beyond its end with empty pages."""
    names, pages, dice = _names("register", 640, 2, "pl"), Pages(), random.Random("register")
    entries = [(f"/Entry.aspx?no={4_000 + at}", name) for at, name in enumerate(names)]
    for target, name in entries:
        fields = [("No.", target[-4:]), ("Entered", f"{dice.randint(1991, 2023)}-{dice.randint(1, 12):02}")]
        fields += [
            ("Capital", f"{dice.randint(5, 900)} 000 PLN"),
            ("State", dice.choice(("active", "struck off"))),
        ]
        pages[target] = _record(name, [*fields, ("Seat", dice.choice(names))], [("/List.aspx", "List")])

    def list_view(number: int, go: Go) -> Drawn:
        shown = entries[(number - 1) * 20 : number * 20]
        near = [n for n in range(number - 3, number + 4) if n > 0]
        turn = listed((f"/List.aspx?page={n}", f"{n}") for n in (*near, 99_999))
        body = _links(go, shown) if shown else "<p>No entries to show.</p>"
        return f"Register, page {number}", f"{body}{turn}{link(f'/List.aspx?page={number + 1}', 'Next')}"

    menu = [("/", "Start"), ("/List.aspx", "Register"), ("/Law.aspx", "Legal basis"), ("/Fees.aspx", "Fees")]
    pages |= {target: _story(text, f"register {target}", language="pl") for target, text in menu}
    pages["/List.aspx"] = partial(list_view, 1)
    pages |= {f"/List.aspx?page={number}": partial(list_view, number) for number in range(2, 33)}

    def trap(target: str) -> Drawn | None:
        asked = re.fullmatch(r"/List\.aspx\?page=(\d{1,18})", target)
        return list_view(int(asked[1]), _same) if asked else None

    return _made("m-register", "Rejestr", menu, pages, ("pages of a list beyond its end",), trap=trap,
        ends=True, look="app", language="pl")  # fmt: skip


def museum() -> Site:
    """A museum on an old TYPO3 whose links keep print view, language, contrast and font size in the query."""
    pages, rooms = Pages(), _names("museum rooms", 11, 1, "fr")
    menu = [("/visit/", "Visit"), ("/history/", "History"), ("/collection/", "Collection")]
    halls = [(f"/collection/{_slug(room)}/", room) for room in rooms]
    pages |= {"/": _story("Museum", "museum", 110, "fr", menu), "/collection/": _index("Collection", halls)}
    pages |= {target: _story(text, f"museum {target}", language="fr") for target, text in menu[:2]}
    for hall, room in halls:
        things = [(f"{hall}{_slug(name)}/", name) for name in _names(f"museum {room}", 22, 3, "fr")]
        pages[hall] = _index(room, things, f"<p>{prose(hall, 30, 'fr')}</p>")
        for target, name in things:
            lead = f'<img src="{target}photo.jpg" alt="{name}"><p>Inv. {_crc(target) % 9_999}</p>'
            pages[target] = _story(name, target, 8 + _crc(target) % 110, "fr", [(hall, room)], lead)

    def go(target: str) -> Go:
        state = target.partition("?")[2]
        return lambda href: _added(href, state) if state else href

    def aside(target: str, base: str, go: Go) -> str:
        state = _query(target)
        font = int(state["font"]) if re.fullmatch(r"-?\d{1,9}", state.get("font", "")) else 12
        offers = [("print", "1"), ("L", "0"), ("L", "1"), ("L", "2"), ("contrast", "high"),
            ("contrast", "low")]  # fmt: skip
        offers += [("font", f"{font + 1}"), ("font", f"{font - 1}")]
        return listed(
            (f"{base}?{urlencode(state | {key: value})}", f"{key} {value}") for key, value in offers
        )

    traps = ("print copies", "language copies without translation", "font sizes without end")
    return _made("m-museum", "Musée", menu, pages, traps, go=go, aside=aside, ends=True, language="fr")


def _mirror_shown(target: str) -> str:
    kept: list[str] = []
    for part in target.partition("?")[0].split("/")[1:]:
        if part == "mirror" and kept:
            kept.pop()
        elif part not in ("current", "mirror"):
            kept.append(part)
    return "/" + "/".join(kept)


def mirror() -> Site:
    """A mirror of software shown as Apache's lists, with folders that hold themselves or their parents."""
    folders: dict[str, list[str]] = {"/": ["pub/", "welcome.html"], "/pub/": []}
    pages: Pages = {"/welcome.html": _story("Welcome", "mirror", more=[("/pub/", "Files")])}
    for project in map(_slug, _names("mirror", 26, 1)):
        folders["/pub/"].append(f"{project}/")
        versions = [
            f"v{major}.{minor}/" for major in (1, 2) for minor in range(1 + _crc(f"{project}{major}") % 3)
        ]
        folders[f"/pub/{project}/"] = [*versions, "README", "current/"]
        for version in versions:
            files = ["CHANGES", "INSTALL.txt", "notes.html"][: 1 + _crc(project + version) % 3]
            folders[f"/pub/{project}/{version}"] = [*files, "mirror/"]

    def plain(target: str, go: Go) -> Drawn:
        text = "\n\n".join(prose(f"{target} {part}", 50) for part in range(1 + _crc(target) % 4))
        return Answer(f"{target}\n\n{text}\n".encode(), media_type="text/plain; charset=utf-8")

    def folder_view(folder: str, go: Go) -> Drawn:
        sorts = " ".join(link(f"?C={key};O={way}", f"{key}{way}") for key in "NMSD" for way in "AD")
        rows = "\n".join(
            f'<img src="/icons/folder.gif" alt="[ ]"> {link(name)} 2004-05-1{_crc(name) % 9}'
            for name in folders[folder]
        )
        parent = link("../", "Parent Directory") if folder != "/" else ""
        return f"Index of {folder}", f"<h1>Index of {folder}</h1><pre>{sorts}\n{parent}\n{rows}</pre>"

    for folder, names in folders.items():
        pages[folder] = partial(folder_view, folder)
        for name in names:
            if name.endswith(".html"):
                pages.setdefault(folder + name, _story(name, folder + name, more=[(folder, "Folder")]))
            elif not name.endswith("/"):
                pages[folder + name] = partial(plain, folder + name)
    traps = ("links of folders to themselves", "links of folders to their parents",
        "sort orders of folder lists")  # fmt: skip
    site = _made("m-mirror", "Mirror", (), pages, traps, ends=True, look="bare")
    orders = [f"?C={key};O={way}" for key in "NMSD" for way in "AD"]
    return site._replace(copies=frozenset(folder + order for folder in folders for order in orders))


def portal() -> Site:
    """A hobby railway portal: time stamps on all links, utm and A/B parameters, a visitor counter."""
    pages, stories = Pages(), [(f"/story/{n + 200}", name) for n, name in enumerate(_names("portal", 190, 5))]
    stations = [(f"/stations/{_slug(name)}", name) for name in _names("portal stations", 90, 1)]
    menu = [("/stories", "News"), ("/stations", "Stations"), ("/links", "Links")]
    pages |= {
        "/": _story("Railways", "portal", 60, more=[*menu, *stories[:8]]),
        "/links": _story("Links", "links"),
    }
    _paged(pages, "/stories", "/stories?page={}", "News", stories, 15, turn=True)
    pages["/stations"] = _index("Stations", stations)
    pages |= {target: _story(name, target, more=[("/stories", "All news")]) for target, name in stories}
    for target, name in stations:
        key = _crc(target)
        fields = [("Opened", f"{1840 + key % 90}"), ("Platforms", f"{1 + key % 9}"),
            ("Height", f"{key % 800} m")]  # fmt: skip
        pages[target] = _record(name, fields, [("/stations", "All stations")])

    def go(target: str) -> Go:
        return lambda href: _added(href, f"_={1_690_000_000_000 + int(_hash(target), 16) % 90_000_000_000}")

    def aside(target: str, base: str, go: Go) -> str:
        mark, seen = _hash(target, 6), _query(target).get("visitor", "")
        count = int(seen) + 1 if seen.isdecimal() and len(seen) < 18 else 10_424
        tracks = f"utm_source=box&utm_medium=web&utm_campaign=c{mark}", f"ab={mark[:4]}"
        hints = [
            (_added(one[0], track), one[1])
            for one, track in zip(stories[_crc(base) % 180 :], tracks, strict=False)
        ]
        return listed(hints) + f"<p>You are visitor {link(f'/?visitor={count}', f'{count - 1}')}</p>"

    traps = ("time stamps against caches", "utm parameters on own links", "A/B variants",
        "visitor counter in the URL")  # fmt: skip
    return _made("m-portal", "Railways", menu, pages, traps, go=go, aside=aside, ends=True)


@cache
def _log() -> dict[date, str]:
    """The days of the ship's log, with the targets of their entries."""
    names = _names("log", 40, 1, "en")
    days = [date(1851, 1, 1) + timedelta(days=step) for step in range(600)]
    return {day: f"/{day:%Y/%m/%d}/{_slug(names[at % 40])}-{at + 1}/" for at, day in enumerate(days)}


def _log_shown(target: str) -> str:
    target = _without("replytocom")(target)
    asked = re.fullmatch(r"/(\d{4})/(\d\d)/(\d\d)/", target)
    return _log().get(day, target) if asked and (day := _day(asked[1], asked[2], asked[3])) else target


def logbook() -> Site:
    """A ship's log as a WordPress blog, an entry of a line or two for every day, with archives of any date
    and reply links of comments."""
    entries, pages, dice = _log(), Pages(), random.Random("logbook")
    days, targets = list(entries), list(entries.values())
    titles = [target.split("/")[-2].replace("-", " ").capitalize() for target in targets]
    for first in dict.fromkeys(day.replace(day=1) for day in days):
        items = [(entries[day], f"{day}") for day in _month(first) if day in entries]
        pages[f"/{first:%Y/%m}/"] = _index(f"Archive {first:%m/%Y}", items)
    for year in (1851, 1852):
        pages[f"/{year}/"] = _index(
            f"Archive {year}", [(one, one) for one in pages if one.startswith(f"/{year}/")]
        )
    weather = [f"Wind {dice.choice(('N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'))} {dice.randint(0, 9)}, "
        f"bar. {dice.randint(285, 308) / 10}, {dice.randint(0, 60)} miles" for _ in days]  # fmt: skip

    def entry(at: int, near: list[Pair]) -> Draw:
        replies = range(at * 3, at * 3 + _crc(targets[at]) % 4)
        said = "".join(
            f"<li>{prose(f'reply {n}', 8)} {link(f'{targets[at]}?replytocom={n}', 'Reply')}</li>"
            for n in replies
        )
        more = [*near, (f"/{days[at]:%Y/%m/%d}/", f"{days[at]}")]
        lead = f"<p>{weather[at]}</p><ol>{said}</ol>"
        return _story(titles[at], targets[at], 10 + _crc(targets[at]) % 30, more=more, lead=lead)

    _chained(pages, targets, titles, entry)
    menu = [("/", "Log"), ("/ship/", "The ship"), ("/crew/", "The crew"), ("/1851/", "1851"),
        ("/1852/", "1852")]  # fmt: skip
    pages |= {
        target: _story(text, f"log {target}", more=[(targets[-1], "Last entry")]) for target, text in menu[:3]
    }

    def aside(target: str, base: str, go: Go) -> str:
        asked = re.match(r"/(\d{4})/(?:(\d\d)/)?", target)
        day = (asked and _day(asked[1], asked[2] or "01")) or date(1852, 8, 1)
        near = [
            (f"/{_ym(_later(day, step), '/')}/", text)
            for step, text in ((-1, "month before"), (1, "month after"))
        ]
        days = [(f"/{one}/".replace("-", "/"), f"{one.day}") for one in _month(day)]
        grid = "".join(f"<td>{link(*one)}</td>" for one in days)
        return f"<table id='wp-calendar'><tr>{grid}</tr></table>{listed(near)}"

    def trap(target: str) -> Drawn | None:
        asked = re.fullmatch(r"/(\d{4})/(?:(\d\d)/)?(?:(\d\d)/)?", target)
        day = _day(asked[1], asked[2] or "01", asked[3] or "01") if asked else None
        if not asked or not day or not 1 < day.year < 9999 or (asked[3] and day in entries):
            return None
        years = [(f"/{day.year + step:04}/", f"{day.year + step}") for step in (-1, 1)]
        return (
            "Nothing Found",
            f"<h1>Nothing Found</h1><p>No posts were found for this date.</p>{listed(years)}",
        )

    traps = ("archives of any year", "archives of any month", "archives of any day",
        "reply links (replytocom)")  # fmt: skip
    return _made("m-logbook", "The Log", menu, pages, traps, trap=trap, aside=aside, ends=True)


_WRAPPERS = ("/cgi-bin/textonly.pl?url=", "/translate?to=fr&u=")


def _unwrapped(target: str) -> str:
    while target.startswith(_WRAPPERS):
        target = target[len(next(one for one in _WRAPPERS if target.startswith(one))) :]
    return target


def betsie() -> Site:
    """A broadcaster with a text-only wrapper like Betsie and an idle translator, which wrap each other."""
    pages, topics = Pages(), _names("betsie topics", 10, 1)
    menu = [(f"/{_slug(topic)}/", topic) for topic in topics]
    pages["/"] = _story("Radio", "betsie", 60, more=menu)
    for folder, topic in menu:
        items = [
            (f"{folder}{1_000 + at}.shtml", name) for at, name in enumerate(_names(f"betsie {topic}", 21, 4))
        ]
        pages[folder] = _index(topic, items)
        pages |= {target: _story(name, target, more=[(folder, topic)]) for target, name in items}

    def go(target: str) -> Go:
        return lambda href: target.removesuffix(_unwrapped(target)) + href

    def aside(target: str, base: str, go: Go) -> str:
        return listed([(_WRAPPERS[0] + target, "Text only"), (_WRAPPERS[1] + target, "En français")])

    traps = ("text-only wrapper that wraps itself", "translation wrapper that wraps itself")
    return _made("m-betsie", "Radio", menu, pages, traps, go=go, aside=aside, ends=True, look="table")


_STRIPS = 520


def _comic_shown(target: str) -> str:
    asked = re.fullmatch(r"/random/([0-9a-f]{8})", target)
    return f"/comic/{int(asked[1], 16) % _STRIPS + 1}" if asked else target


def comic() -> Site:
    """A web comic: a chain of strips, each a titled picture, and random strips under new addresses."""
    titles, pages = _names("comic", _STRIPS, 2), Pages()
    menu = [("/about", "About"), ("/cast", "Cast"), ("/faq", "FAQ"), (f"/comic/{_STRIPS}", "Latest")]
    pages |= {
        target: _story(text, f"comic {target}", more=menu) for target, text in [("/", "News"), *menu[:3]]
    }

    def strip(at: int, near: list[Pair]) -> Draw:
        note = prose(f"comic {at}", 3 + at % 9)
        picture = (
            f'<h1>{titles[at]}</h1><img src="/strips/{at + 1:04}.png" alt="{titles[at]}" title="{note}">'
        )
        return lambda go: (titles[at], picture + _links(go, [("/comic/1", "First"), *near]))

    _chained(pages, [f"/comic/{n + 1}" for n in range(_STRIPS)], titles, strip)

    def aside(target: str, base: str, go: Go) -> str:
        return link(f"/random/{_hash(target, 8)}", "Random") + link(
            f"/random/{_hash('next ' + target, 8)}", "Surprise me"
        )

    return _made("m-comic", "Two Lines", menu, pages, ("random pages under ever new addresses",), aside=aside,
        ends=True)  # fmt: skip


def tagged() -> Site:
    """A link blog with tags as on del.icio.us: any tags in any order make a list of posts."""
    tags, names, pages = [_slug(one) for one in _names("tags", 34, 1)], _names("tagged", 330, 5), Pages()
    posts = [(f"/post/{_slug(name)}", name, set(random.Random(name).sample(tags, 5))) for name in names]
    for target, name, marks in posts:
        cloud = [(f"/tag/{mark}", mark) for mark in sorted(marks)]
        pages[target] = _story(name, target, 30 + _crc(target) % 120, more=cloud)
    _paged(pages, "/", "/page/{}", "Posts", [post[:2] for post in posts], 12, turn=True)
    pages["/about"] = _story("About", "tagged about")

    def trap(target: str) -> Drawn | None:
        chosen = target.removeprefix("/tag/").split("+")
        if not target.startswith("/tag/") or not set(chosen) <= set(tags) or len(set(chosen)) < len(chosen):
            return None
        found = [(one, name) for one, name, marks in posts if marks.issuperset(chosen)]
        more = [(f"{target}+{tag}", f"+ {tag}") for tag in tags if tag not in chosen]
        listing = listed(found) if found else "<p>No posts have all of these tags.</p>"
        return "Tagged", f"<h1>Tagged {' + '.join(chosen)}</h1>{listing}<h3>Related tags</h3>{listed(more)}"

    return _made(
        "m-tagged", "Links", [("/about", "About")], pages, ("combinations of tags",), trap=trap, ends=True
    )


# --- Sites whose endless part has words, numbers or combinations of its own


def herbarium() -> Site:
    """A herbarium with a tree of thin specimens, beside scans in folders of digits without end; what is
    unknown is excused with 200 and with links built from the path."""
    pages, people = Pages(), _names("herbarium people", 30, 2, "la")
    menu = [("/specimens/", "Specimens"), ("/scans/", "Scans"), ("/loans/request", "Loans"),
        ("/staff.html", "Staff")]  # fmt: skip
    families = [
        (f"/specimens/{_slug(name)}aceae/", f"{name}aceae") for name in _names("herbarium", 9, 1, "la")
    ]
    pages |= {
        "/": _story("Herbarium", "herbarium", 90, "la", menu),
        "/specimens/": _index("Specimens", families),
    }
    pages["/staff.html"] = _story("Staff", "herbarium staff", 40, "la")
    for folder, family in families:
        genera = [(f"{folder}{_slug(name)}/", name) for name in _names(family, 6, 1, "la")]
        pages[folder] = _index(family, genera)
        for genus, name in genera:
            sheets = [(f"{genus}{_crc(f'{genus}{at}') % 1_000_000:06}", f"Sheet {at + 1}") for at in range(8)]
            pages[genus] = _index(name, sheets)
            for sheet, _ in sheets:
                key = _crc(sheet)
                taken = f"leg. {people[key % 30]} {1830 + key % 110}, {key % 2_400} m"
                pages[sheet] = _record(
                    f"{name} {sheet[-6:]}", [("Taxon", name), ("Sheet", sheet[-6:]), ("Note", taken)]
                )

    def trap(target: str) -> Drawn | None:
        path = target.partition("?")[0]
        if re.fullmatch(r"/scans/(\d/)*", path):
            return (
                f"Folder {path}",
                f"<p>No files in {path}</p>{listed((f'{path}{n}/', f'{n}') for n in range(10))}",
            )
        if re.search(r"\.(txt|ico|xml|gz|png|jpg|css|js)$", path):
            return None
        stem = path.rstrip("/")
        hints = [f"{stem}/index", f"{stem}/list", f"{stem}-archive", stem.rpartition("/")[0] + "/all"]
        body = f"<p>Sorry, we could not find {path}. Perhaps you are looking for one of these?</p>"
        return "Oops", body + listed((one, one.rpartition("/")[2]) for one in hints)

    traps = ("folders of digits without end", "excuses for any path, with links built from it")
    return _made("m-herbarium", "Herbarium", menu, pages, traps, trap=trap, look="app", language="la")


@cache
def _threads() -> tuple[tuple[int, int], ...]:
    """The forum's topics: the number of the first post and how many posts there are."""
    dice, first, threads = random.Random("threads"), 1, list[tuple[int, int]]()
    for _ in range(280):
        threads.append((first, dice.choice((1, 1, 2, 3, 3, 4, 5, 6, 8, 10, 14, 22, 35))))
        first += threads[-1][1]
    return tuple(threads)


def _topic(number: int, start: int) -> str:
    return f"/viewtopic.php?t={number}&start={start}" if start else f"/viewtopic.php?t={number}"


@cache
def _post_pages() -> dict[int, str]:
    """The good targets that show the forum's posts."""
    return {first + at: _topic(number, at // 15 * 15) for number, (first, count) in enumerate(_threads(), 1)
        for at in range(count)}  # fmt: skip


def _forum_shown(target: str) -> str:
    if not target.startswith("/viewtopic.php?"):
        return target
    asked = {key: int(value) for key, value in _query(target).items() if value.isdecimal()}
    if "p" in asked:
        return _post_pages().get(asked["p"], target)
    return _topic(asked.get("t", 0), asked.get("start", 0))


def forum() -> Site:
    """A phpBB forum: permalink, quote and report forms of every post, logins that redirect to logins."""
    threads, pages = _threads(), Pages()
    titles, people = _names("forum topics", len(threads), 5), _names("forum people", 150, 1)
    boards = [(f"/viewforum.php?f={at}", name) for at, name in enumerate(_names("forum boards", 8, 2), 1)]
    pages["/"] = _index("Board index", boards)

    def topic_view(number: int, start: int, go: Go) -> Drawn:
        (first, count), board = threads[number - 1], (number - 1) % 8
        posts = ""
        for post in range(first + start, first + min(start + 15, count)):
            forms = [
                (f"/viewtopic.php?p={post}#p{post}", "Permalink"),
                (f"/posting.php?mode=quote&f={board + 1}&p={post}", "Quote"),
                (f"/report.php?f={board + 1}&p={post}", "Report"),
            ]
            by, said = people[_crc(f"by {post}") % 150], prose(f"post {post}", 6 + _crc(f"{post}") % 45)
            posts += f'<div id="p{post}" class="post"><b>{by}</b> {said}{listed(forms)}</div>'
        turn = [(_topic(number, at), f"{at // 15 + 1}") for at in range(0, count, 15)]
        base = f"/viewtopic.php?f={board + 1}&t={number}"
        more = [(base, "Topic"), (f"{base}&view=print", "Print view"),
            (f"/posting.php?mode=reply&f={board + 1}&t={number}", "Reply")]  # fmt: skip
        more += [(f"/viewtopic.php?t={number}&start={start}&sk={key}&sd={way}", key + way) for key in "ats"
            for way in "ad"]  # fmt: skip
        return titles[
            number - 1
        ], f"<h2>{titles[number - 1]}</h2>{posts}{listed([*turn, boards[board], *more])}"

    for number, (_, count) in enumerate(threads, 1):
        for start in range(0, count, 15):
            pages[_topic(number, start)] = partial(topic_view, number, start)
    for at, (board, name) in enumerate(boards):
        items = [(_topic(n, 0), titles[n - 1]) for n in range(at + 1, len(threads) + 1, 8)]
        _paged(pages, board, board + "&start={}", name, items, 20, step=20)
    pages["/faq.php"] = _story("Frequently Asked Questions", "forum faq", 700)

    def aside(target: str, base: str, go: Go) -> str:
        back = quote(target, safe="") if len(target) < 3_000 else ""
        return listed(
            [
                (f"/ucp.php?mode=login&redirect={back}", "Login"),
                (f"/ucp.php?mode=register&redirect={back}", "Register"),
            ]
        )

    def trap(target: str) -> Drawn | None:
        asked, script = _query(target), target.partition("?")[0]
        if script == "/ucp.php" and asked.get("mode") in ("login", "register"):
            return (
                "Login",
                "<h2>The board requires you to be logged in.</h2><form><input name=username></form>",
            )
        if script == "/report.php" and asked.get("p", "").isdecimal() and int(asked["p"]) in _post_pages():
            return (
                "Report",
                f"<h2>Report post</h2><textarea></textarea>{link(_post_pages()[int(asked['p'])])}",
            )
        if script == "/posting.php" and (asked.get("p", "") + asked.get("t", "")).isdecimal():
            said = prose(f"post {asked['p']}", 6 + _crc(asked["p"]) % 45) if "p" in asked else ""
            return (
                "Post a reply",
                f"<h2>Post a reply</h2><form><textarea>[quote]{said}[/quote]</textarea></form>",
            )
        return None

    traps = ("permalink copies of every post", "quote, reply and report forms",
        "logins that return to logins")  # fmt: skip
    return _made("m-forum", "Board", [("/faq.php", "FAQ")], pages, traps, trap=trap, aside=aside, look="app")


def _wiki_shown(target: str) -> str:
    if not target.startswith("/w/index.php?"):
        return target
    asked = _query(target)
    same = asked.get("action", "view") in ("view", "purge") and not asked.keys() & {"oldid", "diff", "offset"}
    return f"/wiki/{asked.get('title', '')}" if same and "Special:" not in asked.get("title", "") else target


def wiki() -> Site:
    """A wiki of MediaWiki with histories, differences, old versions and special pages of every article."""
    names = [name.replace(" ", "_") for name in _names("wiki", 290, 2)]
    numbers, pages = {name: at for at, name in enumerate(names)}, Pages()
    kinds = [f"Category:{name}" for name in _names("wiki kinds", 18, 1)]
    revisions = [8 + _crc(name) % 32 for name in names]
    script = "/w/index.php?title="

    def text(at: int, version: int) -> str:
        return "".join(
            f"<p>{prose(f'wiki {at} {part} {version // (5 + part * 4)}', 34)}</p>" for part in range(4)
        )

    def article(at: int, go: Go) -> Drawn:
        near = [names[(at * 7 + step * 31) % len(names)] for step in range(1, 5)] + [kinds[at % len(kinds)]]
        title = names[at].replace("_", " ")
        return (
            title,
            f"<h1>{title}</h1>{text(at, revisions[at])}{listed((f'/wiki/{one}', one) for one in near)}",
        )

    pages |= {f"/wiki/{name}": partial(article, at) for at, name in enumerate(names)}
    for at, kind in enumerate(kinds):
        pages[f"/wiki/{kind}"] = _index(kind, [(f"/wiki/{name}", name) for name in names[at :: len(kinds)]])
    pages["/wiki/Main_Page"] = _story(
        "Main Page", "wiki main", 120, more=[(f"/wiki/{one}", one) for one in kinds]
    )

    def aside(target: str, base: str, go: Go) -> str:
        title = base.removeprefix("/wiki/") if base in pages else _query(target).get("title", "Main_Page")
        forms = [("&action=edit", "Edit"), ("&action=history", "History"), ("&action=info", "Information"),
            ("&printable=yes", "Print")]  # fmt: skip
        special = [
            (f"/wiki/Special:{kind}/{title}", kind) for kind in ("WhatLinksHere", "RecentChangesLinked")
        ]
        login = f"{script}Special:UserLogin&returnto={quote(title)}"
        login += f"&returntoquery={quote(target.partition('?')[2], safe='')}" if len(target) < 2_000 else ""
        tools = [(f"{script}{quote(title, safe=':')}{form}", word) for form, word in forms]
        return listed(
            [*tools, *special, ("/wiki/Special:RecentChanges", "Recent changes"), (login, "Log in")]
        )

    def trap(target: str) -> Drawn | None:
        path, _, query = target.partition("?")
        asked = _query(target)
        title, action = asked.get("title", ""), asked.get("action", "")
        at = numbers.get(title, -1)
        if path.startswith("/wiki/Special:"):
            options = [{"limit": n} for n in ("20", "50", "100", "250", "500")] + [
                {"hideminor": "1"},
                {"hidebots": "1"},
            ]
            start = (int(asked["from"]) if asked.get("from", "").isdecimal() and len(asked["from"]) < 18
                else 20_240_101_000_000)  # fmt: skip
            options += [{"from": f"{start + 1 + _crc(query) % 90_000}"}, {"days": "7"}, {"days": "30"}]
            found = [
                (f"/wiki/{names[(_crc(query) + step) % len(names)]}", f"change {step}") for step in range(6)
            ]
            return path[14:], listed(found) + listed(
                (f"{path}?{urlencode(asked | one)}", f"{one}") for one in options
            )
        if title == "Special:UserLogin":
            return "Log in", "<form><input name=wpName><input name=wpPassword></form>"
        if path != "/w/index.php" or (at < 0 and f"/wiki/{title}" not in pages):
            return None
        ids = [20_000 + at * 50 + n for n in range(revisions[at] + 1)] if at >= 0 else []
        if action == "history":
            rows = [(f"{script}{title}&oldid={one}", f"Revision {one}") for one in ids]
            rows += [(f"{script}{title}&diff={ids[-1]}&oldid={one}", "cur") for one in ids]
            rows += [(f"{script}{title}&diff={one + 1}&oldid={one}", "prev") for one in ids[:-1]]
            rows += [(f"{script}{title}&action=history&limit={n}", f"{n}") for n in (20, 50, 100, 250, 500)]
            return f"{title}: history", listed(rows)
        if action in ("edit", "info"):
            return (
                f"{action} {title}",
                f"<textarea>{text(at, revisions[at]) if action == 'edit' else len(ids)}</textarea>",
            )
        version = [int(asked[key]) for key in ("oldid", "diff") if asked.get(key, "").isdecimal()]
        if not version or not set(version) <= set(ids):
            return None
        near = [(f"{script}{title}&oldid={version[0] + step}", "Other revision") for step in (-1, 1)]
        near += [
            (f"{script}{title}&diff={one}&oldid={version[0]}", "Difference")
            for one in ids[:: 1 + len(ids) // 6]
        ]
        return (
            f"{title}: old revision",
            f"<p>Revision {version}</p>{text(at, version[-1] - ids[0])}{listed(near)}",
        )

    traps = ("histories of articles", "differences of any two revisions",
        "special pages with options that combine", "logins that return to queries")  # fmt: skip
    menu = [("/wiki/Main_Page", "Main Page"), (f"/wiki/{kinds[0]}", kinds[0])]
    return _made(
        "m-wiki", "Wiki", menu, pages, traps, trap=trap, aside=aside, look="app", start="/wiki/Main_Page"
    )


_HEAD = _hash("commit 169", 40)


def cgit() -> Site:
    """A repository browser as cgit: the tree and its commits, and every file at every commit in five ways."""
    dice, pages, root = random.Random("cgit"), Pages(), "/mill.git"
    commits = [_hash(f"commit {at}", 40) for at in range(170)]
    age, subjects = {commit: at for at, commit in enumerate(commits)}, _names("cgit commits", 170, 5)
    folders = {"": ["src", "doc", "test", "lib"]} | {
        name: list[str]() for name in ("src", "doc", "test", "lib")
    }
    for name in _names("cgit files", 130, 2):
        folders[dice.choice(("src", "src", "doc", "test", "lib"))].append(
            name.lower().replace(" ", "_") + ".c"
        )
    files = {f"{folder}/{name}": folder for folder, names in folders.items() for name in names if folder}
    words = vocabulary("en")

    def lines(path: str, at: int) -> str:
        dice = random.Random(path)
        drawn = ((n, dice.choice(words), dice.choice(words)) for n in range(12 + _crc(path) % 40))
        return "\n".join(f"    {a}({b}, {n * 31 + at // (n % 7 * 15 + 10)});" for n, a, b in drawn)

    def views(path: str, commit: str) -> list[Pair]:
        kinds = ("tree", "log", "blame", "plain")
        views = [(f"{root}/{kind}/{path}?id={commit}", kind) for kind in kinds]
        return [*views, (f"{root}/diff/{path}?id={commit}&id2={commits[age[commit] * 7 % 170]}", "diff")]

    def tree(path: str, commit: str, go: Go) -> Drawn:
        mark = f"?id={commit}" if commit else ""
        if path in files:
            shown = f"<pre>{lines(path, age.get(commit, 169))}</pre>"
            return path, shown + listed(
                [(f"{root}/tree/{files[path]}{mark}", files[path]), *views(path, commit or commits[-1])]
            )
        inside = [(f"{root}/tree/{f'{path}/' if path else ''}{name}{mark}", name) for name in folders[path]]
        return f"/{path}", listed(inside)

    def commit_view(at: int, go: Go) -> Drawn:
        changed = sorted(files)[at * 5 % len(files) :][:3]
        near = [(f"{root}/commit/?id={commits[n]}", "commit") for n in (at - 1, at + 1) if 0 <= n < 170]
        near += [(f"{root}/tree/?id={commits[at]}", "tree"), (f"{root}/patch/?id={commits[at]}", "patch")]
        body = f"<h3>{subjects[at]}</h3><p>{prose(f'commit {at}', 5 + at % 40)}</p>{listed(near)}"
        return subjects[at], body + "".join(listed(views(path, commits[at])) for path in changed)

    pages |= {f"{root}/tree/{path}": partial(tree, path, "") for path in (*folders, *files)}
    pages |= {f"{root}/commit/?id={commit}": partial(commit_view, at) for commit, at in age.items()}
    items = [
        (f"{root}/commit/?id={commit}", subject) for commit, subject in zip(commits, subjects, strict=True)
    ][::-1]
    _paged(pages, f"{root}/log/", f"{root}/log/?ofs={{}}", "Log", items, 50, step=50)
    menu = [("/", "index"), (f"{root}/", "summary"), (f"{root}/log/", "log"), (f"{root}/tree/", "tree")]
    pages |= {
        "/": _index("Repositories", menu[1:2]),
        f"{root}/": _story("mill", "cgit about", 150, more=items[:10]),
    }

    def trap(target: str) -> Drawn | None:
        asked = re.match(rf"{root}/(tree|log|blame|plain|diff|patch)/([^?]*)\?(.*)", target)
        marks = _query(target)
        commit, other = marks.get("id", ""), marks.get("id2", "")
        if (
            not asked
            or commit not in age
            or (asked[2] not in files and (asked[2] not in folders or asked[1] == "blame"))
        ):
            return None
        kind, path, at = asked[1], asked[2], age[commit]
        if kind in ("plain", "patch"):
            return Answer(lines(path, at).encode(), media_type="text/plain; charset=utf-8")
        if kind == "tree" or path not in files:
            return tree(path, commit, _same)
        if kind == "log":
            near = [view for one in commits[at % 9 : at : 9] for view in views(path, one)[:3]]
            return f"log {path}", f"{listed(near)}{link(f'{root}/log/{path}?id={commits[at // 2]}', 'next')}"
        if kind == "blame":
            return f"blame {path}", f"<pre>{lines(path, at)}</pre>{listed(views(path, commits[at // 3]))}"
        context = int(marks.get("context", "3")) if marks.get("context", "3").isdecimal() else 3
        base = f"{root}/diff/{path}?id={commit}&id2={other}"
        more = [(f"{base}&context={context + 1}", "more context"), (f"{base}&ignorews=1", "ignore space")]
        return (
            f"diff {path}",
            f"<pre>{lines(path, at)}\n@@\n{lines(path, age.get(other, 0))}</pre>{listed(more)}",
        )

    traps = ("files at any revision", "blame views", "logs of files",
        "differences of any two revisions of files")  # fmt: skip
    return _made("m-cgit", "Repositories", menu, pages, traps, trap=trap, look="app")


def essays() -> Site:
    """A small press with essays, whose server feeds babble to robots: a Nepenthes maze behind a hidden link
    and Iocaine texts at unknown names among the essays."""
    names, words, pages = _names("essays", 230, 4), vocabulary("en"), Pages()
    items = [(f"/essays/{_slug(name)}/", name) for name in names]
    menu = [("/", "Essays"), ("/press/", "The press"), ("/authors/", "Authors")]
    pages |= {target: _story(text, f"essays {target}") for target, text in menu[1:]}
    _paged(pages, "/", "/archive/{}/", "Essays", items, 15, prose("essays", 40))
    for at, (target, name) in enumerate(items):
        pages[target] = _story(
            name, target, 120 + _crc(target) % 200, more=items[at % 7 * 30 : at % 7 * 30 + 3]
        )

    def onward(seed: str, count: int) -> list[Pair]:
        dice, links = random.Random(f"onward {seed}"), list[Pair]()
        for _ in range(count):
            said = dice.choices(words, k=dice.randint(2, 5))
            target = f"/essays/{'-'.join(said[:4])}/" if dice.random() < 0.4 else f"/quiet/{'/'.join(said)}"
            links.append((target, " ".join(said)))
        return links

    def aside(target: str, base: str, go: Go) -> str:
        return f'<div style="display:none">{listed(onward(base, 2))}</div>' if base in pages else ""

    def trap(target: str) -> Drawn | None:
        path = target.partition("?")[0]
        if not re.fullmatch(r"/quiet/[a-z/]+|/essays/[a-z-]+/", path):
            return None
        title = path.strip("/").rpartition("/")[2].replace("-", " ").capitalize()
        return (
            title,
            f"<h1>{title}</h1>{_text(path, 60 + _crc(path) % 160)}{listed(onward(path, 4 + _crc(path) % 5))}",
        )

    traps = ("maze of random text in a folder of its own", "random text under names like those of good pages")
    return _made("m-essays", "Small Press", menu, pages, traps, trap=trap, aside=aside)


def hacked() -> Site:
    """A joiner's WordPress that was broken into: hidden links to doorway pages made of random words."""
    pages, words = Pages(), vocabulary("it")
    groups = {"joinery": _names("hacked work", 130, 3, "it"), "blog": _names("hacked blog", 110, 5, "it")}
    menu = [("/", "Home"), ("/joinery/", "Our joinery"), ("/blog/", "Blog"), ("/contact/", "Contact")]
    pages |= {target: _story(text, f"hacked {target}", 70, "it", menu) for target, text in (menu[0], menu[3])}
    for group, names in groups.items():
        items = [(f"/{group}/{_slug(name)}/", name) for name in names]
        _paged(pages, f"/{group}/", f"/{group}/page/{{}}/", group.capitalize(), items, 12)
        for at, (target, name) in enumerate(items):
            lead = f'<img src="/wp-content/uploads/{at}.jpg" alt="{name}">' if group == "joinery" else ""
            pages[target] = _story(
                name, target, 12 + _crc(target) % 40 if lead else 0, "it", [(f"/{group}/", "Back")], lead
            )

    def doors(seed: str) -> list[Pair]:
        dice, links = random.Random(f"doors {seed}"), list[Pair]()
        for _ in range(9):
            what, brand = dice.choice(words), dice.choice(words)
            number = dice.randrange(100_000)
            forms = (f"/cheap-{what}-{brand}-{number}.html", f"/?{what}={number}",
                f"/buy/{brand}/{what}-{number}.html")  # fmt: skip
            links.append((dice.choice(forms), f"cheap {what} {brand}"))
        return links

    def aside(target: str, base: str, go: Go) -> str:
        return f'<div style="position:absolute;left:-9999px">{listed(doors(target))}</div>'

    def trap(target: str) -> Drawn | None:
        if not re.fullmatch(
            r"/cheap-[a-z]+-[a-z]+-\d+\.html|/\?[a-z]+=\d+|/buy/[a-z]+/[a-z]+-\d+\.html", target
        ):
            return None
        what = re.findall("[a-z]+", target.removeprefix("/cheap").removeprefix("/buy"))[0]
        price = _crc(target) % 9_000 / 100
        body = f"<h1>Buy {what} online</h1><p>Best {what} from ${price:.2f}. Order {what} now!</p>"
        return f"Buy {what} {_crc(target) % 999}", body + _text(target, 80, "it")

    return _made("m-hacked", "Falegnameria", menu, pages, ("doorway pages of random words",), trap=trap,
        aside=aside, language="it")  # fmt: skip


def atlas() -> Site:
    """A gazetteer of thin places with map sheets of any zoom and tables of the sun for any day and place."""
    dice, pages = random.Random("atlas"), Pages()
    regions = [(f"/region/{_slug(name)}/", name) for name in _names("atlas regions", 20, 1, "fi")]
    names, spots = _names("atlas places", 420, 1, "fi"), list[tuple[str, float, float]]()
    for at, name in enumerate(names):
        target, x, y = f"/place/{_slug(name)}", dice.random(), dice.random()
        spots.append((target, x, y))
        fields = [("Latitude", f"{60 + y * 8:.3f}"), ("Longitude", f"{20 + x * 10:.3f}"),
            ("People", f"{dice.randint(12, 90_000)}"),
            ("Remark", prose(target, 2 + at % 14, "fi"))]  # fmt: skip
        more = [(f"/map/9/{int(x * 512)}/{int(y * 512)}", "Map"), (f"/sun{target[6:]}/2024-06-21", "Sun"),
            regions[at % 20]]  # fmt: skip
        pages[target] = _record(name, fields, more)
    for at, (target, name) in enumerate(regions):
        pages[target] = _index(name, [(spots[n][0], names[n]) for n in range(at, len(names), 20)])
    menu = [("/", "Atlas"), ("/sources", "Sources"), ("/map/0/0/0", "Map")]
    pages |= {"/": _index("Regions", regions), "/sources": _story("Sources", "atlas sources", 130, "fi")}
    known = {target[7:] for target, _, _ in spots}

    def trap(target: str) -> Drawn | None:
        if asked := re.fullmatch(r"/map/(\d{1,3})/(\d{1,60})/(\d{1,60})", target):
            z, x, y = map(int, asked.groups())
            near = [(z, x + 1, y), (z, x - 1, y), (z, x, y + 1), (z, x, y - 1), (z - 1, x // 2, y // 2)]
            near += ([(z + 1, x * 2 + right, y * 2 + down) for right in (0, 1) for down in (0, 1)] if z < 180
                else [])  # fmt: skip
            hrefs = [f"/map/{a}/{b}/{c}" for a, b, c in near if a >= 0 and 0 <= b < 2**a and 0 <= c < 2**a]
            inside = [one for one, e, n in spots if int(e * 2**z) == x and int(n * 2**z) == y][:20]
            body = f'<img src="/tiles/{z}/{x}/{y}.png" alt="Map"><p>Sheet {z}/{x}/{y}</p>'
            return f"Map {z}", body + listed((one, one.rpartition("/map")[2]) for one in hrefs + inside)
        asked = re.fullmatch(r"/sun/([a-z]+)/(\d{4})-(\d\d)-(\d\d)", target)
        day = asked and _day(asked[2], asked[3], asked[4])
        if not asked or not day or asked[1] not in known or not 1 < day.year < 9998:
            return None
        half = 6 + 5 * math.sin((day.timetuple().tm_yday - 80) / 58.1) + _crc(asked[1]) % 60 / 100
        rows = f"<tr><td>Sunrise {12 - half:.2f}</td></tr><tr><td>Sunset {12 + half:.2f}</td></tr>"
        days = [
            (f"/sun/{asked[1]}/{day + timedelta(days=step)}", f"{step:+} days")
            for step in (-365, -30, -1, 1, 30, 365)
        ]
        return f"Sun {day}", f"<h2>{day}</h2><table>{rows}</table>{listed(days)}"

    traps = ("map sheets of any zoom", "tables of the sun for any day")
    return _made("m-atlas", "Atlas", menu, pages, traps, trap=trap, look="app", language="fi")


def numbers() -> Site:
    """A mathematician's pages, beside a museum with a page for every number, a tree of proofs and puzzles."""
    pages, titles = Pages(), _names("numbers", 160, 3, "eo")
    targets = [f"/notes/{at + 1:03}.html" for at in range(160)]
    menu = [("/", "Home"), ("/notes/", "Notes"), ("/sequences/", "Sequences"), ("/number/7", "Numbers"),
        ("/proof/", "Proofs"), ("/sudoku/1", "Sudoku")]  # fmt: skip
    pages |= {"/": _story("Numbers", "numbers", 80, "eo", menu)}
    pages["/notes/"] = _index("Notes", list(zip(targets[:1], titles[:1], strict=True)))
    _chained(pages, targets, titles, language="eo")
    sequences = [
        (f"/sequences/A{_crc(name) % 1_000_000:06}", name) for name in _names("sequences", 130, 3, "eo")
    ]
    pages["/sequences/"] = _index("Sequences", sequences)
    for target, name in sequences:
        a, b, c = 1 + _crc(name) % 7, _crc(target) % 11, _crc(name + target) % 13
        pages[target] = _record(name, [("Terms", ", ".join(f"{a * n * n + b * n + c}" for n in range(18)))])

    def trap(target: str) -> Drawn | None:
        if (asked := re.fullmatch(r"/number/([1-9]\d{0,17})", target)) and (n := int(asked[1])):
            divisors = [k for k in range(1, 21) if n % k == 0]
            text = f"<h1>{n}</h1><p>{n} is {'odd' if n % 2 else 'even'}. Divisors: {divisors}. "
            text += f"In binary {n:b}, in hexadecimal {n:x}.</p>"
            others = [n + 1, n - 1, n * 2, n + 100, sum(map(int, asked[1])), int(asked[1][::-1])]
            return f"The number {n}", text + listed(
                (f"/number/{one}", f"{one}") for one in others if 0 < one < 10**18
            )
        if asked := re.fullmatch(r"/proof/((?:[123]/)*)", target):
            rule = ("Cut", "Weakening", "Contraction", "Induction")[_crc(target) % 4]
            goal = " &rarr; ".join(random.Random(target).choices("ABCDEPQR", k=4))
            steps = [(f"{target}{n}/", f"Premise {n}") for n in (1, 2, 3)[: 2 + _crc(target) % 2]]
            return f"{rule}", f"<h2>{goal}</h2><p>By {rule} from:</p>{listed(steps)}"
        if asked := re.fullmatch(r"/sudoku/(\d{1,17})", target):
            dice = random.Random(target)
            rows = "<br>".join(" ".join(dice.choices("123456789.....", k=9)) for _ in range(9))
            more = [(f"/sudoku/{int(asked[1]) + 1}", "Next"), (f"/sudoku/{dice.randrange(10**9)}", "Another")]
            return f"Sudoku {asked[1]}", f"<pre>{rows}</pre>{listed(more)}"
        return None

    traps = ("a page for every number", "tree of proofs", "puzzle generator")
    return _made("m-numbers", "Numbers", menu, pages, traps, trap=trap, look="table", language="eo")


def compare() -> Site:
    """A shop of its own make: compared goods, a basket and the trail of related goods all grow in the URL."""
    pages, kinds = Pages(), _names("compare kinds", 14, 1, "es")
    names = _names("compare goods", 430, 3, "es")
    menu = [(f"/c/{at}-{_slug(kind)}", kind) for at, kind in enumerate(kinds)]
    pages["/"] = _story(
        "Tienda", "compare", 40, "es", [*menu, ("/also/7", "Others look at"), ("/compare?ids=1,2", "Compare")]
    )
    price = {at: 3 + _crc(name) % 900 for at, name in enumerate(names)}
    for at, name in enumerate(names):
        lead = f"<p>{price[at]} EUR</p>" + listed(
            [(f"/compare?ids={at}", "Compare"), (f"/basket?items={at}", "Buy")]
        )
        more = [(f"/also/{at}", "Customers also bought"), menu[at % 14]]
        pages[f"/p/{at}"] = _story(name, f"compare {at}", 10 + at % 90, "es", more, lead)
    for at, (target, kind) in enumerate(menu):
        items = [(f"/p/{n}", names[n]) for n in range(at, len(names), 14)]
        _paged(pages, target, target + "?page={}", kind, items, 12, turn=True)

    def trap(target: str) -> Drawn | None:
        asked = re.fullmatch(r"(/compare\?ids=|/basket\?items=|/also/)(\d+(?:[,-]\d+)*)", target)
        if not asked or not all(int(one) in price for one in re.split("[,-]", asked[2])):
            return None
        ids = [int(one) for one in re.split("[,-]", asked[2])]
        dice = random.Random(target)
        others = [n for n in dice.sample(range(len(names)), 8) if n not in ids]
        mark = "-" if asked[1] == "/also/" else ","
        grown = [(f"{target}{mark}{n}", f"Add {names[n]}") for n in others]
        rows = "".join(f"<tr><td>{link(f'/p/{n}', names[n])}</td><td>{price[n]} EUR</td></tr>" for n in ids)
        body = f"<table>{rows}</table><p>{sum(price[n] for n in ids)} EUR</p>{listed(grown)}"
        return {"/": "Related"}.get(asked[1][-1], asked[1][1:8]), body

    traps = ("lists of compared goods", "baskets in the URL", "trails of related goods")
    return _made("m-compare", "Tienda", menu, pages, traps, trap=trap, language="es")


def letters() -> Site:
    """An edition of letters by year, with a search whose every answer proposes related searches."""
    dice, pages, words = random.Random("letters"), Pages(), vocabulary("sv")
    people, heads = _names("letters people", 60, 2, "sv"), list[tuple[str, str]]()
    years = range(1788, 1826)
    for at in range(470):
        year = years[at * len(years) // 470]
        heads.append((f"/letters/{year}/{at + 1:04}", f"To {dice.choice(people)}, {year}"))
    for at, (target, title) in enumerate(heads):
        known = [(f"/search?q={word}", word) for word in dice.sample(words[:900], 2)]
        near = heads[at + 1 : at + 2]
        pages[target] = _story(title, target, 25 + _crc(target) % 190, "sv", [*near, *known])
    shelves = [(f"/letters/{year}/", f"{year}") for year in years]
    pages |= {one: _index(text, [pair for pair in heads if pair[0].startswith(one)]) for one, text in shelves}
    menu = [("/", "Edition"), ("/letters/", "By year"), ("/persons", "Persons"), ("/search?q=", "Search")]
    pages |= {"/": _story("Edition", "letters", 100, "sv"), "/letters/": _index("By year", shelves)}
    pages["/persons"] = _story("Persons", "letters persons", 400, "sv")

    def trap(target: str) -> Drawn | None:
        if not re.fullmatch(r"/search\?q=[a-z+]*(&start=\d{1,6})?", target):
            return None
        dice, asked, start = (random.Random(target), _query(target)["q"].split(),
            int(_query(target).get("start", "0")))  # fmt: skip
        found = listed(dice.sample(heads, 8))
        chosen = dice.sample(words, 6)
        related = ["+".join([*asked[-2:], word]) for word in chosen[:4]] + chosen[4:]
        more = [(f"/search?q={one}", one.replace("+", " ")) for one in related]
        more.append((f"/search?q={'+'.join(asked)}&start={start + 8}", "More results"))
        return (
            "Search",
            f"<h1>Results for {' '.join(asked)}</h1>{found}<h3>Related searches</h3>{listed(more)}",
        )

    return _made("m-letters", "Brev", menu, pages,
        ("searches related to searches", "further results without end"), trap=trap,
        language="sv")  # fmt: skip


CANONICAL: dict[str, Callable[[str], str]] = {
    "m-oscommerce": _without("osCsid"),
    "m-opac": lambda target: re.sub(r"^/s/[0-9a-f]{10}(?=/)", "", target),
    "m-jsp": lambda target: re.sub(r";jsessionid=[^/?]*", "", target),
    "m-club": _club_shown,
    "m-layered": lambda target: re.sub(_DEFAULTS, "", target).rstrip("?&"),
    "m-register": lambda target: target.removesuffix("?page=1"),
    "m-museum": lambda target: target.partition("?")[0],
    "m-mirror": _mirror_shown,
    "m-portal": _without("_", "utm_source", "utm_medium", "utm_campaign", "ab", "visitor"),
    "m-logbook": _log_shown,
    "m-betsie": _unwrapped,
    "m-comic": _comic_shown,
    "m-forum": _forum_shown,
    "m-wiki": _wiki_shown,
    "m-cgit": lambda target: re.sub(
        rf"^(/mill\.git/tree/(?:[a-z]*|.+(?=\?id={_HEAD})))\?id=[0-9a-f]+$", r"\1", target
    ),
}
"""From a site's name to what maps a target to the good target whose content it shows, or else to itself."""

SITES: tuple[Callable[[], Site], ...] = (council, parish, oscommerce, opac, jsp, club, layered, register,
    museum, mirror, portal, logbook, betsie, comic, tagged, herbarium, forum, wiki, cgit, essays, hacked,
    atlas, numbers, compare, letters)  # fmt: skip
