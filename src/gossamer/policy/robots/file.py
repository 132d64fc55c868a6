"""Reads robots files: RFC 9309, with the `Crawl-delay` and `Sitemap` lines that the web expects besides.

Deviations from the RFC, all on the side of the host: common misspellings of the field names and a
forgotten colon are understood, and characters that browsers write either way (`'`, `[`, `]`) equal
their percent-encoded spelling.
"""

import re
from functools import cached_property

import msgspec

from gossamer.policy.robots.match import RuleIndex, normal_pattern, normal_target

PRODUCT_TOKEN = "gossamer"  # noqa: S105 - no password
"""The name that robots files know us by."""
SIZE_LIMIT = 512_000
"""Bytes that are read of a robots file (RFC 9309, 2.5: at least 500 kibibytes)."""

MOST_SITEMAPS = 1_000
LONGEST_SITEMAP = 4_096

_BLANK = " \t\v\f\0"
# Google's parser, which wrote down what it met, has the same misspellings.
_LINE = re.compile(
    r"^[ \t\v\f\0]*(?:(?P<agent>user-?agent|user agent)|(?P<disallow>dis+all?ow|diasllow|disallaw)"
    r"|(?P<allow>allow)|(?P<delay>crawl-?delay)|(?P<sitemap>site-?map))"
    r"(?:[ \t]*:|[ \t]+(?=[^ \t\v\f\n#]+[ \t]*(?:#|$)))[^\n#]*",
    re.MULTILINE | re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Za-z0-9._\-]+")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")
_NOT_PRINTABLE = re.compile(r"[^!-~]")


class RobotsRules(msgspec.Struct, frozen=True, array_like=True, dict=True):
    """What one robots file says to us; the default allows everything.

    Goes to disk by `msgspec.msgpack` as it is; the index for matching is built when first asked.

    Attributes:
        rules: (allow, pattern) in the file's order, patterns in their normal spelling.
        crawl_delay: seconds, not yet capped (see `access.effective_crawl_delay`).
        sitemaps: as written; resolve them against the robots file's URL.
    """

    rules: tuple[tuple[bool, str], ...] = ()
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()

    @cached_property
    def _index(self) -> RuleIndex:
        return RuleIndex(self.rules)

    def allows(self, target: str) -> tuple[bool, str]:
        """May this path with query be visited, and which line says so.

        Args:
            target: as `Url.target`.

        Returns:
            The decision with the line, e.g. `(False, "Disallow: /x*")`; the line is empty if none matches.
        """
        if not self.rules or target == "/robots.txt":  # RFC 9309, 2.2.2: implicitly allowed
            return True, ""
        return self._index.decide(normal_target(target))


ALLOW_ALL = RobotsRules()


class _Group:
    """Lines that share their user agents.

    A delay is no rule line, so it does not end a group (RFC 9309, 2.2.1): what comes behind the next user
    agents is for those before it, too. The delay itself is only for the names that it stands below.
    """

    __slots__ = ("closing", "delays", "named", "ours", "rules", "star")

    def __init__(self) -> None:
        self.ours = False
        self.star = False
        self.closing = False  # a rule line came: the next user-agent line begins a new group
        self.rules: dict[tuple[bool, str], None] = {}
        self.named: list[str] = []  # by the last lines of user agents: "ours", "star"
        self.delays: dict[str, list[float]] = {"ours": [], "star": []}

    @property
    def wanted(self) -> bool:
        return self.ours or self.star


def parse_robots(body: bytes, product_token: str, max_size: int = SIZE_LIMIT) -> RobotsRules:
    """Read what a robots file says to `product_token`. Never raises, takes any bytes.

    Groups that name the token (whole, in any case; what follows it, like `/1.0`, is ignored) are
    merged; the groups for `*` count only if there is none. Of several delays the longest counts.
    """
    token = _product(product_token)
    text = _text(body, max_size)
    groups = [_Group()]  # rules before any user agent close it, and are nobody's
    sitemaps: dict[str, None] = {}
    before = ""
    for line in _LINE.finditer(text):
        field = line.lastgroup or ""
        value = text[line.end(field) : line.end()].strip(_BLANK).removeprefix(":").strip(_BLANK)
        group = groups[-1]
        if field == "agent":
            if group.closing:
                if not group.wanted:
                    groups.pop()
                group = _Group()
                groups.append(group)
            if before != "agent":
                group.named = []
            _name(group, value, token)
        elif field == "sitemap":
            if value and len(value) <= LONGEST_SITEMAP and len(sitemaps) < MOST_SITEMAPS:
                sitemaps[_NOT_PRINTABLE.sub(lambda odd: f"%{ord(odd[0]):02X}", value)] = None
        elif field == "delay":
            if (delay := _delay(value)) is not None:
                for name in group.named:
                    group.delays[name].append(delay)
        else:
            group.closing = True
            if group.wanted and value[:1] in ("/", "*"):
                group.rules[field == "allow", normal_pattern(value)] = None
        if field != "sitemap":
            before = field
    return _merge(groups, tuple(sitemaps))


def _text(body: bytes, max_size: int) -> str:
    """The part of the body that counts, one octet a character, lines ended by LF."""
    if len(body) >= max_size:
        # The fetcher may have cut it at that size already, so the last line may not be whole.
        body = body[:max_size]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        body = body.decode("utf-16", "replace").encode("utf-8", "replace")
    return body.removeprefix(b"\xef\xbb\xbf").decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")


def _product(value: str) -> str:
    token = _TOKEN.match(value)
    return token[0].lower() if token else ""


def _name(group: _Group, value: str, token: str) -> None:
    if value[:1] == "*" and (len(value) == 1 or value[1] in _BLANK):
        group.star = True
        group.named.append("star")
    elif token and _product(value[: len(token) + 1]) == token:
        group.ours = True
        group.named.append("ours")


def _delay(value: str) -> float | None:
    number = value.split(None, 1)[0] if value else ""
    return float(number) if _NUMBER.fullmatch(number) else None


def _merge(groups: list[_Group], sitemaps: tuple[str, ...]) -> RobotsRules:
    name = "ours" if any(group.ours for group in groups) else "star"
    rules: dict[tuple[bool, str], None] = {}
    delays: list[float] = []
    for group in groups:
        if group.ours if name == "ours" else group.star:
            rules.update(group.rules)
            delays += group.delays[name]
    return RobotsRules(tuple(rules), max(delays, default=None), sitemaps)
