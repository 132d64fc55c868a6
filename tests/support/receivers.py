"""Receivers of notices on loopback: a webhook that answers as it is told, a mail server, both keeping what came."""

import asyncio
import contextlib
import http.server
import json
import ssl
import threading

from aiosmtpd.smtp import SMTP, AuthResult
from patience import PATIENCE
from small_site import send, serving


class Hook:
    """Answers the next requests with these statuses, then 200. A status 0: the connection is closed without a word."""

    def __init__(self):
        self.answers, self.fields = [], {}
        self.got, self.headers = [], []
        self.hang = None

    @contextlib.contextmanager
    def open(self, port=0):
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if hook.hang is not None:
                    hook.hang.wait(20)
                status = hook.answers.pop(0) if hook.answers else 200
                hook.got.append(json.loads(body))
                hook.headers.append(dict(self.headers))
                if status:
                    send(self, status, hook.fields, "")
                else:
                    self.close_connection = True

        with serving(Handler, port=port) as address:
            self.url = f"{address}hook"
            self.port = int(address.rstrip("/").rpartition(":")[2])
            try:
                yield self
            finally:
                if self.hang is not None:
                    self.hang.set()


class Mailbox:
    """A mail server's handler; `codes`: what it says to the next messages instead of 250; `unknown`: who is none of its
    receivers."""

    def __init__(self):
        self.codes, self.got, self.unknown = [], [], []

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802 (aiosmtpd's name)
        if address in self.unknown:
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 fine"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 (aiosmtpd's name)
        if self.codes:
            return self.codes.pop(0)
        self.got.append((envelope.mail_from, envelope.rcpt_tos, envelope.content.decode()))
        return "250 fine"


class Logins:
    """Lets one user in."""

    def __init__(self, user, password):
        self.known, self.asked = (user.encode(), password.encode()), []

    def __call__(self, server, session, envelope, mechanism, data):
        self.asked.append((data.login, data.password))
        return AuthResult(success=(data.login, data.password) == self.known)


@contextlib.contextmanager
def mail_server(mailbox, *, tls=None, logins=None):
    """`host:port` of it; `tls`: (certificate, key) for STARTTLS."""
    options = {}
    if tls is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*tls)
        options = {"tls_context": context, "require_starttls": True}
    if logins is not None:
        options |= {"authenticator": logins, "auth_required": True, "auth_require_tls": tls is not None}
    loop, ready = asyncio.new_event_loop(), threading.Event()
    servers = []

    async def serve():
        servers.append(await loop.create_server(lambda: SMTP(mailbox, loop=loop, **options), "127.0.0.1", 0))
        ready.set()

    def run():
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait(PATIENCE)
    try:
        yield f"127.0.0.1:{servers[0].sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(servers[0].close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
