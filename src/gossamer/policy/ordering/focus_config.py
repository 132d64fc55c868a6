"""Settings of a focused crawl, apart from its policy, whose expressions take long to compile."""

from typing import Annotated

import msgspec
from msgspec import Meta

_Weight = Annotated[float, Meta(ge=0, le=1_000)]


class FocusConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a focused crawl is after; only read with `--order focused`."""

    query: Annotated[
        str, Meta(max_length=1_000, description="Words that wanted pages have, in any order.")
    ] = ""
    threshold: Annotated[
        float,
        Meta(ge=0, le=1, description="Relevance from which a page counts as harvested; 0 to 1."),
    ] = 0.5
    anchor_weight: Annotated[_Weight, Meta(description="What a link's own text counts.")] = 2.0
    url_weight: Annotated[_Weight, Meta(description="What the words of a link's address count.")] = 1.0
    page_weight: Annotated[_Weight, Meta(description="What the page counts on which the link stands.")] = 1.0
    title_weight: Annotated[
        _Weight, Meta(description="Times that a word in a page's title counts as one in its text.")
    ] = 3.0
    description_weight: Annotated[
        _Weight, Meta(description="Times that a word in a page's description counts as one in its text.")
    ] = 2.0
    passed_on: Annotated[
        float,
        Meta(ge=0, le=1, description="Share of its own promise that an irrelevant page passes to its links."),
    ] = 0.5

    def __post_init__(self) -> None:
        if not self.anchor_weight + self.url_weight + self.page_weight:
            raise ValueError("one of anchor_weight, url_weight and page_weight must be above 0")
