"""Thirty hosts on loopback that take their time, and note what they see."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from gossamer.simweb import Visit

SEND_BUFFER = 4096


class SlowServers:
    """One server on many loopback addresses; each page links to the next.

    Args:
        hosts: addresses from 127.0.1.1 on.
        pages: of each host.
        seconds: before each answer.
        size: bytes of each page.
    """

    def __init__(self, hosts: int, pages: int, seconds: float, size: int) -> None:
        self._addresses = [f"127.0.1.{number}" for number in range(1, hosts + 1)]
        self._pages = pages
        self._seconds = seconds
        self._size = size
        self._open: dict[str, int] = dict.fromkeys(self._addresses, 0)
        self.visits: list[Visit] = []
        self.now = self.most = 0
        """Requests that are being answered, and the most at one moment."""
        self._socket = socket.create_server(("0.0.0.0", 0), backlog=256)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.port = self._socket.getsockname()[1]

    @property
    def seeds(self) -> list[str]:
        return [f"http://{address}:{self.port}/0" for address in self._addresses]

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Serve in a thread of its own."""
        loop = asyncio.new_event_loop()
        ended = asyncio.Event()

        async def serve() -> None:
            server = await asyncio.start_server(self._serve, sock=self._socket)
            try:
                await ended.wait()
            finally:
                server.close()
                for task in asyncio.all_tasks() - {asyncio.current_task()}:
                    task.cancel()

        thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
        thread.start()
        try:
            yield
        finally:
            loop.call_soon_threadsafe(ended.set)
            thread.join()
            loop.run_until_complete(asyncio.sleep(0.05))
            loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address, client = writer.get_extra_info("sockname")[0], str(writer.get_extra_info("peername"))
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                target = head.split(b" ")[1].decode()
                await self._answer(address, client, target, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, address: str, client: str, target: str, writer: asyncio.StreamWriter) -> None:
        started = time.monotonic()
        self._open[address] += 1
        in_progress = self._open[address]
        self.now += 1
        self.most = max(self.most, self.now)
        sent, ended = 0, started
        try:
            await asyncio.sleep(self._seconds)
            answer = self._page(target)
            for start in range(0, len(answer), SEND_BUFFER):
                ended = time.monotonic()  # before, for afterwards the visitor may be ahead of us
                writer.write(answer[start : start + SEND_BUFFER])
                await writer.drain()
            sent = len(answer)
        finally:
            self._open[address] -= 1
            self.now -= 1
            self.visits.append(
                Visit(address, target, started, ended, 200, sent, True, client, address,
                      in_progress, "GET", {})
            )  # fmt: skip

    def _page(self, target: str) -> bytes:
        if target == "/robots.txt":
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        number = int(target[1:]) + 1
        link = f'<a href="/{number}">next</a>' if number < self._pages else ""
        body = f"<title>{target}</title>{link}".encode().ljust(self._size, b" ")
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (
            len(body),
            body,
        )
