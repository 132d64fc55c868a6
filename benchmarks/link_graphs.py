"""Link graphs with known PageRank, on which orders of fetching are judged.

Two webs are drawn by dice, in two ways that have nothing in common but their size; the third is the links of
installed documentation, read from the files. Every number that shapes a web is a constant of this file.

* `copying`: pages come one after another, each copies links of pages that were there before (Kleinberg et
  al., "The web as a graph", 1999), within hosts and across; hosts grow by what they have (Simon, 1955), and
  every page of a host carries its host's navigation.
* `sites`: each site is a tree of folders with lists in pages of 25, menus, links upwards and to siblings;
  sites are joined by links to whom fame, drawn from a power law, brings them; there are clusters of spam.
"""

import random
from bisect import bisect_right
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks import page_links, truth
from benchmarks.docs_site import Tree

DAMPING = 0.85
"""Of Brin and Page (1998): the surfer follows a link with this probability, else goes anywhere."""

PRECISION = 1e-12
"""PageRank is iterated until the sum of all changes is below this; the sum of all ranks is 1."""

FULL_PAGES = 40_000
QUICK_PAGES = 4_000
SEEDS = 10
"""Front pages, of hosts drawn evenly."""

DOMAINS = ("com", "org", "net", "de", "co.uk", "info", "io", "edu", "cc", "fr")
"""Public suffixes, drawn evenly: they say nothing of a page's importance."""

# The copying web

OLD_HOSTS = 50
"""Hosts that are there at the start, one page each."""

NEW_HOST = 0.05
"""Probability that a new page is the front page of a new host; otherwise hosts grow by their size."""

NAVIGATION = (2, 15)
"""Pages of a host, the oldest, that all its pages link to: evenly between these numbers."""

LINKS_WITHIN = 1.6
"""Exponent of the number of links to the own host beside the navigation; see `_power`."""

LINKS_ACROSS = 1.8
"""Exponent of the number of links to other hosts, for pages that have any."""

HAS_LINKS_ACROSS = 0.3
MOST_LINKS = 60
UNIFORM = 0.2
"""Probability that a link leads anywhere; otherwise it is copied. In-degrees fall as k^-2.25."""

NEWS = 0.3
"""Probability that a new page is also mentioned by some page of another host."""

# The web of sites

SITES_PER_1000_PAGES = 30
SITE_SIZE = 1.1
"""Exponent of the Pareto distribution of sizes."""

LARGEST_SITE = 0.1
"""Of all pages."""

SPAM = 0.12
"""Share of pages in spam clusters."""

FOLDER = 0.15
"""Probability that a page is a folder, below which others are put."""

LIST_PAGE = 25
"""Entries that a folder or a page of its list shows."""

MENU = 8
SEE_ALSO = 4
FAME = 1.1
"""Exponent of the Pareto distribution of fame, by which sites are linked to."""

OUTWARD = 0.2
"""Probability that a page links to other sites."""

MOST_OUTWARD = 5
TO_FRONT_PAGE = 0.6
"""Probability that a link from another site leads to the front page."""

CLUSTER_DOMAINS = (2, 6)
CLUSTER_HOSTS = (5, 20)
"""Hosts for each registrable domain of a cluster."""

CLUSTER_HOST_PAGES = (5, 15)
CLUSTER_ENTRIES = 5
"""Links into each cluster, from pages drawn evenly of all others."""

_ORIGIN = "http://tree.invalid"


class LinkGraph(NamedTuple):
    """Pages that can be reached from seeds, with their links.

    Attributes:
        name: for reports.
        urls: page -> absolute URL.
        first: page -> where its links begin in `targets`; one more entry than pages.
        targets: pages linked to, each once per page and never the page itself, in order of mention.
        seeds: pages that a crawl starts from.
        found: share of the pages drawn that can be reached.
    """

    name: str
    urls: list[str]
    first: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    seeds: list[int]
    found: float

    def links(self, page: int) -> list[int]:
        """Pages that a page links to."""
        links: list[int] = self.targets[self.first[page] : self.first[page + 1]].tolist()
        return links

    def pagerank(self) -> npt.NDArray[np.float64]:
        """Rank of each page, in all 1; what pages without links have is spread evenly over all pages."""
        pages = len(self.urls)
        degrees = np.diff(self.first)
        finders = np.repeat(np.arange(pages), degrees)
        shares = 1.0 / np.maximum(degrees, 1)
        rank: npt.NDArray[np.float64] = np.full(pages, 1.0 / pages)
        while True:
            flow = np.bincount(self.targets, weights=(rank * shares)[finders], minlength=pages)
            even = 1.0 - DAMPING + DAMPING * float(rank[degrees == 0].sum())
            following = DAMPING * flow + even / pages
            change = float(np.abs(following - rank).sum())
            rank = following.astype(np.float64)
            if change < PRECISION:
                return rank


def reachable(name: str, urls: list[str], links: list[list[int]], seeds: list[int]) -> LinkGraph:
    """The graph of what can be reached from `seeds`; pages keep the order in which they were drawn."""
    known = set(seeds)
    waiting = list(seeds)
    while waiting:
        fresh = [target for target in links[waiting.pop()] if target not in known]
        known.update(fresh)
        waiting += fresh
    kept = sorted(known)
    number = {page: position for position, page in enumerate(kept)}
    rows = [list(dict.fromkeys(number[t] for t in links[page] if t != page)) for page in kept]
    first = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=first[1:])
    targets = np.fromiter((target for row in rows for target in row), np.int64, int(first[-1]))
    seeds = [number[seed] for seed in seeds]
    return LinkGraph(name, [urls[page] for page in kept], first, targets, seeds, len(kept) / len(urls))


def _power(dice: random.Random, exponent: float) -> int:
    """A whole number from 1 to `MOST_LINKS`, as rare as its power by `-(1 + exponent)`."""
    return min(int(dice.paretovariate(exponent)), MOST_LINKS)


def _host(dice: random.Random, number: int) -> str:
    return f"www.host{number}.{dice.choice(DOMAINS)}"


def copying(pages: int, seed: int = 1) -> LinkGraph:
    """The web that grows by copying; see the file's head."""
    dice = random.Random(seed)
    host_of = list(range(OLD_HOSTS))  # page -> host; drawing from it draws a host by its size
    members = [[page] for page in range(OLD_HOSTS)]
    within: list[list[int]] = [[] for _ in range(OLD_HOSTS)]
    across = [[dice.randrange(OLD_HOSTS)] for _ in range(OLD_HOSTS)]
    for page in range(OLD_HOSTS, pages):
        if dice.random() < NEW_HOST:
            host = len(members)
            members.append([])
            across[dice.randrange(page)].append(page)
        else:
            host = dice.choice(host_of)
            within[dice.choice(members[host])].append(page)
        own, foreign = _copied(dice, members[host], within), list[int]()
        if dice.random() < HAS_LINKS_ACROSS:
            for _ in range(_power(dice, LINKS_ACROSS)):
                model = across[dice.randrange(page)]
                copy = model and dice.random() >= UNIFORM
                foreign.append(dice.choice(model) if copy else dice.randrange(page))
        if dice.random() < NEWS:
            across[dice.randrange(page)].append(page)
        host_of.append(host)
        members[host].append(page)
        within.append(own)
        across.append(foreign)
    return _with_navigation(dice, members, host_of, within, across)


def _copied(dice: random.Random, members: list[int], within: list[list[int]]) -> list[int]:
    """Links of a new page to its own host, most of them copied from its pages."""
    found: list[int] = []
    if members:
        for _ in range(_power(dice, LINKS_WITHIN)):
            model = within[dice.choice(members)]
            copy = model and dice.random() >= UNIFORM
            found.append(dice.choice(model) if copy else dice.choice(members))
    return found


def _with_navigation(
    dice: random.Random,
    members: list[list[int]],
    host_of: list[int],
    within: list[list[int]],
    across: list[list[int]],
) -> LinkGraph:
    names = [_host(dice, host) for host in range(len(members))]
    menus = [own[: dice.randint(*NAVIGATION)] for own in members]
    urls = []
    for page, host in enumerate(host_of):
        folder = "" if page == members[host][0] else f"{'abcdefgh'[page % 8]}/page{page}.html"
        urls.append(f"http://{names[host]}/{folder}")
    links = [menus[host] + within[page] + across[page] for page, host in enumerate(host_of)]
    seeds = [own[0] for own in dice.sample(members, SEEDS)]
    return reachable("copying", urls, links, seeds)


class _Sites:
    """The web of sites while it is drawn."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.urls: list[str] = []
        self.links: list[list[int]] = []

    def page(self, url: str) -> int:
        self.urls.append(url)
        self.links.append([])
        return len(self.urls) - 1

    def site(self, host: str, size: int) -> list[int]:
        """A tree of about `size` pages and its lists; its pages, the front page first."""
        dice = self.dice
        front = self.page(f"http://{host}/")
        folders, children, parent = [front], {front: list[int]()}, {front: front}
        own = [front]
        while len(own) < size:
            above = dice.choice(folders)
            path = f"{self.urls[above]}{dice.choice(('item', 'news', 'doc', 'part'))}{len(own)}"
            if dice.random() < FOLDER:
                page = self.page(path + "/")
                folders.append(page)
                children[page] = []
            else:
                page = self.page(path + ".html")
            parent[page] = above
            children[above].append(page)
            own.append(page)
        menu = [front, *(page for page in children[front] if page in children)][:MENU]
        for page in own:
            self.links[page] += [*menu, parent[page]]
        for folder in folders:
            self._list(folder, children[folder], menu)
        for page in own:
            for _ in range(dice.randint(0, SEE_ALSO)):
                self.links[page].append(own[int(size * dice.random() ** 2)])
        return own

    def _list(self, folder: int, entries: list[int], menu: list[int]) -> None:
        """Link a folder to what is below it, in pages of a list, and neighbours to one another."""
        shown = folder
        for start in range(0, len(entries), LIST_PAGE):
            if start:
                following = self.page(f"{self.urls[folder]}?page={start // LIST_PAGE + 1}")
                self.links[shown].append(following)
                self.links[following] += [*menu, folder, shown]
                shown = following
            self.links[shown] += entries[start : start + LIST_PAGE]
        for left, right in pairwise(entries):
            self.links[left].append(right)
            self.links[right].append(left)

    def cluster(self, number: int) -> list[int]:
        """Hosts of a few domains whose pages all link to one another's front pages."""
        dice = self.dice
        fronts: list[int] = []
        own: list[int] = []
        for domain in range(dice.randint(*CLUSTER_DOMAINS)):
            ending = dice.choice(DOMAINS)
            for host in range(dice.randint(*CLUSTER_HOSTS)):
                address = f"http://s{host}.best-offers-{number}-{domain}.{ending}/"
                fronts.append(self.page(address))
                own.append(fronts[-1])
                own += [
                    self.page(f"{address}offer{n}.html") for n in range(dice.randint(*CLUSTER_HOST_PAGES))
                ]
        for page in own:
            self.links[page] += fronts + dice.choices(own, k=5)
        return own


def sites(pages: int, seed: int = 2) -> LinkGraph:
    """The web of sites; see the file's head."""
    dice = random.Random(seed)
    web = _Sites(dice)
    sizes = [dice.paretovariate(SITE_SIZE) for _ in range(pages * SITES_PER_1000_PAGES // 1000)]
    scale = pages * (1 - SPAM) / sum(sizes)
    good = [
        web.site(_host(dice, number), max(1, min(int(size * scale), int(pages * LARGEST_SITE))))
        for number, size in enumerate(sizes)
    ]
    fame = list(accumulate(dice.paretovariate(FAME) * len(own) ** 0.5 for own in good))
    for own in good:
        for page in own:
            if page == own[0] or dice.random() < OUTWARD:
                for _ in range(dice.randint(1, MOST_OUTWARD)):
                    other = good[bisect_right(fame, dice.random() * fame[-1])]
                    place = 0 if dice.random() < TO_FRONT_PAGE else int(len(other) * dice.random() ** 3)
                    web.links[page].append(other[place])
    fair = len(web.urls)
    number = 0
    while len(web.urls) - fair < pages * SPAM:
        own = web.cluster(number)
        for _ in range(CLUSTER_ENTRIES):
            web.links[dice.randrange(fair)].append(dice.choice(own))
        for page in own:
            web.links[page].append(dice.choice(good)[0])  # looks like an ordinary page
        number += 1
    return reachable("sites", web.urls, web.links, [own[0] for own in dice.sample(good, SEEDS)])


def documentation(tree: Tree) -> LinkGraph:
    """The links of an installed documentation tree as nginx would serve it; dead links are left out.

    A redirect is a page with one link. Robots rules are not applied: the graph is what the files say.
    """
    numbers = {"/": 0}
    spelled = ["/"]
    links: list[list[int]] = []
    dead: set[int] = set()
    while len(links) < len(spelled):
        page = len(links)
        said = truth.answer(tree, spelled[page])
        row: list[int] = []
        for target in _mentioned(said, spelled[page]):
            other = numbers.setdefault(truth.canonical(target), len(spelled))
            if other == len(spelled):
                spelled.append(target)
            row.append(other)
        links.append(row)
        if not said.location and not said.file:
            dead.add(page)
    alive = [[page for page in row if page not in dead] for row in links]
    host = f"http://{tree.name}.example.org"
    graph = reachable(f"docs-{tree.name}", [host + target for target in spelled], alive, [0])
    return graph._replace(found=1.0)


def _mentioned(said: truth.Answer, target: str) -> list[str]:
    """Targets on the same host that an answer leads to."""
    if said.location:
        return [said.location]
    if not said.file or truth.media_type(said.file) not in ("text/html", "application/xhtml+xml"):
        return []
    links = page_links.read_page(Path(said.file).read_bytes(), _ORIGIN + target).links
    return [link.removeprefix(_ORIGIN) for link in links if link.startswith(_ORIGIN + "/")]
