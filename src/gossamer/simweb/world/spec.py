"""What a simulated web is made of: a seed with some numbers, from which everything else follows."""

import ipaddress
import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from gossamer.simweb.world.resource import Speech

ROBOTS_KINDS = (
    "absent", "forbidden", "allow", "rules", "delay", "groups", "redirect", "redirect-far", "failing",
    "closed",
)  # fmt: skip
CODINGS = ("identity", "gzip", "deflate", "raw-deflate", "br", "zstd")
CHARSETS = (
    "utf-8", "gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr",
    "windows-1251", "koi8-r", "windows-1252", "utf-16le", "utf-16be",
)  # fmt: skip
DECLARATIONS = ("header", "meta", "none", "bom")
EVERYTHING = "*"
LOOPBACK = "127.0"

# The mild half of the catalogue: nothing in it makes a polite crawl wait for more than some seconds.
_FRIENDLY_CASES = (
    "markup", "charsets", "directives", "redirect-loop", "redirect-chain", "redirect-bad-location",
    "wrong-type", "no-reason", "odd-case", "http10", "trailers", "early-hints", "bad-gzip", "empty-body",
    "no-content", "slow-body", "keep-alive-lie", "nul-body", "throttle-seconds", "robots-groups",
    "robots-redirect-far", "robots-wild", "dns-cname", "long-url",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """The whole of a simulated web; equal specs make equal webs, byte for byte.

    Tuples of names are urns: a host or page draws one name, so a name that stands twice is drawn
    twice as often. Shares run from 0 to 1.

    Attributes:
        seed: everything that looks random follows from it.
        hosts: ordinary hosts, `h0.sim.test` and on.
        pages: ordinary pages on all of them; every host has at least one.
        exponent: sizes of hosts fall as rank to minus this (0: all equal).
        page_bytes: mean size of a page; sizes run from half of it to one and a half.
        links: mean number of links on a page.
        cross_links: share of links that lead to another host.
        seeds: number of hosts whose front pages are the seeds.
        domains: registrable domains over which hosts are spread.
        addresses: loopback addresses over which hosts are spread (above 1 needs Linux).
        backends: so many servers of many names: ordinary hosts' names lead to one of these by CNAME, and each
            question gets another of the addresses; 0: each name has one address of its own.
        network: first two numbers of all addresses; another than 127.0 where visitors come from other
            machines (`NETWORK.0.1` must be this one's), which the catalogue of cases does without.
        robots: urn of `ROBOTS_KINDS`, drawn by host.
        charsets: urn of `charset/declaration`, drawn by page.
        codings: urn of `CODINGS`, drawn by page.
        sitemaps: share of hosts with a sitemap.
        redirects: share of pages that link to a redirect inside the host.
        far_redirects: share of pages that link to a redirect to another host.
        copies: share of pages that link to two addresses of the same bytes, whose relative links
            lead to different places.
        leaves: share of pages that link to a file without links of its own.
        missing: share of pages that link to an address which answers 404 or 410.
        nofollow: share of pages that link with `rel=nofollow` to a page nobody else links to.
        broken: share of pages in broken HTML.
        misbehaviours: cases of the catalogue, each on a host of its own; `("*",)` is all of them.
        slow_seconds: what a slow host takes for an answer.
        drip_seconds: time between the bytes of a dripping answer.
        failures: visits that fail before one succeeds, where a case says "at first".
        retry_after: seconds that throttling hosts ask for.
        head_bytes: size of the huge head.
        head_lines: lines of the long head.
        bomb_bytes: size of a decompression bomb when decoded.
        nested_bytes: size of the documents that torture parsers.
        name_delay: seconds before each answer of the name server.
        name_loss: share of questions to it that get no answer.
        name_ttl: TTL of ordinary hosts' names; below 0: a minute to an hour, by name.
        name_speech: a `Speech`, how questions about every name are treated; `answer`: each as
            its host's case says.
        name_outage: (start, length) of a silence of the name server, in seconds since the first question.
    """

    seed: int = 1
    hosts: int = 20
    pages: int = 400
    exponent: float = 0.9
    page_bytes: int = 8_000
    links: int = 12
    cross_links: float = 0.1
    seeds: int = 1
    domains: int = 1
    addresses: int = 1
    backends: int = 0
    network: str = LOOPBACK
    robots: tuple[str, ...] = ("absent",)
    charsets: tuple[str, ...] = ("utf-8/header",)
    codings: tuple[str, ...] = ("identity",)
    sitemaps: float = 0.0
    redirects: float = 0.0
    far_redirects: float = 0.0
    copies: float = 0.0
    leaves: float = 0.0
    missing: float = 0.0
    nofollow: float = 0.0
    broken: float = 0.0
    misbehaviours: tuple[str, ...] = ()
    slow_seconds: float = 1.0
    drip_seconds: float = 0.2
    failures: int = 2
    retry_after: int = 1
    head_bytes: int = 40_000_000
    head_lines: int = 300_000
    bomb_bytes: int = 1 << 30
    nested_bytes: int = 1 << 20
    name_delay: float = 0.0
    name_loss: float = 0.0
    name_ttl: int = -1
    name_speech: str = Speech.ANSWER
    name_outage: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.hosts < 1 or self.pages < self.hosts:
            raise ValueError(f"pages ({self.pages}) must be at least hosts ({self.hosts}), hosts at least 1")
        if not 1 <= self.seeds <= self.hosts:
            raise ValueError(f"seeds must be 1 to {self.hosts} (hosts), not {self.seeds}")
        if not 1 <= self.addresses <= 250 or self.domains < 1 or self.links < 1 or self.failures < 0:
            raise ValueError("addresses must be 1 to 250, domains and links at least 1, failures at least 0")
        if self.backends < 0:
            raise ValueError(f"backends must be at least 0, not {self.backends}")
        if self.network != LOOPBACK and self.misbehaviours:
            raise ValueError(f"misbehaviours lie in {LOOPBACK}, not in {self.network}; leave one of them out")
        ipaddress.IPv4Address(f"{self.network}.0.1")
        for name in (*_SHARES, "cross_links", "name_loss"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a share, 0 to 1, not {getattr(self, name)}")
        if len(self.name_outage) not in (0, 2) or min((self.name_delay, *self.name_outage)) < 0:
            raise ValueError("name_outage is (start, length); it and name_delay are seconds, not below 0")
        _require("name_speech", (self.name_speech,), tuple(Speech))
        _require("robots", self.robots, ROBOTS_KINDS)
        _require("codings", self.codings, CODINGS)
        _require("charsets", self.charsets, [f"{c}/{d}" for c in CHARSETS for d in DECLARATIONS])

    @classmethod
    def friendly(cls, **changes: Any) -> "WorldSpec":
        """A normal web for demonstrations: some 20 hosts, a few hundred pages, mild trouble only."""
        friendly = cls(
            hosts=20, pages=300, page_bytes=6_000, cross_links=0.15, domains=2,
            robots=("absent", "allow", "rules", "delay", "groups", "redirect", "redirect-far", "forbidden"),
            charsets=("utf-8/header",) * 8 + ("utf-8/meta", "gb18030/meta", "big5/header", "shift_jis/meta",
                      "euc-jp/header", "euc-kr/meta", "windows-1251/header", "koi8-r/meta", "utf-16le/bom"),
            codings=("identity", "identity", "gzip", "gzip", "br", "zstd", "deflate", "raw-deflate"),
            sitemaps=0.3, redirects=0.06, far_redirects=0.03, copies=0.03, leaves=0.1, missing=0.03,
            nofollow=0.03, broken=0.1, misbehaviours=_FRIENDLY_CASES, retry_after=1, slow_seconds=0.3,
        )  # fmt: skip
        return replace(friendly, **changes)

    @classmethod
    def plain(
        cls, pages: int = 4_000, hosts: int = 20, page_bytes: int = 30_000, **changes: Any
    ) -> "WorldSpec":
        """A well-behaved web for benchmarks: every host a seed, equal sizes, nothing but pages and robots."""
        plain = cls(
            hosts=hosts, pages=pages, page_bytes=page_bytes, links=30, exponent=0.0, seeds=hosts,
            robots=("allow",), cross_links=0.05,
        )  # fmt: skip
        return replace(plain, **changes)

    @classmethod
    def hostile(cls, *only: str, **changes: Any) -> "WorldSpec":
        """Each misbehaviour (or `only` those named) on a host of its own, good pages beside it."""
        hostile = cls(hosts=1, pages=4, page_bytes=2_000, links=4, misbehaviours=only or (EVERYTHING,))
        return replace(hostile, **changes)

    @classmethod
    def wide(cls, hosts: int = 200_000, **changes: Any) -> "WorldSpec":
        """Very many hosts of one small page each, all reachable from the first."""
        wide = cls(hosts=hosts, pages=hosts, exponent=0.0, page_bytes=1_000, links=2, cross_links=0.5)
        return replace(wide, **changes)

    def to_json(self) -> str:
        """Text from which `from_json` makes an equal spec."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "WorldSpec":
        """Read what `to_json` wrote; raises ValueError for anything else."""
        values = json.loads(text)
        if not isinstance(values, dict):
            raise ValueError("a world is a JSON object")
        if unknown := set(values) - {field.name for field in fields(cls)}:
            raise ValueError(f"a world knows nothing of {', '.join(sorted(unknown))}")
        changes: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in values.items()}
        return cls(**changes)


_SHARES = (
    "sitemaps", "redirects", "far_redirects", "copies", "leaves", "missing", "nofollow", "broken",
)  # fmt: skip


def _require(name: str, drawn: tuple[str, ...], known: tuple[str, ...] | list[str]) -> None:
    if not drawn or set(drawn) - set(known):
        raise ValueError(f"{name} must be drawn from {', '.join(known)}, not {drawn}")
