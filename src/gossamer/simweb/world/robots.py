"""Robots files (RFC 9309) of ordinary hosts, and what their rules say, both from the same data."""

import re
from collections.abc import Iterable, Sequence

from gossamer.simweb.world.resource import Group, Place, Resource

_RULES = (("disallow", "/private/"), ("allow", "/private/open/"), ("disallow", "/*?print="))
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

ORDINARY_GROUPS: dict[str, tuple[Group, ...]] = {
    "allow": (Group(("*",), (("disallow", ""),)),),
    "rules": (Group(("*",), _RULES),),
    "delay": (Group(("*",), _RULES, "0.1"),),
    "groups": (
        Group(("*",), (("disallow", "/"),)),
        Group(("goss", "gossamer-news"), (("disallow", "/"),)),
        Group(("badbot", "Gossamer"), _RULES[:2]),
        Group(("GOSSAMER/2.0",), _RULES[2:]),
    ),
    "failing": (Group(("*",), _RULES),),
    "closed": (Group(("*",), (("disallow", "/"),)),),
}
"""Rules by kind; kinds that redirect use those of `rules`."""


def write(groups: Iterable[Group], sitemaps: Iterable[str] = ()) -> bytes:
    """The file that says `groups`; sitemap lines stand inside the first group, where they end nothing."""
    lines = ["# robots file of a simulated host", *(f"Sitemap: {url}" for url in sitemaps)]
    for group in groups:
        lines += [f"User-agent: {agent}" for agent in group.agents]
        if group.delay:
            lines.append(f"Crawl-delay: {group.delay}")
        lines += [f"{name.capitalize()}: {pattern}" for name, pattern in group.rules]
        lines.append("")
    return "\n".join(lines).encode()


def file_of(
    groups: tuple[Group, ...], sitemaps: tuple[Place, ...] = (), urls: Iterable[str] = ()
) -> Resource:
    """A robots file that is answered in the ordinary way; `urls` are the `sitemaps`, written out."""
    written = write(groups, urls)
    return Resource(
        content_type="text/plain; charset=utf-8", body=lambda: written, groups=groups, sitemaps=sitemaps
    )


def allows(groups: Sequence[Group], product: str, target: str) -> bool:
    """Whether `product` may visit `target` (path with query), by RFC 9309 2.2.

    Written for clarity and small inputs: the independent judge of a crawler's matcher.
    """
    product = product.lower()
    chosen = [group for group in groups if product in map(_token, group.agents)]
    chosen = chosen or [group for group in groups if "*" in group.agents]
    target = _plain(target)
    best = (-1, True)
    for group in chosen:
        for name, pattern in group.rules:
            plain = _plain(pattern)
            if plain and _matches(plain, target):
                best = max(best, (len(plain), name == "allow"))
    return target == "/robots.txt" or best[1]


def _token(agent: str) -> str:
    """The product token at the start of a User-agent value (RFC 9309 2.2.1)."""
    match = re.match(r"[A-Za-z_-]*", agent)
    return match[0].lower() if match else ""


def _matches(pattern: str, target: str) -> bool:
    """Leftmost match of each piece between stars; never goes back, because `*` takes anything."""
    anchored = pattern.endswith("$")
    first, *pieces = pattern.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    if anchored and not pieces:
        return target == first
    last = pieces.pop() if anchored else ""
    at = len(first)
    for piece in pieces:
        at = target.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return target.endswith(last) and len(target) - len(last) >= at


def _plain(text: str) -> str:
    """`text` with unreserved characters decoded and all else that is escaped in capitals (RFC 9309 2.2.2)."""

    def unescape(match: re.Match[str]) -> str:
        octet = int(match[1], 16)
        return chr(octet) if octet in _UNRESERVED else f"%{octet:02X}"

    escaped = "".join(c if c.isascii() else "".join(f"%{b:02X}" for b in c.encode()) for c in text)
    return re.sub("%([0-9A-Fa-f]{2})", unescape, escaped)
