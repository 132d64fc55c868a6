"""Tells one receiver one message: by webhook, by mail, or by whatever `apprise` speaks. To be called in threads."""

import smtplib
import socket
import ssl
from email.message import EmailMessage
from email.utils import formatdate
from importlib.util import find_spec
from urllib.parse import unquote

import msgspec

from gossamer.config.secret_values import is_reference
from gossamer.config.watch_config import NotifyConfig
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.post import post
from gossamer.policy.watching.retries import Failure
from gossamer.watch.wording import Message, body_of, json_of, subject_of

__all__ = ["ID_HEADER", "problem_of", "tell"]

ID_HEADER = "Gossamer-Notice-Id"
NEEDS_EXTRA = "needs the extra 'notify': pip install 'gossamer[notify]'"
_SMTP_SECONDS = 20.0
_LATER = frozenset({408, 425, 429})
"""4xx that another time may do better."""


def tell(message: Message, receiver: NotifyConfig, config: FetchConfig) -> Failure | None:
    """Tell it; `None` if it has arrived.

    Args:
        message: what is told.
        receiver: whom, with secrets put in.
        config: of the crawl's fetching.
    """
    if receiver.to.startswith(("http://", "https://")):
        return _webhook(message, receiver, config)
    if receiver.to.startswith("mailto:"):
        return _mail(message, receiver, config)
    if config.closed_networks:
        return Failure("apprise connects where it likes, and fetch.closed_networks forbids that", final=True)
    return _apprise(message, receiver)


def problem_of(to: str) -> str:
    """Why nobody can be told at an address, if that is plain from it; empty for what may be told."""
    if to.startswith(("http://", "https://", "mailto:")) or is_reference(to):
        return ""
    if find_spec("apprise") is None:
        return f"is no webhook (https://...) and no mail (mailto:...); what apprise tells {NEEDS_EXTRA}"
    return (
        "" if _known_to_apprise(to) else "is none of a webhook (https://...), mail (mailto:...) and apprise"
    )


def _webhook(message: Message, receiver: NotifyConfig, config: FetchConfig) -> Failure | None:
    headers = {"Content-Type": "application/json", ID_HEADER: message.id, "Idempotency-Key": message.id}
    if receiver.password:
        headers["Authorization"] = f"Bearer {receiver.password}"
    if not all(value.isascii() and value.isprintable() for value in headers.values()):
        return Failure("the password holds characters that no header may", final=True)
    # The operator named it: it may lie in his own network, and not beyond a crawl's proxy.
    config = msgspec.structs.replace(config, allow_private=True, ca_file=receiver.ca_file or config.ca_file)
    answer = post(receiver.to, json_of(message), headers, config, AddressGuard(config))
    if not answer.status:
        return Failure(answer.detail)
    if 200 <= answer.status < 300:
        return None
    final = 300 <= answer.status < 500 and answer.status not in _LATER
    return Failure(f"HTTP status {answer.status}", final=final, after=answer.retry_after)


def _mail(message: Message, receiver: NotifyConfig, config: FetchConfig) -> Failure | None:
    to = [one for one in unquote(receiver.to[7:].partition("?")[0]).split(",") if one]
    host, _, port = receiver.server.rpartition(":")
    if not host or not port.isdigit() or not to:
        return Failure("mail needs an address and a server as HOST:PORT", final=True)
    try:
        mail = _letter(message, receiver, to)
    except ValueError as error:
        return Failure(str(error)[:200], final=True)
    try:
        context = ssl.create_default_context(cafile=receiver.ca_file or None)
        with _MailServer(host, int(port), context, config, at_once=receiver.tls == "tls") as server:
            if receiver.tls == "starttls":
                server.starttls(context=context)
            if receiver.user:
                server.login(receiver.user, receiver.password)
            refused = server.send_message(mail)
    except smtplib.SMTPAuthenticationError as error:
        return Failure(f"the mail server refuses user and password ({error.smtp_code})")
    except smtplib.SMTPRecipientsRefused as error:
        codes = {code for code, _ in error.recipients.values()}
        return Failure(f"the mail server refuses the receiver ({min(codes)})", final=min(codes) >= 500)
    except smtplib.SMTPResponseException as error:
        return Failure(f"the mail server answers {error.smtp_code}", final=error.smtp_code >= 550)
    except (smtplib.SMTPException, OSError) as error:
        return Failure(f"mail: {type(error).__name__}: {error}"[:200])
    if refused:  # whoever it was accepted for would get it again at each attempt
        return Failure(f"the mail server refuses {', '.join(refused)}"[:200], final=True)
    return None


class _MailServer(smtplib.SMTP):
    """A connection to a mail server; `at_once`: encrypted from the beginning."""

    def __init__(
        self, host: str, port: int, context: ssl.SSLContext, config: FetchConfig, *, at_once: bool
    ) -> None:
        self._guard = AddressGuard(msgspec.structs.replace(config, allow_private=True))
        self._context = context if at_once else None
        super().__init__(host, port, timeout=_SMTP_SECONDS)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """As `smtplib` asks for it; at an address that the operator's closed networks do not hold."""
        refused: OSError = OSError(f"{host} has no address that may be used (fetch.closed_networks)")
        for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            where = str(address[0])
            if not self._guard.allows("", where):
                continue
            try:
                plain = socket.create_connection((where, port), timeout)
            except OSError as error:
                refused = error
                continue
            return plain if self._context is None else self._context.wrap_socket(plain, server_hostname=host)
        raise refused


def _letter(message: Message, receiver: NotifyConfig, to: list[str]) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = receiver.sender or to[0]
    mail["To"] = ", ".join(to)
    mail["Subject"] = f"[gossamer] {subject_of(message)[:200]}"
    mail["Date"] = formatdate(message.made)
    mail["Message-ID"] = f"<{message.id}@gossamer.invalid>"
    mail[ID_HEADER] = message.id
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(body_of(message) + "\n")
    return mail


def _known_to_apprise(to: str) -> bool:
    import apprise

    return bool(apprise.Apprise().add(to))


def _apprise(message: Message, receiver: NotifyConfig) -> Failure | None:
    try:
        import apprise
    except ImportError:
        return Failure(NEEDS_EXTRA, final=True)
    try:
        service = apprise.Apprise()
        if not service.add(receiver.to):
            return Failure("apprise does not know this address", final=True)
        arrived = service.notify(
            title=subject_of(message), body=body_of(message), body_format=apprise.NotifyFormat.TEXT
        )
    except Exception as error:  # noqa: BLE001 - whatever one of its hundred services raises
        return Failure(f"apprise: {type(error).__name__}")
    return None if arrived else Failure("apprise could not deliver it")
