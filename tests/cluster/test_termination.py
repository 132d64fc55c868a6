"""The verdict `over` is true whenever it is given, and is given in the end."""

import copy
from dataclasses import dataclass, field

from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gossamer.cluster.agreement.termination import Account, Termination

PLACES = st.integers(0, 3)


@dataclass
class State:
    """What an agent has on disk."""

    todo: int = 1
    outbox: list[tuple[int, int, int]] = field(default_factory=list)  # (sequence, to whom, work it makes)
    applied: dict[int, int] = field(default_factory=dict)  # of each sender, up to which sequence
    sent: int = 0
    received: int = 0


@dataclass
class Agent:
    number: int
    state: State = field(default_factory=State)
    kept: State = field(default_factory=State)
    incarnation: int = 1
    alive: bool = True
    wave: int = 0
    peers: dict[int, int] = field(default_factory=dict)
    known: dict[int, int] = field(default_factory=dict)  # of each receiver, what it has said to have applied
    sequence: int = 0

    @property
    def owed(self) -> int:
        return sum(sequence > self.known.get(to, 0) for sequence, to, _ in self.state.outbox)

    def account(self) -> Account:
        state = self.state
        return Account(self.incarnation, state.todo == 0, self.owed, state.sent, state.received)


@dataclass(frozen=True)
class Message:
    sender: int
    incarnation: int
    to: int
    entries: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Answer:
    sender: int
    incarnation: int
    to: int
    applied: int


class Crowd(RuleBasedStateMachine):
    """Agents that work, send, receive late and twice, die, come back as of their last snapshot."""

    @initialize(count=st.integers(1, 4))
    def begin(self, count: int) -> None:
        self.agents = [Agent(number) for number in range(count)]
        self.termination = Termination()
        self.messages: list[Message] = []
        self.answers: list[Answer] = []
        self.reports: list[tuple[int, int, Account]] = []
        self.told: list[tuple[int, int, dict[int, int]]] = []
        self.makes = 30  # work that may still be made
        self.registered = dict.fromkeys(range(count), 1)
        self.restart()

    def restart(self) -> None:
        self.termination.restart(str(number) for number in self.registered)

    def agent(self, place: int) -> Agent:
        return self.agents[place % len(self.agents)]

    # Agents …

    @rule(place=PLACES, to=PLACES, makes=st.integers(0, 2))
    def work(self, place: int, to: int, makes: int) -> None:
        agent, receiver = self.agent(place), self.agent(to).number
        if not agent.alive or not agent.state.todo:
            return
        assert not self.over(), "work was left"
        agent.state.todo -= 1
        if makes and self.makes >= makes and receiver != agent.number:
            self.makes -= makes
            agent.sequence += 1
            sequence = agent.incarnation << 40 | agent.sequence
            agent.state.outbox.append((sequence, receiver, makes))
            agent.state.sent += 1

    @rule(place=PLACES, to=PLACES)
    def send(self, place: int, to: int) -> None:
        agent, receiver = self.agent(place), self.agent(to).number
        if agent.alive and receiver in agent.peers:
            known = agent.known.get(receiver, 0)
            entries = [(number, makes) for number, whose, makes in agent.state.outbox if whose == receiver]
            owed = tuple(entry for entry in entries if entry[0] > known)
            if owed:
                self.messages.append(Message(agent.number, agent.incarnation, receiver, owed))

    @precondition(lambda self: self.messages)
    @rule(which=st.integers(0, 20), again=st.booleans())
    def receive(self, which: int, again: bool) -> None:
        at = which % len(self.messages)
        message = self.messages[at] if again else self.messages.pop(at)
        agent = self.agents[message.to]
        if not agent.alive or agent.peers.get(message.sender) != message.incarnation:
            return
        for sequence, makes in message.entries:
            if sequence > agent.state.applied.get(message.sender, 0):
                assert not self.over(), "a message was on its way"
                agent.state.applied[message.sender] = sequence
                agent.state.received += 1
                agent.state.todo += makes
        position = agent.state.applied.get(message.sender, 0)
        self.answers.append(Answer(agent.number, agent.incarnation, message.sender, position))

    @precondition(lambda self: self.answers)
    @rule(which=st.integers(0, 20), again=st.booleans())
    def hear(self, which: int, again: bool) -> None:
        at = which % len(self.answers)
        answer = self.answers[at] if again else self.answers.pop(at)
        agent = self.agents[answer.to]
        if agent.alive and agent.peers.get(answer.sender) == answer.incarnation:
            agent.known[answer.sender] = max(agent.known.get(answer.sender, 0), answer.applied)

    @rule(place=PLACES)
    def snapshot(self, place: int) -> None:
        agent = self.agent(place)
        if agent.alive:
            agent.kept = copy.deepcopy(agent.state)

    @rule(place=PLACES)
    def die(self, place: int) -> None:
        self.agent(place).alive = False

    @rule(place=PLACES)
    def come_back(self, place: int) -> None:
        agent = self.agent(place)
        if not agent.alive:
            number, incarnation = agent.number, agent.incarnation + 1
            self.agents[number] = Agent(number, copy.deepcopy(agent.kept), agent.kept, incarnation)
            self.registered[number] = incarnation
            self.restart()

    # The coordinator …

    @rule(place=PLACES)
    def report(self, place: int) -> None:
        agent = self.agent(place)
        if agent.alive:
            self.reports.append((agent.number, agent.wave, agent.account()))

    @precondition(lambda self: self.reports)
    @rule(which=st.integers(0, 20), again=st.booleans())
    def hear_report(self, which: int, again: bool) -> None:
        at = which % len(self.reports)
        number, wave, account = self.reports[at] if again else self.reports.pop(at)
        if self.registered[number] == account.incarnation:  # others are told that they are fenced
            self.termination.report(str(number), wave, account)
        self.told.append((number, self.termination.wave, dict(self.registered)))

    @precondition(lambda self: self.told)
    @rule(which=st.integers(0, 20), again=st.booleans())
    def be_told(self, which: int, again: bool) -> None:
        at = which % len(self.told)
        number, wave, peers = self.told[at] if again else self.told.pop(at)
        agent = self.agents[number]
        if agent.alive and wave > agent.wave and peers[number] == agent.incarnation:
            agent.wave = wave
            for other, incarnation in peers.items():
                if agent.peers.get(other) != incarnation:
                    agent.known.pop(other, None)  # it may have gone back: it is owed again what it has not
            agent.peers = peers

    def over(self) -> bool:
        """Whether that was said, and nobody has died since who was counted."""
        return self.termination.over and all(agent.alive for agent in self.agents)

    @invariant()
    def nothing_is_left_when_it_is_over(self) -> None:
        if hasattr(self, "agents") and self.over():
            assert all(agent.state.todo == 0 and agent.owed == 0 for agent in self.agents)

    # In the end …

    def teardown(self) -> None:
        if not hasattr(self, "agents"):
            return
        for place in range(len(self.agents)):
            self.come_back(place)
        waves = 0
        while not self.termination.over:
            waves += 1
            assert waves < 200
            for place in range(len(self.agents)):
                while self.agents[place].state.todo:
                    self.work(place, place, 0)
                self.report(place)
                self.hear_report(len(self.reports) - 1, again=False)
                self.be_told(len(self.told) - 1, again=False)
                for to in range(len(self.agents)):
                    self.send(place, to)
            while self.messages:
                self.receive(0, again=False)
            while self.answers:
                self.hear(0, again=False)
        self.nothing_is_left_when_it_is_over()


TestCrowd = Crowd.TestCase
TestCrowd.settings = settings(
    max_examples=examples(150), stateful_step_count=60, deadline=None, derandomize=True
)

QUIET = Account(1, idle=True, owed=0, sent=3, received=2)


def waved(*rounds: dict[str, Account]) -> Termination:
    termination = Termination()
    termination.restart(["a", "b"])
    for accounts in rounds:
        wave = termination.wave
        for agent, account in accounts.items():
            termination.report(agent, wave, account)
    return termination


def test_one_wave_is_not_enough() -> None:
    assert not waved({"a": QUIET, "b": QUIET}).over
    assert waved({"a": QUIET, "b": QUIET}, {"a": QUIET, "b": QUIET}).over


def test_whoever_applied_something_between_two_waves_may_have_worked() -> None:
    woken = Account(1, idle=True, owed=0, sent=3, received=3)
    assert not waved({"a": QUIET, "b": QUIET}, {"a": QUIET, "b": woken}).over
    assert waved({"a": QUIET, "b": QUIET}, {"a": QUIET, "b": woken}, {"a": QUIET, "b": woken}).over


def test_what_is_owed_is_on_its_way() -> None:
    owing = Account(1, idle=True, owed=1, sent=3, received=2)
    assert not waved(*[{"a": QUIET, "b": owing}] * 3).over


def test_a_wave_ends_only_with_the_last_answer() -> None:
    termination = waved({"a": QUIET}, {"a": QUIET}, {"a": QUIET})
    assert termination.wave == 2
    termination.report("b", 1, QUIET)  # of the wave before
    termination.report("c", 2, QUIET)  # a stranger
    assert termination.wave == 2
    termination.report("b", 2, QUIET)
    assert termination.wave == 3


def test_a_restart_forgets_all() -> None:
    termination = waved({"a": QUIET, "b": QUIET}, {"a": QUIET, "b": QUIET})
    assert termination.over
    termination.restart(["a"])
    assert not termination.over
    termination.report("a", termination.wave, QUIET)
    assert not termination.over
    termination.report("a", termination.wave, QUIET)
    assert termination.over


def test_nobody_is_never_done() -> None:
    termination = Termination()
    termination.restart([])
    termination.report("a", termination.wave, QUIET)
    assert not termination.over
