"""What differs in pages at each visit though they say nothing new, and what differs because they do.

Of the kinds of noise half were kept back (`HELD_OUT`): they were written down before the mechanism was tuned, and
measured once it was done.
"""

import random
import re
import string
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

WORDS = (
    "river market engine window council report library garden signal harbour winter module station paper bridge "
    "teacher valley copper branch mirror forest island captain letter village ocean member season theory camera"
).split()
LETTERS = string.ascii_letters


class Visit(NamedTuple):
    """`number` of the visit, its `time` in seconds since 1970, and a generator that differs with each visit."""

    number: int
    time: float
    random: random.Random


Noise = Callable[[random.Random, Visit], str]
"""Markup for one visit; the first generator is the same at each visit of a page."""


def phrase(generator: random.Random, words: int) -> str:
    return " ".join(generator.choice(WORDS) for _ in range(words)).capitalize()


def _when(visit: Visit) -> datetime:
    return datetime.fromtimestamp(visit.time, UTC)


def clock(fixed: random.Random, visit: Visit) -> str:
    return f"<p>Rendered at {_when(visit):%Y-%m-%d %H:%M:%S}</p>"


def views(fixed: random.Random, visit: Visit) -> str:
    return f"<div class=stats><b>{fixed.randrange(9_000) + visit.number * 37 + visit.random.randrange(30):,}</b> views</div>"


def generated(fixed: random.Random, visit: Visit) -> str:
    return f"<footer>Page generated in {visit.random.random():.3f} seconds with {visit.random.randrange(20, 90)} queries</footer>"


def related(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 5) for _ in range(20)]
    items = "".join(f"<li><a href=/a/{hash(one) % 999}>{one}</a></li>" for one in visit.random.sample(pool, 4))
    return f"<aside><h3>Related articles</h3><ul>{items}</ul></aside>"


def shuffled(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 2) for _ in range(9)]
    visit.random.shuffle(pool)
    return "<ul>" + "".join(f"<li><a href='/t/{one}'>{one}</a>" for one in pool) + "</ul>"


def nonces(fixed: random.Random, visit: Visit) -> str:
    token = f"{visit.random.getrandbits(128):x}"
    return (
        f"<script nonce='{token}'>var t='{token}'</script><form><input type=hidden name=csrf value={token}></form>"
        f"<div data-id='{token}' class='c-{token[:5]}'><!-- {token} --></div>"
    )


def session(fixed: random.Random, visit: Visit) -> str:
    return f"<p><small>Session {visit.random.getrandbits(64):016x}</small></p>"


def visitors(fixed: random.Random, visit: Visit) -> str:
    return f"<table><tr><td>Visitors today</td><td>{visit.random.randrange(10, 9_000)}</td></tr></table>"


def saying(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 9) for _ in range(12)]
    return f"<blockquote>{visit.random.choice(pool)}.</blockquote>"


def ages(fixed: random.Random, visit: Visit) -> str:
    said = ""
    for number in range(4):
        minutes = 3 + number * 50 + visit.number * 200 + visit.random.randrange(40)
        age = (
            f"{minutes} minutes ago" if minutes < 60 else f"{minutes // 60} hours ago" if minutes < 1_440
            else f"{minutes // 1_440} days ago"
        )  # fmt: skip
        said += f"<div><b>{phrase(fixed, 2)}</b> <i>{age}</i><p>{phrase(fixed, 12)}</p></div>"
    return said


def online(fixed: random.Random, visit: Visit) -> str:
    draw = visit.random.randrange
    return f"<p>There are {draw(3, 40)} users and {draw(100, 900)} guests online.</p>"


def advertisement(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 7) for _ in range(8)]
    one = visit.random.choice(pool)
    return f"<div class=ad><a href=//ads.example/{visit.random.getrandbits(40)}>{one}</a></div>" if visit.random.random() < 0.8 else ""


def long_date(fixed: random.Random, visit: Visit) -> str:
    return f"<header><span>{_when(visit):%A, %B %d, %Y at %I:%M %p}</span></header>"


def cloud(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 1) for _ in range(14)]
    visit.random.shuffle(pool)
    return "<p>" + " ".join(f"<a style='font-size:{visit.random.randrange(9, 30)}px'>{one}</a>" for one in pool) + "</p>"


def letters(fixed: random.Random, visit: Visit) -> str:
    return "<p>Reference: " + "".join(visit.random.choice(LETTERS) for _ in range(12)) + "</p>"


def chinese(fixed: random.Random, visit: Visit) -> str:
    day = "一二三四五六日"[_when(visit).weekday()]
    return f"<p>当前时间：{_when(visit):%Y年%m月%d日} 星期{day} {_when(visit):%H:%M:%S}</p><p>浏览量 {visit.number * 31 + visit.random.randrange(20)} 次</p>"


def carousel(fixed: random.Random, visit: Visit) -> str:
    slides = [f"<div class=slide><h4>{phrase(fixed, 3)}</h4><p>{phrase(fixed, 8)}</p></div>" for _ in range(5)]
    start = visit.random.randrange(5)
    return "".join(slides[start:] + slides[:start])


TUNED: dict[str, Noise] = {
    "clock": clock, "views": views, "generated": generated, "related": related, "shuffled": shuffled,
    "nonces": nonces, "session": session, "visitors": visitors,
}  # fmt: skip
HELD_OUT: dict[str, Noise] = {
    "saying": saying, "ages": ages, "online": online, "advertisement": advertisement, "long_date": long_date,
    "cloud": cloud, "letters": letters, "chinese": chinese, "carousel": carousel,
}  # fmt: skip

_TAG = re.compile(r"<(/?)(p|div|b|span|li)(?=[\s>])([^>]*)>")


def spaced(markup: str, visit: Visit) -> str:
    """The same page as another program would write it: blanks, line ends, attributes, comments."""
    draw = visit.random
    style = draw.randrange(4)
    if style == 0:
        return markup
    if style == 1:
        return re.sub(r">(\s+)<", lambda _: ">" + draw.choice(["\n  ", "\n", "  \t"]) + "<", markup)
    token = f"{draw.getrandbits(32):x}"
    return _TAG.sub(
        lambda tag: f"<{tag[1]}{tag[2].upper()}{tag[3]}{'' if tag[1] else f' data-v-{token}'}>", markup
    ) + f"<!-- {token} -->"


def rewrapped(markup: str, visit: Visit) -> str:
    """Held out: the same text in other elements, its characters written otherwise."""
    draw = visit.random
    if draw.random() < 0.5:
        return markup
    text = re.sub(r"<(/?)b>", r"<\1strong>", markup)
    text = re.sub(r"(<p(?:\s[^>]*)?>)([^<]+)(</p>)", r"\1<span class=t>\2</span>\3", text)
    return text.replace("&nbsp;", "&#160;").replace("'", "&#39;") if "<script" not in text else text


# --- what counts -------------------------------------------------------------------------------------------------

_TEXT = re.compile(r"(<(?:p|li|h[1-6]|td|dd|blockquote)\b[^>]*>)([^<]{25,})")


class State:
    """The blocks that were planted in a page, whose content is true."""

    def __init__(self, generator: random.Random) -> None:
        self._random = generator
        self.news = [phrase(generator, 6) for _ in range(8)]
        self.price = generator.randrange(500, 90_000) / 100
        self.day = generator.randrange(1, 365)
        self.stock = True
        self.headline = phrase(generator, 7)
        self.cells = [[generator.randrange(900) for _ in range(3)] for _ in range(4)]
        self.comments = [phrase(generator, 10)]

    def markup(self) -> dict[str, str]:
        cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in self.cells)
        date = datetime.fromtimestamp(1_700_000_000 + 86_400 * self.day, UTC)
        return {
            "news": "<h2>News</h2><ul>" + "".join(f"<li><a href=/n/{len(one)}>{one}</a></li>" for one in self.news) + "</ul>",
            "price": f"<div>Price: <b>${self.price:,.2f}</b></div>",
            "date": f"<p>Published on {date:%d %B %Y}</p>",
            "stock": f"<p>{'In stock' if self.stock else 'Sold out'}</p>",
            "headline": f"<h1>{self.headline}</h1>",
            "cells": f"<table><tr><th>Team<th>Won<th>Lost</tr>{cells}</table>",
            "comments": "".join(f"<div class=comment><p>{one}</p></div>" for one in self.comments),
        }

    def change(self, kind: str) -> None:
        draw = self._random
        match kind:
            case "news":
                self.news = [phrase(draw, 6), *self.news[:-1]]
            case "price":
                self.price = round(self.price * draw.choice([0.8, 0.9, 1.1, 1.25]), 2)
            case "date":
                self.day += draw.randrange(1, 30)
            case "stock":
                self.stock = not self.stock
            case "headline":
                self.headline = phrase(draw, 7)
            case "cells":
                self.cells[draw.randrange(4)][draw.randrange(3)] += 1
            case "comments":
                self.comments.append(phrase(draw, 10))


PLANTED = ("news", "price", "date", "stock", "headline", "cells", "comments")
EDITS = ("word", "sentence", "number", "removed", "rewritten")


def edit(markup: str, kind: str, generator: random.Random) -> str:
    """A page with one of its texts edited."""
    places = [match for match in _TEXT.finditer(markup) if match[2].strip()]
    if not places:
        return markup
    match = generator.choice(places)
    words = match[2].split()
    at = generator.randrange(len(words))
    match kind:
        case "word":
            words[at] = generator.choice(WORDS) + "x"
        case "sentence":
            words.append(phrase(generator, 8) + ".")
        case "number":
            words.insert(at, str(generator.randrange(10_000)))
        case "removed":
            words = words[:at] if at else ["Removed"]
        case _:
            words = phrase(generator, 15).split()
    return markup[: match.start(2)] + " ".join(words) + markup[match.end(2) :]
