"""Figures of the daemon and of each crawl, as Prometheus reads them."""

from starlette.responses import Response

from gossamer.control.prometheus import MEDIA_TYPE, Exposition, Sample
from gossamer.daemon.daemon import Daemon
from gossamer.daemon.jobs.job import JobState
from gossamer.web.api.events import figures_of
from gossamer.web.api.streams import Streams

_OF_JOBS = (
    ("memory_bytes", "gauge", "Resident memory of the process.", "memory"),
    ("open_files", "gauge", "Open files of the process.", "files"),
    ("disk_bytes", "gauge", "Size of the folder.", "disk"),
    ("crashes", "gauge", "Crashes in a row without a visit in between.", "crashes"),
)


async def metrics(daemon: Daemon, streams: Streams) -> Response:
    """All figures; those of crawls only for crawls that run."""
    told = Exposition()
    _of_daemon(daemon, streams, told)
    _of_jobs(daemon, told)
    moving = [job.name for job in daemon.jobs() if job.pid is not None]
    told.crawls([({"job": name}, status) for name, status in (await figures_of(daemon, moving)).items()])
    return Response(told.text(), headers={"Content-Type": MEDIA_TYPE})


def _of_daemon(daemon: Daemon, streams: Streams, told: Exposition) -> None:
    states = dict.fromkeys(JobState, 0)
    for job in daemon.jobs():
        states[job.state] += 1
    told.metric("gossamer_jobs", "gauge", "Jobs by state.", [({"state": k}, v) for k, v in states.items()])
    told.metric("gossamer_event_streams", "gauge", "Live views that are open.", [({}, len(streams))])
    table = daemon.allocation()
    for name, says, values in (
        ("limit", "How much there is for all jobs.", table.totals),
        ("available", "How much of it nobody holds.", table.available),
    ):
        samples = [({"resource": k}, v) for k, v in zip(table.resources, values, strict=True)]
        told.metric(f"gossamer_resource_{name}", "gauge", says, samples)
    waiting: list[Sample] = [({}, float(len(table.waiting)))]
    told.metric("gossamer_resource_waiting", "gauge", "Jobs that wait for resources.", waiting)


def _of_jobs(daemon: Daemon, told: Exposition) -> None:
    jobs = daemon.jobs()
    states = [({"job": job.name, "state": job.state}, 1.0) for job in jobs]
    told.metric("gossamer_job_state", "gauge", "1 for the state that a job is in.", states)
    for name, kind, says, field in _OF_JOBS:
        samples = [({"job": job.name}, float(getattr(job, field))) for job in jobs]
        told.metric(f"gossamer_job_{name}", kind, says, samples)
    held = [({"job": job.name, "resource": k}, float(v)) for job in jobs for k, v in job.held.items()]
    told.metric("gossamer_job_held", "gauge", "What a job holds of a resource.", held)
