"""What an audit finds, by code; how grave each is. What each means stands in the catalogue of words, `audit_rule`."""

from enum import StrEnum

__all__ = ["RULES", "Level", "Rule", "rule_of_link"]

from gossamer.policy.linkcheck.verdicts import Code, LinkVerdict


class Level(StrEnum):
    """How grave a finding is; only errors fail an audit."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(StrEnum):
    """What can be wrong, a closed list; errors first, and of them what visitors meet first."""

    LINK_BROKEN = "link-broken"
    REDIRECT_LOOP = "redirect-loop"
    FRAGMENT_MISSING = "fragment-missing"
    CERTIFICATE_BAD = "certificate-bad"
    CANONICAL_BROKEN = "canonical-broken"
    HREFLANG_BROKEN = "hreflang-broken"
    SITEMAP_NOT_WELL = "sitemap-not-well"
    MIXED_ACTIVE = "mixed-active"
    CERTIFICATE_ENDS = "certificate-ends"
    LINK_MOVED = "link-moved"
    REDIRECT_CHAIN = "redirect-chain"
    SOFT_404 = "soft-404"
    MIXED_CONTENT = "mixed-content"
    CANONICAL_REDIRECTS = "canonical-redirects"
    CANONICAL_MANY = "canonical-many"
    HREFLANG_NO_RETURN = "hreflang-no-return"
    ORPHAN = "orphan"
    TITLE_MISSING = "title-missing"
    TITLE_DOUBLED = "title-doubled"
    H1_MISSING = "h1-missing"
    DUPLICATE = "duplicate"
    PAGE_LARGE = "page-large"
    PAGE_SLOW = "page-slow"
    UNCOMPRESSED = "uncompressed"
    ID_DOUBLED = "id-doubled"
    LANG_MISSING = "lang-missing"
    ALT_MISSING = "alt-missing"
    TAGS_WRONG = "tags-wrong"
    LINK_REFUSED = "link-refused"
    LINK_UNKNOWN = "link-unknown"
    TITLE_LONG = "title-long"
    TITLE_MANY = "title-many"
    DESCRIPTION_MISSING = "description-missing"
    DESCRIPTION_DOUBLED = "description-doubled"
    DESCRIPTION_LONG = "description-long"
    H1_MANY = "h1-many"
    HEADING_SKIPPED = "heading-skipped"
    NEAR_DUPLICATE = "near-duplicate"
    SITEMAP_MISSING = "sitemap-missing"
    ROBOTS_FORBIDS = "robots-forbids"
    PAGE_UNREAD = "page-unread"


_ORDER = list(Rule)
_FIRST_WARNING, _FIRST_NOTE = _ORDER.index(Rule.CERTIFICATE_ENDS), _ORDER.index(Rule.LINK_REFUSED)
RULES: dict[Rule, Level] = {
    rule: Level.ERROR if at < _FIRST_WARNING else Level.WARNING if at < _FIRST_NOTE else Level.NOTE
    for at, rule in enumerate(_ORDER)
}
"""The level of each."""

_OF_CODE = {Code.REDIRECT_LOOP: Rule.REDIRECT_LOOP, Code.FRAGMENT_MISSING: Rule.FRAGMENT_MISSING}
_OF_VERDICT = {
    LinkVerdict.BROKEN: Rule.LINK_BROKEN,
    LinkVerdict.MOVED: Rule.LINK_MOVED,
    LinkVerdict.REFUSED: Rule.LINK_REFUSED,
    LinkVerdict.UNKNOWN: Rule.LINK_UNKNOWN,
}


def rule_of_link(verdict: LinkVerdict, code: Code) -> Rule | None:
    """The rule that a link breaks by what it leads to; `None` if it is well."""
    if code is Code.ROBOTS:
        return Rule.ROBOTS_FORBIDS
    return _OF_CODE.get(code) or _OF_VERDICT.get(verdict)
