"""Lists the branches of sites that a crawl knows, and lets out those that were set aside."""

import heapq
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.assembly.disks import prove_own
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.release import branched_hosts, release_in
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.engine.settlement.drop_one import TESTS
from gossamer.frontier.queues.queue_table import branches_of
from gossamer.inspect.inspection import Inspection
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.policy.branches.tree import ASIDE, RELEASED, Branch, BranchConfig, branch_path
from gossamer.policy.urls.parameters import HostTests, conclude
from gossamer.state.environment import Environment, Family
from gossamer.state.records import decode

MOST_LISTED = 10_000


class ParameterLine(msgspec.Struct, frozen=True):
    """What was found out about one parameter of a host's URLs (`policy.urls.parameters`).

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
        ConfigError: no such branch is set aside, no crawl lives there, it is running, or is a copy that leads to
            the state of another.
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
            f"{path}: the crawl is running. Stop it, release the branch, then '{command_line('resume', path)}'."
        ) from None
    try:
        prove_own(path)
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
        f"{path}: no branch {branch!r} is set aside{where}. '{command_line('traps', path)}' lists them."
    )


def _rank(line: BranchLine) -> tuple[bool, bool, int, str, str]:
    return (line.state != ASIDE, line.state != RELEASED, -line.visits, line.host, line.branch)
