"""Settings of what others may tell the daemon."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Seconds
from gossamer.model.url import Url


class PingsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who may tell, without a log-in, that pages have changed. What they say makes pages due, never more."""

    indexnow: Annotated[
        bool,
        Meta(description="take submissions by IndexNow at /indexnow; their keys are looked for on the hosts"),
    ] = False
    websub: Annotated[
        bool,
        Meta(description="subscribe at the hubs that feeds of running jobs name; needs public_url"),
    ] = False
    public_url: Annotated[
        str, Meta(description="where others reach this daemon, like https://crawler.example.org; for hubs")
    ] = ""
    new: Annotated[
        bool,
        Meta(description="admit what is submitted by IndexNow and not known, if it is in a job's scope"),
    ] = False
    per_minute: Annotated[
        int,
        Meta(ge=1, le=100_000, description="requests that one address may make a minute; more are put off"),
    ] = 60
    lease: Annotated[
        Seconds,
        Meta(description="how long hubs are asked to tell of changes; they are asked again before it ends"),
    ] = 10 * 86_400.0

    def __post_init__(self) -> None:
        """Refuse what could never work.

        Raises:
            ValueError: one sentence.
        """
        if self.websub and not self.public_url:
            raise ValueError("websub: needs public_url, where hubs can reach this daemon")
        url = Url.parse(self.public_url) if self.public_url else None
        if self.public_url and (url is None or url.scheme not in ("http", "https") or "?" in url.text):
            raise ValueError(f"public_url: {self.public_url!r} is not like https://crawler.example.org")

    @property
    def public_host(self) -> str:
        """The name under which hubs call us; empty without one."""
        url = Url.parse(self.public_url) if self.public_url else None
        return url.host if url is not None else ""
