"""Finds a host's registrable domain by the Public Suffix List."""

from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList


@cache
def _suffixes() -> PublicSuffixList:
    # Reading the list takes some 40 ms, so only crawls that ask for domains pay for it.
    return PublicSuffixList()


def is_address(host: str) -> bool:
    """Whether a host of a parsed URL is an IPv4 or (bracketed) IPv6 address and not a name."""
    # By WHATWG rules a name whose last label is a number does not parse.
    return host[:1] == "[" or host.rpartition(".")[2].isdigit()


@lru_cache(maxsize=16_384)
def registrable_domain(host: str) -> str:
    """The part of a name that somebody registered, e.g. `example.co.uk` for `www.example.co.uk`.

    An address, a single label and a public suffix itself (`github.io`) stand for themselves.

    Args:
        host: as `Url.host`; a final dot is ignored.
    """
    host = host.rstrip(".")
    if is_address(host):
        return host
    return _suffixes().privatesuffix(host) or host
