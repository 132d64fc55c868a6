"""What an audit is asked to do, beside the crawl that it looks at."""

import msgspec

from gossamer.policy.linkcheck.verdicts import Patience

__all__ = ["DAY", "AuditAsked"]

DAY = 86_400.0


class AuditAsked(msgspec.Struct, frozen=True, kw_only=True):
    """How an audit goes about it.

    Attributes:
        outside: ask for what the crawl did not visit; without, it stays unknown.
        outside_delay: seconds that hosts which are not the crawl's own rest after each request, at least.
        max_age: seconds for which answers of earlier audits count.
        max_time: seconds after which nothing more is asked; 0: no limit.
        hosts: asked at once.
        changed: judge only pages that say something else than at the last audit of the folder.
        patience: with each link.
    """

    outside: bool = True
    outside_delay: float = 1.0
    max_age: float = DAY
    max_time: float = 0.0
    hosts: int = 32
    changed: bool = False
    patience: Patience = Patience()
