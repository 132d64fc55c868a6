"""Has a running crawl answer for single URLs."""

import asyncio
import contextlib

import msgspec

from gossamer.config.demand_config import LONGEST_WAIT
from gossamer.control.changes.demand import (
    Demand,
    Demanded,
    answer,
    found_at,
    not_held,
    question_of,
    span,
    waiting_for,
)
from gossamer.control.live_crawl import LiveCrawl
from gossamer.control.socket.protocol import LiveError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason


async def fetch(live: LiveCrawl, params: Demand, _who: str) -> Demanded:
    """Answer for one URL: from the archive if that is fresh enough, else by a visit with all manners."""
    config = live.built.effective.config.demand
    question = question_of(params, config.fresh)
    if live.built.effective.config.mirrors:
        question = await live.look(found_at, question)
    wait = min(span("wait", params.wait, config.wait), LONGEST_WAIT)
    with live.demands.waiting(question.url) as settled:
        if (held := await live.look(answer, question)) is not None:
            return held
        if not params.visit:
            not_held(params)
        if not settled.is_set():
            live.refuse_if_ending()
            admission = live.crawl.parts.admission
            if admission.other_agents is not None:
                raise LiveError("conflict", Reason(ProblemCode.CLUSTER_DEMAND))
            if (refusal := admission.demand(question.url)) is not None:
                return Demanded(question.url.text, "refused", why=refusal, says=str(refusal))
            live.crawl.parts.dispatch.pump()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(settled.wait(), 0 if live.demands.full else wait)
        question = msgspec.structs.replace(question, visited=settled.is_set())
    found = await live.look(answer, question)
    return found if found is not None else await live.look(waiting_for, question)
