"""Settings of the disks that a crawl lies on, and of the store it is copied to."""

from typing import Annotated

import msgspec
from msgspec import Meta


class StorageConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Folders on other disks, each of which must be there, which are read when a crawl begins (from then on links say
    where its files lie), and a store of objects."""

    archive: Annotated[
        str,
        Meta(
            description="folder in which the crawl makes one of its own for its archive; its folder then has a link"
            " to it. Empty: within the crawl's folder, as are the others"
        ),
    ] = ""
    log: Annotated[str, Meta(description="the same for the log, crawl.log")] = ""
    state: Annotated[
        str,
        Meta(description="the same for the state with its checkpoints, which want the fastest disk"),
    ] = ""
    temporary: Annotated[
        str,
        Meta(description="the same for bodies that are too large for memory, until they are archived"),
    ] = ""
    upload: Annotated[
        str,
        Meta(
            description="address of a store to which the crawl is copied while it goes on, for it alone:"
            " s3://bucket/path or any that fsspec knows, without credentials, which the store's package finds"
            " itself. Empty: to none"
        ),
    ] = ""
