"""Says what may be asked without a log-in by whoever tells us of changes."""

from collections.abc import Iterable


class Strangers:
    """Addresses that are open to everybody; one that ends with a slash is all below it."""

    def __init__(self, open_to: Iterable[str]) -> None:
        paths = list(open_to)
        self._exact = frozenset(paths)
        self._below = tuple(path for path in paths if path.endswith("/"))

    def hears(self, path: str) -> bool:
        """Whether `path` is open. The gate does not read what is sent there: its route does, within its own bounds."""
        return path in self._exact or path.startswith(self._below)


NOBODY = Strangers(())
"""Everything needs a log-in that is not open by itself."""
