"""Runs libcurl transfers on the event loop's own sockets and timers.

libcurl says which sockets to watch (socket callback) and when to be called at the latest (timer
callback); the loop calls back into `socket_action`. Neither callback may call into libcurl again,
so both only register watchers. Works on asyncio's selector loop and on uvloop.
"""

import asyncio

import pycurl

from gossamer.model.errors import InternalError

_WATCH_READ = {pycurl.POLL_IN, pycurl.POLL_INOUT}
_WATCH_WRITE = {pycurl.POLL_OUT, pycurl.POLL_INOUT}


class Multi:
    """Many transfers at once over one cache of connections, on the loop that first calls `perform`.

    Invariant: a descriptor is watched if and only if libcurl asked for it and has not taken it back;
    libcurl takes it back before it closes it, so that a reused number is never watched for another.

    Args:
        max_connections: idle connections are closed, oldest first, beyond this number.
    """

    def __init__(self, max_connections: int) -> None:
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, max_connections)
        self._waiting: dict[pycurl.Curl, asyncio.Future[tuple[int, str]]] = {}
        self._reading: set[int] = set()
        self._writing: set[int] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None
        self._closed = False

    async def perform(self, easy: pycurl.Curl) -> tuple[int, str]:
        """Run one transfer to its end; libcurl's result code (0 is success) and message.

        If the waiting task is cancelled, the transfer is removed before this returns; `easy` may be
        used again at once.
        """
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        if self._closed:
            raise InternalError("a transfer was started after its multi was closed; please report this")
        future: asyncio.Future[tuple[int, str]] = self._loop.create_future()
        self._waiting[easy] = future
        try:
            self._multi.add_handle(easy)
            return await future
        finally:
            # Still here only if the wait was cancelled or never began.
            if self._waiting.pop(easy, None) is not None and not self._closed:
                self._multi.remove_handle(easy)

    def stop(self, easy: pycurl.Curl, message: str) -> None:
        """End a running transfer as timed out; `perform` returns with `message`."""
        if easy in self._waiting:
            self._finish(easy, (pycurl.E_OPERATION_TIMEDOUT, message))

    def close(self) -> None:
        """Close every connection; transfers that still run are cancelled."""
        if self._closed:
            return
        self._closed = True
        waiting, self._waiting = self._waiting, {}
        for easy, future in waiting.items():
            self._multi.remove_handle(easy)
            future.cancel()
        self._unwatch_all()
        self._multi.close()

    def __len__(self) -> int:
        return len(self._waiting)

    def _on_socket(self, what: int, fd: int, _multi: object, _data: object) -> None:
        loop = self._loop
        if loop is None or self._closed:
            return
        if what in _WATCH_READ:
            if fd not in self._reading:
                loop.add_reader(fd, self._act, fd, pycurl.CSELECT_IN)
                self._reading.add(fd)
        elif fd in self._reading:
            loop.remove_reader(fd)
            self._reading.discard(fd)
        if what in _WATCH_WRITE:
            if fd not in self._writing:
                loop.add_writer(fd, self._act, fd, pycurl.CSELECT_OUT)
                self._writing.add(fd)
        elif fd in self._writing:
            loop.remove_writer(fd)
            self._writing.discard(fd)

    def _on_timer(self, milliseconds: int) -> None:
        """Remember the one time at which libcurl wants to be called; each call replaces the last."""
        loop = self._loop
        if loop is None or self._closed:
            return
        if milliseconds == 0:
            if self._soon is None:
                self._soon = loop.call_soon(self._expire_soon)
            return
        if milliseconds < 0:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            return
        due = loop.time() + milliseconds / 1000
        if self._timer is not None:
            # A timer that fires early does no harm: libcurl looks what is due and names the next time.
            # Most calls postpone, so this saves nearly all of the cancelling.
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = loop.call_at(due, self._expire)

    def _expire_soon(self) -> None:
        self._soon = None
        self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _expire(self) -> None:
        self._timer = None
        self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, fd: int, mask: int) -> None:
        if self._closed:
            return
        try:
            _, running = self._multi.socket_action(fd, mask)
        except pycurl.error as error:
            self._fail_all(error)
            return
        if running < len(self._waiting):
            self._collect()

    def _collect(self) -> None:
        """Wake those whose transfers have ended."""
        left = 1
        while left:
            left, succeeded, failed = self._multi.info_read()
            for easy in succeeded:
                self._finish(easy, (0, ""))
            for easy, code, message in failed:
                self._finish(easy, (code, message))

    def _finish(self, easy: pycurl.Curl, result: tuple[int, str]) -> None:
        future = self._waiting.pop(easy)
        self._multi.remove_handle(easy)
        if not future.done():
            future.set_result(result)

    def _fail_all(self, error: pycurl.error) -> None:
        waiting, self._waiting = self._waiting, {}
        for easy, future in waiting.items():
            self._multi.remove_handle(easy)
            if not future.done():
                future.set_exception(
                    InternalError(f"libcurl's multi interface failed ({error}); please report this")
                )

    def _unwatch_all(self) -> None:
        for handle in (self._timer, self._soon):
            if handle is not None:
                handle.cancel()
        self._timer = self._soon = None
        if self._loop is not None and not self._loop.is_closed():
            for fd in self._reading:
                self._loop.remove_reader(fd)
            for fd in self._writing:
                self._loop.remove_writer(fd)
        self._reading.clear()
        self._writing.clear()
