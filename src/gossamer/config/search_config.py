"""Settings of the search index."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import BYTES


class SearchConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The index that 'gossamer search' asks, made from the text of documents beside the crawl."""

    follow: Annotated[
        bool,
        Meta(
            description="make text and index of documents while the crawl runs, by a process of its own at low"
            " priority; off: 'gossamer index' makes them when it is asked to"
        ),
    ] = False
    similar: Annotated[
        bool,
        Meta(description="find near-duplicates with it: several pages of one text are then one hit"),
    ] = True
    memory: Annotated[
        int,
        Meta(
            extra=BYTES,
            ge=16 << 20,
            le=1 << 30,
            description="Memory for words that are not written yet; with more of it the index has fewer pieces.",
        ),
    ] = 64 << 20
