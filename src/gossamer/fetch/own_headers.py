"""Says which header fields an operator may add to the requests to an origin."""

import re
from collections.abc import Iterator, Mapping

from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")  # RFC 9110 5.1
_LONGEST = 8_192
_MOST = 64

_SETTINGS = {
    "accept": "fetch.accept",
    "accept-encoding": "fetch.accept_encoding",
    "accept-language": "fetch.accept_language",
    "authorization": "username, password, token",
    "cookie": "fetch.cookies_file",
    "cookie2": "fetch.cookies_file",
    "from": "fetch.contact",
    "proxy-authorization": "fetch.proxy",
    "user-agent": "fetch.user_agent",
}
"""Fields that settings are there for; those keep us honest, or the secret out of the archive."""

_OURS = frozenset(
    (
        # The message and its connection (RFC 9110 7.6.1, 8.6, 10.1.1; RFC 9112 6): a second voice in them
        # lets one request be read as two.
        *("connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings"),
        # What is asked for by what is known already (RFC 9110 13, 14.2): the archive must know it.
        *("if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range"),
        # Who asks, for whom, and from where: whatever stood here would not be true.
        *("client-ip", "forwarded", "origin", "referer", "true-client-ip", "via", "x-client-ip"),
        *("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-original-url", "x-real-ip"),
        *("x-rewrite-url", "x-http-method-override"),
    )
)
_OUR_PREFIXES = ("sec-", "cf-", ":")
"""Fields of browsers and of what stands before servers; we are neither."""


def header_problems(headers: Mapping[str, str]) -> Iterator[tuple[str, Reason]]:
    """(name, what is wrong) of fields that cannot be sent, or would say of us what is not true.

    Values are never repeated: they may be secret.
    """
    if len(headers) > _MOST:
        yield "", because(ProblemCode.HEADERS_MANY, _MOST)
    for name, value in headers.items():
        lower = name.lower()
        if lower in _SETTINGS:
            yield name, because(ProblemCode.HEADER_SETTING, _SETTINGS[lower])
        elif lower in _OURS or lower.startswith(_OUR_PREFIXES):
            yield name, because(ProblemCode.HEADER_OURS)
        elif _TOKEN.fullmatch(name) is None:
            yield name, because(ProblemCode.HEADER_NAME)
        elif not value or len(value) > _LONGEST or not (value.isascii() and value.isprintable()):
            yield name, because(ProblemCode.HEADER_VALUE, _LONGEST)
    if len({name.lower() for name in headers}) < len(headers):
        yield "", because(ProblemCode.HEADERS_TWICE)
