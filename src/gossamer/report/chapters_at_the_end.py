"""The last chapters of the report: duplicates, traps, names, settings, how it was made."""

from itertools import dropwhile

from gossamer.report.charts import Bar
from gossamer.report.figures import Figures, Histogram
from gossamer.report.markup import (
    Card,
    Html,
    address,
    cards,
    facts,
    foreign,
    paragraph,
    section,
    text,
)
from gossamer.report.parts import Parts

_BARS = 12


def duplicates(parts: Parts, figures: Figures) -> Html:
    """The chapter on payloads that came again."""
    words, found = parts.words, figures.log.duplicates
    if not found.visits:
        return section("duplicates", words.say("duplicates"), paragraph(words.say("no duplicates"), "lead"))
    rows = [(address(line.url), parts.number(line.copies)) for line in found.most]
    return section(
        "duplicates",
        words.say("duplicates"),
        paragraph(words.say("duplicates lead", visits=found.visits, bytes=words.size(found.bytes)), "lead"),
        cards(Card(words.say("repeated"), parts.table(("url", "copies"), rows, ".n"), whole=True)),
    )


def traps(parts: Parts, figures: Figures) -> Html:
    """Branches of sites that were set aside."""
    words, found = parts.words, figures.traps
    lead = words.say(
        "traps lead",
        aside=found.by_state.get("aside", 0),
        released=found.by_state.get("released", 0),
        open=found.by_state.get("open", 0),
        urls=found.urls,
    )
    content = [paragraph(lead, "lead")]
    if found.worst:
        rows = [
            (
                foreign(trap.host),
                address(trap.branch),
                text(words.term(trap.state)),
                parts.number(trap.visits),
                parts.number(trap.brought),
                parts.number(trap.waiting),
            )
            for trap in found.worst
        ]
        heads = ("host", "branch", "state", "visits", "brought", "waiting")
        content.append(cards(Card(words.say("traps"), parts.table(heads, rows, "...nnn"), whole=True)))
    return section("traps", words.say("traps"), *content)


def names(parts: Parts, figures: Figures) -> Html:
    """What became of questions for names."""
    words, found = parts.words, figures.names
    sums = found.sums
    asked = sum(sums.get(name, 0) for name in ("hits", "negative", "deferred", "misses"))
    lead = words.say("names lead", asked=asked, hits=sums.get("hits", 0), queries=sums.get("queries", 0))
    slowest = [Bar(name, seconds, tone=2) for name, seconds in found.slowest[:_BARS]]
    content = [
        Card(
            words.say("name times"),
            parts.histogram(words.say("name times"), _trimmed(found.latencies), words.duration, 2),
        ),
        Card(words.say("slowest names"), parts.bars(words.say("slowest names"), slowest, parts.times)),
    ]
    if found.failures:
        failed = list(found.failures.items())[:_BARS]
        content.append(Card(words.say("name failures"), parts.counted(words.say("name failures"), failed, 3)))
    if found.failing:
        content.append(
            Card(
                words.say("failing names"),
                parts.counted(words.say("failing names"), found.failing[:_BARS], 3),
            )
        )
    return section("names", words.say("names"), paragraph(lead, "lead"), cards(*content))


def _trimmed(figures: Histogram) -> Histogram:
    """Without the empty columns at both ends."""
    pairs = list(dropwhile(lambda pair: not pair[1], zip(figures.edges, figures.counts, strict=False)))
    while pairs and not pairs[-1][1]:
        pairs.pop()
    return Histogram([edge for edge, _ in pairs], [count for _, count in pairs], figures.zero)


def settings(parts: Parts, figures: Figures) -> Html:
    """The settings that say most about the crawl."""
    words, known = parts.words, figures.settings
    rows = [
        ("order", known.order),
        ("scope", known.scope),
        ("workers", words.number(known.workers)),
        (
            "delays",
            words.say(
                "delays value",
                min_delay=words.duration(known.min_delay),
                factor=words.number(known.factor),
                max_delay=words.duration(known.max_delay),
            ),
        ),
        ("visits at once", words.number(known.visits_per_host)),
        ("queue key", known.queue_key),
        ("robots", words.say("obeyed" if known.obey_robots else "ignored")),
    ]
    return section(
        "settings", words.say("settings"), facts([(words.say(name), foreign(value)) for name, value in rows])
    )


def about(parts: Parts, figures: Figures) -> Html:
    """Where the figures come from."""
    words = parts.words
    damaged = words.say("damaged", count=figures.log.damaged) if figures.log.damaged else ""
    return section(
        "about", words.say("about"), paragraph(words.say("about text"), "lead"), paragraph(damaged, "lead")
    )
