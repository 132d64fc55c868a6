"""Keeps suspects to a share of all visits while there is anything better to wait for."""


class SuspectQuota:
    """Counts visits since the last one to a suspect.

    Handicaps put suspects behind all else, but only among the hosts that may be visited now: while these
    rest, workers with nothing to do would turn to traps. So they wait too, unless nobody else is there.
    What is not used is not saved up: near its end a crawl has few hosts left and many idle workers, and
    would spend it all there.
    """

    __slots__ = ("_between", "_since")

    def __init__(self, share: float) -> None:
        """`share`: of all visits, above 0 and below 1."""
        self._between = round(1 / share) - 1
        self._since = 0

    def allows(self, *, others: bool) -> bool:
        """Whether a suspect may be visited; `others`: URLs that are none wait, if only for a rest to end."""
        return not others or self._since >= self._between

    def count(self, *, suspect: bool) -> None:
        """A URL was lent."""
        self._since = 0 if suspect else self._since + 1
