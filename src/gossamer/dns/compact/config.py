"""Settings of the compact name cache."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import BYTES, Count, Seconds


class CompactConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much is kept in the shared file, and how names that do not exist are remembered."""

    folder: Annotated[
        str,
        Meta(
            description="where the file lies that all crawls of this user share, on a disk of this machine; "
            "empty: in the user's cache folder. Crawls that must not know of each other need two folders"
        ),
    ] = ""
    max_bytes: Annotated[
        int,
        Meta(
            description="size of the file, about 55 bytes a name; what is over goes, expired answers first. "
            "Lower than before, it starts the file anew",
            ge=1 << 20,
            le=1 << 40,
            extra=BYTES,
        ),
    ] = 64 << 20
    negative_names: Annotated[
        Count,
        Meta(
            description="names known not to exist that the filter holds, 3.6 bytes of memory each at one "
            "error in a million; further ones are kept with the failures. 0: no filter"
        ),
    ] = 1_000_000
    negative_error: Annotated[
        float,
        Meta(
            description="share of names that a full filter wrongly takes for not existing; these wait until "
            "it is emptied",
            ge=1e-12,
            le=0.1,
        ),
    ] = 1e-6
    negative_seconds: Annotated[
        Seconds,
        Meta(description="the filter is emptied as a whole this long after its first name; names in it wait"),
    ] = 3_600.0
    failures: Annotated[
        Count,
        Meta(
            description="other failures kept in memory, about 0.5 KB each; the least recently used go first"
        ),
    ] = 10_000
