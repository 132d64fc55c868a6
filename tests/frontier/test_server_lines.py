"""Hosts on one server, whatever shows that: never two visits at once to it, and its rest is kept, also over a kill."""

import random
from types import SimpleNamespace

import msgspec
import pytest
from test_shared_rests import SECOND, SharedWorld, visited

from gossamer.frontier.gates import server_lines, shared_rests
from gossamer.frontier.gates.server_lines import COMES_AGAIN, ServerClaim, ServerLines
from gossamer.model.disposition import Done
from gossamer.model.name import Answer
from gossamer.model.reasons.codes import HoldCode, RetryCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url
from gossamer.policy.visits.politeness import PolitenessConfig

REST = 300_000
CERTIFICATES = bytes([1]) * 32, bytes([2]) * 32


class Names:
    """Answers as told, or drawn anew for each visit; `given` is the last of each name."""

    def __init__(self, draw):
        self.draw = draw
        self.given = {}
        self.unknown = set()

    def known(self, host):
        return True

    def offer(self, host, *, first=False):
        self.unknown.discard(host)
        return True

    def at_hand(self, host):
        if host in self.unknown:
            return None
        self.given[host] = self.draw(host)
        return self.given[host]


@pytest.fixture
def server_world(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_rests, "MAX_BYTES", 2 << 20)
    made = []

    def make(draw, politeness):
        world = SharedWorld(tmp_path / "w", tmp_path / "rests", [1_000 * SECOND], names=Names(draw), rest=0.0)
        at = politeness if callable(politeness) else lambda url, address: politeness
        world.policy = msgspec.structs.replace(world.policy, politeness_at=at)
        world.begin()
        made.append(world)
        return world

    yield make
    for world in made:
        world.close()


def one_visit(world, host, **tally):
    """Visits the next page of the one host that has something."""
    lease = world.frontier.lend()
    assert lease is not None and lease.queue_key == host
    world.settle(lease, Done(), visited(rest=0.0, **tally))


def servers(world, host):
    return world.frontier.hosts.get(world.frontier.host_hash(host)).servers


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "by",
    [
        ("cname",),
        ("certificate",),
        ("address",),
        ("cname", "certificate"),
        ("address", "cname", "certificate"),
    ],
)
def test_no_two_visits_at_once_and_each_rest_is_kept(server_world, by, seed):
    """A simulation: chains and addresses change with each answer, certificates are shown now and then; one kill."""
    dice = random.Random(seed)
    hosts = [f"h{number}.example" for number in range(9)]

    def draw(host):
        backend = hosts.index(host) % 3
        ends = [f"backend{backend}.example", f"edge{dice.randrange(4)}.example"]
        addresses = tuple(dice.sample([f"192.0.2.{n}" for n in range(6)], 2))
        return Answer(host, addresses, aliases=tuple(ends[: dice.randint(1, 2)]))

    world = server_world(draw, PolitenessConfig(address_delay=REST / 1e6, server_by=by))
    for host in hosts:
        for page in range(3):
            world.admit(f"http://{host}/{page}")
    shown: dict[str, str] = {}
    ended: dict[str, int] = {}
    under_way = []  # (until, lease, what it claimed)
    done, kill_at = 0, world.clock[0] + 2 * SECOND
    while done < 27:
        world.clock[0] += 7_000
        now = world.clock[0]
        if kill_at and now > kill_at:
            kill_at = 0
            ended |= {key: now for _, _, claimed in under_way for key in claimed}
            under_way.clear()
            world.reopen()
        while lease := world.frontier.lend():
            host = lease.queue_key
            answer = world.policy.names.given[host]
            claimed = set(answer.addresses) if "address" in by else set()
            claimed |= {host, *answer.aliases} if "cname" in by else set()
            claimed |= {shown[host]} if "certificate" in by and host in shown else set()
            assert all(not claimed & other for _, _, other in under_way), "two at once"
            assert all(now >= ended.get(key, 0) + REST for key in claimed), "the rest of it"
            under_way.append((now + dice.randrange(1_000, 200_000), lease, claimed))
        for visit in [each for each in under_way if each[0] <= now]:
            under_way.remove(visit)
            _, lease, claimed = visit
            answers = f"192.0.2.{dice.randrange(6)}"
            number = hosts.index(lease.queue_key) % 2
            certificate = CERTIFICATES[number] if dice.random() < 0.7 else b""
            world.settle(lease, Done(), visited(rest=0.0, address=answers, certificate=certificate))
            if certificate:
                shown[lease.queue_key] = certificate.hex()
                claimed |= {certificate.hex()}
            ended |= dict.fromkeys({*claimed, answers}, now)
            done += 1


def test_who_is_not_known_to_be_on_one_server_does_not_wait(server_world):
    world = server_world(
        lambda host: Answer(host, ("192.0.2.1",), aliases=(f"own.{host}",)),
        PolitenessConfig(address_delay=1.0, server_by=("cname",)),
    )
    for host in ("a.example", "b.example"):
        world.admit(f"http://{host}/")
    assert world.frontier.lend() is not None and world.frontier.lend() is not None


@pytest.mark.parametrize(
    ("aliases", "waits_for"),
    [
        (("edge.example", "end.example"), "edge.example"),  # over the same, whatever the end is
        (("b-only.example", "end7.example"), "end7.example"),
        (("a.example",), "a.example"),  # the other is itself what this one leads to
        (None, ""),  # of an answer that is stale nobody knows
        ((), ""),
    ],
)
def test_names_meet_anywhere_on_the_chain(server_world, aliases, waits_for):
    chains = {"a.example": ("edge.example", "end7.example"), "b.example": aliases}
    world = server_world(
        lambda host: Answer(host, ("192.0.2.1",), aliases=chains[host]),
        PolitenessConfig(server_by=("cname",)),
    )
    world.admit("http://a.example/")
    lease = world.frontier.lend()
    world.admit("http://b.example/")
    record = world.frontier.hosts.get(world.frontier.host_hash("b.example"))
    record.reason = because(RetryCode.STATUS, 429) if waits_for else None  # which is over
    other = world.frontier.lend()
    assert (other is None) is bool(waits_for)
    assert record.reason == (because(HoldCode.SERVER_CNAME, waits_for) if waits_for else None)
    world.settle(lease, Done(), visited())
    if waits_for:
        world.clock[0] += SECOND
        assert world.frontier.lend().queue_key == "b.example" and record.reason is None
    assert servers(world, "a.example") == tuple(
        because(HoldCode.SERVER_CNAME, name) for name in ("a.example", "edge.example", "end7.example")
    )


def test_a_certificate_is_known_from_the_first_visit_on_until_another_is_shown(server_world):
    world = server_world(
        lambda host: Answer(host, ("192.0.2.1",), aliases=()), PolitenessConfig(server_by=("certificate",))
    )
    for page in range(5):
        world.admit(f"https://a.example/{page}")
    one_visit(world, "a.example")
    assert servers(world, "a.example") == ()
    for shown, known in ((0, 0), (None, 0), (1, 1)):
        one_visit(world, "a.example", certificate=b"" if shown is None else CERTIFICATES[shown])
        text = f"sha256:{CERTIFICATES[known].hex()}"
        assert servers(world, "a.example") == (because(HoldCode.SERVER_CERTIFICATE, text),)
    world.reopen()
    lease = world.frontier.lend()
    assert world.table.look(f"@sha256:{CERTIFICATES[1].hex()}").visits == 1
    assert world.table.look(f"@sha256:{CERTIFICATES[0].hex()}").visits == 0
    world.settle(lease, Done(), visited())


def test_a_server_that_the_operator_named_is_all_that_counts(server_world):
    world = server_world(
        lambda host: Answer(host, ("192.0.2.1",), aliases=("edge.example",)),
        PolitenessConfig(server="mine", server_by=("address", "cname", "certificate")),
    )
    world.admit("http://a.example/")
    one_visit(world, "a.example", address="192.0.2.9", certificate=CERTIFICATES[0])
    assert servers(world, "a.example") == (because(HoldCode.SERVER, "mine"),)


def test_an_address_of_which_a_place_says_so_has_evidence_of_its_own(server_world):
    by_cname = PolitenessConfig(server_by=("cname",))
    world = server_world(
        lambda host: Answer(host, ("192.0.2.1", "198.51.100.1"), aliases=("edge.example",)),
        lambda url, address: by_cname if address == "198.51.100.1" else PolitenessConfig(),
    )
    world.policy.names.unknown.add("a.example")
    world.admit("http://a.example/")
    assert world.frontier.lend() is None, "the name is asked for first"
    world.clock[0] += SECOND
    one_visit(world, "a.example")
    names = [reason.values[0] for reason in servers(world, "a.example")]
    assert names == ["a.example", "edge.example"]


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_addresses_the_strictest_place_counts_whichever_comes_first(server_world, order):
    places = {
        "192.0.2.1": PolitenessConfig(server_by=("cname",), address_delay=5.0),
        "198.51.100.1": PolitenessConfig(server_by=("cname",), address_delay=0.1, visits_per_address=4),
    }
    world = server_world(
        lambda host: Answer(host, tuple(places)[::order], aliases=("edge.example",)),
        lambda url, address: places.get(address, PolitenessConfig()),
    )
    for host in ("a.example", "b.example"):
        world.admit(f"http://{host}/")
    lease = world.frontier.lend()
    assert world.frontier.lend() is None
    world.settle(lease, Done(), visited(rest=0.0))
    world.clock[0] += 4 * SECOND
    assert world.frontier.lend() is None
    world.clock[0] += 3 * SECOND
    assert world.frontier.lend() is not None


@pytest.fixture
def lines():
    """Of servers whose table the test is; `lines.clock` is the time."""
    clock = [0]
    made = ServerLines(lambda url, address: PolitenessConfig(), None, lambda: clock[0])
    return SimpleNamespace(clock=clock, wait=made.wait, refused=made.refused, begin=made.begin, made=made)


def begins(lines, host, *claims):
    record = SimpleNamespace(name=host, reason=None)
    first = None, SimpleNamespace(url=Url.parse(f"http://{host}/"))
    lines.begin(SimpleNamespace(key=host.encode(), record=record, first=first), claims)


ONE, TWO = (ServerClaim(f"@{name}", 10 * SECOND, 1, HoldCode.SERVER) for name in ("one", "two"))


def test_who_comes_has_the_turn_of_one_that_was_told_to_come_later_than_need_be(lines):
    claims = (ONE,)
    lines.refused("a", claims, ONE, 20_000)
    assert lines.wait("b", claims)[1] > 5 * SECOND, "after the first, as long as turns seem to take"
    assert lines.wait("c", claims)[1] > 5 * SECOND
    lines.clock[0] = 20_000
    assert lines.wait("a", claims) is None
    begins(lines, "a", ONE)
    assert lines.wait("d", claims) is not None, "it has not waited yet"
    assert lines.wait("c", claims) is None
    lines.refused("c", claims, ONE, SECOND)
    assert lines.wait("d", claims) is not None, "the table has just said no"
    lines.clock[0] += SECOND - 1
    assert lines.wait("d", claims) is not None
    lines.clock[0] += 1
    assert lines.wait("d", claims) is None
    lines.clock[0] += 7 * SECOND
    assert lines.wait("b", claims) is None, "none the less the first"
    assert lines.wait("d", claims) is not None, "the first is expected now"


def test_nobody_is_told_to_come_much_later_than_turns_take_if_they_become_shorter(lines):
    for number in range(9):
        lines.refused(f"h{number}", (ONE,), ONE, 20_000)
    assert lines.wait("late", (ONE,))[1] == COMES_AGAIN == 20 * SECOND, "not 9 turns of 10 s"


def test_one_turn_that_takes_long_does_not_send_all_others_away_for_long(lines):
    lines.clock[0] = SECOND
    quick = ServerClaim("@quick", 0, 1, HoldCode.SERVER)
    for number in range(9):
        lines.refused(f"h{number}", (quick,), quick, 20_000)
    for number in range(2):
        assert lines.wait(f"h{number}", (quick,)) is None
        begins(lines, f"h{number}", quick)
        lines.refused(f"h{number + 1}", (quick,), quick, 400_000)
        lines.clock[0] += 400_000
    assert lines.wait("late", (quick,))[1] < 300_000


def test_the_time_in_which_a_free_server_waits_for_somebody_is_not_how_long_turns_take(lines):
    quick = ServerClaim("@quick", 0, 1, HoldCode.SERVER)
    for number in range(9):
        lines.refused(f"h{number}", (quick,), quick, 20_000)
    for number in range(2):
        lines.refused(f"h{number}", (quick,), quick, 20_000)
        lines.clock[0] += SECOND // 2
        assert lines.wait(f"h{number}", (quick,)) is None
        begins(lines, f"h{number}", quick)
    assert lines.wait("late", (quick,))[1] < SECOND // 10


def test_a_server_does_not_wait_for_who_waits_for_another_one(lines):
    lines.refused("a", (ONE, TWO), ONE, 20_000)
    lines.wait("b", (ONE,))
    lines.clock[0] = 20_000
    assert lines.wait("b", (ONE,)) is not None, "a is the first, and expected"
    assert lines.wait("a", (ONE, TWO)) is None
    lines.refused("a", (ONE, TWO), TWO, SECOND)
    assert lines.wait("b", (ONE,)) is None
    lines.clock[0] += SECOND
    assert lines.wait("b", (ONE,)) is not None, "expected again"
    assert lines.wait("a", (ONE, TWO)) is None


@pytest.mark.parametrize("seed", range(4))
def test_who_stands_in_lines_is_counted(lines, seed):
    """Whoever comes, is sent away, has a turn or stays away for too long."""
    draw = random.Random(seed)
    for _ in range(300):
        host = draw.choice("abcdefgh")
        claims = draw.choice([(ONE,), (TWO,), (ONE, TWO)])
        if lines.wait(host, claims) is None:
            if draw.random() < 0.5:
                begins(lines, host, *claims)
            else:
                lines.refused(host, claims, draw.choice(claims), draw.randrange(SECOND))
        lines.clock[0] += draw.choice([0, 20_000, SECOND, 30 * SECOND])
        assert lines.made._waiting == sum(len(line.due) for line in lines.made._lines.values())


def test_only_so_many_stand_in_lines_and_one_in_each(lines, monkeypatch):
    monkeypatch.setattr(server_lines, "IN_LINE", 3)
    for host in "abcde":
        lines.refused(host, (ONE,), ONE, 20_000)
    assert list(lines.made._lines["@one"].due) == ["a", "b", "c"]
    lines.refused("f", (TWO,), TWO, 20_000)
    lines.refused("g", (TWO,), TWO, 20_000)
    assert list(lines.made._lines["@two"].due) == ["f"], "nobody would know that it was refused"
    assert server_lines.IN_LINE == 3 and lines.made._waiting == 4
