"""Says a finding in one line."""

from gossamer.audit.result import Finding
from gossamer.words.catalogue import Words
from gossamer.words.visible import visible

__all__ = ["message", "why"]

_LONGEST = 300


def why(finding: Finding, t: Words) -> str:
    """What more is known of a finding, in a few words; empty if nothing is."""
    facts = finding.detail
    parts = []
    if "status" in facts:
        parts.append(str(facts["status"]))
    if "code" in facts:
        parts.append(t.said("link_code", facts["code"]))
    for name, value in facts.items():
        if name in ("status", "code", "target"):
            continue
        shown = (
            " → ".join(value)
            if name == "hops"
            else ", ".join(map(str, value))
            if isinstance(value, list)
            else value
        )
        parts.append(f"{name} {shown}" if name not in ("hops", "title", "text") else str(shown))
    if "target" in facts:
        parts.append(f"→ {facts['target']}")
    return visible(" · ".join(parts))[:_LONGEST]


def message(finding: Finding, t: Words) -> str:
    """The meaning of the rule, the address, and what is known."""
    more = why(finding, t)
    said = f"{t.said('finding', finding.rule)} {visible(finding.url)[: 2 * _LONGEST]}"
    return f"{said} ({more})" if more else said
