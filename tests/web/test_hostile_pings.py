"""Hostile requests to `/websub/`, `/indexnow` and `changed`, written from W3C WebSub and the IndexNow protocol."""

import contextlib
import hashlib
import hmac
import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import loopback
import pytest
from live_service import LiveService, live_service
from patience import PATIENCE
from service_world import job_settings
from small_site import Answer, Site

from gossamer.daemon.pings.subscriber import Around, Subscriber
from gossamer.daemon.pings.subscriptions import Subscription, Subscriptions
from gossamer.fetch.post import PostAnswer
from gossamer.model.url import Url

HERE = "http://crawler.example.org"
PINGS = {"websub": True, "indexnow": True, "public_url": HERE, "per_minute": 10_000}
TOPIC = "https://blog.example.org/feed"
TOKEN, SECRET = "a-token-that-nobody-can-guess", "a secret that the hub was told"
CALLBACK = f"/websub/{TOKEN}"
KEY = "0123456789abcdef"
SITE = "https://example.org"
HUGE = 4 << 20


class Target:
    """A daemon with a job that crawls a site of a few pages, and one subscription that holds."""

    def __init__(self, service: LiveService, site: Site) -> None:
        self.service, self.site = service, site
        self.told: list[tuple[str, list[str]]] = []
        kept = Subscriptions(service.daemon.store.database)
        self.subscriber = Subscriber(
            service.daemon.config.pings, kept, Around(list, self._nothing, self._no_post, self._changed)
        )
        service.daemon.pings.subscriber = self.subscriber
        soon = time.time() + 3_600
        kept.put(
            Subscription(TOKEN, "site", TOPIC, "https://hub.example.org/", SECRET, expires=soon, due=soon)
        )

    async def _nothing(self, _job: str) -> dict[str, str] | None:
        return None

    async def _no_post(self, _one: Subscription, url: Url, _body: bytes) -> PostAnswer:
        raise AssertionError(url)

    async def _changed(self, job: str, topics: list[str]) -> None:
        self.told.append((job, topics))

    def heard(self) -> list[tuple[str, list[str]]]:
        """What jobs were told since it was last asked."""
        self.service.run(self.subscriber.flush())
        told, self.told = self.told, []
        return told

    def raw(self, head: str, body: bytes = b"") -> int:
        """The status of the answer to bytes of our making; what comes after the head may never be sent."""
        with socket.create_connection(("127.0.0.1", self.service.port), timeout=PATIENCE) as channel:
            channel.sendall(head.replace("\n", "\r\n").encode("utf-8") + b"\r\n\r\n" + body)
            answer = channel.recv(4_096)
        return int(answer.split()[1]) if answer else 0

    def post(self, path: str, body: bytes = b"", **fields: str) -> httpx.Response:
        headers = {"Host": "crawler.example.org", **{name.replace("_", "-"): v for name, v in fields.items()}}
        return loopback.post(self.service.url + path, content=body, headers=headers)

    def ask(self, **query: str) -> httpx.Response:
        """A hub asks back."""
        params = {f"hub.{name}": value for name, value in query.items()}
        return loopback.get(
            self.service.url + CALLBACK, params=params, headers={"Host": "crawler.example.org"}
        )

    def submit(self, **changed: Any) -> int:
        """The status of the answer to a list by IndexNow."""
        listed = {"host": "example.org", "key": KEY, "urlList": [f"{SITE}/a"], **changed}
        listed = {name: value for name, value in listed.items() if value is not None}
        return self.post(
            "/indexnow", json.dumps(listed).encode(), Content_Type="application/json"
        ).status_code

    def changed(self, body: bytes | dict[str, Any], kind: str = "application/json") -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": kind, "Origin": self.service.url}
        return loopback.post(f"{self.service.url}/api/v1/jobs/site/changed", content=content, headers=headers)


def signed(body: bytes, secret: str = SECRET, method: str = "sha256") -> str:
    return f"{method}={hmac.new(secret.encode(), body, getattr(hashlib, method)).hexdigest()}"


def answer(_host: str, path: str, _: Counter[tuple[str, str]]) -> Answer:
    html = {"Content-Type": "text/html"}
    return (200, html, '<a href="/1">x</a>') if path in ("/", "/1") else (404, html, "no")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    here: Path = tmp_path_factory.mktemp("pings") / "service"
    with Site(answer) as site, live_service(here, pings=PINGS) as service:
        settings = job_settings(None, seeds=[site.address], revisit__enabled=True, scope__mode="host")
        service.run(service.daemon.create("site", settings, who="tester"))
        service.run(service.daemon.start("site", who="tester"))
        deadline = time.monotonic() + PATIENCE
        while len(site.asked) < 3:  # robots, front page, the other
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield Target(service, site)


# WebSub: what comes to a callback.


def test_nothing_is_read_from_whoever_comes_to_no_callback(target: Target) -> None:
    head = f"POST /websub/nobody HTTP/1.1\nHost: crawler.example.org\nContent-Length: {HUGE - 1}"
    assert target.raw(head) == 410
    endless = "POST /websub/nobody HTTP/1.1\nHost: crawler.example.org\nTransfer-Encoding: chunked"
    assert target.raw(endless, b"1000\r\n" + b"x" * 4_096 + b"\r\n") == 410


@pytest.mark.parametrize(
    "signature",
    [
        signed(b"<feed/>", "of another"),
        signed(b"<other/>"),  # taken from another message
        signed(b"<feed/>", method="md5"),
        signed(b"<feed/>")[:-2],
        signed(b"<feed/>") + "00",
        "none=",
        "sha256=" + "0" * 64,
        "sha256=" + "0" * 60_000,
        hmac.new(SECRET.encode(), b"<feed/>", hashlib.sha256).hexdigest(),
        "",
    ],
)
def test_forged_is_taken_and_ignored(target: Target, signature: str) -> None:
    fields = {"X_Hub_Signature": signature} if signature else {}
    assert target.post(CALLBACK, b"<feed/>", **fields).status_code // 100 in (2, 4)
    assert target.heard() == []


def test_two_signatures_are_none(target: Target) -> None:
    both = [signed(b"x", "of another"), signed(b"x")]
    head = f"POST {CALLBACK} HTTP/1.1\nHost: crawler.example.org\nContent-Length: 1\n" + "\n".join(
        f"X-Hub-Signature: {one}" for one in both
    )
    assert target.raw(head, b"x") == 202
    assert target.heard() == []


def test_a_message_again_and_again_makes_one_feed_due_once(target: Target) -> None:
    for _ in range(20):
        assert target.post(CALLBACK, b"<feed/>", X_Hub_Signature=signed(b"<feed/>")).status_code == 202
    assert target.heard() == [("site", [TOPIC])]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"Content_Type": "application/json"},
        {"Content_Type": "multipart/form-data; boundary="},
        {"Content_Type": "text/html; charset=\x80no".encode("latin-1").decode("latin-1")},
        {"Content_Encoding": "gzip"},
        {"Link": '<https://evil.example/feed>; rel="self", <http://127.0.0.1/>; rel="hub"'},
        {"X_Forwarded_For": "127.0.0.1"},
    ],
)
def test_what_a_message_says_of_itself_is_not_read(target: Target, fields: dict[str, str]) -> None:
    body = b"\x1f\x8b\x00not really gzip <!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
    headers = {name.replace("_", "-"): value.encode("latin-1") for name, value in fields.items()}
    headers |= {"Host": b"crawler.example.org", "X-Hub-Signature": signed(body).encode()}
    answered = loopback.post(target.service.url + CALLBACK, content=body, headers=headers)
    assert answered.status_code == 202
    assert target.heard() == [("site", [TOPIC])]


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"mode": "subscribe"},
        {"mode": "subscribe", "topic": TOPIC},
        {
            "mode": "subscribe",
            "topic": TOPIC,
            "challenge": "c",
            "lease_seconds": "60",
        },  # none is asked for now
        {"mode": "subscribe", "topic": "https://blog.example.org:444/feed", "challenge": "c"},
        {"mode": "subscribe", "topic": "https://blog.example.org.evil.example/feed", "challenge": "c"},
        {"mode": "unsubscribe", "topic": TOPIC, "challenge": "c"},
        {"mode": "denied", "topic": "https://evil.example/", "reason": "<b>no</b>"},
        {"mode": "SUBSCRIBE", "topic": TOPIC, "challenge": "<script>alert(1)</script>"},
        {"mode": "subscribe", "topic": TOPIC, "challenge": "c" * 20_000, "lease_seconds": "-1"},
        {"mode": "subscribe", "topic": TOPIC, "challenge": "c", "lease_seconds": "\u0661\u0660"},
        {"mode": "subscribe", "topic": TOPIC, "challenge": "c", "lease_seconds": "9" * 5_000},
    ],
)
def test_a_hub_that_asks_back_for_what_nobody_wants(target: Target, query: dict[str, str]) -> None:
    answered = target.ask(**query)
    assert 400 <= answered.status_code < 500
    assert not answered.text.startswith(query.get("challenge", "c"))
    [kept] = Subscriptions(target.service.daemon.store.database).all()
    assert (kept.topic, kept.secret, kept.note) == (TOPIC, SECRET, "")


@pytest.mark.parametrize(
    "path",
    [
        "/websub/",
        "/websub/..%2f..%2fapi%2fv1%2fjobs",
        "/websub/%00",
        "/websub/%ff%fe",
        "/websub/\u00e9",
        "/websub/" + "x" * 10_000,
        f"/websub/{TOKEN}/",
        f"/websub/{TOKEN}%20",
        f"/websub/{TOKEN.upper()}",
    ],
)
def test_callbacks_that_are_none(target: Target, path: str) -> None:
    head = (
        f"POST {path} HTTP/1.1\nHost: crawler.example.org\nX-Hub-Signature: {signed(b'x')}\nContent-Length: 1"
    )
    assert 400 <= target.raw(head, b"x") < 500
    assert target.heard() == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods(target: Target, method: str) -> None:
    for path in (CALLBACK, "/indexnow"):
        head = f"{method} {path} HTTP/1.1\nHost: crawler.example.org\nContent-Length: 0"
        assert target.raw(head) in (404, 405)


@pytest.mark.parametrize(
    "host", ["127.0.0.1.evil.example", "evil.example", "crawler.example.org@evil.example", ""]
)
def test_callbacks_answer_to_their_own_name_only(target: Target, host: str) -> None:
    head = f"POST {CALLBACK} HTTP/1.1\nHost: {host}\nX-Hub-Signature: {signed(b'x')}\nContent-Length: 1"
    assert target.raw(head, b"x") in (400, 421)
    assert target.heard() == []


# IndexNow.


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        # A key proves the host it lies at: its name, and its port.
        ({"keyLocation": f"https://example.org:8443/{KEY}.txt"}, 422),
        ({"keyLocation": f"https://www.example.org/{KEY}.txt"}, 422),
        ({"keyLocation": f"https://example.org.evil.example/{KEY}.txt"}, 422),
        ({"keyLocation": f"https://example.org@evil.example/{KEY}.txt"}, 422),
        ({"keyLocation": f"https://evil.example/?https://example.org/{KEY}.txt"}, 422),
        ({"keyLocation": f"//evil.example/{KEY}.txt"}, 422),
        ({"keyLocation": f"https://[::1]/{KEY}.txt"}, 422),
        ({"keyLocation": f"https://ex\u0430mple.org/{KEY}.txt"}, 422),  # a Cyrillic letter
        ({"keyLocation": f"https://example.org:443/{KEY}.txt"}, 202),
        ({"keyLocation": f"HTTPS://EXAMPLE.ORG/{KEY}.txt"}, 202),
        ({"keyLocation": 5}, 400),
        # Its folder is all that it speaks of.
        ({"keyLocation": f"{SITE}/shop/{KEY}.txt"}, 422),
        ({"keyLocation": f"{SITE}/shop/{KEY}.txt", "urlList": [f"{SITE}/shop"]}, 422),
        ({"keyLocation": f"{SITE}/shop/{KEY}.txt", "urlList": [f"{SITE}/shop-2/x"]}, 422),
        ({"keyLocation": f"{SITE}/shop/{KEY}.txt", "urlList": [f"{SITE}/shop/../x"]}, 422),
        ({"keyLocation": f"{SITE}/shop/{KEY}.txt", "urlList": [f"{SITE}/shop/%2e%2e/x"]}, 422),
        ({"keyLocation": f"{SITE}/shop/{KEY}.txt", "urlList": [f"{SITE}/shop\\..\\x"]}, 422),
        ({"keyLocation": f"{SITE}/shop/{KEY}.txt", "urlList": [f"{SITE}/SHOP/x"]}, 422),
        ({"keyLocation": f"{SITE}/shop/{KEY}.txt", "urlList": [f"{SITE}/?/shop/x"]}, 422),
        ({"keyLocation": f"{SITE}/shop/../{KEY}.txt"}, 202),
        # What says again whatever it is asked proves nothing.
        ({"keyLocation": f"{SITE}/echo?text={KEY}"}, 422),
        ({"keyLocation": f"{SITE}/?{KEY}.txt"}, 422),
        # URLs of others.
        ({"urlList": [f"{SITE}/a", f"{SITE}:8443/a"]}, 422),
        ({"urlList": [f"{SITE}:8443/a", f"{SITE}:8443/b"]}, 202),  # its key lies at that port
        ({"urlList": ["https://www.example.org/a"]}, 422),
        ({"urlList": ["https://example.org@evil.example/a"]}, 422),
        ({"urlList": ["//evil.example/a"]}, 400),
        ({"urlList": ["https://ex\u0430mple.org/a"]}, 422),
        ({"urlList": ["\u0000"]}, 400),
        ({"urlList": [f"{SITE}/a\r\nHost: evil.example"]}, 202),  # WHATWG: such bytes are taken out
        ({"urlList": ["http://127.0.0.1/"]}, 422),
        ({"urlList": [["https://example.org/a"]]}, 400),
        ({"urlList": {"0": "https://example.org/a"}}, 400),
        # Names.
        ({"host": "EXAMPLE.ORG"}, 202),
        ({"host": "b\u00fccher.example", "urlList": ["https://xn--bcher-kva.example/a"]}, 202),
        ({"host": "xn--bcher-kva.example", "urlList": ["https://b\u00fccher.example/a"]}, 202),
        ({"host": "127.0.0.1", "urlList": ["http://127.0.0.1/a"]}, 202),
        ({"host": "169.254.169.254", "urlList": ["http://169.254.169.254/latest/meta-data/"]}, 202),
        ({"host": "example.org\u0000.evil.example"}, 400),
        ({"host": "x" * 100_000}, 422),
        # Keys.
        ({"key": "\uff10" * 8}, 422),
        ({"key": KEY + "\n"}, 422),
        ({"key": KEY + "/../../x"}, 422),
        ({"key": None}, 422),
        ({"key": [KEY]}, 400),
        ({"unknown": {"a": [1] * 1_000}}, 202),
    ],
)
def test_submissions(target: Target, changed: dict[str, Any], status: int) -> None:
    assert target.submit(**changed) == status


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"url=https://example.org/&key=0123456789abcdef", "application/x-www-form-urlencoded"),
        (b"<urlset/>", "application/xml"),
        (b"\xff\xfe{\x00}\x00", "application/json; charset=utf-16"),
        (b"[" * 500_000, "application/json"),
        (b'{"host": NaN}', "application/json"),
        (b'{"host": "\xc3\x28"}', "application/json"),
        (
            b'{"host": "\\ud800", "key": "0123456789abcdef", "urlList": ["https://example.org/"]}',
            "application/json",
        ),
    ],
)
def test_no_lists_at_all(target: Target, body: bytes, kind: str) -> None:
    assert target.post("/indexnow", body, Content_Type=kind).status_code in (400, 415, 422)


def test_a_list_that_is_too_long_is_not_read(target: Target) -> None:
    head = f"POST /indexnow HTTP/1.1\nHost: crawler.example.org\nContent-Length: {1 << 30}"
    assert target.raw(head) == 413


def test_nothing_is_asked_of_hosts_that_no_job_crawls(target: Target) -> None:
    with Site(answer) as other:
        body = {"host": f"127.0.0.1:{other.port}", "urlList": [f"{other.address}a"]}
        assert target.submit(**body, keyLocation=f"{other.address}{KEY}.txt") in (202, 400, 422)
        assert target.submit(host="127.0.0.1", urlList=[f"{target.site.address}1"]) in (202, 422)
        deadline = time.monotonic() + PATIENCE
        while not any(path == f"/{KEY}.txt" for _, path in target.site.asked):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert other.asked == []
        assert Counter(path for _, path in target.site.asked)["/1"] == 1  # the key is not there


# Changed.


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", (400, 422)),
        (b"{", "application/json", (400, 422)),
        (b"[" * 100_000, "application/json", (400, 422)),
        (b"urls=http://x/", "application/x-www-form-urlencoded", (400, 415, 422)),
        (b'{"urls": null}', "application/json", (400, 422)),
        (b'{"urls": "http://x/"}', "application/json", (400, 422)),
        (b'{"urls": [5]}', "application/json", (400, 422)),
        (b'{"urls": [], "new": "yes"}', "application/json", (400, 422)),
        (b'{"urls": [], "source": 6}', "application/json", (400, 422)),
        (json.dumps({"urls": ["x"] * 10_001}).encode(), "application/json", (422,)),
    ],
)
def test_changed_badly_asked(target: Target, body: bytes, kind: str, status: tuple[int, ...]) -> None:
    assert target.changed(body, kind).status_code in status


def test_changed_asked_with_far_too_much(target: Target) -> None:
    # Nobody reads eight megabytes to be polite: a reset may take the answer (RFC 9112 section 9.6).
    with contextlib.suppress(httpx.TransportError):
        assert target.changed(b'{"urls": ["' + b"x" * (8 << 20) + b'"]}').status_code == 413
    assert target.changed({"urls": []}).status_code != 413, "the service goes on"


def test_changed_hears_of_no_stranger(target: Target) -> None:
    mine, port = target.site.address, target.site.port
    urls = [
        *(
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "mailto:a@example.org",
            "",
            " ",
            "\u0000",
        ),
        *("http://", "http://[::1", "http://a b/", f"http://127.0.0.1:{port + 65_536}/", "x" * 8_000),
        *(
            "http://169.254.169.254/",
            "http://localhost:22/",
            "http://[::1]/",
            "http://0x7f.2:1/",
            "http://2130706434:1/",
        ),
        *(
            "http://b\u00fccher.example/",
            f"http://user:word@127.0.0.1:{port}/1",
            mine.replace("127.0.0.1", "127.0.0.2"),
        ),
    ]
    heard = target.changed({"urls": urls, "new": True})
    assert heard.status_code == 200, heard.text
    counts = heard.json()
    assert sum(counts.values()) == len(urls)
    assert (counts["new"], counts["held"]) == (0, 0), counts
