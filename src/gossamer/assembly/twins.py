"""Names that show one site, as people are told of them."""

from collections.abc import Iterable

import msgspec

from gossamer.engine.settlement.twins import pairs_in
from gossamer.model.reasons.codes import TwinCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.twins import TwinsMode
from gossamer.state.environment import Environment


class TwinSites(msgspec.Struct, frozen=True):
    """Two names that show one site.

    Attributes:
        goes, stays: their origins, as `https://www.example.org`; with `engine.twins = "skip"` what the second shows is
            not fetched from the first.
        alike: of `compared` paths known on both, those at which they show the same.
        why: the same as a value.
    """

    goes: str
    stays: str
    alike: int
    compared: int
    why: Reason


def twin_sites(mode: TwinsMode, states: Iterable[Environment]) -> list[TwinSites]:
    """What was found by a crawl, or by each agent of a cluster, those with most evidence first.

    Nothing if it does not look: what was found before is not watched any more.
    """
    if mode == "off":
        return []
    code = TwinCode.SKIPPED if mode == "skip" else TwinCode.SITE
    found = []
    for pair in (pair for state in states for pair in pairs_in(state)):
        figures = pair.goes, pair.stays, pair.alike, pair.alike + pair.unlike
        found.append(TwinSites(*figures, because(code, *figures)))
    return sorted(found, key=lambda pair: (-pair.alike, pair.goes))
