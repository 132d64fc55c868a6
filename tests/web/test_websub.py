"""Subscriptions at a hub, through the real server, against a hub made by the standard (W3C WebSub)."""

import asyncio
import contextlib
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetch_servers import certificate, tls_server_context
from live_service import LiveService, live_service
from small_hub import SmallHub

from gossamer.daemon.pings import subscriber
from gossamer.daemon.pings.subscriber import MOST_BODY, Around, Subscriber
from gossamer.daemon.pings.subscriptions import Subscription, Subscriptions
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.post import FORM, PostAnswer, post
from gossamer.model.url import Url

TOPIC = "https://blog.example.org/feed"
PINGS = {"websub": True, "public_url": "http://crawler.example.org/", "lease": 1_000_000}


class Stage:
    """A daemon that subscribes for a job of our making, and a hub."""

    def __init__(self, service: LiveService, hub: SmallHub, trusted: Path) -> None:
        self.service, self.hub = service, hub
        self.topics: dict[str, str] | None = {TOPIC: hub.url}
        self.told: list[tuple[str, list[str]]] = []
        self.config = FetchConfig(allow_private=True, ca_file=str(trusted))
        self.posted: list[str] = []
        self.kept = Subscriptions(service.daemon.store.database)
        around = Around(lambda: ["job"], self._topics, self._post, self._changed)
        self.subscriber = Subscriber(service.daemon.config.pings, self.kept, around)
        service.daemon.pings.subscriber = self.subscriber

    async def _topics(self, _job: str) -> dict[str, str] | None:
        return self.topics

    async def _post(self, one: Subscription, url: Url, body: bytes) -> PostAnswer:
        self.posted.append(one.topic)
        form = {"Content-Type": FORM}
        return await asyncio.to_thread(post, url.text, body, form, self.config, AddressGuard(self.config))

    async def _changed(self, job: str, topics: list[str]) -> None:
        self.told.append((job, topics))

    def look(self) -> Subscription:
        self.service.run(self.subscriber.look())
        [one] = self.kept.all()
        return one

    def flush(self) -> list[tuple[str, list[str]]]:
        self.service.run(self.subscriber.flush())
        told, self.told = self.told, []
        return told


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    cert, key = certificate(tmp_path_factory.mktemp("tls"))
    return cert, tls_server_context(cert, key)


@pytest.fixture
def stage(tmp_path: Path, secure: tuple[Path, ssl.SSLContext]) -> Iterator[Stage]:
    trusted, tls = secure
    hub = SmallHub(tls)
    with hub.running(), live_service(tmp_path / "service", pings=PINGS) as service:
        hub.port_of_subscriber = service.port
        yield Stage(service, hub, trusted)


def test_subscribed_verified_and_told(stage: Stage) -> None:
    hub = stage.hub
    one = stage.look()
    [form] = hub.asked
    assert form["hub.mode"] == "subscribe"
    assert form["hub.topic"] == TOPIC
    assert form["hub.callback"] == f"http://crawler.example.org/websub/{one.token}"
    assert form["hub.lease_seconds"] == "1000000"
    assert len(form["hub.secret"]) < 200
    assert hub.verified == [(200, hub.challenge.encode())]
    now = time.time()
    assert now + 3_500 < one.expires < now + 3_700
    assert now + 2_800 < one.due < now + 2_900  # renewed before it ends
    assert not one.pending

    for method in ("sha1", "sha256", "sha384", "sha512"):
        assert hub.publish(TOPIC, b"<feed/>", method=method) == 202
    assert stage.flush() == [("job", [TOPIC])]  # many at once are one
    assert stage.flush() == []


def test_what_is_not_signed_is_taken_and_ignored(stage: Stage) -> None:
    hub = stage.hub
    one = stage.look()
    assert hub.publish(TOPIC, b"<feed/>", secret="another") == 202
    assert hub.publish(TOPIC, b"<feed/>", method="md5") == 202
    for signature in ("", "sha256", "sha256=", "=", "sha256=\u00e9"):
        fields = {"X-Hub-Signature": signature.encode("latin-1").decode("latin-1")}
        assert hub.call("POST", f"http://crawler.example.org/websub/{one.token}", b"x", fields)[0] == 202
    assert stage.flush() == []
    assert stage.subscriber.ignored == 7


def test_a_hub_that_asks_for_what_nobody_wanted(stage: Stage) -> None:
    hub = stage.hub
    stage.look()
    [form] = hub.asked
    hub.verified.clear()
    hub.ask_back(form)  # a second time: nothing is asked for now
    hub.ask_back(form, topic="https://blog.example.org/other")
    hub.ask_back(form, mode="unsubscribe")
    hub.ask_back({**form, "hub.callback": form["hub.callback"] + "x"})
    assert [status for status, _ in hub.verified] == [404] * 4
    assert hub.call("POST", form["hub.callback"] + "x", b"")[0] == 410


def test_asked_again_before_the_lease_ends_at_the_same_callback(stage: Stage) -> None:
    hub = stage.hub
    one = stage.look()
    stage.look()
    assert len(hub.asked) == 1  # not yet
    stage.kept.put(Subscription(one.token, "job", TOPIC, hub.url, one.secret, expires=one.expires, due=1.0))
    again = stage.look()
    assert hub.asked[0]["hub.callback"] == hub.asked[1]["hub.callback"]
    assert len(hub.asked) == 2
    assert again.due > time.time()


@pytest.mark.parametrize("topics", [1, 3])
def test_a_hub_rests_between_what_it_is_asked_and_not_after_it(
    stage: Stage, topics: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests, wait = [], asyncio.sleep

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        await wait(0 if seconds == subscriber.BETWEEN_POSTS else seconds)

    monkeypatch.setattr(subscriber, "BETWEEN_POSTS", 1_234.5)
    monkeypatch.setattr(asyncio, "sleep", rest)
    stage.topics = {f"{TOPIC}/{number}": stage.hub.url for number in range(topics)}
    stage.service.run(stage.subscriber.look())
    assert len(stage.hub.asked) == topics
    assert rests.count(1_234.5) == topics - 1


def test_denied(stage: Stage) -> None:
    hub = stage.hub
    stage.look()
    [form] = hub.asked
    hub.ask_back(form, mode="denied", reason="you\r\nare not wanted")
    [one] = stage.kept.all()
    assert one.note.startswith("denied: you")
    assert one.due > time.time() + 6 * 86_400
    assert hub.publish(TOPIC, b"<feed/>") == 410


def test_hubs_that_say_no_or_nothing_are_asked_less_and_less(stage: Stage) -> None:
    hub = stage.hub
    hub.status = 500
    waits = []
    for _ in range(3):
        one = stage.look()
        waits.append(one.due - time.time())
        assert one.note.startswith("500")
        assert not one.pending
        stage.kept.put(Subscription(one.token, "job", TOPIC, hub.url, one.secret, tries=one.tries, due=1.0))
    assert waits[0] < waits[1] < waits[2]


def test_redirected_once(stage: Stage) -> None:
    stage.hub.redirect = "/moved"
    assert stage.look().expires > time.time()
    assert len(stage.hub.asked) == 2


def test_a_hub_over_plain_http_is_told_no_secret_and_signs_nothing(stage: Stage) -> None:
    plain = SmallHub()
    with plain.running():
        plain.port_of_subscriber = stage.service.port
        stage.topics = {TOPIC: plain.url}
        stage.look()
        [form] = plain.asked
        assert "hub.secret" not in form
        assert plain.publish(TOPIC, b"<feed/>") == 202
        assert stage.flush() == [("job", [TOPIC])]


def test_no_secret_follows_a_redirect_to_plain_http(stage: Stage) -> None:
    plain = SmallHub()
    with plain.running():
        stage.hub.redirect = plain.url
        one = stage.look()
    assert plain.asked == []
    assert "from https to http" in one.note


def test_a_hub_that_does_not_answer_holds_up_no_other_and_is_asked_once_at_a_time(stage: Stage) -> None:
    slow, other = SmallHub(), SmallHub()
    slow.waits_for = other.answered
    with slow.running(), other.running():
        slow.port_of_subscriber = other.port_of_subscriber = stage.service.port
        named = other.url.replace("127.0.0.1", "localhost")
        stage.topics = {TOPIC: slow.url, f"{TOPIC}/2": named}
        stage.service.run(stage.subscriber.look())
    assert slow.waited == [True]
    assert slow.subscribed.keys() | other.subscribed.keys() == stage.topics.keys()
    dead = "http://127.0.0.1:1/hub"
    stage.topics = {f"{TOPIC}/{number}": dead for number in range(5)}
    stage.posted.clear()
    for looks in (1, 2):
        stage.service.run(stage.subscriber.look())
        assert len(stage.posted) == looks
    assert len(set(stage.posted)) == 2


def test_addresses_of_ones_own_network_are_no_hubs(stage: Stage) -> None:
    stage.config = FetchConfig()
    one = stage.look()
    assert "127.0.0.1 is not allowed" in one.note
    assert stage.hub.asked == []


def test_no_longer_named_is_forgotten_when_it_has_ended(stage: Stage) -> None:
    one = stage.look()
    stage.topics = {}
    assert stage.look().token == one.token
    stage.kept.put(Subscription(one.token, "job", TOPIC, stage.hub.url, one.secret, expires=1.0, due=1.0))
    stage.service.run(stage.subscriber.look())
    assert stage.kept.all() == []


def test_another_hub_is_another_subscription(stage: Stage) -> None:
    one = stage.look()
    stage.topics = {TOPIC: stage.hub.url + "/2"}
    other = stage.look()
    assert (other.token, other.secret) != (one.token, one.secret)
    assert stage.hub.call("POST", f"http://crawler.example.org/websub/{one.token}", b"")[0] == 410


def test_bodies_are_bounded(stage: Stage) -> None:
    one = stage.look()
    callback = f"http://crawler.example.org/websub/{one.token}"
    assert stage.hub.publish(TOPIC, b"x" * (2 << 20)) == 202
    assert len(stage.flush()) == 1
    with contextlib.suppress(ConnectionError):  # whoever is told no while he sends
        assert stage.hub.call("POST", callback, b"x" * (MOST_BODY + 1))[0] == 413


def test_too_many_requests_are_put_off(tmp_path: Path) -> None:
    hub = SmallHub()
    with hub.running(), live_service(tmp_path / "d", pings={**PINGS, "per_minute": 3}) as service:
        hub.port_of_subscriber = service.port
        seen = [hub.call("POST", "http://crawler.example.org/websub/x", b"")[0] for _ in range(5)]
    assert seen == [410, 410, 410, 429, 429]


def test_closed_unless_it_is_wanted(tmp_path: Path) -> None:
    hub = SmallHub()
    with hub.running(), live_service(tmp_path / "d") as service:
        hub.port_of_subscriber = service.port
        for path in ("/websub/x", "/indexnow"):
            assert hub.call("GET", f"http://127.0.0.1{path}")[0] == 404
        assert hub.call("GET", "http://crawler.example.org/websub/x")[0] == 421
