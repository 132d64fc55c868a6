"""Brings URLs to the canonical form that the seen test compares; what is requested stays as found."""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.model.url import Url
from gossamer.policy.urls.canonical_rules import OPTIONAL_RULES, SAFE_RULES, CanonicalRule, drop_parameters

__all__ = ["CanonicalConfig", "CanonicalRule", "Canonicaliser"]

SafeName = Literal["unreserved", "upper-hex", "illegal", "empty-query", "host-dot"]
OptionalName = Literal[
    "http-as-https",
    "strip-www",
    "session-in-path",
    "session-in-query",
    "tracking",
    "sort-query",
    "index-file",
    "trailing-slash",
]

MOST_PASSES = 6
"""Times that all rules are tried on one URL; only a URL made for it needs more than three."""


class CanonicalConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which spellings count as one address."""

    also: Annotated[
        tuple[OptionalName, ...],
        Meta(
            description="Rules beyond the safe ones. Each saves visits where it holds and loses pages"
            " where it does not: http-as-https, strip-www, session-in-path, session-in-query, tracking,"
            " sort-query, index-file, trailing-slash."
        ),
    ] = ()
    without: Annotated[
        tuple[SafeName, ...],
        Meta(
            description="Safe rules to leave out (unreserved, upper-hex, illegal, empty-query, host-dot);"
            " some pages may then be fetched twice."
        ),
    ] = ()
    drop_parameters: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(
            description='Query parameters that do not matter, e.g. ["from", "ref_*"]; pages that differ in'
            " nothing else are fetched once."
        ),
    ] = ()


class Canonicaliser:
    """Applies the chosen rules in their fixed order until none has anything to change.

    Invariant: for the text `t` of any result, parsing `t` and canonicalising it gives `t`.

    Attributes:
        rules: in the order of application.
    """

    __slots__ = ("_apply", "_safe_count", "rules")

    def __init__(self, config: CanonicalConfig, known_as: Callable[[Url], Url] | None = None) -> None:
        """`known_as`: makes one of the URLs of a document at several addresses; without it each is its own."""
        mirror = () if known_as is None else (CanonicalRule("mirror", known_as),)
        safe = tuple(rule for rule in SAFE_RULES if rule.name not in config.without)
        chosen = tuple(rule for rule in OPTIONAL_RULES if rule.name in config.also)
        dropping = (drop_parameters(config.drop_parameters),) if config.drop_parameters else ()
        self.rules = (*mirror, *safe, *dropping, *chosen)
        self._safe_count = len(mirror) + len(safe)
        self._apply = tuple(rule.apply for rule in self.rules)

    def __call__(self, url: Url) -> str:
        """The canonical text of a URL."""
        spelled = url
        for apply in self._apply:
            spelled = apply(spelled)
        if spelled is url:
            return url.text
        steps = self._settle(url)
        return steps[-1][2] if steps else url.text

    def explain(self, url: Url) -> list[tuple[str, str, str]]:
        """Each rule that changed the URL, in order: its name, the text before, the text after."""
        return self._settle(url)

    def _settle(self, url: Url) -> list[tuple[str, str, str]]:
        steps: list[tuple[str, str, str]] = []
        safe_steps = 0
        for number in range(MOST_PASSES):
            before = url
            for position, rule in enumerate(self.rules):
                after = rule.apply(url)
                if after is not url:
                    steps.append((rule.name, url.text, after.text))
                    url = after
                if number == 0 and position < self._safe_count:
                    safe_steps = len(steps)
            if url is before:
                return steps
        # Optional rules that uncover work for each other again and again: take the safe form only, which
        # one pass reaches, so that the form stays the same when it is brought here again.
        return steps[:safe_steps]
