"""What an audit says, to be gone through as often as there are forms of output."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gossamer.audit.excused import Baseline, IgnoreList
from gossamer.audit.rules import RULES, Level, Rule
from gossamer.audit.store import FOUND, FoundStore, Holder, Target
from gossamer.policy.linkcheck.verdicts import LinkVerdict

__all__ = ["AuditResult", "Finding", "Link", "Made", "Only", "Requests", "kept_audit"]

_RANK = (
    "case verdict "
    + " ".join(f"when '{one}' then {at}" for at, one in enumerate(LinkVerdict))
    + " else 9 end"
)


class Requests(msgspec.Struct, frozen=True):
    """What an audit asked for beside the crawl.

    Attributes:
        outside: requests made, robots files included.
        cached: addresses whose answers were known from an earlier audit.
    """

    outside: int
    cached: int


class Made(msgspec.Struct, frozen=True):
    """How an audit was made; each is told of at `AuditResult`."""

    at: float
    pages: int
    requests: Requests
    problems: list[str]


class Link(msgspec.Struct, frozen=True):
    """One address that pages link to.

    Attributes:
        target: where it has moved to.
        found_on: how many pages hold it; `pages` are the first of them.
        hops: addresses on the way to its end, if it redirects.
        cached: the answer is of an earlier audit.
    """

    url: str
    verdict: str
    code: str
    status: int | None
    target: str | None
    pages: list[Holder]
    found_on: int
    hops: tuple[str, ...] = ()
    cached: bool = False


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong.

    Attributes:
        url: of the page or, of links, of what it leads to.
        pages: those concerned, or that hold the link; of links with its words.
        known: it was there when the baseline was written.
    """

    rule: str
    level: str
    url: str
    detail: dict[str, Any]
    pages: list[Holder]
    known: bool = False


class Only(msgspec.Struct, frozen=True):
    """Which findings are wanted.

    Attributes:
        rule: empty: all.
        verdict: of links; empty: all, and what is no link.
        begin, passed: the rule to begin with, and how many findings of it are passed over.
    """

    rule: str = ""
    verdict: str = ""
    begin: str = ""
    passed: int = 0


ALL = Only()


class AuditResult:
    """All that was found, read from the store as it is wanted.

    Attributes:
        at: when it was made, wall time.
        pages: that were read.
        requests: what was asked.
        problems: of the archive, one line each.
        ignored: findings that were left out for a reason; known when `findings` has been gone through.
    """

    def __init__(self, store: FoundStore, baseline: Baseline, ignore: IgnoreList, made: Made) -> None:
        self._store, self._baseline, self._ignore = store, baseline, ignore
        self.at, self.pages, self.requests, self.problems = made.at, made.pages, made.requests, made.problems
        self.expired = ignore.expired
        self.ignored = 0

    @property
    def verdicts(self) -> dict[str, int]:
        """How many links there are of each verdict."""
        counted = dict(self._store.do("select verdict, count(*) from targets group by verdict").fetchall())
        return {one.value: counted.get(one.value, 0) for one in LinkVerdict}

    @property
    def rules(self) -> dict[str, int]:
        """How many findings there are of each rule that has any, the gravest first."""
        counted = dict(self._store.do("select rule, count(*) from findings group by rule").fetchall())
        return {rule.value: counted[rule.value] for rule in Rule if rule.value in counted}

    def levels(self, *, new: bool = False) -> dict[str, int]:
        """How many findings there are of each level; with `new` those of the baseline do not count."""
        counted = dict.fromkeys((level.value for level in Level), 0)
        for finding in self.findings(pages=False):
            counted[finding.level] += not (new and finding.known)
        return counted

    def links(self) -> Iterator[Link]:
        """All links, the worst first, and of these what most pages hold."""
        for target in self._store.targets(order=f"{_RANK}, found_on desc, url"):
            yield _link(target, self._store.holders(target.number))

    def page(self, only: Only, limit: int) -> tuple[list[Finding], Only | None]:
        """The first findings of those wanted, and where to go on if there are more."""
        found = list(islice(self.findings(only=only), limit + 1))
        if len(found) <= limit:
            return found, None
        rule = found[limit].rule
        passed = sum(one.rule == rule for one in found[:limit]) + (only.passed if only.begin == rule else 0)
        return found[:limit], msgspec.structs.replace(only, begin=rule, passed=passed)

    def findings(self, *, pages: bool = True, only: Only = ALL) -> Iterator[Finding]:
        """All findings that are not ignored, the gravest first.

        Args:
            pages: those concerned are wanted, too.
            only: which.
        """
        self.ignored = 0
        rules = list(Rule)
        for rule in rules[rules.index(Rule(only.begin)) :] if only.begin else rules:
            if only.rule not in ("", rule.value):
                continue
            rows = self._store.do(
                "select findings.url, detail, findings.pages, targets.id from findings"
                " left join targets on targets.url=findings.url and findings.rule in (select value from json_each(?))"
                " where rule=? and (?='' or verdict=?) order by targets.found_on desc, findings.id limit -1 offset ?",
                (
                    _OF_LINKS,
                    rule.value,
                    only.verdict,
                    only.verdict,
                    only.passed if rule.value == only.begin else 0,
                ),
            )
            for url, detail, listed, target in rows:
                if self._ignore.reason(rule.value, url) is not None:
                    self.ignored += 1
                    continue
                holders = []
                if pages and target is not None:
                    holders = self._store.holders(target)
                elif pages:
                    holders = [Holder(one, "") for one in msgspec.json.decode(listed, type=list[str])]
                yield Finding(
                    rule.value,
                    RULES[rule].value,
                    url,
                    msgspec.json.decode(detail),
                    holders,
                    self._baseline.knows(rule.value, url),
                )


LINK_RULES = frozenset(
    {
        Rule.LINK_BROKEN,
        Rule.REDIRECT_LOOP,
        Rule.FRAGMENT_MISSING,
        Rule.LINK_MOVED,
        Rule.REDIRECT_CHAIN,
        Rule.LINK_REFUSED,
        Rule.LINK_UNKNOWN,
        Rule.ROBOTS_FORBIDS,
    }
)
"""Rules whose findings are about what pages link to."""
_OF_LINKS = msgspec.json.encode(sorted(LINK_RULES)).decode()


@contextmanager
def kept_audit(folder: Path) -> Iterator[AuditResult | None]:
    """What the last audit has found that came to its end, from the folder of audits; `None` if none did.

    Raises:
        StorageError: it cannot be read.
    """
    path = folder / FOUND
    if not path.exists():
        yield None
        return
    with closing(FoundStore(path)) as store:
        made = msgspec.json.decode(store.do("select what from made").fetchone()[0], type=Made)
        yield AuditResult(store, Baseline(), IgnoreList(), made)


def _link(target: Target, holders: list[Holder]) -> Link:
    return Link(
        target.url,
        target.verdict,
        target.code,
        target.status or None,
        target.target or None,
        holders,
        target.found_on,
        target.hops,
        target.cached,
    )
