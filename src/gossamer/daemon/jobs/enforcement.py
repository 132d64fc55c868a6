"""Holds the process of a crawl to what it was granted, from inside and from outside."""

import signal

from gossamer.daemon.allocation.claims import Amounts
from gossamer.daemon.context import WHO, DaemonContext
from gossamer.daemon.jobs.process import JobProcess
from gossamer.daemon.memory import Advice, is_calm, look
from gossamer.model.reasons.codes import JobCode
from gossamer.model.reasons.reason import Reason, because

PATIENCE = 15.0
"""Seconds that an answer may take."""
TOLD = ("connections", "bandwidth", "memory", "files")
"""What the crawl itself keeps to, or shows."""


class Enforcement:
    """The limits of one process.

    Connections and bandwidth are kept by the crawl, which is told of them over its socket. Open files are
    bounded by the kernel. Memory is watched: a bound by the kernel (RLIMIT_AS, RLIMIT_DATA) counts what is
    reserved, which is several times what RocksDB and threads ever touch.

    Args:
        name: of the job, which takes part in the allocation.
    """

    def __init__(self, name: str, process: JobProcess, around: DaemonContext) -> None:
        self._name = name
        self._process = process
        self._around = around
        self._told: Amounts = {}
        self._asked_memory = False

    @property
    def held(self) -> Amounts:
        """What the process was granted, by resource."""
        return self._around.grants.held(self._name)

    def note(self) -> None:
        """Write down what is held, so that the next daemon knows."""
        roster = self._around.roster
        if roster.get(self._name).held != self.held:
            roster.change(self._name, held=self.held)
            roster.tell_allocation()

    def request(self, amounts: Amounts) -> bool:
        """Ask for more; whether it is granted now.

        Raises:
            ServiceError: it is above the claim, or the job waits already.
        """
        if not any(amounts.values()):
            return True
        granted = self._around.grants.request(self._name, amounts)
        self.note()
        if not granted:
            self._around.roster.tell_allocation()
        return granted

    def give_back(self, amounts: Amounts) -> None:
        """Give a part of what was granted back."""
        self._around.grants.give_back(self._name, amounts)
        self.note()

    async def tell(self, amounts: Amounts) -> None:
        """Have the process keep to `amounts`, by resource.

        Raises:
            NotRunning: it does not answer.
        """
        if amounts == self._told:
            return
        roster = self._around.roster
        job = roster.get(self._name)
        self._process.limit_files(amounts["files"], job.claim.files)
        told = {name: amounts[name] for name in TOLD}
        await self._around.asking.running(job.path, "limits", told, WHO, patience=PATIENCE)
        self._told = dict(amounts)

    @property
    def waits_for_memory(self) -> bool:
        """It has asked for memory and must not grow meanwhile."""
        return self._asked_memory and self._around.grants.waits(self._name)

    @property
    def calm(self) -> bool:
        """When its memory was last looked at it was far below what was granted."""
        return is_calm(self._around.roster.seen(self._name).memory, self.held["memory"])

    def watch_memory(self) -> Reason | None:
        """Look at its memory; why it must end, or nothing."""
        grants, roster = self._around.grants, self._around.roster
        resident = self._process.memory()
        roster.see(self._name, memory=resident)
        claim = roster.get(self._name).claim
        held = self.held
        found = look(resident, held["memory"], claim.memory, waits=self.waits_for_memory)
        if found.advice is Advice.NOTHING:
            return None
        if found.advice is Advice.ASK:
            grants.withdraw(self._name)  # a change that waits will ask again
            self._asked_memory = not self.request({"memory": found.amount})
            return None
        if found.advice is Advice.KILL:
            self._process.send(signal.SIGKILL)
        granted = min(held["memory"], claim.memory)
        return because(JobCode.MEMORY_TAKEN, resident >> 20, granted >> 20)
