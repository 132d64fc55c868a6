"""Sends a short message to an address that the operator has named, such as a webhook.

Not a visit: no robots, no politeness, nothing archived. The address was chosen by the operator, so it may lie in his
own network, unlike what pages link to; only `fetch.closed_networks` hold, which the machine's owner has set. No
redirect is followed, for it would lead where nobody has chosen.
"""

import socket
from collections.abc import Mapping
from typing import Any

import msgspec
import pycurl

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.transfer import Descriptor

__all__ = ["Posted", "post"]

SECONDS = 30
CONNECT_SECONDS = 10
_MOST_ANSWER = 64 << 10


class Posted(msgspec.Struct, frozen=True):
    """What became of it.

    Attributes:
        status: of the answer; 0 if there was none.
        retry_after: seconds that the receiver asked for; 0 if it did not.
        problem: why there was none.
    """

    status: int = 0
    retry_after: float = 0.0
    problem: str = ""


def post(url: str, body: bytes, headers: Mapping[str, str], config: FetchConfig, ca_file: str = "") -> Posted:
    """Send it and wait for the answer, 30 s at most. To be called in a thread.

    Args:
        url: http or https.
        body: at most some hundred KiB.
        headers: names and values in ASCII.
        config: of the crawl.
        ca_file: certificates to go by; empty for `config`'s or the system's.
    """
    guard = AddressGuard(msgspec.structs.replace(config, allow_private=True))
    refused: list[str] = []
    told = _Told()

    def opened(_: int, address: Any) -> Descriptor | int:
        where = address.addr[0].decode() if isinstance(address.addr[0], bytes) else address.addr[0]
        if not guard.allows("", where):
            refused.append(where)
            return int(pycurl.SOCKET_BAD)
        return Descriptor(socket.socket(address.family, address.socktype, address.protocol).detach())

    curl = pycurl.Curl()
    try:
        curl.setopt(pycurl.URL, url.encode())
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.PROXY, "")
        curl.setopt(pycurl.CONNECTTIMEOUT, CONNECT_SECONDS)
        curl.setopt(pycurl.TIMEOUT, SECONDS)
        curl.setopt(pycurl.POSTFIELDSIZE, len(body))
        curl.setopt(pycurl.POSTFIELDS, body)
        curl.setopt(pycurl.HTTPHEADER, [*(f"{name}: {value}" for name, value in headers.items()), "Expect:"])
        curl.setopt(pycurl.USERAGENT, config.agent)
        curl.setopt(pycurl.WRITEFUNCTION, told.body)
        curl.setopt(pycurl.HEADERFUNCTION, told.head)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, opened)
        if ca_file or config.ca_file:
            curl.setopt(pycurl.CAINFO, ca_file or config.ca_file)
        curl.perform()
        return Posted(int(curl.getinfo(pycurl.RESPONSE_CODE)), told.retry_after)
    except pycurl.error as error:
        if told.full:
            return Posted(int(curl.getinfo(pycurl.RESPONSE_CODE)), told.retry_after)
        if refused:
            return Posted(problem=f"{refused[0]} lies in a closed network (fetch.closed_networks)")
        return Posted(problem=str(error.args[-1]) or "no answer")
    finally:
        curl.close()


class _Told:
    """What is kept of an answer: nothing but how long to wait."""

    def __init__(self) -> None:
        self.retry_after = 0.0
        self.full = False
        self._size = 0

    def head(self, line: bytes) -> int:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"retry-after" and (digits := value.strip()[:9]).isdigit():
            self.retry_after = float(digits)
        return self._count(line)

    def body(self, piece: bytes) -> int:
        return self._count(piece)

    def _count(self, piece: bytes) -> int:
        self._size += len(piece)
        self.full = self._size > _MOST_ANSWER
        return 0 if self.full else len(piece)
