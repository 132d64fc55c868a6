"""Real servers of files on loopback: FTP by pyftpdlib, SFTP by asyncssh, each on a thread of its own."""

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncssh
from pyftpdlib.authorizers import DummyAuthorizer
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


@contextlib.contextmanager
def ftp_server(
    root: Path, *, without: tuple[str, ...] = (), tls: Path | None = None, guests: bool = True
) -> Iterator[Served]:
    """`without`: commands that it does not know; `tls`: certificate and key in one file."""
    served = Served(0)
    base = TLS_FTPHandler if tls else FTPHandler

    class Handler(base):
        proto_cmds = {name: known for name, known in base.proto_cmds.items() if name not in without}
        use_encoding_errors = "surrogateescape"

        def pre_process_command(self, line, cmd, arg):
            served.said.append((cmd, arg))
            super().pre_process_command(line, cmd, arg)

        def on_connect(self):
            served.said.append(("connect", ""))

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
def sftp_server(root: Path, known_hosts: Path) -> Iterator[Served]:
    """Writes its key into `known_hosts`."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    served, loop, ready = Served(0), asyncio.new_event_loop(), threading.Event()

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
            return super().open(path, pflags, attrs)

        def scandir(self, path):
            served.said.append(("list", os.fsdecode(path)))
            return super().scandir(path)

    async def begin() -> None:
        listener = await asyncssh.create_server(
            Server, "127.0.0.1", 0, server_host_keys=[key], sftp_factory=Files
        )
        served.port = listener.get_port()
        ready.set()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(begin())
        loop.run_forever()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    ready.wait()
    known_hosts.write_text(f"[127.0.0.1]:{served.port} {key.export_public_key().decode()}")
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
