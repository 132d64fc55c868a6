"""Protocol modules of schemes that few crawls meet."""

from collections.abc import Callable

from gossamer.model.lease import Lease
from gossamer.model.outcome import Outcome
from gossamer.ports import ProtocolModule

__all__ = ["LoadedLate"]


class LoadedLate:
    """A protocol module that is loaded, and made, for the first URL of its schemes (`gossamer.ports.ProtocolModule`).

    Args:
        name: what the module is called, where it is told that it failed.
        schemes: those of the module.
        make: loads and makes it.
    """

    def __init__(self, name: str, schemes: frozenset[str], make: Callable[[], ProtocolModule]) -> None:
        self.__qualname__ = name
        self.schemes = schemes
        self._make = make
        self._module: ProtocolModule | None = None

    async def fetch(self, lease: Lease) -> Outcome:
        """Visit the lease's URL once.

        Raises:
            StorageError: our disk cannot take the body.
        """
        if self._module is None:
            self._module = self._make()
        return await self._module.fetch(lease)

    async def close(self) -> None:
        """Give up what is open, if anything ever was."""
        if self._module is not None:
            await self._module.close()
