"""Where in a page a piece of text stands: the elements around it, as a style sheet would name them.

Pages of a site are made by templates, so what stands in elements of one name is made by one part of a template. The
names are made of a page's tags in one pass, without a tree.
"""

import re
from collections.abc import Iterable

__all__ = ["places_of"]

_TAG = re.compile(
    r"<(/?)([a-z][a-z0-9:-]*)((?:[^<>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+)>", re.IGNORECASE | re.ASCII
)
_LABEL = re.compile(
    r"(?<![\w-])(?:class|id)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))", re.IGNORECASE | re.ASCII
)
_FIGURES = re.compile(r"\d+")
_EMPTY = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_ENDS_ITSELF = frozenset(("p", "li", "dt", "dd", "tr", "option"))
"""A second one beside it ends the first."""
_DEEPEST = 64
"""Elements that are remembered; an end tag is looked for among them alone, so that nesting costs no quadratic time."""
_WIDEST = 6
"""Elements in a name."""
_MOST_KNOWN = 4_096
"""Runs of tags, each behind the same elements, that are looked at once: rows of a table are all alike."""
_Open = tuple[tuple[str, str], ...]
"""The elements that are open, the inner one last: each by its name, and as `places_of` names it."""


def places_of(runs: Iterable[str]) -> list[str]:
    """For the text before the first run of tags, and behind each, the element that is open there.

    A name is a row of elements, the inner one last, from the nearest that has a class or id on: `div.related ul li`.
    """
    open_: _Open = ()
    known: dict[tuple[_Open, str], _Open] = {}
    places = [""]
    for run in runs:
        behind = known.get((open_, run))
        if behind is None:
            behind = _behind(open_, run)
            if len(known) < _MOST_KNOWN:
                known[open_, run] = behind
        open_ = behind
        places.append(open_[-1][1] if open_ else "")
    return places


def _behind(before: _Open, run: str) -> _Open:
    """What is open behind a run of tags."""
    open_ = [*before]
    for tag in _TAG.finditer(run):
        name = tag[2].lower()
        if tag[1]:
            _close(open_, name)
        elif name not in _EMPTY and not tag[3].endswith("/"):
            if open_ and open_[-1][0] == name and name in _ENDS_ITSELF:
                open_.pop()
            label = _LABEL.search(tag[3]) if "=" in tag[3] else None
            said = ".".join((label[1] or label[2] or label[3] or "").split()) if label else ""
            above = open_[-1][1] if open_ and not said else ""
            own = f"{name}.{_FIGURES.sub('0', said)}" if said else name
            open_.append((name, f"{above} {own}" if above and above.count(" ") < _WIDEST else own))
            del open_[:-_DEEPEST]
    return tuple(open_)


def _close(open_: list[tuple[str, str]], name: str) -> None:
    for at in range(len(open_) - 1, -1, -1):
        if open_[at][0] == name:
            del open_[at:]
            return
