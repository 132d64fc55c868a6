"""Settings of the extract room."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import BYTES, Bytes, Count


class ExtractConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of a document is read, and by whom."""

    max_content: Annotated[
        int,
        Meta(
            extra=BYTES,
            ge=1024,
            description="Decoded content read by extractors; what lies beyond is not searched.",
        ),
    ] = 16 << 20
    max_links: Annotated[
        Count, Meta(description="Links kept of one page; a page with more loses the later ones.")
    ] = 50_000
    max_link_text: Annotated[
        int,
        Meta(
            extra=BYTES,
            ge=1 << 16,
            description="Text of all links of one page; bounds the memory one page can take.",
        ),
    ] = 16 << 20
    text_fields: Annotated[
        int, Meta(ge=1, le=100_000, description="Characters kept of title, description, author, language.")
    ] = 1_000
    offload_above: Annotated[
        Bytes,
        Meta(description="Content longer than this is read in a thread, so that the event loop goes on."),
    ] = 256 << 10
    memo_links: Annotated[
        Count, Meta(description="Resolved links remembered between pages; 0.6 KB each, fewer cost CPU time.")
    ] = 20_000
    anchor_text: Annotated[
        bool,
        Meta(description="Keep the visible text of links, for orderings that read it; costs CPU time."),
    ] = False
    extractors_off: Annotated[
        tuple[str, ...], Meta(description="Names of extractors that are not used, e.g. `css` or `feed`.")
    ] = ()
