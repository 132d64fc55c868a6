"""Lists what is known of the URLs of a crawl, one line each."""

import re
from collections.abc import Iterator

import msgspec

from gossamer.inspect.archive.reference_counts import FILE, references
from gossamer.inspect.due_times import DueTimes
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.soft_missing import SoftMissing
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import MirrorCode
from gossamer.model.reasons.reason import Reason, sentence
from gossamer.model.url import Url
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import unpack
from gossamer.policy.scope.address_pattern import address_pattern, address_problem
from gossamer.policy.urls.canonical import Canonicaliser
from gossamer.policy.visits.broken import is_link
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, VisitRecord, decode_page
from gossamer.words.amounts import machine_time

STATES = "done", "dropped", "rejected", "retry", "parked"


class Listed(msgspec.Struct, frozen=True):
    """One URL that was visited, or turned away.

    Attributes:
        state: what became of it, one of `STATES`.
        status: of the last answer; 0 without one.
        result: how the last visit ended by a protocol without HTTP statuses: `ftp 550`.
        reason: why it was turned away, given up or parked, if it was.
        via: the page it was found on first; empty for a seed.
        type: media type, its essence; empty if nothing was read.
        bytes: of the last answer's body, as it came.
        time: of the last visit, UTC, `2026-01-31T12:00:00Z`; empty if there was none.
        title, language, charset: as the page says.
        depth: links followed from a seed.
        canonical: the URL that the page says is its own, if that is another.
        twin: the first URL with the very same content, if that is another.
        links: how many other URLs it mentions.
        referrers: how many other pages mention it, as of the last `gossamer export links`; `None` before.
        why: `reason` as a value.
        visits: how often it was visited.
        changes: visits again that found another text; of many old ones every second is forgotten. `None` of a
            page that is not visited again.
        changed: when a visit last found that, as `time`.
        gone: since when it is not there any more, as `time`; empty if it is there.
        due: when a visit is due again, as `time`; `now` if it was asked for; empty if it does not come again.
        soft: it is gone though the server says 200: it answers what its host answers where there is nothing. Told
            where only what is gone is asked for.
    """

    url: str
    state: str
    status: int
    reason: str
    via: str
    type: str = ""
    bytes: int = 0
    time: str = ""
    title: str = ""
    language: str = ""
    charset: str = ""
    depth: int = 0
    canonical: str = ""
    twin: str = ""
    links: int = 0
    referrers: int | None = None
    result: str = ""
    why: Reason | None = None
    visits: int = 0
    changes: int | None = None
    changed: str = ""
    gone: str = ""
    due: str = ""
    soft: bool = False
    presence: str = ""


COLUMNS = Listed.__struct_fields__


class Wanted(msgspec.Struct, frozen=True):
    """Which URLs; what is empty asks for nothing.

    Attributes:
        state: as `why` has it.
        status: of the last answer: `404`, a class of them, `4xx`, or the result of another protocol.
        under: how the URL begins.
        broken: only what somebody links to, and was given up.
        type: how the media type begins: `text/html`, `image/`.
        host: name of the host; with a leading dot those below it too.
        match: a pattern of addresses, as in `policy.scope.address_pattern`.
        since: seconds since 1970; only what was visited then or later.
        before: the same; only what was visited last before.
        gone: only what was there and is not any more.
        orphans: only what is there, though no page that was read mentions it now, as of the last
            `gossamer export links`; seeds are none.
    """

    state: str = ""
    status: str = ""
    under: str = ""
    broken: bool = False
    type: str = ""
    host: str = ""
    match: str = ""
    since: float = 0.0
    before: float = 0.0
    gone: bool = False
    orphans: bool = False


def listed(inspection: Inspection, wanted: Wanted, *, referrers: bool = False) -> Iterator[Listed]:
    """URLs by host, as committed; those that wait are not among them.

    Args:
        inspection: of the crawl.
        wanted: which of them.
        referrers: count the pages that refer to each, too.

    Raises:
        ConfigError: `wanted` asks for what cannot be.
    """
    return (one for _, one in walked(inspection, wanted, referrers=referrers, lead="--") if one is not None)


def walked(
    inspection: Inspection, wanted: Wanted, begin: bytes = b"", *, referrers: bool = False, lead: str = ""
) -> Iterator[tuple[bytes, Listed | None]]:
    """As `listed`, from the key `begin` on: each key, with the URL if it is wanted.

    `lead` stands before the names of filters in what is said of wrong ones.
    """
    soft = SoftMissing(inspection.environment) if wanted.gone else None
    is_wanted = PageFilter(wanted, lead)
    is_like = PageFilter(msgspec.structs.replace(wanted, gone=False), lead)
    canonical = inspection.config.document_name
    if wanted.orphans and not (inspection.links / FILE).exists():
        raise ConfigError(
            f"{lead}orphans: what pages mention is known after"
            f" '{command_line('export', 'links', inspection.folder.path)}'."
        )
    counted, due = referrers or wanted.orphans, DueTimes(inspection.environment, inspection.config)

    def line(key: bytes, record: PageRecord) -> Listed:
        return line_of(
            record, _referrers(inspection, canonical, record.url) if counted else None, due(key, record)
        )

    for key, data in inspection.environment.scan(Family.PAGES, begin):
        record = decode_page(data)
        told = None
        if is_wanted(record):
            told = line(key, record)
            if wanted.orphans and told.referrers != 0:
                told = None
        elif soft is not None and is_like(record) and soft(key, record):
            told = line(key, record)
            told = msgspec.structs.replace(told, gone=told.changed, soft=True)
        yield key, told


_STATUS = re.compile(r"[1-5]xx|\d{3}", re.ASCII)
"""A class of RFC 9110; of single numbers servers have made up others."""


class PageFilter:
    """Whether a record is wanted; orphans are told by the link graph, not here.

    Raises:
        ConfigError: `wanted` asks for what cannot be; `lead` stands before the names of filters.
    """

    def __init__(self, wanted: Wanted, lead: str = "") -> None:
        self._wanted = wanted
        status = wanted.status.lower()
        if status and " " not in status and not _STATUS.fullmatch(status):
            raise ConfigError(
                f"{lead}status {wanted.status}: write a number like 404, a class from 1xx to 5xx, "
                'or a result like "ftp 550".'
            )
        self._status = status.removesuffix("xx")
        if wanted.state and wanted.state not in STATES:
            raise ConfigError(f"{lead}state {wanted.state}: is none of {', '.join(STATES)}")
        if wanted.match and (problem := address_problem(wanted.match)) is not None:
            raise ConfigError(f"{lead}match {wanted.match}: is no regular expression of RE2 ({problem})")
        self._match = address_pattern(wanted.match) if wanted.match else None
        host = wanted.host.lower()
        self._hosts = (host,) if host[:1] != "." else (host, host[1:])

    def __call__(self, record: PageRecord) -> bool:
        """Whether it is."""
        wanted = self._wanted
        last = record.visits[-1] if record.visits else None
        if wanted.state and record.state != wanted.state:
            return False
        if self._status and not _said(last).startswith(self._status):
            return False
        if wanted.since and (last is None or last.at < wanted.since):
            return False
        if wanted.before and (last is None or last.at >= wanted.before):
            return False
        if wanted.gone and record.presence is not Presence.GONE:
            return False
        if wanted.orphans and not _may_be_orphan(record):
            return False
        if not record.url.startswith(wanted.under) or not record.media_type.startswith(wanted.type):
            return False
        if self._match is not None and not self._match.matches(record.url):
            return False
        if wanted.host and not self._is_of_host(record.url):
            return False
        return not wanted.broken or _is_broken(record)

    def _is_of_host(self, url: str) -> bool:
        parsed = Url.from_serialised(url)
        if parsed is None:
            return False
        if len(self._hosts) == 1:
            return parsed.host == self._hosts[0]
        return parsed.host == self._hosts[1] or parsed.host.endswith(self._hosts[0])


def _said(last: VisitRecord | None) -> str:
    return (last.said.lower() or f"{last.status:03d}") if last else "000"


def _may_be_orphan(record: PageRecord) -> bool:
    """A page that is there and was found on another."""
    return (
        record.state == "done"
        and bool(record.via)
        and record.kind.value != "robots"
        and not record.presence.absent
    )


def line_of(record: PageRecord, referrers: int | None = None, due: float | None = None) -> Listed:
    """What is told of one URL.

    Args:
        record: what is kept of it.
        referrers: pages that mention it, if they were counted.
        due: wall time of its next visit; 0 if it was asked for.
    """
    last = record.visits[-1] if record.visits else None
    return Listed(
        record.url,
        record.state,
        last.status if last else 0,
        sentence(record.reason),
        record.via,
        record.media_type,
        last.size if last else 0,
        machine_time(last.at) if last else "",
        record.title,
        record.language,
        record.charset,
        record.depth,
        record.canonical,
        record.twin,
        record.references,
        referrers,
        last.said if last else "",
        record.reason,
        record.visits_made,
        unpack(record.history).changed if record.history else None,
        machine_time(record.changed),
        machine_time(record.gone),
        "" if due is None else machine_time(due) if due else "now",
        presence=record.presence.name.lower() if record.visits else "",
    )


def _referrers(inspection: Inspection, canonical: Canonicaliser, address: str) -> int | None:
    url = Url.from_serialised(address)
    found = references(inspection.links, canonical(url)) if url is not None else None
    return found.pages if found is not None else None


def _is_broken(record: PageRecord) -> bool:
    if record.state != "dropped" or not record.visits:
        return False
    if record.reason is not None and record.reason.code == MirrorCode.NEXT:
        return False  # another mirror was asked for it
    url = Url.from_serialised(record.url)
    return url is not None and is_link(record.kind, record.via, url.target)
