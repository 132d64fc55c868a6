"""HTML in pieces: what is not markup already is escaped on the way in."""

from collections.abc import Iterable, Sequence
from typing import NewType

import msgspec

from gossamer.report.charts import escaped

Html = NewType("Html", str)
"""Markup. Made from text that is escaped; the type checker sees where one is taken for the other."""

_LONGEST = 300


def text(words: str) -> Html:
    """Words of our own, without markup."""
    return Html(escaped(words))


def foreign(words: str, longest: int = _LONGEST) -> Html:
    """Words from the network: escaped, cut, and isolated from the direction of what stands around them."""
    if len(words) > longest:
        words = words[: longest - 1] + "\u2026"
    return Html(f"<bdi>{escaped(words)}</bdi>")


def address(url: str) -> Html:
    """A URL as text: a report goes from hand to hand, so nothing in it leads to a page of unknown intent."""
    return Html(f'<bdi class="url">{escaped(url if len(url) <= _LONGEST else url[:_LONGEST] + "…")}</bdi>')


def join(parts: Iterable[Html]) -> Html:
    """Pieces of markup, one behind the other."""
    return Html("".join(parts))


def element(name: str, kind: str, *content: Html) -> Html:
    """An element of class `kind`, none if it is empty."""
    opening = f'<{name} class="{escaped(kind)}">' if kind else f"<{name}>"
    return Html(f"{opening}{''.join(content)}</{name}>")


def paragraph(words: str, kind: str = "") -> Html:
    """A paragraph of ours; nothing if there are no words."""
    return element("p", kind, text(words)) if words else Html("")


def section(anchor: str, title: str, *content: Html) -> Html:
    """A chapter; `anchor` is where the table of contents leads."""
    heading = Html(f'<h2 id="{escaped(anchor)}-title">{escaped(title)}</h2>')
    opening = f'<section id="{escaped(anchor)}" aria-labelledby="{escaped(anchor)}-title">'
    return Html(f"{opening}{heading}{''.join(content)}</section>")


class Fact(msgspec.Struct, frozen=True):
    """What stands for a chart that would compare nothing: its one value, or no words if it has none."""

    said: Html = Html("")


class Card(msgspec.Struct, frozen=True):
    """A heading and what stands under it; `whole` ones take the whole width."""

    title: str
    content: Html | Fact
    note: str = ""
    whole: bool = False


def cards(*content: Card) -> Html:
    """Boxes side by side, as many as fit; before them, in one list, what needs no box of its own."""
    told = [(one.title, one.content) for one in content if isinstance(one.content, Fact)]
    listed = facts([(title, fact.said) for title, fact in told if fact.said])
    boxes = [
        element(
            "div",
            "card whole" if one.whole else "card",
            element("h3", "", text(one.title)),
            one.content,
            paragraph(one.note, "note"),
        )
        for one in content
        if not isinstance(one.content, Fact)
    ]
    return join((listed, element("div", "cards", *boxes) if boxes else Html("")))


def facts(known: Sequence[tuple[str, Html]]) -> Html:
    """Names with one value each, in a box; nothing if there are none."""
    pairs = [
        element("div", "", element("dt", "", text(name)), element("dd", "", value)) for name, value in known
    ]
    return element("dl", "card facts", *pairs) if pairs else Html("")


def table(heads: Sequence[tuple[str, bool]], rows: Iterable[Sequence[Html]], empty: str) -> Html:
    """A table in a frame that scrolls; heads are (words, whether the column holds numbers)."""
    body = [
        element(
            "tr",
            "",
            *(_cell(cell, head, place) for place, (cell, head) in enumerate(zip(row, heads, strict=True))),
        )
        for row in rows
    ]
    if not body:
        return paragraph(empty, "empty")
    head = join(
        Html(
            f'<th scope="col" class="n">{escaped(words)}</th>'
            if numbers
            else f'<th scope="col">{escaped(words)}</th>'
        )
        for words, numbers in heads
    )
    return element(
        "div",
        "scroll",
        element("table", "", element("thead", "", element("tr", "", head)), element("tbody", "", *body)),
    )


def _cell(content: Html, head: tuple[str, bool], place: int) -> Html:
    """On phones, where a row becomes lines, all but the first cell say what they hold."""
    words, numbers = head
    said = f' data-head="{escaped(words)}"' if place else ""
    kind = ' class="n"' if numbers else ""
    return Html(f"<td{kind}{said}>{content}</td>")
