"""Whether two names show one site, by what both have shown at the same paths (K7, decision 0040).

Only whole pages count, each content once: a name that answers everything with one text has shown one page, and a
picture, a style sheet or a robots file that a thousand sites share has shown none.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Literal

import msgspec

from gossamer.model.url import Url
from gossamer.policy.revisit.gone import GONE_STATUSES

TwinsMode = Literal["tell", "skip", "off"]

LEAST = 8
"""Different pages that must be alike."""
LEAST_BYTES = 256
"""Bytes of a body below which a page says too little to tell one site from another."""
FOR_EACH_UNLIKE = 20
"""Pages that must be alike for each that is not; below the half of it two names are told apart again."""
CHECKED = 50
"""Of this many URLs that need not be fetched, one is fetched all the same, so that a mistake is noticed."""
PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of what counts."""


class Shown(msgspec.Struct, frozen=True, gc=False):
    """What came back for a URL.

    Attributes:
        status: of the last visit; 0 if there was no answer.
        content: digest of the page; 0 if it was none that counts.
    """

    status: int
    content: int = 0


def shown(status: int, content: int, media_type: str, size: int) -> Shown:
    """What came back, by status, digest, media type and bytes of the body."""
    counts = status == 200 and size >= LEAST_BYTES and media_type in PAGES
    return Shown(status, content if counts else 0)


class Likeness(Enum):
    """What two names show at one path."""

    ALIKE = "alike"
    UNLIKE = "unlike"
    MISSING = "missing"
    """One has nothing there. That speaks against one site, but nobody loses a page by it: it is fetched where it is."""


def compare(one: Shown, other: Shown) -> Likeness | None:
    """Whether two names show the same at a path; `None` if that cannot be said.

    A refusal, a redirect or a failure says nothing of the page.
    """
    if not one.content and not other.content:
        return None
    if one.content == other.content:
        return Likeness.ALIKE
    silent = other if one.content else one
    if silent.status in GONE_STATUSES:
        return Likeness.MISSING
    return Likeness.UNLIKE if silent.status == 200 else None


class Evidence(msgspec.Struct, frozen=True):
    """What was found of two names.

    Attributes:
        alike: different pages that both show at the same path.
        unlike: paths at which they show something else, or one shows nothing.
        apart: pages of the one that goes, of which nothing is known on the other.
    """

    alike: int = 0
    unlike: int = 0
    apart: int = 0

    @property
    def one_site(self) -> bool:
        """Whether that is enough to take both for one site."""
        few = self.alike < LEAST or self.alike < FOR_EACH_UNLIKE * self.unlike
        return not few and self.alike >= self.apart


def evidence(at_paths: Iterable[tuple[Shown, Shown | None]]) -> Evidence:
    """What follows from pairs of what both show at a path; `None` where nothing is known of the second."""
    contents: set[int] = set()
    unlike = apart = 0
    for one, other in at_paths:
        if other is None:
            apart += bool(one.content)
            continue
        match compare(one, other):
            case Likeness.ALIKE:
                contents.add(one.content)
            case Likeness.UNLIKE | Likeness.MISSING:
                unlike += 1
    return Evidence(len(contents), unlike, apart)


class TwinPair(msgspec.Struct, array_like=True):
    """Two names that may show one site.

    Attributes:
        goes, stays: their origins; which is which means something only when `found`.
        met: pages that were met on the second name at the same path as before on the first.
        looked: `met` when what both show was last compared.
        found: they are taken for one site.
        alike, unlike: as in `Evidence`, with what was seen since they were found; of that only other content is unlike.
        withdrawn: they were, and what was not fetched for it is still to be brought back.
        doubts: visits to pages again since both were last compared that showed something else than the other name.
    """

    goes: str
    stays: str
    met: int = 0
    looked: int = 0
    found: bool = False
    alike: int = 0
    unlike: int = 0
    withdrawn: bool = False
    doubts: int = 0

    @property
    def due(self) -> bool:
        """Whether to compare what both show: each time that twice as much may be known."""
        return self.met >= max(LEAST, 2 * self.looked)

    @property
    def contradicted(self) -> bool:
        """Whether what was seen since they were found says that they are not."""
        return 2 * self.alike < FOR_EACH_UNLIKE * self.unlike


def at(origin: str, target: str) -> Url:
    """The URL of a path on a name."""
    url = Url.from_serialised(origin + target)
    assert url is not None, origin
    return url
