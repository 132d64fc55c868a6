"""Judges queued URLs again, when their turn comes, after the scope has changed (K15)."""

import hashlib
from collections.abc import Callable

import msgspec

from gossamer.model.candidate import Candidate
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Refused, Rule
from gossamer.model.raised import Raised
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import arrival_of
from gossamer.state.records import decode, encode

JUDGED = b"scope-judged"
"""Key in `meta`: by which scope what is queued was judged."""

RULES = frozenset({Rule.SCOPE, Rule.DEPTH, Rule.HOPS, Rule.TOO_LONG, Rule.TRAP, Rule.TWIN})
"""What may turn out otherwise under another scope, of which `engine.twins` counts as a part."""


Settings = tuple[ScopeConfig, TrapConfig, *tuple[object, ...]]
"""All that a scope is made from, beside seeds and the operator's own rules; what differs by place comes last."""


class JudgedBy(msgspec.Struct, frozen=True, array_like=True):
    """The scope by which URLs are admitted now.

    Attributes:
        digest: of its settings.
        before: URLs with a smaller arrival number were admitted under another one; 0 if none were.
    """

    digest: bytes
    before: int = 0


class Rejudging:
    """Knows which of the queued URLs were admitted under another scope than the one of now.

    A scope may also have changed while the crawl lay still (`resume --set scope.exclude=...`). While it has
    never changed, nothing is asked.
    """

    def __init__(
        self,
        environment: Environment,
        scope: Scope,
        settings: Settings,
        raised: Callable[[Raised], None] = lambda _: None,
    ) -> None:
        """By what was last committed; `changed` tells whether the scope is another one since.

        `raised` hears of scope rules that raise.
        """
        self._scope = scope
        self._blocks = bool(settings[0].block)
        data = environment.get(Family.META, JUDGED)
        digest = scope_digest(settings)
        self._known = decode(data, JudgedBy) if data else None
        self.changed = self._known is not None and self._known.digest != digest
        self._digest = digest
        self._before = self._known.before if self._known else 0
        self.active = self._before > 0 or self._blocks
        """Somebody should ask `refusal`."""
        self._raised = raised

    def begin(self, sequence: int, batch: Batch) -> None:
        """Note the scope that holds from now on; `sequence` is the arrival number given out last."""
        if self.changed:
            self._before = sequence + 1
        self.changed = False
        self.active = self._before > 0 or self._blocks
        batch.put(Family.META, JUDGED, encode(JudgedBy(self._digest, self._before)))

    def doubt(self, source: Environment, sequence: int, batch: Batch) -> None:
        """URLs with arrival numbers up to `sequence` came from another agent's state, judged as that says."""
        data = source.get(Family.META, JUDGED)
        theirs = decode(data, JudgedBy) if data else JudgedBy(self._digest)
        if theirs.digest != self._digest:
            theirs = JudgedBy(theirs.digest, sequence + 1)
        if theirs.before > self._before:
            self._before, self.active = theirs.before, True
            batch.put(Family.META, JUDGED, encode(JudgedBy(self._digest, self._before)))

    def change(self, scope: Scope, settings: Settings) -> None:
        """Another scope holds; `begin` is called next."""
        self._scope = scope
        self._digest = scope_digest(settings)
        self.changed = True

    def refusal(self, lease: Lease) -> Refused | None:
        """Why a URL does not belong any more, if it was admitted under another scope.

        Robots files are asked about in any case: a blocked host is not even asked for those. So is what was visited:
        its number is that of its turn.
        """
        candidate = lease.candidate
        anyway = candidate.kind is LinkKind.ROBOTS or candidate.again
        if not anyway and arrival_of(lease.ticket)[0] >= self._before:
            return None
        return self.judge(candidate)

    def judge(self, candidate: Candidate) -> Refused | None:
        """What the scope of now has against a candidate."""
        verdict = self._scope.judge(candidate)
        if verdict.raised is not None:
            self._raised(verdict.raised)
        return None if verdict.admitted else Refused(verdict.rule, verdict.why)


def scope_digest(settings: Settings) -> bytes:
    """Tells one scope from another by its settings."""
    return hashlib.blake2b(msgspec.json.encode(settings), digest_size=8).digest()


def may_widen(before: ScopeConfig, after: ScopeConfig) -> bool:
    """Whether something that was out of scope may be in scope now."""
    same = msgspec.structs.replace(
        after, exclude=before.exclude, block=before.block, include=before.include, max_depth=before.max_depth
    )
    if same != before:
        return True
    depth = after.max_depth is None or (before.max_depth is not None and after.max_depth > before.max_depth)
    return (
        not set(after.exclude) >= set(before.exclude)
        or not set(after.block) >= set(before.block)
        or not set(after.include) <= set(before.include)
        or (depth and after.max_depth != before.max_depth)
    )
