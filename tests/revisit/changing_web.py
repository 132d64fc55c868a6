"""A web on loopback whose pages change, and which writes down every request byte for byte.

Each host is an address of its own (127.0.7.1, 127.0.7.2, ...) on one port, so that politeness keeps them apart. What a
host answers is a function of the request, which knows how often its URL was asked for before.
"""

import asyncio
import contextlib
import hashlib
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from patience import PATIENCE

NETWORK = "127.0.7."
Fields = Sequence[tuple[str, str | bytes]]


@dataclass(frozen=True)
class Request:
    """One request as it came.

    Attributes:
        host: the address it came to.
        number: of the requests for this URL, from 1.
        head: everything before the empty line, byte for byte.
        at: seconds since 1970.
    """

    host: str
    target: str
    number: int
    head: bytes
    at: float

    def all(self, name: str) -> list[bytes]:
        """Every value of a header field, without the space around it."""
        lines = (line.partition(b":") for line in self.head.split(b"\r\n")[1:])
        return [value.strip(b" \t") for key, _, value in lines if key.lower() == name.lower().encode()]

    def get(self, name: str) -> bytes | None:
        """The value of a field that may come once at most."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times: {self.head!r}"
        return values[0] if values else None

    @property
    def conditional(self) -> bool:
        return bool(self.all("If-None-Match") or self.all("If-Modified-Since"))


@dataclass(frozen=True)
class Reply:
    """One answer. `length`: what Content-Length says, if it lies; `None` as body: no length is said at all."""

    status: int = 200
    fields: Fields = ()
    body: bytes | None = b""
    length: int | None = None
    kind: str = "text/html; charset=utf-8"
    after: float = 0.0

    def wire(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Word".encode()]
        fields: list[tuple[str, str | bytes]] = list(self.fields)
        names = {name.lower() for name, _ in fields}
        if self.status != 304 and "content-type" not in names:
            fields.append(("Content-Type", self.kind))
        if self.body is not None and (self.status != 304 or self.body or self.length):
            fields.append(("Content-Length", str(len(self.body) if self.length is None else self.length)))
        for name, value in fields:
            lines.append(
                name.encode() + b": " + (value if isinstance(value, bytes) else value.encode("latin-1"))
            )
        return b"\r\n".join(lines) + b"\r\n\r\n" + (self.body or b"")


@dataclass(frozen=True)
class Seen:
    """A request and what it got; `began` and `ended`, when the answer left, are of the monotonic clock."""

    request: Request
    status: int
    body: bytes
    began: float
    ended: float
    open: int
    """Visits of this host that were under way, this one included."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


Answer = Callable[[Request], Reply]


@dataclass
class ChangingWeb:
    """Serves hosts by their names; `port` 0 takes any."""

    hosts: dict[str, Answer]
    port: int = 0
    log: list[Seen] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.addresses = {name: f"{NETWORK}{number}" for number, name in enumerate(self.hosts, 1)}
        self._answers = {self.addresses[name]: answer for name, answer in self.hosts.items()}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._open: Counter[str] = Counter()
        self._sockets = self._listen()
        self.port = self._sockets[0].getsockname()[1]
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def url(self, host: str, target: str = "/") -> str:
        return f"http://{self.addresses[host]}:{self.port}{target}"

    def of(self, host: str, target: str = "/") -> list[Seen]:
        """What was asked of a URL, in order."""
        address = self.addresses[host]
        return [
            seen for seen in list(self.log) if (seen.request.host, seen.request.target) == (address, target)
        ]

    def until(self, condition: Callable[[], object], patience: float = PATIENCE) -> bool:
        """Wait for something to become true; whether it did."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def _listen(self) -> list[socket.socket]:
        for _ in range(20):
            port, made = self.port, []
            try:
                for address in self.addresses.values():
                    listener = socket.socket()
                    made.append(listener)
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    listener.bind((address, port))
                    port = listener.getsockname()[1]
                return made
            except OSError:
                for listener in made:
                    listener.close()
        raise AssertionError("no port is free on all addresses")

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(ready))
        self._loop.close()

    async def _serve(self, ready: threading.Event) -> None:
        self._stop = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._talk(reader, writer)
            tasks.discard(task)
            writer.close()

        servers = [await asyncio.start_server(accept, sock=each, limit=1 << 20) for each in self._sockets]
        ready.set()
        await self._stop.wait()
        for server in servers:
            server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
            began = time.monotonic()
            target = head.split(b" ", 2)[1].decode("latin-1")
            self._counts[host, target] += 1
            self._open[host] += 1
            request = Request(host, target, self._counts[host, target], head, time.time())
            reply = self._answers[host](request)
            ended = began
            try:
                if reply.after:
                    await asyncio.sleep(reply.after)
                sent = reply.wire()
                ended = time.monotonic()  # before it is sent: afterwards the visitor may be ahead
                writer.write(sent)
                await writer.drain()
            finally:
                self.log.append(
                    Seen(request, reply.status, reply.body or b"", began, ended, self._open[host])
                )
                self._open[host] -= 1
            if reply.length not in (None, len(reply.body or b"")) or reply.body is None:
                return


# What hosts are made of …


def page(text: str, links: Iterable[str] = ()) -> bytes:
    """A page whose main text says something."""
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return (
        f"<!doctype html><html><head><title>A page</title></head><body><article><h1>A page</h1><p>{text} It is a "
        f"whole sentence, and there is another one after it, so that the main text of this page is beyond doubt."
        f"</p></article>{anchors}</body></html>"
    ).encode()


def version_of(address: str, target: str, number: int) -> bytes:
    """What `honest` answers if it is told nothing else; no two URLs have one text."""
    return page(f"This is version {number} of {target} at {address}.")


def missing() -> Reply:
    return Reply(404, body=b"<title>404</title>not here")


def at(path: str, answer: Answer, others: Answer | None = None) -> Answer:
    """One path answers so; all others, robots files among them, are not there unless `others` says."""

    def whole(request: Request) -> Reply:
        if request.target == path:
            return answer(request)
        return others(request) if others else missing()

    return whole


def asked_for(request: Request, etag: str | bytes | None, modified: str | None = None) -> bool:
    """Whether an honest server answers 304 (RFC 9110, 13.2.2: the entity tag decides, if there is one)."""
    said = request.get("If-None-Match")
    if said is not None:
        raw = b"" if etag is None else etag if isinstance(etag, bytes) else etag.encode("latin-1")
        return bool(raw) and (said == b"*" or said.removeprefix(b"W/") == raw.removeprefix(b"W/"))
    return modified is not None and request.get("If-Modified-Since") == modified.encode()


def honest(
    version: Callable[[Request], int] = lambda _: 1,
    etag: Callable[[int], str | bytes] | None = lambda n: f'"v{n}"',
    modified: Callable[[int], str] | None = None,
    body: Callable[[int], bytes] | None = None,
    fields: Fields = (),
) -> Answer:
    """A page whose version is a function of the request, by a server that does all as RFC 9110 says."""

    def answer(request: Request) -> Reply:
        number = version(request)
        tag, date = etag(number) if etag else None, modified(number) if modified else None
        sent: list[tuple[str, str | bytes]] = [*fields]
        if tag is not None:
            sent.append(("ETag", tag))
        if date is not None:
            sent.append(("Last-Modified", date))
        if asked_for(request, tag, date):
            return Reply(304, sent)
        return Reply(200, sent, body(number) if body else version_of(request.host, request.target, number))

    return answer
