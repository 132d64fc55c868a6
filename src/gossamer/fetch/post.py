"""Sends a short message to an address that the operator or a hub has named, and says what was answered.

For requests that are no visits of a crawl: subscriptions at hubs, notices to webhooks. No robots, no politeness,
nothing archived; no redirect is followed, nothing is retried, every address passes the guard when its socket opens.
It blocks: call it in a thread.
"""

import io
from collections.abc import Mapping

import msgspec
import pycurl

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.options import configure, configure_proxy
from gossamer.fetch.sockets import Descriptor, SocketOpener
from gossamer.model.url import Url

__all__ = ["FORM", "PostAnswer", "post"]

_MOST_ANSWER = 16 << 10
_MOST_FIELDS = 200
_CONNECT_SECONDS = 10
_SECONDS = 30
FORM = "application/x-www-form-urlencoded"


class PostAnswer(msgspec.Struct, frozen=True):
    """What came back.

    Attributes:
        status: three digits; 0: there was no answer, and `detail` says why.
        location: where it sends us, as written.
        retry_after: seconds that the receiver asked for; 0 if it did not.
        detail: the beginning of the answer's body, or what went wrong.
    """

    status: int
    location: str = ""
    retry_after: float = 0.0
    detail: str = ""


def post(
    url: str, body: bytes, headers: Mapping[str, str], config: FetchConfig, guard: AddressGuard
) -> PostAnswer:
    """Send `body` once, and wait for 30 s at most. Raises nothing.

    Args:
        url: http or https.
        body: at most some hundred KiB.
        headers: names and values in ASCII; ours are added.
        config: how it is sent: agent, proxy, certificates.
        guard: judges addresses.
    """
    easy, got = pycurl.Curl(), io.BytesIO()
    head: dict[str, str] = {}
    # A proxy's own address is not judged: what it connects to is its business.
    sockets = SocketOpener(None if config.proxy else guard.allows)
    parsed = Url.parse(url)
    host = parsed.host if parsed is not None else ""

    def take(chunk: bytes) -> int | None:
        return None if got.write(chunk[: _MOST_ANSWER - got.tell()]) == len(chunk) else -1

    def hear(line: bytes) -> int | None:
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            head.setdefault(name.strip().lower(), value.strip())
        return None if len(head) <= _MOST_FIELDS else -1

    def open_socket(_: int, address: pycurl.CurlSockAddr) -> Descriptor | int:
        return sockets.open(host, address) or int(pycurl.SOCKET_BAD)

    fields = [
        f"User-Agent: {config.agent}",
        *(f"{name}: {value}" for name, value in headers.items()),
        "Expect:",
    ]
    problem = ""
    try:
        configure(easy, config)
        configure_proxy(easy, config, next(iter(config.proxies), ""))
        for option, value in (
            (pycurl.URL, url.encode()),
            (pycurl.CONNECTTIMEOUT, _CONNECT_SECONDS),
            (pycurl.TIMEOUT, _SECONDS),
            (pycurl.POSTFIELDSIZE, len(body)),
            (pycurl.POSTFIELDS, body),
            (pycurl.HTTPHEADER, fields),
            (pycurl.WRITEFUNCTION, take),
            (pycurl.HEADERFUNCTION, hear),
            (pycurl.OPENSOCKETFUNCTION, open_socket),
        ):
            easy.setopt(option, value)
        easy.perform()
    except pycurl.error as error:
        problem = sockets.trouble or str(error.args[-1]) or "no answer"
    status = int(easy.getinfo(pycurl.RESPONSE_CODE))
    easy.close()
    if sockets.refused:
        return PostAnswer(
            0,
            detail=f"{sockets.refused} is not allowed: private, or in a closed network (fetch.closed_networks)",
        )
    if problem and got.tell() < _MOST_ANSWER and len(head) <= _MOST_FIELDS:
        return PostAnswer(0, detail=problem[:200])
    wait = head.get("retry-after", "")[:9]
    return PostAnswer(
        status,
        head.get("location", "")[:8_192],
        float(wait) if wait.isdecimal() else 0.0,
        got.getvalue()[:200].decode("utf-8", "replace"),
    )
