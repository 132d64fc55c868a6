"""What a job watches: how it stands, what was told, and forms to change it."""

from starlette.responses import Response

from gossamer.config.units import parse_duration
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.watching import Act, JobWatches, NewWatch
from gossamer.model.reasons.reason import Reason, of
from gossamer.web.console.request_context import RequestContext, lines
from gossamer.web.console.routes import get, post

NOTICES = 30
FIELDS = ("name", "urls", "match", "query", "select", "ignore", "when", "notify", "quiet", "every")
_ACTS = {"pause": "watch_paused", "unpause": "watch_unpaused", "remove": "watch_removed"}


async def watches(context: RequestContext, job: str) -> Response:
    """All watches, the last differences, what is still to be sent, and a form for one more."""
    return await _page(context, job)


async def change(context: RequestContext, job: str) -> Response:
    """Add a watch, pause or remove one, send a test, or what was given up."""
    watching, do = JobWatches(context.daemon), context.sent("do")
    try:
        if do == "test":
            await watching.test(job, who=context.who)
            return context.go(f"/jobs/{job}/watch", "watch_tested")
        if do == "retry":
            await watching.retry(job, who=context.who)
            return context.go(f"/jobs/{job}/watch", "watch_retried")
        if do in _ACTS:
            act = Act(context.sent("watch"), do)  # type: ignore[arg-type]  # one of these
            await watching.act(job, act, who=context.who)
            return context.go(f"/jobs/{job}/watch", _ACTS[do])
        await watching.add(job, _new(context), who=context.who)
    except ServiceError as error:
        if error.code == "internal":
            raise
        return await _page(context, job, error)
    return context.go(f"/jobs/{job}/watch", "watch_added")


def _new(context: RequestContext) -> NewWatch:
    every = 0.0
    if text := context.sent("every"):
        try:
            every = parse_duration(text)
        except ValueError as error:
            problem: Reason = of("every", str(error))
            raise ServiceError("invalid", "", [problem]) from None
    return NewWatch(
        name=context.sent("name")[:200],
        urls=tuple(lines(context.sent("urls"))[:1_000]),
        match=context.sent("match")[:2_000],
        query=context.sent("query")[:2_000],
        select=context.sent("select")[:2_000],
        ignore=tuple(lines(context.sent("ignore"))[:50]),
        when=tuple(lines(context.sent("when"))[:50]),
        notify=tuple(lines(context.sent("notify"))[:50]),
        quiet=context.sent("quiet")[:100],
        every=every,
    )


async def _page(context: RequestContext, job: str, error: ServiceError | None = None) -> Response:
    watching = JobWatches(context.daemon)
    before = context.asked("before", 20)
    only = context.asked("watch", 300)
    notices = await watching.notices(job, only, int(before) if before.isdigit() else 0, NOTICES + 1)
    return context.job_page(
        context.daemon.job(job),
        "watch",
        400 if error else 200,
        watches=await watching.views(job),
        notices=notices[:NOTICES],
        more=notices[NOTICES - 1].number if len(notices) > NOTICES else 0,
        values={name: context.sent(name) for name in FIELDS},
        problem=error.why if error and not error.wrong else "",
        details=error.wrong if error else (),
    )


PAGES = (get("/jobs/{job}/watch", watches), post("/jobs/{job}/watch", change))
