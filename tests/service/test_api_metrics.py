"""What Prometheus reads."""

import asyncio
import re

from api_client import served

from gossamer.service.api.metrics import _of_crawls, _write

LINE = re.compile(r'[a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)*\})? -?[0-9.e+-]+')


def check(text):
    """Every line is one of the format's, every metric is described once, before its samples."""
    described = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in described
            described.add(name)
        elif not line.startswith("# HELP "):
            assert LINE.fullmatch(line), line
            assert re.split(r"[{ ]", line)[0] in described
    return described


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


def test_labels_from_the_network_cannot_forge_a_line():
    lines: list[str] = []
    status = {"sums": {"pages": 5, "statuses": {'2"00} 1\nforged 1\\': 3}, "faults": None}}
    _of_crawls({"a": status}, lines)
    text = "".join(lines)
    check(text)
    assert 'gossamer_crawl_pages_total{job="a"} 5\n' in text
    assert 'status="2\\"00} 1\\nforged 1\\\\"} 3\n' in text


def test_large_figures_stay_whole():
    lines: list[str] = []
    _write(lines, "x", "counter", "X.", [({}, float(1 << 52) + 1)])
    assert lines[-1] == "x 4503599627370497\n"
