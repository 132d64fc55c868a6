"""Tells whoever has found nothing by a pattern without a `*` that it is compared as a whole."""

from gossamer.cli.terminal.printing import safe
from gossamer.policy.scope.address_pattern import AddressPattern


def exact_hint(match: str) -> str:
    """What to write instead; empty if the pattern is none, or stands for more than one address."""
    if not match or not AddressPattern(match).is_exact:
        return ""
    said = safe(match)
    return f"--match {said} is compared with all of path and query; for what contains it: --match '*{said}*'"
