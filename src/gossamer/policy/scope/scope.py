"""Judges which candidates belong to the crawl, by ordered rules of which the last opinion counts."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Rule
from gossamer.model.quantity import Bytes, Count
from gossamer.model.raised import Raised, name_of
from gossamer.model.reasons.codes import ProblemCode, ScopeCode
from gossamer.model.reasons.reason import Reason, WrongValueError, because, of
from gossamer.model.url import Url
from gossamer.policy.places.index import PlaceIndex
from gossamer.policy.places.known import BY_URL
from gossamer.policy.places.local import Derived, Local
from gossamer.policy.places.place import Asked
from gossamer.policy.scope.patterns import pattern_problem
from gossamer.policy.scope.rules import (
    NamedRule,
    Places,
    block_rule,
    blocked_host,
    demand_rule,
    depth_rule,
    exclude_rule,
    hops_rule,
    host_name,
    include_rule,
    length_rule,
    local_rule,
    no_requisites_rule,
    place_rule,
    requisite_rule,
    robots_rule,
    scheme_rule,
    trap_rule,
    written_directory,
)
from gossamer.policy.scope.sessions import KeptSession, session_rule
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.ports import ScopeRule

Mode = Literal["host", "domain", "prefix", "any"]


class ScopeConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What belongs to the crawl."""

    mode: Annotated[
        Mode,
        Meta(
            description="host: the seeds' hosts; domain: all hosts of their registrable domains; prefix:"
            " below their directories, and below /docs if that is the seed; any: the whole web."
        ),
    ] = "host"
    hosts: Annotated[
        tuple[str, ...],
        Meta(description="Further hosts (or directories on them: example.org/docs/) in scope."),
    ] = ()
    include: Annotated[
        tuple[str, ...],
        Meta(
            description="Regular expressions (RE2); a URL in which one occurs is in scope wherever it lies."
        ),
        BY_URL,
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Meta(
            description="Regular expressions (RE2); a URL in which one occurs is not in scope. Beats include."
        ),
        BY_URL,
    ] = ()
    block: Annotated[
        tuple[str, ...],
        Meta(
            description="Hosts that are never visited, whatever else says, not even for their robots files;"
            " *.example.org: all below it."
        ),
    ] = ()
    max_depth: Annotated[
        Count | None,
        Meta(description="Links followed from a seed at most; 0: the seeds alone; unset: no limit."),
        BY_URL,
    ] = None
    max_hops: Annotated[
        Count | None,
        Meta(
            description="Hops (links, redirects, sitemaps) from a seed at most; unset: no limit. A limit cuts"
            ' chains of "next" and "older" pages.'
        ),
        BY_URL,
    ] = None
    max_redirects: Annotated[
        Count, Meta(description="Redirects in a row at most; browsers stop at 20."), BY_URL
    ] = 20
    max_url_length: Annotated[
        Bytes,
        Meta(description="Longer URLs are left out; hardly a server takes more than 8,000 bytes."),
        BY_URL,
    ] = 4_096
    requisites: Annotated[
        Literal["off", "host", "any"],
        Meta(
            description="Images, scripts, style sheets of pages: off: not fetched; host: from hosts in scope;"
            " any: from wherever they lie."
        ),
        BY_URL,
    ] = "off"
    demands: Annotated[
        Literal["scope", "any"],
        Meta(
            description="Single URLs that somebody asks for (gossamer proxy, the API): scope: fetched if they belong"
            " to the crawl; any: from wherever they lie. Their links belong no more for it."
        ),
        BY_URL,
    ] = "scope"
    path_ascending: Annotated[
        bool,
        Meta(description="Also try the folders above each page, up to the root: finds what nobody links to."),
    ] = False
    schemes: Annotated[
        tuple[Literal["http", "https", "ftp", "ftps", "sftp", "file"], ...],
        Meta(
            description="Schemes that links may have; those of the seeds belong in any case.",
            min_length=1,
        ),
    ] = ("http", "https")

    def __post_init__(self) -> None:
        problems: list[Reason] = []
        for read, hosts in ((_place_of_setting, self.hosts), (blocked_host, self.block)):
            for host in hosts:
                try:
                    read(host)
                except WrongValueError as error:
                    problems += error.reasons
        for name, patterns in (("include", self.include), ("exclude", self.exclude)):
            problems += (
                of(name, because(ProblemCode.EXPRESSION, pattern, problem))
                for pattern in patterns
                if (problem := pattern_problem(pattern)) is not None
            )
        if problems:
            raise WrongValueError(*problems)


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """Whether a candidate belongs, and why.

    Attributes:
        admitted: it does.
        rule: what to report if not.
        why: what the deciding rule says.
        raised: what the deciding rule raised, if it did.
    """

    admitted: bool
    rule: Rule
    why: Reason
    raised: Raised | None = None

    @property
    def reason(self) -> Reason:
        """What is written down of one that does not belong."""
        return because(self.rule, self.why)


class Ordered(NamedTuple):
    """The rules of some place.

    Attributes:
        rules: from first to last.
        backwards: with the opinion of each, as they are asked.
    """

    rules: tuple[NamedRule, ...]
    backwards: tuple[tuple[ScopeRule, NamedRule], ...]


ScopePlaces = tuple[Local["ScopeConfig"], Local[TrapConfig]]
"""Both sections as they stand at each place."""


class Opinion(msgspec.Struct, frozen=True):
    """What one rule thinks of a candidate.

    Attributes:
        name: of the rule.
        admits: its opinion; `None` if it has none.
        why: what it says; `None` without an opinion.
    """

    name: str
    admits: bool | None
    why: Reason | None


class Scope:
    """The rules of one crawl.

    From first to last: where the crawl belongs, requisites, `include`, `exclude`, the operator's
    own rules, the limits. So an own rule can overrule the patterns, and nothing can lift a limit
    but its own setting. A rule that raises says no.

    Args:
        config: of the crawl.
        seeds: whose places belong.
        hosts: places that joined earlier, as `hosts` gave them.
        rules: the operator's own.
        traps: limits on the looks of URLs.
        places: both as they stand at each place, where they differ.
        sessions: that it must not end.
        known_as: gives the URL by which one is judged, where a site has several addresses.
    """

    def __init__(  # noqa: PLR0913 - all that a scope is made of
        self,
        config: ScopeConfig,
        seeds: Iterable[Url],
        hosts: Iterable[str] = (),
        rules: Sequence[ScopeRule] = (),
        traps: TrapConfig = TrapConfig(),  # noqa: B008 - frozen
        places: ScopePlaces | None = None,
        sessions: Sequence[KeptSession] = (),
        known_as: Callable[[Url], Url] | None = None,
    ) -> None:
        self._known_as = known_as
        self._places = Places(config.mode, map(_place_of_setting, config.hosts))
        self._joined: dict[str, None] = {}  # in the order in which they did
        for place in hosts:
            self.add_host(place)
        schemes = set[str](config.schemes)
        for url in seeds if known_as is None else map(known_as, seeds):
            self._places.add(self._places.of_seed(url))
            schemes.add(url.scheme)
        self._config = config
        self._schemes: frozenset[str] = frozenset(schemes)
        self._own = [_own_rule(rule) for rule in rules]
        self._traps = traps
        self._sessions = [session_rule(sessions)] if sessions else []
        self._local = places if places is not None and any(local.differs for local in places) else None
        self._arrange()

    def _rules_before(self, config: ScopeConfig) -> list[NamedRule]:
        rules = [place_rule(self._places)]
        if config.requisites != "off":
            rules.append(requisite_rule(config.requisites, self._places))
        if config.demands == "any":
            rules.append(demand_rule())
        if config.include:
            rules.append(include_rule(config.include))
        if config.exclude:
            rules.append(exclude_rule(config.exclude))
        return rules

    def _rules_after(self, config: ScopeConfig, traps: TrapConfig) -> list[NamedRule]:
        rules = [trap_rule(traps), hops_rule(config.max_hops, config.max_redirects)]
        if config.requisites == "off":
            rules.append(no_requisites_rule())
        if config.max_depth is not None:
            rules.append(depth_rule(config.max_depth))
        rules += [robots_rule(), scheme_rule(self._schemes), length_rule(config.max_url_length)]
        rules += self._sessions
        if "file" in self._schemes:
            rules.append(local_rule())
        return [*rules, block_rule(config.block)] if config.block else rules

    def _arrange(self) -> None:
        self._everywhere = self._ordered(self._config, self._traps)
        self._elsewhere = None
        if self._local is not None:
            places = {place.text: place for local in self._local for place in local.places}
            self._elsewhere = Derived(PlaceIndex(places.values()), self._made)

    def _made(self, asked: Asked) -> Ordered:
        assert self._local is not None
        scope, traps = self._local
        return self._ordered(scope.at(asked), traps.at(asked))

    def _ordered(self, config: ScopeConfig, traps: TrapConfig) -> Ordered:
        rules = (*self._rules_before(config), *self._own, *self._rules_after(config, traps))
        return Ordered(rules, tuple((rule.opinion, rule) for rule in reversed(rules)))

    def _for(self, url: Url) -> Ordered:
        """The rules as they stand where a URL lies."""
        return self._everywhere if self._elsewhere is None else self._elsewhere.at(Asked(url.host, url))

    @property
    def path_ascending(self) -> bool:
        """Whether the folders above each page are tried."""
        return self._config.path_ascending

    @property
    def hosts(self) -> tuple[str, ...]:
        """The places that joined the configured ones, for keeping: hosts, or directories on them."""
        return tuple(self._joined)

    def joined(self, host: str) -> bool:
        """Whether it is among `hosts`."""
        return host in self._joined

    def add_host(self, host: str) -> None:
        """Let a host (or, in mode `prefix`, a directory on it: `example.org/docs/`) join the scope."""
        self._joined[host] = None
        self._places.add(host)

    def add_seed(self, url: Url) -> bool:
        """Let the place of one more seed belong; whether that widens the scope."""
        url = url if self._known_as is None else self._known_as(url)
        if url.scheme not in self._schemes:
            self._schemes |= {url.scheme}
            self._arrange()
        if self._places.hold(url):
            return False
        self._places.add(self._places.of_seed(url))
        return True

    def append(self, rule: ScopeRule) -> None:
        """Add a rule of the operator's after those there are."""
        self._own.append(_own_rule(rule))
        self._arrange()

    def judge(self, candidate: Candidate) -> Verdict:
        """Whether the candidate belongs: the last rule with an opinion decides, none means no."""
        if self._known_as is not None:
            candidate = self._renamed(candidate, self._known_as)
        for opinion, rule in self._for(candidate.url).backwards:
            try:
                admits = opinion(candidate)
            except Exception as error:  # noqa: BLE001 - plug-in border: a guard that raises says no
                raised = Raised.by(f"scope rule {rule.name}", error)
                return Verdict(False, Rule.PLUGIN, _raised(rule, error), raised)
            if admits is not None:
                return Verdict(bool(admits), rule.rule, rule.why(candidate, bool(admits)))
        return Verdict(False, Rule.SCOPE, Reason(ScopeCode.NO_RULE))

    def explain(self, candidate: Candidate) -> list[Opinion]:
        """Every rule in order with its opinion; the last one that has any decides."""
        if self._known_as is not None:
            candidate = self._renamed(candidate, self._known_as)
        return [_opinion(rule, candidate) for rule in self._for(candidate.url).rules]

    def _renamed(self, candidate: Candidate, known_as: Callable[[Url], Url]) -> Candidate:
        url = known_as(candidate.url)
        if candidate.kind is LinkKind.ROBOTS or url is candidate.url:
            return candidate
        return msgspec.structs.replace(candidate, url=url)

    def widen_for_seed_redirect(self, candidate: Candidate) -> str | None:
        """The place to `add_host`, if the candidate is where a seed redirects to and not in scope yet.

        That is: it has come by redirects alone. Changes nothing by itself.
        """
        if candidate.kind is not LinkKind.REDIRECT or candidate.depth or candidate.origin:
            return None
        if self._known_as is not None:
            candidate = self._renamed(candidate, self._known_as)
        if not candidate.hops or candidate.hops.strip("R") or candidate.url.scheme not in self._schemes:
            return None
        if self._places.hold(candidate.url):
            return None
        return self._places.of_seed(candidate.url)


def _place_of_setting(text: str) -> str:
    """The place that the operator wrote; names may be in any case or script."""
    url = None if "://" in text or text[:1] == "/" else Url.parse(f"http://{text}")
    if url is None:
        raise WrongValueError(of("hosts", because(ProblemCode.PLACE, text)))
    return written_directory(url) if "/" in text else host_name(url)


def _own_rule(rule: ScopeRule) -> NamedRule:
    name = name_of(rule)
    admitted, rejected = because(ScopeCode.OWN_RULE, name), because(ScopeCode.OWN_REFUSAL, name)
    return NamedRule(name, rule, Rule.SCOPE, lambda _, admits: admitted if admits else rejected)


def _raised(rule: NamedRule, error: Exception) -> Reason:
    return because(ScopeCode.RAISED, rule.name, f"{type(error).__name__}: {error}")


def _opinion(rule: NamedRule, candidate: Candidate) -> Opinion:
    try:
        admits = rule.opinion(candidate)
    except Exception as error:  # noqa: BLE001 - plug-in border, as in `judge`
        return Opinion(rule.name, False, _raised(rule, error))
    return Opinion(rule.name, admits, None if admits is None else rule.why(candidate, bool(admits)))
