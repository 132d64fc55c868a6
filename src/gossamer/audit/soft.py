"""Tells pages that say "not found" though their status says 200 (soft 404).

Two signs, either of which is enough: the page says so itself where it says what it is, in its title or first heading,
and says little else; or it says what its site says at an address that nobody can have made (`Missing`).
"""

import re

from gossamer.audit.page import AuditedPage

__all__ = ["invented", "is_like", "looks_missing"]

MOST_WORDS = 150
"""Of a page that says no more than that there is nothing; articles about error 404 are longer."""
_SAYS = re.compile(
    r"\b404\b|\bnot found\b|\bpage (?:does not|doesn't) exist\b|\bno longer (?:exists|available)\b"
    r"|\bcan(?:no|')t be found\b"
    r"|\bnicht gefunden\b|\bpage introuvable\b|\bnon trouvée\b|\bno encontrada\b|\bnão encontrada\b|\bnon trovata\b"
    r"|\bniet gevonden\b|не найдена|找不到|不存在|見つかりません|ページが存在しません|찾을 수 없",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\w+")
ALIKE = 0.9
"""Share of words in common of two pages that are the same but for what they repeat of the address."""


def looks_missing(page: AuditedPage) -> bool:
    """Whether the page says of itself that there is nothing."""
    if page.text.count(" ") > MOST_WORDS:
        return False
    told = [*page.titles[:1], *page.headings[:1]]
    return any(_SAYS.search(one) is not None for one in told)


def invented(origin: str, key: str) -> str:
    """An address of a site that nobody can have made; `key` makes it the same for each audit of a folder."""
    return f"{origin}/gossamer-audit-{key}"


def is_like(one: str, other: str) -> bool:
    """Whether two texts have nearly all their words in common."""
    words, others = set(_WORDS.findall(one.lower())), set(_WORDS.findall(other.lower()))
    if not words or not others:
        return False
    return len(words & others) / len(words | others) >= ALIKE
