"""Settings for single hosts: the `[host."example.org"]` sections of the configuration."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Bytes, Count, Seconds
from gossamer.model.url import Url

Factor = Annotated[float, Meta(ge=0)]
Visits = Annotated[int, Meta(ge=1)]


class HostOverrides(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What differs for one host; what is not given stays as for all.

    Its `repr` hides the secrets.
    """

    min_delay: Annotated[
        Seconds | None, Meta(description="Shortest rest after a visit; 0 switches the factor off too.")
    ] = None
    max_delay: Annotated[
        Seconds | None, Meta(description="Longest rest that slow answers of this host can cause.")
    ] = None
    factor: Annotated[Factor | None, Meta(description="Rest this many times as long as the answer took.")] = (
        None
    )
    visits_per_host: Annotated[
        Visits | None, Meta(description="Visits at once; more than 1 only for sites of your own.")
    ] = None
    max_pages: Annotated[
        Count | None, Meta(description="Pages to fetch from this host, then the rest is parked; 0: no limit.")
    ] = None
    max_bytes: Annotated[
        Bytes | None, Meta(description="Bytes to fetch from this host, then the rest is parked; 0: no limit.")
    ] = None
    max_speed: Annotated[
        Bytes | None,
        Meta(description="Bytes per second to receive from this host, its rests included; 0: no limit."),
    ] = None
    username: Annotated[
        str | None, Meta(description="Name for HTTP Basic authentication; sent to `origin` only.")
    ] = None
    password: Annotated[
        str | None, Meta(extra={"secret": True}, description="Password that belongs to `username`.")
    ] = None
    token: Annotated[
        str | None,
        Meta(
            extra={"secret": True},
            description="Bearer token; sent to `origin` only, in place of name and password.",
        ),
    ] = None
    origin: Annotated[
        str | None,
        Meta(
            description="Scheme, host and port that name, password or token are for, like"
            " http://wiki.example.org:8080; if not given, https:// and this host."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.password is not None and self.username is None:
            raise ValueError("a password needs a username beside it")
        if self.token is not None and self.username is not None:
            raise ValueError("give either username and password or a token, not both")
        if self.origin is not None:
            url = Url.parse(self.origin)
            if url is None or url.target != "/" or url.text != f"{url.origin}/":
                raise ValueError("origin is a scheme, a host and perhaps a port, like http://a.example:8080")

    def credentials_are_for(self, origin: str) -> bool:
        """Whether name, password or token may be sent to an origin, of a host that this is the section of."""
        if self.username is None and self.token is None:
            return False
        url = None if self.origin is None else Url.parse(self.origin)
        if url is not None:
            return url.origin == origin
        asked = Url.from_serialised(f"{origin}/")
        return asked is not None and asked.scheme == "https" and asked.port == 443

    def __repr__(self) -> str:
        return f"HostOverrides({', '.join(f'{name}={value!r}' for name, value in self._shown())})"

    def _shown(self) -> Iterator[tuple[str, object]]:
        for name in self.__struct_fields__:
            if (value := getattr(self, name)) is not None:
                yield name, "***" if name in ("password", "token") else value

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return list(self._shown())


NO_OVERRIDES = HostOverrides()


def section_problem(name: str) -> str | None:
    """What is wrong with the name of a section, which no host would ever be found by; or `None`."""
    star, bare = ("*.", name[2:]) if name.startswith("*.") else ("", name)
    url = None if set("/?#@*") & set(bare) else Url.parse(f"http://{bare}/")
    if url is None or not url.host or (star and url.host[:1] == "["):
        return "is neither a host name nor '*.' and a name"
    right = star + url.host.rstrip(".")
    return None if right == name else f'names of hosts are written like [host."{right}"] here'


def overrides_for(table: Mapping[str, HostOverrides], host: str) -> HostOverrides:
    """The settings of `host`: of its own section, else of the nearest `*.` section above it, else none.

    Sections are not merged. `*.example.org` covers every name below `example.org`, not itself.
    """
    if not table:
        return NO_OVERRIDES
    own = table.get(host)
    if own is not None:
        return own
    _, dot, parent = host.partition(".")
    while dot:
        own = table.get(f"*.{parent}")
        if own is not None:
            return own
        _, dot, parent = parent.partition(".")
    return NO_OVERRIDES
