"""Candidates: URLs that somebody mentioned, on their way through the one door in."""

import msgspec

from gossamer.model.link import LinkKind
from gossamer.model.url import Url


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A URL to visit, with the story of how it was found.

    Attributes:
        url: the URL as found; this is what will be requested.
        kind: how it was mentioned.
        depth: links and requisites followed from the seed (redirects, robots files and
            sitemaps add hops, not depth).
        hops: hop path from the seed, e.g. `LLR`.
        via: text of the URL that mentioned it; empty for seeds.
        attempts: visits made so far.
        forced: fetch even though the canonical form was seen (redirect to its own
            canonical form); never set twice in a row.
        origin: for robots files and their redirects: the origin whose rules are asked for.
        again: it was visited before, and has its turn again.
        element: where it stood, as `Link.element`, or the form and the word (`policy.speculation.form`); of
            speculative links only, which are believed by it.
    """

    url: Url
    kind: LinkKind = LinkKind.SEED
    depth: int = 0
    hops: str = ""
    via: str = ""
    attempts: int = 0
    forced: bool = False
    origin: str = ""
    again: bool = False
    element: str = ""

    @property
    def is_guess(self) -> bool:
        """Whether nobody linked to it, and it was not visited yet: it may be the address of nothing."""
        return self.kind is LinkKind.SPECULATIVE and not self.again
