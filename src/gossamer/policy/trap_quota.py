"""Keeps suspects to a share of all visits while there is anything better to wait for."""


class SuspectQuota:
    """Counts visits, and those to suspects.

    Handicaps put suspects behind all else, but only among the hosts that may be visited now: while these
    rest, workers with nothing to do would turn to traps. So they wait too, unless nobody else is there.
    """

    __slots__ = ("_share", "_suspects", "_visits")

    def __init__(self, share: float) -> None:
        """`share`: of all visits, 0 to 1."""
        self._share = share
        self._visits = 0
        self._suspects = 0

    def allows(self, *, others: bool) -> bool:
        """Whether a suspect may be visited; `others`: URLs that are none wait, if only for a rest to end."""
        return not others or self._suspects < self._share * self._visits

    def count(self, *, suspect: bool) -> None:
        """A URL was lent."""
        self._visits += 1
        self._suspects += suspect
