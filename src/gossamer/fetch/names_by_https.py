"""Brings DNS messages to name servers over HTTPS (RFC 8484)."""

from functools import cached_property
from io import BytesIO

import pycurl

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.faults import fault_of
from gossamer.fetch.multi import Multi
from gossamer.fetch.options import configure, set_times
from gossamer.model.name import Carried

_MEDIA_TYPE = "application/dns-message"
_LONGEST = 65_535
_PATIENCE = 45_000  # milliseconds: as long as the most patient attempt listens
_CONNECTIONS = 16
_OK = 200


class NamesByHttps:
    """Asks by POST, which no cache on the way answers, over few connections: HTTP/2 takes many questions at once.

    `verify_tls`, `ca_file` and `connect_timeout` of the settings hold, a proxy does not: names are asked for
    directly by any transport. The name of a server is found by the system. Nothing is said of who asks.
    """

    def __init__(self, config: FetchConfig) -> None:
        self._config = config
        self._idle: list[pycurl.Curl] = []

    @cached_property
    def _multi(self) -> Multi:
        return Multi(_CONNECTIONS)

    async def carry(self, url: str, message: bytes) -> Carried:
        """The answer to a message, or why there is none."""
        easy = self._idle.pop() if self._idle else self._new()
        question, answer = BytesIO(message), BytesIO()

        def take(chunk: bytes) -> int | None:
            return answer.write(chunk) if answer.tell() + len(chunk) <= _LONGEST else -1

        def rewind(offset: int, _origin: int) -> int:  # to be sent again: a kept connection was gone
            question.seek(offset)
            return int(pycurl.SEEKFUNC_OK)

        easy.setopt(pycurl.URL, url)
        easy.setopt(pycurl.POSTFIELDSIZE, len(message))
        easy.setopt(pycurl.READFUNCTION, question.read)  # pycurl takes no zero bytes as fields
        easy.setopt(pycurl.SEEKFUNCTION, rewind)
        easy.setopt(pycurl.WRITEFUNCTION, take)
        try:
            code, said = await self._multi.perform(easy)
            status, media_type = easy.getinfo(pycurl.RESPONSE_CODE), easy.getinfo(pycurl.CONTENT_TYPE) or ""
        finally:
            self._idle.append(easy)
        if code:
            return Carried(trouble=f"HTTPS: {fault_of(code, said).value}")
        if status != _OK:
            return Carried(trouble=f"HTTPS: status {status}")
        if media_type.partition(";")[0].strip().lower() != _MEDIA_TYPE:
            return Carried(trouble="HTTPS: no DNS message")
        return Carried(answer.getvalue())

    def close(self) -> None:
        """Close every connection; what is under way is cancelled."""
        self._multi.close()
        for easy in self._idle:
            easy.close()
        self._idle.clear()

    def _new(self) -> pycurl.Curl:
        easy = pycurl.Curl()
        configure(easy, self._config)
        set_times(easy, self._config)
        easy.setopt(pycurl.TIMEOUT_MS, _PATIENCE)
        easy.setopt(pycurl.POST, 1)
        easy.setopt(pycurl.PIPEWAIT, 1)  # for the one connection, rather than open another
        easy.setopt(
            pycurl.HTTPHEADER, [f"Content-Type: {_MEDIA_TYPE}", f"Accept: {_MEDIA_TYPE}", "User-Agent:"]
        )
        return easy
