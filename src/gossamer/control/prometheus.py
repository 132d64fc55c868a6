"""Figures of crawls in the Prometheus text format 0.0.4."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]
Sample = tuple[Labels, float]

# Name of the metric, kind, help, where `status` has it.
_OF_CRAWLS = (
    ("pages_total", "counter", "Pages stored, in all sessions.", "sums.pages"),
    ("visits_total", "counter", "Visits made, in all sessions.", "sums.visits"),
    ("failed_visits_total", "counter", "Visits that failed.", "sums.failed_visits"),
    ("duplicates_total", "counter", "Pages whose content was known.", "sums.duplicates"),
    ("received_bytes_total", "counter", "Bytes of content received.", "sums.bytes"),
    ("archived_bytes_total", "counter", "Bytes written to the archive.", "sums.archived_bytes"),
    ("crawl_seconds_total", "counter", "Time spent crawling, without pauses.", "seconds"),
    ("known_urls", "gauge", "URLs ever admitted.", "sums.known"),
    ("queued_urls", "gauge", "URLs in queues.", "sums.queued"),
    ("waiting_urls", "gauge", "URLs that wait for a time of their own.", "sums.waiting"),
    ("workers", "gauge", "Visits that may go on at once.", "workers.wanted"),
    ("workers_busy", "gauge", "Visits that go on.", "workers.busy"),
    ("pages_per_second", "gauge", "Pages stored per second over the last ten seconds.", "rates.pages_per_s"),
    ("receive_bytes_per_second", "gauge", "Bytes per second over the last ten seconds.", "rates.bytes_per_s"),
    ("stale_share", "gauge", "Estimated share of pages that a visit would find changed.", "freshness.stale"),
    ("stale_share_weighted", "gauge", "The same by what pages weigh.", "freshness.by_weight"),
    ("gone_pages", "gauge", "Pages that are not there any more.", "freshness.gone"),
    ("never_seen_pages", "gauge", "Pages that no visit has seen, such as broken links.", "freshness.never"),
    ("visits_again_total", "counter", "Visits to pages seen before.", "freshness.visits"),
    ("useful_visits_total", "counter", "Those that found a change.", "freshness.useful"),
    ("unmodified_total", "counter", "Those that were answered by 304.", "freshness.unmodified"),
    ("saved_bytes_total", "counter", "Bytes that were not sent again for that.", "freshness.saved"),
    ("change_delay_seconds", "gauge", "Mean time until a change is noticed.", "freshness.delay"),
    ("prediction_brier_score", "gauge", "Mean squared error of predicted changes.", "freshness.brier"),
)
_BY_LABEL = (
    ("responses_total", "counter", "Responses by status code.", "status", "sums.statuses"),
    ("faults_total", "counter", "Visits that failed, by fault.", "fault", "sums.faults"),
    ("hosts", "gauge", "Hosts by state.", "state", "hosts_by_state"),
)


class Exposition:
    """A text that Prometheus reads, metric by metric."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def metric(self, name: str, kind: str, says: str, samples: Iterable[Sample]) -> None:
        """Add a metric, which has not been, with all its samples. `kind`: `counter` or `gauge`."""
        self._lines.append(f"# HELP {name} {says}\n# TYPE {name} {kind}\n")
        for labels, value in samples:
            marks = ",".join(f'{key}="{_escaped(str(mark))}"' for key, mark in labels.items())
            self._lines.append(f"{name}{{{marks}}} {value:.17g}\n" if marks else f"{name} {value:.17g}\n")

    def crawls(self, crawls: Sequence[tuple[Labels, Any]]) -> None:
        """Add what crawls that run answered to `status`, each under labels of its own."""
        for name, kind, says, path in _OF_CRAWLS:
            found = ((labels, _at(status, path)) for labels, status in crawls)
            samples = [(labels, float(value)) for labels, value in found if isinstance(value, int | float)]
            self.metric(f"gossamer_crawl_{name}", kind, says, samples)
        for name, kind, says, label, path in _BY_LABEL:
            samples = [
                ({**labels, label: key}, float(value))
                for labels, status in crawls
                for key, value in (_at(status, path) or {}).items()
            ]
            self.metric(f"gossamer_crawl_{name}", kind, says, samples)

    def text(self) -> str:
        """All figures in the text format."""
        return "".join(self._lines)


def _at(tree: Any, path: str) -> Any:
    for part in path.split("."):
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
