"""One request of ftp, ftps or sftp through libcurl."""

import math
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pycurl

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.listing import quoted
from gossamer.fetch.options import configure, configure_proxy, set_times
from gossamer.fetch.request import Credentials
from gossamer.fetch.sockets import SocketOpener
from gossamer.model.errors import StorageError
from gossamer.model.url import Url

NAMES = "NLST"
"""The listing of bare names, which sftp has, too."""

_ABORT = -1
_SECRET_COMMANDS = (b"PASS ", b"ACCT ")
_HIDDEN = b"***"
_TLS = {"off": pycurl.USESSL_NONE, "try": pycurl.USESSL_TRY, "require": pycurl.USESSL_ALL}


class FileOrder(msgspec.Struct, frozen=True):
    """What one request asks for.

    Attributes:
        name: path on the server; one that ends in a slash is a folder.
        resolve: name entries as CURLOPT_RESOLVE wants them.
        allows: (host, address) -> may a socket be opened? `None` behind a proxy.
        credentials: name and password; without them we come as a guest, to sftp as who we are.
        since: seconds since 1970; only what has changed after that is sent.
        proxy: by which the way leads; empty for none.
        take: is given the content as it arrives; may raise StorageError.
        most: bytes of content after which the transfer is cut.
        first: byte of the file with which it begins.
    """

    url: Url
    name: bytes
    config: FetchConfig
    resolve: list[str]
    allows: Callable[[str, str], bool] | None
    credentials: Credentials | None = None
    since: int | None = None
    proxy: str = ""
    take: Callable[[bytes], object] = lambda _: None
    most: int = 0
    first: int = 0

    def taking(self, take: Callable[[bytes], object], most: int) -> "FileOrder":
        """The same for a taker of content."""
        return msgspec.structs.replace(self, take=take, most=most)


class FileTransfer:
    """A libcurl handle that is used once; connections are kept by the multi that performs it.

    Invariant: callbacks never raise, because pycurl would print and swallow it.
    """

    connected = True
    """Silence counts from the beginning: libcurl does not say of a connection that is used again that it is there."""
    held = False
    """Never paused by us: what it received is paid for when it has ended."""

    def __init__(self, order: FileOrder, command: str, *, present: bool) -> None:
        """`command`: lists a folder instead of `LIST`; `present`: ask only whether it is there (not by sftp)."""
        self._order = order
        self.direct = order.allows is not None
        self._room = order.most
        self._head_room = order.config.max_head
        self.dialogue: list[bytes] = []
        self.received = 0
        self.size = 0
        self.cut = False
        self.excess = ""
        self.sockets = SocketOpener(order.allows)
        self.storage_error: StorageError | None = None
        self.control: socket.socket | None = None
        """Of the connection that was opened for it, if one was: a second descriptor, for whoever ends it."""
        self.easy = pycurl.Curl()
        configure(self.easy, order.config)
        configure_proxy(self.easy, order.config, order.proxy)
        set_times(self.easy, order.config)
        self._configure(command, present=present)

    def _configure(self, command: str, *, present: bool) -> None:
        order, config, url = self._order, self._order.config, self._order.url
        ours = pycurl.PROTO_FTP | pycurl.PROTO_FTPS | pycurl.PROTO_SFTP
        user, password = self._log_in()
        options: dict[int, Any] = {
            pycurl.PROTOCOLS: ours,
            pycurl.URL: f"{url.scheme}://{url.host}:{url.port}{quoted(order.name)}",
            pycurl.RESOLVE: order.resolve,
            pycurl.HTTPPROXYTUNNEL: 1,  # a proxy must not speak FTP for us
            pycurl.USERNAME: user,
            pycurl.PASSWORD: password,
            pycurl.FTP_FILEMETHOD: pycurl.FTPMETHOD_SINGLECWD,
            pycurl.FTP_SKIP_PASV_IP: 1,  # data come from where the server is, whatever it says
            pycurl.FTP_RESPONSE_TIMEOUT: math.ceil(config.idle_timeout),
            pycurl.USE_SSL: pycurl.USESSL_ALL if url.scheme == "ftps" else _TLS[config.ftp_tls],
            pycurl.OPT_FILETIME: 1,
            pycurl.NOBODY: int(present),
            # Without it libcurl takes any host key.
            pycurl.SSH_KNOWNHOSTS: str(Path(config.known_hosts_file).expanduser()),
            # Keys of whoever runs this are not offered to servers unless a key is named.
            pycurl.SSH_AUTH_TYPES: pycurl.SSH_AUTH_PASSWORD | pycurl.SSH_AUTH_KEYBOARD,
            pycurl.VERBOSE: 1,
            pycurl.HEADERFUNCTION: self._on_reply,
            pycurl.WRITEFUNCTION: self._on_content,
            pycurl.DEBUGFUNCTION: self._on_debug,
            pycurl.OPENSOCKETFUNCTION: self._on_open_socket,
        }
        if config.ssh_key:
            options[pycurl.SSH_AUTH_TYPES] |= pycurl.SSH_AUTH_PUBLICKEY
            options[pycurl.SSH_PRIVATE_KEYFILE] = str(Path(config.ssh_key).expanduser())
        if command == NAMES:
            options[pycurl.FTPLISTONLY] = 1
        elif command:
            options[pycurl.CUSTOMREQUEST] = command
        if order.first:
            options[pycurl.RESUME_FROM_LARGE] = order.first
        if order.since is not None:
            options[pycurl.TIMECONDITION] = pycurl.TIMECONDITION_IFMODSINCE
            options[pycurl.TIMEVALUE] = order.since
        for option, value in options.items():
            self.easy.setopt(option, value)

    def _log_in(self) -> tuple[str, str]:
        known = self._order.credentials
        if known is not None:
            return known.user, known.password
        if self._order.url.scheme == "sftp":
            import getpass  # it brings the terminal along

            return getpass.getuser(), ""
        return "anonymous", self._order.config.mailbox or "gossamer@"

    def _on_reply(self, line: bytes) -> int | None:
        self.received += len(line)
        self._head_room -= len(line)
        if self._head_room < 0:
            self.excess = "too many bytes"
            return _ABORT
        return None

    def _on_content(self, chunk: bytes) -> int | None:
        self.received += len(chunk)
        if len(chunk) > self._room:
            self.cut = True
            chunk = chunk[: self._room]
        self._room -= len(chunk)
        self.size += len(chunk)
        try:
            self._order.take(chunk)
        except StorageError as error:
            self.storage_error = error
            return _ABORT
        return _ABORT if self.cut else None

    def _on_open_socket(self, _purpose: int, address: pycurl.CurlSockAddr) -> object:
        if (opened := self.sockets.open(self._order.url.host, address)) is None:
            return pycurl.SOCKET_BAD
        if not self.received:  # what is opened later is for data
            self.drop_control()
            self.control = socket.socket(fileno=os.dup(opened.fileno()))
        return opened

    def drop_control(self) -> None:
        """Let go of the second descriptor."""
        if self.control is not None:
            self.control.close()
            self.control = None

    def _on_debug(self, kind: int, data: bytes) -> None:
        if kind == pycurl.INFOTYPE_HEADER_OUT:
            secret = next((word for word in _SECRET_COMMANDS if data.upper().startswith(word)), b"")
            self.dialogue.append(secret + _HIDDEN + b"\r\n" if secret else bytes(data))
        elif kind == pycurl.INFOTYPE_HEADER_IN and self._head_room >= 0:
            known = self._order.credentials
            password = known.password.encode() if known is not None else b""
            self.dialogue.append(data.replace(password, _HIDDEN) if password else bytes(data))
