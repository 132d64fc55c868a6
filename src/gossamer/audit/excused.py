"""What findings do not count: those of a baseline, and those that somebody has given a reason to ignore."""

import tomllib
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import msgspec

from gossamer.audit.rules import Rule
from gossamer.model.errors import ConfigError
from gossamer.policy.scope.address_pattern import AddressPattern, address_pattern, address_problem
from gossamer.state.whole_files import write_whole

__all__ = ["Baseline", "IgnoreList", "Ignored", "read_baseline", "read_ignored", "write_baseline"]

_MARK = "gossamer-audit-baseline"
_LONGEST = 256 << 20
"""Bytes of a file that are read."""


class Baseline:
    """Findings that were there before: known by their rule and address, on whatever pages they stand."""

    def __init__(self, known: Iterable[tuple[str, str]] = ()) -> None:
        self._known = frozenset(known)

    def knows(self, rule: str, url: str) -> bool:
        """Whether the finding was there when the baseline was written."""
        return (rule, url) in self._known


class _File(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    findings: list[tuple[str, str]]


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file.

    Raises:
        ConfigError: it is not there, or none.
    """
    try:
        file = msgspec.json.decode(_content(path, "--baseline"), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError):
        file = _File("", [])
    if file.kind != _MARK:
        raise ConfigError(f"--baseline {path}: is no baseline. Make one by --write-baseline {path}.")
    return Baseline(file.findings)


def write_baseline(path: Path, findings: Iterable[tuple[str, str]]) -> None:
    """Keep findings as those that are known from now on.

    Raises:
        StorageError: the disk refuses.
    """
    told = _File(_MARK, sorted(set(findings)))
    write_whole(path, msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")


class Ignored(msgspec.Struct, frozen=True):
    """One entry of a list of what to ignore.

    Attributes:
        rule: code of the rule; `*` for all.
        url: pattern of addresses, as in `gossamer list --match`; empty for all.
        reason: why.
        until: the last day on which it counts; `None`: always.
    """

    rule: str
    url: str
    reason: str
    until: date | None = None

    @property
    def pattern(self) -> AddressPattern | None:
        """What addresses it is about; `None`: all."""
        return address_pattern(self.url) if self.url else None


class IgnoreList:
    """Entries that count today.

    Attributes:
        expired: entries that counted once.
    """

    def __init__(self, entries: Sequence[Ignored] = (), today: date | None = None) -> None:
        today = today or date.today()
        self.expired = [one for one in entries if one.until is not None and one.until < today]
        self._counting = [one for one in entries if one.until is None or one.until >= today]

    def reason(self, rule: str, url: str) -> str | None:
        """Why a finding is ignored; `None` if it is not."""
        for one in self._counting:
            if one.rule in ("*", rule) and (one.pattern is None or one.pattern.matches(url)):
                return one.reason
        return None


def read_ignored(path: Path, today: date | None = None) -> IgnoreList:
    """The list in a file, a table `[[ignore]]` for each entry.

    Raises:
        ConfigError: lists all that is wrong with it.
    """
    try:
        table = tomllib.loads(_content(path, "--ignore").decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"--ignore {path}: is no TOML ({error}).") from None
    entries, problems = [], []
    listed = table.pop("ignore", [])
    if table or not isinstance(listed, list):
        problems.append("write a table [[ignore]] for each entry, and nothing else")
        listed = []
    for number, given in enumerate(listed, 1):
        wrong = _wrong(given)
        if wrong:
            problems.append(f"entry {number}: {wrong}")
            continue
        until = given.get("until")
        until = until.date() if isinstance(until, datetime) else until
        entries.append(Ignored(given.get("rule", "*"), given.get("url", ""), given["reason"].strip(), until))
    if problems:
        raise ConfigError(*(f"--ignore {path}: {problem}" for problem in problems))
    return IgnoreList(entries, today)


_KEYS = {"rule", "url", "reason", "until"}


def _wrong(given: Any) -> str:
    """What is wrong with an entry; empty if nothing is."""
    if not isinstance(given, dict):
        return "is no table"
    if unknown := sorted(set(given) - _KEYS):
        return f"{', '.join(unknown)}: there are rule, url, reason, until"
    for name in ("rule", "url", "reason"):
        if not isinstance(given.get(name, ""), str):
            return f"{name}: must be text"
    rule, url = given.get("rule", "*"), given.get("url", "")
    if rule != "*" and rule not in set(Rule):
        return f"rule {rule}: is none of {', '.join(Rule)}"
    if rule == "*" and not url:
        return "needs a rule, a url, or both: it would ignore all"
    if not given.get("reason", "").strip():
        return 'needs a reason: reason = "..."'
    if url and (problem := address_problem(url)) is not None:
        return f"url {url}: is no regular expression of RE2 ({problem})"
    if not isinstance(given.get("until", date.max), date):
        return "until: must be a day, without quotes: until = 2026-12-31"
    return ""


def _content(path: Path, option: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST)
    except OSError as error:
        raise ConfigError(f"{option} {path}: cannot be read ({error.strerror}).") from None
