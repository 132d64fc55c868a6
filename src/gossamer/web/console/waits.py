"""Tells in a sentence what a job waits for, and amounts of resources in their units."""

from collections.abc import Mapping

from gossamer.config.units import parse_size
from gossamer.daemon.allocation.allocator import Wait
from gossamer.daemon.allocation.claims import UNITS
from gossamer.words.catalogue import Words


def amount(resource: str, value: float, t: Words) -> str:
    """So much of a resource."""
    match UNITS.get(resource, ""):
        case "B":
            return t.size(value)
        case "B/s":
            return t.speed(value)
        case "MiB":
            return t.size(value * 1048576)
    return t.number(value)


def typed_amount(text: str) -> int | str:
    """So much of a resource as it was typed in, `300` or `8GiB`; the text itself if it cannot be read."""
    try:
        return parse_size(text.replace(",", "").replace("_", ""))
    except ValueError:
        return text


def wait_text(wait: Wait, t: Words) -> str:
    """Who waits for what, and why."""
    said = t(
        f"wait.{wait.reason}",
        process=wait.process,
        amounts=_amounts(wait.amounts, t),
        missing=_amounts(wait.missing, t),
    )
    if wait.waits_for:
        shown = ", ".join(wait.waits_for[:8]) + (", …" if len(wait.waits_for) > 8 else "")
        said += " " + t("wait.until", names=shown)
    if wait.place:
        said += " " + t("wait.place", n=wait.place + 1)
    return said


def _amounts(amounts: Mapping[str, int], t: Words) -> str:
    return ", ".join(f"{t.said('resource', name)} {amount(name, n, t)}" for name, n in amounts.items() if n)
