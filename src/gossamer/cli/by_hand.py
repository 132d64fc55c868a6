"""Asks what a robots file says of a URL, with the crawler's own code."""

import asyncio
from pathlib import Path

from gossamer.assembly.seeds import parse_seeds
from gossamer.cli.names import resolver_of
from gossamer.cli.terminal.printing import safe, show, show_json
from gossamer.engine.visiting.reading import robots_text
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import HttpModule
from gossamer.model.candidate import Candidate
from gossamer.model.errors import ConfigError
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome, Refused
from gossamer.model.url import WITH_ROBOTS, Url
from gossamer.policy.robots.access import AllowAll, Hold, KeepRules, RobotsConfig, UseBody, access_for
from gossamer.policy.robots.file import PRODUCT_TOKEN, SIZE_LIMIT, parse_robots
from gossamer.policy.visits.retry import redirect_location
from gossamer.state.scratch import Scratch


def show_robots(text: str, nameservers: list[str], *, json: bool) -> None:
    """Fetch the robots file of the URL's origin and print what it says about the URL."""
    url = parse_seeds([text])[0]
    if url.scheme not in WITH_ROBOTS:
        raise ConfigError(f"{url.text}: {url.scheme} has no robots files; give an http or https URL")
    lines, allowed = asyncio.run(_ask_robots(url, nameservers))
    if json:
        show_json({"url": url.text, "allowed": allowed, "facts": lines})
        return
    for line in lines:
        show(safe(line))


async def _ask_robots(url: Url, nameservers: list[str]) -> tuple[list[str], bool]:
    config = FetchConfig()
    guard = AddressGuard(config)
    guard.allow_host(url.host)
    resolver = resolver_of(nameservers)
    with Scratch() as spool:
        http = HttpModule(config, resolver, guard, Path(spool))
        try:
            return await _follow_robots(url, http, config)
        finally:
            await http.close()
            await resolver.close()


async def _follow_robots(url: Url, http: HttpModule, config: FetchConfig) -> tuple[list[str], bool]:
    rules = RobotsConfig()
    at = Url.from_serialised(url.origin + "/robots.txt")
    lines = []
    for _ in range(rules.max_redirects + 1):
        assert at is not None
        outcome = await http.fetch(Lease(Candidate(at, LinkKind.ROBOTS), at.host, b""))
        lines.append(f"{at.text}: {_words(outcome)}")
        target = None
        if isinstance(outcome, Fetched):
            location = redirect_location(outcome.exchange.status, outcome.exchange.headers)
            target = Url.parse(location, at.text) if location is not None else None
        if target is None:
            break
        at = target
    said, allowed = _judge(url, outcome, rules, config)
    return [*lines, *said], allowed


def _judge(url: Url, outcome: Outcome, rules: RobotsConfig, config: FetchConfig) -> tuple[list[str], bool]:
    status = outcome.exchange.status if isinstance(outcome, Fetched) else None
    fault = outcome.fault if isinstance(outcome, Failed) else None
    text = robots_text(outcome.exchange, config, SIZE_LIMIT) if isinstance(outcome, Fetched) else b""
    if text is None and status is not None and 200 <= status < 300:
        fault = Fault.DECODING
    match access_for(status, fault, 0, rules):
        case Hold(reason=reason):
            return [f"held: {reason}; nothing may be visited now"], False
        case AllowAll(reason=reason):
            return [f"allowed: {reason}"], True
        case UseBody() | KeepRules():
            parsed = parse_robots(text or b"", PRODUCT_TOKEN)
    allowed, line = parsed.allows(url.target)
    lines = [f"{'allowed' if allowed else 'forbidden'}" + (f" by '{line}'" if line else ": no rule matches")]
    if parsed.crawl_delay is not None:
        lines.append(f"crawl delay {parsed.crawl_delay:g} s")
    lines += [f"sitemap {sitemap}" for sitemap in parsed.sitemaps]
    return lines, allowed


def _words(outcome: Outcome) -> str:
    match outcome:
        case Fetched(exchange=exchange):
            return f"{'status ' * (exchange.result is None)}{exchange.said}, {exchange.body.size} bytes"
        case Failed(fault=fault, detail=detail):
            return f"{fault} ({detail})" if detail else str(fault)
        case Refused(rule=rule):
            return str(rule)
