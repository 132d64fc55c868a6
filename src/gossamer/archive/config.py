"""Settings of the archive."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import BYTES

FieldName = Annotated[str, Meta(pattern=r"^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$")]


class ArchiveConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How archive files are made."""

    prefix: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._]{0,63}$",
            description="first part of each file's name; files of different crawls can then share a folder",
        ),
    ] = "gossamer"
    max_file_size: Annotated[
        int,
        Meta(
            extra=BYTES,
            ge=1024,
            description="a file of this size is closed; larger means fewer files and longer syncs",
        ),
    ] = 1_000_000_000
    compression: Annotated[
        int,
        Meta(
            ge=0,
            le=3,
            description="isal level: 0 is a quarter faster than 1 and 14% larger, "
            "3 takes two and a half times as long for 2%",
        ),
    ] = 1
    operator: Annotated[
        str,
        Meta(
            max_length=500, description="who runs the crawl, as written into each file; empty: nobody named"
        ),
    ] = ""
    redact: Annotated[
        tuple[FieldName, ...],
        Meta(description="HTTP fields whose values are replaced by a mark, in requests and in responses"),
    ] = ("Authorization", "Proxy-Authorization", "Cookie")
    include_requests: Annotated[
        bool, Meta(description="keep a record of each request; without, files are some 10% smaller")
    ] = True
