"""An ordinary host: finds what stands at a target, from the numbers in its path alone."""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from gossamer.simweb.servers.replies import failing
from gossamer.simweb.world import leaves, paper, robots, sitemaps
from gossamer.simweb.world.atlas import Atlas
from gossamer.simweb.world.dice import Dice, fingerprint
from gossamer.simweb.world.paper import Sheet, html_type
from gossamer.simweb.world.prose import charset as charset_of
from gossamer.simweb.world.prose import title
from gossamer.simweb.world.resource import Link, Place, Resource

_PAGE = re.compile(r"/s([0-7])/p([1-9]\d{0,8})\.html")
_PRINT = re.compile(r"/s([0-7])/p([1-9]\d{0,8})\.html\?print=1")
_NUMBERED = re.compile(r"/([a-z]+(?:/open)?)/(0|[1-9]\d{0,8})(?:\.(html|png|pdf|txt|css|js))?(/.*)?")
_HOST_FAN = 16  # front pages lead to so many other hosts
_STATUSES = (301, 302, 303, 307, 308)
_ODD_SHARES = ("redirects", "far_redirects", "copies", "leaves", "missing", "nofollow")
_STOCK = 64
_LEAVES = ("png", "pdf", "txt", "js")


class _Folder(NamedTuple):
    """What pages of one folder have in common: a menu, and a stock from which each draws its other links.

    Making a link takes a microsecond, drawing one next to nothing.
    """

    menu: tuple[Link, ...]
    menu_html: str
    stock: list[Link]
    anchors: list[str]


class OrdinarySite:
    """Host `index`. Pages form a tree, so each is reachable; all other links are drawn by dice.

    What exists does not depend on what is linked: `/go/7` redirects whether or not page 7 mentions it.
    """

    def __init__(self, atlas: Atlas, index: int, neighbours: tuple[Place, ...] = ()) -> None:
        self._neighbours = neighbours  # further hosts that the front page leads to
        self._atlas = atlas
        self._spec = atlas.spec
        self._index = index
        self.name = atlas.name(index)
        self._pages = atlas.pages(index)
        dice = self._dice("host")
        self.robots_kind = dice.pick(self._spec.robots)
        self._has_sitemap = dice.chance(self._spec.sitemaps) and self.robots_kind != "absent"
        self._has_rules = self.robots_kind not in ("absent", "allow", "forbidden", "closed")
        self._odd = self._has_rules or any(getattr(self._spec, share) for share in _ODD_SHARES)
        self._menu_size = min(12, self._spec.links * 2 // 5)
        self._folders: dict[str, _Folder] = {}
        self._fan = max(2, min(8, self._spec.links // 3))

    def find(self, target: str) -> Resource | None:
        """What stands at `target` (path with query); `None` if nothing does."""
        if target == "/":
            return self.page(0)
        if match := _PAGE.fullmatch(target):
            number = int(match[2])
            return self.page(number) if self._stands(match[1], number) else None
        if target == "/robots.txt":
            return self._robots()
        if target == "/rules/robots.txt":
            return robots.file_of(robots.ORDINARY_GROUPS["rules"])
        if self._has_sitemap and target.startswith("/sitemap"):
            return sitemaps.find(self._atlas, self._index, target)
        if match := _PRINT.fullmatch(target):
            return self._plain_page(target) if self._stands(match[1], int(match[2])) else None
        return self._extra(target)

    def page(self, number: int) -> Resource:
        """Page `number`, front page 0."""
        spec, here = self._spec, self._atlas.page(self._index, number)
        dice = self._dice("page", number)
        charset, _, declaration = dice.pick(spec.charsets).partition("/")
        heading = f"{title(charset_of(charset).language, dice)} {self._index}.{number}"
        coding, size, broken = dice.pick(spec.codings), dice.near(spec.page_bytes), dice.chance(spec.broken)
        folder = self._folder(here)
        drawn = self._drawn(folder, dice)
        links = (*self._tree(here, number, dice), *self._oddities(here, number))
        all_links = (*folder.menu, *links, *[folder.stock[turn] for turn in drawn])
        sheet = Sheet(
            seed=spec.seed,
            key=dice.roll(),
            title=heading,
            charset=charset,
            declaration=declaration,
            links=all_links[len(folder.menu) :] if broken else links,
            anchors=() if broken else [folder.anchors[turn] for turn in drawn],
            size=size,
            menu=folder.menu_html,
            broken=broken,
        )
        return Resource(
            content_type=html_type(charset, declaration),
            body=sheet.write,
            links=all_links,
            coding=coding,
            title=heading,
        )

    # Links of a page …

    def _tree(self, here: Place, number: int, dice: Dice) -> list[Link]:
        """Home, the pages below this one, and for front pages the hosts below this one."""
        atlas, index = self._atlas, self._index
        first = number * self._fan + 1
        places = [atlas.page(index, child) for child in range(first, min(first + self._fan, self._pages))]
        if number == 0:
            first = index * _HOST_FAN + 1
            below = range(first, min(first + _HOST_FAN, self._spec.hosts))
            places += [Place(atlas.name(host), "/") for host in below]
            places += self._neighbours
        else:
            places.insert(0, Place(here.host, "/"))
        return [atlas.link(here, place, dice.roll()) for place in places]

    def _folder(self, here: Place) -> "_Folder":
        """The menu and the stock of links of a folder, made when its first page is."""
        name = here.target.rpartition("/")[0]
        if name not in self._folders:
            atlas, dice = self._atlas, self._dice("folder", name)
            places = (atlas.page(self._index, dice.below(self._pages)) for _ in range(self._menu_size))
            shared = tuple(atlas.link(here, place, dice.roll()) for place in places)
            stock = [self._any_link(here, dice) for _ in range(min(_STOCK, max(8, self._pages)))]
            anchors = [paper.anchor(link.href, number) for number, link in enumerate(stock, 1)]
            self._folders[name] = _Folder(shared, paper.menu(shared), stock, anchors)
        return self._folders[name]

    def _any_link(self, here: Place, dice: Dice) -> Link:
        """A link across this host or, by the share in the spec, to another."""
        if self._spec.cross_links and dice.chance(self._spec.cross_links):
            place = self._atlas.any_page(dice)
        else:
            place = self._atlas.page(self._index, dice.below(self._pages))
        return self._atlas.link(here, place, dice.roll())

    def _drawn(self, folder: "_Folder", dice: Dice) -> list[int]:
        """Which links of the folder's stock a page shows, so many that their mean is as the spec says."""
        size = len(folder.stock)
        count = min(size, max(0, dice.near(self._spec.links) - self._menu_size - 2))
        draw = dice.roll()
        start, stride = draw % size, 1 + 2 * (draw >> 32) % size
        return [(start + turn * stride) % size for turn in range(count)]

    def _oddities(self, here: Place, number: int) -> list[Link]:
        """Links to redirects, copies, files, holes and forbidden places, by the shares of the spec."""
        if not self._odd:
            return []
        spec, dice = self._spec, self._dice("odd", number)
        links = []

        def add(share: float, *targets: str, element: str = "a", nofollow: bool = False) -> None:
            if share and dice.chance(share):
                for target in targets:
                    written = self._atlas.link(here, Place(here.host, target), dice.roll())
                    links.append(written._replace(element=element, nofollow=nofollow))

        add(spec.redirects, f"/go/{number}")
        add(spec.far_redirects, f"/far/{number}")
        add(spec.copies, f"/copy/{number}/a/", f"/copy/{number}/b/")
        add(spec.leaves, f"/files/{number}.{dice.pick(_LEAVES)}")
        add(spec.leaves, f"/files/{number}.css", element="stylesheet")
        add(spec.leaves, f"/images/{number}.png", element="img")
        add(spec.missing, f"/gone/{number}.html")
        add(spec.nofollow, f"/aside/{number}.html", nofollow=True)
        if self._has_rules and number % 4 == 0:
            add(1.0, f"/private/{number}.html", f"/private/open/{number}.html")
            if number:
                add(1.0, f"{here.target}?print=1")
        return links

    # Everything that is no page …

    def _extra(self, target: str) -> Resource | None:
        match = _NUMBERED.fullmatch(target)
        if match is None or int(match[2]) >= self._pages:
            return None
        folder, number, suffix, rest = match[1], int(match[2]), match[3] or "", match[4] or ""
        if folder in ("private", "private/open", "aside", "orphan") and suffix == "html" and not rest:
            return self._plain_page(target)
        if folder in ("go", "far") and not suffix and not rest:
            return self._redirect(folder, number)
        if folder == "copy" and not suffix:
            return self._copy(number, rest)
        if folder in ("files", "images") and suffix in leaves.MEDIA_TYPES and not rest:
            maker: Callable[[], bytes] = partial(leaves.leaf, suffix, self._spec.seed, self._index, number)
            return Resource(content_type=leaves.MEDIA_TYPES[suffix], body=maker)
        if folder == "gone" and number % 2 and not rest:
            return Resource(status=410, content_type="text/plain", body=lambda: b"gone\n")
        return None

    def _redirect(self, folder: str, number: int) -> Resource:
        dice, atlas = self._dice(folder, number), self._atlas
        to = atlas.page(self._index, dice.below(self._pages)) if folder == "go" else atlas.any_page(dice)
        href = atlas.link(Place(self.name, f"/{folder}/{number}"), to, dice.roll()).href
        return Resource(
            status=dice.pick(_STATUSES), content_type="", redirect=to, fields=(("Location", href),)
        )

    def _copy(self, number: int, rest: str) -> Resource | None:
        """Equal bytes under `a/` and `b/`; only few different ones, so that other hosts have them too."""
        form = number % 7
        match = re.fullmatch(r"/([ab])/(?:x([123])\.html)?", rest)
        if match is None:
            return None
        if match[2]:
            sheet = Sheet(seed=self._spec.seed, key=form, title=f"Leaf {match[2]} of copy {form}")
            return Resource(body=sheet.write, title=sheet.title)
        folder = f"/copy/{number}/{match[1]}/"
        links = tuple(Link(Place(self.name, f"{folder}x{n}.html"), f"x{n}.html") for n in (1, 2, 3))
        sheet = Sheet(seed=self._spec.seed, key=form, title=f"Copy {form}", links=links, size=2_000)
        return Resource(body=sheet.write, links=links, title=sheet.title)

    def _plain_page(self, target: str) -> Resource:
        home = Link(Place(self.name, "/"), "/")
        key = fingerprint(self._spec.seed, self._index, target)
        sheet = Sheet(seed=self._spec.seed, key=key, title=f"Aside {target}", links=(home,), size=1_000)
        return Resource(body=sheet.write, links=(home,), title=sheet.title)

    def _robots(self) -> Resource | None:
        kind = self.robots_kind
        place = Place(self.name, "/rules/robots.txt")
        if kind == "redirect-far" and self._index:
            place = Place(self._atlas.name(0), place.target)
        match kind:
            case "absent":
                return None
            case "forbidden":
                return Resource(status=403, content_type="text/plain", body=lambda: b"no\n")
            case "redirect" | "redirect-far":
                href = self._atlas.url(place)
                return Resource(status=301, content_type="", redirect=place, fields=(("Location", href),))
        places = (Place(self.name, "/sitemap.xml"),) if self._has_sitemap else ()
        found = robots.file_of(robots.ORDINARY_GROUPS[kind], places, map(self._atlas.url, places))
        return failing(found, self._spec) if kind == "failing" else found

    def _stands(self, section: str, number: int) -> bool:
        return number < self._pages and number % 8 == int(section)

    def _dice(self, *key: int | str) -> Dice:
        return Dice(self._spec.seed, self._index, *key)
