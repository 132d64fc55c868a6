"""Changes settings of a job that does not run."""

import asyncio
import time
from typing import Any

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.config.dotted import split_path
from gossamer.config.settings import load, merge
from gossamer.control.changes.change_log import Change, ChangeLog
from gossamer.daemon.allocation.claims import claim_problems
from gossamer.daemon.context import crawl_config
from gossamer.daemon.jobs import folders
from gossamer.daemon.jobs.confinement import confinement_problems, setting_path
from gossamer.daemon.jobs.job import Job
from gossamer.daemon.jobs.proposal import Frame
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import Reason

UNCHANGEABLE = (
    "seeds_file",
    "politeness.shared",
    "fetch.closed_networks",
    "engine.queue_key",
    "frontier.visited",
    "storage.archive",
    "storage.log",
    "storage.state",
    "storage.temporary",
    "storage.upload",
)
"""What a crawl's state, or the daemon, relies upon."""


async def change_settings(job: Job, changes: dict[str, Any], who: str, frame: Frame) -> list[Change]:
    """Write settings into `crawl.toml`, all or none; what was changed, as `set` of a running crawl says it.

    Args:
        changes: values by dotted path.

    Raises:
        ConfigError: lists all that is wrong, or the crawl runs after all.
        StorageError: the disk refuses.
    """
    before = await crawl_config(job)
    paths = {setting_path(path): value for path, value in changes.items()}
    after = load(CrawlConfig, merge(msgspec.to_builtins(before), paths))
    problems: list[Reason | str] = [
        f"{path}: cannot change once the job is made" for path in paths if path in UNCHANGEABLE
    ]
    allowed = set(confinement_problems(before, frame.roots, frame.secrets))
    problems += [one for one in confinement_problems(after, frame.roots, frame.secrets) if one not in allowed]
    problems += claim_problems(job.claim, after, frame.limits)
    if problems:
        raise ConfigError(*problems)
    return await asyncio.to_thread(_write, job, paths, (before, after), who)


def _write(
    job: Job, paths: dict[str, Any], settings: tuple[CrawlConfig, CrawlConfig], who: str
) -> list[Change]:
    """Note the changes, then make them."""
    old, new = map(msgspec.to_builtins, settings)
    log = ChangeLog(job.path)
    changed = [path for path in paths if _value(old, path) != _value(new, path)]
    ids = log.next_ids(len(changed))
    now = time.time()
    entries = [
        Change(
            id=number, when=now, who=who, path=path, old=_value(old, path), new=_value(new, path),
            together=ids[0],
        )
        for number, path in zip(ids, changed, strict=True)
    ]  # fmt: skip
    if entries:
        log.append(entries)
        folders.write_settings(job.path, settings[1])
    return entries


def _value(tree: Any, path: str) -> Any:
    for key in split_path(path):
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree
