"""Reads a place: where, and under which conditions, settings of its own hold (docs/decisions/0029-places.md)."""

import ipaddress
import re
from enum import IntEnum, StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import msgspec

from gossamer.model.exchange import Headers
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import WrongValueError, because
from gossamer.model.url import DEFAULT_PORTS, Url
from gossamer.policy.places.known import Known
from gossamer.policy.scope.patterns import pattern_problem

DAY = 24 * 60
"""Minutes."""

_WHERE = re.compile(
    r"(?:(?P<scheme>[a-z]+)://)?(?P<dot>\*?\.)?(?P<host>\[[^\]/]+\]|[^\[\]/:?#@*\s]+)(?::(?P<port>\d{1,5}))?"
    r"(?P<target>/[^#\s]*)?",
    re.IGNORECASE,
)
_HOURS = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)")
_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:\*|[a-z0-9!#$&^_.+-]+)")
_LONGEST = 4_096


class Reach(IntEnum):
    """Which hosts the name of a place means, from wide to narrow."""

    DOMAIN = 0  # .example.org: the name and all below it
    BELOW = 1  # *.example.org: all below it
    HOST = 2  # example.org: it alone


class Measure(StrEnum):
    """What makes one place narrower than another, in the order in which they are compared."""

    HOST = "host"
    REACH = "reach"
    PATH = "path"
    ORIGIN = "origin"
    PATTERN = "pattern"
    ADDRESS = "address"
    TYPE = "type"
    TIME = "time"
    SPELLING = "spelling"


class Asked(msgspec.Struct, frozen=True, gc=False):
    """Where settings are asked for; what is not known yet is empty, and no condition on it holds.

    Attributes:
        host: as `Url` has it, or the name of a host's queue.
        url: what is visited, or `None` if a host as a whole is asked about.
        address: an IP address.
        media_type: in lower case, without parameters.
        minute: of the day, UTC.
    """

    host: str
    url: Url | None
    address: str = ""
    media_type: str = ""
    minute: int = 0


class PlaceRule(msgspec.Struct, frozen=True):
    """One or more conditions, all of which hold; what is empty holds everywhere.

    Attributes:
        text: as written.
        host: ASCII, in lower case, without a dot at either end.
        reach: which hosts that name means.
        target: with which path and query begin.
        scheme: of the URL.
        port: of the URL; 0 for any.
        pattern: an expression of RE2 that occurs in the URL.
        network: in which the address lies.
        media_type: of the response, `image/png` or `image/*`.
        hours: minutes of the day, UTC, from the first up to before the second, perhaps over midnight.
    """

    text: str
    host: str = ""
    reach: Reach = Reach.DOMAIN
    target: str = ""
    scheme: str = ""
    port: int = 0
    pattern: str = ""
    network: IPv4Network | IPv6Network | None = None
    media_type: str = ""
    hours: tuple[int, int] | None = None

    @property
    def width(self) -> tuple[tuple[int, ...], str]:
        """What places are ordered by, the narrowest first.

        Host, path, scheme and port, pattern, address, media type, time: in the first in which two places
        differ, the narrower wins. Where all are as narrow, the text decides, so that the order in which
        places are written never matters.
        """
        narrow = (
            self.host.count(".") + 1 if self.host else 0,
            int(self.reach),
            len(self.target),
            2 * bool(self.scheme) + bool(self.port),
            len(self.pattern),
            0 if self.network is None else self.network.prefixlen + 1,
            0 if not self.media_type else 1 if self.media_type.endswith("/*") else 2,
            0 if self.hours is None else DAY - _length(self.hours),
        )
        return tuple(-number for number in narrow), self.text

    @property
    def means(self) -> tuple[object, ...]:
        """Equal for two texts that mean the same place."""
        return msgspec.structs.astuple(self)[1:]

    @property
    def needs(self) -> Known:
        """What must be known before the place can hold."""
        if self.media_type:
            return Known.ANSWER
        if self.network is not None:
            return Known.ADDRESS
        return Known.URL if self.target or self.scheme or self.port or self.pattern else Known.HOST

    @property
    def origin(self) -> str:
        """The one that secrets given at the place are for; below `*.`, that of no host."""
        scheme = self.scheme or "https"
        dot = "" if self.reach is Reach.HOST else "*."
        port = f":{self.port}" if self.port else ""
        return f"{scheme}://{dot}{self.host}{port}"

    def is_for_origin(self, url: Url) -> bool:
        """Whether what is meant for one origin alone may go to that of a URL on one of its hosts.

        Where the place does not say, that is the one of https and its own port.
        """
        scheme = self.scheme or "https"
        return url.scheme == scheme and url.port == (self.port or DEFAULT_PORTS[scheme])


def read_place(text: str) -> PlaceRule:
    """The place that somebody wrote: conditions with blanks between them, each kind at most once.

    Raises:
        WrongValueError: it is none; says what is.
    """
    if len(text) > _LONGEST:
        raise _wrong(ProblemCode.PLACE_FORM, f"{text[:40]}...")
    found: dict[str, object] = {}
    for word in text.split():
        kind, colon, value = word.partition(":")
        reader = _READERS.get(kind) if colon and not value.isdigit() else None
        said = _where(word) if reader is None else reader(value)
        if found.keys() & said.keys():
            raise _wrong(ProblemCode.PLACE_TWICE, text, word)
        found |= said
    if not found:
        raise _wrong(ProblemCode.PLACE_FORM, text)
    return msgspec.structs.replace(PlaceRule(text), **found)


def _where(word: str) -> dict[str, object]:
    match = _WHERE.fullmatch(word)
    if match is None:
        raise _wrong(ProblemCode.PLACE_FORM, word)
    scheme, dot, port = (match["scheme"] or "").lower(), match["dot"] or "", int(match["port"] or 0)
    url = Url.parse(f"http://{match['host']}{match['target'] or '/'}")
    named = not dot or (url is not None and address_of(url.host) is None)
    if url is None or not named or (scheme and scheme not in DEFAULT_PORTS) or port > 65_535:
        raise _wrong(ProblemCode.PLACE_FORM, word)
    return {
        "host": url.host.rstrip("."),
        "reach": {"": Reach.HOST, ".": Reach.DOMAIN, "*.": Reach.BELOW}[dot],
        "target": "" if url.target == "/" else url.target,
        "scheme": scheme,
        "port": port,
    }


def _pattern(value: str) -> dict[str, object]:
    problem = pattern_problem(value) if value else "it is empty"
    if problem is not None:
        raise _wrong(ProblemCode.EXPRESSION, value, problem)
    return {"pattern": value}


def _address(value: str) -> dict[str, object]:
    try:
        return {"network": ipaddress.ip_network(value.strip("[]"), strict=False)}
    except ValueError:
        raise _wrong(ProblemCode.PLACE_ADDRESS, value) from None


def _type(value: str) -> dict[str, object]:
    if _TYPE.fullmatch(value.lower()) is None:
        raise _wrong(ProblemCode.PLACE_TYPE, value)
    return {"media_type": value.lower()}


def _time(value: str) -> dict[str, object]:
    match = _HOURS.fullmatch(value)
    start, end = (_minute(match[1], match[2]), _minute(match[3], match[4])) if match else (0, 0)
    if match is None or start in (end, DAY) or max(start, end) > DAY:
        raise _wrong(ProblemCode.PLACE_TIME, value)
    return {"hours": (start, end % DAY)}


_READERS = {"pattern": _pattern, "address": _address, "type": _type, "time": _time}


def _minute(hours: str, minutes: str) -> int:
    return 60 * int(hours) + int(minutes) if int(minutes) < 60 else DAY + 1


def _length(hours: tuple[int, int]) -> int:
    """Minutes, at most a day."""
    return (hours[1] - hours[0]) % DAY or DAY


def _wrong(code: ProblemCode, *values: str) -> WrongValueError:
    return WrongValueError(because(code, *values))


def narrower_by(one: PlaceRule, other: PlaceRule) -> Measure:
    """The first measure in which two places differ."""
    pairs = zip(one.width[0], other.width[0], strict=True)
    differing = (number for number, (mine, its) in enumerate(pairs) if mine != its)
    return list(Measure)[next(differing, len(Measure) - 1)]


def type_of(headers: Headers) -> str:
    """The media type that a response declares, as places compare it: of several fields, the last one's."""
    values = headers.get_all("content-type")
    return values[-1].partition(";")[0].strip().lower() if values else ""


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """An address that was written; `None` if it is none, as of a protocol that has no addresses."""
    try:
        return ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None


def in_hours(hours: tuple[int, int], minute: int) -> bool:
    """Whether a minute of the day lies in them."""
    start, end = hours
    return start <= minute < end if start < end else minute >= start or minute < end
