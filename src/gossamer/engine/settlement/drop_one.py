"""Compares pages with what stands at the same address less one parameter (W16).

Often both are fetched anyway. Where the test is switched on, the other one is asked for, a few times for each
parameter. What comes of it is a proposal, see `policy.urls.parameters`; only if that is switched on too, what
makes no difference is left out of links that are found from then on.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable

import msgspec
import xxhash

from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.link import HOP_LETTERS, LinkKind, further
from gossamer.model.outcome import Fetched
from gossamer.model.url import Url
from gossamer.policy.urls.parameters import (
    DropTest,
    HostTests,
    ParameterConfig,
    Relevance,
    Seen,
    conclude,
    learn_sample,
    parameters,
    wants_sample,
    without,
)
from gossamer.state.environment import Family
from gossamer.state.records import decode, encode

TESTS = b"drop-tests/"
"""Begins the keys in `meta` of `HostTests`; the hash of the host's queue follows."""
MOST_NAMES = 32
"""Parameters tested on one host."""
_ASKED_FOR = 2
"""Pages asked for, for each sample that is needed: some are not there, some are in the queue already."""
_MOST_ASKED = 4_096
_HOSTS_KEPT = 256
_TEXTS_KEPT = 256
"""Texts of pages that wait for their likes, as hashes, some 10 KB each."""


class DropTests:
    """The tests of each host, on disk and, those of the last hosts, in memory."""

    def __init__(self, config: ParameterConfig, frontier: Frontier) -> None:
        self._config = config
        self._frontier = frontier
        self._tests: OrderedDict[bytes, dict[str, DropTest]] = OrderedDict()

    @property
    def for_links(self) -> Callable[[Candidate], Candidate] | None:
        """`plain`, if links that are found are to go by it."""
        return self.plain if self._config.apply else None

    def plain(self, candidate: Candidate) -> Candidate:
        """The candidate without the parameters that were found to make no difference."""
        if not _has_parameters(candidate.url.target):
            return candidate
        url = candidate.url
        for name, test in self.of(self._frontier.host_key(url)[0]).items():
            if conclude(test, self._config) is Relevance.IRRELEVANT:
                url = without(url, name) or url
        return candidate if url is candidate.url else msgspec.structs.replace(candidate, url=url)

    def of(self, host: bytes) -> dict[str, DropTest]:
        """The tests of a host."""
        tests = self._tests.get(host)
        if tests is None:
            data = self._frontier.environment.get(Family.META, TESTS + host)
            kept = decode(data, HostTests).tests if data else ()
            tests = self._tests[host] = {test.name: test for test in kept}
            if len(self._tests) > _HOSTS_KEPT:
                self._tests.popitem(last=False)
        else:
            self._tests.move_to_end(host)
        return tests

    def put(self, host: bytes, name: str, learned: DropTest) -> None:
        """Keep what was learned on a host, whose queue has that name."""
        tests = self.of(host)
        tests[learned.name] = learned
        with self._frontier.changes() as batch:
            batch.put(Family.META, TESTS + host, encode(HostTests(name, tuple(tests.values()))))


class DropOne:
    """Takes samples from the pages that are settled."""

    def __init__(
        self,
        config: ParameterConfig,
        tests: DropTests,
        frontier: Frontier,
        identity: Identity,
        admission: Admission,
    ) -> None:
        self._config = config
        self._tests = tests
        self._frontier = frontier
        self._identity = identity
        self._admission = admission
        self._memory = PageMemory(frontier.environment)
        self._said: OrderedDict[bytes, tuple[int, ...]] = OrderedDict()
        self._asked: Counter[tuple[bytes, str]] = Counter()

    def wants_text(self, url: Url) -> bool:
        """Whether a page may have to be compared by what it says; only where pages are asked for."""
        if not self._config.test:
            return False
        return self._identity.fingerprint(url) in self._said or any(
            wants_sample(test, mark, self._config) for test, mark, _ in self._open(url)
        )

    def settled(self, visit: Visit) -> None:
        """Compare a page that is being settled, within a batch."""
        if not isinstance(visit.outcome, Fetched):
            return
        url, via = visit.lease.candidate.url, visit.lease.candidate.via
        if _has_parameters(url.target):
            for test, mark, rest in self._open(url):
                if wants_sample(test, mark, self._config):
                    self._sample(visit, test, mark, rest)
        if _has_parameters(via) and (finder := Url.from_serialised(via)) and finder.origin == url.origin:
            for test, mark, rest in self._open(finder):
                if rest.text == url.text and wants_sample(test, mark, self._config):
                    whole = self._known(finder)
                    if whole is not None:
                        self._learn(finder, test, mark, (whole, self._seen(visit)))
        if self._said and visit.said is not None and visit.said.pieces:
            fingerprint = self._identity.fingerprint(url)
            if fingerprint in self._said:  # it held the other page's until now
                self._said[fingerprint] = visit.said.pieces

    def _open(self, url: Url) -> list[tuple[DropTest, int, Url]]:
        """(test, mark of the value, URL without it) of the parameters that can be left out of a URL."""
        if not _has_parameters(url.target):
            return []
        known, found = self._tests.of(self._frontier.host_key(url)[0]), []
        for name, value in parameters(url):
            if name not in known and len(known) >= MOST_NAMES:
                continue
            rest = without(url, name)
            if rest is not None:
                mark = xxhash.xxh32_intdigest(value.encode())
                found.append((known.get(name) or DropTest(name), mark, rest))
        return found

    def _sample(self, visit: Visit, test: DropTest, mark: int, rest: Url) -> None:
        """Compare with a page that was fetched before, or ask for it."""
        url = visit.lease.candidate.url
        dropped = self._known(rest)
        if dropped is not None:
            self._learn(url, test, mark, (self._seen(visit), dropped))
        elif visit.said is not None and visit.said.pieces:
            self._ask(visit.lease.candidate, test, rest, visit.said.pieces)

    def _ask(self, candidate: Candidate, test: DropTest, rest: Url, said: tuple[int, ...]) -> None:
        """Ask for a page without a parameter, if that is switched on and has not been done often enough."""
        key = self._frontier.host_key(rest)[0], test.name
        if not self._config.test or self._asked[key] >= _ASKED_FOR * self._config.samples:
            return
        hops = further(candidate.hops, HOP_LETTERS[LinkKind.NAVIGATION])
        if not self._admission.admit(
            Candidate(rest, LinkKind.NAVIGATION, candidate.depth, hops, candidate.url.text)
        ):
            return
        if len(self._asked) >= _MOST_ASKED:
            self._asked.clear()
        self._asked[key] += 1
        for each in (candidate.url, rest):
            self._said[self._identity.fingerprint(each)] = said
        while len(self._said) > _TEXTS_KEPT:
            self._said.popitem(last=False)

    def _learn(self, url: Url, test: DropTest, mark: int, pages: tuple[Seen, Seen]) -> None:
        host, name = self._frontier.host_key(url)
        learned = learn_sample(test, url.text, mark, pages, self._config)
        if learned is test:
            return
        self._tests.put(host, name, learned)

    def _seen(self, visit: Visit) -> Seen:
        assert isinstance(visit.outcome, Fetched)
        page, said = visit.page, visit.said
        status = visit.outcome.exchange.status
        if page is None:
            return Seen(status)
        return Seen(status, page.content_digest, said.pieces if said is not None else ())

    def _known(self, url: Url) -> Seen | None:
        """What came back for a URL that was settled before."""
        fingerprint = self._identity.fingerprint(url)
        record = self._memory.get(fingerprint)
        if record is None or record.state not in ("done", "dropped") or not record.visits:
            return None
        return Seen(record.visits[-1].status, record.content, self._said.get(fingerprint, ()))


def _has_parameters(text: str) -> bool:
    return "?" in text or ";" in text
