"""Makes what takes minutes and is kept in the folder of a crawl: an audit, or what it differs in from another."""

from collections.abc import Callable, Iterator
from pathlib import Path

from gossamer.audit.audit import Told, audited
from gossamer.audit.config import AuditAsked
from gossamer.audit.excused import Baseline, IgnoreList
from gossamer.daemon.reading.orders import AuditOrder, DifferencesOrder, Progress
from gossamer.inspect.clusters.whole import inspect_whole
from gossamer.inspect.compare.crawls import Counts, Difference, How, differences
from gossamer.inspect.compare.kept import keep
from gossamer.inspect.compare.text import DocumentText, Reading
from gossamer.policy.change.passages import CONTEXT
from gossamer.state.scratch import Scratch

__all__ = ["make"]

Tell = Callable[[Progress], None]


def make(order: AuditOrder | DifferencesOrder, tell: Tell, text_of: DocumentText) -> None:
    """Make it, and tell how far it is.

    Raises:
        ConfigError: what is asked for cannot be.
        StorageError: the disk refuses, or an archive is damaged.
    """
    if isinstance(order, AuditOrder):
        _audit(order, tell)
    else:
        _differences(order, tell, text_of)


def _audit(order: AuditOrder, tell: Tell) -> None:
    asked = AuditAsked(outside=order.outside, max_time=order.asking)
    told = Told(lambda what, count: tell(Progress(what, count)))  # type: ignore[arg-type]  # one of these
    with (
        inspect_whole(Path(order.folder)) as inspection,
        audited(inspection, asked, Baseline(), IgnoreList(), told),
    ):
        pass  # what it has found is kept


def _differences(order: DifferencesOrder, tell: Tell, text_of: DocumentText) -> None:
    counts, how = Counts(), How(Reading(text_of), context=CONTEXT)

    def told(found: Iterator[Difference]) -> Iterator[Difference]:
        for one in found:
            tell(Progress(one.kind, getattr(counts, one.kind)))
            yield one

    with (
        inspect_whole(Path(order.before)) as before,
        inspect_whole(Path(order.folder)) as after,
        Scratch() as scratch,
    ):
        keep(
            after.folder.path,
            order.name,
            told(differences(before, after, Path(scratch), counts, how)),
            counts,
        )
