"""Says whether a URL may be visited now that its turn has come."""

from collections.abc import Mapping
from types import MappingProxyType

from gossamer.engine.admission.rejudging import Rejudging
from gossamer.engine.admission.robots_files import RobotsFiles
from gossamer.engine.admission.speculation import Speculation
from gossamer.engine.settlement.revisits import Revisits
from gossamer.engine.settlement.twins import Twins
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused
from gossamer.model.posted import Posted
from gossamer.model.reasons.reason import because


class PrefetchChecks:
    """Asks whether a guess is still one and worth it, the scope, where it has changed, whether another name of the site
    shows the same, then the robots files.

    Guesses first: what another entry has brought about is none of theirs to settle.
    """

    def __init__(
        self,
        robots: RobotsFiles,
        rejudging: Rejudging,
        revisits: Revisits,
        speculation: Speculation | None = None,
        posted: Mapping[str, Posted] = MappingProxyType({}),
        twins: Twins | None = None,
    ) -> None:
        """`posted`: what is asked in place of URLs that stand for more than themselves, by their texts."""
        self._robots = robots
        self._rejudging = rejudging
        self._revisits = revisits
        self._speculation = speculation
        self._posted = posted
        self._twins = twins

    def refusal(self, lease: Lease) -> Refused | Failed | None:
        """What forbids the visit, if anything does."""
        if self._speculation is not None and (refused := self._speculation.refusal(lease)) is not None:
            return refused
        if self._rejudging.active and (refused := self._rejudging.refusal(lease)) is not None:
            if lease.candidate.kind is LinkKind.ROBOTS:
                # As if its address were forbidden: its URLs need not wait for it, and are refused one by one.
                return Failed(Fault.ADDRESS_FORBIDDEN, because(refused.rule, refused.detail))
            return refused
        if self._twins is not None and (refused := self._twins.refusal(lease)) is not None:
            return refused
        sent = self._posted.get(lease.candidate.url.text) if self._posted else None
        return self._robots.refusal(lease, sent.url if sent is not None else None)

    def prepared(self, lease: Lease) -> Lease:
        """The lease as it is to be fetched."""
        if lease.candidate.again:
            return self._revisits.prepared(lease)
        return self._robots.with_validators(lease)
