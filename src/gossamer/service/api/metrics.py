"""Figures of the daemon and of each crawl, in the Prometheus text format 0.0.4."""

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.responses import Response

from gossamer.service.api.events import figures_of
from gossamer.service.api.streams import Streams
from gossamer.service.daemon import Daemon
from gossamer.service.jobs import JobState

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
)
_OF_JOBS = (
    ("memory_bytes", "gauge", "Resident memory of the process.", "memory"),
    ("open_files", "gauge", "Open files of the process.", "files"),
    ("disk_bytes", "gauge", "Size of the folder.", "disk"),
    ("crashes", "gauge", "Crashes in a row without a visit in between.", "crashes"),
)


async def metrics(daemon: Daemon, streams: Streams) -> Response:
    """All figures; those of crawls only for crawls that run."""
    lines: list[str] = []
    _of_daemon(daemon, streams, lines)
    _of_jobs(daemon, lines)
    moving = [job.name for job in daemon.jobs() if job.pid is not None]
    _of_crawls(await figures_of(daemon, moving), lines)
    return Response("".join(lines), headers={"Content-Type": MEDIA_TYPE})


def _of_daemon(daemon: Daemon, streams: Streams, lines: list[str]) -> None:
    states = dict.fromkeys(JobState, 0)
    for job in daemon.jobs():
        states[job.state] += 1
    _write(lines, "gossamer_jobs", "gauge", "Jobs by state.", [({"state": k}, v) for k, v in states.items()])
    _write(lines, "gossamer_event_streams", "gauge", "Live views that are open.", [({}, len(streams))])
    table = daemon.allocation()
    for name, says, values in (
        ("limit", "How much there is for all jobs.", table.totals),
        ("available", "How much of it nobody holds.", table.available),
    ):
        samples = [({"resource": k}, v) for k, v in zip(table.resources, values, strict=True)]
        _write(lines, f"gossamer_resource_{name}", "gauge", says, samples)
    waiting: list[Sample] = [({}, float(len(table.waiting)))]
    _write(lines, "gossamer_resource_waiting", "gauge", "Jobs that wait for resources.", waiting)


def _of_jobs(daemon: Daemon, lines: list[str]) -> None:
    jobs = daemon.jobs()
    states = [({"job": job.name, "state": job.state}, 1.0) for job in jobs]
    _write(lines, "gossamer_job_state", "gauge", "1 for the state that a job is in.", states)
    for name, kind, says, field in _OF_JOBS:
        samples = [({"job": job.name}, float(getattr(job, field))) for job in jobs]
        _write(lines, f"gossamer_job_{name}", kind, says, samples)
    held = [({"job": job.name, "resource": k}, float(v)) for job in jobs for k, v in job.held.items()]
    _write(lines, "gossamer_job_held", "gauge", "What a job holds of a resource.", held)


def _of_crawls(figures: Mapping[str, Any], lines: list[str]) -> None:
    for name, kind, says, path in _OF_CRAWLS:
        samples = []
        for job, status in figures.items():
            value = _at(status, path)
            if isinstance(value, int | float):
                samples.append(({"job": job}, float(value)))
        _write(lines, f"gossamer_crawl_{name}", kind, says, samples)
    for name, says, label, path in (
        ("responses_total", "Responses by status code.", "status", "sums.statuses"),
        ("faults_total", "Visits that failed, by fault.", "fault", "sums.faults"),
        ("hosts", "Hosts by state.", "state", "hosts_by_state"),
    ):
        kind = "counter" if name.endswith("_total") else "gauge"
        samples = [
            ({"job": job, label: key}, float(value))
            for job, status in figures.items()
            for key, value in (_at(status, path) or {}).items()
        ]
        _write(lines, f"gossamer_crawl_{name}", kind, says, samples)


def _at(tree: Any, path: str) -> Any:
    for part in path.split("."):
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _write(lines: list[str], name: str, kind: str, says: str, samples: Iterable[Sample]) -> None:
    lines.append(f"# HELP {name} {says}\n# TYPE {name} {kind}\n")
    for labels, value in samples:
        marks = ",".join(f'{key}="{_escaped(str(mark))}"' for key, mark in labels.items())
        lines.append(f"{name}{{{marks}}} {value:.17g}\n" if marks else f"{name} {value:.17g}\n")


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
