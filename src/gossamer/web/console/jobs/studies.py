"""What is made of a job beside its crawl: the audit of its site, and what it differs in from another job."""

import msgspec
from starlette.responses import Response

from gossamer.audit.outputs.message import why
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.reading.studies import (
    FORMS,
    AuditAsked,
    AuditShown,
    DifferencesAsked,
    DifferencesShown,
    Making,
)
from gossamer.inspect.compare.kept import KINDS
from gossamer.model.reasons.reason import Reason
from gossamer.policy.linkcheck.verdicts import LinkVerdict
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import get, post

ROWS = 50
HOLDERS = 5
"""Pages that hold a link which are shown at once; the others are unfolded."""


async def audit(context: RequestContext, job: str) -> Response:
    """What is wrong with the site, by rule and verdict, and a form to look again."""
    return await _audit_page(context, job)


async def make_audit(context: RequestContext, job: str) -> Response:
    """Begin an audit, and show how far it is; or why there can be none."""
    try:
        await context.daemon.study(job, who=context.who, outside=context.sent("outside") == "1")
    except ServiceError as error:
        return await _audit_page(context, job, error)
    return context.go(f"/jobs/{job}/audit", "audit_begun")


async def _audit_page(context: RequestContext, job: str, error: ServiceError | None = None) -> Response:
    view = context.daemon.job(job)
    shown = AuditShown(making=Making())
    problem: Reason | str = error.why if error else ""
    try:
        asked = msgspec.structs.replace(context.params(AuditAsked), limit=ROWS)
        shown = await context.daemon.studies.audited(context.daemon.folder(job), asked)
    except ServiceError as unread:
        problem = problem or unread.why
    return context.job_page(
        view,
        "audit",
        400 if problem else 200,
        shown=shown,
        list={"items": shown.findings, "cursor": shown.cursor, "total": None},
        reasons=[why(finding, context.words) for finding in shown.findings],
        choices={"verdict": ["", *LinkVerdict], "rule": ["", *shown.rules]},
        holders=HOLDERS,
        forms=tuple(FORMS),
        problem=problem,
    )


async def differences(context: RequestContext, job: str) -> Response:
    """What is new, gone, changed and moved since another job."""
    return await _differences_page(context, job)


async def make_differences(context: RequestContext, job: str) -> Response:
    """Begin a comparison, and show how far it is; or why there can be none."""
    other = context.sent("other")
    try:
        await context.daemon.study(job, who=context.who, other=context.daemon.job(other).name)
    except ServiceError as error:
        return await _differences_page(context, job, error)
    return context.go(f"/jobs/{job}/differences", "comparison_begun", other=other)


async def _differences_page(context: RequestContext, job: str, error: ServiceError | None = None) -> Response:
    view, folder = context.daemon.job(job), context.daemon.folder(job)
    compared = context.daemon.studies.compared(folder)
    shown = DifferencesShown(making=Making())
    asked: DifferencesAsked | None = None
    problem: Reason | str = error.why if error else ""
    try:
        if context.asked("other") or compared:
            asked = context.params(DifferencesAsked, other=context.asked("other") or compared[0])
            asked = msgspec.structs.replace(asked, limit=1 if asked.text else ROWS)
            shown = await context.daemon.studies.differences(folder, asked)
    except ServiceError as unread:
        problem = problem or unread.why
    kind = asked.kind if asked else KINDS[0]
    return context.job_page(
        view,
        "differences",
        400 if problem else 200,
        asked=asked,
        shown=shown,
        kinds=KINDS,
        list={"items": shown.items, "cursor": shown.cursor, "total": getattr(shown.counts, kind)},
        compared=compared,
        others=[one.name for one in context.daemon.jobs() if one.name != job],
        problem=problem,
    )


PAGES = (
    get("/jobs/{job}/audit", audit),
    post("/jobs/{job}/audit", make_audit),
    get("/jobs/{job}/differences", differences),
    post("/jobs/{job}/differences", make_differences),
)
