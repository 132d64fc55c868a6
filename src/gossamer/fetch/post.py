"""Sends a short message to an address that the operator or a hub has named, and says what was answered.

For requests that are no visits of a crawl: subscriptions at hubs, notices to webhooks. No robots, no politeness,
nothing archived; no redirect is followed, nothing is retried, every address passes the guard when its socket opens.
It blocks: call it in a thread.
"""

import io
import time
from collections.abc import Mapping

import msgspec
import pycurl

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.faults import fault_of
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.options import configure, configure_proxy
from gossamer.fetch.proxies import PATIENCE, Proxies
from gossamer.fetch.sockets import Descriptor, SocketOpener
from gossamer.fetch.verdict import NOT_CONNECTED, PROXY_AUTHENTICATION
from gossamer.model.exchange import Headers
from gossamer.model.outcome import Failed, Fault
from gossamer.model.url import Url
from gossamer.policy.visits.politeness import retry_after

__all__ = ["FORM", "PostAnswer", "post", "post_by"]

_MOST_ANSWER = 16 << 10
_MOST_FIELDS = 200
_CONNECT_SECONDS = 10
_SECONDS = 30
FORM = "application/x-www-form-urlencoded"


class PostAnswer(msgspec.Struct, frozen=True):
    """What came back.

    Attributes:
        status: three digits; 0: there was no answer, and `detail` says why.
        proxy_down: there was none because the proxy could not be reached, or wants another password.
        location: where it sends us, as written.
        retry_after: seconds that the receiver asked for, by a number or a date, a day at most; 0 if it did not.
        detail: the beginning of the answer's body, or what went wrong.
    """

    status: int
    location: str = ""
    retry_after: float = 0.0
    detail: str = ""
    proxy_down: bool = False


def post_by(
    proxies: Proxies,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    config: FetchConfig,
    guard: AddressGuard,
) -> PostAnswer:
    """As `post`, by one of the settings' proxies if there are any: by the rule of visits, which leaves out one that
    fails again and again, and goes by the next."""
    parsed = Url.parse(url)
    host = parsed.host if parsed is not None else ""
    answer = PostAnswer(0)
    for _ in range(PATIENCE + 1):  # after so many failures it is the turn of another
        began, proxy = time.monotonic(), proxies.choose(config.proxies, host)
        if isinstance(proxy, Failed):
            return PostAnswer(0, detail=f"no proxy can be used: {proxy.detail}"[:200])
        answer = post(url, body, headers, config, guard, proxy)
        if not answer.proxy_down:
            proxies.stood(proxy)
            break
        proxies.failed(proxy, began, Failed(Fault.PROXY_DOWN, answer.detail))
    return answer


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    config: FetchConfig,
    guard: AddressGuard,
    proxy: str = "",
) -> PostAnswer:
    """Send `body` once, and wait for 30 s at most. Raises nothing.

    Args:
        url: http or https.
        body: at most some hundred KiB.
        headers: names and values in ASCII; ours are added.
        config: how it is sent: agent, certificates.
        guard: judges addresses.
        proxy: by which it goes; empty for none.
    """
    easy, got = pycurl.Curl(), io.BytesIO()
    head: dict[str, str] = {}
    # A proxy's own address is not judged: what it connects to is its business.
    sockets = SocketOpener(None if proxy else guard.allows)
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
    problem, down = "", False
    try:
        configure(easy, config)
        configure_proxy(easy, config, proxy)
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
        fault = fault_of(error.args[0], str(error.args[-1]))
        down = bool(proxy) and fault in NOT_CONNECTED and not easy.getinfo(pycurl.CONNECT_TIME)
    status = int(easy.getinfo(pycurl.RESPONSE_CODE))
    if proxy and PROXY_AUTHENTICATION in (status, int(easy.getinfo(pycurl.HTTP_CONNECTCODE))):
        problem, down = "the proxy wants other credentials (407)", True
    easy.close()
    if sockets.refused:
        return PostAnswer(
            0,
            detail=f"{sockets.refused} is not allowed: private, or in a closed network (fetch.closed_networks)",
        )
    if down:
        return PostAnswer(0, detail=problem[:200], proxy_down=True)
    if problem and got.tell() < _MOST_ANSWER and len(head) <= _MOST_FIELDS:
        return PostAnswer(0, detail=problem[:200])
    return PostAnswer(
        status,
        head.get("location", "")[:8_192],
        retry_after(Headers(list(head.items())), time.time()) or 0.0,
        got.getvalue()[:200].decode("utf-8", "replace"),
    )
