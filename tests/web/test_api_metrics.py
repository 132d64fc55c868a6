"""What Prometheus reads."""

import asyncio

from api_client import served
from prometheus_text import check


def test_the_daemon_and_its_jobs(tmp_path):
    async def scene():
        async with served(tmp_path) as (_, client):
            await client.post("/api/v1/jobs", json={"name": "a", "settings": {"seeds": ["a.example"]}})
            answer = await client.get("/metrics")
            assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
            described = check(answer.text)
            assert 'gossamer_jobs{state="new"} 1\n' in answer.text
            assert 'gossamer_job_state{job="a",state="new"} 1\n' in answer.text
            assert {"gossamer_resource_limit", "gossamer_crawl_pages_total"} <= described

    asyncio.run(scene())
