"""Sort keys of URLs, as pywb and the CDX indexers make them (the Internet Archive's SURT).

A replay tool looks a capture up under the key that the Python package `surt` 0.3.1 makes, so this module
makes the same ones, to the letter: lower case (path and query too), `www.` and its numbered kin dropped,
default ports dropped, session identifiers dropped, percent-encoding undone to the end and redone once, empty
path segments and a final slash dropped, query arguments sorted. Numeric IPv4 hosts are reversed like names
and IPv6 hosts stand without brackets, since that is what those tools look for.

Linear in the URL's length, up to the sorting; at most some milliseconds for a hostile URL of 4 KiB.
"""

import re
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes

from gossamer.model.url import DEFAULT_PORTS, Url

_WWW = re.compile(r"www\d*\.", re.ASCII)
_SAFE = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_PATH_SESSIONS = (
    re.compile(r"^(.*/)(\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$"),
    re.compile(r"^(.*/)(\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$"),
)
_QUERY_SESSIONS = (
    re.compile(r"^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$"),
    re.compile(r"^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$"),
    re.compile(r"^(.*)sid=[0-9a-z]{32}(?:&(.*))?$"),
    re.compile(r"^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$"),
)


@lru_cache(maxsize=64)
def surt(url: Url) -> str:
    """The sort key of `url`, ASCII without blanks: `com,example)/path?query`."""
    path, _, query = url.target.partition("?")
    return _authority(url) + _path(path) + _query(query)


def _authority(url: Url) -> str:
    host = url.host.strip("[]").lower()
    if ".." in host:
        host = host.replace("..", ".")
    host = host.strip(".")
    if not host:
        return f"{url.scheme}:"
    if host.startswith("www"):
        match = _WWW.match(host)
        if match:
            host = host[match.end() :]
    name = ",".join(reversed(host.split(".")))
    if url.port == DEFAULT_PORTS[url.scheme]:
        return name + ")"
    return f"{name}:{url.port})"


def _path(path: str) -> str:
    if "%" in path or not _is_plain(path):
        path = _reescape(path, in_segments=True)
    elif "//" in path:
        path = _squeeze(path)
    path = path.lower() or "/"
    if ".aspx" in path and "(" in path:
        for pattern in _PATH_SESSIONS:
            match = pattern.match(path)
            if match:
                path = match[1] + match[3]
    return path[:-1] if path.endswith("/") and len(path) > 1 else path


def _squeeze(path: str) -> str:
    """Drop empty and dot segments; a final slash stays."""
    kept: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == ".":
            continue
        if segment == ".." and kept:
            kept.pop()
        else:
            kept.append(segment)
    if not kept:
        return "/"
    return "/" + "".join(segment + "/" for segment in kept[:-1] if segment) + kept[-1]


def _query(query: str) -> str:
    if not query:
        return ""
    if "%" in query or not _is_plain(query):
        query = _reescape(query, in_segments=False)
    query = query.lower()
    if "id=" in query or "aspsessionid" in query:
        query = _without_session(query)
    if "&" in query and len(query) > 1:
        query = "&".join(sorted(query.split("&"), key=_argument))
    return "?" + query if query else ""


def _argument(text: str) -> tuple[str, ...]:
    return tuple(text.split("=", 1))


def _without_session(query: str) -> str:
    """Drop the last session identifier of each known form, in the order of the forms."""
    for pattern in _QUERY_SESSIONS:
        match = pattern.match(query)
        if match:
            query = match[1] + (match[2] or "")
    return _without_coldfusion(query) if "&cftoken=" in query else query


def _without_coldfusion(query: str) -> str:
    """Drop the last `cfid=...&cftoken=...`. By hand, because a pattern for it backtracks quadratically."""
    arguments = query.split("&")
    for index in range(len(arguments) - 2, -1, -1):
        start = arguments[index].rfind("cfid=", 0, -1)
        token = arguments[index + 1]
        if start >= 0 and token.startswith("cftoken=") and len(token) > len("cftoken="):
            before = "".join(argument + "&" for argument in arguments[:index]) + arguments[index][:start]
            return before + "&".join(arguments[index + 2 :])
    return query


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text and "#" not in text


def _reescape(text: str, *, in_segments: bool) -> str:
    """Undo percent-encoding until there is none, then encode once; paths are squeezed between."""
    raw = text.encode("utf-8", "surrogatepass")
    while True:
        decoded = unquote_to_bytes(raw)
        if decoded == raw:
            break
        raw = decoded
    if in_segments:
        raw = _squeeze(raw.decode("latin-1")).encode("latin-1")
    return quote_from_bytes(raw, safe=_SAFE)
