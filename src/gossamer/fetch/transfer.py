"""One libcurl easy handle with everything that a visit needs, used again and again."""

import asyncio
from collections.abc import Callable

import msgspec
import pycurl

from gossamer.fetch.access import Access
from gossamer.fetch.beginning import Beginning
from gossamer.fetch.body import BodyWriter
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.head import HeadReader, parse_fields
from gossamer.fetch.options import set_times
from gossamer.fetch.sockets import SocketOpener
from gossamer.fetch.throttle import Flow
from gossamer.model.errors import StorageError
from gossamer.model.url import Url
from gossamer.policy.places.place import type_of

_ABORT = -1
PARTIAL = 206
_CIPHER_PREFIX = b"SSL connection using "


class Order(msgspec.Struct, frozen=True):
    """What one visit asks of libcurl.

    Attributes:
        known_as: the URL of the lease.
        url: that is asked: the same, or of a POST what it stands for.
        target: request target, `/a?b`, or the whole URL for a forwarding proxy.
        fields: header fields after `Host`, in order.
        config: as it stands for the URL.
        access: how it goes out, which a handle is made for.
        answered: as it stands once the media type is known, where that may differ.
        tunnelled: a proxy answers a CONNECT before the origin does.
        secret: names of fields whose values the exchange must not have.
        cookies: of the site, where they are kept.
        body: is sent, by POST.
        resumable: if it breaks off, another visit may ask for the rest.
        beginning: of which the rest is asked for.
    """

    known_as: Url
    url: Url
    target: bytes
    fields: list[bytes]
    config: FetchConfig
    access: Access
    answered: Callable[[str], FetchConfig] | None = None
    tunnelled: bool = False
    secret: tuple[str, ...] = ()
    cookies: tuple[bytes, ...] | None = None
    body: bytes = b""
    resumable: bool = False
    beginning: Beginning | None = None


class Transfer:
    """A pooled handle. What stays the same for all of its life is set by `access`, the rest by `begin`.

    Invariant: callbacks never raise, because pycurl would print and swallow it; what goes wrong in
    them is kept in attributes for whoever awaits the transfer.

    Args:
        new_body: makes what takes a body.
        allows: (host, address) -> may a socket be opened? `None` behind a proxy.
    """

    def __init__(
        self,
        new_body: Callable[[], BodyWriter],
        allows: Callable[[str, str], bool] | None,
    ) -> None:
        self.easy = pycurl.Curl()
        self._config: FetchConfig | None = None
        self._new_body = new_body
        self._allows = allows
        self._order: Order | None = None
        self.flow: Flow | None = None
        """What limits its speed, if anything does."""
        self._fields: list[bytes] | None = None
        self._listening = False
        self.joined = 0
        """Bytes at the front of the body that earlier visits brought."""
        for option, callback in (
            (pycurl.WRITEFUNCTION, self._on_body),
            (pycurl.OPENSOCKETFUNCTION, self._on_open_socket),
            (pycurl.DEBUGFUNCTION, self._on_debug),
        ):
            self.easy.setopt(option, callback)

    def begin(self, order: Order, resolve: list[str], flow: Flow | None = None) -> None:
        """Make ready for a visit; `resolve` holds name entries as CURLOPT_RESOLVE wants them."""
        config, easy = order.config, self.easy
        if config is not self._config:
            set_times(easy, config)
            self._config = config
        self._max_body = config.max_body
        self._answered = order.answered
        self.flow = flow
        if flow is not None:
            flow.begin(easy)
        self._order = order
        self.head = HeadReader(
            max_size=config.max_head, max_lines=config.max_head_lines, max_interim=config.max_interim_heads
        )
        login = order.access.login
        self.head.challenged = login is not None and login.answers
        self.writer = self._new_body()
        self._beginning = order.beginning
        self.whole: int | None = None
        """Length of the document of which the rest was asked for, once it arrives; 0: the answer is no rest of it."""
        self.cut = False
        self.sockets = SocketOpener(self._allows)
        self.cipher = ""
        self.sent_head = b""
        self.storage_error: StorageError | None = None
        easy.setopt(pycurl.HEADERFUNCTION, self.head.feed)
        easy.setopt(pycurl.URL, order.url.text)
        easy.setopt(pycurl.REQUEST_TARGET, order.target)
        easy.setopt(pycurl.RESOLVE, resolve)
        if order.fields is not self._fields:
            easy.setopt(pycurl.HTTPHEADER, order.fields)
            self._fields = order.fields
        if order.access.posts:
            easy.setopt(pycurl.POST, 1)
            easy.setopt(pycurl.POSTFIELDSIZE, len(order.body))
            easy.setopt(pycurl.COPYPOSTFIELDS, order.body)
        if order.cookies is not None:
            self._listen(on=False)  # what it says of cookies comes where pycurl may not call back
            easy.setopt(pycurl.COOKIELIST, "ALL")  # forgets all
            for line in order.cookies:
                easy.setopt(pycurl.COOKIELIST, line)
        self._listen(on=order.access.is_watched)  # costs 14 us

    def end(self) -> None:
        """Forget the visit; a body that was not finished is discarded."""
        self.writer.discard()
        self.joined = 0
        self._order = None
        self.flow = None

    @property
    def received(self) -> int:
        """Bytes of heads and body so far."""
        return self.head.size + self.writer.size - self.joined

    @property
    def held(self) -> bool:
        """It is paused, by us."""
        return self.flow is not None and self.flow.held

    @property
    def connected(self) -> bool:
        """The request could be sent: the connection, with its TLS, is there."""
        return bool(self.easy.getinfo(pycurl.PRETRANSFER_TIME) > 0)

    @property
    def greets_proxy(self) -> bool:
        """Of a visit by a proxy: TLS, if it is spoken, is spoken with the proxy, as the origin's has not begun."""
        order = self._order
        return self.head.expects_tunnel or (order is not None and order.url.scheme == "http")

    def close(self) -> None:
        """Give up the libcurl handle."""
        self.easy.close()

    def _on_body(self, chunk: bytes) -> int | None:
        if self.flow is not None and self.flow.holds(len(chunk)):
            return int(pycurl.WRITEFUNC_PAUSE)
        if self._answered is not None:
            headers, begun = parse_fields(self.head.raw()), self._beginning
            if begun is not None and self.head.status == PARTIAL:
                headers = begun.exchange.headers  # a part need not say the type again (RFC 9110 15.3.7)
            self._max_body = self._answered(type_of(headers)).max_body
            self._answered = None
        try:
            if self._beginning is not None and not self._takes_up(self._beginning):
                return _ABORT
            room = max(0, self._max_body - self.writer.size)
            if len(chunk) > room:
                self.cut = True
                chunk = chunk[:room]
            self.writer.write(chunk)
        except StorageError as error:
            self.storage_error = error
            return _ABORT
        return _ABORT if self.cut else None

    def _takes_up(self, beginning: Beginning) -> bool:
        """Put the beginning in front if what comes is the rest of it; false if it is another part."""
        self._beginning = None
        if self.head.status != PARTIAL:
            return True
        self.whole = beginning.length_by(parse_fields(self.head.raw()))
        if not self.whole:
            return False
        self.writer.go_on(beginning.kept)
        self.joined = beginning.kept.size
        return True

    def _on_open_socket(self, _purpose: int, address: pycurl.CurlSockAddr) -> object:
        order = self._order
        if order is None:
            return pycurl.SOCKET_BAD
        if (opened := self.sockets.open(order.url.host, address)) is None:
            return pycurl.SOCKET_BAD
        self.head.expects_tunnel = order.tunnelled
        if order.url.scheme == "https" and not self._listening:
            # Options cannot be changed in here; the handshake ends in a later round of the loop.
            asyncio.get_running_loop().call_soon(self._listen_for, order)
        return opened

    def _on_debug(self, kind: int, data: bytes) -> None:
        if kind == pycurl.INFOTYPE_TEXT:
            if data.startswith(_CIPHER_PREFIX):
                parts = data[len(_CIPHER_PREFIX) :].decode("latin-1").split("/")
                self.cipher = " ".join(part.strip() for part in parts[:2])
        elif kind == pycurl.INFOTYPE_HEADER_OUT:
            self.sent_head = bytes(data)

    def _listen_for(self, order: Order) -> None:
        if self._order is order:
            self._listen(on=True)

    def _listen(self, *, on: bool) -> None:
        """Have libcurl say what it does. Only with a new TLS connection: each body piece is reported too."""
        if on is not self._listening:
            self._listening = on
            self.easy.setopt(pycurl.VERBOSE, on)
