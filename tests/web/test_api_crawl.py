"""A crawl seen and steered over the interface, through a real server."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import loopback
import pytest
from api_client import CHEAP, PASSWORD
from live_service import LiveService, live_service
from patience import PATIENCE
from service_world import job_settings

from gossamer.control.views.views import VIEWS
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.web.security.visitor import Role

JOB = "/api/v1/jobs/sim"


@pytest.fixture(scope="module")
def web() -> Iterator[SimulatedWeb]:
    with SimulatedWeb(WorldSpec.friendly(hosts=4, pages=2_000, page_bytes=1_000)) as simulated:
        yield simulated


@pytest.fixture
def service(tmp_path) -> Iterator[LiveService]:
    with live_service(tmp_path / "service", security=CHEAP) as service:
        yield service


@contextmanager
def logged_in(service: LiveService, name: str, role: Role) -> Iterator[httpx.Client]:
    """A client as a browser is one: cookie, CSRF token, origin."""

    async def add() -> None:
        service.app.state.door.accounts.add(name, role, PASSWORD)

    service.run(add())
    with loopback.Client(base_url=service.url, headers={"Origin": service.url}) as client:
        answer = client.post("/api/v1/session", json={"name": name, "password": PASSWORD})
        assert answer.status_code == 200, answer.text
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "path=/" in cookie
        client.headers["X-CSRF-Token"] = answer.json()["csrf"]
        yield client


def wait_for(client: httpx.Client, path: str, met: Any) -> Any:
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = client.get(path)
        if answer.status_code == 200 and met(answer.json()):
            return answer.json()
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.05)


@pytest.mark.slow
def test_a_crawl_is_watched_changed_and_ended(service: LiveService, web: SimulatedWeb) -> None:
    with logged_in(service, "ada", Role.OPERATOR) as ada, logged_in(service, "vic", Role.VIEWER) as vic:
        settings = job_settings(web) | {"politeness.min_delay": "300ms", "engine.give_up_after": "1m"}
        made = ada.post("/api/v1/jobs", json={"name": "sim", "settings": settings})
        assert made.status_code == 201, made.text
        assert vic.post(f"{JOB}/start").status_code == 403
        assert ada.post(f"{JOB}/start").status_code == 200
        running = wait_for(vic, f"{JOB}/status", lambda status: status["sums"]["pages"] > 3)
        assert running["state"] == "running"
        see_events(vic)
        changed = ada.post(f"{JOB}/set", json={"changes": {"engine.workers": 6, "politeness.min_delay": 0.5}})
        assert changed.status_code == 200, changed.text
        wrong = ada.post(f"{JOB}/set", json={"changes": {"engine.workers": -1, "politeness.min_delay": "x"}})
        assert wrong.status_code == 422
        assert {line.partition(":")[0] for line in wrong.json()["problems"]} == {
            "engine.workers",
            "politeness.min_delay",
        }
        log = vic.get(f"{JOB}/changes").json()["items"]
        assert {(line["who"], line["path"]) for line in log} >= {("ada", "engine.workers")}
        # Any fetched URL is a page here, a redirect too: whichever came first was read, and once it was a 302.
        url = documents(wait_for(vic, f"{JOB}/pages?limit=100", documents))[0]
        assert url in vic.get(f"{JOB}/why", params={"url": url}).json()["text"]
        every_view(vic, url)
        fetched(ada, vic, url)
        metrics = vic.get("/metrics").text
        assert 'gossamer_crawl_pages_total{job="sim"}' in metrics
        assert ada.post(f"{JOB}/pause").status_code == 200
        wait_for(vic, JOB, lambda job: job["state"] == "paused")
        assert ada.post(f"{JOB}/unpause").status_code == 200
        assert ada.post(f"{JOB}/stop", json={"now": True}).status_code == 200
        wait_for(vic, JOB, lambda job: job["state"] == "stopped")
        every_view(vic, url)
        assert ada.post(f"{JOB}/fetch", json={"url": url}).json()["state"] == "archive"
        assert ada.post(f"{JOB}/fetch", json={"url": url, "fresh": "0s"}).status_code == 409
        assert ada.delete(JOB, params={"confirm": "sim"}).status_code == 204
        who = {(line["who"], line["action"]) for line in vic.get("/api/v1/audit").json()["items"]}
        assert {("ada", "log-in"), ("vic", "log-in"), ("ada", "start"), ("ada", "delete")} <= who
        assert ada.delete("/api/v1/session").status_code == 204
        assert ada.get(JOB).status_code == 401


def documents(pages: dict[str, Any]) -> list[str]:
    return [page["url"] for page in pages["items"] if page["status"] == 200]


def fetched(ada: httpx.Client, vic: httpx.Client, url: str) -> None:
    """A page, from the archive and anew."""
    told = ada.post(f"{JOB}/fetch", json={"url": url})
    assert (told.status_code, told.json()["state"], told.json()["capture"]["url"]) == (200, "archive", url)
    assert vic.post(f"{JOB}/fetch", json={"url": url}).status_code == 403
    later = ada.post(f"{JOB}/fetch", json={"url": url, "fresh": "0s", "wait": "0s"})
    assert (later.status_code, later.json()["state"]) == (202, "waits")
    told = ada.post(f"{JOB}/fetch", json={"url": url, "since": later.json()["since"]})
    assert told.json()["state"] in ("archive", "fetched", "failed")
    assert ada.get(f"{JOB}/content", params={"url": url}).headers["x-archived-status"] == "200"


def see_events(client: httpx.Client) -> None:
    """The job, then its figures."""
    kinds = []
    with client.stream("GET", f"{JOB}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("event: "):
                kinds.append(line[7:])
            if line.startswith("data: ") and kinds[-1] == "status":
                assert json.loads(line[6:])["sums"]["pages"] > 3
                break
    assert kinds[0] == "job"


def every_view(client: httpx.Client, url: str) -> None:
    """Each of them answers."""
    host = httpx.URL(url).host
    params = {"host": {"name": host}, "robots": {"host": host}, "why": {"url": url}}
    params |= {name: {"url": url} for name in ("page", "captures", "calendar", "settings_for")}
    for method in (*VIEWS, "report"):
        answer = client.get(f"{JOB}/{method}", params=params.get(method, {}))
        assert answer.status_code == 200, (method, answer.text)


def test_the_server_bounds_what_it_reads(service: LiveService) -> None:
    with loopback.Client(base_url=service.url) as client:
        answer = client.get("/healthz")
        assert "server" not in answer.headers
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    with socket.create_connection(("127.0.0.1", service.port), 20) as wire:
        wire.sendall(b"POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2000000\r\n\r\n")
        answer = wire.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"\r\nconnection: close\r\n" in answer.lower()
    with socket.create_connection(("127.0.0.1", service.port), 20) as wire:
        with contextlib.suppress(OSError):  # it may hang up while we go on
            wire.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Large: " + b"x" * 4_000_000)
        wire.settimeout(20)
        with contextlib.suppress(ConnectionResetError):
            assert wire.recv(12) in (b"HTTP/1.1 400", b"HTTP/1.1 431", b"")
