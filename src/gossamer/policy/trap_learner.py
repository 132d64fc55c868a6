"""Learns which URL patterns of a host lead nowhere, from what their pages brought (W16, field.md 6.6).

**What counts as yield.** A page is worth its fetch if it says at least `min_new_text` characters that no
page of its host has said before, or if it led to `min_new_links` new URLs of other patterns that have
themselves brought text.

* Only text counts that is not digits, months or weekdays, so the pages of a calendar are all alike; and it
  is compared piece by piece, so the random words in a template are worth little. Session mazes and
  symbolic links repeat whole texts; filtered lists repeat the names of the same things.
* Links count only towards patterns that have *proven* themselves by text. Any link would not do: two traps
  that link to each other would feed each other. Pages of a real list or archive say little themselves, but
  lead to articles; so they live by those.
* Links to the page's own pattern never count: a trap leads to itself by definition.
* The first page of a pattern shows the template along with the text, so without such links it counts for
  nothing. Neither do the first few pages that lead to patterns of which nothing is known yet: a list is
  fetched before the articles on it.

**What follows.** The share p of pages with yield is estimated for each pattern of a host; s of f pages give
Beta(1 + s, 1 + f - s). A pattern with P(p < 0.1) > 0.95 (28 pages without any yield) that has no end in
sight is *quarantined*: its URLs are turned away but for one in a hundred. It is let out when the evidence of
those makes P(p < 0.1) fall below a half, or by the operator, and then for good. Old evidence fades.

**No end in sight** means that pages keep leading to more of the same kind, nearly as many as are read:
other dates, ids, tokens, filters, the next number, the next deeper folder (`url_pattern.marches`). Pages of a
manual may say as little, but they lead to no such things; so they come last, and come.

**Before that is settled**, few pages should be spent. A URL has a *handicap*: 0 to 7 steps in the upper bits
of its level, so what is suspicious comes after everything that is not. It follows from p and from how the
URL looks. While a pattern has not yielded, its fetches grow as the square root of the URLs discovered; and
its failures begin with some that it gets for its looks, or because what looks the same on other hosts
brought nothing.

Two records speak for a URL: that of its pattern, and that of its *stem*, the coarser pattern: a trap that
makes new patterns without end has one, which speaks for each until it has yielded something itself.
"""

from math import isqrt
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Count
from gossamer.policy.beta import surely_below
from gossamer.policy.ordering import GRADE_SHIFT
from gossamer.policy.url_pattern import CYCLE, CYCLES, DEEP, FACETS, ODD, REPEATS, SESSION

Action = Literal["admit", "probe", "quarantine"]
Share = Annotated[float, Meta(gt=0.0, lt=1.0)]

LAST_HANDICAP = 7
SUSPECT = 3
"""Handicap from which a URL is a suspect, see `SuspectQuota`."""

_HANDICAP_SHIFT = GRADE_SHIFT + 4  # the lower half of the grade is a domain's round, see `policy.star`
_PROVEN = 2
"""Pages with yield after which a pattern's looks are forgiven."""
_BORROWED = 2
_MANY = 32
"""URLs of a pattern up to which it may just as well be a list whose things were found elsewhere."""
_PATIENCE = 8
"""Pages of a pattern for which it may count that what they lead to is not known yet."""
_LEARNT = 3
"""Pages with new text after which only a sample of a good pattern is judged."""
_FEW = 4
_STEPS = (0.4, 0.2, 0.1, 0.05)
_HOPELESS = 3
"""Pages judged without any yield, after which a pattern is a suspect."""
_BREEDS = 0.75
"""New URLs of its own kind that a page of something endless leads to on average, at least."""
_BREEDERS = 4  # at least so many pages must; a list that names all its things at once is one
_SETTLED = 64  # pages judged after which of a pattern with little yield only every eighth is
_LOOKS = ((SESSION, 3), (CYCLES, 3), (CYCLE, 1), (FACETS, 1), (DEEP, 1))


class TrapLearnerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a URL pattern of a host is taken for a trap."""

    learn: Annotated[
        bool,
        Meta(
            description="Learn which URL patterns yield nothing: put them last, and set those aside that have"
            " no end; off, only looks count. Costs 3% of the CPU"
        ),
    ] = True
    barren: Annotated[
        Share, Meta(description="A pattern is a trap if fewer of its pages than this share yield anything.")
    ] = 0.1
    confidence: Annotated[
        Share, Meta(description="How certain that must be; higher values spend more pages on each trap.")
    ] = 0.95
    probing: Annotated[
        Share, Meta(description="Share of the URLs of a trap that are still fetched, to find out errors.")
    ] = 0.01
    min_new_text: Annotated[
        Count,
        Meta(description="Characters that a page must be the first of its host to say, to count as new."),
    ] = 130
    min_new_links: Annotated[
        Annotated[int, Meta(ge=1)],
        Meta(description="New URLs of other patterns that a page must lead to, to count as a list of such."),
    ] = 2
    looks: Annotated[
        Count,
        Meta(
            description="Pages without yield that a URL with a session id or folders in cycles begins with;"
            " higher values learn faster and err more easily."
        ),
    ] = 10
    elsewhere: Annotated[
        Count,
        Meta(description="The same, at most, for patterns that brought nothing on other hosts."),
    ] = 14
    suspects: Annotated[
        Share,
        Meta(
            description="Share of all visits that suspects may have while better URLs wait for resting hosts."
        ),
    ] = 0.01
    farm_visits: Annotated[
        Count,
        Meta(
            description="Visits of a registrable domain that one other links to before it is a suspect; n"
            " linking domains are worth n * n * n times as many. 0: no domain is."
        ),
    ] = 3
    memory: Annotated[
        Annotated[int, Meta(ge=50)],
        Meta(description="Pages that speak for a pattern; when there are more, older ones count half."),
    ] = 200


class PatternRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of a pattern, or of a stem, on one host. The caller keeps it.

    Attributes:
        pattern: as `UrlPattern.text`, or `.stem`.
        discovered: new URLs that had it, those turned away included.
        fetched: pages of them.
        yielded: pages with yield.
        tried: pages judged, less those faded; 0 <= gained <= tried.
        gained: pages with yield, less those faded.
        proven: pages with new text.
        bred: new URLs of the same kind that its pages led to (`url_pattern.marches`).
        breeders: pages that led to such.
        quarantined: URLs are turned away.
        released: by the operator; it is never quarantined again.
        turned_away: URLs.
        probes: pages fetched in quarantine.
        evidence: of the last page judged, for people.
        example: the last URL judged.
    """

    pattern: str
    discovered: int = 0
    fetched: int = 0
    yielded: int = 0
    tried: int = 0
    gained: int = 0
    proven: int = 0
    bred: int = 0
    breeders: int = 0
    quarantined: bool = False
    released: bool = False
    turned_away: int = 0
    probes: int = 0
    evidence: str = ""
    example: str = ""


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """What a fetched page brought.

    Attributes:
        url: of the page.
        new_text: characters that no page of the host had said (`HostText.new_text`); 0 for copies (same
            content or same gist) and errors. A picture of its own counts for some hundred.
        links: new URLs that it led to, of patterns other than its own that are proven and not quarantined.
        open_links: the same, of patterns of which it is not known yet whether they yield (`is_open`).
        bred: new URLs of its own kind (`url_pattern.marches`), of its pattern and of its stem; at least one
            each if the same is known under a `plainer` address.
    """

    url: str
    new_text: int = 0
    links: int = 0
    open_links: int = 0
    bred: tuple[int, int] = (0, 0)


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """What is to be done with a URL.

    Attributes:
        action: `admit` and `probe` queue it, `quarantine` turns it away.
        handicap: 0 to `LAST_HANDICAP`, for `demoted`.
        reason: for `why`.
    """

    action: Action
    handicap: int
    reason: str


GOOD = Verdict("admit", 0, "")


def demoted(level: int, handicap: int) -> int:
    """A level with this handicap in place of its own; the first level (robots files) stays as it is."""
    return level and handicap << _HANDICAP_SHIFT | level & (1 << _HANDICAP_SHIFT) - 1


def handicap_of(level: int) -> int:
    """The handicap in a level of the queue."""
    return level >> _HANDICAP_SHIFT


def head_start(doubts: int, elsewhere: tuple[int, int], config: TrapLearnerConfig) -> int:
    """Pages without yield that a pattern begins with: for its looks, and for others of its stem elsewhere.

    Args:
        doubts: as `UrlPattern.doubts`.
        elsewhere: (pages judged, pages with yield) of the stem on other hosts.
        config: bounds them.
    """
    tried, gained = elsewhere
    looks = config.looks if doubts & (SESSION | CYCLES) else 0
    # Half of what it would take by itself, once the others are past doubt.
    barren = surely_below(config.barren, gained, tried - gained, config.confidence)
    return max(looks, config.elsewhere if barren else 0)


def judge(
    own: PatternRecord,
    stem: PatternRecord,
    doubts: int,
    fingerprint: int,
    elsewhere: tuple[int, int],
    config: TrapLearnerConfig,
) -> Verdict:
    """What to do with a URL, when it is found and again when its turn comes.

    Args:
        own, stem: records of its pattern and of its stem on its host; fresh ones if there are none.
        doubts: as `UrlPattern.doubts`.
        fingerprint: of the URL, so that the same ones are probed every time.
        elsewhere: as for `head_start`.
        config: the limits.
    """
    if is_trusted(own):
        return GOOD
    if own.released or stem.released:
        return Verdict("admit", 0, "released by the operator")
    barren = own if own.quarantined else stem if stem.quarantined and not own.gained else None
    if barren is not None and doubts:
        reason = f"pattern {barren.pattern} yields nothing ({barren.gained} of {barren.tried} pages)"
        if fingerprint % round(1 / config.probing):
            return Verdict("quarantine", LAST_HANDICAP, reason)
        return Verdict("probe", LAST_HANDICAP, reason)
    steps = _steps(own, stem, doubts, elsewhere, config)
    reasons = []
    if steps:
        reasons.append(f"{own.gained} of {own.tried} pages of {own.pattern} yielded something")
    if own.gained < _PROVEN and (looks := _looks(doubts)):
        steps += looks
        reasons.append("looks like a trap")
    many = own.discovered > _MANY
    if many and not own.gained and own.tried and own.fetched >= isqrt(own.discovered):
        steps += 2
        reasons.append(f"{own.fetched} of {own.discovered} URLs of {own.pattern} were tried already")
    return Verdict("admit", min(steps, LAST_HANDICAP - 1), "; ".join(reasons)) if steps else GOOD


def _steps(
    own: PatternRecord,
    stem: PatternRecord,
    doubts: int,
    elsewhere: tuple[int, int],
    config: TrapLearnerConfig,
) -> int:
    """Steps for the share of pages that yield: of the pattern, which its stem and others speak for first."""
    expected = 1.0
    if stem.tried >= _FEW:
        expected = stem.gained / stem.tried
    elif elsewhere[0] >= config.elsewhere:
        expected = elsewhere[1] / elsewhere[0]
    share = (own.gained + _BORROWED * expected) / (own.tried + _BORROWED)
    if share >= _STEPS[0]:
        return 0
    steps = sum(share < step for step in _STEPS)
    young = own.fetched < _HOPELESS and not doubts & ODD
    if not own.tried and (young or _is_hopeful(stem)):
        return min(steps, SUSPECT - 1)  # what others did makes it wait, but no suspect
    return max(steps, SUSPECT) if own.tried >= _HOPELESS and not own.gained else steps


def _looks(doubts: int) -> int:
    return sum(steps for doubt, steps in _LOOKS if doubts & doubt) if doubts else 0


def found(record: PatternRecord, urls: int = 1, *, turned_away: int = 0) -> PatternRecord:
    """The record after so many new URLs of the pattern, some of them turned away."""
    return msgspec.structs.replace(
        record, discovered=record.discovered + urls, turned_away=record.turned_away + turned_away
    )


def wants_sketch(own: PatternRecord, doubts: int, fingerprint: int) -> bool:
    """Whether a page of the pattern is to be judged, for which its text must be sketched.

    Pages of young patterns are, and of those that look very odd; of good ones every 128th, to notice when
    they turn bad; of those that never cease to say little every eighth. Pages that are not judged are not
    learned from, whatever they bring.
    """
    if own.proven < _LEARNT or 2 * own.gained < own.tried:
        return own.tried < _SETTLED or own.quarantined or fingerprint & 7 == 0
    return bool(doubts & REPEATS) or fingerprint & 127 == 0


def yields(evidence: Evidence, config: TrapLearnerConfig) -> bool:
    """Whether the page was worth its fetch."""
    return evidence.links >= config.min_new_links or evidence.new_text >= config.min_new_text


def learn(
    record: PatternRecord, evidence: Evidence, start: int, more: int, config: TrapLearnerConfig
) -> PatternRecord:
    """The record, of a pattern or of a stem, after a page of it was fetched and judged.

    Args:
        record: before.
        evidence: what the page brought.
        start: the `head_start` of the pattern.
        more: new URLs of its kind that the page led to; nothing is quarantined that has an end.
        config: the limits.
    """
    bred, breeders = record.bred + more, record.breeders + (more > 0)
    good = yields(evidence, config)
    listed = evidence.links >= config.min_new_links
    waiting = not good and evidence.open_links >= config.min_new_links and record.fetched < _PATIENCE
    if waiting or (not record.fetched and not listed):
        why = "leads to what is not known yet" if waiting else "first page"
        return msgspec.structs.replace(
            record,
            fetched=record.fetched + 1,
            bred=bred,
            breeders=breeders,
            evidence=why,
            example=evidence.url,
        )
    tried, gained = record.tried + 1, record.gained + good
    if tried > config.memory:
        tried, gained = tried // 2, gained // 2
    quarantined = record.quarantined
    if not record.released:
        endless = breeders >= _BREEDERS and bred >= _BREEDS * (record.fetched + 1)
        failed, certain = tried - gained + start, 0.5 if quarantined else config.confidence
        quarantined = (quarantined or endless) and surely_below(config.barren, gained, failed, certain)
    return msgspec.structs.replace(
        record,
        fetched=record.fetched + 1,
        yielded=record.yielded + good,
        tried=tried,
        gained=gained,
        proven=record.proven + (evidence.new_text >= config.min_new_text),
        bred=bred,
        breeders=breeders,
        quarantined=quarantined,
        probes=record.probes + record.quarantined,
        evidence=f"{evidence.new_text} new characters, {evidence.links} new links",
        example=evidence.url,
    )


def is_trusted(own: PatternRecord) -> bool:
    """Whether a pattern has yielded enough for its URLs to be as good as any, whatever they look like."""
    return own.gained >= _PROVEN and 2 * own.gained >= own.tried and not own.quarantined


def is_proven(record: PatternRecord) -> bool:
    """Whether links to the pattern count as yield of the page that has them."""
    return record.proven > 0 and not record.quarantined


def is_open(own: PatternRecord, stem: PatternRecord) -> bool:
    """Whether too few pages of the pattern were judged to say what links to it are worth.

    Filters of a list make ever new patterns: where the stem is known for nothing, a new one is not awaited.
    """
    return own.tried < _HOPELESS and not (own.proven or own.quarantined) and _is_hopeful(stem)


def _is_hopeful(stem: PatternRecord) -> bool:
    return 5 * stem.gained >= stem.tried or stem.tried < _PATIENCE


def release(record: PatternRecord) -> PatternRecord:
    """Let a pattern out for good."""
    return msgspec.structs.replace(record, quarantined=False, released=True)
