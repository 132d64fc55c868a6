"""Lists what the trap learner knows of URL patterns, and lets patterns out."""

import heapq
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.app.config import CrawlConfig
from gossamer.app.folder import CrawlFolder
from gossamer.app.inspection import Inspection
from gossamer.app.settings import load, read_toml
from gossamer.engine.drop_one import TESTS
from gossamer.frontier.patterns import decode_pattern
from gossamer.frontier.trap_return import RETURNS
from gossamer.model.errors import ConfigError
from gossamer.policy.beta import chance_below
from gossamer.policy.parameters import HostTests, conclude
from gossamer.policy.trap_learner import PatternRecord, TrapLearnerConfig, release
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import decode, decode_host, encode

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


class PatternLine(msgspec.Struct, frozen=True):
    """One pattern, or stem (these end in `**`), of one host with its evidence.

    `state` is `quarantined`, `released` or `open`; `bred` counts the new URLs of the same kind that its pages
    led to, by which a space without end is known; `barren` is the probability that fewer of its pages yield
    anything than `trap_learner.barren` says (a tenth), by the pages judged of late.
    """

    host: str
    pattern: str
    state: str
    discovered: int
    turned_away: int
    fetched: int
    yielded: int
    bred: int
    judged_lately: int
    yielded_lately: int
    barren: float
    evidence: str
    example: str


def pattern_lines(inspection: Inspection, host: str = "") -> list[PatternLine]:
    """The patterns of which pages were judged, quarantined ones first, then the most doubtful."""
    config = inspection.config.trap_learner
    lines = (
        pattern_line(name, record, config)
        for _, name, record in pattern_records(inspection.environment, host)
        if record.fetched or record.released
    )
    return heapq.nsmallest(MOST_LISTED, lines, key=_rank)


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


def release_pattern(path: Path, pattern: str, host: str = "") -> list[str]:
    """Let a pattern out for good, on all hosts or on one; the names of the hosts.

    What was set aside comes back with the next `resume`.

    Raises:
        ConfigError: no such pattern is known, no crawl lives there, or it is running.
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
            f"{path}: the crawl is running. Stop it, release the pattern, then 'gossamer resume {path}'."
        ) from None
    try:
        config = load(CrawlConfig, read_toml(folder.config))
        environment = Environment.open(folder.state, config.state, create=False)
        try:
            return _release(environment, path, pattern, host)
        finally:
            environment.close()
    finally:
        folder.release()


def _release(environment: Environment, path: Path, pattern: str, host: str) -> list[str]:
    found = [entry for entry in pattern_records(environment, host) if entry[2].pattern == pattern]
    if not found:
        where = f" on {host}" if host else ""
        raise ConfigError(
            f"{path}: no pattern {pattern!r} is known{where}. 'gossamer traps {path}' lists them."
        )
    waiting = environment.get(Family.META, RETURNS)
    names = decode(waiting, dict[bytes, str]) if waiting else {}
    batch = environment.batch()
    for key, name, record in found:
        batch.put(Family.PATTERNS, key, encode(release(record)))
        names[key[:HASH_BYTES]] = name
    batch.put(Family.META, RETURNS, encode(names))
    environment.commit(batch)
    environment.sync()
    return sorted(name for _, name, _ in found)


def pattern_records(environment: Environment, host: str) -> Iterator[tuple[bytes, str, PatternRecord]]:
    """(key, name of the host's queue, record) of every pattern, host by host."""
    last, name = b"", ""
    for key, data in environment.scan(Family.PATTERNS):
        if key[:HASH_BYTES] != last:
            last = key[:HASH_BYTES]
            known = environment.get(Family.HOSTS, last)
            name = decode_host(known).name if known else ""
        if not host or name == host:
            yield key, name, decode_pattern(data)


def pattern_line(host: str, record: PatternRecord, config: TrapLearnerConfig) -> PatternLine:
    """One pattern with what is known of it."""
    state = "quarantined" if record.quarantined else "released" if record.released else "open"
    return PatternLine(
        host=host,
        pattern=record.pattern,
        state=state,
        discovered=record.discovered,
        turned_away=record.turned_away,
        fetched=record.fetched,
        yielded=record.yielded,
        bred=record.bred,
        judged_lately=record.tried,
        yielded_lately=record.gained,
        barren=round(chance_below(config.barren, record.gained, record.tried - record.gained), 4),
        evidence=record.evidence,
        example=record.example,
    )


def _rank(line: PatternLine) -> tuple[bool, bool, float, int, str, str]:
    return (
        line.state != "quarantined",
        line.state != "released",
        -line.barren,
        -line.discovered,
        line.host,
        line.pattern,
    )
