"""Settings of what is derived from documents."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import BYTES, Seconds


class DocumentsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Text and data of documents, made from the archive beside the crawl."""

    follow: Annotated[
        bool,
        Meta(
            description="make text, data and links of documents while the crawl runs, by a process of its own at"
            " low priority; off: 'gossamer index' makes them when it is asked to"
        ),
    ] = False
    processes: Annotated[
        int, Meta(ge=1, le=64, description="Documents read at a time, each in a process of its own.")
    ] = 1
    seconds: Annotated[
        Seconds, Meta(description="A document that takes longer is marked, and left without text.")
    ] = 10.0
    memory: Annotated[
        int,
        Meta(
            extra=BYTES,
            ge=256 << 20,
            description="Memory of a process that reads documents, at most. Of a document a quarter of it is read.",
        ),
    ] = 1 << 30
    links: Annotated[
        bool,
        Meta(
            description="find links in PDF, office files, EPUB, RTF, Markdown and plain text while crawling, and"
            " follow them; PDF needs the extra 'documents'"
        ),
    ] = True
