"""Lists what is known of the URLs of a crawl, one line each."""

from collections.abc import Iterator

import msgspec

from gossamer.inspect.inspection import Inspection
from gossamer.model.url import Url
from gossamer.policy.visits.broken import is_link
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, decode_page


class Listed(msgspec.Struct, frozen=True):
    """One URL that was visited, or turned away.

    Attributes:
        status: of the last answer; 0 without one.
        via: the page it was found on first; empty for a seed.
    """

    url: str
    state: str
    status: int
    reason: str
    via: str


def listed(
    inspection: Inspection,
    *,
    state: str = "",
    status: int | None = None,
    under: str = "",
    broken: bool = False,
) -> Iterator[Listed]:
    """URLs by host, as committed; those that wait are not among them.

    Args:
        inspection: of the crawl.
        state: only those in this state, as `why` has it.
        status: only those whose last answer had this status.
        under: only those whose text begins so.
        broken: only those that somebody links to, and that were given up.
    """
    for _, data in inspection.environment.scan(Family.PAGES):
        record = decode_page(data)
        last = record.visits[-1] if record.visits else None
        found = last.status if last else 0
        if (state and record.state != state) or (status is not None and found != status):
            continue
        if not record.url.startswith(under) or (broken and not _is_broken(record)):
            continue
        yield Listed(record.url, record.state, found, record.reason, record.via)


def _is_broken(record: PageRecord) -> bool:
    if record.state != "dropped" or not record.visits:
        return False
    url = Url.from_serialised(record.url)
    return url is not None and is_link(record.kind, record.via, url.target)
