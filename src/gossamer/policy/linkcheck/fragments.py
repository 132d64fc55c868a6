"""Tells whether the place within a page that a link names is there.

Sources: WHATWG HTML 7.4.6.4 (the indicated part of a document), WICG Scroll To Text Fragment. Names of places are
compared as they are, then percent-decoded; case counts.

A page may make places by script. That is not proved by a script being there, or no page would ever lack a place: it
is believed where a script names the place, where a heading would be called so, and where the page has next to nothing
but scripts.
"""

import re
from collections.abc import Collection
from urllib.parse import unquote

import msgspec

from gossamer.policy.linkcheck.verdicts import Code, Judged, LinkVerdict

__all__ = ["PagePlaces", "judge_fragment", "names_a_place", "slug"]

_TEXT = ":~:"
_NOT_A_NAME = re.compile(r"^[!/]|[=&]|/.*/|^:")
"""What scripts read of fragments: routes and parameters."""
_PREFIXES = ("", "user-content-")
"""Before ids, where a host keeps its own apart from its users'."""
_WORD = re.compile(r"[^\w]+")
LEAST_TEXT = 200
"""Characters of a page that has something to say without its scripts."""


class PagePlaces(msgspec.Struct, frozen=True):
    """The places of one page.

    Attributes:
        names: ids, and names of anchors.
        headings: what headings would be called if a script gave them ids, by `slug`.
        scripts: there are any that could make places.
        script_text: what stands in the page's own scripts.
        text_length: characters a reader sees.
        whole: all of the page was read.
        html: it is a page; places of other documents are not ours to know.
    """

    names: Collection[str] = frozenset()
    headings: Collection[str] = frozenset()
    scripts: bool = False
    script_text: str = ""
    text_length: int = 0
    whole: bool = True
    html: bool = True


def names_a_place(fragment: str) -> str:
    """The name of the place that a fragment asks for; empty where any page will do (`#`, `#top`, `#:~:text=`)."""
    name = fragment.partition(_TEXT)[0]
    return "" if name.lower() == "top" else name


def slug(heading: str) -> str:
    """What makers of ids make of a heading: lower case, words joined by dashes."""
    return _WORD.sub("-", heading.strip().lower()).strip("-_")


def judge_fragment(fragment: str, places: PagePlaces) -> Judged | None:
    """What is wrong with a fragment, by the page that it leads to; `None` if nothing is."""
    name = names_a_place(fragment)
    if not name:
        return None
    decoded = unquote(name, errors="replace")
    for spelling in (name, decoded):
        if any(prefix + spelling in places.names for prefix in _PREFIXES):
            return None
    if not places.html:
        return None  # of a page of a PDF, of a moment of a film: their readers find it or begin at the start
    if _may_be_made(decoded, places):
        return Judged(LinkVerdict.UNKNOWN, Code.FRAGMENT_BY_SCRIPT)
    if not places.whole:
        return Judged(LinkVerdict.UNKNOWN, Code.FRAGMENT_UNREAD)
    return Judged(LinkVerdict.BROKEN, Code.FRAGMENT_MISSING)


def _may_be_made(name: str, places: PagePlaces) -> bool:
    if not places.scripts:
        return False
    return (
        _NOT_A_NAME.search(name) is not None
        or name in places.script_text
        or slug(name) in places.headings
        or places.text_length < LEAST_TEXT
        or not places.names
    )
