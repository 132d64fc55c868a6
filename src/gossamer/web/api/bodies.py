"""What requests to the daemon itself bring."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gossamer.web.security.passwords import MAX_PASSWORD

JobName = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$", max_length=64, description="becomes a folder's name")
]
Amount = Annotated[int, Meta(ge=0, le=1 << 60)]
Line = Annotated[str, Meta(pattern=r"^[^\r\n\0]*$", max_length=8192)]


class NewJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to be: its configuration as TOML, or the same as a tree."""

    name: Annotated[JobName, Meta(description="not given: crawl-HOST, by the first seed")] = ""
    toml: Annotated[str, Meta(description="text of a crawl.toml")] | None = None
    settings: Annotated[dict[str, Any], Meta(description="settings as a tree")] | None = None
    seeds: Annotated[list[Line], Meta(description="URLs or host names")] | None = None
    claim: Annotated[dict[str, Amount], Meta(description="the most it will hold, by resource")] | None = None


class Adoption(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A crawl's folder that was made by hand."""

    folder: Annotated[str, Meta(max_length=4096, pattern=r"^/[^\0]*$", description="absolute path")]


class NewName(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the copy is called."""

    name: JobName


class Ending(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a crawl ends: `now` drops what is being visited; resume visits it again."""

    now: bool = False


class LogIn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name and its password."""

    name: Annotated[str, Meta(max_length=64)]
    password: Annotated[str, Meta(max_length=MAX_PASSWORD)]


Amounts = dict[str, Amount]
"""By resource."""
