"""What differs in pages at each visit though they say nothing new, and what differs because they do.

Kinds of noise in four groups. `HELD_OUT` was written down together with `TUNED`, and measured once when that was
done; what it showed was then mended. `KEPT_BACK` was written down before that, and so was `FRESH` before what that
showed was mended. Nothing was changed for `FRESH`.
"""

import random
import re
import string
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

_LINES = (
    "river market engine window council report library garden signal harbour winter module station paper bridge",
    "teacher valley copper branch mirror forest island captain letter village ocean member season theory camera",
)
WORDS = " ".join(_LINES).split()
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


def clock(_: random.Random, visit: Visit) -> str:
    return f"<p>Rendered at {_when(visit):%Y-%m-%d %H:%M:%S}</p>"


def views(fixed: random.Random, visit: Visit) -> str:
    seen = fixed.randrange(9_000) + visit.number * 37 + visit.random.randrange(30)
    return f"<div class=stats><b>{seen:,}</b> views</div>"


def generated(_: random.Random, visit: Visit) -> str:
    seconds, queries = visit.random.random(), visit.random.randrange(20, 90)
    return f"<footer>Page generated in {seconds:.3f} seconds with {queries} queries</footer>"


def related(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 5) for _ in range(20)]
    items = "".join(
        f"<li><a href=/a/{hash(one) % 999}>{one}</a></li>" for one in visit.random.sample(pool, 4)
    )
    return f"<aside><h3>Related articles</h3><ul>{items}</ul></aside>"


def shuffled(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 2) for _ in range(9)]
    visit.random.shuffle(pool)
    return "<ul>" + "".join(f"<li><a href='/t/{one}'>{one}</a>" for one in pool) + "</ul>"


def nonces(_: random.Random, visit: Visit) -> str:
    token = f"{visit.random.getrandbits(128):x}"
    return (
        f"<script nonce='{token}'>var t='{token}'</script><form><input type=hidden name=csrf value={token}></form>"
        f"<div data-id='{token}' class='c-{token[:5]}'><!-- {token} --></div>"
    )


def session(_: random.Random, visit: Visit) -> str:
    return f"<p><small>Session {visit.random.getrandbits(64):016x}</small></p>"


def visitors(_: random.Random, visit: Visit) -> str:
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


def online(_: random.Random, visit: Visit) -> str:
    draw = visit.random.randrange
    return f"<p>There are {draw(3, 40)} users and {draw(100, 900)} guests online.</p>"


def advertisement(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 7) for _ in range(8)]
    one = visit.random.choice(pool)
    return (
        f"<div class=ad><a href=//ads.example/{visit.random.getrandbits(40)}>{one}</a></div>"
        if visit.random.random() < 0.8
        else ""
    )


def long_date(_: random.Random, visit: Visit) -> str:
    return f"<header><span>{_when(visit):%A, %B %d, %Y at %I:%M %p}</span></header>"


def cloud(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 1) for _ in range(14)]
    visit.random.shuffle(pool)
    return (
        "<p>"
        + " ".join(f"<a style='font-size:{visit.random.randrange(9, 30)}px'>{one}</a>" for one in pool)
        + "</p>"
    )


def letters(_: random.Random, visit: Visit) -> str:
    return "<p>Reference: " + "".join(visit.random.choice(LETTERS) for _ in range(12)) + "</p>"


def chinese(_: random.Random, visit: Visit) -> str:
    day = "一二三四五六日"[_when(visit).weekday()]
    seen = visit.number * 31 + visit.random.randrange(20)
    now = f"{_when(visit):%Y年%m月%d日} 星期{day} {_when(visit):%H:%M:%S}"
    return f"<p>当前时间 {now}</p><p>浏览量 {seen} 次</p>"


def carousel(fixed: random.Random, visit: Visit) -> str:
    slides = [
        f"<div class=slide><h4>{phrase(fixed, 3)}</h4><p>{phrase(fixed, 8)}</p></div>" for _ in range(5)
    ]
    start = visit.random.randrange(5)
    return "".join(slides[start:] + slides[:start])


def sponsors(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 1) + " Ltd" for _ in range(15)]
    return (
        "<div class=logos>"
        + " ".join(f"<span>{one}</span>" for one in visit.random.sample(pool, 6))
        + "</div>"
    )


def poll(fixed: random.Random, visit: Visit) -> str:
    answers = [phrase(fixed, 2) for _ in range(3)]
    rows = "".join(f"<li>{one} <i>{visit.random.randrange(5, 60)}%</i></li>" for one in answers)
    return f"<h4>Poll</h4><ul>{rows}</ul><p>{400 + visit.number * 9} votes</p>"


def weather(_: random.Random, visit: Visit) -> str:
    sky = visit.random.choice(["sunny", "cloudy", "light rain", "snow", "windy", "overcast"])
    return f"<div class=w><b>Berlin</b> {visit.random.randrange(-9, 33)}° {sky}</div>"


def commented(fixed: random.Random, visit: Visit) -> str:
    pool = [f"{phrase(fixed, 1)} on {phrase(fixed, 3)}" for _ in range(40)]
    return "<h5>Recent comments</h5>" + "".join(f"<p>{one}</p>" for one in visit.random.sample(pool, 3))


def banner(fixed: random.Random, visit: Visit) -> str:
    one, other = phrase(fixed, 6), phrase(fixed, 6)
    said = visit.random.choice([one, other, ""])
    return f"<div class=banner><p>{said}</p></div>" if said else ""


def riddle(_: random.Random, visit: Visit) -> str:
    return (
        f"<label>What is {visit.random.randrange(10)} + {visit.random.randrange(10)}? <input name=a></label>"
    )


def quoted(fixed: random.Random, visit: Visit) -> str:
    token = f"{visit.random.getrandbits(128):032x}"
    code = "-".join((token[:8], token[8:12], token[12:16], token[16:20], token[20:]))
    return f"<p>{phrase(fixed, 6)}. Please quote {code} when you write to us about {phrase(fixed, 2)}.</p>"


def popular(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 4) for _ in range(6)]
    visit.random.shuffle(pool)
    rows = "".join(
        f"<li><a>{one}</a> ({fixed.randrange(999) + visit.number * 7 + visit.random.randrange(9)})</li>"
        for one in pool
    )
    return f"<ol>{rows}</ol>"


def french(_: random.Random, visit: Visit) -> str:
    months = [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ]
    days = ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"]
    now = _when(visit)
    return f"<p>Nous sommes le {days[now.weekday()]} {now.day} {months[now.month - 1]} {now.year}, {now:%Hh%M}</p>"


def countdown(_: random.Random, visit: Visit) -> str:
    left = visit.random.randrange(90_000)
    return f"<p>Offer ends in {left // 1_440} days {left // 60 % 24} hours {left % 60} minutes</p>"


def served(_: random.Random, visit: Visit) -> str:
    server, took = visit.random.randrange(40), visit.random.randrange(8, 300)
    return f"<!-- x --><address>Served by web-{server} in {took}ms</address>"


def fact(_: random.Random, visit: Visit) -> str:
    return f"<div><h4>Did you know?</h4><p>{phrase(visit.random, 14)}.</p><p>{phrase(visit.random, 6)}.</p></div>"


def german(_: random.Random, visit: Visit) -> str:
    now = _when(visit)
    day = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")[now.weekday()]
    return f"<td>Heute ist {day}, der {now:%d.%m.%Y}, {now:%H:%M} Uhr</td>"


def ranked(fixed: random.Random, visit: Visit) -> str:
    pool = [phrase(fixed, 4) for _ in range(12)]
    rows = "".join(
        f"<div>#{number} <a>{one}</a></div>" for number, one in enumerate(visit.random.sample(pool, 5), 1)
    )
    return f"<section><h2>Trending</h2>{rows}</section>"


def teasers(fixed: random.Random, visit: Visit) -> str:
    pool = [(phrase(fixed, 6), 1 + fixed.randrange(28)) for _ in range(30)]
    rows = "".join(
        f"<li><h3>{one}</h3><p>{day} May 2026</p></li>" for one, day in visit.random.sample(pool, 4)
    )
    return f"<nav><h3>You may also like</h3><ul>{rows}</ul></nav>"


def expires(_: random.Random, visit: Visit) -> str:
    token = "".join(visit.random.choice(LETTERS) for _ in range(20))
    return f"<p>Your session expires at {visit.random.randrange(24)}:{visit.random.randrange(10, 60)} ({token})</p>"


TUNED: dict[str, Noise] = {
    "clock": clock, "views": views, "generated": generated, "related": related, "shuffled": shuffled,
    "nonces": nonces, "session": session, "visitors": visitors,
}  # fmt: skip
HELD_OUT: dict[str, Noise] = {
    "saying": saying, "ages": ages, "online": online, "advertisement": advertisement, "long_date": long_date,
    "cloud": cloud, "letters": letters, "chinese": chinese, "carousel": carousel,
}  # fmt: skip

KEPT_BACK: dict[str, Noise] = {
    "sponsors": sponsors, "poll": poll, "weather": weather, "commented": commented, "banner": banner,
    "riddle": riddle, "quoted": quoted, "popular": popular, "french": french, "countdown": countdown,
}  # fmt: skip

FRESH: dict[str, Noise] = {
    "served": served, "fact": fact, "german": german, "ranked": ranked, "teasers": teasers, "expires": expires,
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
    return (
        _TAG.sub(
            lambda tag: f"<{tag[1]}{tag[2].upper()}{tag[3]}{'' if tag[1] else f' data-v-{token}'}>", markup
        )
        + f"<!-- {token} -->"
    )


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
            "news": "<h2>News</h2><ul>"
            + "".join(f"<li><a href=/n/{len(one)}>{one}</a></li>" for one in self.news)
            + "</ul>",
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
