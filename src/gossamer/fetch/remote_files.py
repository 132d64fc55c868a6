"""The protocol module for ftp, ftps and sftp."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from functools import partial
from typing import Final

import msgspec
import pycurl

from gossamer.fetch.beginning import Beginning
from gossamer.fetch.body import BodyWriter
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.faults import OPERATION_TIMED_OUT, fault_of
from gossamer.fetch.file_transfer import NAMES, FileOrder, FileTransfer
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import LocalFetch
from gossamer.fetch.listing import (
    PAGE_TYPE,
    Entry,
    folder_of,
    name_of_file,
    read_facts,
    read_lines,
    read_names,
    type_by_name,
    write_page,
)
from gossamer.fetch.multi import Multi
from gossamer.fetch.pace import PaceWatch
from gossamer.fetch.route import Router
from gossamer.fetch.stuck import StuckWatch
from gossamer.fetch.unfinished import Unfinished
from gossamer.fetch.verdict import NOT_CONNECTED, detail_of
from gossamer.model.exchange import (
    Exchange,
    FurtherRecord,
    Headers,
    Result,
    StatusAction,
    Timing,
    Truncation,
)
from gossamer.model.lease import Lease
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome
from gossamer.model.reasons.codes import FetchCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url
from gossamer.policy.visits.http_date import parse_http_date
from gossamer.ports import Resolver

LONGEST_LISTING = 16 << 20
"""Bytes of a listing; what comes after that is left out. It is held in memory."""
LONG_LISTING = 128 << 10
"""Bytes of a listing that is read in a thread."""
MOST_WITHOUT_FACTS = 10_000
"""Servers that are remembered not to know MLSD."""

DIALOGUE = "text/x-ftp-control-conversation"
LISTING = "text/x-ftp-listing"
"""Media types of what is archived beside a file or a folder: what both sides said, the listing as it came."""

_RETRIEVED, _FILE, _FOLDER, _SAME, _NO_NAME = "226", "file", "directory", "unchanged", "no name"
_RESULTS: Final[dict[str, StatusAction]] = {
    _RETRIEVED: StatusAction.PROCESS,
    _FILE: StatusAction.PROCESS,
    _FOLDER: StatusAction.PROCESS,
    _SAME: StatusAction.UNCHANGED,
    _NO_NAME: StatusAction.DROP,  # the URL is that of no file that one could ask for
    "421": StatusAction.THROTTLED,  # it closes down, or has too many guests
    "425": StatusAction.RETRY,  # no data connection
    "426": StatusAction.RETRY,  # it broke
    "430": StatusAction.PARK,  # wrong name or password
    "450": StatusAction.RETRY,  # busy
    "451": StatusAction.RETRY,  # its own trouble
    "452": StatusAction.RETRY,  # its disk
    "530": StatusAction.PARK,  # not logged in: for the next session, which may know a password
    "532": StatusAction.PARK,
    "534": StatusAction.PARK,  # it wants TLS
    "550": StatusAction.DROP,  # not there, or not for us
    "551": StatusAction.DROP,
    "552": StatusAction.DROP,
    "553": StatusAction.DROP,
    "denied": StatusAction.PARK,
    "missing": StatusAction.DROP,
    "failure": StatusAction.RETRY,
}
"""Replies of FTP (RFC 959, 4.2), and words for what has none. Any other reply is a fault."""

_OF_SFTP = {67: "denied", 78: "missing", 9: "missing", 79: "failure"}
"""By libcurl's codes: log-in denied, no such file, access denied, anything else that the server says."""
_NO_FILE = frozenset({"550", "450", "missing", "failure"})
"""What is answered where a folder is asked for as if it were a file."""
_HOST_KEY = 60  # of libcurl, where the protocol is sftp
_LINK_UNREAD = 27  # likewise: what it calls out of memory
_NO_REST = frozenset({31, 36})
"""Of libcurl: the server cannot begin elsewhere (REST), or has less than what is here."""
_MLSD_UNKNOWN = frozenset({500, 501, 502, 504})
_PROBED = 64 << 10
"""Bytes of a listing that are enough to know that there is one."""


class Ended(msgspec.Struct, frozen=True):
    """How one request ended.

    Attributes:
        code: libcurl's result; 0 is success.
        message: libcurl's.
    """

    transfer: FileTransfer
    code: int
    message: str

    @property
    def reply(self) -> int:
        """The server's last, three digits; 0 where there are none."""
        return int(self.transfer.easy.getinfo(pycurl.RESPONSE_CODE))


class Listing(msgspec.Struct, frozen=True):
    """What a server says of a folder, and how it is read."""

    ended: Ended
    raw: bytes
    read: Callable[[bytes], Iterator[Entry]]


class RemoteFiles:
    """Visits ftp, ftps and sftp URLs through libcurl (`gossamer.ports.ProtocolModule`).

    The page of a folder has a link for each entry. A folder that is asked for without its last slash becomes
    a page with one link, to itself with the slash.

    Args:
        new_body: makes what takes a body.
        local: asked for each visit.
        unfinished: where the beginnings of long files are.
    """

    schemes = frozenset({"ftp", "ftps", "sftp"})

    def __init__(
        self,
        config: FetchConfig,
        resolver: Resolver,
        guard: AddressGuard,
        new_body: Callable[[], BodyWriter],
        local: LocalFetch,
        unfinished: Unfinished,
    ) -> None:
        self._config = config
        self._unfinished = unfinished
        self._guard = guard
        self._new_body = new_body
        self._local = local
        self._router = Router(config, resolver, guard, local.proxies)
        self._multi = Multi(config.max_connections)
        self._pace = PaceWatch(config, lambda transfer, message: self._multi.stop(transfer.easy, message))
        self._without_facts: dict[str, None] = {}
        self._controls: dict[str, socket.socket] = {}
        self._by_sftp: set[FileTransfer] = set()
        self._stuck = StuckWatch(self._cut_sftp)
        self._most_controls = config.max_connections

    async def fetch(self, lease: Lease) -> Outcome:
        """Visit the lease's URL once.

        Raises:
            StorageError: our disk cannot take the body.
        """
        url, started, began = lease.candidate.url, time.time(), time.monotonic()
        name = name_of_file(url.target)
        if name is None:
            return Fetched(_exchange(url, _NO_NAME, self._new_body()))
        settings = self._local.settings_now
        config = self._config if settings is None else settings(url, "", "")
        route = await self._router.find(url, config.proxies)
        if isinstance(route, Failed):
            return msgspec.structs.replace(route, elapsed=time.monotonic() - began)
        if settings is not None:
            config = settings(url, route.address, "")
        resolve, login = self._router.take(route), self._local.credentials(url)
        allows = None if route.proxy else self._guard.allows
        order = FileOrder(url, name, config, resolve, allows, login, _since(lease), route.proxy)
        attempts = lease.candidate.attempts
        begun = None if name.endswith(b"/") else self._unfinished.take(url, attempts)
        intake = _Intake(self._new_body(), begun)
        try:
            outcome = await (self._folder if name.endswith(b"/") else self._file)(order, intake)
        finally:
            if begun is not None and not intake.joined:
                self._unfinished.let_go(begun)
            intake.writer.discard()
            self._router.release(route)
        outcome = self._router.judged(route, outcome)
        if isinstance(outcome, Failed):
            return msgspec.structs.replace(outcome, elapsed=time.monotonic() - began)
        took = Timing(route.name_seconds, total=time.monotonic() - began)
        exchange = msgspec.structs.replace(outcome, started=started, timing=took)
        if begun is not None and intake.joined:
            exchange = begun.joined(exchange)
        self._unfinished.keep(exchange)
        return Fetched(exchange)

    async def close(self) -> None:
        """Give up open connections; visits that still run are cancelled.

        libcurl would say farewell to one server after the other, and wait a second for each that is silent.
        """
        self._pace.close()
        for control in self._controls.values():
            with contextlib.suppress(OSError), control:
                control.shutdown(socket.SHUT_RDWR)
        self._controls.clear()
        self._multi.close()

    async def _file(self, order: FileOrder, intake: "_Intake") -> Exchange | Failed:
        writer, begun = intake.writer, intake.beginning
        first = begun.kept.size if begun is not None else 0
        asked = order.taking(intake.take, max(0, order.config.max_body - first))
        ended = await self._perform(msgspec.structs.replace(asked, first=first))
        verdict = self._verdict(order, ended)
        if begun is not None:
            if _is_other(begun, ended, joined=intake.joined):
                return self._unfinished.refuse(begun)
            if not intake.joined:
                self._unfinished.put_back(
                    begun, None if isinstance(verdict, Failed) else _RESULTS[verdict[0]]
                )
        if isinstance(verdict, Failed):
            return verdict
        word, truncated = verdict
        if word in _NO_FILE and await self._is_folder(order):
            write_page(writer, order.url, folder_of(order.name), order.config.max_body)
            return _exchange(order.url, _FOLDER, writer, ended, kind=PAGE_TYPE)
        made = _exchange(order.url, word, writer, ended, kind=type_by_name(order.name))
        return msgspec.structs.replace(made, truncated=truncated)

    async def _folder(self, order: FileOrder, intake: "_Intake") -> Exchange | Failed:
        writer = intake.writer
        listing = await self._list(order)
        verdict = self._verdict(order, listing.ended)
        if isinstance(verdict, Failed):
            return verdict
        word, truncated = verdict
        if _RESULTS[word] is not StatusAction.PROCESS:
            return _exchange(order.url, word, writer, listing.ended)
        write = partial(write_page, writer, order.url, listing.read(listing.raw), order.config.max_body)
        cut = await asyncio.to_thread(write) if len(listing.raw) > LONG_LISTING else write()
        beside = FurtherRecord("metadata", LISTING, listing.raw)
        made = _exchange(order.url, _FOLDER, writer, listing.ended, kind=PAGE_TYPE)
        truncated = truncated or (Truncation.LENGTH if cut else None)
        return msgspec.structs.replace(made, truncated=truncated, further=(beside, *made.further))

    async def _list(self, order: FileOrder) -> Listing:
        if order.url.scheme == "sftp":
            listing = await self._listed(order, "", read_lines)
            begun = listing.raw or listing.ended.code == _LINK_UNREAD
            if listing.ended.code in (0, _HOST_KEY) or not begun or listing.ended.transfer.cut:
                return listing
            # One link that cannot be read ends it for libcurl: then by names, as far as it came with their kinds.
            names = await self._listed(order, NAMES, partial(read_names, known=listing.raw))
            return names if names.ended.code == 0 else listing
        if order.url.origin not in self._without_facts:
            listing = await self._listed(order, "MLSD", read_facts)
            if listing.ended.reply not in _MLSD_UNKNOWN:
                return listing
            if len(self._without_facts) >= MOST_WITHOUT_FACTS:
                self._without_facts.clear()
            self._without_facts[order.url.origin] = None
        return await self._listed(order, "", read_lines)

    async def _listed(
        self, order: FileOrder, command: str, read: Callable[[bytes], Iterator[Entry]]
    ) -> Listing:
        raw = bytearray()
        most = min(LONGEST_LISTING, order.config.max_body)
        ended = await self._perform(order.taking(raw.extend, most), command)
        return Listing(ended, bytes(raw), read)

    async def _is_folder(self, order: FileOrder) -> bool:
        """Whether what is no file is a folder; sftp has no other way to ask than for its listing."""
        present = order.url.scheme != "sftp"
        folder = msgspec.structs.replace(order, name=order.name + b"/", since=None)
        ended = await self._perform(
            folder.taking(lambda _: None, _PROBED), "" if present else NAMES, present=present
        )
        return ended.code == 0 or ended.transfer.size > 0

    async def _perform(self, order: FileOrder, command: str = "", *, present: bool = False) -> Ended:
        transfer = FileTransfer(order, command, present=present)
        by_sftp = order.url.scheme == "sftp"
        if by_sftp:
            self._by_sftp.add(transfer)
        try:
            self._pace.add(transfer)
            with self._stuck.watching() if by_sftp else contextlib.nullcontext():
                code, message = await self._multi.perform(transfer.easy)
        finally:
            self._by_sftp.discard(transfer)
            self._pace.remove(transfer)
            self._hold(order.url.origin, transfer)
        if transfer.storage_error is not None:
            raise transfer.storage_error
        return Ended(transfer, code, message)

    def _cut_sftp(self) -> None:
        """End the connections of sftp, one of which holds up the loop; on another thread."""
        opened = [transfer.control for transfer in tuple(self._by_sftp)]
        opened += [control for origin, control in tuple(self._controls.items()) if origin.startswith("sftp:")]
        for control in opened:
            if control is not None:
                with contextlib.suppress(OSError):
                    control.shutdown(socket.SHUT_RDWR)

    def _hold(self, origin: str, transfer: FileTransfer) -> None:
        """Remember the connection that was opened, instead of the last one."""
        if transfer.control is None:
            return
        if (last := self._controls.pop(origin, None)) is not None:
            last.close()
        if len(self._controls) >= self._most_controls:
            transfer.drop_control()
        else:
            self._controls[origin] = transfer.control

    def _verdict(self, order: FileOrder, ended: Ended) -> tuple[str, Truncation | None] | Failed:
        """How it ended, in a word, and why what came is not whole; or that there is nothing to show for it."""
        transfer, code = ended.transfer, ended.code
        by_sftp = order.url.scheme == "sftp"
        came = _FILE if by_sftp else _RETRIEVED
        if code == 0:
            return (_SAME if transfer.easy.getinfo(pycurl.CONDITION_UNMET) else came), None
        if transfer.cut:
            return came, Truncation.LENGTH
        if transfer.excess:
            return Failed(Fault.HEAD_TOO_LARGE, transfer.excess)
        if transfer.size:
            return came, Truncation.TIME if code == OPERATION_TIMED_OUT else Truncation.DISCONNECT
        if by_sftp and code == _HOST_KEY:
            known, port, host = order.config.known_hosts_file, order.url.port, order.url.host.strip("[]")
            return Failed(Fault.TLS, because(FetchCode.HOST_KEY, host, known, port))
        word = _OF_SFTP.get(code, "") if by_sftp else str(ended.reply)
        if word in _RESULTS:
            return word, None
        fault = fault_of(code, ended.message)
        if transfer.sockets.refused and fault is Fault.CONNECT:
            return Failed(Fault.ADDRESS_FORBIDDEN, transfer.sockets.refused)
        if order.proxy and fault in NOT_CONNECTED and not transfer.dialogue:
            fault = Fault.PROXY if transfer.easy.getinfo(pycurl.CONNECT_TIME) else Fault.PROXY_DOWN
        return Failed(fault, transfer.sockets.trouble or detail_of(code, ended.message))


class _Intake:
    """Takes a file, behind its beginning if there is one; nothing is added to that before more has come."""

    def __init__(self, writer: BodyWriter, beginning: Beginning | None) -> None:
        self.writer = writer
        self.beginning = beginning
        self.joined = False

    def take(self, chunk: bytes) -> None:
        if self.beginning is not None and not self.joined:
            self.writer.go_on(self.beginning.kept)
            self.joined = True
        self.writer.write(chunk)


def _is_other(beginning: Beginning, ended: Ended, *, joined: bool) -> bool:
    """Whether what came is not the rest, as the file has changed since, has no rest, or none can be asked for."""
    if ended.code in _NO_REST:
        return True
    if joined:
        return _changed(ended) != beginning.validator
    return ended.code == 0 and not ended.transfer.easy.getinfo(pycurl.CONDITION_UNMET)


def _changed(ended: Ended) -> str:
    """When the file has changed, as a header has it; empty if the server does not say."""
    at = ended.transfer.easy.getinfo(pycurl.INFO_FILETIME)
    return formatdate(at, usegmt=True) if at >= 0 else ""


def _exchange(
    url: Url, word: str, writer: BodyWriter, ended: Ended | None = None, *, kind: str = ""
) -> Exchange:
    fields = [("Content-Type", kind)] if kind else []
    said, address = b"", ""
    if ended is not None:
        easy = ended.transfer.easy
        if changed := _changed(ended):
            fields.append(("Last-Modified", changed))
        address = easy.getinfo(pycurl.PRIMARY_IP) if ended.transfer.direct else ""
        said = b"".join(ended.transfer.dialogue)
    asks = _RESULTS[word]
    archived = said and asks is StatusAction.PROCESS
    return Exchange(
        url,
        0.0,
        b"",
        0,
        b"",
        Headers(fields),
        writer.finish(),
        protocol=url.scheme,
        address=address,
        result=Result(word, asks),
        further=(FurtherRecord("metadata", DIALOGUE, said),) if archived else (),
    )


def _since(lease: Lease) -> int | None:
    known = lease.validators.last_modified if lease.validators is not None else ""
    changed = parse_http_date(known, time.time()) if known else None
    return None if changed is None else int(changed)
