"""Settings of log-ins, sessions and what the daemon accepts from the network."""

from ipaddress import ip_address, ip_network
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import BYTES, SECONDS, Count, Seconds
from gossamer.model.url import Url

NAME_LENGTH = 253
"""Of a host name (RFC 1035, section 2.3.4)."""


class SecurityConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is let in, and how much of their requests."""

    allowed_hosts: Annotated[
        tuple[str, ...],
        Meta(description="names under which the console is called; others are refused (DNS rebinding)"),
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(description="addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed"),
    ] = ()
    forbidden_networks: Annotated[
        tuple[str, ...],
        Meta(description="networks (CIDR) that no job may visit, whatever its settings and seeds say"),
    ] = ()
    secrets: Annotated[
        dict[str, tuple[str, ...]],
        Meta(
            description="secrets that jobs may use, env:GOSSAMER_SECRET_NAME or file:PATH, each with the"
            " origins it may be sent to, like https://wiki.example.org"
        ),
    ] = {}
    certificate: Annotated[
        str, Meta(description="PEM file with the certificate: the daemon then speaks HTTPS only")
    ] = ""
    private_key: Annotated[str, Meta(description="PEM file with the certificate's key")] = ""
    session: Annotated[
        Seconds, Meta(description="a log-in ends after this time, used or not; shorter means more log-ins")
    ] = 7 * 86_400.0
    idle: Annotated[Seconds, Meta(description="a log-in ends when it was not used for this long")] = (
        12 * 3600.0
    )
    failures: Annotated[
        int, Meta(ge=1, le=1000, description="wrong log-ins that one address may make at once")
    ] = 5
    failure_rest: Annotated[
        float,
        Meta(
            ge=1.0, le=86_400.0, extra=SECONDS, description="after those, the time until each further attempt"
        ),
    ] = 30.0
    password_length: Annotated[
        int, Meta(ge=8, le=128, description="characters that a new password has at least")
    ] = 12
    hash_memory: Annotated[
        int,
        Meta(
            ge=1 << 20,
            le=4 << 30,
            extra=BYTES,
            description="memory that one log-in costs us and a thief; holds for new passwords",
        ),
    ] = 64 << 20
    hash_rounds: Annotated[int, Meta(ge=1, le=100, description="passes over that memory for one log-in")] = 3
    max_body: Annotated[
        int, Meta(ge=1 << 10, le=64 << 20, extra=BYTES, description="a larger request is refused")
    ] = 1 << 20
    body_time: Annotated[Seconds, Meta(description="a request whose body takes longer is refused")] = 30.0
    event_streams: Annotated[
        Count, Meta(description="live views open at once, of everybody; more are told to come back later")
    ] = 64

    def __post_init__(self) -> None:
        """Refuse what could never work.

        Raises:
            ValueError: one sentence.
        """
        if bool(self.certificate) != bool(self.private_key):
            raise ValueError("certificate and private_key: give both, or neither")
        for name in self.allowed_hosts:
            if not 0 < len(name) <= NAME_LENGTH or not set(name.lower()) <= _NAME_CHARACTERS:
                raise ValueError(f"allowed_hosts: {name!r} is not a host name (without port or scheme)")
        for address in self.trusted_proxies:
            try:
                ip_address(address)
            except ValueError:
                raise ValueError(f"trusted_proxies: {address!r} is not an IP address") from None
        for network in self.forbidden_networks:
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(f"forbidden_networks: {error}") from None
        for reference, origins in self.secrets.items():
            for origin in origins:
                url = Url.parse(origin)
                if url is None or url.target != "/":
                    raise ValueError(
                        f"secrets: {origin!r} of {reference!r} is not like https://wiki.example.org"
                    )


_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
