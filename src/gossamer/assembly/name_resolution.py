"""Builds name resolution: the cache that the configuration names, and what resolves ahead of the crawl."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec import structs

from gossamer.assembly.extensions import Extensions
from gossamer.dns.cache import PlainCache
from gossamer.dns.compact.cache import CompactCache
from gossamer.dns.compact.folder import DATA
from gossamer.dns.config import DnsConfig
from gossamer.dns.prefetch import Prefetcher
from gossamer.dns.resolver import CaresResolver
from gossamer.dns.statistics import NameStatistics
from gossamer.dns.zones.cache import ZonedCache
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.names_by_https import NamesByHttps
from gossamer.model.events import NameAnswered
from gossamer.ports import NameCache, Resolver


def shared_folder(config: DnsConfig, own: Path) -> Path:
    """Where the compact cache lies: shared by a user's crawls, unless they ask name servers of their own.

    Other name servers may give other answers (a split horizon, a simulated web), so these are kept in the
    crawl's folder `own` if nobody says otherwise.
    """
    if config.compact.folder:
        return Path(config.compact.folder).expanduser()
    if config.nameservers:
        return own
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "gossamer" / "names"


def name_cache(config: DnsConfig, own: Path) -> NameCache:
    """The cache that `config` names; `own` is the crawl's folder for it."""
    match config.cache:
        case "compact":
            return CompactCache(shared_folder(config, own), config.compact)
        case "zoned":
            return ZonedCache(config.zones)
        case "plain":
            return PlainCache(config.cache_entries)


def kept_names(config: DnsConfig, own: Path) -> CompactCache | None:
    """The compact cache for looking into, if there is one.

    None is made. One made with a larger `max_bytes` stays as it is: a crawl with less would begin it anew.
    """
    folder = shared_folder(config, own)
    if config.cache != "compact" or not (folder / DATA).is_file():
        return None
    size = (folder / DATA).stat().st_size
    compact = config.compact
    as_it_is = structs.replace(compact, max_bytes=max(compact.max_bytes, size), negative_names=0)
    return CompactCache(folder, as_it_is)


def served_names(config: DnsConfig, own: Path) -> NameCache:
    """The cache for answering others from: the one that `config` names, as it is if it is there.

    It has no filter of names that do not exist: others are told so for certain, or not at all.
    """
    certain = structs.replace(config, compact=structs.replace(config.compact, negative_names=0))
    return kept_names(config, own) or name_cache(certain, own)


class KeptNames(msgspec.Struct, frozen=True):
    """How many names the compact cache holds (D3).

    Attributes:
        by_tld: those of each top-level domain, the most first; empty for those that it has no code for.
        under: those under each domain that was asked for, itself included. Under a name that is neither a
            top-level nor a registrable domain there is only itself.
    """

    names: int = 0
    by_tld: dict[str, int] = {}
    under: dict[str, int] = {}


def count_names(config: DnsConfig, own: Path, domains: Iterable[str] = ()) -> KeptNames | None:
    """The figures of the cache, `None` if there is none; `domains` in the form that DNS has, ASCII."""
    cache = kept_names(config, own)
    if cache is None:
        return None
    try:
        by_tld = sorted(cache.counts_by_tld().items(), key=lambda item: (-item[1], item[0]))
        under = {domain: cache.count(domain.lower().strip(".")) for domain in domains}
        return KeptNames(cache.count(), dict(by_tld), under)
    finally:
        cache.close()


_NOTHING = Extensions()


class NameListeners(msgspec.Struct, frozen=True):
    """Who hears of names.

    Attributes:
        statistics: count all questions.
        note: hears of every name that the network resolved.
        landed: is told of each name that was resolved ahead.
    """

    statistics: NameStatistics = msgspec.field(default_factory=NameStatistics)
    note: Callable[[NameAnswered], None] = lambda _: None
    landed: Callable[[str], None] = lambda _: None


class NameRoom:
    """Cache, resolver, and what resolves `ahead` of the crawl (not where that is off).

    Args:
        fetch: how HTTPS is spoken to name servers, and whether a proxy finds all others.
        own: the crawl's own folder for names, unless it shares them.
        listeners: hear of what becomes of names.
        extensions: may bring a cache, or a resolver, which then resolves nothing ahead.
        keeps_aliases: answers tell where CNAMEs led.
    """

    def __init__(
        self,
        config: DnsConfig,
        fetch: FetchConfig,
        own: Path,
        listeners: NameListeners | None = None,
        extensions: Extensions = _NOTHING,
        *,
        keeps_aliases: bool = False,
    ) -> None:
        listeners = listeners or NameListeners()  # each with statistics of its own
        self.ahead: Prefetcher | None = None
        self.resolver: Resolver
        self._cache: NameCache | None = None
        if extensions.resolver is not None:
            self.resolver = extensions.resolver
            return
        self._cache = extensions.name_cache or name_cache(config, own)
        self.resolver = resolver = CaresResolver(
            config,
            self._cache,
            listeners.note,
            listeners.statistics,
            NamesByHttps(fetch),
            keeps_aliases=keeps_aliases,
        )
        if config.prefetch and not fetch.names_by_proxy:
            self.ahead = Prefetcher(resolver, config.prefetch_at_once, listeners.landed)

    @property
    def problems(self) -> list[str]:
        """What went wrong with the cache's file, a line each."""
        return self._cache.problems if isinstance(self._cache, CompactCache) else []

    async def close(self) -> None:
        """Give up open queries and let go of the cache."""
        if self.ahead is not None:
            self.ahead.close()
        await self.resolver.close()
        if self._cache is not None:
            self._cache.close()
