"""Sends a small form to a server that a stranger has named, and says what it answered.

For the few requests that are no visits of a crawl, such as subscriptions at hubs: no redirect is followed, nothing is
retried, every address passes the guard when its socket opens. It blocks: call it in a thread.
"""

import io
import socket

import msgspec
import pycurl

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.options import configure
from gossamer.fetch.transfer import Descriptor
from gossamer.model.url import Url

_MOST_ANSWER = 16 << 10
_SECONDS = 30
FORM = "application/x-www-form-urlencoded"


class FormAnswer(msgspec.Struct, frozen=True):
    """What came back.

    Attributes:
        status: three digits; 0: there was no answer, and `detail` says why.
        location: where it sends us, as written.
        detail: the beginning of the answer's body, or what went wrong.
    """

    status: int
    location: str = ""
    detail: str = ""


def post_form(
    url: Url, body: bytes, config: FetchConfig, guard: AddressGuard, *, kind: str = FORM
) -> FormAnswer:
    """Send `body` once. Raises nothing."""
    easy, got = pycurl.Curl(), io.BytesIO()
    head: dict[str, str] = {}
    refused: list[str] = []

    def take(chunk: bytes) -> int | None:
        return None if got.write(chunk[: _MOST_ANSWER - got.tell()]) == len(chunk) else -1

    def hear(line: bytes) -> None:
        name, colon, value = line.decode("latin-1").partition(":")
        if colon and len(head) < 200:
            head.setdefault(name.strip().lower(), value.strip())

    def open_socket(_: int, address: pycurl.CurlSockAddr) -> object:
        # A proxy's own address is not judged: what it connects to is its business.
        if not config.proxy and not guard.allows(url.host, address.addr[0]):
            refused.append(address.addr[0])
            return pycurl.SOCKET_BAD
        return Descriptor(socket.socket(address.family, address.socktype, address.protocol).detach())

    try:
        configure(easy, config, None)
        for option, value in (
            (pycurl.URL, url.text),
            (pycurl.TIMEOUT, _SECONDS),
            (pycurl.POSTFIELDS, body),
            (pycurl.HTTPHEADER, [f"User-Agent: {config.agent}", f"Content-Type: {kind}", "Expect:"]),
            (pycurl.WRITEFUNCTION, take),
            (pycurl.HEADERFUNCTION, hear),
            (pycurl.OPENSOCKETFUNCTION, open_socket),
        ):
            easy.setopt(option, value)
        easy.perform()
    except pycurl.error as error:
        if got.tell() < _MOST_ANSWER:
            why = f"the address {refused[0]} is not allowed" if refused else str(error.args[-1])
            return FormAnswer(0, detail=why[:200])
    except OSError as error:
        return FormAnswer(0, detail=f"no socket: {error.strerror}")
    finally:
        status = easy.getinfo(pycurl.RESPONSE_CODE)
        easy.close()
    return FormAnswer(
        status, head.get("location", "")[:8_192], got.getvalue()[:200].decode("utf-8", "replace")
    )
