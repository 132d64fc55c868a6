"""Tells the trap gate what pages brought, so that it learns which patterns yield nothing (W16)."""

from contextlib import AbstractContextManager, nullcontext

from gossamer.engine.drop_one import DropOne
from gossamer.engine.judge import Judgement
from gossamer.engine.visit import Said, Visit
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_count import LinkCount
from gossamer.model.disposition import Done, Dropped
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Fetched
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.ordering import is_robots
from gossamer.policy.scope_rules import is_requisite
from gossamer.policy.text_sketch import Gists, HostTexts, gist
from gossamer.policy.trap_learner import Evidence
from gossamer.state.records import PageRecord

_TRY_AGAIN = frozenset({408, 425, 429})
"""Of the client's errors those that say nothing about the URL."""
PICTURE_WORTH = 200
"""Characters of new text that a picture is worth: the pages of galleries and comics have a line of text."""
_ENDS = Done, Dropped
_NOTHING: AbstractContextManager[object] = nullcontext()


class TrapWatch:
    """Gathers evidence from visits; keeps what hosts have said lately, in 5 MiB that a restart forgets.

    Without a learner, and without tests of parameters, it does nothing.
    """

    def __init__(self, frontier: Frontier, drop_one: DropOne | None = None) -> None:
        self._frontier = frontier
        self._drop_one = drop_one
        self._gate = frontier.traps
        if self._gate is not None:
            self._texts = HostTexts()
            self._gists = Gists()

    def wants_text(self, lease: Lease) -> bool:
        """Whether what the page says is to be sketched."""
        if self._drop_one is not None and self._drop_one.wants_text(lease.candidate.url):
            return True
        if self._gate is None:
            return False
        return self._gate.wants_sketch(self._gate.host_hash(lease.queue_key), lease.candidate)

    def counting(self, count: LinkCount | None) -> AbstractContextManager[object]:
        """Count in `count` the new URLs that are admitted. Every page comes here: it must cost nothing."""
        if self._gate is None or count is None:
            return _NOTHING
        return self._gate.counter.to(count)

    def count_for(self, visit: Visit) -> LinkCount | None:
        """For counting where a visit led, if it is to be judged."""
        if self._gate is None or visit.said is None:
            return None
        return self._gate.count_for(visit.lease.candidate)

    def learn(
        self,
        visit: Visit,
        judgement: Judgement,
        before: PageRecord | None,
        count: LinkCount | None,
        first_seen: str,
    ) -> None:
        """Learn from a visit that is being settled, if it is the first that the URL came to an end with.

        `first_seen`: a URL at which its content was met before; on its own host that makes it a copy.

        A page teaches if it was sketched, and an error that the URL earned itself; redirects and failures of
        the network teach nothing.
        """
        ended = isinstance(judgement.disposition, _ENDS)
        if self._drop_one is not None and ended:
            self._drop_one.settled(visit)
        outcome, candidate = visit.outcome, visit.lease.candidate
        if self._gate is None:
            return
        name = visit.lease.queue_key
        host = self._gate.host_hash(name)
        self._gate.answered(host, candidate)
        if not ended or not isinstance(outcome, Fetched):
            return
        if before is not None and before.state not in ("rejected", "retry"):
            return
        status = outcome.exchange.status
        copy = self._is_copy(host, visit.page, first_seen)
        if visit.said is not None and count is not None:
            new_text = self._new_text(host, visit.said, copy=copy)
            again = self._gate.repeats(host, candidate, visit.page)
            if again:
                new_text = 0  # somebody else says it
            bred = (max(count.own, again), max(count.stem, again))
            evidence = Evidence(candidate.url.text, new_text, count.proven, count.open, bred)
        elif 400 <= status < 500 and status not in _TRY_AGAIN and not is_robots(candidate):
            if candidate.kind is LinkKind.SEED or is_requisite(candidate):
                return
            evidence = Evidence(candidate.url.text)
        else:
            return
        self._gate.learn(host, name, candidate, evidence)

    def _is_copy(self, host: bytes, page: Page | None, first_seen: str) -> bool:
        """Whether another page of the host showed the same; all pages are asked, also those not judged."""
        if page is None:
            return False
        if self._gists.met(host, gist(page.title, page.description, page.text_length, len(page.links))):
            return True
        first = Url.from_serialised(first_seen) if first_seen else None
        # Mirrors on other hosts are no traps.
        return first is not None and self._frontier.host_key(first)[0] == host

    def _new_text(self, host: bytes, said: Said, *, copy: bool) -> int:
        """Characters, a picture counted for some; what shows others than its like is no copy of that."""
        texts = self._texts.of(host)
        pictures = PICTURE_WORTH * texts.new_pictures(said.pictures)
        if copy:
            return pictures
        return pictures + (said.size if said.sketch is None else texts.new_text(said.sketch))
