"""Says how much of each resource a job may ever hold, and how much it begins with."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.assembly.file_limit import SPARE_FILES
from gossamer.config.config import CrawlConfig
from gossamer.model.quantity import Bytes, Count
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of

MIB = 1 << 20
PYTHON_BYTES = 64 * MIB
"""Interpreter, libraries and code (docs/decisions/0009)."""
WORKER_BYTES = MIB
"""What one visit may hold: the body up to `fetch.memory_body`, its content, links, its records."""
HOST_BYTES = 10 << 10
NAME_BYTES = 512
FILES_PER_WORKER = 3
"""As `assembly.file_limit` counts them: a socket, a spooled body, a table."""
OWN_FILES = 64
"""Of the process itself beside those: log, archive, control socket with its visitors, name cache."""

SHARE = 4
UNITS = {
    "connections": "",
    "bandwidth": "B/s",
    "memory": "B",
    "disk": "B",
    "files": "",
    "browser_pages": "",
}
RESOURCES = tuple(UNITS)
"""What crawls compete for, in the order of the allocator's columns."""

Amounts = dict[str, int]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most that a job will ever hold of each resource (B1)."""

    connections: Annotated[Count, Meta(description="visits at once: the most workers that it may have")]
    bandwidth: Annotated[Bytes, Meta(description="bytes per second received")]
    memory: Annotated[Bytes, Meta(description="resident memory of its process")]
    disk: Annotated[Bytes, Meta(description="size of its folder")]
    files: Annotated[Count, Meta(description="open files of its process")]
    browser_pages: Annotated[Count, Meta(description="pages open in browsers")] = 0

    def amounts(self) -> Amounts:
        """What is claimed, by the name of the resource."""
        return {name: getattr(self, name) for name in RESOURCES}


class ClaimDefaults(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a job claims that does not say so; never more than a limit, never less than it begins with."""

    connections: Annotated[Count, Meta(description="workers that it may be given while it runs")] = 64
    bandwidth: Annotated[Bytes, Meta(description="bytes per second, if fetch.max_speed does not say")] = (
        32_000_000
    )
    memory_factor: Annotated[
        float, Meta(ge=1.0, le=100.0, description="times what its settings let its caches hold")
    ] = 2.0
    disk: Annotated[Bytes, Meta(description="size of a job's folder; reserved as long as it runs")] = 2 << 30


def files_for(config: CrawlConfig, workers: int) -> int:
    """Open files that a crawl with so many workers may need."""
    return FILES_PER_WORKER * workers + config.state.max_open_files + SPARE_FILES + OWN_FILES


def memory_for(config: CrawlConfig, workers: int) -> int:
    """Bytes of resident memory that a crawl with so many workers is expected to need."""
    state = config.state
    frontier = config.frontier
    bloom = 0
    if frontier.visited == "bloom":  # 1.44 bits for each halving of the error
        bloom = frontier.bloom_urls * 36 // 10
    return (
        PYTHON_BYTES
        + state.block_cache
        + state.write_buffers
        + state.seen_filter
        + frontier.max_hosts * HOST_BYTES
        + frontier.robots_cache
        + config.dns.cache_entries * NAME_BYTES
        + bloom
        + config.fetch.memory_bodies
        + workers * (WORKER_BYTES + config.fetch.memory_body)
    )


def least_memory(config: CrawlConfig) -> int:
    """Bytes below which a crawl cannot even begin, whatever its settings."""
    state = config.state
    return PYTHON_BYTES + state.block_cache + state.write_buffers + state.seen_filter


def speed_of(config: CrawlConfig) -> int:
    """Bytes per second that a crawl's settings allow it; 0: no limit."""
    return int(getattr(config.fetch, "max_speed", 0) or 0)


def amounts_for(config: CrawlConfig, claim: Claim) -> Amounts:
    """What a crawl needs to run as its settings say.

    The claim of disk is granted whole. Who ends gives back what it holds: that is what makes the allocator
    safe, and it is not so of a disk, on which the folder stays. So nobody may begin who might have to wait
    for disk later. Memory is an estimate, so it is never more than the claim.
    """
    workers = config.engine.workers
    return {
        "connections": workers,
        "bandwidth": speed_of(config) or claim.bandwidth,
        "memory": min(memory_for(config, workers), claim.memory),
        "disk": claim.disk,
        "files": files_for(config, workers),
        "browser_pages": 0,
    }


def shortfall(target: Amounts, held: Amounts) -> Amounts:
    """By how much what is held falls short; without those of 0."""
    return {name: most - held[name] for name, most in target.items() if most > held[name]}


def default_claim(config: CrawlConfig, defaults: ClaimDefaults, limits: Mapping[str, int]) -> Claim:
    """The claim of a job that does not say what it claims.

    At most a quarter of the connections and the bandwidth, unless it begins with more: a claim of everything
    is safe, but then nobody else runs. Memory and files follow from the connections: see `fitting`.
    """
    workers = config.engine.workers
    connections = max(workers, min(defaults.connections, limits["connections"] // SHARE))
    return Claim(
        connections=connections,
        bandwidth=speed_of(config) or min(defaults.bandwidth, max(1, limits["bandwidth"] // SHARE)),
        memory=0,
        disk=min(defaults.disk, limits["disk"]),
        files=0,
    )


def fitting(claim: Claim, config: CrawlConfig, limits: Mapping[str, int], factor: float = 1.0) -> Claim:
    """A claim with the memory and files that all of its connections would need, if the limits allow.

    Args:
        factor: times the memory that is expected.
    """
    connections = max(claim.connections, config.engine.workers)
    memory, files = memory_for(config, connections), files_for(config, connections)
    return msgspec.structs.replace(
        claim,
        memory=max(claim.memory, min(int(memory * factor), limits["memory"])),
        files=max(claim.files, min(files, limits["files"])),
    )


def claim_problems(claim: Claim, config: CrawlConfig, limits: Mapping[str, int]) -> list[Reason]:
    """What stands against a claim: above a limit, or below what its crawl begins with."""
    first = {**amounts_for(config, claim), "memory": least_memory(config)}
    problems: list[Reason] = []
    for name, most in claim.amounts().items():
        if most > limits[name]:
            problems.append(of(f"claim.{name}", because(ProblemCode.CLAIM_HIGH, most, limits[name])))
        if first[name] > most:
            problems.append(of(f"claim.{name}", because(ProblemCode.CLAIM_LOW, most, first[name])))
    if claim.bandwidth == 0:
        problems.append(of("claim.bandwidth", Reason(ProblemCode.CLAIM_NOTHING)))
    return problems
