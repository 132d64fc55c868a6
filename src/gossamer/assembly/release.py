"""Lets out the branches of sites that were set aside, in a state that nobody works on."""

from collections.abc import Iterator

from gossamer.frontier.queues.hosts import HostTable
from gossamer.frontier.queues.queue_table import QueueTable, branches_of
from gossamer.policy.branches.tree import ASIDE, BranchConfig, branch_path
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import wake_key
from gossamer.state.records import COUNTERS, Counters, HostRecord, decode, decode_host, encode


def release_in(environment: Environment, config: BranchConfig, branch: str, host: str = "") -> list[str]:
    """Let branches out in a state that nobody works on; the names of their hosts."""
    found = list(aside(environment, branch, host))
    if not found:
        return []
    data = environment.get(Family.META, COUNTERS)
    counters = decode(data, Counters) if data else Counters()
    hosts = HostTable(environment)
    queues = QueueTable(environment, hosts, counters, config, lambda _: ())
    batch = environment.batch()
    for key, name, number in found:
        queues.release(key, name, number)
    for key, record in {key: hosts.change(key, name) for key, name, _ in found}.items():
        # It may have had nothing to visit, and so no time at which it is looked at.
        if record.wake:
            batch.delete(Family.WAKE, wake_key(record.wake, key))
        record.wake = 0 if record.parked else max(record.due, 1)
        if record.wake:
            batch.put(Family.WAKE, wake_key(record.wake, key), b"")
    queues.flush(batch)
    hosts.flush(batch)
    batch.put(Family.META, COUNTERS, encode(counters))
    environment.commit(batch)
    environment.sync()
    return sorted({name for _, name, _ in found})


def aside(environment: Environment, branch: str, host: str) -> Iterator[tuple[bytes, str, int]]:
    """(hash and name of a host, number) of the branches of a name that are set aside; `all` is any name."""
    for key, record in branched_hosts(environment, host):
        records = {each.number: each for each in branches_of(environment, key)}
        for number, each in records.items():
            if each.state != ASIDE:
                continue
            labels, above = [], each
            while above.parent >= 0:
                labels.append(above.label)
                above = records[above.parent]
            if branch in ("all", branch_path(labels[::-1])):
                yield key, record.name, number


def branched_hosts(environment: Environment, host: str = "") -> Iterator[tuple[bytes, HostRecord]]:
    """(hash, record) of the hosts whose sites are seen as branches."""
    for key, data in environment.scan(Family.HOSTS):
        record = decode_host(data)
        if record.branched and (not host or record.name == host):
            yield key, record
