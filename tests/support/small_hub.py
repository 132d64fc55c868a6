"""A small hub on loopback, by W3C WebSub: takes subscriptions, asks back, and sends signed feeds."""

import contextlib
import hashlib
import hmac
import http.client
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from patience import PATIENCE


class SmallHub:
    """Its subscriptions, and what it was asked.

    Attributes:
        asked: forms of subscription, in order.
        verified: answers to its asking back: status and body.
        subscribed: (callback, secret) by topic.
        status: of its answer to a subscription, before it asks back.
        challenge: what it asks back with; empty: it does not.
        lease: seconds that it promises.
        redirect: where it sends whoever subscribes, once.
        answered: set once a subscription was answered.
        waits_for: what must have happened before it answers; `waited`: whether it did, each time.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """`tls`: it speaks https."""
        self.asked: list[dict[str, str]] = []
        self.verified: list[tuple[int, bytes]] = []
        self.subscribed: dict[str, tuple[str, str]] = {}
        self.status, self.challenge, self.lease, self.redirect = 202, "a challenge & more", 3_600, ""
        self.port_of_subscriber = 0
        """Where whatever name it was given for callbacks is really found."""
        self.answered = threading.Event()
        self.waits_for: threading.Event | None = None
        self.waited: list[bool] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
                hub.asked.append(form)
                if hub.waits_for is not None:
                    hub.waited.append(hub.waits_for.wait(PATIENCE))
                target, hub.redirect = hub.redirect, ""
                if not target and hub.status == 202 and hub.challenge:
                    hub.ask_back(form)  # before it answers, so that whoever waits for that has all
                self.send_response(307 if target else hub.status)
                if target:
                    self.send_header("Location", target)
                self.send_header("Content-Length", "0")
                self.end_headers()
                hub.answered.set()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}/hub"

    @contextlib.contextmanager
    def running(self) -> Iterator["SmallHub"]:
        """Answers within the block."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join(PATIENCE)
            self._server.server_close()

    def ask_back(self, form: dict[str, str], **changed: str) -> None:
        """Verify the intent of a subscriber (section 5.3)."""
        query = {
            "hub.mode": form["hub.mode"],
            "hub.topic": form["hub.topic"],
            "hub.challenge": self.challenge,
            "hub.lease_seconds": str(self.lease),
            **{f"hub.{name}": value for name, value in changed.items()},
        }
        status, body = self.call("GET", f"{form['hub.callback']}?{urlencode(query)}")
        self.verified.append((status, body))
        if status == 200 and body == query["hub.challenge"].encode():
            self.subscribed[form["hub.topic"]] = form["hub.callback"], form.get("hub.secret", "")

    def publish(self, topic: str, body: bytes, *, method: str = "sha256", secret: str = "") -> int:
        """Send a feed to whoever subscribed to it (section 7), signed if there is a secret; the answer's status."""
        callback, theirs = self.subscribed[topic]
        fields = {
            "Content-Type": "application/atom+xml",
            "Link": f'<{self.url}>; rel="hub", <{topic}>; rel="self"',
        }
        if secret or theirs:
            digest = hmac.new((secret or theirs).encode(), body, getattr(hashlib, method)).hexdigest()
            fields["X-Hub-Signature"] = f"{method}={digest}"
        return self.call("POST", callback, body, fields)[0]

    def call(
        self, verb: str, address: str, body: bytes = b"", fields: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """A request to a callback."""
        parts = urlsplit(address)
        connection = http.client.HTTPConnection("127.0.0.1", self.port_of_subscriber, timeout=PATIENCE)
        try:
            path = f"{parts.path}?{parts.query}" if parts.query else parts.path
            connection.request(verb, path, body, {"Host": parts.netloc, **(fields or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()
