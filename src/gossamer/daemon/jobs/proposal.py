"""Checks what a new job is to be, and tells of everything that is wrong with it at once."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gossamer.assembly.disks import LINKS
from gossamer.assembly.plugins import ordering
from gossamer.assembly.seeds import Seeds, crawl_name
from gossamer.config.config import CrawlConfig
from gossamer.config.presets import with_preset
from gossamer.config.settings import Tree, load, merge, parse_toml, resolve_secrets
from gossamer.daemon.allocation.claims import (
    Amounts,
    Claim,
    ClaimDefaults,
    claim_problems,
    default_claim,
    fitting,
)
from gossamer.daemon.jobs.confinement import confinement_problems, is_within
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of, placed

LONGEST = 4 << 20
"""Characters of a configuration given as text."""
SHOWN_SEEDS = 3
NAME_LENGTH = 64

Source = str | Mapping[str, Any]
T = TypeVar("T")


class Frame(msgspec.Struct, frozen=True):
    """What every job of a daemon must fit into.

    Attributes:
        roots: folders in which files may lie that settings name.
        politeness: folder that the jobs share.
        limits: how much there is of each resource.
        defaults: for claims.
        closed_networks: networks that no job may visit.
        secrets: references to secrets that jobs may name, with the origins they are for.
        cleared: folders from which the daemon removes what is no job's.
    """

    roots: tuple[Path, ...]
    politeness: Path
    limits: Amounts
    defaults: ClaimDefaults
    closed_networks: tuple[str, ...] = ()
    secrets: Mapping[str, tuple[str, ...]] = {}
    cleared: tuple[Path, ...] = ()


class Proposal(msgspec.Struct, frozen=True):
    """A job that could be made.

    Attributes:
        name: by its first seed, of 64 characters at most; others may have it.
        config: its settings.
        claim: its claim.
        seeds: the first few.
    """

    name: str
    config: CrawlConfig
    claim: Claim
    seeds: tuple[str, ...]


def propose(
    source: Source, frame: Frame, claim: Mapping[str, Any] | None = None, seeds_file: Path | None = None
) -> Proposal:
    """Check settings and claim; takes a while with many seeds.

    Args:
        source: TOML, or the same as a tree; keys may be dotted paths.
        claim: by resource; what is not named has its default.
        seeds_file: more seeds, one a line, in a file of the daemon's own.

    Raises:
        ConfigError: lists all that is wrong.
    """
    problems: list[Reason | str] = []
    tree = _tree(source, problems)
    config: CrawlConfig | None = None
    if tree is not None:
        tree = merge(tree, {"politeness.shared": str(frame.politeness)})
        if seeds_file is not None:
            tree = merge(tree, {"seeds_file": str(seeds_file)})
        config = _noting(problems, lambda: load(CrawlConfig, with_preset(tree)))
    if config is not None:
        config = _closing(config, frame)
        problems += _problems_of(config, frame, seeds_file)
    elif tree is not None:
        problems += _wrong_seeds(tree)
    whole = _claim(config or CrawlConfig(), claim or {}, frame, problems)
    if config is not None and whole is not None:
        problems += claim_problems(whole, config, frame.limits)
    if problems or config is None or whole is None:
        raise ConfigError(*problems)
    name = next((crawl_name(url) for url in Seeds(config)), "crawl")  # none, if they are still to come
    return Proposal(name[:NAME_LENGTH], config, whole, first_seeds(config))


def first_seeds(config: CrawlConfig, folder: Path = Path()) -> tuple[str, ...]:
    """The first few seeds, as they were written."""
    texts = Seeds(config, folder).texts()
    return tuple(text[:200] for text, _ in zip(texts, range(SHOWN_SEEDS), strict=False))


def load_claim(
    claim: Mapping[str, Any], present: Claim, config: CrawlConfig, frame: Frame, factor: float = 1.0
) -> Claim:
    """A claim with some of its amounts changed; memory and files that are not named grow with the rest.

    Raises:
        ConfigError: lists what is wrong.
    """
    try:
        wanted = load(Claim, {**present.amounts(), **claim})
    except ConfigError as error:
        raise ConfigError(
            *(of(f"claim.{path}", wrong) for path, wrong in map(placed, error.reasons))
        ) from None
    whole = fitting(wanted, config, frame.limits, factor)
    named = {name: getattr(wanted, name) for name in ("memory", "files") if name in claim}
    return msgspec.structs.replace(whole, **named)


def _tree(source: Source, problems: list[Reason | str]) -> Tree | None:
    if not isinstance(source, str):
        plain = {key: value for key, value in source.items() if "." not in key}
        dotted = {key: value for key, value in source.items() if "." in key}
        return _noting(problems, lambda: merge(plain, dotted))
    if len(source) > LONGEST:
        problems.append(f"the configuration is longer than {LONGEST:,} characters")
        return None
    try:
        return parse_toml(source)
    except ConfigError as error:
        problems.append(because(ProblemCode.TOML, str(error)))
        return None


def _closing(config: CrawlConfig, frame: Frame) -> CrawlConfig:
    """Settings under which what is closed to all jobs is closed to this one."""
    closed = tuple(dict.fromkeys((*frame.closed_networks, *config.fetch.closed_networks)))
    fetch = msgspec.structs.replace(config.fetch, closed_networks=closed)
    return msgspec.structs.replace(config, fetch=fetch)


def _problems_of(config: CrawlConfig, frame: Frame, seeds_file: Path | None) -> list[Reason | str]:
    ours = (str(frame.politeness), str(seeds_file or ""))
    problems: list[Reason | str] = list(confinement_problems(config, frame.roots, frame.secrets, ours))
    if problems:  # a file would be read that may not be
        problems += _wrong_seeds({"seeds": list(config.seeds)})
    else:
        _noting(problems, Seeds(config).prove)
        _noting(problems, lambda: resolve_secrets(config))
    problems += (
        of(f"storage.{name}", because(ProblemCode.DISK_CLEARED, place))
        for name in LINKS
        if (place := getattr(config.storage, name)) and is_within(Path(place), frame.cleared)
    )
    _noting(problems, lambda: ordering(config.engine.order, config.order))
    return problems


def _wrong_seeds(tree: Tree) -> list[Reason | str]:
    """Seeds that cannot be used, of settings that cannot be either; a file of theirs is not read."""
    problems: list[Reason | str] = []
    seeds = tree.get("seeds")
    if isinstance(seeds, list) and seeds and all(isinstance(seed, str) for seed in seeds):
        _noting(problems, Seeds(CrawlConfig(seeds=tuple(seeds))).prove)
    return problems


def _claim(
    config: CrawlConfig, claim: Mapping[str, Any], frame: Frame, problems: list[Reason | str]
) -> Claim | None:
    present = default_claim(config, frame.defaults, frame.limits)
    factor = frame.defaults.memory_factor
    return _noting(problems, lambda: load_claim(claim, present, config, frame, factor))


def _noting(problems: list[Reason | str], step: Callable[[], T]) -> T | None:
    """What a step gives, or a note of what is wrong."""
    try:
        return step()
    except ConfigError as error:
        problems += error.reasons
        return None
