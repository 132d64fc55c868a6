"""Lists the branches of sites that a crawl knows, and lets out those that were set aside."""

import heapq
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.app.config import CrawlConfig
from gossamer.app.folder import CrawlFolder
from gossamer.app.inspection import Inspection
from gossamer.app.settings import load, read_toml
from gossamer.engine.drop_one import TESTS
from gossamer.frontier.hosts import HostTable
from gossamer.frontier.queue_table import QueueTable, branches_of
from gossamer.model.errors import ConfigError
from gossamer.policy.branches import ASIDE, RELEASED, Branch, BranchConfig, branch_path
from gossamer.policy.parameters import HostTests, conclude
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import wake_key
from gossamer.state.records import COUNTERS, Counters, HostRecord, decode, decode_host, encode

MOST_LISTED = 10_000


class ParameterLine(msgspec.Struct, frozen=True):
    """What was found out about one parameter of a host's URLs (`policy.parameters`).

    `verdict` is `irrelevant` (proposed to be dropped), `relevant`, `required` or `unknown`; the numbers are
    the pages that were the same without it, others, or not there.
    """

    host: str
    name: str
    verdict: str
    alike: int
    different: int
    lost: int
    example: str


class BranchLine(msgspec.Struct, frozen=True):
    """One branch of the site of one host.

    Attributes:
        host: name of its queue.
        branch: what its addresses have in common, as `branch_path`.
        state: `aside`, `released` or `open`.
        found, waiting: URLs, those of the branches below included, as in what follows.
        visits: settled.
        brought: visits that brought something new.
        dry: visits since the last that did.
        value: what a visit brought of late, 0 to 1.
        bred: new URLs of its own that a visit led to of late.
        share: of the host's visits.
    """

    host: str
    branch: str
    state: str
    found: int
    waiting: int
    visits: int
    brought: int
    dry: int
    value: float
    bred: float
    share: float


def branch_lines(inspection: Inspection, host: str = "") -> list[BranchLine]:
    """The branches that were visited, those set aside first, then those with the most visits."""
    lines = (
        line
        for key, record in branched_hosts(inspection.environment, host)
        for line in lines_of(record.name, branches_of(inspection.environment, key))
    )
    return heapq.nsmallest(MOST_LISTED, lines, key=_rank)


def lines_of(host: str, records: list[Branch]) -> Iterator[BranchLine]:
    """The visited branches of one host; one that holds a single other is left out."""
    by_number = {record.number: record for record in records}
    holds: dict[int, int] = {}
    found = {record.number: record.found for record in records}
    waiting = {record.number: record.queued for record in records}
    for record in sorted(
        records, key=lambda record: -record.number
    ):  # a branch is younger than what holds it
        if record.parent >= 0:
            holds[record.parent] = holds.get(record.parent, 0) + 1
            found[record.parent] += found[record.number]
            waiting[record.parent] += waiting[record.number]
    whole = by_number[0].visits if 0 in by_number else 0
    for record in records:
        if not record.visits or (holds.get(record.number) == 1 and not record.queued and not record.state):
            continue
        labels, held, above = [], False, record
        while above.parent >= 0:
            labels.append(above.label)
            above = by_number[above.parent]
            held = held or above.state == ASIDE
        if held:
            continue  # it is set aside with what holds it
        yield BranchLine(
            host=host,
            branch=branch_path(labels[::-1]),
            state=record.state if record.state in (ASIDE, RELEASED) else "open",
            found=found[record.number],
            waiting=waiting[record.number],
            visits=record.visits,
            brought=record.brought,
            dry=record.dry,
            value=round(record.value, 3),
            bred=round(record.bred, 2),
            share=round(record.visits / max(whole, 1), 4),
        )


def branched_hosts(environment: Environment, host: str = "") -> Iterator[tuple[bytes, HostRecord]]:
    """(hash, record) of the hosts whose sites are seen as branches."""
    for key, data in environment.scan(Family.HOSTS):
        record = decode_host(data)
        if record.branched and (not host or record.name == host):
            yield key, record


def parameter_lines(inspection: Inspection, host: str = "") -> list[ParameterLine]:
    """The parameters of which samples were taken, those proposed to be dropped first."""
    config = inspection.config.parameters
    lines = []
    for _, data in inspection.environment.scan(Family.META, TESTS, TESTS):
        tests = decode(data, HostTests)
        if host and tests.name != host:
            continue
        lines += [
            ParameterLine(
                tests.name,
                test.name,
                conclude(test, config).value,
                test.alike,
                test.different,
                test.lost,
                test.example,
            )
            for test in tests.tests
        ]
    return sorted(lines, key=lambda line: (line.verdict != "irrelevant", line.host, line.name))


def release_branch(path: Path, branch: str, host: str = "") -> list[str]:
    """Let a branch out for good, on all hosts or on one, or all that are set aside; the names of the hosts.

    Its URLs are visited with the next `resume`.

    Args:
        path: the crawl's folder.
        branch: as `BranchLine` has it; `all` for all that are set aside.
        host: of which host; empty: of all.

    Raises:
        ConfigError: no such branch is set aside, no crawl lives there, or it is running.
        StorageError: the state is damaged.
    """
    folder = CrawlFolder(path)
    if not folder.config.exists() or not folder.state.is_dir():
        raise ConfigError(f"{path}: holds no crawl that has begun.")
    try:
        folder.reopen()
    except ConfigError as error:
        if "another process" not in str(error):
            raise
        raise ConfigError(
            f"{path}: the crawl is running. Stop it, release the branch, then 'gossamer resume {path}'."
        ) from None
    try:
        config = load(CrawlConfig, read_toml(folder.config))
        environment = Environment.open(folder.state, config.state, create=False)
        try:
            return _release(environment, config.branches, path, branch, host)
        finally:
            environment.close()
    finally:
        folder.release()


def _release(environment: Environment, config: BranchConfig, path: Path, branch: str, host: str) -> list[str]:
    if names := release_in(environment, config, branch, host):
        return names
    where = f" on {host}" if host else ""
    raise ConfigError(
        f"{path}: no branch {branch!r} is set aside{where}. 'gossamer traps {path}' lists them."
    )


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


def _rank(line: BranchLine) -> tuple[bool, bool, int, str, str]:
    return (line.state != ASIDE, line.state != RELEASED, -line.visits, line.host, line.branch)
