"""The rooms' doors that a settled visit goes through, and which of its links are followed."""

import msgspec

from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.admission.robots_files import RobotsFiles
from gossamer.engine.admission.speculation import Speculation
from gossamer.engine.plugin_watch import PluginWatch
from gossamer.engine.settlement.judge import Judge
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.settlement.revisits import Revisits
from gossamer.engine.settlement.twins import Twins
from gossamer.engine.settlement.yields import Yields
from gossamer.engine.signals.signals import Signals
from gossamer.model.link import Link, LinkKind
from gossamer.model.page import Page
from gossamer.ports import RevisitPolicy


class LinkRules(msgspec.Struct, frozen=True):
    """Which links of a page are followed.

    Attributes:
        skip_canonical: pages that say that their own URL is another do not lead there: it is the same page.
        back: also redirects to where their chain has been, once: a cookie may have been set on the way.
    """

    skip_duplicates: bool = False
    honour_nofollow: bool = True
    honour_meta: bool = True
    skip_canonical: bool = False
    back: bool = False
    speculative: bool = False

    def followed(self, page: Page, *, seen_before: bool) -> tuple[Link, ...]:
        """The links of an archived page that are to be followed; `seen_before`: its content was."""
        if (self.skip_duplicates and seen_before) or (self.honour_meta and page.directives.nofollow):
            return ()
        if self.skip_canonical and any(link.kind is LinkKind.CANONICAL for link in page.links):
            return tuple(link for link in page.links if link.kind is not LinkKind.CANONICAL)
        if self.speculative and self.honour_nofollow:
            return _without_forbidden(page.links)
        return page.links


def _without_forbidden(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Without the speculative links to what a link of the same page forbids to follow."""
    forbidden = {link.url.text for link in links if link.nofollow}
    if not forbidden:
        return links
    return tuple(
        link for link in links if link.kind is not LinkKind.SPECULATIVE or link.url.text not in forbidden
    )


class Doors(msgspec.Struct, frozen=True):
    """The rooms' doors that a settled visit goes through."""

    identity: Identity
    memory: PageMemory
    judge: Judge
    admission: Admission
    robots: RobotsFiles
    links: LinkRules
    yields: Yields
    plugins: PluginWatch
    again: Revisits
    revisits: RevisitPolicy | None = None
    """Handed in; it then says when a page is due again."""
    signals: Signals | None = None
    speculation: Speculation | None = None
    twins: Twins | None = None
