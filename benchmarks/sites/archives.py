"""Finite sites: archives over time, archives of people, and discussion."""

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import partial
from urllib.parse import quote

from benchmarks.sites import MISSING, Answer, Site, link, listed, page, prose, vocabulary

Pages = dict[str, Callable[[], Answer]]
Template = Callable[..., Answer]
MONTHS = [f"{date(2000, month, 1):%B}" for month in range(1, 13)]


def _site(name: str, pages: Pages, start: str = "/", files: Pages | None = None) -> Site:
    """The site that has these pages, and files (images, feeds, sounds) that none of its anchors leads to."""
    known = pages | (files or {})

    def answer(target: str) -> Answer:
        render = known.get(target)
        return render() if render else MISSING

    return Site(name, frozenset(pages), answer, start)


def _each(targets: Iterable[str], render: Template, *more: object) -> Pages:
    """Pages of a kind, each rendered from its place in the row."""
    return {target: partial(render, at, *more) for at, target in enumerate(targets)}


def _frame(name: str, *menu: tuple[str, str], foot: str = "", home: str = "/", **more: str) -> Template:
    """The template of a site: its name as a link home, a menu, a foot."""
    tag, inner = random.Random(name).choice((("header", "nav"), ("div", "div"), ("center", "p")))
    links = " ".join(link(*one) for one in menu)
    top = f"<{tag}><h1>{link(home, name)}</h1><{inner}>{links}</{inner}></{tag}>"
    return partial(page, top=top, foot=f"<footer>{foot}</footer>", **more)


def _days(first: date, count: int) -> list[date]:
    return [first + timedelta(at) for at in range(count)]


def _title(seed: str, least: int = 2, most: int = 6, language: str = "en") -> str:
    return prose(seed, random.Random(seed).randint(least, most), language).rstrip(".").replace(".", ":")


def _slug(title: str) -> str:
    return "-".join(title.lower().replace(":", "").split())


def _name(seed: str) -> str:
    dice, known = random.Random(seed), vocabulary("names", 400)
    return f"{dice.choice(known[:90]).capitalize()} {dice.choice(known[90:]).capitalize()}"


def _around(at: int, targets: Sequence[str], back: str = "Previous", on: str = "Next") -> str:
    """Links to the neighbours in a row; at its ends the text alone."""
    both = ((at - 1, back), (at + 1, on))
    return " | ".join(link(targets[to], text) if 0 <= to < len(targets) else text for to, text in both)


def _pager(at: int, targets: Sequence[str]) -> str:
    """A numbered pager: first, last, and some around the page shown."""
    shown = [to for to in range(len(targets)) if abs(to - at) < 4 or to in (0, len(targets) - 1)]
    return " ".join(f"<b>{to + 1}</b>" if to == at else link(targets[to], str(to + 1)) for to in shown)


def _paged(first: str, later: str, count: int, size: int) -> list[str]:
    """Targets of the pages of a list of `count` lines; in `later`, {} is the number, from 2."""
    return [first, *(later.format(number) for number in range(2, -(-count // size) + 1))]


def _table(rows: Iterable[Iterable[object]]) -> str:
    lines = (f"<tr><td>{'</td><td>'.join(map(str, row))}</td></tr>" for row in rows)
    return f"<table>{''.join(lines)}</table>"


def _picture(at: int) -> Answer:
    return Answer(b"GIF89a\1\0\1\0\0\0\0;%d" % at, 200, "image/gif")


def _sound(at: int) -> Answer:
    return Answer(b"ID3" + bytes(at), 200, "audio/mpeg")


def diary() -> Site:
    """A private diary by year, month and day, one line on most days, like a Blosxom rendered to files."""
    dice = random.Random("a-diary")
    days = [day for day in _days(date(2003, 2, 1), 690) if dice.random() < 0.45]
    targets = [f"{day:/%Y/%m/%d.html}" for day in days]
    months = sorted({target[:9] for target in targets})
    shell = _frame("From day to day", foot=listed((month, month[1:8]) for month in reversed(months)))

    def text(day: date) -> str:
        return prose(f"diary {day}", random.Random(f"diary {day}").choice((3, 5, 6, 7, 8, 9, 11, 70)))

    def entry(at: int) -> Answer:
        body = f"<h2>{days[at]:%A, %d %B %Y}</h2><p>{text(days[at])}</p>"
        return shell(f"{days[at]:%d.%m.%Y}", body + _around(at, targets, "<", ">"))

    def several(title: str, chosen: Sequence[date], more: str = "") -> Answer:
        said = "".join(f"<p>{link(f'{day:/%Y/%m/%d.html}', f'{day:%d}')} {text(day)}</p>" for day in chosen)
        return shell(title, said + more)

    pages = _each(targets, entry)
    for month in months:
        pages[month] = partial(several, month, [day for day in days if f"{day:/%Y/%m/}" == month])
    for year in ("2003", "2004"):
        inside = [(month, MONTHS[int(month[6:8]) - 1]) for month in months if month[1:5] == year]
        pages[f"/{year}/"] = partial(shell, year, listed(inside))
    pages["/"] = partial(several, "From day to day", days[:-8:-1], link("/2003/") + link("/2004/"))
    return _site("a-diary", pages)


def newspaper() -> Site:
    """A local newspaper: the home page and sections have the latest, the rest hangs on lists by day."""
    dice = random.Random("a-newspaper")
    sections = ("politics", "business", "sport", "culture", "region")
    stories: list[tuple[str, str, str, date]] = []
    days = _days(date(2019, 1, 12), 85)
    for day in days:
        for _ in range(dice.randint(4, 8)):
            title, section = _title(f"story {len(stories)}", 4, 9), dice.choice(sections)
            target = f"/{section}/{day:%Y/%m/%d}/{_slug(title)}-a{81234 + len(stories)}"
            stories.append((target, title, section, day))
    foot = f"<aside><h3>Most read</h3>{listed(story[:2] for story in stories[-40::9])}</aside>"
    foot += f"{link('/archive/', 'Archive')} {link('/imprint', 'Imprint')}"
    shell = _frame("The Marsh Courier", *((f"/{one}/", one.title()) for one in sections), foot=foot)

    def article(at: int) -> Answer:
        target, title, section, day = stories[at]
        related = [one[:2] for one in stories[max(0, at - 30) : at] if one[2] == section][-4:]
        text = "".join(f"<p>{prose(f'{target} {part}', 60)}</p>" for part in range(2 + at % 5))
        crumbs = f"{link('/', 'Home')} &gt; {link(f'/{section}/', section.title())}"
        by = f"{day:%d %B %Y}, by {_name(f'writer {at % 9}')}"
        return shell(title, f"{crumbs}<h1>{title}</h1>{by}{text}<h3>Read also</h3>{listed(related)}")

    def teasers(title: str, chosen: Sequence[tuple[str, str, str, date]]) -> Answer:
        said = "".join(f"<h2>{link(*one[:2])}</h2><p>{prose(one[0], 18)}</p>" for one in chosen)
        return shell(title, said)

    pages = _each([story[0] for story in stories], article)
    lists: dict[str, list[tuple[str, str]]] = {}
    for day in days:
        inside = listed(story[:2] for story in stories if story[3] == day)
        pages[f"/archive/{day:%Y/%m/%d}"] = partial(shell, f"{day:Archive, %d.%m.%Y}", inside)
        lists.setdefault(f"/archive/{day:%Y/%m}", []).append((f"/archive/{day:%Y/%m/%d}", f"{day:%a %d}"))
    pages |= {month: partial(shell, f"Archive {month[9:]}", listed(lists[month])) for month in lists}
    pages["/archive/"] = partial(shell, "Archive", listed((month, month[9:]) for month in lists))
    pages["/imprint"] = partial(shell, "Imprint", prose("imprint", 40))
    for section in sections:
        chosen = [one for one in stories if one[2] == section][:-13:-1]
        pages[f"/{section}/"] = partial(teasers, section.title(), chosen)
    pages["/"] = partial(teasers, "The Marsh Courier", stories[:-21:-1])
    return _site("a-newspaper", pages)


def blog() -> Site:
    """A small blog of 320 pages of one to three short posts, linked by "older posts" alone, like Tumblr."""
    targets = _paged("/", "/page/{}", 320, 1)
    shell = partial(_frame("half a thought", foot="theme by nobody"), "half a thought")

    def posts(at: int) -> Answer:
        dice, body = random.Random(f"blog {at}"), ""
        for number in range(960 - at * 3, 960 - at * 3 - dice.randint(1, 3), -1):
            text = prose(f"blog {number}", dice.choice((2, 6, 12, 20, 45)))
            body += f'<article id="p{number}"><p>{text}</p><a href="#p{number}">#{number}</a></article>'
        body += f"<p>Page {at + 1} of 320 {_around(at, targets, 'Newer posts', 'Older posts')}</p>"
        return shell(body, head=f'<link rel="next" href="{targets[at + 1]}">' if at < 319 else "")

    return _site("a-blog", _each(targets, posts))


def comic() -> Site:
    """A web comic of 400 strips: a picture on each page, all words the same, like ComicPress or xkcd."""
    targets = [*(f"/comic/{number}/" for number in range(1, 400)), "/"]
    menu = (("/", "Home"), ("/about/", "About"), ("/cast/", "Cast"))
    shell = partial(_frame("Tin Hat", *menu, foot="Tin Hat is drawn by hand."), "Tin Hat")

    def strip(at: int) -> Answer:
        any_one = random.Random(f"comic {at}").choice(targets)
        ends = ((targets[0], "First"), (any_one, "Random"), (targets[-1], "Last"))
        nav = _around(at, targets) + " | ".join(link(*one) for one in ends)
        return shell(f'{nav}<p><img src="/strips/{at + 1:04}.gif" alt="Tin Hat" width=720></p>{nav}')

    pages = _each(targets, strip)
    pages |= {"/about/": partial(shell, prose("about", 60)), "/cast/": partial(shell, prose("cast", 90))}
    return _site("a-comic", pages, files=_each([f"/strips/{at:04}.gif" for at in range(1, 401)], _picture))


def forum() -> Site:
    """A forum by board, thread and page with query URLs, like phpBB 3; permalinks of posts are fragments."""
    dice = random.Random("a-forum")
    boards = {number: _title(f"board {number}", 1, 3) for number in (2, 3, 4, 6, 7)}
    found = [number for number in range(11, 201) if dice.random() < 0.95]
    threads = {number: (dice.choice(list(boards)), int(1 + 60 * dice.random() ** 4)) for number in found}
    people = [_name(f"forum {number}").split()[number % 2] for number in range(40)]
    members = [(f"/memberlist.php?mode=viewprofile&u={at + 50}", name) for at, name in enumerate(people)]
    foot = "All times are UTC. Powered by phpBB&reg; Forum Software"
    shell = _frame("Bell Ringers Board", ("./memberlist.php", "Members"), foot=foot, home="./")

    def spell(kind: str, query: str, count: int, size: int) -> list[str]:
        starts = range(0, max(count, 1), size)
        return [f"/{kind}.php?{query}" + (f"&start={start}" if start else "") for start in starts]

    def topic(at: int, number: int, targets: Sequence[str]) -> Answer:
        board, count = threads[number]
        body = link(f"./viewforum.php?f={board}", boards[board]) + f"<h2>{_title(f'topic {number}')}</h2>"
        for post in range(at * 10, min(count, at * 10 + 10)):
            dice, mark = random.Random(f"post {number} {post}"), number * 60 + post
            target, who = dice.choice(members)
            body += f'<div id="p{mark}"><a href="#p{mark}">#{post + 1}</a> by {link(f".{target}", who)}'
            body += f"<p>{prose(f'post {mark}', dice.choice((3, 8, 20, 50)))}</p><hr>{who}, ringer</div>"
        body += f"Page {at + 1} of {len(targets)} {_pager(at, targets)}"
        return shell(_title(f"topic {number}"), body)

    def topics(at: int, board: int, targets: Sequence[str]) -> Answer:
        rows = []
        for number in [one for one in threads if threads[one][0] == board][at * 20 : at * 20 + 20]:
            each = spell("viewtopic", f"f={board}&t={number}", threads[number][1], 10)
            end = link(f".{each[-1]}#p{number * 60 + threads[number][1] - 1}", "View the latest post")
            rows.append((link(f".{each[0]}", _title(f"topic {number}")), threads[number][1] - 1, end))
        return shell(boards[board], _table(rows) + _pager(at, targets))

    pages: Pages = {}
    for board in boards:
        targets = spell("viewforum", f"f={board}", sum(one[0] == board for one in threads.values()), 20)
        pages |= _each(targets, topics, board, targets)
    for number, (board, count) in threads.items():
        targets = spell("viewtopic", f"f={board}&t={number}", count, 10)
        pages |= _each(targets, topic, number, targets)
    for at, (target, name) in enumerate(members):
        joined = date(2008, 2, 1) + timedelta(at * 11)
        body = _table([("Username:", name), ("Joined:", joined), ("Total posts:", at * 7)])
        pages[target] = partial(shell, f"Viewing profile - {name}", body)
    pages["/memberlist.php"] = partial(shell, "Members", listed(members))
    index = [(link(f"./viewforum.php?f={board}", title), prose(title, 8)) for board, title in boards.items()]
    pages["/"] = partial(shell, "Board index", _table(index))
    return _site("a-forum", pages)


def mailing_list() -> Site:
    """The archive of a mailing list by month, each with four indices, like Mailman 2's Pipermail."""
    dice = random.Random("a-maillist")
    base, number = "/pipermail/reed-users", 0
    kinds = ("thread", "subject", "author", "date")
    pages: Pages = {}
    rows: list[tuple[str, str]] = []

    def message(at: int, inside: Sequence[tuple[str, str, str]]) -> Answer:
        target, subject, who = inside[at]
        nav = _around(at, [one[0] for one in inside], "Previous message", "Next message")
        nav += listed((f"{kind}.html#{target[:6]}", f"[ {kind} ]") for kind in kinds)
        dice = random.Random(f"mail {target}")
        quoted = "".join(f"&gt; {prose(f'{target} {line}', 10)}\n" for line in range(dice.randrange(5)))
        text = f"<pre>{quoted}\n{prose(f'mail {target}', dice.randint(8, 120))}\n\n{who.split()[0]}</pre>"
        return page(f"[Reed-users] {subject}", f"<h1>{subject}</h1><b>{who}</b>{nav}<hr>{text}<hr>{nav}")

    def index(kind: str, month: str, inside: Sequence[tuple[str, str, str]]) -> Answer:
        place = {"author": 2, "date": 0}.get(kind, 1)
        ordered = sorted(inside, key=lambda one: (one[place].removeprefix("Re: "), one[0]))
        others = listed((f"{other}.html", f"[ {other} ]") for other in kinds if other != kind)
        said = "".join(f"<li>{link(one[0], f'[Reed-users] {one[1]}')} <i>{one[2]}</i>" for one in ordered)
        body = f"{link('../', 'More info on this list...')}{others}{len(inside)} messages<ul>{said}</ul>"
        return page(f"The Reed-users {month} Archive by {kind}", body)

    for at in range(34):
        month = f"{2004 + at // 12}-{MONTHS[at % 12]}"
        inside: list[tuple[str, str, str]] = []
        for _ in range(dice.choice((1, 3, 6, 9, 14, 22))):
            subject, number = _title(f"subject {at} {dice.randrange(4)}"), number + 1
            said = f"Re: {subject}" if any(one[1] == subject for one in inside) else subject
            inside.append((f"{number:06}.html", said, _name(f"mail {dice.randrange(30)}")))
        pages |= _each([f"{base}/{month}/{one[0]}" for one in inside], message, inside)
        pages |= {f"{base}/{month}/{kind}.html": partial(index, kind, month, inside) for kind in kinds}
        rows.append((month, " ".join(link(f"{month}/{kind}.html", f"[ {kind} ]") for kind in kinds)))
    pages[f"{base}/"] = partial(page, "The Reed-users Archives", _table(reversed(rows)))
    return _site("a-maillist", pages, f"{base}/")


def events() -> Site:
    """A village's calendar of ten years, empty months too, with an end to both sides, like Drupal's."""
    dice = random.Random("a-events")
    firsts = [date(2010 + at // 12, at % 12 + 1, 1) for at in range(120)]
    targets = [f"{first:/calendar/%Y-%m}" for first in firsts]
    held: list[list[tuple[str, str, date]]] = [[] for _ in firsts]
    for number in range(17, 167):
        at, title = dice.randrange(*dice.choice(((0, 120), (60, 90)))), _title(f"event {number}", 1, 4)
        day = firsts[at] + timedelta(dice.randrange(28))
        held[at].append((f"/event/{number}-{_slug(title)}", title, day))
    foot = f"Village hall, Mill Lane 2. {link('/', 'Home')}"
    shell = _frame("Village of Upper Sedge", (targets[80], "Calendar"), foot=foot)

    def month(at: int) -> Answer:
        cells = [""] * firsts[at].weekday()
        for day in _days(firsts[at], 31):
            on = " ".join(link(*one[:2]) for one in held[at] if one[2] == day)
            cells += [f"{day.day} {on}"] if day.month == firsts[at].month else []
        weeks = [cells[row : row + 7] for row in range(0, len(cells), 7)]
        grid = _table([("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), *weeks])
        return shell(f"{firsts[at]:%B %Y}", _around(at, targets, "« Prev", "Next »") + grid)

    def event(month: str, title: str, day: date) -> Answer:
        text = f"<p>{prose(f'{month} {title}', 6 + len(title))}</p>"
        return shell(title, f"<h2>{title}</h2>{day:%A, %d %B %Y}, 19:30{text}{link(month, 'Calendar')}")

    pages = _each(targets, month)
    for target, inside in zip(targets, held, strict=True):
        pages |= {one[0]: partial(event, target, *one[1:]) for one in inside}
    pages["/"] = partial(shell, "Upper Sedge", prose("sedge", 80) + listed(one[:2] for one in held[80]))
    return _site("a-events", pages)


def weather() -> Site:
    """A weather station, a page of numbers for each day of a year, like Weather Underground's histories."""
    days = [f"{day.year}/{day.month}/{day.day}" for day in _days(date(2011, 7, 1), 366)]
    targets = [f"/history/daily/{day}" for day in days]
    months = list(dict.fromkeys(f"/history/monthly/{day.rpartition('/')[0]}" for day in days))
    shell = _frame("Station IUPLAND7", foot="Readings are not checked.")
    units = ("Time", "Temp. °C", "Dew point", "Humidity %", "hPa", "Wind km/h", "Rain mm")

    def values(seed: str) -> tuple[object, ...]:
        dice = random.Random(seed)
        warm, rain = round(dice.gauss(9, 6), 1), round(max(0.0, dice.gauss(-1, 1)), 1)
        damp, wind = dice.randint(30, 99), dice.randint(0, 40)
        return warm, round(warm - dice.random() * 9, 1), damp, dice.randint(985, 1035), wind, rain

    def daily(at: int) -> Answer:
        rows = [(f"{hour:02}:00", *values(f"{days[at]} {hour}")) for hour in range(0, 24, 2)]
        month = link(f"/history/monthly/{days[at].rpartition('/')[0]}", "Month")
        return shell(days[at], f"<h2>{days[at]}</h2>{_around(at, targets)} {month}{_table([units, *rows])}")

    def monthly(at: int) -> Answer:
        inside = [day for day in days if day.startswith(months[at][17:] + "/")]
        rows = [(link(f"/history/daily/{day}", day.split("/")[2]), *values(f"{day} 12")) for day in inside]
        return shell(months[at][17:], _around(at, months) + _table([units, *rows]))

    pages = _each(targets, daily) | _each(months, monthly)
    pages["/"] = partial(shell, "Station IUPLAND7", listed((month, month[17:]) for month in months))
    return _site("a-weather", pages)


def chess() -> Site:
    """Games of chess, a page of moves each, by player and tournament, like chessgames.com."""
    dice = random.Random("a-chess")
    players = [_name(f"chess {at}") for at in range(24)]
    events = [f"{_name(f'event {at}').split()[1]} {1950 + at * 3}" for at in range(14)]
    results = ("1-0", "0-1", "1/2-1/2")
    played = [(*dice.sample(range(24), 2), dice.randrange(14)) for _ in range(300)]
    names = [f"{players[white]} vs {players[black]}, {results[white % 3]}" for white, black, _ in played]
    targets = [f"/perl/chessgame?gid={1008361 + at * 7}" for at in range(300)]
    shell = _frame("Rook Ending", foot="Games may contain errors.")

    def game(at: int) -> Answer:
        dice, moves = random.Random(f"game {at}"), ""
        for half in range(dice.randint(30, 150)):
            piece = dice.choice(("", "", "", "N", "B", "R", "Q", "K", "Nx", "Bx"))
            square = f"{dice.choice('abcdefgh')}{dice.randint(2, 7)}"
            moves += f"{'' if half % 2 else f' {half // 2 + 1}.'} {piece}{square}"
        who = " - ".join(link(f"/perl/chessplayer?pid={10240 + one}", players[one]) for one in played[at][:2])
        where = link(f"/perl/chess.pl?tid={79201 + played[at][2]}", events[played[at][2]])
        return shell(names[at], f"{who}<br>{where}<p>{moves} {results[played[at][0] % 3]}</p>")

    pages, home = _each(targets, game), []
    kinds = (("chessplayer?pid", 10240, players), ("chess.pl?tid", 79201, events))
    for kind, (spelled, first, titles) in enumerate(kinds):
        for number, title in enumerate(titles):
            home.append((f"/perl/{spelled}={first + number}", title))
            inside = [at for at, one in enumerate(played) if number in (one[2:] if kind else one[:2])]
            pages[home[-1][0]] = partial(shell, title, listed((targets[at], names[at]) for at in inside))
    pages["/"] = partial(shell, "Rook Ending", listed(home))
    return _site("a-chess", pages)


def genealogy() -> Site:
    """A family tree: a short page of dates for each person and each couple, like TNG."""
    dice = random.Random("a-genealogy")
    families = [name.capitalize() for name in vocabulary("names", 400)[200:222]]
    born: list[tuple[str, int, int]] = []  # name, year, family of the parents (-1: unknown)
    couples: list[tuple[int, int, list[int]]] = []

    def person(surname: str, year: int, parents: int) -> int:
        born.append((f"{_name(f'tree {len(born)}').split()[0]} {surname}", year, parents))
        return len(born) - 1

    waiting = [person(surname, 1700 + dice.randrange(50), -1) for surname in families[:12]]
    while len(born) < 340:
        one = waiting.pop(0)
        name, year, _ = born[one]
        other = person(dice.choice(families), year + dice.randint(-6, 6), -1)
        years = range(year + 22, year + 23 + 2 * dice.randrange(4), 2)
        couples.append((one, other, [person(name.split()[1], child, len(couples)) for child in years]))
        waiting += couples[-1][2]
    people = [f"/getperson.php?personID=I{at + 1}&tree=sedge" for at in range(len(born))]
    groups = [f"/familygroup.php?familyID=F{at + 1}&tree=sedge" for at in range(len(couples))]
    foot = "This site is powered by TNG, &copy; 2001-2016."
    shell = _frame("Families of Sedge", ("surnames.php", "Surnames"), foot=foot, home="index.php")

    def named(at: int) -> str:
        return link(people[at], born[at][0])

    def sheet(at: int) -> tuple[str, str]:
        return "Family", link(groups[at], "Group Sheet")

    def individual(at: int) -> Answer:
        name, year, parents = born[at]
        day = f"{year % 28 + 1} {MONTHS[at % 12][:3]}"
        rows = [("Born", f"{day} {year}"), ("Died", f"{year + 20 + at % 61}")]
        if parents >= 0:
            rows += [("Parent", named(one)) for one in couples[parents][:2]] + [sheet(parents)]
        for number, (one, other, children) in enumerate(couples):
            if at in (one, other):
                rows += [("Spouse", named(other if at == one else one)), sheet(number)]
                rows += [("Child", named(child)) for child in children]
        return shell(f"{name} b. {year}", f"<h2>{name}</h2>{_table([*rows, ('Person ID', f'I{at + 1}')])}")

    def group(at: int) -> Answer:
        one, other, children = couples[at]
        rows = [("Father", named(one)), ("Mother", named(other))]
        rows += [("Child", named(child)) for child in children]
        return shell(f"Family: {born[one][0]} / {born[other][0]} (F{at + 1})", _table(rows))

    pages, lists = _each(people, individual) | _each(groups, group), []
    for surname in sorted({one[0].split()[1] for one in born}):
        lists.append((f"/search.php?mylastname={surname.upper()}&lnqualify=equals&mybool=AND", surname))
        inside = [(people[at], one[0]) for at, one in enumerate(born) if one[0].endswith(f" {surname}")]
        pages[lists[-1][0]] = partial(shell, f"Search results: {surname}", listed(inside))
    pages["/surnames.php"] = partial(shell, "Surname list", listed(lists))
    pages["/index.php"] = partial(shell, "Families of Sedge", prose("sedge families", 50))
    return _site("a-genealogy", pages, "/index.php")


def letters() -> Site:
    """A register of names by letter and two letters, some pages without a line, like an old card index."""
    alphabet, names = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", vocabulary("names", 400)
    shell = _frame("Register of bell founders", *((f"/register/{first}/", first) for first in alphabet))

    def pair(at: int, first: str) -> Answer:
        both = first + alphabet[at].lower()
        dice, usual = random.Random(f"letters {both}"), alphabet[at] in "AEIOUYLRH" and first not in "QXY"
        count = dice.randint(0, 25) if usual else dice.choice((0, 1, 2, 4))
        rows = [(both + dice.choice(names), dice.randint(1500, 1900)) for _ in range(count)]
        crumbs = f"{link('../', 'Register')} / {link('./', first)} / {both}"
        return shell(both, crumbs + (_table(sorted(rows)) if rows else "<p>No entries.</p>"))

    pages: Pages = {"/": partial(shell, "Register of bell founders", prose("register", 70))}
    pages["/register/"] = partial(shell, "Register", "Choose a letter.")
    for first in alphabet:
        inside = [f"{first}{second}.html" for second in alphabet.lower()]
        pages[f"/register/{first}/"] = partial(shell, first, listed((one, one[:2]) for one in inside))
        pages |= _each([f"/register/{first}/{one}" for one in inside], pair, first)
    return _site("a-letters", pages)


def law() -> Site:
    """Acts of parliament, one short page for each numbered paragraph, like gesetze-im-internet.de."""
    dice = random.Random("a-law")
    pages: Pages = {}
    acts: list[tuple[str, str]] = []
    shell = _frame("Gesetze", foot="zum Seitenanfang Datenschutz", language="de")

    def paragraph(at: int, act: str, title: str, inside: Sequence[tuple[str, str]]) -> Answer:
        dice = random.Random(f"law {act} {at}")
        count = dice.choice((1, 2, 2, 4))
        said = [prose(f"law {act} {at} {one}", dice.randint(8, 40), "de") for one in range(count)]
        text = "".join(f"<p>({one}) {clause}</p>" for one, clause in enumerate(said, 1) if len(said) > 1)
        text = "<p>(weggefallen)</p>" if dice.random() < 0.05 else text or f"<p>{said[0]}</p>"
        nav = _around(at, [one[0] for one in inside], "zurück", "weiter")
        nav += f" | {link('index.html', 'Nichtamtliches Inhaltsverzeichnis')}"
        return shell(f"{inside[at][1]} {act.upper()}", f"{nav}<h1>{title}<br>{inside[at][1]}</h1>{text}{nav}")

    for act, count in (("amg", 130), ("flurg", 90), ("wegeo", 110), ("mueg", 24)):
        title = _title(f"act {act}", 3, 5, "de")
        more = [dice.choice((1,) * 12 + (2, 3)) for _ in range(count)]
        numbers = [f"{at}{tail}" for at in range(1, count) for tail in ("", "a", "b")[: more[at]]]
        inside = [(f"__{one}.html", f"§ {one} {_title(f'law {act} {one}', 1, 4, 'de')}") for one in numbers]
        pages |= _each([f"/{act}/{one[0]}" for one in inside], paragraph, act, title, inside)
        acts.append((f"/{act}/index.html", f"{act.upper()} {title}"))
        pages[acts[-1][0]] = partial(shell, act.upper(), f"<h1>{title}</h1>{listed(inside)}")
    pages["/"] = partial(shell, "Gesetze und Verordnungen", listed(acts))
    return _site("a-law", pages)


def minutes() -> Site:
    """The minutes of a parliament, long pages in a chain that starts at the latest, like a Hansard."""
    days = [date(2001, 1, 9) + timedelta(9 * at + at % 3) for at in range(160)]
    targets = [f"/plenary/{day:%Y-%m-%d}_{at + 1}_EN.html" for at, day in enumerate(days)]
    members = [_name(f"member {at}") for at in range(30)]
    shell = _frame("Assembly of the Isles", foot="Official record &copy; The Assembly")

    def sitting(at: int) -> Answer:
        dice, text = random.Random(f"sitting {at}"), "<p>The sitting was opened at 9.00.</p>"
        for item in range(1, dice.randint(5, 9)):
            speech = prose(f"speech {at} {item}", dice.randint(20, 120))
            text += f"<h3>{item}. {_title(f'item {at} {item}')}</h3>{dice.choice(members)}: {speech}"
        nav = _around(at, targets, "Previous sitting", "Next sitting")
        return shell(f"Sitting {at + 1}, {days[at]:%d %B %Y}", nav + text + nav)

    latest = listed([(targets[-1], "Latest sitting")])
    home = partial(shell, "Assembly of the Isles", prose("assembly", 60) + latest)
    return _site("a-minutes", _each(targets, sitting) | {"/": home})


def sport() -> Site:
    """Results of two leagues by season and matchday, fixtures and a table each, like worldfootball.net."""
    pages: Pages = {}
    leagues = {"northern-league": 12, "county-cup": 8}
    menu = [(f"/{league}/", league.replace("-", " ").title()) for league in leagues]
    shell = _frame("Full Time", *menu, foot="All results without guarantee.")

    def played(league: str, season: str, day: int) -> list[tuple[int, int, int, int]]:
        dice, count = random.Random(f"{league} {season} {day}"), leagues[league]
        ring = [0, *((at + day) % (count - 1) + 1 for at in range(count - 1))]
        pairs = [(ring[at], ring[-1 - at]) for at in range(count // 2)]
        pairs = [(guest, home) if day < count else (home, guest) for home, guest in pairs]
        return [(*pair, dice.choice((0, 1, 1, 2, 3)), dice.choice((0, 0, 1, 2))) for pair in pairs]

    def matchday(at: int, league: str, season: str, targets: Sequence[str]) -> Answer:
        teams = [_name(f"{league} {team}").split()[1] for team in range(leagues[league])]
        points, rows = [0] * len(teams), []
        for day in range(1, at + 2):
            for home, guest, ours, theirs in (games := played(league, season, day)):
                points[home] += 3 if ours > theirs else ours == theirs
                points[guest] += 3 if theirs > ours else ours == theirs
            rows = [(teams[one[0]], "-", teams[one[1]], f"{one[2]}:{one[3]}") for one in games]
        order = sorted(range(len(teams)), key=lambda team: -points[team])
        table = _table((place, teams[team], points[team]) for place, team in enumerate(order, 1))
        nav = f"{link('../', f'Season {season}')} {_around(at, targets, '«', '»')}"
        return shell(f"{league} {season}, {at + 1}. round", f"{nav}{_table(rows)}<h3>Table</h3>{table}")

    for league, count in leagues.items():
        seasons = [f"{year}-{year + 1}" for year in range(1998, 2007)]
        for season in seasons:
            base = f"/{league}/{season}/"
            targets = [f"{base}matchday-{day}/" for day in range(1, 2 * count - 1)]
            pages |= _each(targets, matchday, league, season, targets)
            inside = listed((target, target.split("/")[3]) for target in targets)
            pages[base] = partial(shell, f"{league} {season}", inside)
        pages[f"/{league}/"] = partial(shell, league, listed((f"{season}/", season) for season in seasons))
    pages["/"] = partial(shell, "Full Time", "<h2>Results since 1998</h2>" + listed(menu))
    return _site("a-sport", pages)


def obituaries() -> Site:
    """An undertaker's notices: paged list, and pages that differ by a name and two dates."""
    names = [_name(f"obituary {at}") for at in range(230)]
    people = [(f"/obituaries/{_slug(name)}-{3120 + at}/", name) for at, name in enumerate(names)]
    lists = _paged("/obituaries/", "/obituaries/?pg={}", 230, 12)
    menu = [("/obituaries/", "Obituaries"), ("/services/", "Our services"), ("/contact/", "Contact")]
    shell = _frame("Fenn & Daughters Funeral Home", *menu, foot=listed(menu))

    def notice(at: int) -> Answer:
        age, death = random.Random(f"notice {at}").randint(50, 99), date(2016, 1, 1) - timedelta(at * 2)
        text = f"{names[at]} passed away peacefully on {death:%A, %B %d, %Y}, aged {age}. Friends may call"
        text += f" from {age % 6 + 1} p.m. at the funeral home. In lieu of flowers, donations are welcome."
        body = f"<h1>{names[at]}</h1><p>{death.year - age} - {death.year}</p><p>{text}</p>"
        return shell(f"Obituary of {names[at]}", body + _around(at, [one[0] for one in people]))

    def several(at: int) -> Answer:
        return shell("Obituaries", listed(people[at * 12 : at * 12 + 12]) + _pager(at, lists))

    pages = _each([one[0] for one in people], notice) | _each(lists, several)
    pages["/services/"] = partial(shell, "Our services", prose("undertaker", 120))
    pages["/contact/"] = partial(shell, "Contact", "Chapel Street 9<br>Telephone 555-0114")
    pages["/"] = partial(shell, "Fenn & Daughters", prose("undertaker home", 60) + listed(people[:5]))
    return _site("a-obituaries", pages)


def wiki() -> Site:
    """A small wiki of CamelCase pages, some of them stubs, served without edit or history, like UseMod."""
    dice = random.Random("a-wiki")
    known = [word.capitalize() for word in vocabulary("wiki", 600)]
    names = ["HomePage", *(known[at] + dice.choice(known) for at in range(10, 260))]
    onward = [dice.sample(names, 2) for _ in names]
    for at in range(1, len(names)):
        onward[dice.randrange(max(0, at - 40), at)].append(names[at])
    menu = [(f"wiki.pl?{name}", name) for name in ("HomePage", "RecentChanges")]
    shell = _frame("Rope & Knot", *menu, foot="This wiki is read-only.", home="wiki.pl?HomePage")

    def article(at: int) -> Answer:
        size, text = random.Random(f"wiki {at}").choice((0, 3, 10, 40, 90)), ""
        for name in onward[at]:
            text += f"<p>{prose(f'wiki {at} {name}', size) or 'See'} {link(f'wiki.pl?{name}', name)}</p>"
        return shell(names[at], f"<h1>{names[at]}</h1>{text}")

    pages = _each([f"/wiki.pl?{name}" for name in names], article)
    recent = listed((f"wiki.pl?{name}", name) for name in names[3::9])
    pages["/wiki.pl?RecentChanges"] = partial(shell, "RecentChanges", recent)
    return _site("a-wiki", pages, "/wiki.pl?HomePage")


def questions() -> Site:
    """Questions and answers with tags, people and paged lists, like OSQA."""
    dice = random.Random("a-qanda")
    titles = [f"How to {_title(f'question {at}', 3, 8).lower()}?" for at in range(210)]
    asked = [(f"/questions/{at * 3 + 10}/{_slug(title[:-1])}", title) for at, title in enumerate(titles)]
    tags = [(f"/questions/tagged/{tag}", tag) for tag in vocabulary("tags", 40)[:10]]
    tagged = [dice.sample(tags, 2) for _ in asked]
    names = [_name(f"qa {at}") for at in range(20)]
    people = [(f"/users/{at + 2}/{_slug(name)}", name) for at, name in enumerate(names)]
    menu = (("/questions", "Questions"), ("/tags", "Tags"), ("/users", "Users"))
    shell = _frame("Ask a Beekeeper", *menu, foot=f"<aside>Hot questions{listed(asked[7:90:17])}</aside>")

    def labels(at: int) -> str:
        return " ".join(link(*tag) for tag in tagged[at])

    def question(at: int) -> Answer:
        dice, (target, title) = random.Random(f"question {at}"), asked[at]
        body = f"<h1>{link(target, title)}</h1>{prose(f'ask {at}', dice.randint(15, 90))} {labels(at)}"
        body += f" asked by {link(*people[at % 20])}<h2>{at % 4} Answers</h2>"
        for mark in range(at * 10, at * 10 + at % 4):
            text, who = prose(f"reply {mark}", dice.randint(10, 80)), link(*dice.choice(people))
            text += link(f"{target}#{mark}", "link")
            body += f'<div id="{mark}">{mark % 13} votes {text} {who}</div>'
        return shell(title, body)

    def several(at: int, title: str, chosen: Sequence[int], lists: Sequence[str]) -> Answer:
        inside = chosen[at * 15 : at * 15 + 15]
        rows = [(one % 9, f"{one % 4} answers", link(*asked[one]), labels(one)) for one in inside]
        return shell(title, f"<h1>{title}</h1>{_table(rows)}{_pager(at, lists)}")

    pages = _each([one[0] for one in asked], question)
    for tag in (("/questions", "All questions"), *tags):
        chosen = [at for at in range(209, -1, -1) if tag in tagged[at] or tag not in tags]
        lists = _paged(tag[0], tag[0] + "?page={}", len(chosen), 15)
        pages |= _each(lists, several, tag[1], chosen, lists)
    for at, (target, name) in enumerate(people):
        pages[target] = partial(shell, f"User {name}", f"reputation {at * at + 1}{listed(asked[at::20])}")
    pages["/tags"] = partial(shell, "Tags", listed(tags))
    pages["/users"] = partial(shell, "Users", listed(people))
    pages["/"] = partial(several, 0, "Top questions", range(205, 190, -1), [])
    return _site("a-qanda", pages)


def photos() -> Site:
    """A photo diary, a picture with a word or no word at all on each page, like Pixelpost."""
    targets = [*(f"/index.php?showimage={number}" for number in range(1, 260)), "/"]
    shell = _frame("one a day", ("index.php?x=browse", "browse"), ("index.php?x=about", "about"))
    names = [("", "untitled", _title(f"photo {at}", 1, 1))[at * at % 7 % 3] for at in range(260)]
    groups = [(f"/index.php?x=browse&category={number}", f"category {number}") for number in range(2, 9)]
    days = _days(date(2007, 3, 1), 260)

    def photo(at: int) -> Answer:
        image = f'<h3>{names[at]}</h3><img src="images/{days[at]:%Y%m%d}.gif" alt="{names[at]}">'
        return shell("one a day", f"{image}<p>{days[at]}</p>{_around(at, targets, '«', '»')}")

    def thumbs(at: int, chosen: Sequence[int] = ()) -> Answer:
        inside = chosen or [one for one in range(260) if random.Random(f"kind {one}").randrange(9) == at]
        shown = [f'<a href="{targets[one]}"><img src="thumbnails/{one}.gif" alt=""></a>' for one in inside]
        return shell("one a day - browse", listed(groups) + "".join(shown))

    pages = _each(targets, photo) | _each([group[0] for group in groups], thumbs)
    pages["/index.php?x=browse"] = partial(thumbs, 0, range(259, 220, -1))
    pages["/index.php?x=about"] = partial(shell, "one a day - about", "A camera, a year.")
    files = _each([f"/thumbnails/{at}.gif" for at in range(260)], _picture)
    files |= _each([f"/images/{day:%Y%m%d}.gif" for day in days], _picture)
    return _site("a-photos", pages, files=files)


def rates() -> Site:
    """Exchange rates of a central bank, a table for each working day, like the Czech National Bank's."""
    days = [day for day in _days(date(2008, 9, 1), 425) if day.weekday() < 5]
    targets = [f"/rates/daily.jsp?date={day:%d.%m.%Y}" for day in days]
    coins = ("AUD", "CAD", "CHF", "CNY", "DKK", "EUR", "GBP", "HUF", "JPY", "NOK", "PLN", "SEK", "USD", "ZAR")
    menu = (("/rates/", "Exchange rates"), ("/rates/about.jsp", "Method"))
    shell = _frame("Bank of the Isles", *menu, foot="&copy; Bank of the Isles")

    def daily(at: int) -> Answer:
        dice = random.Random(f"rates {at}")
        rows = [(coin, 1, f"{ord(coin[1]) % 30 + dice.random():.3f}") for coin in coins]
        nav = _around(at, targets, "Previous working day", "Next working day")
        return shell(f"Rates {days[at]:%d.%m.%Y}", f"<h1>{days[at]:%d %b %Y}</h1>{_table(rows)}{nav}")

    pages = _each(targets, daily)
    months: dict[str, list[tuple[str, str]]] = {}
    for at, day in enumerate(days):
        inside = months.setdefault(f"/rates/month.jsp?m={day.month}&y={day.year}", [])
        inside.append((targets[at], f"{day:%d.%m.}"))
    pages |= {month: partial(shell, "Exchange rates of a month", listed(months[month])) for month in months}
    inside = [(targets[-1], "Today"), *((month, month[17:]) for month in months)]
    pages["/rates/"] = partial(shell, "Exchange rates", listed(inside))
    pages["/rates/about.jsp"] = partial(shell, "Method", prose("rates method", 90))
    pages["/"] = partial(shell, "Bank of the Isles", prose("bank", 60))
    return _site("a-rates", pages)


def television() -> Site:
    """The schedules of a channel for the year past, a page a day of recurring shows, like the BBC's."""
    days = _days(date(2013, 4, 1), 365)
    targets = [f"{day:/schedules/%Y/%m/%d}" for day in days]
    months = list(dict.fromkeys(target[:18] for target in targets))
    shows = [_title(f"show {at}", 1, 4) for at in range(60)]
    shell = _frame("Channel Six", ("/schedules", "Schedule"), foot="&copy; Channel Six")

    def daily(at: int) -> Answer:
        dice, half, rows = random.Random(f"tv {at}"), 12, []
        while half < 48:
            show = shows[half if dice.random() < 0.6 else dice.randrange(60)]
            rows.append((f"{half // 2:02}:{half % 2 * 30:02}", show, f"Episode {at + half}"))
            half += dice.choice((1, 1, 2, 3))
        near = [to for to in range(at - 3, at + 4) if 0 <= to < len(days) and to != at]
        week = " ".join(link(targets[to], f"{days[to]:%a %d}") for to in near)
        month = link(targets[at][:18], f"{days[at]:%B %Y}")
        return shell(f"{days[at]:%A %d %B %Y}", week + _table(rows) + month)

    pages = _each(targets, daily)
    for month in months:
        inside = listed((target, target[19:]) for target in targets if target.startswith(month))
        pages[month] = partial(shell, month[11:], inside)
    pages["/schedules"] = partial(shell, "Schedules", listed((month, month[11:]) for month in months))
    pages["/"] = partial(shell, "Channel Six", prose("channel six", 40) + link(targets[-1], "Today"))
    return _site("a-television", pages)


def gazette() -> Site:
    """A gazette's lists of issues by year and month; its PDFs come by a form, so there are lists alone."""
    targets = [f"/gazette/{1986 + at // 12}/{at % 12 + 1:02}/" for at in range(264)]
    shell = _frame("Official Gazette", foot="Government printer, Harbour Road", home="/gazette/")

    def month(at: int) -> Answer:
        dice, rows = random.Random(f"gazette {at}"), [("Issue", "Date", "Pages", "Size")]
        for issue in range(dice.randint(0, 4)):
            pages, size = f"{dice.randint(2, 64)}", f"PDF, {dice.randint(90, 900)} KB"
            rows.append((f"No. {at * 5 + issue}", f"{2 + issue * 6}.{at % 12 + 1}.", pages, size))
        form = '<form method="post" action="/download"><input name="issue"><button>Download</button></form>'
        return shell(targets[at][9:16], link("../", "Year") + _table(rows) + (form if rows[1:] else ""))

    pages, years = _each(targets, month), list(dict.fromkeys(target[:14] for target in targets))
    months = listed((f"{at:02}/", name) for at, name in enumerate(MONTHS, 1))
    pages |= {year: partial(shell, year[9:13], months) for year in years}
    pages["/gazette/"] = partial(shell, "Official Gazette", listed((year, year[9:13]) for year in years))
    return _site("a-gazette", pages, "/gazette/")


def poems() -> Site:
    """A collection of quatrains, a page a poem, by poet and by first line, in hand-written HTML."""
    poets = [_name(f"poet {at}") for at in range(22)]
    poems = [[_title(f"poem {at} {line}", 5, 8, "fr") for line in range(4)] for at in range(230)]
    folders = [f"/{_slug(poet).replace('-', '_')}/" for poet in poets]
    targets = [f"{folders[at // 11]}{_slug(poem[0])[:24]}_{at}.html" for at, poem in enumerate(poems)]
    shell = _frame("Quatrains", ("/premiers_vers.html", "Premiers vers"), language="fr")

    def poem(at: int) -> Answer:
        by, text = link("index.html", poets[at // 11]), "<br>".join(poems[at])
        return shell(poems[at][0], f"<h1>{by}</h1><p>{text}</p>{_around(at, targets, '←', '→')}")

    pages = _each(targets, poem)
    firsts = [(target, lines[0]) for target, lines in zip(targets, poems, strict=True)]
    for at, folder in enumerate(folders):
        inside = [(target.removeprefix(folder), text) for target, text in firsts[at * 11 : at * 11 + 11]]
        pages[f"{folder}index.html"] = partial(shell, poets[at], listed(inside))
    pages["/premiers_vers.html"] = partial(shell, "Premiers vers", listed(firsts))
    home = [(f"{folder}index.html", poet) for folder, poet in zip(folders, poets, strict=True)]
    pages["/"] = partial(shell, "Quatrains", listed(home))
    return _site("a-poems", pages)


def guest_book() -> Site:
    """A guest book of 90 pages of greetings that much resemble each other, like the PHP scripts of 2003."""
    targets = ["/gb/guestbook.php", *(f"/gb/guestbook.php?start={at}" for at in range(10, 900, 10))]
    menu = ("/gb/guestbook.php", "Gastenboek")
    shell = _frame("Fanfare Excelsior", menu, home="/index.html", language="nl")

    def greetings(at: int) -> Answer:
        dice, body = random.Random(f"guests {at}"), ""
        for number in range(900 - at * 10, 890 - at * 10, -1):
            own = prose(f"guest {number}", dice.randint(2, 30), "nl")
            text = dice.choice(("Leuke site!", "Groetjes van ons allemaal", "cool", own))
            body += f"<div><b>{number}) {_name(f'guest {number}')}</b><br>{text}</div><hr>"
        return shell("Gastenboek", f"{_pager(at, targets)}{body}{_around(at, targets, '<<', '>>')}")

    home = partial(shell, "Welkom", prose("welkom", 50, "nl"))
    return _site("a-guestbook", _each(targets, greetings) | {"/index.html": home}, "/index.html")


def podcast() -> Site:
    """A podcast of 170 episodes, a sentence of notes each, like WordPress with a player."""
    titles = [_title(f"episode {at}", 1, 5) for at in range(170)]
    episodes = [(f"/episode/{at + 1:03}-{_slug(title)}/", title) for at, title in enumerate(titles)]
    lists = _paged("/", "/page/{}/", 170, 10)
    foot = f"<aside><h3>Recent episodes</h3>{listed(episodes[:-6:-1])}</aside>Subscribe wherever you listen."
    head = '<link rel="alternate" type="application/rss+xml" href="/feed/">'
    shell = _frame("Two Bad Apples", ("/about/", "About"), foot=foot, head=head)

    def notes(at: int) -> str:
        player = f'<audio controls preload="none" src="/media/{at + 1:03}.mp3"></audio>'
        return f"<p>{prose(f'episode {at}', 14)}</p>{player}<p>{at % 50 + 20} min. Rate us!</p>"

    def episode(at: int) -> Answer:
        body = f"<h2>Episode {at + 1}: {titles[at]}</h2>{notes(at)}"
        return shell(titles[at], body + _around(at, [one[0] for one in episodes], "←", "→"))

    def several(at: int) -> Answer:
        chosen = range(169 - at * 10, 159 - at * 10, -1)
        said = "".join(f"<article><h2>{link(*episodes[one])}</h2>{notes(one)}</article>" for one in chosen)
        return shell("Two Bad Apples", f"{said}{_around(at, lists, 'Newer episodes', 'Older episodes')}")

    pages = _each([one[0] for one in episodes], episode) | _each(lists, several)
    pages["/about/"] = partial(shell, "About", prose("apples", 70))
    items = (f"<item><title>{text}</title><link>{at}</link></item>" for at, text in episodes[:-21:-1])
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel>{"".join(items)}</channel></rss>'.encode()
    files = _each([f"/media/{at:03}.mp3" for at in range(1, 171)], _sound)
    files["/feed/"] = partial(Answer, feed, 200, "application/rss+xml")
    return _site("a-podcast", pages, files=files)


def dictionary() -> Site:
    """A dictionary with a page for each word, which says the word and its translation; some have accents."""
    known = vocabulary("dictionary", 430)
    words = sorted({word.replace("ia", "é").replace("oo", "ü").replace("e", "è", 1) for word in known})
    entries = [(f"/en-fk/{quote(word)}", word) for word in words]
    initials = sorted({word[0] for word in words})
    shell = _frame("Wordlist", *((f"/browse/{quote(initial)}", initial) for initial in initials))

    def entry(at: int) -> Answer:
        body = f"<h1>{words[at]}</h1><p>{_title(f'word {words[at]}', 1, 1, 'fk').lower()}</p>"
        return shell(words[at], body + _around(at, [one[0] for one in entries], "«", "»"))

    pages = _each([one[0] for one in entries], entry)
    for initial in initials:
        inside = [one for one in entries if one[1][0] == initial]
        pages[f"/browse/{quote(initial)}"] = partial(shell, initial, listed(inside))
    pages["/"] = partial(shell, "Wordlist", "<p>Choose a letter.</p>")
    return _site("a-dictionary", pages)


def scripture() -> Site:
    """A holy book by book, chapter and verse, the verse in two versions, like Bible Hub."""
    dice = random.Random("a-bible")
    books = [_title(f"book {at}", 1, 1).lower() for at in range(9)]
    shell = _frame("Read the Book", foot="Public domain.")
    pages: Pages = {"/": partial(shell, "Read the Book", listed((f"/{book}/", book) for book in books))}

    def text(book: str, verse: str, version: str = "Old") -> str:
        return prose(f"{book} {verse} {version}", random.Random(f"{book} {verse}").randint(5, 30))

    def one_verse(at: int, book: str, verses: Sequence[str]) -> Answer:
        said = "".join(f"<p><b>{one} Version</b> {text(book, verses[at], one)}</p>" for one in ("Old", "New"))
        up = link("./", book) + link(f"{verses[at].split('-')[0]}.htm", "Chapter")
        nav = _around(at, [f"{verse}.htm" for verse in verses], "◄", "►")
        return shell(f"{book} {verses[at].replace('-', ':')}", f"{up} {nav}{said}")

    def chapter(at: int, book: str, verses: Sequence[str], chapters: Sequence[str]) -> Answer:
        inside = [verse for verse in verses if verse.startswith(f"{at + 1}-")]
        said = (f"{link(f'{verse}.htm', verse.split('-')[1])} {text(book, verse)}" for verse in inside)
        return shell(f"{book} {at + 1}", f"{_around(at, chapters)}<p>{' '.join(said)}</p>")

    for book in books:
        sizes = [dice.randint(6, 26) for _ in range(dice.randint(2, 9))]
        verses = [f"{at}-{verse}" for at, size in enumerate(sizes, 1) for verse in range(1, size + 1)]
        chapters = [f"{at}.htm" for at in range(1, len(sizes) + 1)]
        pages |= _each([f"/{book}/{verse}.htm" for verse in verses], one_verse, book, verses)
        pages |= _each([f"/{book}/{one}" for one in chapters], chapter, book, verses, chapters)
        pages[f"/{book}/"] = partial(shell, book, listed((one, f"Chapter {one[:-4]}") for one in chapters))
    return _site("a-bible", pages)


SITES: tuple[Callable[[], Site], ...] = (
    diary, newspaper, blog, comic, forum, mailing_list, events, weather, chess, genealogy, letters, law,
    minutes, sport, obituaries, wiki, questions, photos, rates, television, gazette, poems, guest_book,
    podcast, dictionary, scripture,
)  # fmt: skip
