"""The loop of one worker. If you read one file, read this one."""

import time
from collections.abc import Mapping

from gossamer.engine.settlement.settlement import Settlement
from gossamer.engine.settlement.yields import Yields
from gossamer.engine.visiting.dispatch import Dispatch
from gossamer.engine.visiting.prefetch_checks import PrefetchChecks
from gossamer.engine.visiting.reading import Reading
from gossamer.engine.visiting.visit import Visit
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind, listed
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome
from gossamer.ports import ProtocolModule


class Worker:
    """Visits one URL after the other."""

    def __init__(
        self,
        dispatch: Dispatch,
        prefetch_checks: PrefetchChecks,
        modules: Mapping[str, ProtocolModule],
        reading: Reading,
        settlement: Settlement,
        yields: Yields,
    ) -> None:
        self._dispatch = dispatch
        self._prefetch_checks = prefetch_checks
        self._modules = modules
        self._reading = reading
        self._settlement = settlement
        self._yields = yields

    async def run(self) -> None:
        """Work until the crawl ends or this worker is retired."""
        async for lease in self._dispatch.leases():
            await self._settlement.take(await self._visit(lease))

    async def _visit(self, lease: Lease) -> Visit:
        started = time.monotonic()
        outcome: Outcome | None = self._prefetch_checks.refusal(lease)
        if outcome is None:
            lease = self._prefetch_checks.prepared(lease)
            scheme = lease.candidate.url.scheme
            module = self._modules.get(scheme)
            if module is None:
                outcome = Failed(Fault.UNSUPPORTED, f"no protocol module for {scheme}")
            else:
                outcome = await module.fetch(lease)
        elapsed = time.monotonic() - started
        if not isinstance(outcome, Fetched):
            return Visit(lease, outcome, elapsed=elapsed)
        if lease.candidate.kind is LinkKind.ROBOTS:
            rules = await self._reading.robots(outcome.exchange)
            return Visit(lease, outcome, robots=rules, elapsed=elapsed)
        page, said = await self._reading.page(
            outcome.exchange,
            listed=listed(lease.candidate.hops),
            longest_text=self._yields.longest_text(lease),
        )
        return Visit(lease, outcome, page, said, elapsed=elapsed)
