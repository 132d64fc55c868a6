"""Answers for names by hand, and what a crawl's name cache holds and was asked."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from gossamer.assembly.name_resolution import count_names, kept_names
from gossamer.assembly.report import name_sums
from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.terminal.printing import duration, plural, safe, show, show_json, size
from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.resolver import CaresResolver
from gossamer.dns.statistics import NameStatistics
from gossamer.fetch.config import FetchConfig
from gossamer.inspect.inspection import inspect
from gossamer.model.errors import ConfigError
from gossamer.model.name import Answer
from gossamer.ports import NameCache

TLDS_SHOWN = 12


def resolver_of(nameservers: list[str]) -> CaresResolver:
    """A resolver that keeps nothing, for single questions."""
    from gossamer.fetch.names_by_https import NamesByHttps

    return CaresResolver(dns_config(nameservers), PlainCache(100), carrier=NamesByHttps(FetchConfig()))


def dns_config(nameservers: list[str]) -> DnsConfig:
    """The default settings with these name servers.

    Raises:
        ConfigError: one of them is none.
    """
    from gossamer.config.settings import load

    return load(DnsConfig, {"nameservers": nameservers})


def show_names(names: list[str], nameservers: list[str], *, json: bool) -> None:
    """Ask for each name, and print the answer beside what the cache of this machine's crawls knows.

    Exit 1 if one has no address.
    """
    kept = _kept(names, dns_config(nameservers))
    answers = asyncio.run(_resolve(names, nameservers))
    if json:
        found = zip(answers, kept, strict=True)
        show_json([{**msgspec.to_builtins(answer), "cache": state} for answer, state in found])
    else:
        for answer, state in zip(answers, kept, strict=True):
            show(f"{_words(answer)}; {state}")
    if any(answer.fault is not None for answer in answers):
        sys.exit(EXIT_NOTHING)


async def _resolve(names: list[str], nameservers: list[str]) -> list[Answer]:
    resolver = resolver_of(nameservers)
    try:
        return list(await asyncio.gather(*map(resolver.resolve, names)))
    finally:
        await resolver.close()


def _kept(names: list[str], config: DnsConfig) -> list[str]:
    """What the shared cache says of each name; crawls with name servers of their own share none."""
    cache = None if config.nameservers else kept_names(config, Path())
    if cache is None:
        return ["not in the cache"] * len(names)
    try:
        return [_state(cache, name.lower().removesuffix("."), time.time()) for name in names]
    finally:
        cache.close()


def _state(cache: NameCache, name: str, now: float) -> str:
    answer = cache.get(name, now)
    if answer is not None:
        return f"in the cache for another {duration(max(0.0, answer.ttl))}"
    return "in the cache, expired" if cache.stale(name, now) else "not in the cache"


def _words(answer: Answer) -> str:
    if answer.fault is not None:
        return f"{safe(answer.name)}: {answer.fault} ({safe(answer.detail)}) in {answer.seconds:.3f} s"
    source = f"from {answer.server}" if answer.server else "known here"
    return (
        f"{safe(answer.name)}: {', '.join(answer.addresses)}; TTL {answer.ttl:.0f} s, {source} "
        f"in {answer.seconds:.3f} s"
    )


def show_kept_names(domains: list[str], stats: Path | None, nameservers: list[str], *, json: bool) -> None:
    """Print how many names under each domain the cache of a crawl, or of this user's crawls, holds (D3).

    Raises:
        ConfigError: there is no such cache, or no crawl.
    """
    if stats is None:
        kept = count_names(dns_config(nameservers), Path(), domains)
    else:
        with inspect(stats) as inspection:
            kept = count_names(inspection.config.dns, inspection.folder.names, domains)
    if kept is None:
        whose = f"the crawl in {stats}" if stats is not None else "a crawl of yours"
        raise ConfigError(f"no compact name cache of {whose} is on this machine (see dns.cache)")
    if json:
        show_json(kept.under)
        return
    for domain, count in kept.under.items():
        show(f"{safe(domain)}: {plural(count, 'name')} of {kept.names:,} kept")


def show_name_statistics(path: Path, *, json: bool) -> None:
    """Print what a crawl asked about names, and what its cache holds; works on a running crawl too."""
    with inspect(path) as inspection:
        statistics = inspection.names
        facts = _cache_facts(inspection.config.dns, inspection.folder.names)
    print_name_statistics(statistics, facts, json=json)


def print_name_statistics(statistics: NameStatistics, facts: dict[str, Any], *, json: bool) -> None:
    """Print what was asked; `facts`: of the cache, at least its kind as `cache`."""
    if json:
        figures = {
            **name_sums(statistics),
            "latency_median": statistics.latency(0.5),
            "latency_95": statistics.latency(0.95),
            "slowest": dict(statistics.slowest_names()),
            "failing": dict(statistics.failing_names()),
            "failures": statistics.failures,
        }
        show_json({**figures, **facts})
        return
    for line in _lines(statistics, facts):
        show(line)


def _cache_facts(config: DnsConfig, own: Path) -> dict[str, Any]:
    """What the file of a compact cache holds; the other caches live in the crawl's memory alone."""
    cache = kept_names(config, own)
    if cache is None:
        return {"cache": config.cache}
    try:
        census = cache.census()
        tlds = sorted(cache.counts_by_tld().items(), key=lambda item: (-item[1], item[0]))
    finally:
        cache.close()
    each = round(census.bytes / census.entries, 1) if census.entries else 0.0
    return {
        "cache": config.cache,
        "entries": census.entries,
        "bytes_per_entry": each,
        "bytes": census.bytes,
        "by_tld": dict(tlds),
    }


def _lines(statistics: NameStatistics, facts: dict[str, Any]) -> list[str]:
    share = statistics.share
    lines = [f"cache     {facts['cache']}"]
    if "entries" in facts:
        lines[0] += f", {facts['entries']:,} entries in {size(facts['bytes'])}"
        lines[0] += f", {facts['bytes_per_entry']} bytes each"
    lines += [
        f"asked     {statistics.questions:,} times: {share(statistics.hits):.1%} hits, "
        f"{share(statistics.misses):.1%} misses, {share(statistics.negative):.1%} known failures, "
        f"{share(statistics.deferred):.1%} deferred, {statistics.stale:,} answered stale",
        f"resolved  {statistics.resolutions:,} names with {statistics.queries:,} queries; half within "
        f"{statistics.latency(0.5):g} s, 95% within {statistics.latency(0.95):g} s",
    ]
    for title, pairs in (
        ("failed", [f"{safe(kind)} {count:,}" for kind, count in statistics.failures.items()]),
        ("slowest", [f"{safe(name)} {seconds:.2f} s" for name, seconds in statistics.slowest_names()[:5]]),
        ("failing", [f"{safe(name)} {count:,}" for name, count in statistics.failing_names()[:5]]),
    ):
        if pairs:
            lines.append(f"{title:<9} {', '.join(pairs)}")
    if tlds := facts.get("by_tld"):
        shown = [
            f".{safe(tld)} {count:,}" if tld else f"others {count:,}"
            for tld, count in list(tlds.items())[:TLDS_SHOWN]
        ]
        lines.append(f"by TLD    {', '.join(shown)}")
    return lines
