"""Bottomless pits: every page leads to pages that nobody has seen."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from gossamer.simweb.cases.stage import Stage
from gossamer.simweb.world.dice import fingerprint
from gossamer.simweb.world.resource import Link, Resource, Scene


def calendar(stage: Stage) -> Scene:
    """Months without end in both directions."""

    def find(target: str) -> Resource | None:
        match = re.fullmatch(r"/calendar/(\d{1,6})/(\d{2})/", target)
        if match is None:
            return None
        month = int(match[1]) * 12 + int(match[2])
        around = tuple(f"/calendar/{n // 12:04}/{n % 12:02}/" for n in (month - 1, month + 1) if n >= 0)
        return replace(stage.page(f"Month {month}", "/", *around), trap="/calendar/")

    return Scene(resources={"/bad": stage.page("Calendar", "/calendar/2024/01/")}, endless=find)


def session(stage: Stage) -> Scene:
    """The same three pages, with a new session id in every link."""

    def find(target: str) -> Resource | None:
        match = re.fullmatch(r"/shop/([123])\?sid=([0-9a-f]{16})", target)
        if match is None:
            return None
        ids = (f"/shop/{n}?sid={fingerprint(stage.spec.seed, target, n):016x}" for n in (1, 2, 3))
        return replace(stage.page(f"Shop {match[1]}", "/", *ids), trap="/shop/")

    start = f"/shop/1?sid={fingerprint(stage.spec.seed):016x}"
    return Scene(resources={"/bad": stage.page("Shop", start)}, endless=find)


def deeper(stage: Stage) -> Scene:
    """A relative link without its slash: each page lies one folder below the last."""

    def find(target: str) -> Resource | None:
        if re.fullmatch(r"/deeper/(?:about/)*", target) is None:
            return None
        link = Link(stage.place(f"{target}about/"), "about/")
        return replace(stage.page("Deeper", "/", link), trap="/deeper/")

    return Scene(resources={"/bad": stage.page("Down", "/deeper/")}, endless=find)


def facets(stage: Stage) -> Scene:
    """Filters that can be combined without end."""

    def find(target: str) -> Resource | None:
        match = re.fullmatch(r"/list\?((?:[a-h]=\d&?)+)", target)
        if match is None:
            return None
        more = (f"/list?{match[1]}&{letter}={len(match[1]) % 10}" for letter in "abcdefgh")
        return replace(stage.page("List", "/", *more), trap="/list")

    return Scene(resources={"/bad": stage.page("Catalogue", "/list?a=1")}, endless=find)


def onwards(stage: Stage) -> Scene:
    """A redirect to a redirect, and so on."""

    def find(target: str) -> Resource | None:
        match = re.fullmatch(r"/onwards/(\d{1,9})", target)
        if match is None:
            return None
        place = stage.place(f"/onwards/{int(match[1]) + 1}")
        location = (("Location", place.target),)
        return Resource(status=302, content_type="", redirect=place, fields=location, trap="/onwards/")

    return Scene(resources={"/bad": stage.page("Onwards", "/onwards/0")}, endless=find)


CASES: Mapping[str, Callable[[Stage], Scene]] = {
    "trap-calendar": calendar,
    "trap-session": session,
    "trap-deeper": deeper,
    "trap-facets": facets,
    "trap-redirect": onwards,
}
