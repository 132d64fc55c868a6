"""Made-up web sites whose truth is known, for `benchmarks.completeness`.

A site is a pure function of the request's target (path and query as sent). Writers of sites know the web, not
the crawler: nothing here may be shaped after what the crawler looks at.
"""

import html
import random
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple


class Answer(NamedTuple):
    """What a server says."""

    body: bytes
    status: int = 200
    media_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


MISSING = Answer(b"<html><title>404 Not Found</title><h1>Not Found</h1></html>", 404)


class Site(NamedTuple):
    """One host.

    Attributes:
        name: label of its host name: small letters, digits, hyphens.
        good: targets (path and query, as its links spell them) of the pages that are worth having; the front
            page among them. All can be reached by links from `start` through good pages alone.
        answer: what the server says to a target, good or not.
        start: where to begin.
        ends: for a site with an endless part, whether a crawl should find its end by itself, because the
            endless part says nothing new at all.
        traps: what its endless parts are, in a few words; empty for a finite site.
        copies: targets of pages beside the good ones of which there is a finite number, such as lists in
            another order, where these are many.
    """

    name: str
    good: frozenset[str]
    answer: Callable[[str], Answer]
    start: str = "/"
    ends: bool = False
    traps: tuple[str, ...] = ()
    copies: frozenset[str] = frozenset()


@cache
def vocabulary(language: str, size: int = 4_000) -> tuple[str, ...]:
    """Made-up words of a language, the frequent ones first; other languages have other syllables."""
    dice = random.Random(f"words {language}")
    starts = dice.sample("b br c d f fl g gr h k l m n p pr r s st t tr v w z".split(), 14)
    middles = dice.sample("a ai e ea i ia o oo ou u y".split(), 7)
    ends = dice.sample(["", *"l m n nd r rt s st t x".split()], 7)
    words: dict[str, None] = {}
    while len(words) < size:
        syllables = dice.choice((1, 1, 2, 2, 2, 3))
        words[
            "".join(dice.choice(starts) + dice.choice(middles) + dice.choice(ends) for _ in range(syllables))
        ] = None
    return tuple(words)


def prose(seed: str, words: int, language: str = "en") -> str:
    """Sentences that follow from `seed`, with frequent and rare words as in real texts."""
    dice, known = random.Random(seed), vocabulary(language)
    said, left = [], 0
    for _ in range(words):
        word = known[int(len(known) * dice.random() ** 2.5)]
        if not left:
            word, left = word.capitalize(), dice.randint(6, 18)
        left -= 1
        said.append(word if left else word + ".")
    return " ".join(said)


def link(target: str, text: str = "") -> str:
    """An anchor."""
    return f'<a href="{html.escape(target)}">{html.escape(text or target)}</a>'


def listed(targets: Iterable[tuple[str, str]]) -> str:
    """A list of anchors (target, text)."""
    return "<ul>" + "".join(f"<li>{link(*one)}</li>" for one in targets) + "</ul>"


def page(
    title: str, body: str, *, head: str = "", top: str = "", foot: str = "", language: str = "en"
) -> Answer:
    """A page of HTML; `head`, `top` and `foot` are what all pages of the site share."""
    return Answer(
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{html.escape(title)}</title>{head}'
        f"</head><body>{top}<main>{body}</main>{foot}</body></html>".encode()
    )
