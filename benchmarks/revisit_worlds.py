"""Worlds of pages that change: at random with known rates, or as the documents of a project did.

Times are days since the first visits, which see every page. A world is what is true; what a visit sees of it, with
clocks and rotating boxes, and what sources say of it, with lies, are made of it here, too.
"""

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DAY = 86_400.0
POISSON_DAYS = 1_200.0
MEDIAN_DAYS, DEVIATION = 40.0, 1.6
HISTORY_DAYS = 2_200.0
SITE_PAGES = 200
"""Pages of a site; larger folders are several."""
SMALL = 500
STARTS, LARGE_STARTS = 5, 3
"""A history is begun on so many days: whole folders change at once, and who happens to be visited just before makes a
difference of some percent, of the few pages of a small one more."""
SHIFT_DAYS = 60.0


class World:
    """Pages and the moments at which they change."""

    def __init__(self, name: str, sites: Ints, days: float, pages: Ints, times: Floats) -> None:
        """`sites`: of each page; `pages`, `times`: of each change, within `days`."""
        order = np.lexsort((times, pages))
        self.name, self.sites, self.days = name, sites, days
        self.pages, self.times = pages[order], times[order]
        self.size = len(sites)
        self.weights: Floats = np.ones(self.size)
        self.rates: Floats | None = None
        self._keys = self.pages * (4 * days) + self.times

    def first_change(self, pages: Ints, after: Floats | float) -> Floats:
        """When each of some pages changes next after a moment; infinite if it does not."""
        at = np.searchsorted(self._keys, pages * (4 * self.days) + after, side="right")
        place = np.minimum(at, len(self._keys) - 1)
        found = (at < len(self._keys)) & (self.pages[place] == pages)
        return np.where(found, self.times[place], np.inf)

    @property
    def seen_rates(self) -> Floats:
        """Changes a day of each page over all the time: what nobody can know before its end."""
        return np.bincount(self.pages, minlength=self.size) / self.days


def poisson(seed: int, size: int, sites: int = 20) -> World:
    """Pages that change at random; the logarithm of their rates is normally distributed. Weights vary by the same."""
    generator = np.random.default_rng(seed)
    rates = np.exp(generator.normal(-math.log(MEDIAN_DAYS), DEVIATION, size))
    numbers = generator.poisson(rates * POISSON_DAYS)
    pages = np.repeat(np.arange(size), numbers)
    times = generator.random(len(pages)) * POISSON_DAYS
    world = World(f"poisson-{seed}", generator.integers(0, sites, size), POISSON_DAYS, pages, times)
    world.rates = rates
    world.weights = _weights(size, seed)
    return world


def _weights(size: int, seed: int) -> Floats:
    """Powers of 2 from 1/4 to 4, for runs in which pages weigh differently."""
    return 2.0 ** np.random.default_rng(seed + 1_000).integers(-2, 3, size)


def histories(path: Path, most: int) -> Iterator[World]:
    """The worlds of one file, {path: [seconds since 1970, ...]}: pages that were there at the beginning."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        changes: dict[str, list[float]] = json.load(file)
    name = path.name.split(".")[0]
    last = max(max(times) for times in changes.values() if times)
    first = min(min(times) for times in changes.values() if times)
    days = min(HISTORY_DAYS, (last - first) / DAY / 2)
    number = 1
    for shift in range(STARTS):
        start = last - (days + shift * SHIFT_DAYS) * DAY
        there = sorted(page for page, times in changes.items() if times and min(times) <= start)
        if shift == 0:
            number = LARGE_STARTS if len(there) >= SMALL else STARTS
        if shift >= number or not there:
            return
        if len(there) > most:
            chosen = np.random.default_rng(0).permutation(len(there))[:most]
            there = [there[each] for each in sorted(chosen)]
        pages, times = [], []
        for page, each in enumerate(there):
            for moment in sorted(set(changes[each])):
                if moment > start and (moment - start) / DAY < days:
                    pages.append(page)
                    times.append((moment - start) / DAY)
        if not pages:
            return
        world = World(
            f"{name}-{shift}" if number > 1 else name, _sites(there), days, np.array(pages), np.array(times)
        )
        world.weights = _weights(world.size, 0)
        yield world


def _sites(paths: list[str]) -> Ints:
    """Folders as sites; large ones as several."""
    numbers: dict[tuple[str, int], int] = {}
    members: dict[str, int] = {}
    sites = []
    for path in paths:
        folder = path.rpartition("/")[0]
        place = members[folder] = members.get(folder, -1) + 1
        sites.append(numbers.setdefault((folder, place // SITE_PAGES), len(numbers)))
    return np.array(sites)


class Noise(msgspec.Struct, frozen=True):
    """What a visit sees besides the truth.

    Attributes:
        clocks: the share of pages that look different at every visit.
        boxes: the share of those that do so at some visits.
        turns: at how many.
    """

    clocks: float = 0.0
    boxes: float = 0.0
    turns: float = 0.3

    def of(self, world: World) -> Floats:
        """For each page, the share of visits at which it seems to have changed."""
        drawn = np.random.default_rng(17).random(world.size)
        return np.where(drawn < self.clocks, 1.0, np.where(drawn < self.clocks + self.boxes, self.turns, 0.0))


class Signals(msgspec.Struct, frozen=True):
    """What sitemaps say; they are read once a day.

    Attributes:
        covered: the share of pages that they list.
        false: of the pages listed, how many are said to have changed each day though they have not.
        lying: the share of sites whose dates are lies, each kind in turn: of the time of the reading, all one, in the
            future, for a twentieth of the pages a day.
    """

    covered: float = 0.0
    false: float = 0.002
    lying: float = 0.0

    def lies(self, world: World) -> list[str]:
        """For each site `""` or the kind of lie."""
        kinds = ("moving", "equal", "future", "chatter")
        number = int(world.sites.max()) + 1
        liars = np.random.default_rng(23).random(number) < self.lying
        if self.lying and number < 4:
            liars[:] = False
            liars[0] = True
        found = iter(range(number))
        return [kinds[next(found) % len(kinds)] if liar else "" for liar in liars]

    def listed(self, world: World) -> NDArray[np.bool_]:
        """Which pages are."""
        return np.random.default_rng(29).random(world.size) < self.covered

    def heard(self, world: World) -> list[Ints]:
        """For each day the pages that are said to have changed; what lists with impossible dates say is left out."""
        generator = np.random.default_rng(31)
        listed, lies = self.listed(world), np.array(self.lies(world))[world.sites]
        honest = listed & (lies == "")
        chatter = listed & (lies == "chatter")
        days = math.ceil(world.days) + 1
        told: list[list[int]] = [[] for _ in range(days + 1)]
        for page, moment in zip(world.pages.tolist(), world.times.tolist(), strict=True):
            if honest[page] or chatter[page]:
                told[math.floor(moment) + 1].append(page)
        for chosen, share in ((honest, self.false), (chatter, 0.05)):
            pages = np.flatnonzero(chosen)
            numbers = generator.binomial(len(pages), share, days)
            for day, number in enumerate(numbers.tolist()):
                told[day].extend(generator.choice(pages, number, replace=False).tolist() if number else ())
        return [np.array(sorted(set(each)), dtype=np.int64) for each in told]


def optimum(rates: Floats, visits: float) -> float:
    """The greatest mean freshness of pages whose rates are known, with so many visits a day, in the long run.

    Visits at equal distances, each page's where R(rate x interval)/rate is the same (Cho and Garcia-Molina 2003;
    Azar et al. 2018).
    """
    low, high = 1e-9, 1e9
    expected = np.full_like(rates, np.inf)
    for _ in range(90):
        threshold = math.sqrt(low * high)
        expected = _inverse(threshold * rates)
        spent = np.where(np.isinf(expected), 0.0, rates / expected).sum()
        low, high = (threshold, high) if spent > visits else (low, threshold)
    finite = np.where(np.isinf(expected), 1.0, expected)
    return float(np.where(np.isinf(expected), 0.0, -np.expm1(-finite) / finite).mean())


def gain(expected: Floats) -> Floats:
    """R(x) = 1 - exp(-x)(1 + x)."""
    return -np.expm1(-expected) - expected * np.exp(-expected)


def _inverse(gains: Floats) -> Floats:
    """x with R(x) = each of `gains`; infinite from 1 on."""
    low, high = np.zeros_like(gains), np.full_like(gains, 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        less = gain(middle) < gains
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.where(gains >= 1, np.inf, (low + high) / 2)
