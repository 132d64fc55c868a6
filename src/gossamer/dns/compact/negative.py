"""Names known not to exist, in a Bloom filter that is emptied as a whole (D5)."""

import operator

from rbloom import Bloom


class NotFoundNames:
    """Holds so many names at so small a share of false alarms, until a uniform expiry.

    The filter lives in the memory of one process and is never saved. A name is given as a keyed 128-bit
    hash, so nobody outside can choose names that fill it or that look like another's.

    Invariant: at most `names` names are in it, so the share of false alarms stays below `error`; it is
    empty if and only if it has no bits.
    """

    def __init__(self, names: int, error: float, seconds: float) -> None:
        self._names = names
        self._error = error
        self._seconds = seconds
        self._bloom: Bloom | None = None  # made by the first name; its zeroes take no memory before
        self._count = 0
        self._since = 0.0

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<NotFoundNames {self._count} of {self._names}>"

    @property
    def room(self) -> int:
        """Bytes that the filter's bits take."""
        return self._bloom.size_in_bits // 8 if self._bloom is not None else 0

    def add(self, digest: int, now: float) -> bool:
        """Take a name in; whether it is in now. A full filter takes no more until it is emptied.

        Args:
            digest: keyed hash of the name, -2^127 to 2^127 - 1.
            now: wall time in seconds.
        """
        self._empty_when_due(now)
        if self._bloom is None:
            if self._names == 0 or self._seconds <= 0:
                return False
            self._bloom = Bloom(self._names, self._error, operator.index)
            self._since = now
        if digest in self._bloom:
            return True
        if self._count >= self._names:
            return False
        self._bloom.add(digest)
        self._count += 1
        return True

    def held(self, digest: int, now: float) -> float:
        """Seconds until the emptying if the name is taken for one that does not exist, else 0."""
        if self._bloom is None:
            return 0.0
        self._empty_when_due(now)
        if self._bloom is None or digest not in self._bloom:
            return 0.0
        return self._since + self._seconds - now

    def clear(self) -> None:
        """Forget every name that does not exist."""
        self._bloom = None
        self._count = 0

    def _empty_when_due(self, now: float) -> None:
        # A wall clock that went back does not make the names wait longer: they are asked for again.
        if self._bloom is not None and not self._since <= now < self._since + self._seconds:
            self.clear()
