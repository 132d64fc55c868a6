"""The built-in rules of scope, each with an opinion about a candidate or none."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gossamer.model.candidate import Candidate
from gossamer.model.link import HOPS_KEPT, LinkKind, hop_count
from gossamer.model.outcome import Rule
from gossamer.model.reasons.codes import ProblemCode, ScopeCode
from gossamer.model.reasons.reason import Reason, WrongValueError, because, of
from gossamer.model.url import Url
from gossamer.policy.scope.patterns import Patterns
from gossamer.policy.scope.url_traps import TrapConfig, trap_reason
from gossamer.policy.speculation.form import PART_ENDINGS, SHOWN_ENDINGS, ending_of
from gossamer.policy.urls.canonical_rules import plainly_spelled
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.ports import ScopeRule

MOST_REMEMBERED = 16_384
"""Hosts whose standing is remembered; the memory is emptied when full."""


_EXTENSION = re.compile(r"\.[A-Za-z][^.]*$")
"""What ends the name of a file; `3.12` and `v1.0` are versions, and name directories."""


class NamedRule(NamedTuple):
    """A rule with what `why` says about it.

    Attributes:
        name: short, for lists.
        opinion: `True` admits, `False` rejects, `None` abstains.
        rule: given as the reason when it rejects.
        why: the reason for its opinion on a candidate.
    """

    name: str
    opinion: ScopeRule
    rule: Rule
    why: Callable[[Candidate, bool], Reason]


def host_name(url: Url) -> str:
    """The host as places compare it: without the final dot of a full name."""
    host = url.host
    return host.rstrip(".") if host[-1:] == "." else host


def directory(url: Url) -> str:
    """Host and path up to the last slash, e.g. `example.org/docs/`; the port and the scheme do not count."""
    path = url.target.partition("?")[0]
    return host_name(url) + path[: path.rfind("/") + 1]


def seed_directory(url: Url) -> str:
    """The directory that a seed stands for, without its last slash if that was not written.

    It is the one above, as in `directory`, unless that is the whole host: who asks for what is below
    `example.org/docs` does not mean all of `example.org`, though every page at the root has it above.
    """
    return written_directory(url) if url.path.count("/") == 1 else directory(url)


def written_directory(url: Url) -> str:
    """The directory that the operator wrote, where the last slash may be missing; not so with files."""
    named = url.path.rpartition("/")[2]
    return host_name(url) + url.path if named and not _EXTENSION.search(named) else directory(url)


class Places:
    """Where the crawl belongs: hosts, domains or directories, or everywhere.

    A place is written as a host (`example.org`) or as a directory on one (`example.org/docs/`; without
    the last slash the address `/docs` belongs, too), in any spelling: `/~ann/` is `/%7Eann/`. A bare host
    means all of it, and in mode `domain` its registrable domain. Files have no host, so a `file` seed
    stands for its directory in every mode but `any`.

    Args:
        mode: `host`, `domain`, `prefix` or `any`.
        places: to begin with.
    """

    __slots__ = ("_directories", "_domains", "_hosts", "_known", "mode")

    def __init__(self, mode: str, places: Iterable[str]) -> None:
        self.mode = mode
        self._hosts: set[str] = set()
        self._domains: set[str] = set()
        self._directories: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, bool] = {}
        for place in places:
            self.add(place)

    def of_seed(self, url: Url) -> str:
        """The place that a seed stands for."""
        return seed_directory(url) if self.mode == "prefix" or not url.host else host_name(url)

    def add(self, place: str) -> None:
        """Let one more place belong."""
        if self.mode == "any":
            return  # all do, so none need be held
        host, slash, path = place.partition("/")
        self._known.clear()
        if slash:
            below = plainly_spelled(Url("", "http", host, 80, slash + path)).target
            starts = (below,) if below.endswith("/") else (f"{below}/", f"{below}?")
            self._directories[host] = (*self._directories.get(host, ()), *starts)
        elif self.mode == "domain":
            self._domains.add(registrable_domain(host))
        else:
            self._hosts.add(host)

    def hold(self, url: Url) -> bool:
        """Whether the URL lies in one of them."""
        known = self._known.get(url.host)
        if known is not None:
            return known
        host = host_name(url)
        if host in self._directories and not self._holds_host(host):
            # With a question mark behind it an address is below the directory of its own name, too.
            return f"{plainly_spelled(url).target}?".startswith(self._directories[host])
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        known = self._known[url.host] = self._holds_host(host)
        return known

    def hold_host(self, url: Url) -> bool:
        """Whether the URL lies on the host of one of them, in whatever directory."""
        host = host_name(url)
        return bool(host) and (host in self._directories or self._holds_host(host))

    def _holds_host(self, host: str) -> bool:
        if self.mode == "any":
            return True
        return host in self._hosts or (bool(self._domains) and registrable_domain(host) in self._domains)


_PLACES = {  # why it belongs, and why it does not
    "host": (Reason(ScopeCode.ON_HOSTS), Reason(ScopeCode.OFF_HOSTS)),
    "domain": (Reason(ScopeCode.IN_DOMAINS), Reason(ScopeCode.OFF_DOMAINS)),
    "prefix": (Reason(ScopeCode.BELOW_FOLDERS), Reason(ScopeCode.OFF_FOLDERS)),
    "any": (Reason(ScopeCode.ANYWHERE), Reason(ScopeCode.ANYWHERE)),
}


def place_rule(places: Places) -> NamedRule:
    """Admits what lies in the crawl's places and rejects all else: the ground the other rules stand on."""
    inside, outside = _PLACES[places.mode]
    hold = places.hold
    return NamedRule(
        f"mode {places.mode}",
        lambda candidate: hold(candidate.url),
        Rule.SCOPE,
        lambda _, admits: inside if admits else outside,
    )


_LOADED = SHOWN_ENDINGS | PART_ENDINGS - {"json"}


def is_requisite(candidate: Candidate) -> bool:
    """Whether a browser would load it to show the page; a redirect of a requisite is one too.

    Of a string in a script only its ending tells.
    """
    if candidate.kind is LinkKind.REDIRECT:
        return candidate.hops.rstrip("R")[-1:] == "E"
    if candidate.kind is LinkKind.SPECULATIVE:
        return ending_of(candidate.url.path) in _LOADED
    return candidate.kind is LinkKind.REQUISITE


def requisite_rule(requisites: str, places: Places) -> NamedRule:
    """Widens the places for requisites: to the whole of the hosts (`host`) or to everywhere (`any`)."""

    def opinion(candidate: Candidate) -> bool | None:
        if not is_requisite(candidate):
            return None
        return True if requisites == "any" or places.hold_host(candidate.url) else None

    why = because(ScopeCode.REQUISITE, requisites)
    return NamedRule("requisites", opinion, Rule.SCOPE, lambda *_: why)


def demand_rule() -> NamedRule:
    """Widens the places for what somebody asks for by itself: to everywhere."""
    why = Reason(ScopeCode.DEMANDED)
    return NamedRule(
        "demands",
        lambda candidate: True if candidate.kind is LinkKind.DEMAND else None,
        Rule.SCOPE,
        lambda *_: why,
    )


def no_requisites_rule() -> NamedRule:
    """Rejects pictures, styles and other requisites."""
    why = Reason(ScopeCode.NO_REQUISITES)
    return NamedRule(
        "requisites",
        lambda candidate: False if is_requisite(candidate) else None,
        Rule.SCOPE,
        lambda *_: why,
    )


def include_rule(expressions: tuple[str, ...]) -> NamedRule:
    """Admits URLs in which one of the expressions occurs."""
    patterns = Patterns(expressions)
    return NamedRule(
        "include",
        lambda candidate: True if patterns.found_in(candidate.url.text) else None,
        Rule.SCOPE,
        lambda candidate, _: because(ScopeCode.INCLUDE, patterns.first_in(candidate.url.text)),
    )


def exclude_rule(expressions: tuple[str, ...]) -> NamedRule:
    """Rejects URLs in which one of the expressions occurs."""
    patterns = Patterns(expressions)
    return NamedRule(
        "exclude",
        lambda candidate: False if patterns.found_in(candidate.url.text) else None,
        Rule.SCOPE,
        lambda candidate, _: because(ScopeCode.EXCLUDE, patterns.first_in(candidate.url.text)),
    )


def blocked_host(text: str) -> str:
    """The host, or `*.` and the name above, that the operator wrote, as URLs have it.

    Raises:
        ValueError: it is none.
    """
    name = text.removeprefix("*.")
    url = None if "/" in name else Url.parse(f"http://{name}/")
    if url is None or (name != text and url.host[:1] == "["):
        raise WrongValueError(of("block", because(ProblemCode.BLOCK, text)))
    return text[: len(text) - len(name)] + host_name(url)


def block_rule(blocked: Iterable[str]) -> NamedRule:
    """Rejects what lies on some hosts."""
    names = frozenset(map(blocked_host, blocked))
    above = any(name.startswith("*.") for name in names)

    def blocks(url: Url) -> bool:
        host = host_name(url)
        if host in names:
            return True
        while above and host:
            host = host.partition(".")[2]
            if f"*.{host}" in names:
                return True
        return False

    return NamedRule(
        "block",
        lambda candidate: False if blocks(candidate.url) else None,
        Rule.SCOPE,
        lambda candidate, _: because(ScopeCode.BLOCKED, candidate.url.host),
    )


def length_rule(max_bytes: int) -> NamedRule:
    """Rejects long URLs; serialised URLs are ASCII, so characters are bytes."""
    return NamedRule(
        "max_url_length",
        lambda candidate: False if len(candidate.url.text) > max_bytes else None,
        Rule.TOO_LONG,
        lambda candidate, _: because(ScopeCode.URL_LENGTH, len(candidate.url.text), max_bytes),
    )


def scheme_rule(schemes: frozenset[str]) -> NamedRule:
    """Rejects schemes that are not listed."""
    listed = ", ".join(sorted(schemes))
    return NamedRule(
        "schemes",
        lambda candidate: None if candidate.url.scheme in schemes else False,
        Rule.SCOPE,
        lambda candidate, _: because(ScopeCode.SCHEME, candidate.url.scheme, listed),
    )


def local_rule() -> NamedRule:
    """Rejects what has no host, files of this machine, where something from elsewhere links to it."""
    why = Reason(ScopeCode.LOCAL)
    return NamedRule(
        "files of this machine",
        lambda candidate: (
            None if candidate.url.host or not candidate.via or candidate.via.startswith("file:///") else False
        ),
        Rule.SCOPE,
        lambda *_: why,
    )


def hops_rule(max_hops: int | None, max_redirects: int) -> NamedRule:
    """Rejects what lies too many hops from its seed, or at the end of too many redirects in a row."""
    max_redirects = min(max_redirects, HOPS_KEPT - 1)
    shorter = min(HOPS_KEPT if max_hops is None else max_hops, max_redirects)

    def too_many(hops: str) -> bool:
        return max_hops is not None and hop_count(hops) > max_hops

    def opinion(candidate: Candidate) -> bool | None:
        hops = candidate.hops
        if len(hops) <= shorter:
            return None
        return False if too_many(hops) or len(hops) - len(hops.rstrip("R")) > max_redirects else None

    def why(candidate: Candidate, _: bool) -> Reason:
        if max_hops is not None and too_many(candidate.hops):
            return because(ScopeCode.HOPS, hop_count(candidate.hops), max_hops)
        return because(ScopeCode.REDIRECTS, max_redirects)

    return NamedRule("hops", opinion, Rule.HOPS, why)


def depth_rule(max_depth: int) -> NamedRule:
    """Rejects what lies too deep; the requisites of a page that may be visited may be, too."""

    def opinion(candidate: Candidate) -> bool | None:
        if candidate.depth <= max_depth:
            return None
        if is_requisite(candidate):
            trail = candidate.hops[len(candidate.hops.rstrip("ER")) :]
            if candidate.depth - trail.count("E") <= max_depth:
                return None
        return False

    return NamedRule(
        "max_depth",
        opinion,
        Rule.DEPTH,
        lambda candidate, _: because(ScopeCode.DEPTH, candidate.depth, max_depth),
    )


def trap_rule(config: TrapConfig) -> NamedRule:
    """Rejects URLs that look like part of a trap."""
    return NamedRule(
        "traps",
        lambda candidate: None if trap_reason(candidate.url, config) is None else False,
        Rule.TRAP,
        lambda candidate, _: trap_reason(candidate.url, config) or Reason(Rule.TRAP),
    )


def robots_rule() -> NamedRule:
    """Admits robots files with the redirects to them: without them nothing may be visited."""
    why = Reason(ScopeCode.ROBOTS_FILE)
    return NamedRule(
        "robots files",
        lambda candidate: True if candidate.kind is LinkKind.ROBOTS or candidate.origin else None,
        Rule.SCOPE,
        lambda *_: why,
    )
