"""Tells the story of a URL in the reader's language."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gossamer.web.console.reasons import reason_text
from gossamer.words.catalogue import Words

_GROUPS: Final = {"state": "state", "robots": "robots", "fault": "fault", "kind": "kind", "about": "part"}
"""Values that have a word of their own, and the group in which it is."""
_REASONS: Final = frozenset(("reason", "detail", "part"))
"""Values that are reasons; crawls of older versions give sentences."""


def sentence(told: Iterable[Mapping[str, Any]], english: str, t: Words) -> str:
    """A sentence in the reader's language; as the crawl says it in English if it is one of another version.

    Args:
        told: clauses as `gossamer.inspect.why.sentences` has them, as JSON values.
        english: the same in words.
        t: of the reader's language.
    """
    try:
        said = [t(f"story.{one['key']}", **_spoken(one["values"], t)) for one in told]
    except (KeyError, ValueError, TypeError, AttributeError):
        return english
    return "".join(said) or english


def chapters(story: Mapping[str, Any], t: Words) -> list[tuple[str, list[str]]]:
    """Each heading with the sentences below it, in their order."""
    found: list[tuple[str, list[str]]] = []
    for fact in story["facts"]:
        said = sentence(fact.get("clauses", ()), fact["text"], t)
        if found and found[-1][0] == fact["about"]:
            found[-1][1].append(said)
        else:
            found.append((fact["about"], [said]))
    return found


def _spoken(values: Mapping[str, Any], t: Words) -> dict[str, Any]:
    """The values, those in the words of the crawl in the reader's language."""
    return {name: _said(name, value, t) for name, value in values.items()}


def _said(name: str, value: Any, t: Words) -> Any:
    if group := _GROUPS.get(name):
        return t.said(group, value)
    if name in _REASONS and not isinstance(value, list | str):
        raise TypeError
    return reason_text(value, t) if isinstance(value, list) else value
