"""What a job that has finished offers: its report, its archive, more of it, all of it again."""

import asyncio
import html
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from api_client import client_of, served
from console_stage import StageDaemon, stage, visitor
from service_world import SMALL, WHO, job_settings, reach

from gossamer.daemon.jobs.job import JobState
from gossamer.model.reasons.earlier import told_before
from gossamer.simweb import SimulatedWeb
from gossamer.web.console.jobs.next_steps import further
from gossamer.web.security.visitor import Role

PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def web() -> Iterator[SimulatedWeb]:
    with SimulatedWeb(SMALL) as web:
        yield web


def page(path: str, reason: str = "finished", language: str = "en", role: Role = Role.OPERATOR) -> str:
    async def story() -> str:
        daemon = StageDaemon()
        old = daemon.views["archive-2026"]
        daemon.views["archive-2026"] = type(old)(
            **{
                **{name: getattr(old, name) for name in old.__struct_fields__},
                "reason": reason,
                "why": told_before(reason),
            }
        )
        async with client_of(stage(daemon, visitor(role))) as client:
            return (await client.get(path, headers={"Accept-Language": language})).text

    return asyncio.run(story())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_finished_job_offers_what_comes_next(language: str) -> None:
    text = page("/jobs/archive-2026", language=language)
    box = text[text.index('class="next"') :]
    assert 'href="/jobs/archive-2026/report"' in box
    assert "/srv/gossamer/jobs/archive-2026/archive" in box
    assert 'action="/jobs/archive-2026/again"' in box
    assert 'action="/jobs/archive-2026/more"' not in box
    for other in ("docs", "news", "wiki-mirror"):
        assert 'class="next"' not in page(f"/jobs/{other}", language=language)


@pytest.mark.parametrize(
    ("reason", "limit", "amount"),
    [
        ("max_pages 1000", "pages", "1000"),
        ("max_bytes 5000", "bytes", "5000B"),
        ("max_time 3600", "time", "3600s"),
        ("max_time 1e+06", "time", "1000000s"),
    ],
)
def test_a_limit_can_be_raised(reason: str, limit: str, amount: str) -> None:
    text = page("/jobs/archive-2026", reason)
    assert 'action="/jobs/archive-2026/more"' in text
    assert re.search(rf'name="amount"[^>]*value="{amount}"', text)
    assert further(StageDaemon().views["archive-2026"]) is None


def test_a_viewer_sees_the_results_only() -> None:
    text = page("/jobs/archive-2026", "max_pages 5", role=Role.VIEWER)
    assert 'href="/jobs/archive-2026/report"' in text and "/archive-2026/archive" in text
    assert "/more" not in text and "/again" not in text


async def send(client: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    shown = await client.get("/jobs/new", headers=PAGE)
    csrf = re.search(r'name="csrf" value="([^"]+)"', shown.text)
    assert csrf is not None
    return await client.post(path, data={"csrf": csrf[1], **fields}, headers=PAGE)


@pytest.mark.slow
def test_more_and_again_of_a_real_crawl(home: Path, web: SimulatedWeb) -> None:
    async def story() -> None:
        async with served(home) as (daemon, client):
            await daemon.create("few", job_settings(web, budget__max_pages=4, engine__workers=1), who=WHO)
            await daemon.start("few", who=WHO)
            first = await reach(daemon, "few", JobState.FINISHED)
            assert first.reason == "max_pages 4" and first.report is not None
            for wrong in ("", "some", "-3", "0", "1e9", "9" * 400):
                answer = await send(client, "/jobs/few/more", amount=wrong)
                assert answer.status_code == 400, wrong
                assert 'role="alert"' in answer.text and f'value="{wrong}"' in html.unescape(answer.text)
            went = await send(client, "/jobs/few/more", amount="5")
            assert went.headers["location"] == "/jobs/few?said=more"
            more = first.report["pages"] + 5
            await reach(daemon, "few", JobState.QUEUED, JobState.RUNNING)
            second = await reach(daemon, "few", JobState.FINISHED)
            assert second.reason == f"max_pages {more}" and second.report is not None
            assert second.report["pages"] >= more
            again = await send(client, "/jobs/few/again")
            assert again.headers["location"] == "/jobs/few-2?said=again"
            third = await reach(daemon, "few-2", JobState.FINISHED)
            assert third.reason == f"max_pages {more}"
            assert (home / "jobs" / "few" / "archive").is_dir()
            # What no limit has ended cannot have more of it.
            slow = {"budget.max_pages": 0, "politeness.min_delay": "1s"}  # not over before it is seen
            await daemon.ask("few-2", "set", {"changes": slow}, who=WHO)
            await daemon.start("few-2", who=WHO)
            await reach(daemon, "few-2", JobState.RUNNING)
            assert (await send(client, "/jobs/few-2/more", amount="5")).status_code == 409

    asyncio.run(story())
