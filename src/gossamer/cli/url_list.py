"""Prints the URLs of a crawl for people, for programs and for spreadsheets."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.exact_pattern import exact_hint
from gossamer.cli.terminal.printing import plural, safe, say, show
from gossamer.config.units import parse_duration
from gossamer.datasets.export.csv_cells import csv_line
from gossamer.inspect.archive.lookup import instant
from gossamer.inspect.gone import LeftHost, left_hosts
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.url_list import COLUMNS, Listed, Wanted, listed
from gossamer.inspect.why.story import url_of
from gossamer.inspect.why.whole import tell_whole
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url
from gossamer.policy.urls.queue_key import queue_key
from gossamer.search.similar.table import near_duplicates

Form = Literal["table", "jsonl", "csv"]
_CLUSTER = "cluster"
_COLUMNS = (*COLUMNS, _CLUSTER)
"""What the crawl knows of a URL, and what the index of near-duplicates does."""
_WIDTHS: Final = {
    "state": 8, "status": 6, "type": 24, "bytes": 10, "time": 20, "language": 8, "charset": 12, "depth": 5,
    "links": 6, "referrers": 9, "title": 40,
}  # fmt: skip


def show_list(
    path: Path, wanted: Wanted, since: str, columns: str, form: Form, *, resembling: bool = False
) -> None:
    """Print URLs, one a line.

    Args:
        path: folder of the crawl.
        wanted: which URLs, `since` left out.
        since: a time, or how long ago: `2026-01-31`, `2d`.
        columns: names of columns with commas between; empty for the usual ones.
        form: lines for people, JSON lines, or CSV (RFC 4180) with a header.
        resembling: only those that resemble another page.

    Raises:
        ConfigError: no crawl lives in `path`, or something is asked for that cannot be.
    """
    names = _columns(columns)
    wanted = msgspec.structs.replace(wanted, since=_begin(since) if since else 0.0)
    with looked_into(path) as inspection:
        if wanted.under.startswith("/"):
            wanted = msgspec.structs.replace(wanted, under=url_of(inspection, wanted.under).text)
        found = listed(inspection, wanted, referrers="referrers" in names or wanted.gone)
        shown = names if columns or form != "table" else ()
        clusters = _clusters(inspection) if resembling or _CLUSTER in shown else {}
        if resembling:
            found = (one for one in found if one.url in clusters)
        any_found = False
        if wanted.gone and not shown:
            for host in (left := [host for _, host in left_hosts(inspection)]):
                any_found = True
                show(_left(host))
            found = _without(found, {host.host for host in left}, inspection)
        for line in _shown(found, shown, form, clusters):
            any_found = True
            show(line)
        if wanted.under and not any_found and not any(listed(inspection, Wanted(under=wanted.under))):
            _say_nearest(inspection, wanted.under)
        if not any_found and (hint := exact_hint(wanted.match)):
            say(hint)
        if resembling and not any_found:
            say(f"'{command_line('index', path)}' and '{command_line('similar', path)}' find near-duplicates")
        if columns and "referrers" in names and not inspection.links.exists():
            say(f"how many pages refer to each is known after '{command_line('export', 'links', path)}'")


def _without(found: Iterator[Listed], hosts: set[str], inspection: Inspection) -> Iterator[Listed]:
    """URLs but for those of some hosts, by the names of their queues."""
    key = queue_key(inspection.config.engine.queue_key)
    for one in found:
        url = Url.from_serialised(one.url)
        if url is None or key(url) not in hosts:
            yield one


def _clusters(inspection: Inspection) -> dict[str, str]:
    """The first page of its cluster, for each URL that is in one."""
    return {row.url: row.cluster for row in near_duplicates(inspection)}


def _columns(text: str) -> Sequence[str]:
    names = [name.strip() for name in text.split(",")] if text else _COLUMNS
    unknown = [name for name in names if name not in _COLUMNS]
    if unknown:
        raise ConfigError(
            f"--columns {', '.join(unknown)}: there is no such column; there are {', '.join(_COLUMNS)}"
        )
    return names


def _begin(since: str) -> float:
    with suppress(ValueError):
        return time.time() - parse_duration(since)
    try:
        return instant(since)
    except ConfigError:
        raise ConfigError(
            f"--since {since}: write a time like 2026-01-31 or 2026-01-31T12:00:00Z, or how long ago: 2d"
        ) from None


def _shown(
    found: Iterator[Listed], names: Sequence[str], form: Form, clusters: Mapping[str, str]
) -> Iterator[str]:
    """The lines to print; without `names` those of the plain table. A heading comes only before a line."""
    headed = False
    for one in found:
        values = [clusters.get(one.url, "") if name == _CLUSTER else getattr(one, name) for name in names]
        if form == "jsonl":
            yield msgspec.json.encode(dict(zip(names, values, strict=True))).decode()
        elif not names:
            yield _plain(one)
        else:
            row = _csv_row if form == "csv" else _table_row
            if not headed:
                headed = True
                yield row(names, names)
            yield row(names, values)


def _left(host: LeftHost) -> str:
    what = "its name does not resolve any more" if host.lacks == "name" else "all of them are gone"
    since = time.strftime(" since %Y-%m-%d %H:%M UTC", time.gmtime(host.since)) if host.since else ""
    return f"{'left':<8} {safe(host.host)}: {plural(host.pages, 'page')}, {what}{since}"


def _plain(one: Listed) -> str:
    if one.gone:
        linked = (
            ""
            if one.referrers is None
            else f", {plural(one.referrers, 'page')} still link{'s' * (one.referrers == 1)} to it"
        )
        via = f"  found on {safe(one.via)}" if one.via else ""
        return f"{'soft 404' if one.soft else 'gone':<8} {safe(one.url)} since {one.gone}{linked}{via}"
    found = f"  found on {safe(one.via)}" if one.via else ""
    why = f"  ({safe(one.reason)})" if one.reason and not (one.status or one.result) else ""
    return f"{one.status or one.result or one.state!s:<8} {safe(one.url)}{why}{found}"


def _table_row(names: Sequence[str], values: Sequence[object]) -> str:
    cells = [
        safe("" if value is None else str(value)).ljust(_WIDTHS.get(name, 0))
        for name, value in zip(names, values, strict=True)
    ]
    return "  ".join(cells).rstrip()


def _csv_row(_: Sequence[str], values: Sequence[object]) -> str:
    return csv_line(values)


def _say_nearest(inspection: Inspection, under: str) -> None:
    """Known URLs that are spelt almost like one that none begins with."""
    with suppress(ConfigError):  # no URL
        for near in tell_whole(inspection, under).nearest:
            say(f"no known URL begins with {safe(under)}: did you mean {safe(near)}?")
