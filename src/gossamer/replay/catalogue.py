"""The list of archived pages with its search, and the calendar of captures: pages of ours, without scripts."""

import calendar
from collections.abc import Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from urllib.parse import parse_qsl, quote

import msgspec

from gossamer.inspect.archive.lookup import Indexed, instant
from gossamer.inspect.url_list import Wanted, walked
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError, GossamerError
from gossamer.model.url import Url
from gossamer.replay.archive import Archive
from gossamer.replay.messages import Answer, Request
from gossamer.replay.names import Names
from gossamer.replay.page import HEAD_FIELDS, code, led, link, named, page
from gossamer.report.charts import escaped
from gossamer.report.markup import Html, address, element, foreign, join, paragraph, text
from gossamer.words.amounts import machine_time
from gossamer.words.catalogue import Words, preferred, words

__all__ = ["Catalogue"]

ON_A_PAGE = 50
MOST_LOOKED_AT = 50_000
"""URLs that one page of the list looks through; a link goes on from there."""
MOST_MONTHS = 60
MOST_CAPTURES = 500
_DAY = len("2026-01-31")
_MONTH = len("2026-01")


class _Line(msgspec.Struct, frozen=True):
    """One page of the list; `snippet` if the index found it."""

    url: str
    title: str
    time: str
    snippet: Html = Html("")


class Catalogue:
    """Answers at the list's own address. For one thread at a time, as the archive."""

    def __init__(self, archive: Archive, names: Names) -> None:
        self._archive = archive
        self._names = names

    def answer(self, request: Request) -> Answer:
        """`/` lists and searches, `/captures` is the calendar of a URL, `/view` leads to where it is replayed."""
        t = words(preferred(request.fields.get("accept-language", "")))
        path, _, query = request.target.partition("?")
        asked = dict(parse_qsl(query, max_num_fields=20)) if len(query) < 16_384 else {}
        if request.method not in ("GET", "HEAD"):
            return _answer(405, page(t, t("replay.title"), paragraph(t("replay.only_read"))))
        match path:
            case "/":
                return _answer(200, self._list(t, asked))
            case "/captures":
                return self._captures(t, asked)
            case "/view":
                return self._view(t, asked)
        return self._nothing(t, asked.get("url", ""))

    # The list …

    def _list(self, t: Words, asked: Mapping[str, str]) -> bytes:
        wanted = asked.get("q", "").strip()
        lines, further = self._found(wanted) if wanted else (None, "")
        searched = lines is not None
        if lines is None:
            lines, further = self._walked(wanted, asked.get("from", ""))
        config = self._archive.look().config
        parts = [
            element("h1", "", text(t("replay.title")), Html(" "), foreign(str(self._archive.path))),
            _form(t, wanted, searched=searched),
        ]
        if config.scope.requisites == "off":
            parts.append(_bare(t, self._archive.path))
        if not lines:
            parts.append(paragraph(t("replay.none")))
        parts.append(element("ul", "", *(self._item(t, line) for line in lines)))
        if further:
            onwards = f"/?q={quote(wanted, safe='')}&from={further}"
            parts.append(element("p", "", link(onwards, text(t("replay.further")))))
        return page(t, t("replay.title"), *parts)

    def _item(self, t: Words, line: _Line) -> Html:
        shown = link(led("", "view", line.url), named(line.title, line.url))
        when = link(led("", "captures", line.url), text(line.time or t("replay.captures")))
        where = [address(line.url), Html(" · ")] if line.title else []  # else it is what is shown
        below = element("div", "dim", *where, when)
        return element("li", "", shown, element("div", "", line.snippet) if line.snippet else Html(""), below)

    def _walked(self, wanted: str, begin: str) -> tuple[list[_Line], str]:
        """Pages whose URL or title holds what is wanted, and where to go on."""
        try:
            start = bytes.fromhex(begin)
        except ValueError:
            start = b""
        needle, lines = wanted.casefold(), list[_Line]()
        only = Wanted(state="done", type="text/html" if not needle else "")
        for number, (key, one) in enumerate(walked(self._archive.look(), only, start)):
            if len(lines) >= ON_A_PAGE or number >= MOST_LOOKED_AT:
                return lines, key.hex()
            if one is not None and (needle in one.url.casefold() or needle in one.title.casefold()):
                lines.append(_Line(one.url, one.title, one.time))
        return lines, ""

    def _found(self, wanted: str) -> tuple[list[_Line] | None, str]:
        """What the index of the crawl finds; `None` without one."""
        from gossamer.search.searching import Searching

        try:
            with Searching([self._archive.path]) as searching:
                results = searching.search(wanted, limit=ON_A_PAGE)
        except (GossamerError, ImportError):
            return None, ""
        if results.problem is not None:
            return None, ""
        lines = []
        for hit in results.hits:
            snippet = join(_piece(piece.text, marked=piece.marked) for piece in hit.snippet)
            title = "".join(piece.text for piece in hit.title)
            when = machine_time(hit.captured)
            lines.append(_Line(hit.url, title, when, snippet))
        return lines, ""

    # The calendar …

    def _captures(self, t: Words, asked: Mapping[str, str]) -> Answer:
        url = Url.parse(asked.get("url", ""))
        found = self._archive.captures(url) if url is not None else []
        if url is None or not found:
            return self._nothing(t, asked.get("url", ""))
        months = groupby(
            sorted(found, key=lambda one: one.time, reverse=True), key=lambda one: one.time[:_MONTH]
        )
        grids = [_month(month, list(of_it)) for month, of_it in islice(months, MOST_MONTHS)]
        rows = [_capture(t, one) for one in found[-MOST_CAPTURES:][::-1]]
        parts = [
            element("h1", "", text(t("replay.captures_of", n=len(found))), Html(" "), address(url.text)),
            element("div", "months", *grids),
            element("ul", "", *rows),
            element("p", "", link("/", text(t("replay.to_list")))),
        ]
        return _answer(200, page(t, t("replay.captures"), *parts))

    def _view(self, t: Words, asked: Mapping[str, str]) -> Answer:
        url = Url.parse(asked.get("url", "").strip())
        try:
            at = int(instant(asked["at"])) if asked.get("at") else 0
        except ConfigError:
            at = 0
        if url is None:
            return self._nothing(t, asked.get("url", ""))
        return Answer(302, (("Location", self._names.address(url, at)), *HEAD_FIELDS))

    def _nothing(self, t: Words, url: str) -> Answer:
        parts = [element("h1", "", text(t("replay.missing"))), element("p", "", address(url))]
        parts.append(element("p", "", link("/", text(t("replay.to_list")))))
        return _answer(404, page(t, t("replay.missing"), *parts))


def _answer(status: int, body: bytes) -> Answer:
    return Answer(status, HEAD_FIELDS, body)


def _form(t: Words, wanted: str, *, searched: bool) -> Html:
    label = t("replay.find_words") if searched else t("replay.find")
    field = (
        f'<input type="search" name="q" value="{escaped(wanted)}" placeholder="{escaped(label)}"'
        f' aria-label="{escaped(label)}">'
    )
    return Html(f'<form action="/">{field}<button>{escaped(t("replay.go"))}</button></form>')


def _bare(t: Words, folder: Path) -> Html:
    return element("p", "dim", text(t("replay.bare")), Html(" "), code(with_requisites(folder)))


def with_requisites(folder: Path) -> str:
    """The command that fetches what pages of a crawl show, which was left out."""
    return (
        f"{command_line('refetch', folder, '--type', 'text/html')} && "
        f"{command_line('resume', folder, '--set', 'scope.requisites=any')}"
    )


def _piece(words_of_it: str, *, marked: bool) -> Html:
    return element("mark", "", foreign(words_of_it)) if marked else foreign(words_of_it)


def _month(month: str, captures: Sequence[Indexed]) -> Html:
    """A month as a grid of days, those with captures as links to the last of each."""
    days = {int(one.time[_MONTH + 1 : _DAY]): one for one in sorted(captures, key=lambda one: one.time)}
    year, number = map(int, month.split("-"))
    weeks = calendar.monthcalendar(year, number)
    rows = (element("tr", "", *(_day(day, days.get(day)) for day in week)) for week in weeks)
    return element("table", "", element("caption", "", text(month)), *rows)


def _day(day: int, capture: Indexed | None) -> Html:
    shown = text(str(day) if day else "")
    return element("td", "", link(led("", "view", capture.url, capture.time), shown) if capture else shown)


def _capture(t: Words, one: Indexed) -> Html:
    facts = f"{one.status or '-'}  {t.said('replay_found', one.found)}"
    return element("li", "", link(led("", "view", one.url, one.time), text(one.time)), Html(" "), text(facts))
