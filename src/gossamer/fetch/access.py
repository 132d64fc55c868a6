"""What a handle of libcurl is set to for all of its life: by which proxy it goes, and as whom."""

from functools import cache, cached_property

import msgspec
import pycurl

from gossamer.fetch.alternatives import Way, take
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.options import configure, configure_proxy
from gossamer.fetch.request import Credentials

_SCHEMES = {
    "basic": pycurl.HTTPAUTH_BASIC,
    "digest": pycurl.HTTPAUTH_DIGEST,
    "ntlm": pycurl.HTTPAUTH_NTLM,
    "negotiate": pycurl.HTTPAUTH_NEGOTIATE,
}


@cache
def speaks(scheme: str) -> bool:
    """Whether the libcurl here was built with a way of authentication; NTLM has left many."""
    easy = pycurl.Curl()
    try:
        easy.setopt(pycurl.HTTPAUTH, _SCHEMES[scheme])
    except pycurl.error:
        return False
    finally:
        easy.close()
    return True


class Access(msgspec.Struct, frozen=True, dict=True):
    """How a visit goes out. Visits share a handle only if they agree in all of it.

    So nothing need be taken back from a handle, and what libcurl remembers on one of a log-in (a nonce, a
    certificate, a cookie) is never there when it visits another origin.

    Attributes:
        proxy: URL with user and password; empty connects directly.
        origin: that `login` is for; empty without one.
        login: credentials that libcurl itself must know of.
        cookies: its cookie engine is on, and filled for each visit.
        posts: it sends bodies, and does nothing else.
        heads: it asks for heads alone (`HEAD`).
        certificates: what it learns of them is kept.
        way: TCP, or HTTP/3.
    """

    proxy: str = ""
    origin: str = ""
    login: Credentials | None = None
    cookies: bool = False
    posts: bool = False
    heads: bool = False
    certificates: bool = False
    way: Way = Way.TCP

    @cached_property
    def is_watched(self) -> bool:
        """libcurl adds fields of its own to the requests: only it can say what was sent."""
        return self.cookies or self.posts or self.login is not None or self.forwards

    @cached_property
    def forwards(self) -> bool:
        """The proxy is asked for http URLs by their whole text, and tunnels https."""
        return self.proxy.partition("://")[0].lower() in ("http", "https")

    def __repr__(self) -> str:
        return "<Access>"


def make_ready(easy: pycurl.Curl, config: FetchConfig, access: Access) -> None:
    """Set what stays the same on a new handle."""
    configure(easy, config)
    configure_proxy(easy, config, access.proxy)
    take(easy, access.way)
    if access.heads:
        easy.setopt(pycurl.NOBODY, 1)
    if access.certificates:
        easy.setopt(pycurl.OPT_CERTINFO, 1)
        easy.setopt(pycurl.SSL_SESSIONID_CACHE, 0)  # a session that is resumed shows no certificate
    if access.cookies:
        easy.setopt(pycurl.COOKIEFILE, "")  # an empty name switches the engine on
    login = access.login
    if login is None:
        return
    if login.answers:
        easy.setopt(pycurl.HTTPAUTH, _SCHEMES[login.scheme])
        easy.setopt(pycurl.USERNAME, login.user)
        easy.setopt(pycurl.PASSWORD, login.password)
    if login.certificate:
        easy.setopt(pycurl.SSLCERT, login.certificate)
        easy.setopt(pycurl.SSLKEY, login.key or login.certificate)
        if login.key_password:
            easy.setopt(pycurl.KEYPASSWD, login.key_password)
