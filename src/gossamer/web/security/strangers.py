"""Says what may be asked without a log-in by whoever tells us of changes."""

from collections.abc import Mapping


class Strangers:
    """Addresses that are open to everybody, each with the bytes that a request may bring.

    An address that ends with a slash is all below it.
    """

    def __init__(self, open_to: Mapping[str, int]) -> None:
        self._exact = {path: most for path, most in open_to.items() if not path.endswith("/")}
        self._below = {path: most for path, most in open_to.items() if path.endswith("/")}

    def most_bytes(self, path: str) -> int | None:
        """Bytes that a request to `path` may bring; `None` if it is not open."""
        known = self._exact.get(path)
        if known is not None:
            return known
        return next((most for start, most in self._below.items() if path.startswith(start)), None)


NOBODY = Strangers({})
"""Everything needs a log-in that is not open by itself."""
