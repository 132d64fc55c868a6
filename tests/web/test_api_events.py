"""Live figures: told as they come, to a bounded number of viewers, none of whom holds anything up."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from api_client import CHEAP, PASSWORD, served
from patience import PATIENCE

from gossamer.web.api import streams
from gossamer.web.api.streams import EventStream, Streams, frame
from gossamer.web.security.visitor import Role

SEED = {"settings": {"seeds": ["http://127.0.0.1:1/"], "fetch.allow_private": True}}


class Viewer:
    """One who looks at a stream, as a server would carry it."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[dict] = asyncio.Queue()
        self.left = asyncio.Event()
        self.reads = asyncio.Event()
        self.reads.set()
        self.task: asyncio.Task[None] | None = None

    async def receive(self):
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        await self.reads.wait()
        self.messages.put_nowait(message)

    async def status(self):
        message = await asyncio.wait_for(self.messages.get(), PATIENCE)
        return message["status"]

    async def event(self, *kinds):
        """The next event of one of these kinds, as (kind, value)."""
        while True:
            text = (await asyncio.wait_for(self.messages.get(), PATIENCE))["body"].decode()
            lines = dict(line.partition(": ")[::2] for line in text.splitlines())
            if lines.get("event") in kinds:
                return lines["event"], json.loads(lines["data"])

    async def ended(self):
        await asyncio.wait_for(self.task, PATIENCE)
        messages = []
        while not self.messages.empty():
            messages.append(self.messages.get_nowait())
        return not messages[-1].get("more_body", False)


@asynccontextmanager
async def viewing(app, path, headers=()):
    viewer = Viewer()
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), *headers],
        "server": ("127.0.0.1", 8470),
        "client": ("127.0.0.1", 1),
        "state": {},
    }
    viewer.task = asyncio.create_task(app(scope, viewer.receive, viewer.send))
    try:
        yield viewer
    finally:
        viewer.left.set()
        await asyncio.wait_for(viewer.task, PATIENCE)


def test_what_happens_to_jobs_is_told(tmp_path):
    async def scene():
        async with served(tmp_path) as (_, client), viewing(client.app, "/api/v1/events") as viewer:
            assert await viewer.status() == 200
            assert await viewer.event("figures") == ("figures", {})
            await client.post("/api/v1/jobs", json={"name": "a", **SEED})
            _, job = await viewer.event("job")
            assert (job["name"], job["state"]) == ("a", "new")
            await client.delete("/api/v1/jobs/a?confirm=a")
            assert await viewer.event("gone") == ("gone", {"name": "a"})
            assert len(client.app.state.streams) == 1
        assert len(client.app.state.streams) == 0

    asyncio.run(scene())


def test_the_stream_of_a_job_ends_with_it(tmp_path):
    async def scene():
        async with served(tmp_path) as (_, client):
            for name in ("a", "b"):
                await client.post("/api/v1/jobs", json={"name": name, **SEED})
            async with viewing(client.app, "/api/v1/jobs/a/events") as viewer:
                assert await viewer.status() == 200
                assert (await viewer.event("job"))[1]["name"] == "a"
                await client.delete("/api/v1/jobs/b?confirm=b")
                await client.delete("/api/v1/jobs/a?confirm=a")
                assert await viewer.event("gone") == ("gone", {"name": "a"}), "nothing of b"
                assert await viewer.ended()
            async with viewing(client.app, "/api/v1/jobs/a/events") as viewer:
                assert await viewer.status() == 404

    asyncio.run(scene())


def test_too_many_viewers_come_back_later(tmp_path):
    async def scene():
        async with served(tmp_path, security={"event_streams": 4}) as (_, client):
            async with viewing(client.app, "/api/v1/events") as first:
                assert await first.status() == 200
                async with viewing(client.app, "/api/v1/events") as second:
                    assert await second.status() == 503, "one name has a quarter"
            async with viewing(client.app, "/api/v1/events") as third:
                assert await third.status() == 200

    asyncio.run(scene())


def test_the_end_of_the_daemon_ends_them(tmp_path):
    async def scene():
        async with served(tmp_path) as (_, client), viewing(client.app, "/api/v1/events") as viewer:
            assert await viewer.status() == 200
            client.app.state.streams.close()
            assert await viewer.ended()
            async with viewing(client.app, "/api/v1/events") as late:
                assert await late.status() == 503

    asyncio.run(scene())


@pytest.mark.parametrize("change", ["logged out", "removed"])
def test_who_may_look_no_more_sees_no_more(tmp_path, monkeypatch, change):
    monkeypatch.setattr(streams, "KEEP_ALIVE", 0.05)

    async def scene():
        async with served(tmp_path, security=CHEAP) as (_, client):
            door = client.app.state.door
            door.accounts.add("vic", Role.VIEWER, PASSWORD)
            session = door.sessions.begin("vic")
            cookie = [(b"cookie", f"gossamer-8470={session.cookie}".encode())]
            async with viewing(client.app, "/api/v1/events") as stranger:
                assert await stranger.status() == 401
            async with viewing(client.app, "/api/v1/events", cookie) as viewer:
                assert await viewer.status() == 200
                await viewer.event("figures")
                if change == "removed":
                    door.accounts.add("ada", Role.OPERATOR, PASSWORD)
                    door.accounts.remove("vic")
                else:
                    door.sessions.end(session.visitor.session)
                assert await viewer.ended()

    asyncio.run(scene())


async def forever():
    while True:
        yield frame("tick", {})
        await asyncio.sleep(0)


async def silence():
    await asyncio.Event().wait()
    yield b""


def test_a_quiet_stream_says_that_it_lives(monkeypatch):
    monkeypatch.setattr(streams, "KEEP_ALIVE", 0.02)

    async def scene():
        answer = EventStream(Streams(8), "ada", silence(), lambda: True)
        async with viewing(answer, "/") as viewer:
            assert await viewer.status() == 200
            assert (await viewer.messages.get())["body"].startswith(b"retry:")
            assert (await viewer.messages.get())["body"] == b": still here\n\n"

    asyncio.run(scene())


def test_who_does_not_read_is_dropped(monkeypatch):
    monkeypatch.setattr(streams, "_PATIENCE", 0.05)

    async def scene():
        open_streams = Streams(8)
        answer = EventStream(open_streams, "ada", forever(), lambda: True)
        async with viewing(answer, "/") as viewer:
            assert await viewer.status() == 200
            viewer.reads.clear()
            await asyncio.wait_for(viewer.task, PATIENCE)
            assert len(open_streams) == 0

    asyncio.run(scene())


def test_a_bug_in_what_is_told_is_heard_of():
    async def broken():
        yield frame("tick", {})
        raise ZeroDivisionError

    async def scene():
        answer = EventStream(Streams(8), "ada", broken(), lambda: True)
        with pytest.raises(ZeroDivisionError):
            async with viewing(answer, "/") as viewer:
                await asyncio.wait({viewer.task}, timeout=5)

    asyncio.run(scene())


def test_what_is_told_cannot_end_its_event():
    body = frame("job", {"name": "a\r\ndata: x\n\nevent: y\u2028"})
    assert body.count(b"\n") == 3
    assert b"\r" not in body
