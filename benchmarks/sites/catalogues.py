"""Finite sites of things, code, files, places and languages: each page exists, and all are worth having."""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from itertools import combinations, product
from urllib.parse import quote
from zlib import crc32

from benchmarks.sites import MISSING, Answer, Site, link, listed, page, prose, vocabulary

Pages = dict[str, Callable[[], Answer]]
Show = Callable[..., Answer]
Anchors = Sequence[tuple[str, str]]
Tree = dict[str, list[str]]
Named = Callable[[str, int], list[str]]


def _finite(
    name: str, pages: Pages, *, start: str = "/", assets: Iterable[str] = (), also: Pages | None = None
) -> Site:
    """A site of `pages`; `also` answers without being wanted, `assets` are its pictures."""
    known, files = {**(also or {}), **pages}, {"/style.css", *assets}

    def answer(target: str) -> Answer:
        if target in known:
            return known[target]()
        kind = {"css": "text/css", "jpg": "image/jpeg", "gif": "image/gif"}.get(target.rpartition(".")[2], "")
        return Answer(f"{kind} {target}".encode(), media_type=kind) if target in files else MISSING

    return Site(name, frozenset(pages), answer, start)


def _look(brand: str, menu: Anchors, *, aside: Anchors = (), old: bool = False) -> Show:
    """The template of a site: show(title, body) is a page with its header, menu, latest box and footer."""
    bar = " | ".join(link(*one) for one in menu)
    if old:
        head = ""
        top = f'<table width="100%" bgcolor="#ccccee"><tr><td><b>{brand}</b></td><td>{bar}</td></tr></table>'
        foot = f"<hr><address>{brand}, page kept by the webmaster. Last changed 14 March 2004.</address>"
    else:
        head = '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/style.css">'
        logo = f'<a class="logo" href="{menu[0][0]}">{brand}</a>'
        top = f'<header>{logo}<nav class="main-menu">{listed(menu)}</nav></header>'
        box = f'<aside class="widget"><h3>Latest</h3>{listed(aside)}</aside>' if aside else ""
        foot = f"{box}<footer><p>{prose(brand, 30)}</p>{bar}<p>&copy; 2019 {brand}</p></footer>"

    def show(title: str, body: str, extra: str = "", language: str = "en") -> Answer:
        return page(f"{title} - {brand}", body, head=head + extra, top=top, foot=foot, language=language)

    return show


def _names(seed: str, count: int, words: int = 1, language: str = "en") -> list[str]:
    """Different names of some words."""
    dice, known, names = random.Random(f"names {seed}"), vocabulary(language), dict[str, None]()
    while len(names) < count:
        names[" ".join(dice.choice(known) for _ in range(words)).title()] = None
    return list(names)


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def _table(rows: Iterable[Iterable[object]]) -> str:
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _facts(**facts: object) -> str:
    """What a record says, a fact a row."""
    rows = (f"<tr><th>{name.replace('_', ' ')}</th><td>{fact}</td></tr>" for name, fact in facts.items())
    return f'<table class="data">{"".join(rows)}</table>'


def _crumbs(*steps: tuple[str, str]) -> str:
    return f'<div class="breadcrumb">{" &gt; ".join(link(*step) for step in steps)}</div>'


def _around(target: Callable[[int], str], now: int, first: int, last: int) -> str:
    """Links to the neighbours in a row."""
    near = ((now - 1, "Previous"), (now + 1, "Next"))
    return "<p>" + " | ".join(link(target(n), text) for n, text in near if first <= n <= last) + "</p>"


def _paged(
    pages: Pages, base: str, more: str, show: Show, title: str, rows: Sequence[str], per: int, step: int = 0
) -> None:
    """Adds a list in parts of `per` rows at `base` and, for the second and further ones, with `more`."""
    last = max(1, -(-len(rows) // per))

    def target(n: int) -> str:
        return base + more.format(n * step - step if step else n) if n > 1 else base

    def part(now: int) -> Answer:
        near = sorted({1, last, *range(max(1, now - 2), min(last, now + 2) + 1)} - {now})
        turn = " ".join(link(target(n), str(n)) for n in near) + _around(target, now, 1, last)
        items = "".join(f"<li>{row}</li>" for row in rows[(now - 1) * per : now * per])
        return show(
            title + f", page {now}" * (now > 1), f"<h1>{title}</h1><ul>{items}</ul>" + turn * (last > 1)
        )

    pages.update((target(n), partial(part, n)) for n in range(1, last + 1))


def _tree(seed: str, root: str, fans: Sequence[Sequence[int]], named: Named) -> Tree:
    """Targets with their children, per level as many as one of its `fans` says."""
    dice, tree, layer = random.Random(seed), Tree(), [root]
    for fan in (*fans, (0,)):
        for parent in layer:
            tree[parent] = named(parent, dice.choice(fan))
        layer = [child for parent in layer for child in tree[parent]]
    return tree


def _text(words: int, seed: str) -> Answer:
    lines = prose(seed, words).replace(". ", ".\n")
    return Answer(f"{seed}\n\n{lines}\n".encode(), media_type="text/plain; charset=utf-8")


def gallery() -> Site:
    """Albums as Picasa or JAlbum export them: wordless slides, in half of them the same to the byte."""
    albums = [f"{_slug(name)}-{2003 + n}" for n, name in enumerate(_names("albums", 8))]
    size, pages = 48, Pages()

    def slide(album: str, n: int) -> Answer:
        folder = "" if albums.index(album) % 2 else f"/albums/{album}/"
        turn = '<a href="index.html">Index</a>' + _around("img_{:03}.html".format, n, 1, size)
        return page("Photo album", f'{turn}<img src="{folder}img_{n:03}.jpg" width="800" alt="">')

    def album(name: str) -> Answer:
        thumbs = (f'<a href="img_{n:03}.html"><img src="thumb_{n:03}.jpg"></a>' for n in range(1, size + 1))
        return page("Photo album", f'<h1>{name}</h1>{"".join(thumbs)}<p><a href="../../">All albums</a></p>')

    pages["/"] = lambda: page("Photo albums", listed((f"albums/{name}/index.html", name) for name in albums))
    for name in albums:
        pages[f"/albums/{name}/index.html"] = partial(album, name)
        pages.update((f"/albums/{name}/img_{n:03}.html", partial(slide, name, n)) for n in range(1, size + 1))
    every = product(albums, ("img", "thumb"), range(1, size + 1))
    return _finite("c-gallery", pages, assets=(f"/albums/{a}/{kind}_{n:03}.jpg" for a, kind, n in every))


def parts() -> Site:
    """A maker's catalogue of parts: ninety lists of ten bare numbers, each known only from the one before."""
    codes = [f"{n // 100}-{n % 100:02}" for n in random.Random("parts").sample(range(10_000, 99_999), 900)]
    show = _look("Orlan Fittings", [("/", "Home"), ("/catalogue/list01.html", "Catalogue")])
    at = "list{:02}.html".format

    def record(code: str) -> Answer:
        d = random.Random(code)
        facts = _facts(Part=code, Weight=f"{d.randint(2, 900)} g", Pack_of=d.choice((1, 5, 10, 100)))
        return show(f"Part {code}", f"<h1>{code}</h1>{facts}")

    def numbers(n: int) -> Answer:
        rows = ((f"../parts/{code}.html", code) for code in codes[n * 10 - 10 : n * 10])
        more = (f'<link rel="next" href="{at(n + 1)}">', link(at(n + 1), "next")) if n < 90 else ("", "")
        return show("Part numbers", listed(rows) + more[1], more[0])

    pages: Pages = {f"/parts/{code}.html": partial(record, code) for code in codes}
    pages.update((f"/catalogue/{at(n)}", partial(numbers, n)) for n in range(1, 91))
    pages["/"] = lambda: show("Welcome", f"<h1>Fittings since 1931</h1><p>{prose('fittings', 150)}</p>")
    return _finite("c-parts", pages)


def key() -> Site:
    """A dichotomous key for plants as of a hobby botanist: 500 pages of a label and two ways on."""
    labels = _names("key", 500, 2)

    def step(n: int) -> Answer:
        ways = [(f"/key/{m}.html", f"{'ab'[m % 2]}. {labels[m - 1]}") for m in (2 * n, 2 * n + 1) if m <= 500]
        return page(labels[n - 1], f"<b>{labels[n - 1]}</b>{listed(ways)}")

    return _finite("c-tree", {f"/key/{n}.html" if n > 1 else "/": partial(step, n) for n in range(1, 501)})


def javadoc() -> Site:
    """Javadoc of four versions of a library, which say mostly the same."""
    packages, kinds = [_slug(name) for name in _names("packages", 6)], _names("classes", 54)
    since = {kind: (0, 0, 1, 0, 2, 0, 0, 3, 0)[n % 9] for n, kind in enumerate(kinds)}
    home = {kind: f"org/loomware/{packages[n // 9]}/" for n, kind in enumerate(kinds)}
    versions, pages = ("1.0", "1.1", "2.0", "2.1"), Pages()
    tools = {
        "index": "Overview",
        "overview-tree": "Tree",
        "deprecated-list": "Deprecated",
        "index-all": "Index",
    }
    tools |= {"allclasses-index": "All Classes", "help-doc": "Help"}

    def show(v: int, title: str, body: str, up: str = "") -> Answer:
        bar = "".join(f"<li>{link(f'{up}{name}.html', text)}</li>" for name, text in tools.items())
        bar = f'<div class="topNav"><ul class="navList">{bar}</ul>Loomware {versions[v]} API</div>'
        return page(
            f"{title} (Loomware {versions[v]} API)", body, top=bar, foot=f"{bar}<small>&copy; Loom</small>"
        )

    def kind_page(v: int, kind: str) -> Answer:
        d, own = random.Random(f"class {kind}"), [k for k in kinds if since[k] <= v]
        near = [own[n] for n in (own.index(kind) - 1, (own.index(kind) + 1) % len(own))]
        turn = listed((f"../../../{home[k]}{k}.html", k) for k in near)
        body = f"<h2>Class {kind}</h2>{turn}<p>{prose(kind, 40)}</p>"
        for n in range(d.randint(4, 8) + (v > 1)):
            method, other = d.choice(vocabulary("en")), d.choice([k for k in kinds if not since[k]])
            takes = link(f"../../../{home[other]}{other}.html", other)
            body += f'<h4 id="{method}-{n}">{method}</h4><pre>public void {method}({takes} it)</pre>'
            body += f"<p>{prose(method, 16)}</p><p>Since: {versions[since[kind]]}. {link(f'#{method}-{n}', 'Link')}</p>"
        return show(v, kind, f"{link('package-summary.html', 'Package')}{body}", "../../../")

    def package(v: int, name: str) -> Answer:
        own = [(f"{k}.html", k) for k in kinds if since[k] <= v and home[k].endswith(f"/{name}/")]
        body = f"<h1>Package {name}</h1><p>{prose(name, 60)}</p>{listed(own)}"
        return show(v, f"org.loomware.{name}", body, "../../../")

    def tool(v: int, name: str) -> Answer:
        own = [(f"{home[k]}{k}.html", k) for k in kinds if since[k] <= v]
        if name == "index":
            own = [(f"org/loomware/{p}/package-summary.html", f"org.loomware.{p}") for p in packages]
        elif name == "help-doc":
            own = []
        elif name == "deprecated-list":
            own = own[::7]
        return show(v, tools[name], f"<h1>{tools[name]}</h1>{listed(sorted(own))}<p>{prose(name, 50)}</p>")

    for v, version in enumerate(versions):
        pages.update((f"/api/{version}/{name}.html", partial(tool, v, name)) for name in tools)
        at = f"/api/{version}/org/loomware/{{}}/package-summary.html".format
        pages.update((at(name), partial(package, v, name)) for name in packages)
        own = [k for k in kinds if since[k] <= v]
        pages.update((f"/api/{version}/{home[k]}{k}.html", partial(kind_page, v, k)) for k in own)
    pages["/"] = lambda: page("Loomware API", listed((f"api/{v}/index.html", v) for v in versions))
    return _finite("c-javadoc", pages)


def sphinx() -> Site:
    """The documentation of a Python library by Sphinx: modules, their sources twice, an index by letters."""
    modules = [name.lower() for name in _names("modules", 60)]
    calls = {name: [call.lower() for call in _names(name, 4 + n % 7)] for n, name in enumerate(modules)}
    letters = sorted({call[0].upper() for own in calls.values() for call in own})

    def show(title: str, body: str, up: str = "", side: str = "", head: str = "") -> Answer:
        places = (("genindex", "index"), ("py-modindex", "modules"), ("index", "Loom 3.2 documentation"))
        bar = listed((f"{up}{name}.html", text) for name, text in places)
        bar = f'<div class="related"><h3>Navigation</h3>{bar}</div>'
        side = f'<div class="sphinxsidebar">{side}{link(f"{up}search.html", "Search Page")}</div>'
        foot = f'{side}{bar}<div class="footer">Created using <a href="{up}about.html">Sphinx</a></div>'
        return page(f"{title} - Loom 3.2 documentation", body, head=head, top=bar, foot=foot)

    def module(n: int) -> Answer:
        name, at = modules[n], "library/{}.html".format
        body = f'<h1>{name}<a class="headerlink" href="#{name}">P</a></h1><p>{prose(name, 70)}</p>'
        for call in calls[name]:
            code = link(f"../_modules/{name}.html#{call}", "[source]")
            body += f'<dl><dt id="{name}.{call}">{name}.{call}() {code}</dt><dd>{prose(call, 25)}</dd></dl>'
        more = f'<link rel="next" href="../{at(modules[n + 1])}">' if n + 1 < len(modules) else ""
        side = _around(lambda m: f"../{at(modules[m])}", n, 0, len(modules) - 1)
        side += link(f"../_sources/library/{name}.rst.txt", "Show Source")
        return show(name, body, "../", side, more)

    def code(name: str) -> Answer:
        lines = (f'<span id="{call}">def {call}():</span>\n    return {len(call)}' for call in calls[name])
        body = f"<h1>Source code for {name}</h1><pre>{'<br>'.join(lines)}</pre>"
        return show(name, body, "../", link("index.html", "Up"))

    def terms(letter: str) -> Answer:
        every = sorted(
            (call, name) for name, own in calls.items() for call in own if call[0].upper() in letter
        )
        spots = (
            (f"library/{name}.html#{name}.{call}", f"{call}() (in module {name})") for call, name in every
        )
        return show("Index", f"<h1>Index - {letter[:1]}</h1>{listed(spots)}")

    pages: Pages = {f"/library/{name}.html": partial(module, n) for n, name in enumerate(modules)}
    for name in modules:
        pages[f"/_modules/{name}.html"] = partial(code, name)
        pages[f"/_sources/library/{name}.rst.txt"] = partial(_text, 70, name)
    pages.update((f"/genindex-{letter}.html", partial(terms, letter)) for letter in letters)
    by_letter = [(f"genindex-{x}.html", x) for x in letters]
    links: list[tuple[str, str, Anchors]] = [
        ("index", "Loom", [(f"library/{name}.html", name) for name in modules]),
        ("genindex", "Index", [*by_letter, ("genindex-all.html", "Full index on one page")]),
        ("py-modindex", "Module Index", [(f"library/{name}.html#module-{name}", name) for name in modules]),
        ("_modules/index", "Overview: module code", [(f"{name}.html", name) for name in modules]),
        ("about", "About these documents", [("_modules/index.html", "Module code")]),
        ("search", "Search", []),
    ]
    for place, title, spots in links:
        body = f"<h1>{title}</h1>{listed(spots)}<p>{prose(title, 40)}</p>"
        pages[f"/{place}.html"] = partial(show, title, body, "../" * place.count("/"))
    pages["/genindex-all.html"] = partial(terms, "".join(letters))
    return _finite("c-sphinx", pages, start="/index.html", also={"/": pages["/index.html"]})


def autoindex() -> Site:
    """Folders of text files under Apache's mod_autoindex; a listing's sorted forms answer but are not wanted."""

    def named(folder: str, count: int) -> list[str]:
        return [f"{folder}{_slug(name)}/" for name in _names(folder, count)]

    dice, entries = random.Random("files"), dict[str, list[tuple[str, str, int, str]]]()
    tree = _tree("folders", "/", ((5,), (2, 3, 4), (0, 1, 2, 3)), named)
    pages, also = Pages(), Pages()

    def listing(folder: str, by: str, order: str) -> Answer:
        column = "NMSD".index(by)
        rows = sorted(sorted(entries[folder]), key=lambda one: one[column], reverse=order == "D")
        heads = zip("NMSD", ("Name", "Last modified", "Size", "Description"), strict=True)
        flip = {(by, "A"): "D"}
        body = " ".join(link(f"?C={c};O={flip.get((c, order), 'A')}", text) for c, text in heads) + "<hr>"
        if folder != "/":
            body += link(folder[: folder.rindex("/", 0, -1) + 1], "Parent Directory") + "  -\n"
        for name, date, size, _ in rows:
            icon = "folder" if name.endswith("/") else "text"
            body += f'<img src="/icons/{icon}.gif" alt="[ ]"> {link(name)}  {date}  {size or "-"}\n'
        title = f"Index of {folder}"
        return page(title, f"<h1>{title}</h1><pre>{body}<hr></pre>", foot="Apache/2.4.41 (Unix)")

    for folder, inner in tree.items():
        ends = (".txt", ".txt", ".log", ".md", "")
        files = [_slug(name) + dice.choice(ends) for name in _names(folder + "*", 9)]
        rows = [(child[len(folder) :], 0) for child in inner]
        rows += [(name, dice.randint(40, 250)) for name in ("README", *files[: dice.randint(3, 9)])]
        entries[folder] = [(n, f"20{dice.randint(10, 22)}-05-{dice.randint(10, 30)}", s, "") for n, s in rows]
        pages[folder] = partial(listing, folder, "N", "A")
        pages.update((folder + name, partial(_text, size, folder + name)) for name, size in rows if size)
        for c, o in product("NMSD", "AD"):
            also[f"{folder}?C={c};O={o}"] = partial(listing, folder, c, o)
    return _finite("c-autoindex", pages, also=also, assets=("/icons/folder.gif", "/icons/text.gif"))


_LATIN = [ord(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
_ARABIC = dict(zip(_LATIN, (*range(0x627, 0x63B), *range(0x641, 0x647)), strict=True))


def _written(text: str, language: str) -> str:
    """Text in the script of its language."""
    if language == "zh":
        signs = ((chr(0x4E00 + crc32(w[:3].lower().encode()) % 3000), w[-1] == ".") for w in text.split())
        return "".join(sign + "。" * stop for sign, stop in signs)
    return text.lower().translate(_ARABIC) if language == "ar" else text


def languages() -> Site:
    """A company's site that is really translated, as Drupal serves it: en, de, zh, ar side by side."""
    tongues = {"en": "English", "de": "Deutsch", "zh": "Chinese", "ar": "Arabic"}
    titles = {tongue: _names("topics", 60, 2, tongue) for tongue in tongues}
    at = {(t, n): f"/{t}/{_slug(titles[t][n]) if n else ''}" for t in tongues for n in range(60)}

    def article(tongue: str, n: int) -> Answer:
        title = [_written(name, tongue) for name in titles[tongue]]
        menu = [(at[tongue, m], title[m]) for m in range(6)]
        menu += [(at[t, n], name) for t, name in tongues.items()]
        spots = [(at[tongue, m], title[m]) for m in ((n * 7 + k) % 60 for k in range(1, 9))]
        text = "".join(f"<p>{_written(prose(f'{tongue} {n} {k}', 60, tongue), tongue)}</p>" for k in range(3))
        side = "rtl" if tongue == "ar" else "ltr"
        body = f'<h1>{title[n]}</h1><div dir="{side}">{text}</div>{listed(spots)}'
        return page(title[n], body, top=listed(menu), foot=f"<p>Norvant {title[2]}</p>", language=tongue)

    pages: Pages = {target: partial(article, *which) for which, target in at.items()}
    pages["/"] = lambda: page("Norvant", listed((f"/{t}/", name) for t, name in tongues.items()))
    return _finite("c-languages", pages)


def shop() -> Site:
    """A Magento shop: twenty categories in pages of 24 and 2,000 products with related ones."""
    names, shelves = _names("products", 2_000, 2), _names("shelves", 20)
    at, pages = [f"/{_slug(name)}.html" for name in names], Pages()
    menu = [(f"/{_slug(shelf)}-shop.html", shelf) for shelf in shelves]
    bar = [("/", "Home"), *menu, ("/about-us", "About us"), ("/shipping", "Shipping")]
    show = _look("Vellmart", bar, aside=[(at[7], names[7])])

    def item(n: int) -> Answer:
        d, shelf = random.Random(f"product {n}"), n // 100
        more = listed((at[m], names[m]) for m in d.sample(range(shelf * 100, shelf * 100 + 100), 4))
        facts = _facts(SKU=f"VM{d.randint(10_000, 99_999)}", Price=f"EUR {n % 290 + 3}.95")
        body = f"{_crumbs(('/', 'Home'), menu[shelf])}<h1>{names[n]}</h1>{facts}<p>{prose(names[n], 55)}</p>"
        return show(names[n], f"{body}<h2>Related products</h2>{more}<p>Be the first to review this</p>")

    for k, (target, shelf) in enumerate(menu):
        rows = [f"{link(at[n], names[n])} EUR {n % 290 + 3}.95" for n in range(k * 100, k * 100 + 100)]
        _paged(pages, target, "?p={}", show, shelf, rows, 24)
    pages.update((target, partial(item, n)) for n, target in enumerate(at))
    for name in ("about-us", "shipping"):
        pages[f"/{name}"] = partial(show, name, f"<h1>{name}</h1><p>{prose(name, 120)}</p>")
    pages["/"] = lambda: show("Home", listed(menu) + listed((at[n], names[n]) for n in range(5, 2_000, 190)))
    return _finite("c-shop", pages)


def items() -> Site:
    """A small trader's PHP shop: item.php?id=N with next to nothing on it."""
    show = _look("Trankel Surplus", [("/", "Home"), ("list.php?cat=1", "Stock")], old=True)
    shelves, pages = list(enumerate(_names("stock", 12), 1)), Pages()
    ids = sorted(random.Random("items").sample(range(100, 2_000), 336))

    def item(n: int) -> Answer:
        facts = f"Price {n % 37 + 1}.50. {'In' if n % 5 else 'Not in'} stock."
        back = link(f"list.php?cat={n % 12 + 1}", "Back")
        return show(f"Item {n}", f"<b>Item {n}</b><br>{facts}<br>{back}")

    for cat, shelf in shelves:
        rows = [link(f"item.php?id={n}", f"Item {n}") for n in ids if n % 12 + 1 == cat]
        _paged(pages, f"/list.php?cat={cat}", "&page={}", show, shelf, rows, 10)
    pages.update((f"/item.php?id={n}", partial(item, n)) for n in ids)
    pages["/"] = lambda: show("Stock", listed((f"list.php?cat={cat}", shelf) for cat, shelf in shelves))
    return _finite("c-items", pages)


_ACCESSION = ((1860, 1990), (1, 60), (1, 99))


def museum() -> Site:
    """A museum's collection online: objects by accession number, departments in pages, makers."""
    dice, pages = random.Random("museum"), Pages()
    numbers = sorted({".".join(str(dice.randint(*r)) for r in _ACCESSION) for _ in range(380)})
    rooms, makers = _names("rooms", 7), _names("makers", 40, 2)
    at = {room: f"/collection/department/{_slug(room)}" for room in rooms}
    show = _look("Tarn Museum", [("/", "Collection"), *((at[room], room) for room in rooms)])
    owner = {number: random.Random(number).choice(makers) for number in numbers}

    def thing(number: str) -> Answer:
        d, maker = random.Random(number), link(f"/collection/maker/{_slug(owner[number])}", owner[number])
        stuff = d.choice(("silver", "oak", "earthenware", "linen", "brass", "paper"))
        facts = _facts(Accession=number, Maker=maker, Material=stuff, Height=f"{d.randint(10, 900)} mm")
        note = prose(number, 40) if d.random() < 0.3 else "No image available. Not on display."
        name = f"{stuff} {d.choice(('bowl', 'seal', 'panel', 'box'))}"
        return show(f"{name} {number}", f"<h1>{name}</h1>{facts}<p>{note}</p>")

    for k, room in enumerate(rooms):
        rows = [link(f"/collection/object/{n}", n) for n in numbers[k::7]]
        _paged(pages, at[room], "?page={}", show, room, rows, 15)
    for maker in set(owner.values()):
        own = listed((f"/collection/object/{n}", n) for n in numbers if owner[n] == maker)
        pages[f"/collection/maker/{_slug(maker)}"] = partial(show, maker, f"<h1>{maker}</h1>{own}")
    pages.update((f"/collection/object/{number}", partial(thing, number)) for number in numbers)
    pages["/"] = lambda: show("Collection online", f"<p>{prose('museum', 90)}</p>")
    return _finite("c-museum", pages)


def library() -> Site:
    """A Koha library catalogue: records, and searches for subjects and authors as their links give them."""
    base, dice, pages = "/cgi-bin/koha/opac-", random.Random("koha"), Pages()
    subjects, authors, titles = _names("subjects", 18), _names("authors", 60, 2), _names("books", 260, 4)
    books = [(dice.sample(subjects, 2), dice.choice(authors)) for _ in titles]
    show = _look("Brenn Town Library", [("/", "Catalogue"), (f"{base}topissues.pl", "Most popular")])

    def find(index: str, term: str) -> str:
        return f"{base}search.pl?q={index}:{quote(term)}"

    def book(n: int) -> Answer:
        d, (about, author) = random.Random(titles[n]), books[n]
        topics = " | ".join(link(find("su", subject), subject) for subject in about)
        facts = _facts(By=link(find("au", author), author), Subjects=topics, Year=d.randint(1920, 2015))
        copies = _table([("Main library", f"{d.uniform(100, 999):.2f}", "Available", f"3910{n:06}")])
        return show(titles[n], f"<h1>{titles[n]}</h1>{facts}<h3>Holdings</h3>{copies}")

    every = [link(f"{base}detail.pl?biblionumber={n * 3 + 11}", title) for n, title in enumerate(titles)]
    for index, terms in (("su", subjects), ("au", sorted({author for _, author in books}))):
        for term in terms:
            rows = [every[n] for n, (about, author) in enumerate(books) if term in (*about, author)]
            at, title = find(index, term), f"Results of search for '{index}:{term}'"
            _paged(pages, at, "&offset={}", show, title, rows, 20, 20)
    pages.update((f"{base}detail.pl?biblionumber={n * 3 + 11}", partial(book, n)) for n in range(len(titles)))
    pages[f"{base}topissues.pl"] = partial(show, "Most popular", "<br>".join(every[::26]))
    pages["/"] = lambda: show("Catalogue", listed((find("su", term), term) for term in subjects))
    return _finite("c-library", pages)


def stars() -> Site:
    """A star catalogue like Hipparcos on an observatory's server: numbers and nothing else."""
    numbers = sorted(random.Random("stars").sample(range(1, 118_218), 390))

    def star(n: int) -> Answer:
        d = random.Random(n)
        spans = ((0, 360), (-90, 90), (2, 12), (0, 40), (-1, 1))
        return page(f"{n}", _table([(n, *(f"{d.uniform(*span):.4f}" for span in spans))]))

    def zone(k: int) -> Answer:
        own = numbers[k * 26 : k * 26 + 26]
        return page(f"Zone {k}", listed((f"../star/{n:06}", f"{n:06}") for n in own))

    pages: Pages = {f"/star/{n:06}": partial(star, n) for n in numbers}
    pages.update((f"/zone/{k}", partial(zone, k)) for k in range(15))
    pages["/"] = lambda: page("Catalogue", listed((f"zone/{k}", f"Zone {k}") for k in range(15)))
    return _finite("c-stars", pages)


def places() -> Site:
    """A directory of postcodes: country, region, district, village, and for a village four lines."""

    def named(place: str, count: int) -> list[str]:
        return [f"{place}{_slug(name)}/" for name in _names(place, count)]

    tree = _tree("places", "/", ((3,), (4, 5, 6), (3, 4, 5), (3, 4, 5, 6)), named)
    show = _look("Postcode Finder", [("/", "All countries")])
    parents = {child: parent for parent, inner in tree.items() for child in inner}

    def place(target: str) -> Answer:
        name, steps = target.strip("/").rpartition("/")[2].title() or "Countries", [target]
        while steps[0] != "/":
            steps.insert(0, parents[steps[0]])
        body = (
            _crumbs(*((step, step.split("/")[-2].title() or "Home") for step in steps)) + f"<h1>{name}</h1>"
        )
        if tree[target]:
            inner = ((child[len(target) :], child.split("/")[-2].title()) for child in tree[target])
            return show(name, body + listed(inner))
        d, near = random.Random(target), [child for child in tree[parents[target]] if child != target]
        body += _facts(Postcode=d.randint(10_000, 99_999), Latitude=f"{d.uniform(40, 60):.4f}")
        return show(f"Postcode of {name}", body + listed((x, x.split("/")[-2]) for x in near))

    return _finite("c-places", {target: partial(place, target) for target in tree})


def buses() -> Site:
    """The timetables of a town's buses: a page of times for each stop of each line, and a page for each stop."""
    dice, halts = random.Random("buses"), _names("halts", 70, 2)
    lines = {number: dice.sample(halts, 12) for number in (1, 2, 3, 4, 5, 7, 10, 11, 14, 20, 21, 50, 51, 90)}
    used = [halt for halt in halts if any(halt in stops for stops in lines.values())]
    show = _look("Town Bus", [("/", "Lines"), ("/stops", "Stops"), ("/fares", "Fares")])

    def times(number: int, halt: str) -> Answer:
        d, kind = random.Random(f"{number} {halt}"), ("Monday to Friday", "Saturday", "Sunday")
        gap = (10, 12, 15, 20)[number % 4]
        shift = d.randrange(gap)
        both = ""
        for k, name in enumerate(kind, 1):
            rows = ((h, *(f"{m:02}" for m in range(shift, 60, gap * k))) for h in range(4 + k, 24))
            both += f"<h2>{name}</h2>{_table(rows)}"
        near = [link(f"/stop/{_slug(halt)}", "All lines here"), link(f"/line/{number}", f"Line {number}")]
        return show(f"Line {number}, {halt}", f"<h1>{number} {halt}</h1>{both}{' '.join(near)}")

    pages = Pages()
    for number, stops in lines.items():
        pages.update((f"/line/{number}/{_slug(halt)}", partial(times, number, halt)) for halt in stops)
        table = listed((f"/line/{number}/{_slug(halt)}", halt) for halt in stops)
        pages[f"/line/{number}"] = partial(show, f"Line {number}", f"<h1>Line {number}</h1>{table}")
    for halt in used:
        here = listed(
            (f"/line/{k}/{_slug(halt)}", f"Line {k}") for k, stops in lines.items() if halt in stops
        )
        pages[f"/stop/{_slug(halt)}"] = partial(show, halt, f"<h1>{halt}</h1>{here}")
    pages["/stops"] = lambda: show("Stops", listed((f"/stop/{_slug(halt)}", halt) for halt in used))
    pages["/fares"] = lambda: show("Fares", _table((f"Zone {k}", f"{k}.80") for k in range(1, 7)))
    pages["/"] = lambda: show("Lines", listed((f"line/{number}", f"Line {number}") for number in lines))
    return _finite("c-buses", pages)


def recipes() -> Site:
    """A food blog on WordPress: recipes, and the same recipes again by page, category and tag."""
    dice, titles, pages = random.Random("recipes"), _names("dishes", 180, 3), Pages()
    groups, tags, foods = _names("courses", 8), _names("tags", 20), _names("foods", 90)
    filed = [(dice.choice(groups), dice.sample(tags, 2)) for _ in titles]
    at = [f"/{2012 + n // 36}/{n % 12 + 1:02}/{_slug(title)}/" for n, title in enumerate(titles)]
    menu = [("/", "Home"), *((f"/category/{_slug(x)}/", x) for x in groups), ("/about/", "About me")]
    show = _look("Spoon and Sage", menu, aside=list(zip(at[:5], titles[:5], strict=True)))

    def dish(n: int) -> Answer:
        d, (group, own) = random.Random(titles[n]), filed[n]
        needs = "".join(f"<li>{d.randint(1, 9) * 50} g {food}</li>" for food in d.sample(foods, 7))
        links = listed([(f"/category/{_slug(group)}/", group), *((f"/tag/{_slug(t)}/", t) for t in own)])
        body = f"<h1>{titles[n]}</h1><p>{prose(titles[n], 50)}</p><h2>Ingredients</h2><ul>{needs}</ul>"
        body += f"<p>{prose(at[n], 90)}</p><p>Filed under {links}</p>{_around(at.__getitem__, n, 0, 179)}"
        return show(titles[n], body)

    rows = [f"<h2>{link(at[n], title)}</h2>{prose(title, 40)}" for n, title in enumerate(titles)]
    lists = [("/", "Spoon and Sage", rows)]
    for kind, own in (("category", groups), ("tag", tags)):
        for name in own:
            some = [row for row, (group, labels) in zip(rows, filed, strict=True) if name in (group, *labels)]
            lists.append((f"/{kind}/{_slug(name)}/", name, some))
    for base, title, some in lists:
        _paged(pages, base, "page/{}/", show, title, some, 10)
    pages.update((target, partial(dish, n)) for n, target in enumerate(at))
    pages["/about/"] = partial(show, "About me", f"<h1>About me</h1><p>{prose('cook', 180)}</p>")
    return _finite("c-recipes", pages)


def stamps() -> Site:
    """A collectors' catalogue of stamps like Colnect: countries, years, and stamps that differ by their value."""
    lands, pages, dice = list(enumerate(_names("lands", 9), 1)), Pages(), random.Random("stamps")
    show = _look("Stampdex", [("/", "Countries"), ("/help", "Help")])

    def stamp(n: int, land: str, year: int, series: str, value: int) -> Answer:
        facts = _facts(Country=land, Series=series, Issued=year, Face_value=f"{value} c", Perforation=13)
        return show(f"Stamp: {series} {value} c", f'<h1>{series}</h1><img src="/img/{n}.jpg">{facts}')

    count = 0
    for k, land in lands:
        base, years = f"/stamps/list/country/{k}-{land}", dict[int, list[str]]()
        for year in sorted(dice.sample(range(1900, 1990), 5)):
            series = _names(f"{land} {year}", 1, 2)[0]
            for value in dice.sample((1, 2, 3, 5, 8, 10, 15, 20, 25, 30, 50, 80), dice.randint(4, 10)):
                count += 1
                target = f"/stamps/stamp/{count}-{series.replace(' ', '_')}-{land}"
                pages[target] = partial(stamp, count, land, year, series, value)
                years.setdefault(year, []).append(link(target, f"{series} {value} c"))
        for year, own in years.items():
            _paged(pages, f"{base}/year/{year}", "/page/{}", show, f"{land} {year}", own, 6)
        spots = listed((f"{base}/year/{year}", str(year)) for year in years)
        pages[base] = partial(show, land, f"<h1>{land}</h1>{spots}")
    spots = listed((f"/stamps/list/country/{k}-{land}", land) for k, land in lands)
    pages["/"] = partial(show, "Countries", spots)
    pages["/help"] = lambda: show("Help", f"<p>{prose('stamps', 200)}</p>")
    return _finite("c-stamps", pages, assets=(f"/img/{n}.jpg" for n in range(1, count + 1)))


def species() -> Site:
    """A taxonomy like that of Wikispecies or the Tree of Life, seven ranks deep and mostly bare names."""
    ranks = ("Life", "Kingdom", "Phylum", "Class", "Order", "Family", "Genus", "Species")

    def named(taxon: str, count: int) -> list[str]:
        base = taxon.rstrip("/")
        end = ("ia", "ota", "ea", "ales", "idae", "us", "a", "")[base.count("/")]
        return [f"{base}/{name}{end}" for name in _names(taxon, count)]

    tree = _tree("taxa", "/", ((3,), (2, 3), (1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 1, 2, 3)), named)
    show = _look("Species Directory", [("/", "Life")])

    def taxon(target: str) -> Answer:
        steps = [step for step in target.split("/") if step]
        over = (("/" + "/".join(steps[: n + 1]), step) for n, step in enumerate(steps))
        way = _crumbs(("/", "Life"), *over)
        name, rank = steps[-1] if steps else "Life", ranks[len(steps)]
        inner = listed((child, child.rpartition("/")[2]) for child in tree[target])
        text = f"<p>{prose(target, 30)}</p>" if len(steps) == 7 and crc32(target.encode()) % 3 else ""
        return show(f"{name} ({rank})", f"{way}<h1>{rank}: <i>{name}</i></h1>{text}{inner}")

    return _finite("c-species", {target: partial(taxon, target) for target in tree})


def companies() -> Site:
    """A register of companies: records with the same words throughout, and their officers."""
    dice, pages, names = random.Random("firms"), Pages(), sorted(_names("firms", 150, 2))
    numbers = [f"{n:08}" for n in dice.sample(range(1_000_000, 9_999_999), len(names))]
    menu = [("/", "Register"), ("/guidance", "Guidance")]
    show = _look("Register of Companies", menu)

    def firm(n: int) -> Answer:
        d, base = random.Random(numbers[n]), f"/company/{numbers[n]}"
        state = "Dissolved" if d.random() < 0.4 else "Active"
        facts = _facts(Company_number=numbers[n], Status=state, Type="Private limited company")
        facts += (
            f"Incorporated on {d.randint(1, 28)} May {d.randint(1970, 2015)}. SIC: {d.randint(10, 98)}990"
        )
        tabs = listed(((base, "Overview"), (f"{base}/officers", "People")))
        return show(f"{names[n]} Limited", f"<h1>{names[n].upper()} LIMITED</h1>{tabs}{facts}")

    def people(n: int) -> Answer:
        rows = [(name, "Director", "Appointed") for name in _names(numbers[n], 1 + n % 3, 2)]
        body = _table(rows) + link(f"/company/{numbers[n]}", "Overview")
        return show(f"{names[n]} Limited people", f"<h1>{names[n].upper()} LIMITED</h1>{body}")

    for n, number in enumerate(numbers):
        pages[f"/company/{number}"] = partial(firm, n)
        pages[f"/company/{number}/officers"] = partial(people, n)
    letters = sorted({name[0] for name in names})
    for letter in letters:
        rows = [link(f"/company/{numbers[n]}", f"{x} Limited") for n, x in enumerate(names) if x[0] == letter]
        _paged(pages, f"/register/{letter}", "?page={}", show, letter, rows, 8)
    pages["/"] = lambda: show("Register", listed((f"/register/{letter}", letter) for letter in letters))
    pages["/guidance"] = lambda: show("Guidance", f"<p>{prose('guidance', 250)}</p>")
    return _finite("c-companies", pages)


def patents() -> Site:
    """A patent server: abstracts that cite each other, and lists by class."""
    dice, pages, titles = random.Random("patents"), Pages(), _names("patents", 240, 5)
    ids = [f"US{n}A" for n in sorted(dice.sample(range(3_900_000, 5_900_000), len(titles)))]
    classes = [f"{a}{b:02}{c}" for a, b, c in product("ABG", (1, 21, 43, 61), "BFK")]
    show = _look("Patent Search", [("/", "Classes")], old=True)

    def patent(n: int) -> Answer:
        d, kind = random.Random(ids[n]), classes[n % len(classes)]
        cited = listed((f"/patent/{one}/en", one) for one in d.sample(ids[:n], min(n, d.randint(0, 6))))
        by = _names(ids[n], 1, 2)[0]
        facts = _facts(Publication=ids[n], Class=link(f"/class/{kind}", kind), Inventor=by)
        said = (prose(f"{ids[n]} {k}", 20) for k in range(5))
        claims = "".join(
            f"<li>The device of claim {k}, wherein {text}</li>" for k, text in enumerate(said, 1)
        )
        body = f"<h1>{titles[n]}</h1>{facts}<p>{prose(ids[n], 90)}</p><ol>{claims}</ol>"
        return show(f"{ids[n]} - {titles[n]}", f"{body}<h2>Citations ({cited.count('<li>')})</h2>{cited}")

    for k, kind in enumerate(classes):
        step = len(classes)
        some = zip(ids[k::step], titles[k::step], strict=True)
        own = listed((f"../patent/{one}/en", f"{one} {title}") for one, title in some)
        pages[f"/class/{kind}"] = partial(show, f"Class {kind}", f"<h1>{kind}</h1>{own}")
    pages.update((f"/patent/{one}/en", partial(patent, n)) for n, one in enumerate(ids))
    pages["/"] = lambda: show("Classes", listed((f"class/{kind}", kind) for kind in classes))
    return _finite("c-patents", pages)


def houses() -> Site:
    """An estate agents' portal: towns in pages of ten, houses in the same phrases, some of them gone."""
    dice, pages, towns = random.Random("houses"), Pages(), _names("towns", 12)
    ids = sorted(dice.sample(range(31_000_000, 59_000_000), 300))
    show = _look("Hearthmove", [("/", "For sale"), *((f"/for-sale/{_slug(town)}/", town) for town in towns)])
    phrases = "Well presented. Close to shops. Gas central heating. No onward chain. Viewing advised".split(
        ". "
    )

    def house(n: int) -> Answer:
        d, town = random.Random(n), towns[ids.index(n) % 12]
        title = f"{d.randint(1, 5)} bedroom {d.choice(('house', 'flat', 'cottage'))} for sale in {town}"
        body = f"Guide price {d.randint(90, 900)},000. {'. '.join(d.sample(phrases, 3))}. Ref. {n}"
        if d.random() < 0.2:
            body = f"Property {n} is no longer available."
        more = link(f"/for-sale/{_slug(town)}/", f"More in {town}")
        return show(title, f"<h1>{title}</h1><p>{body}</p>{more}")

    for k, town in enumerate(towns):
        rows = [link(f"/for-sale/details/{n}/", f"House in {town}, ref. {n}") for n in ids[k::12]]
        _paged(pages, f"/for-sale/{_slug(town)}/", "?pn={}", show, town, rows, 10)
    pages.update((f"/for-sale/details/{n}/", partial(house, n)) for n in ids)
    pages["/"] = lambda: show("Homes for sale", f"<p>{prose('hearth', 60)}</p>")
    return _finite("c-houses", pages)


def standard() -> Site:
    """A standard published clause by clause, 1 to 1.2.3.4; many clauses are a heading, some reserved."""

    def named(clause: str, count: int) -> list[str]:
        return [f"{clause}.{n}" if clause != "/" else f"/clause/{n}" for n in range(1, count + 1)]

    tree = _tree("clauses", "/", ((9,), (2, 3, 4, 5), (0, 2, 3), (0, 0, 3, 4)), named)
    order = sorted(tree, key=lambda one: [int(n) for n in one[8:].split(".") if n])
    show = _look("Standard 7731-2", [("/", "Contents")])

    def clause(n: int) -> Answer:
        number, d = order[n][8:], random.Random(order[n])
        title = f"{number} {_names(number, 1, 2)[0]}" if number else "Contents"
        said = d.choice((prose(number, 60), prose(number, 25), "(reserved)", "Intentionally left blank."))
        inner = listed((x, x[8:]) for x in tree[order[n]]) if tree[order[n]] else f"<p>{said}</p>"
        turn = _around(order.__getitem__, n, 0, len(order) - 1)
        return show(title, f"<h1>{title}</h1>{inner}{turn}")

    return _finite("c-standard", {target: partial(clause, n) for n, target in enumerate(order)})


def repository() -> Site:
    """One revision of a repository in a browser like GitHub's: folders and files with numbered lines."""
    base = "/loomware/loom/{}/4f2a9c17be03d5568e1a2b97cc04f1d2ab30e995"

    def named(folder: str, count: int) -> list[str]:
        return [f"{folder}/{_slug(name)}" for name in _names(folder, count)]

    tree, pages, home = _tree("code", "", ((5,), (2, 3, 4), (0, 1, 2, 3)), named), Pages(), "/loomware/loom"
    show = _look("loomware/loom", [(home, "Code"), (f"{home}/license", "License")])

    def above(path: str) -> str:
        return base.format("tree") + path.rpartition("/")[0] if path.count("/") > 1 else home

    def browse(folder: str, files: list[str]) -> Answer:
        rows = [(base.format("tree") + child, child.rpartition("/")[2]) for child in tree[folder]]
        rows += [(base.format("blob") + f"{folder}/{name}", name) for name in files]
        rows += [(above(folder), "..")] * bool(folder)
        about = "" if folder else f"<article><h1>Loom</h1><p>{prose('read me', 120)}</p></article>"
        return show(f"loom{folder} at 4f2a9c1", f"<h3>loom{folder}</h3>{listed(rows)}{about}")

    def blob(path: str) -> Answer:
        d, known, lines = random.Random(path), vocabulary("en", 400), []
        for n in range(1, d.randint(6, 40)):
            code = f"{' ' * d.choice((0, 4, 4, 8))}{d.choice(known)} = {d.choice(known)}({d.randint(0, 99)})"
            lines.append(f'<td id="L{n}"><a href="#L{n}">{n}</a></td><td><code>{code}</code></td>')
        body = f"<b>{len(lines)} lines</b><table><tr>{'</tr><tr>'.join(lines)}</tr></table>"
        return show(f"loom{path} at 4f2a9c1", _crumbs((home, "loom"), (above(path), "folder")) + body)

    for n, folder in enumerate(tree):
        stems = (_slug(name) for name in _names(folder + "*", 3 + n % 6))
        files = [stem + (".py", ".c", ".h", ".md")[k % 4] for k, stem in enumerate(stems)]
        files += ["__init__.py"] * bool(n)
        pages[base.format("tree") + folder if folder else home] = partial(browse, folder, files)
        for name in files:
            pages[base.format("blob") + f"{folder}/{name}"] = partial(blob, f"{folder}/{name}")
    pages[f"{home}/license"] = lambda: show("License", f"<pre>{prose('license', 400)}</pre>")
    return _finite("c-repository", pages, start=home)


def memos() -> Site:
    """Texts like the RFCs, as HTML with page breaks and as plain text, which obsolete and cite each other."""
    titles = _names("memos", 120, 4)

    def memo(n: int) -> Answer:
        d, text = random.Random(f"memo {n}"), ""
        others = d.sample(range(1, n), min(n - 1, d.randint(0, 5)))
        old = " ".join(link(f"rfc{m}", f"RFC {m}") for m in others)
        for k in range(1, d.randint(3, 6)):
            breaks = f"Author  Informational  [Page {k}]\n<hr>RFC {n}  {titles[n - 1]}  May 1989\n"
            text += f'<a href="#s-{k}" id="s-{k}">{k}</a>. {prose(f"memo {n} {k}", 80)}\n\n{breaks}'
        way = f"[{link('/', 'Docs')}] [{link(f'/rfc/rfc{n}.txt', 'txt')}] Obsoletes: {old}"
        return page(f"RFC {n} - {titles[n - 1]}", f"<pre>{way}\n\nRequest for Comments: {n}\n\n{text}</pre>")

    def index(k: int) -> Answer:
        rows = _table((link(f"/html/rfc{n}", f"{n:04}"), titles[n - 1]) for n in range(k, k + 30))
        others = listed((f"/rfc-index-{m}", f"{m} to {m + 29}") for m in range(1, 120, 30))
        return page("RFC index", rows + others)

    pages: Pages = {f"/html/rfc{n}": partial(memo, n) for n in range(1, 121)}
    pages.update((f"/rfc/rfc{n}.txt", partial(_text, 250, f"RFC {n} {titles[n - 1]}")) for n in range(1, 121))
    pages.update((f"/rfc-index-{k}", partial(index, k)) for k in range(1, 120, 30))
    pages["/"] = lambda: page("RFCs", listed((f"rfc-index-{k}", f"from {k}") for k in range(1, 120, 30)))
    return _finite("c-memos", pages)


def crosswords() -> Site:
    """A newspaper's crosswords by number: a grid and its clues, archives in pages."""
    series, pages = {"cryptic": 28_001, "quick": 14_501}, Pages()
    menu = [("/", "Crosswords"), *((f"/crosswords/series/{kind}", kind.title()) for kind in series)]
    show = _look("Evening Courier", menu)

    def puzzle(kind: str, n: int) -> Answer:
        d, known = random.Random(f"{kind} {n}"), vocabulary("en")
        grid = _table(("" if d.random() < 0.7 else "#" for _ in range(13)) for _ in range(13))
        clues = "".join(f"<li>{' '.join(d.choices(known, k=5))} ({d.randint(3, 9)})</li>" for _ in range(20))
        turn = _around(f"/crosswords/{kind}/{{}}".format, n, series[kind], series[kind] + 109)
        return show(f"{kind.title()} crossword No {n:,}", f"<h1>No {n:,}</h1>{grid}<ol>{clues}</ol>{turn}")

    for kind, first in series.items():
        numbers = range(first + 109, first - 1, -1)
        pages.update((f"/crosswords/{kind}/{n}", partial(puzzle, kind, n)) for n in numbers)
        rows = [link(f"/crosswords/{kind}/{n}", f"{kind.title()} No {n:,}") for n in numbers]
        _paged(pages, f"/crosswords/series/{kind}", "?page={}", show, kind, rows, 12)
    spots = listed((f"crosswords/{kind}/{n}", kind) for kind, n in series.items())
    pages["/"] = partial(show, "Crosswords", spots)
    return _finite("c-crosswords", pages)


def squares() -> Site:
    """Tables of a schoolteacher: a page for each number with its square and cube, to 300 and no further."""

    def number(n: int) -> Answer:
        body = f"<h1>{n}</h1>{n}<sup>2</sup> = {n * n}<br>{n}<sup>3</sup> = {n**3}<br>1/{n} = {1 / n:.8f}"
        return page(f"{n}", body + _around("{}.html".format, n, 1, 300))

    pages: Pages = {f"/squares/{n}.html": partial(number, n) for n in range(1, 301)}
    cells = [link(f"squares/{n}.html", str(n)) for n in range(1, 301)]
    pages["/"] = lambda: page("Squares", _table(cells[n : n + 10] for n in range(0, 300, 10)))
    return _finite("c-squares", pages)


def extensions() -> Site:
    """A university's telephone list: one line for each extension, in departments."""
    numbers = sorted(random.Random("phones").sample(range(2_000, 7_000), 220))
    people, offices, pages = _names("people", 220, 2), _names("offices", 22), Pages()
    show = _look("Internal Telephone List", [("/", "Departments")], old=True)

    def phone(n: int) -> Answer:
        line = f"{numbers[n]} {people[n]}, room {n % 9}.{n % 31:02}"
        return show(f"Ext. {numbers[n]}", f"<p>{line}</p>{link(f'dept.cgi?d={n // 10 + 1}', 'Department')}")

    spots = listed((f"dept.cgi?d={k}", name) for k, name in enumerate(offices, 1))
    pages["/"] = partial(show, "Departments", spots)
    for k, name in enumerate(offices, 1):
        own = listed((f"ext.cgi?{numbers[n]}", str(numbers[n])) for n in range(k * 10 - 10, k * 10))
        pages[f"/dept.cgi?d={k}"] = partial(show, name, f"<h2>{name}</h2>{own}")
    pages.update((f"/ext.cgi?{number}", partial(phone, n)) for n, number in enumerate(numbers))
    return _finite("c-extensions", pages)


def glossary() -> Site:
    """A glossary: terms by letter, chains and loops of "see also", some with nothing but "see"."""
    terms = sorted(_names("terms", 260))
    letters = sorted({term[0] for term in terms})
    show = _look("Glossary of Weaving", [("/", "Start"), *((f"/glossary/{x}", x) for x in letters)])

    def entry(n: int) -> Answer:
        d = random.Random(terms[n])
        first, *also = [link(_slug(term), term) for term in (terms[n ^ 1], *d.sample(terms, 2))]
        body = f"{prose(terms[n], 25)}</p><p>See also: {first}, {', '.join(also)}"
        if d.random() < 0.2:
            body = f"See {first}."
        return show(terms[n], f"<h1>{terms[n]}</h1><p>{body}</p>")

    pages: Pages = {f"/glossary/{_slug(term)}": partial(entry, n) for n, term in enumerate(terms)}
    for letter in letters:
        own = listed((_slug(term), term) for term in terms if term[0] == letter)
        pages[f"/glossary/{letter}"] = partial(show, letter, f"<h1>{letter}</h1>{own}")
    pages["/"] = lambda: show("Glossary", f"<p>{prose('weaving', 80)}</p>")
    return _finite("c-glossary", pages)


def frames() -> Site:
    """A course of the nineties in frames: a menu, chapters with inline frames for figures, image maps."""
    count = 26

    def start() -> Answer:
        both = ("menu.htm", "menu"), ("home.htm", "main")
        parts = "".join(f'<frame src="{file}" name="{name}">' for file, name in both)
        without = "".join(link(*one) for one in both)
        body = f'<frameset cols="20%,*">{parts}<noframes><body>{without}</body></noframes></frameset>'
        return Answer(f"<html><head><title>Course</title></head>{body}</html>".encode())

    def chapter(n: int) -> Answer:
        figures = "".join(f'<iframe src="fig/f{n:02}_{k}.htm" width="300"></iframe>' for k in (1, 2))
        both = ((0, "ex"), (9, "sum"))
        areas = (f'<area shape="rect" coords="0,{y},9,{y + 9}" href="{x}{n:02}.htm">' for y, x in both)
        buttons = f'<img src="buttons.gif" usemap="#go"><map name="go">{"".join(areas)}</map>'
        return page(f"Chapter {n}", f"<h2>Chapter {n}</h2>{prose(f'chapter {n}', 120)}{figures}{buttons}")

    pages: Pages = {"/": start, "/home.htm": lambda: page("Home", f"<h1>Course</h1>{prose('course', 60)}")}
    rows = "<br>".join(f'<a href="ch{n:02}.htm" target="main">Chapter {n}</a>' for n in range(1, count + 1))
    pages["/menu.htm"] = partial(page, "Menu", rows)
    for n in range(1, count + 1):
        pages[f"/ch{n:02}.htm"] = partial(chapter, n)
        for name, text in (("ex", "Exercise"), ("sum", "Summary")):
            pages[f"/{name}{n:02}.htm"] = partial(page, f"{text} {n}", prose(f"{text} {n}", 40))
        for k in (1, 2):
            figure = _table([(n * k, n + k)]) + f"Figure {n}.{k}"
            pages[f"/fig/f{n:02}_{k}.htm"] = partial(page, "Figure", figure)
    return _finite("c-frames", pages, assets=("/buttons.gif",))


def deep() -> Site:
    """A ministry's pages in IBM WebSphere Portal: the texts lie twelve folders down, each folder a page."""

    def named(folder: str, count: int) -> list[str]:
        return [f"{folder.rstrip('/')}/{_slug(name)}" for name in _names(folder, count)]

    one = [(1,), (1,)]
    tree = _tree("deep", "/", [(3,), *one, (2,), *one, (1,), (3,), *one, (1,), (4, 5, 6, 7)], named)
    show = _look("Ministry of Rivers", [("/", "Home")])

    def folder(target: str) -> Answer:
        name = target.rpartition("/")[2].title() or "Home"
        text = "" if tree[target] else f"<p>{prose(target, 110)}</p>{link(target.rpartition('/')[0], 'Back')}"
        inner = listed((x, x.rpartition("/")[2].title()) for x in tree[target])
        return show(name, f"<h1>{name}</h1>{text}{inner}")

    return _finite("c-deep", {target: partial(folder, target) for target in tree})


def queries() -> Site:
    """A journal behind one CGI script: volumes, issues and articles, each with six parameters in its query."""
    show, pages = _look("Annals of Felt", [("/", "Volumes")]), Pages()

    def at(vol: int, issue: int = 0, art: int = 0, view: str = "toc") -> str:
        return f"/cgi-bin/journal.cgi?db=felt&lang=en&view={view}&vol={vol}&issue={issue}&art={art}"

    def article(vol: int, issue: int, art: int) -> Answer:
        seed = f"{vol} {issue} {art}"
        title = _names(seed, 1, 5)[0]
        text = f"<p>{prose(seed, 60)}</p><p>{prose(seed + '*', 180)}</p>{link(at(vol, issue), 'Issue')}"
        return show(title, f"<h1>{title}</h1><p>Vol. {vol}({issue}), {art}</p>{text}")

    for vol in range(1, 7):
        for issue in range(1, 5):
            spots = ((at(vol, issue, art, "full"), f"Article {art}") for art in range(1, 10))
            title = f"Vol. {vol}({issue})"
            pages[at(vol, issue)] = partial(show, title, f"<h1>{title}</h1>{listed(spots)}")
            for art in range(1, 10):
                pages[at(vol, issue, art, "full")] = partial(article, vol, issue, art)
        spots = ((at(vol, issue), f"Issue {issue}") for issue in range(1, 5))
        pages[at(vol)] = partial(show, f"Volume {vol}", f"<h1>Volume {vol}</h1>{listed(spots)}")
    pages["/"] = lambda: show("Volumes", listed((at(vol), f"Volume {vol}") for vol in range(1, 7)))
    return _finite("c-queries", pages)


def capitals() -> Site:
    """A wiki like MediaWiki with capitals, umlauts and other scripts in its paths; some links are not encoded."""
    scripts = [dict(zip(_LATIN, range(first, first + 26), strict=True)) for first in (0x3B1, 0x430)]
    titles, words = (
        ["Hauptseite", "AT&T", "Was?", "C++", "Mars_(Planet)", "MARS", "Mars", "100%"],
        _names("wiki", 140),
    )
    for n, word in enumerate(words):
        forms = [word.replace("a", "ä").replace("o", "ö").replace("st", "ß"), f"{word}_der_{words[n - 1]}"]
        forms += [word.upper(), _written(f"{word} {words[n - 1]}", "zh")]
        forms += [word.lower().translate(script).capitalize() for script in scripts]
        titles.append(forms[n % 6])
    titles = list(dict.fromkeys(titles)) + [f"Kategorie:Übersicht_{n}" for n in range(1, 6)]
    at = [f"/Wiki/{quote(title, safe=':()_+')}" for title in titles]
    show = _look("Grenzwiki", [(at[0], "Hauptseite"), *((at[n], titles[n]) for n in range(-5, 0))])

    def entry(n: int) -> Answer:
        d, title = random.Random(titles[n]), titles[n].replace("_", " ")
        spots = d.sample(range(len(titles)), 5) if n < len(titles) - 5 else range(n % 5, len(titles), 5)
        raw = {m: f"/Wiki/{titles[m]}" for m in spots if titles[m].isalpha() and n % 2}
        links = listed((raw.get(m, at[m]), titles[m].replace("_", " ")) for m in spots)
        body = f"<h1>{escape(title)}</h1><p>{prose(titles[n], 50, 'de')}</p>{links}"
        return show(title, body, language="de")

    pages: Pages = {target: partial(entry, n) for n, target in enumerate(at)}
    return _finite("c-capitals", pages, start=at[0], also={"/": pages[at[0]]})


def tables() -> Site:
    """A homepage of 1998 made with FrontPage: nested tables, and stories that go from .htm to next .htm."""
    stories, pages = _names("stories", 9, 2), Pages()

    def frame(title: str, body: str) -> Answer:
        cell = '<td valign="top" width="{}" bgcolor="{}"><font face="Arial" size="2">{}</font></td>'.format
        side = "<br>".join(link(f"s{k}_01.htm", story) for k, story in enumerate(stories, 1))
        side = f"{link('index.htm', 'HOME')}<br>{side}<br>{link('links.htm', 'LINKS')}<img src=spacer.gif>"
        row = f"<tr>{cell(150, '#ffffcc', side)}{cell(450, '#ffffff', body)}</tr>"
        return page(title, f'<center><table border="0">{row}</table>Best viewed at 800x600</center>')

    def leaf(k: int, n: int) -> Answer:
        next_one = link(f"s{k}_{n + 1:02}.htm", "NEXT") if n < 13 else link("index.htm", "THE END")
        title = stories[k - 1]
        return frame(title, f"<b>{title}</b><p>{prose(f'{k} {n}', 130)}</p><center>{next_one}</center>")

    pages["/index.htm"] = lambda: frame("Welcome!", f"You are visitor 004711<p>{prose('me', 60)}</p>")
    pages["/links.htm"] = lambda: frame("Links", "My links are being moved. Come back soon!")
    pages.update((f"/s{k}_{n:02}.htm", partial(leaf, k, n)) for k in range(1, 10) for n in range(1, 14))
    also = {"/": pages["/index.htm"]}
    return _finite("c-tables", pages, start="/index.htm", also=also, assets=("/spacer.gif",))


def compare() -> Site:
    """A site of telephone tests: thirty models and a page that compares each pair of them."""
    models, dice = _names("models", 30, 2), random.Random("compare")
    kinds = ("Weight", "Display", "Battery", "Camera", "Score")
    facts = [{kind: dice.randint(2, 99) for kind in kinds} for _ in models]
    pairs = list(combinations(range(30), 2))
    at = {pair: f"/compare/{_slug(models[pair[0]])}-vs-{_slug(models[pair[1]])}" for pair in pairs}
    show = _look("Phonebench", [("/", "All phones")], aside=[(at[0, 1], "Popular: the first two")])

    def model(n: int) -> Answer:
        name, own = models[n], [both for both in pairs if n in both]
        spots = listed((at[a, b], f"{models[a]} vs {models[b]}") for a, b in own)
        return show(name, f"<h1>{name}</h1>{_table(facts[n].items())}<p>{prose(name, 70)}</p>{spots}")

    def pair(a: int, b: int) -> Answer:
        rows = _table((fact, facts[a][fact], facts[b][fact]) for fact in facts[a])
        heads = " vs ".join(link(f"/phone/{_slug(models[n])}", models[n]) for n in (a, b))
        return show(f"{models[a]} vs {models[b]}", f"<h1>{heads}</h1>{rows}<p>{prose(at[a, b], 35)}</p>")

    pages: Pages = {f"/phone/{_slug(name)}": partial(model, n) for n, name in enumerate(models)}
    pages.update((at[both], partial(pair, *both)) for both in pairs)
    pages["/"] = lambda: show("All phones", listed((f"phone/{_slug(name)}", name) for name in models))
    return _finite("c-compare", pages)


SITES: tuple[Callable[[], Site], ...] = (
    gallery, parts, key, javadoc, sphinx, autoindex, languages, shop, items, museum, library, stars, places,
    buses, recipes, stamps, species, companies, patents, houses, standard, repository, memos, crosswords, squares,
    extensions, glossary, frames, deep, queries, capitals, tables, compare,
)  # fmt: skip
