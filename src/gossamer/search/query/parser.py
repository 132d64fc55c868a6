"""Reads a query. Nobody's typing is wrong: what is no rule of the language is words.

    words "a phrase" -without this OR that (either way) site:example.org type:pdf lang:de
    title:word url:word url:*.pdf inurl:word after:2026-01 before:2026-02-15 pre* -"no phrase" -site:x

All parts must be met; `OR`, in capitals, binds less than standing side by side. What brackets or quotation marks leave
open is closed at the end. Refused are only what would cost without bound, and dates that are none.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import msgspec

from gossamer.model.reasons.codes import QueryCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import WITH_HOSTS
from gossamer.search.query.asked import All, Any, Asked, Field, Filter, Kind, Not, Span, Words

__all__ = ["Unreadable", "read_query"]

LENGTH = 4_000
"""Characters of a query, at most."""
DEPTH = 20
"""Brackets in brackets, at most."""
PARTS = 200
"""Words, phrases and filters, at most."""
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<open>-?[(\uff08])
      | (?P<close>[)\uff09])
      | (?P<or>(?:OR|\|{1,2})(?=[\s()]|$))
      | (?P<not>-?)(?:(?P<name>[A-Za-z]{2,9})[:\uff1a](?=[^\s]))?
        (?:["“”„«](?P<phrase>[^"“”«»]*)(?:["“”»]|$) | (?P<word>[^\s()"\uff08\uff09]+))
      | (?P<other>\S)
    )""",
    re.VERBOSE,
)
_FIELDS = {"title": Field.TITLE, "intitle": Field.TITLE, "url": Field.URL, "inurl": Field.URL}
_KINDS = {
    "site": Kind.SITE, "host": Kind.SITE, "type": Kind.TYPE, "filetype": Kind.TYPE,
    "lang": Kind.LANGUAGE, "language": Kind.LANGUAGE,
}  # fmt: skip
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


class Unreadable(Exception):  # noqa: N818 (never leaves the room)
    """A query that is refused, and why."""

    def __init__(self, why: Reason) -> None:
        super().__init__(str(why))
        self.why = why


class _Bracket(msgspec.Struct):
    """Parts that were read since a bracket opened: ways, each a list of what must all be."""

    negative: bool
    ways: list[list[Asked]]

    def closed(self) -> Asked | None:
        ways = [_one(All, way) for way in self.ways if way]
        if not ways:
            return None
        inner = _one(Any, ways)
        return Not(inner) if self.negative else inner


def read_query(text: str) -> Asked:
    """The tree of a query; without parts, `All(())`.

    Raises:
        Unreadable: too long, nested too deeply, too many parts, or a date that is none; with the place.
    """
    if len(text) > LENGTH:
        raise Unreadable(because(QueryCode.LENGTH, LENGTH))
    stack = [_Bracket(False, [[]])]
    parts = 0
    for found in _tokens(text):
        place = found.end() - len(found.group().lstrip()) + 1
        if found["open"]:
            if len(stack) > DEPTH:
                raise Unreadable(because(QueryCode.DEPTH, DEPTH, place))
            stack.append(_Bracket(found["open"].startswith("-"), [[]]))
        elif found["close"]:
            if len(stack) > 1:
                _close(stack)
        elif found["or"]:
            stack[-1].ways.append([])
        else:
            for part in _parts(found, place):
                parts += 1
                if parts > PARTS:
                    raise Unreadable(because(QueryCode.PARTS, PARTS, place))
                stack[-1].ways[-1].append(part)
    while len(stack) > 1:
        _close(stack)
    return stack[0].closed() or All()


def _tokens(text: str) -> Iterator[re.Match[str]]:
    place = 0
    while (found := _TOKEN.match(text, place)) is not None:
        yield found
        place = found.end()


def _close(stack: list[_Bracket]) -> None:
    inner = stack.pop().closed()
    if inner is not None:
        stack[-1].ways[-1].append(inner)


def _parts(found: re.Match[str], place: int) -> Iterator[Asked]:
    phrase, word = found["phrase"], found["word"] or ""
    name = (found["name"] or "").lower()
    value = word if phrase is None else phrase
    said: list[Asked] = []
    if name in _FIELDS:
        said.append(_words(value, _FIELDS[name], phrase=phrase is not None))
    elif name in _KINDS:
        values = [one for one in value.lower().split(",") if one]
        said.append(_one(Any, [Filter(_KINDS[name], one) for one in values]) if values else All())
    elif name in ("after", "before"):
        said.append(_span(name, value, place))
    elif name in WITH_HOSTS:
        said.append(_words(value, Field.URL, phrase=False))
    else:
        if found["name"] is not None:
            said.append(_words(found["name"], Field.ANYWHERE, phrase=False))
        if value.strip():
            said.append(_words(value, Field.ANYWHERE, phrase=phrase is not None))
    if found["not"] and said:
        yield Not(_one(All, said))
    else:
        yield from said


def _words(value: str, field: Field, *, phrase: bool) -> Words:
    """A star or question mark stands for characters in a URL; elsewhere only a star at the end of a word."""
    if phrase:
        return Words(value, field, phrase=True)
    if field is Field.URL:
        return Words(value, field, pattern="*" in value or "?" in value)
    beginning = value.rstrip("*")
    return Words(value, field, pattern=beginning != value and len(beginning) > 1 and beginning.isalnum())


def _span(name: str, value: str, place: int) -> Span:
    """`after:2026` is from its first moment on, `before:2026` up to that: what lies between is half open."""
    found = _DATE.fullmatch(value)
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(one) if one else 1 for one in found.groups())
        seconds = datetime(year, month, day, tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        raise Unreadable(because(QueryCode.DATE, f"{name}:{value[:40]}", place)) from None
    return Span(since=seconds) if name == "after" else Span(before=seconds)


def _one(several: Callable[[tuple[Asked, ...]], Asked], parts: list[Asked]) -> Asked:
    return parts[0] if len(parts) == 1 else several(tuple(parts))
