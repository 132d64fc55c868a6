"""The one door in: seeds, links, redirects, robots files and sitemap entries all enter here."""

from collections.abc import Iterable

from gossamer.engine.identity import Identity
from gossamer.engine.observe import Observers
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.events import Rejected
from gossamer.model.link import HOP_LETTERS, Link, LinkKind
from gossamer.model.outcome import Rule
from gossamer.model.url import Url
from gossamer.policy.ascending import ascending
from gossamer.policy.scope import Scope
from gossamer.state.environment import Family
from gossamer.state.records import Counters, PageRecord, encode

KNOWN = 30_000
SCOPE_HOSTS = b"scope-hosts"
"""Key in `meta`: places that joined the scope on the way."""


class Recent:
    """A bounded memory of keys met lately, in two generations; forgetting costs time, never a page."""

    def __init__(self, entries: int) -> None:
        self._limit = entries // 2
        self._young: set[str] = set()
        self._old: set[str] = set()

    def unmet(self, links: Iterable[Link]) -> list[Link]:
        """The links whose URLs were not met lately as navigation; most links of a page end here, at once."""
        young = self._young
        return [link for link in links if link.url.text not in young]

    def met(self, key: str) -> bool:
        """Whether `key` was met lately; it has been, from now on."""
        if key in self._young:
            return True
        if len(self._young) >= self._limit:
            self._old, self._young = self._young, set()
        self._young.add(key)
        return key in self._old

    def forget(self, key: str) -> None:
        """`key` was turned away for the way it was found; another way may do."""
        self._young.discard(key)
        self._old.discard(key)


def _way(kind: LinkKind, url: Url) -> str:
    """Key in `Recent` of a URL met in one way; for navigation, by far the most frequent, the URL itself."""
    return url.text if kind is LinkKind.NAVIGATION else f"{kind} {url.text}"


class Admission:
    """Judges candidates: canonical form, scope, seen; queues those that pass.

    Everything it changes goes into the frontier's open batch.
    """

    def __init__(
        self,
        frontier: Frontier,
        identity: Identity,
        scope: Scope,
        counters: Counters,
        observers: Observers,
        *,
        record_rejected: bool,
    ) -> None:
        self._frontier = frontier
        self._identity = identity
        self._scope = scope
        self._counters = counters
        self._observers = observers
        self._record_rejected = record_rejected
        self._recent = Recent(KNOWN)

    def admit(self, candidate: Candidate) -> bool:
        """Queue `candidate` if it is new and in scope."""
        if candidate.kind is LinkKind.ROBOTS:
            self._frontier.admit_robots(candidate)
            return True
        verdict = self._scope.judge(candidate)
        if verdict.admitted:
            admitted = self._frontier.admit(candidate, self._identity.fingerprint(candidate.url))
            if admitted and self._scope.path_ascending:
                self._ascend(candidate)
            return admitted
        if verdict.rule in (Rule.DEPTH, Rule.HOPS):
            self._recent.forget(_way(candidate.kind, candidate.url))
        self.reject(candidate, f"{verdict.rule}: {verdict.detail}")
        return False

    def _ascend(self, page: Candidate) -> None:
        """Admit the folders above a page, those that were not met lately."""
        for folder in ascending(page):
            if not self._recent.met(_way(folder.kind, folder.url)):
                self.admit(folder)

    def links(self, finder: Candidate, links: Iterable[Link], *, honour_nofollow: bool) -> int:
        """Admit the links of a page, each at its depth; how many were new."""
        admitted = 0
        via = finder.url.text
        met = self._recent.met
        # The same navigation stands on every page of a site. A URL met as navigation is judged as that;
        # one met in another way has a key of its own.
        for link in self._recent.unmet(links):
            if met(_way(link.kind, link.url)):
                continue
            depth = finder.depth + (link.kind is not LinkKind.SITEMAP)
            candidate = Candidate(link.url, link.kind, depth, finder.hops + HOP_LETTERS[link.kind], via)
            if link.nofollow and honour_nofollow:
                self._recent.forget(_way(link.kind, link.url))
                self.reject(candidate, f"{Rule.DIRECTIVE}: rel=nofollow")
                continue
            admitted += self.admit(candidate)
        return admitted

    def redirect(self, finder: Candidate, target: Url) -> bool:
        """Admit where a visit was sent to, as a link that adds a hop but no depth.

        A redirect to its own canonical form would be lost as "seen"; it is fetched once by force.
        """
        forced = not finder.forced and self._identity.same(target, finder.url)
        kind = LinkKind.ROBOTS if finder.kind is LinkKind.ROBOTS else LinkKind.REDIRECT
        candidate = Candidate(
            target,
            kind,
            finder.depth,
            finder.hops + "R",
            finder.url.text,
            forced=forced,
            origin=finder.origin,
        )
        place = self._scope.widen_for_seed_redirect(candidate)
        if place is not None:
            self._scope.add_host(place)
            with self._frontier.changes() as batch:
                batch.put(Family.META, SCOPE_HOSTS, encode(self._scope.hosts))
        return self.admit(candidate)

    def reject(self, candidate: Candidate, reason: str) -> None:
        """Turn a candidate away, and remember why unless it was admitted on another way."""
        self._counters.rejected += 1
        if self._record_rejected:
            fingerprint = self._identity.fingerprint(candidate.url)
            if fingerprint not in self._frontier.seen:
                record = PageRecord(
                    url=candidate.url.text,
                    state="rejected",
                    reason=reason,
                    kind=candidate.kind,
                    depth=candidate.depth,
                    hops=candidate.hops,
                    via=candidate.via,
                )
                with self._frontier.changes() as batch:
                    batch.put(Family.PAGES, fingerprint, encode(record))
        self._observers.tell(Rejected(candidate, reason))
