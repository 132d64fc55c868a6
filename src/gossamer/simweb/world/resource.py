"""The vocabulary of the simulated web: places, links, what stands there, what is said on the wire."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

NAVIGATION = frozenset(
    {"a", "area", "frame", "iframe", "form", "canonical", "alternate", "next", "prev", "refresh"}
)
"""Elements (for `link`, its rel) whose links lead a reader on; all others only help to show a page."""


class Place(NamedTuple):
    """A URL of the world without scheme and port: `("h1.sim.test", "/s1/p9.html?print=1")`."""

    host: str
    target: str


class Link(NamedTuple):
    """One mention of a place on a page.

    Attributes:
        to: where it leads when resolved as a browser does.
        href: how it is written, before entities.
        element: `a`, `img`, ...; for the element `link` its rel.
        nofollow: whether it says `rel=nofollow`.
    """

    to: Place
    href: str
    element: str = "a"
    nofollow: bool = False


class Group(NamedTuple):
    """A group of a robots file: agents, (`allow` or `disallow`, pattern) in order, Crawl-delay as written."""

    agents: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]
    delay: str = ""


class Request(NamedTuple):
    """What the server makes of a request head; names of fields are in lower case."""

    method: str
    host: str
    target: str
    fields: Mapping[str, str]


class Ending(StrEnum):
    """What becomes of the connection after an answer."""

    KEEP = "keep"
    CLOSE = "close"
    RESET = "reset"  # TCP RST instead of FIN


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes over the wire.

    Attributes:
        status: for the visit log; 0 if what is sent cannot be called a status.
        data: sent first.
        steps: then these: bytes to send or seconds to pause, perhaps for ever.
        ending: what becomes of the connection afterwards.
    """

    status: int
    data: bytes = b""
    steps: Callable[[], Iterator[bytes | float]] | None = None
    ending: Ending = Ending.KEEP


Answer = Callable[[Request], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What stands at a place, as data for the ground truth and as words for the server.

    Attributes:
        status: what a patient visitor gets in the end.
        content_type: the field's value; empty: no such field.
        body: makes the content, before any content coding.
        links: all that the content mentions, in document order.
        redirect: where the answer sends the visitor; `None` if nowhere, or nowhere in `http`.
        fields: further header fields.
        coding: one of `CODINGS`, used if the visitor accepts it.
        nofollow: the page as a whole asks that its links not be followed.
        groups: rules, if this is a robots file.
        entries: places listed, if this is a sitemap.
        trap: first part of the targets that belong to the same bottomless pit; empty: no trap.
        certain: whether correct visitors must agree on what the answer means.
        title: of the page, in Unicode.
        early: answers to the first visits, before the ordinary ones begin.
        speak: answers instead of the ordinary composition from the attributes above.
    """

    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    body: Callable[[], bytes] = bytes
    links: tuple[Link, ...] = ()
    redirect: Place | None = None
    fields: tuple[tuple[str, str], ...] = ()
    coding: str = "identity"
    nofollow: bool = False
    groups: tuple[Group, ...] = ()
    sitemaps: tuple[Place, ...] = ()
    entries: tuple[Place, ...] = ()
    trap: str = ""
    certain: bool = True
    title: str = ""
    early: tuple[Answer, ...] = ()
    speak: Answer | None = None


class Speech(StrEnum):
    """How the name server treats questions about a name."""

    ANSWER = "answer"
    NXDOMAIN = "nxdomain"
    SERVFAIL = "servfail"
    REFUSED = "refused"
    SILENT = "silent"
    TRUNCATED = "truncated"  # over UDP nothing but the TC bit; all of it over TCP
    GARBAGE = "garbage"
    WRONG_ID = "wrong-id"  # before the answer comes one that was forged, with another number
    WRONG_QUESTION = "wrong-question"  # the same with the right number, for another name
    STRANGERS = "strangers"  # the answer holds wrong addresses of other names, too
    LOOP = "loop"  # of aliases
    CROWD = "crowd"  # thousands of addresses behind the right ones


class Reach(StrEnum):
    """What a correct visitor can make of a host before it says its first word."""

    FINE = "fine"
    UNRESOLVABLE = "unresolvable"
    UNREACHABLE = "unreachable"
    FORBIDDEN = "forbidden"  # the address is none that a link may lead to
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What the name server knows of a name.

    Attributes:
        addresses: numeric, IPv4 and IPv6.
        ttl: seconds.
        aliases: CNAME chain from the name to the owner of the addresses.
        wander: each question gets one of the addresses, the next one the next.
        speech: how questions are treated.
        delay: seconds before the answer.
        lost: questions at first that get no answer.
        reach: for the ground truth.
    """

    addresses: tuple[str, ...] = ()
    ttl: int = 300
    aliases: tuple[str, ...] = ()
    wander: bool = False
    speech: Speech = Speech.ANSWER
    delay: float = 0.0
    lost: int = 0
    reach: Reach = Reach.FINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One case of the catalogue, set on a host of its own.

    Attributes:
        resources: by target. Front page, good pages and robots file are added where missing.
        entries: targets of this host that its front page links to, besides the good pages.
        links: further links of the front page.
        endless: finds what no table can hold.
        gate: answers to the first visits of the host, whatever they ask for but the robots file.
        naming: of the host; `None`: as ordinary hosts.
        names: further names that belong to the case.
    """

    resources: dict[str, Resource] = field(default_factory=dict)
    entries: tuple[str, ...] = ("/bad",)
    links: tuple[Link, ...] = ()
    endless: Callable[[str], Resource | None] | None = None
    gate: tuple[Answer, ...] = ()
    naming: Naming | None = None
    names: dict[str, Naming] = field(default_factory=dict)
