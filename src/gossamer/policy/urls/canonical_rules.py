"""The named rules that bring spellings of one address to one form, each a function from Url to Url.

A rule returns the very same object when it has nothing to change, and finds that out by a cheap test.
Each either shortens the text or moves it towards an order that no other rule disturbs, so that
applying all of them again and again comes to an end.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from gossamer.model.url import DEFAULT_PORTS, Url


class CanonicalRule(NamedTuple):
    """A rule with its name for configuration, log and `why`."""

    name: str
    apply: Callable[[Url], Url]


def respelled(url: Url, *, host: str | None = None, target: str | None = None) -> Url:
    """The URL with another host or target, at the same port."""
    host = url.host if host is None else host
    target = url.target if target is None else target
    port = "" if url.port == DEFAULT_PORTS[url.scheme] else f":{url.port}"
    return Url(f"{url.scheme}://{host}{port}{target}", url.scheme, host, url.port, target)


# Safe: the changed URL is the same resource by the standards (RFC 3986, 6.2.2 and 6.2.3).

_UNRESERVED = re.compile(r"%(?:2[DdEe]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LOWER_HEX = re.compile(r"%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f])")
# Neither reserved nor unreserved, or reserved for other parts of a URL: such a character has but one lawful
# spelling in a path or query, and browsers differ in applying it.
_ILLEGAL = re.compile(r"[\"<>\\^`{|}\[\]]")


def _decode_unreserved(url: Url) -> Url:
    if "%" not in url.target:
        return url
    # Beside a stray percent sign, decoded digits could make up an escape that was not there: `%%34%31`.
    if _UNRESERVED.search(url.target) is None or _STRAY_PERCENT.search(url.target) is not None:
        return url
    return respelled(url, target=_UNRESERVED.sub(lambda triplet: chr(int(triplet[0][1:], 16)), url.target))


def _upper_hex(url: Url) -> Url:
    if "%" not in url.target:
        return url
    target = _LOWER_HEX.sub(lambda triplet: triplet[0].upper(), url.target)
    return url if target == url.target else respelled(url, target=target)


def _encode_illegal(url: Url) -> Url:
    if _ILLEGAL.search(url.target) is None:
        return url
    return respelled(url, target=_ILLEGAL.sub(lambda char: f"%{ord(char[0]):02X}", url.target))


def _empty_query(url: Url) -> Url:
    if url.target[-1] != "?" or url.target.find("?") != len(url.target) - 1:
        return url
    return respelled(url, target=url.target[:-1])


def _host_dot(url: Url) -> Url:
    if url.host[-1:] != ".":
        return url
    host = url.host.rstrip(".")
    return respelled(url, host=host) if host else url


SAFE_RULES = (
    CanonicalRule("unreserved", _decode_unreserved),
    CanonicalRule("upper-hex", _upper_hex),
    CanonicalRule("illegal", _encode_illegal),
    CanonicalRule("empty-query", _empty_query),
    CanonicalRule("host-dot", _host_dot),
)
"""On unless switched off, in the order of application."""


def plainly_spelled(url: Url) -> Url:
    """The URL in the spelling that all safe rules together lead to."""
    for rule in SAFE_RULES:
        url = rule.apply(url)
    return url


# By choice: true of most sites, false of some.

_SESSION_IN_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sessionid|sid)=[0-9A-Za-z.!_\-]{16,128}(?=[/;?]|$)"  # Java, PHP
    r"|/\((?:[A-Za-z]\([0-9A-Za-z_\-]{8,512}\))+\)(?=/)"  # ASP.NET: /(S(lit3py55t21z5v55vlm25s55))/
    r"|/\([0-9a-z]{24}\)(?=/)",
    re.IGNORECASE,
)

_SESSION_PARAMETERS = {
    "phpsessid": (22, 256),  # PHP: session.sid_length
    "jsessionid": (16, 128),
    "sessionid": (16, 128),
    "session_id": (16, 128),
    "sessid": (16, 128),
    "sid": (22, 128),  # shorter ones number something else
    "zenid": (22, 128),
    "oscsid": (22, 128),
    "cftoken": (8, 128),
}
_ASP_SESSION = re.compile(r"aspsessionid[a-z]{8}", re.IGNORECASE)
_VBULLETIN_SESSION = re.compile(r"s=[0-9a-f]{32}")
"""Elsewhere `s` is what was searched for, so that nothing else will do."""
_SESSION_VALUE = re.compile(r"[0-9A-Za-z.!,_\-]+")

_TRACKING = re.compile(
    r"(?:utm|mtm|pk|hsa)_.*|_hs.*|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|y(?:s)?clid|twclid|ttclid"
    r"|igsh(?:id)?|li_fat_id|mc_[ce]id|mkt_tok|_ga|_gl|epik|s_cid|srsltid|vero_id|wickedid|_openstat",
    re.IGNORECASE,
)


def _is_session(parameter: str) -> bool:
    if _VBULLETIN_SESSION.fullmatch(parameter) is not None:
        return True
    name, _, value = parameter.partition("=")
    low, high = _SESSION_PARAMETERS.get(name.lower(), (0, 0))
    if not high and _ASP_SESSION.fullmatch(name) is not None:
        low, high = 24, 24
    return low <= len(value) <= high and _SESSION_VALUE.fullmatch(value) is not None


def _is_tracking(parameter: str) -> bool:
    return _TRACKING.fullmatch(parameter.partition("=")[0]) is not None


def _without_parameters(url: Url, drop: Callable[[str], bool]) -> Url:
    path, mark, query = url.target.partition("?")
    if not mark:
        return url
    parameters = query.split("&")
    kept = [parameter for parameter in parameters if not drop(parameter)]
    if len(kept) == len(parameters):
        return url
    return respelled(url, target=f"{path}?{'&'.join(kept)}" if kept else path)


def _session_in_path(url: Url) -> Url:
    if ";" not in url.target and "/(" not in url.target:
        return url
    path, mark, query = url.target.partition("?")
    shorter = _SESSION_IN_PATH.sub("", path)
    if shorter == path:
        return url
    # What is left may be a dot segment: `/a/..;jsessionid=...`.
    return Url.parse(respelled(url, target=f"{shorter}{mark}{query}").text) or url


def _session_in_query(url: Url) -> Url:
    return _without_parameters(url, _is_session)


def _tracking(url: Url) -> Url:
    return _without_parameters(url, _is_tracking)


def drop_parameters(names: tuple[str, ...]) -> CanonicalRule:
    """The rule that removes the parameters of these names, in this case; `name*` means all that begin so."""
    exact = frozenset(name for name in names if not name.endswith("*"))
    prefixes = tuple(name[:-1] for name in names if name.endswith("*"))

    def is_named(parameter: str) -> bool:
        name = parameter.partition("=")[0]
        return name in exact or name.startswith(prefixes)

    return CanonicalRule("drop-parameters", lambda url: _without_parameters(url, is_named))


def _sort_query(url: Url) -> Url:
    path, mark, query = url.target.partition("?")
    if "&" not in query:
        return url
    # Only by name: where a name comes twice, the order of its values may mean something.
    ordered = "&".join(sorted(query.split("&"), key=lambda parameter: parameter.partition("=")[0]))
    return url if ordered == query else respelled(url, target=f"{path}{mark}{ordered}")


def _http_as_https(url: Url) -> Url:
    if url.scheme != "http" or url.port != DEFAULT_PORTS["http"]:
        return url
    return Url(f"https://{url.host}{url.target}", "https", url.host, DEFAULT_PORTS["https"], url.target)


def _strip_www(url: Url) -> Url:
    if not url.host.startswith("www.") or "." not in url.host[4:].rstrip("."):
        return url
    return respelled(url, host=url.host[4:])


_INDEX = re.compile(
    r"/(?:index\.(?:x?html?|php[3-8]?|aspx?|jsp|shtml|cgi)|default\.(?:aspx?|html?))", re.IGNORECASE
)


def _index_file(url: Url) -> Url:
    path, mark, query = url.target.partition("?")
    slash = path.rfind("/")
    if _INDEX.fullmatch(path, slash) is None:
        return url
    return respelled(url, target=f"{path[: slash + 1]}{mark}{query}")


def _trailing_slash(url: Url) -> Url:
    path, mark, query = url.target.partition("?")
    if len(path) < 2 or path[-1] != "/":
        return url
    return respelled(url, target=f"{path.rstrip('/') or '/'}{mark}{query}")


OPTIONAL_RULES = (
    CanonicalRule("http-as-https", _http_as_https),
    CanonicalRule("strip-www", _strip_www),
    CanonicalRule("session-in-path", _session_in_path),
    CanonicalRule("session-in-query", _session_in_query),
    CanonicalRule("tracking", _tracking),
    CanonicalRule("sort-query", _sort_query),
    CanonicalRule("index-file", _index_file),
    CanonicalRule("trailing-slash", _trailing_slash),
)
"""Off unless chosen by name, in the order of application, after the safe ones."""
