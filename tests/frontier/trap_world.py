"""A frontier that learns which URLs lie in traps, told what pages brought."""

import msgspec
from frontier_world import FrontierWorld

from gossamer.frontier.later import TRAP
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Done
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.trap_learner import Evidence, TrapLearnerConfig, handicap_of
from gossamer.state.environment import Family
from gossamer.state.keys import split_ticket
from gossamer.state.records import decode_queue


class TrapWorld(FrontierWorld):
    """A frontier that learns, without rests."""

    def __init__(self, path, **settings):
        super().__init__(path, buffer=8, rest=0.0, **settings)
        self.policy = msgspec.structs.replace(self.policy, traps=TrapLearnerConfig())
        self.reopen()

    def found(self, url: str, depth: int = 1, **fields) -> bool:
        return self.admit(url, depth, hops="L", **fields)

    def learn(self, url: str, *, text: int = 0, bred: int = 0, times: int = 1) -> None:
        """Pages of the URL's pattern are judged."""
        candidate = Candidate(Url.parse(url), LinkKind.NAVIGATION, 1, "L")
        host, name = self.frontier.host_key(candidate.url)
        for _ in range(times):
            with self.frontier.changes():
                self.frontier.traps.learn(host, name, candidate, Evidence(url, text, bred=(bred, bred)))

    def visit_all(self, most: int = 1_000) -> list[str]:
        """Visit what may be visited, in that order."""
        visited = []
        for _ in range(most):
            lease = self.frontier.lend()
            if lease is None:
                due = self.frontier.next_due()
                if due >= 1 << 62:
                    break
                self.micros = max(self.micros + 1, due)
                continue
            visited.append(lease.candidate.url.text)
            self.settle(lease, Done(), Tally(pages=1))
        return visited

    def aside(self) -> list[str]:
        entries = (decode_queue(data) for _, data in self.environment.scan(Family.LATER))
        return [entry.url for entry in entries if entry.reason.startswith(TRAP)]

    def handicaps(self) -> dict[str, int]:
        return {
            decode_queue(data).url: handicap_of(split_ticket(key[8:])[0])
            for key, data in self.environment.scan(Family.QUEUE)
        }
