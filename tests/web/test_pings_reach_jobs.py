"""What strangers and operators tell the daemon makes pages of a running job due."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import loopback
import pytest
from api_client import CHEAP, PASSWORD
from live_service import LiveService, live_service
from patience import PATIENCE
from service_world import job_settings
from small_hub import SmallHub
from small_site import Answer, Site

from gossamer.daemon.pings.subscriptions import Subscriptions
from gossamer.web.security.visitor import Role

pytestmark = pytest.mark.slow

KEY = "0123456789abcdef"
JOB = "/api/v1/jobs/site"
PINGS = {"indexnow": True, "websub": True, "public_url": "http://crawler.example.org"}


class World:
    """A daemon with a job that crawls a site of five pages, and feeds that name a hub."""

    def __init__(self, service: LiveService, site: Site, hub: SmallHub) -> None:
        self.service, self.site, self.hub = service, site, hub

    def asked(self, path: str, times: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while Counter(path for _, path in self.site.asked)[path] < times:
            assert time.monotonic() < deadline, Counter(self.site.asked)
            time.sleep(0.02)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    hub = SmallHub()

    def answer(host: str, path: str, _: Counter[tuple[str, str]]) -> Answer:
        html = {"Content-Type": "text/html"}
        if path == "/":
            return (
                200,
                html,
                "".join(f'<a href="/{name}">x</a>' for name in ("0", "1", "2", "3", "feed", "feed-2")),
            )
        if path in ("/feed", "/feed-2"):
            # The second names a hub of another host within our network.
            named = hub.url if path == "/feed" else hub.url.replace("127.0.0.1", "localhost")
            links = f'<link rel="hub" href="{named}"/><link rel="self" href="http://{host}{path}"/>'
            return 200, {"Content-Type": "application/atom+xml"}, f"<feed>{links}</feed>"
        if path == f"/{KEY}.txt":
            return 200, {"Content-Type": "text/plain"}, KEY
        return (200, html, f"<p>{path}") if path[1:].isdigit() else (404, html, "no")

    here = tmp_path / "service"
    with hub.running(), Site(answer) as site, live_service(here, pings=PINGS, security=CHEAP) as service:
        hub.port_of_subscriber = service.port
        settings = job_settings(None, seeds=[site.address], revisit__enabled=True, scope__mode="host")
        service.run(service.daemon.create("site", settings, who="tester"))
        service.run(service.daemon.start("site", who="tester"))
        world = World(service, site, hub)
        for path in ("/0", "/1", "/2", "/3", "/feed", "/feed-2"):
            world.asked(path, 1)
        yield world


def test_indexnow(world: World) -> None:
    answer = loopback.get(
        f"{world.service.url}/indexnow", params={"url": f"{world.site.address}3", "key": KEY}
    )
    assert answer.status_code == 202
    world.asked(f"/{KEY}.txt", 1)
    world.asked("/3", 2)
    body: dict[str, Any] = {"host": "127.0.0.1", "key": KEY, "urlList": [f"{world.site.address}1"]}
    assert loopback.post(f"{world.service.url}/indexnow", json=body).status_code == 202
    world.asked("/1", 2)
    assert Counter(path for _, path in world.site.asked)["/2"] == 1


def test_websub(world: World) -> None:
    subscriber = world.service.daemon.pings.subscriber
    assert subscriber is not None
    topic = f"{world.site.address}feed"
    kept = Subscriptions(world.service.daemon.store.database)
    deadline = time.monotonic() + PATIENCE
    while topic not in world.hub.subscribed or not all(one.expires or one.note for one in kept.all()):
        assert time.monotonic() < deadline
        world.service.run(subscriber.look())
    assert [form["hub.topic"] for form in world.hub.asked] == [topic]
    assert [one.topic for one in kept.all() if "is not allowed" in one.note] == [f"{topic}-2"]
    assert world.hub.publish(topic, b"<feed/>", secret="of somebody else") == 202
    assert world.hub.publish(topic, b"<feed/>") == 202
    world.service.run(subscriber.flush())
    world.asked("/feed", 2)
    assert subscriber.figures() == {"subscriptions": 2, "hold": 1}


def test_rest_asks_for_the_right_to_change(world: World) -> None:
    body = {"urls": [f"{world.site.address}2"]}

    async def accounts() -> None:
        world.service.app.state.door.accounts.add("ada", Role.OPERATOR, PASSWORD)
        world.service.app.state.door.accounts.add("vic", Role.VIEWER, PASSWORD)

    world.service.run(accounts())
    with loopback.Client(base_url=world.service.url, headers={"Origin": world.service.url}) as client:
        assert client.post(f"{JOB}/changed", json=body).status_code == 401
        for name, status in (("vic", 403), ("ada", 200)):
            told = client.post("/api/v1/session", json={"name": name, "password": PASSWORD})
            client.headers["X-CSRF-Token"] = told.json()["csrf"]
            answer = client.post(f"{JOB}/changed", json=body)
            assert answer.status_code == status, answer.text
        assert answer.json()["due"] == 1
        world.asked("/2", 2)
        many = client.post(f"{JOB}/changed", json={"urls": ["x"] * 10_001})
        assert many.status_code == 422
        assert world.hub.url in [each["hub"] for each in client.get(f"{JOB}/hubs").json()["items"]]
