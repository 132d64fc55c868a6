"""Real servers of files on loopback: FTP by pyftpdlib, SFTP by asyncssh, each on a thread of its own."""

import asyncio
import contextlib
import logging
import os
import socket
import socketserver
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import asyncssh

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # asyncore, which newer Pythons get from PyPI
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.filesystems import AbstractedFS
    from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler
    from pyftpdlib.servers import FTPServer

USER, PASSWORD = "ann", "s3cret word"

logging.getLogger("pyftpdlib").setLevel(logging.CRITICAL)
logging.getLogger("asyncssh").setLevel(logging.CRITICAL)


class Served:
    """A running server; `said` holds what clients said, in order: `("RETR", "/pub/a")`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.said: list[tuple[str, str]] = []

    def asked(self, *commands: str) -> list[str]:
        """What these commands named."""
        return [what for command, what in self.said if command in commands]


class Ending:
    """A file that ends after `end` bytes, whatever its size is."""

    def __init__(self, file, end):
        self._file, self._end = file, end

    def read(self, size):
        return self._file.read(max(0, min(size, self._end - self._file.tell())))

    def __getattr__(self, name):
        return getattr(self._file, name)


@contextlib.contextmanager
def ftp_server(
    root: Path,
    *,
    without: tuple[str, ...] = (),
    tls: Path | None = None,
    guests: bool = True,
    ends: tuple[int, ...] = (),
) -> Iterator[Served]:
    """`without`: commands that it does not know; `tls`: certificate and key in one file.

    `ends`: of the first files sent, bytes after which they end too soon.
    """
    served = Served(0)
    base = TLS_FTPHandler if tls else FTPHandler

    class Handler(base):
        proto_cmds = {name: known for name, known in base.proto_cmds.items() if name not in without}
        auth_failed_timeout = 0

        def pre_process_command(self, line, cmd, arg):
            served.said.append((cmd, arg))
            super().pre_process_command(line, cmd, arg)

        def on_connect(self):
            served.said.append(("connect", ""))

    if left := list(ends):

        class Disk(AbstractedFS):
            def open(self, filename, mode):
                file = super().open(filename, mode)
                return Ending(file, left.pop(0)) if left else file

        Handler.abstracted_fs, Handler.use_sendfile = Disk, False

    authorizer = DummyAuthorizer()
    authorizer.add_user(USER, PASSWORD, str(root), perm="elr")
    if guests:
        authorizer.add_anonymous(str(root), perm="elr")
    Handler.authorizer = authorizer
    Handler.unicode_errors = "surrogateescape"
    if tls:
        Handler.certfile = str(tls)
    server = FTPServer(("127.0.0.1", 0), Handler)
    served.port = server.address[1]
    stopped = threading.Event()

    def serve() -> None:
        while not stopped.is_set():
            server.ioloop.loop(timeout=0.02, blocking=False)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        stopped.set()
        thread.join()
        server.close_all()


@contextlib.contextmanager
def sftp_server(root: Path, known_hosts: Path, *, ends: tuple[int, ...] = ()) -> Iterator[Served]:
    """Writes its key into `known_hosts`; `ends` as of `ftp_server`."""
    left = list(ends)
    key = asyncssh.generate_private_key("ssh-ed25519")
    served, loop, ready, stop = Served(0), asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    class Server(asyncssh.SSHServer):
        def connection_made(self, conn):
            served.said.append(("connect", ""))

        def begin_auth(self, username):
            return True

        def password_auth_supported(self):
            return True

        def validate_password(self, username, password):
            return (username, password) == (USER, PASSWORD)

    class Files(asyncssh.SFTPServer):
        def __init__(self, channel):
            super().__init__(channel, chroot=os.fsencode(root))

        def open(self, path, pflags, attrs):
            served.said.append(("open", os.fsdecode(path)))
            file = super().open(path, pflags, attrs)
            return Ending(file, left.pop(0)) if left else file

        def scandir(self, path):
            served.said.append(("list", os.fsdecode(path)))
            return super().scandir(path)

    async def serve() -> None:
        async with asyncssh.create_server(
            Server, "127.0.0.1", 0, server_host_keys=[key], sftp_factory=Files
        ) as listener:
            served.port = listener.get_port()
            ready.set()
            await stop.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    thread = threading.Thread(target=loop.run_until_complete, args=[serve()], daemon=True)
    thread.start()
    ready.wait()
    known_hosts.write_text(f"[127.0.0.1]:{served.port} {key.export_public_key().decode()}")
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


class HostileFtp:
    """An FTP server that says what it is told to, whatever is asked of it.

    Args:
        replies: by command, instead of what an honest one says; `greeting` begins. A list is gone through once.
        data: what it sends over each data connection; an iterator may never end.
    """

    def __init__(self, replies=None, data=(b"hello",)):
        self.replies = {
            name: list(said) if isinstance(said, list) else said for name, said in (replies or {}).items()
        }
        self.data = data
        self.said: list[str] = []
        self.data_connections = 0
        self._control, self._data = _listener(self._talk), _listener(self._send)
        self.port, self.data_port = self._control.server_address[1], self._data.server_address[1]

    def __enter__(self) -> "HostileFtp":
        for server in (self._control, self._data):
            threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in (self._control, self._data):
            server.shutdown()
            for held in server.held:
                with contextlib.suppress(OSError):
                    held.shutdown(socket.SHUT_RDWR)
            server.server_close()

    def _reply(self, command: str, honest: bytes) -> bytes:
        said = self.replies.get(command, honest)
        if isinstance(said, list):
            said = said.pop(0) if said else honest
        return said

    def _talk(self, connection: socket.socket) -> None:
        connection.sendall(self._reply("greeting", b"220 hello\r\n"))
        with connection.makefile("rb") as lines:
            for line in lines:
                command = line.split()[0].decode().upper()
                self.said.append(line.decode("latin-1").rstrip("\r\n"))
                honest = {
                    "USER": b"331 password\r\n",
                    "PASS": b"230 in\r\n",
                    "PWD": b'257 "/"\r\n',
                    "EPSV": b"229 ok (|||%d|)\r\n" % self.data_port,
                    "CWD": b"250 ok\r\n",
                    "SIZE": b"500 what?\r\n",
                    "MDTM": b"500 what?\r\n",
                    **dict.fromkeys(("RETR", "MLSD", "LIST"), b"150 here\r\n226 done\r\n"),
                }.get(command, b"200 ok\r\n")
                connection.sendall(self._reply(command, honest))

    def _send(self, connection: socket.socket) -> None:
        self.data_connections += 1
        for piece in self.data:
            connection.sendall(piece)


def _listener(handle) -> socketserver.ThreadingTCPServer:
    class Server(socketserver.ThreadingTCPServer):
        held: ClassVar[list[socket.socket]] = []

        def finish_request(self, request, client_address):
            self.held.append(request)
            with contextlib.suppress(OSError):
                handle(request)

    return Server(("127.0.0.1", 0), socketserver.BaseRequestHandler)
