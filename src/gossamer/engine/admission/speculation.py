"""Speculative links on their way: which are worth queueing, which are still worth it when their turn comes.

One that is queued is no URL that the crawl knows yet: a link to the same URL enters as if nobody had guessed,
with its own place and its own story. So it is kept under a key of its own in the seen set until its turn
comes, which is after that of all links of its host; only then is its URL claimed.

A search form that a page has is one such link; each form of a host is asked its words once, whatever its pages put
into its other fields, so its answers are queued when the first page with it is settled.
"""

from collections.abc import Callable, Iterator

import msgspec
import xxhash

from gossamer.engine.admission.identity import Identity
from gossamer.extract.questions import answers
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Outcome, Refused, Rule
from gossamer.model.reasons.codes import SpeculationCode
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.speculation.belief import Tried
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.form import is_question, known_as, question, summed_as
from gossamer.policy.speculation.forms_config import FormsConfig
from gossamer.state.environment import Family
from gossamer.state.records import Counters, HostRecord, decode_page

LINKED = Reason(SpeculationCode.LINKED)
"""A link to the same URL was found meanwhile, or another page guessed the same: it has its own story."""
OFF = Reason(SpeculationCode.OFF)
"""None is followed any more, and what was never claimed has no story."""


class Speculation:
    """Believes in speculative links as far as those before on their host were right."""

    def __init__(
        self,
        frontier: Frontier,
        identity: Identity,
        counters: Counters,
        config: SpeculationConfig,
        forms: Callable[[Url], FormsConfig] = lambda _: FormsConfig(),
    ) -> None:
        """`forms`: what holds for search forms that send to a URL."""
        self._frontier = frontier
        self._identity = identity
        self._counters = counters
        self._config = config
        self._forms = forms

    def asked(self, form: Candidate) -> Iterator[Candidate]:
        """What a search form is to be asked that was not asked yet, each of its words; within the open batch."""
        host, name = self._frontier.host_key(form.url)
        record, words = self._frontier.hosts.get(host) or HostRecord(name), self._forms(form.url).words
        tried, known = Tried.unpacked(record.speculation), known_as(form.url)
        mark = xxhash.xxh3_64_intdigest("\n".join(words).encode()) | 1 if words else 0
        if not tried.asks(known, mark):
            return
        for word, url in answers(form.url, form.element, words):
            yield msgspec.structs.replace(form, url=url, element=question(known, word))
        if self._frontier.hosts.get(host) is not None:
            self._frontier.hosts.change(host, name).speculation = tried.packed()

    def doubt(self, candidate: Candidate) -> Reason | None:
        """Why a speculative link is not worth a visit, if it is not."""
        host, name = self._frontier.host_key(candidate.url)
        record = self._frontier.hosts.get(host) or HostRecord(name)
        tried = Tried.unpacked(record.speculation)
        if is_question(candidate.element):
            return tried.form_doubt(candidate.element, self._forms(candidate.url).min_yield)
        return tried.doubt(candidate.element, record.pages, self._config)

    def was_known(self, candidate: Candidate, fingerprint: bytes) -> None:
        """The URL of a speculative link was known, which speaks for its kind unless it was by another guess.

        Of a form it says nothing: links to answers are there because others asked.
        """
        if is_question(candidate.element):
            return
        host, name = self._frontier.host_key(candidate.url)
        record = self._frontier.hosts.get(host)
        if record is None:
            return
        tried = Tried.unpacked(record.speculation)
        if not tried.was_known(candidate.element):
            return
        data = self._frontier.environment.get(Family.PAGES, fingerprint)
        if data is None or decode_page(data).kind is not LinkKind.SPECULATIVE:
            with self._frontier.changes():
                self._frontier.hosts.change(host, name).speculation = tried.packed()

    def enter(self, candidate: Candidate) -> bool:
        """Queue a speculative link behind all links, unless one to the same URL waits."""
        key = self._identity.speculative(candidate.url)
        return self._frontier.admit_last(candidate, key)

    def refusal(self, lease: Lease) -> Refused | None:
        """Why a speculative link is not visited though its turn has come; otherwise its URL is claimed.

        What is doubted claims nothing: a link to it may be found yet.
        """
        candidate = lease.candidate
        if not candidate.is_guess or candidate.attempts:
            return None  # no guess, or claimed with its first attempt
        fingerprint = self._identity.fingerprint(candidate.url)
        if fingerprint in self._frontier.seen:
            mine = self._frontier.has_claimed(fingerprint, lease.ticket)
            return None if mine else Refused(Rule.SPECULATIVE, LINKED)
        if not (self._forms(candidate.url).words if is_question(candidate.element) else self._config.follow):
            return Refused(Rule.SPECULATIVE, OFF)
        doubt = self.doubt(candidate)
        if doubt is not None:
            return Refused(Rule.SPECULATIVE, doubt)
        self._frontier.claim(fingerprint, lease.ticket)
        return None

    def came_of(self, lease: Lease, *, found: bool) -> None:
        """A visit to a speculative link is over, within the open batch."""
        element = lease.candidate.element
        host = self._frontier.host_hash(lease.queue_key)
        record = self._frontier.hosts.change(host, lease.queue_key)
        tried = Tried.unpacked(record.speculation)
        tried.came_of(element, found=found)
        record.speculation = tried.packed()
        sums, name = self._counters.speculative, summed_as(element)
        before = sums.get(name, (0, 0))
        sums[name] = (before[0] + found, before[1] + (not found))


def leaves_no_trace(outcome: Outcome) -> bool:
    """Whether a guess ended of which there is nothing to tell: its URL has another entry, or none."""
    return isinstance(outcome, Refused) and outcome.detail in (LINKED, OFF)
