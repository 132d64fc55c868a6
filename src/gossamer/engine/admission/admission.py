"""The one door in: seeds, links, redirects, robots files and sitemap entries all enter here."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from gossamer.engine.admission.identity import Identity
from gossamer.engine.admission.link_cache import LinkCache, ScopeCache, way
from gossamer.engine.admission.other_agents import OtherAgents
from gossamer.engine.admission.speculation import Speculation
from gossamer.engine.observe import Observers
from gossamer.extract.questions import repeats
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import PageState
from gossamer.model.events import Rejected
from gossamer.model.link import HOP_LETTERS, Link, LinkKind, further
from gossamer.model.outcome import Rule
from gossamer.model.raised import Raised
from gossamer.model.reasons.codes import ScopeCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import Url
from gossamer.policy.scope.ascending import ascending
from gossamer.policy.scope.scope import Scope
from gossamer.policy.speculation.form import is_form, is_question, word_of
from gossamer.policy.urls.mirrors import Mirrors
from gossamer.state.environment import Batch, Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import SCOPE_HOSTS, Counters, PageRecord, decode, encode

NEWCOMERS = b"newcomers"
"""Key in `meta`: hosts of those, hashed, of which what was turned away is still to be let in."""


NOFOLLOW = because(Rule.DIRECTIVE, Reason(ScopeCode.NOFOLLOW))

Target = tuple[Candidate, bytes, Link]
"""A link in scope with the fingerprint of its URL."""


def _as_it_is(candidate: Candidate) -> Candidate:
    return candidate


class Led(NamedTuple):
    """Where a visit has led.

    Attributes:
        admitted: URLs that were new.
        on: whether to anything but more of what a form answers to the same word; `None` if that is seen at the address
            that it was sent to.
    """

    admitted: int
    on: bool | None


class Admission:
    """Judges candidates: canonical form, scope, seen; queues those that pass.

    Everything it changes goes into the frontier's open batch.
    """

    def __init__(  # noqa: PLR0913 - the one door in, made in one place only
        self,
        frontier: Frontier,
        identity: Identity,
        scope: Scope,
        counters: Counters,
        observers: Observers,
        *,
        record_rejected: bool,
        raised: Callable[[Raised], None] = lambda _: None,
        plain: Callable[[Candidate], Candidate] | None = None,
        other_agents: OtherAgents | None = None,
        speculation: Speculation | None = None,
        mirrors: Mirrors | None = None,
    ) -> None:
        """What the door goes by.

        Args:
            frontier: queues what passes.
            identity: tells when two URLs are the same.
            scope: by which candidates are judged, until `change_scope`.
            counters: count what is turned away.
            observers: hear of it.
            record_rejected: what is turned away is remembered too.
            raised: hears of scope rules that raise.
            plain: leaves out of a link's URL what does not matter.
            other_agents: those of the cluster, if there is one.
            speculation: says which speculative links are worth queueing; without it none is.
            mirrors: sites whose URLs are shared out among several addresses.
        """
        self._frontier = frontier
        self._identity = identity
        self._scope = scope
        self._counters = counters
        self._observers = observers
        self._record_rejected = record_rejected
        self._recent = LinkCache(frontier.recent_links)
        self._judged = ScopeCache()
        newcomers = frontier.environment.get(Family.META, NEWCOMERS)
        self.newcomers: list[bytes] = decode(newcomers, list[bytes]) if newcomers else []
        """As `NEWCOMERS`; settlement lets them in, after the commit with which they join."""
        self._plain = plain or _as_it_is
        self._raised = raised
        self._speculation = speculation
        self._mirrors = mirrors
        self.other_agents = other_agents
        """The other agents, in a cluster."""

    def admit(self, candidate: Candidate, gift: Any = None) -> bool:
        """Queue `candidate` if it is new and in scope."""
        if candidate.kind is LinkKind.ROBOTS:
            if self._ours(candidate, None, None) is not None:
                self._frontier.admit_robots(candidate)
            return True
        if self._mirrors is not None:
            candidate = self._shared_out(candidate, self._mirrors)
        if candidate.kind is LinkKind.SPECULATIVE:
            return self._speculate(candidate)
        fingerprint = self._identity.fingerprint(candidate.url)
        # What was admitted once is nearly always mentioned again, and looking is cheaper than judging. A gift
        # must reach it all the same.
        unseen = None
        if gift is None and not candidate.forced:
            if fingerprint in self._frontier.seen:
                return False
            unseen = fingerprint
        return self._in_scope(candidate, unseen) and self._enter(candidate, fingerprint, gift)

    def _shared_out(self, candidate: Candidate, mirrors: Mirrors) -> Candidate:
        """The candidate at that address of its site where its URL is asked for; a forced one is wanted as it is.

        A search form is asked at the address that is named first: what stands in its other fields is no name of a page.
        """
        if candidate.kind is LinkKind.MIRROR or candidate.forced:
            return candidate
        named = mirrors.first_named if is_form(candidate.element) else mirrors.address
        url = named(candidate.url)
        return candidate if url is candidate.url else msgspec.structs.replace(candidate, url=url)

    def ask_elsewhere(self, candidate: Candidate, url: Url) -> None:
        """Queue what an address of its site did not give, at another one; it was judged already."""
        elsewhere = Candidate(url, LinkKind.MIRROR, candidate.depth, candidate.hops, candidate.url.text)
        self._enter(elsewhere, self._identity.fingerprint(url), None)

    def _speculate(self, candidate: Candidate) -> bool:
        """Queue what may be the address of something, if nothing is known of it and it is worth it."""
        fingerprint, speculation = self._identity.fingerprint(candidate.url), self._speculation
        if speculation is None:
            return False
        form = is_form(candidate.element)
        if not form and fingerprint in self._frontier.seen:
            speculation.was_known(candidate, fingerprint)
            return False
        if not self._in_scope(candidate, None if form else fingerprint):
            return False
        ours = self._ours(candidate, fingerprint, None)
        if ours is None:
            return False
        if form:
            with self._frontier.changes():
                return sum(self._speculate(self._plain(answer)) for answer in speculation.asked(ours)) > 0
        doubt = speculation.doubt(ours)
        if doubt is not None:
            self.reject(ours, because(Rule.SPECULATIVE, doubt), fingerprint)
            return False
        return speculation.enter(ours)

    def demand(self, url: Url) -> Reason | None:
        """Have a URL visited before all else of its host, whatever is known of it, because somebody asks for it; why it
        will not be. In batches of its own, so not within one.

        It is turned away without a trace: nothing on the web mentions it. Of a site with mirrors it is the URL at
        the one that had it, or is to be asked first.
        """
        candidate = Candidate(url, LinkKind.DEMAND, hops=HOP_LETTERS[LinkKind.DEMAND])
        verdict = self._scope.judge(candidate)
        if not verdict.admitted:
            if verdict.raised is not None:
                self._raised(verdict.raised)
            return verdict.reason
        fingerprint = self._identity.fingerprint(url)
        if self._frontier.knows(fingerprint):
            self._frontier.hasten(url, fingerprint)
        else:
            self._frontier.admit_first(candidate, fingerprint)
        return None

    def change_scope(self, scope: Scope) -> None:
        """Judge by another scope from now on; what was met under the old one is met anew."""
        self._scope = scope
        self._recent = LinkCache(self._frontier.recent_links)
        self._judged = ScopeCache()

    @property
    def scope(self) -> Scope:
        """The scope by which candidates are judged now."""
        return self._scope

    def add_seed(self, url: Url) -> bool:
        """Let the place of a new seed belong to the scope; whether that widens it."""
        if not self._scope.add_seed(url):
            return False
        self.change_scope(self._scope)
        return True

    def add_places(self, places: Iterable[str]) -> None:
        """Let places that joined the scope of another agent join ours, within the open batch."""
        new = [place for place in places if not self._scope.joined(place)]
        if not new:
            return
        with self._frontier.changes():
            for place in new:
                self._join(place)
        self.change_scope(self._scope)

    def _join(self, place: str) -> None:
        self._scope.add_host(place)
        url = Url.parse(f"http://{place.partition('/')[0]}/")
        if url is not None:
            self.newcomers.append(self._identity.fingerprint(url)[:HASH_BYTES])
        with self._frontier.changes() as batch:
            batch.put(Family.META, SCOPE_HOSTS, encode(self._scope.hosts))
            batch.put(Family.META, NEWCOMERS, encode(self.newcomers))

    def let_in(self, host: bytes, batch: Batch) -> None:
        """What was turned away of a newcomer is back, with what is in `batch`."""
        self.newcomers.remove(host)
        batch.put(Family.META, NEWCOMERS, encode(self.newcomers))

    def is_in_scope(self, candidate: Candidate) -> bool:
        """Whether a candidate belongs to the crawl; nobody is told."""
        return self._scope.judge(candidate).admitted

    def reconsider(self, candidate: Candidate) -> bool:
        """Queue a candidate that was turned away once, if it is new and in scope now."""
        if not self.is_in_scope(candidate):
            return False
        if candidate.kind is LinkKind.SPECULATIVE:
            return self._speculate(candidate)
        fingerprint = self._identity.fingerprint(candidate.url)
        return fingerprint not in self._frontier.seen and self._enter(candidate, fingerprint, None)

    def receive(self, candidate: Candidate, gift: Any) -> bool:
        """Queue what another agent has found, and judged already, if it is new."""
        if candidate.kind is LinkKind.ROBOTS or candidate.kind is LinkKind.SPECULATIVE:
            return self.admit(candidate)
        return self._enter(candidate, self._identity.fingerprint(candidate.url), gift)

    def _in_scope(self, candidate: Candidate, unseen: bytes | None = None) -> bool:
        """Whether a candidate belongs to the crawl; one that does not is turned away (`reject`)."""
        verdict = self._scope.judge(candidate)
        if verdict.admitted:
            return True
        if verdict.raised is not None:
            self._raised(verdict.raised)
        if verdict.rule in (Rule.DEPTH, Rule.HOPS):
            self._recent.forget(way(candidate.kind, candidate.url))
        self.reject(candidate, verdict.reason, unseen)
        return False

    def _enter(self, candidate: Candidate, fingerprint: bytes, gift: Any) -> bool:
        ours = self._ours(candidate, fingerprint, gift)
        if ours is None or not self._frontier.admit(ours, fingerprint, gift):
            return False
        if self._scope.path_ascending:
            self._ascend(ours)
        return True

    def _ours(self, candidate: Candidate, fingerprint: bytes | None, gift: Any) -> Candidate | None:
        """The candidate as it waits here; `None` if another agent has taken it.

        Where it is seen under another host than it waits under, two agents may own them, and it is asked for by its
        canonical form. Robots files have no fingerprint, for they are never seen.
        """
        if self.other_agents is None:
            return candidate
        host, _ = self._frontier.host_key(candidate.url)
        key = fingerprint or host
        if key[:HASH_BYTES] != host:
            url = Url.from_serialised(self._identity.canonical(candidate.url))
            candidate = candidate if url is None else msgspec.structs.replace(candidate, url=url)
        return None if self.other_agents.takes(key, candidate, gift) else candidate

    def _ascend(self, page: Candidate) -> None:
        """Admit the folders above a page, those that were not met lately."""
        for folder in ascending(page):
            if not self._recent.met(way(folder.kind, folder.url)):
                self.admit(folder)

    def links(
        self,
        finder: Candidate,
        links: Sequence[Link],
        *,
        honour_nofollow: bool,
        later: int = 0,
        gift_to: Callable[[Link], Any] | None = None,
    ) -> Led:
        """Admit links of a page, each at its depth.

        `later` links of it are to come. `gift_to` tells what each brings, if the ordering tells them apart.
        """
        on = not is_question(finder.element) or self._leads_on(finder, links)
        speculative: Sequence[Link] = ()
        if self._speculation is not None:
            speculative = [link for link in links if link.kind is LinkKind.SPECULATIVE]
            links = [link for link in links if link.kind is not LinkKind.SPECULATIVE]
        if self._frontier.standings is not None:
            admitted = self._links_with_gifts(
                finder, self._targets(finder, links, honour_nofollow), later, gift_to
            )
        else:
            admitted = self._links(finder, links, honour_nofollow)
        # After the links, which say what is known of the same URLs.
        for link in speculative:
            if not self._recent.met(way(link.kind, link.url)):
                admitted += self.admit(self._plain(_linked(finder, link, link.element)))
        if self._frontier.counts_linkers:
            follow = {link.url.host for link in links if not (link.nofollow and honour_nofollow)}
            self._frontier.linked(follow, finder.url.host)
        return Led(admitted, on)

    def _leads_on(self, finder: Candidate, links: Iterable[Link]) -> bool:
        """Whether a page that answers a word links to anything new but to more of the same answer."""
        word = word_of(finder.element)
        return any(
            link.kind is LinkKind.NAVIGATION
            and not repeats(link.url, finder.url, word)
            and self._identity.fingerprint(link.url) not in self._frontier.seen
            and self.is_in_scope(_linked(finder, link))
            for link in links
        )

    def _links(self, finder: Candidate, links: Sequence[Link], honour_nofollow: bool) -> int:
        admitted = 0
        met = self._recent.met
        # The same navigation stands on every page of a site. A URL met as navigation is judged as that;
        # one met in another way has a key of its own.
        for link in self._recent.unmet(links):
            if met(way(link.kind, link.url)):
                continue
            candidate = self._plain(_linked(finder, link))
            if link.nofollow and honour_nofollow:
                self._recent.forget(way(link.kind, link.url))
                self.reject(candidate, NOFOLLOW)
                continue
            admitted += self.admit(candidate)
        return admitted

    def _targets(self, finder: Candidate, links: Sequence[Link], honour_nofollow: bool) -> list[Target]:
        """The links in scope, also those met lately: to some orderings they are worth hearing of."""
        targets = []
        for link in links:
            candidate = self._plain(_linked(finder, link))
            if self._mirrors is not None:
                candidate = self._shared_out(candidate, self._mirrors)
            key = way(link.kind, link.url)
            fingerprint = self._judged.get(key)
            if link.nofollow and honour_nofollow:
                if fingerprint is None:
                    self.reject(candidate, NOFOLLOW)
                continue
            if fingerprint is None:
                if self._recent.met(key):
                    continue  # turned away lately
                if not self._in_scope(candidate):
                    continue
                fingerprint = self._identity.fingerprint(candidate.url)
                self._recent.forget(key)
                self._judged.put(key, fingerprint)
            targets.append((candidate, fingerprint, link))
        return targets

    def _links_with_gifts(
        self,
        finder: Candidate,
        targets: Sequence[Target],
        later: int,
        gift_to: Callable[[Link], Any] | None,
    ) -> int:
        with self._frontier.changes():
            if gift_to is not None:
                return sum(
                    self._enter(candidate, fingerprint, gift_to(link))
                    for candidate, fingerprint, link in targets
                )
            gift = self._frontier.gift(self._identity.fingerprint(finder.url), finder, len(targets), later)
            return sum(self._enter(candidate, fingerprint, gift) for candidate, fingerprint, _ in targets)

    def redirect(self, finder: Candidate, target: Url, *, again: bool = False) -> Led:
        """Admit where a visit was sent to, as a link that adds a hop but no depth.

        A redirect to its own canonical form would be lost as "seen"; it is fetched once by force, and so is
        any other if `again`. A page that is visited again and led back each time is no further away for it.
        """
        forced = not finder.forced and (again or self._identity.same(target, finder.url))
        kind = LinkKind.ROBOTS if finder.kind is LinkKind.ROBOTS else LinkKind.REDIRECT
        if self._mirrors is not None and kind is LinkKind.REDIRECT and self._mirrors.same(target, finder.url):
            kind = LinkKind.MIRROR  # it says itself which other address has it
        candidate = Candidate(
            target,
            kind,
            finder.depth,
            finder.hops if forced and finder.again else further(finder.hops, "R"),
            finder.url.text,
            forced=forced,
            origin=finder.origin,
            element=finder.element if _goes_on(finder, target) else "",
        )
        place = self._scope.widen_for_seed_redirect(candidate)
        if place is not None:
            self._join(place)
            if not self._record_rejected:  # so none is brought back, and it must be judged when met again
                self.change_scope(self._scope)
        fingerprint = None if kind is LinkKind.ROBOTS else self._identity.fingerprint(finder.url)
        with self._frontier.changes():
            admitted = self.admit(candidate, fingerprint and self._frontier.gift(fingerprint, finder, 1, 0))
            if self._frontier.counts_linkers and kind is LinkKind.REDIRECT:
                self._frontier.linked([target.host], finder.url.host)
            return Led(int(admitted), on=None if admitted and candidate.element else admitted)

    def reject(self, candidate: Candidate, reason: Reason, unseen: bytes | None = None) -> None:
        """Turn a candidate away, and remember why unless it was admitted on another way.

        `unseen`: its fingerprint, if it is known that it was not.
        """
        self._counters.rejected += 1
        turned_away = self._counters.turned_away
        turned_away[reason.code] = turned_away.get(reason.code, 0) + 1
        if self._record_rejected:
            fingerprint = unseen or self._identity.fingerprint(candidate.url)
            if unseen or fingerprint not in self._frontier.seen:
                record = PageRecord(
                    url=candidate.url.text,
                    state=PageState.REJECTED,
                    reason=reason,
                    kind=candidate.kind,
                    depth=candidate.depth,
                    hops=candidate.hops,
                    via=candidate.via,
                    element=candidate.element,
                )
                with self._frontier.changes() as batch:
                    batch.put(Family.PAGES, fingerprint, encode(record))
        self._observers.tell(Rejected(candidate, reason))


def _goes_on(finder: Candidate, target: Url) -> bool:
    """Whether a redirect leads on to what a form answers to a word, at an address that repeats it: with a slash, by
    https, or of a log-in that comes back to it. What is said there counts for the form."""
    return is_question(finder.element) and repeats(target, finder.url, word_of(finder.element))


def _linked(finder: Candidate, link: Link, element: str = "") -> Candidate:
    """`element`: where it stood, if it is speculative."""
    depth, hops = (
        finder.depth + (link.kind is not LinkKind.SITEMAP),
        further(finder.hops, HOP_LETTERS[link.kind]),
    )
    return Candidate(link.url, link.kind, depth, hops, finder.url.text, element=element)
