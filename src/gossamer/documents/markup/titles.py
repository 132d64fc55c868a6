"""The title of a page without the name of its site."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from urllib.parse import urlsplit

from gossamer.documents.markup.named import Named

__all__ = ["title_of"]

_LONGEST = 2_000
_PARTED = re.compile(r"\s*[|\uff5c_\u00b7\u00bb\u2022\uff1a]\s*|\s+[\u2013\u2014:-]\s+|:\s+|\uff0d")
"""What stands between the title of a page and the name of a site."""
_NO_LETTER = re.compile(r"[\W_]+")
_SITES = ("WebSite", "Organization", "NewsMediaOrganization", "Corporation")
_PAGES = re.compile(r"(?:\w*Page|Person|ImageObject|BreadcrumbList|ListItem)\Z")
_MOST_HEADINGS = 5
_SHORT = 3


def title_of(
    by_name: Named, url: str, properties: dict[str, list[str]], items: list[dict[str, object]]
) -> str:
    """What the page calls itself.

    Args:
        by_name: elements of the page.
        url: its address; many a site is called as its host is.
        properties: its `meta` elements.
        items: its JSON-LD.

    Of its headings, or else of the names in its data, the longest that is a good part of its title; else the title,
    out of which the name of the site is taken if it is known.
    """
    around = [(each, each.parent.tag) for each in by_name.titles if each.parent is not None]
    node = next((each for each, parent in around if parent == "head"), None) or next(
        (each for each, parent in around[:3] if parent != "svg"), None
    )
    whole = _clean(node.text(deep=True) or "") if node else ""
    shared = _clean(_first(properties, "og:title", "twitter:title", "dc.title", "citation_title"))
    sites = {_plain(site) for site in _sites(properties, items)} - {""}
    host = _plain((urlsplit(url).hostname or "").removeprefix("www.").rpartition(".")[0])

    def is_site(name: str) -> bool:
        plain = _plain(name)
        return plain in sites or (len(plain) > 3 and host.endswith(plain))

    headings = [
        _clean(heading.text(deep=True, separator=" ") or "") for heading in by_name.headings[:_MOST_HEADINGS]
    ]
    named = [_clean(unescape(name)) for item in items for name in _names(item)]
    for candidates in (headings, named):
        told = [one for one in candidates if _is_of(one, (whole, shared)) and not is_site(one)]
        if told:
            return max(told, key=len)
    heading = next((each for each in headings if each and not is_site(each)), "")
    return _without_site(shared or whole, is_site) or heading


def _is_of(candidate: str, titles: tuple[str, ...]) -> bool:
    """Whether it is the page that is called so: a title begins with it, or it is a part of one, or most of it."""
    lower = candidate.lower()
    for title in titles:
        parts = _PARTED.split(title.lower())
        if lower and (lower in parts or lower == title.lower()):
            return True
        if len(lower) > _SHORT and lower in title.lower():
            return len(lower) >= max(map(len, parts)) / 2 or any(part.startswith(lower) for part in parts)
    return False


def _without_site(title: str, is_site: Callable[[str], bool]) -> str:
    """The title without a name of the site at its end or beginning, if something is left."""
    breaks = list(_PARTED.finditer(title))
    if breaks and is_site(title[breaks[-1].end() :]):
        return title[: breaks[-1].start()].strip()
    if breaks and is_site(title[: breaks[0].start()]):
        return title[breaks[0].end() :].strip()
    return title


def _sites(properties: dict[str, list[str]], items: list[dict[str, object]]) -> Iterator[str]:
    yield _first(properties, "og:site_name", "application-name", "apple-mobile-web-app-title")
    for item in items:
        publisher = item.get("publisher")
        for holder in (
            item if item.get("@type") in _SITES else {},
            publisher if isinstance(publisher, dict) else {},
        ):
            name = holder.get("name")
            if isinstance(name, str):
                yield name


def _names(item: dict[str, object]) -> Iterator[str]:
    """Headlines, and names of things that are no pages, sites or people."""
    kind = item.get("@type")
    if not isinstance(kind, str) or kind in _SITES or _PAGES.match(kind):
        return
    for name in ("headline", "name"):
        value = item.get(name)
        if isinstance(value, str):
            yield value


def _plain(text: str) -> str:
    return _NO_LETTER.sub("", text.lower())


def _clean(value: str) -> str:
    return " ".join(value[: 2 * _LONGEST].split())[:_LONGEST]


def _first(properties: dict[str, list[str]], *names: str) -> str:
    return next((properties[name][0] for name in names if name in properties), "")
