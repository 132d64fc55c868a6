"""The chapters on hosts: their states, their speed, how they were treated."""

from gossamer.report.census.host_visits import PRECISION
from gossamer.report.charts import Bar, Share
from gossamer.report.figures import Figures
from gossamer.report.markup import Card, Html, address, cards, foreign, paragraph, section, text
from gossamer.report.parts import Parts

_STATES = {"ready": 1, "resting": 0, "waiting": 2, "parked": 3, "empty": 7}
_ROBOTS = {"rules": 1, "open": 0, "pending": 2, "hold": 3, "closed": 7}
_BARS = 12


def hosts(parts: Parts, figures: Figures) -> Html:
    """States, robots files, the largest, how many pages they have, those parked."""
    words, found = parts.words, figures.hosts
    states = [Share(words.term(name), found.by_state.get(name, 0), tone) for name, tone in _STATES.items()]
    robots = [Share(words.term(name), found.robots.get(name, 0), tone) for name, tone in _ROBOTS.items()]
    pages = [
        Bar(
            host.name,
            host.pages,
            words.size(host.bytes),
            more=f"{words.say('queued')}: {words.number(host.queued + host.waiting)}",
        )
        for host in found.most_pages[:_BARS]
    ]
    parked = [
        (foreign(host.name), parts.number(host.queued + host.waiting), foreign(words.reason(host.reason)))
        for host in found.parked
    ]
    content = [
        Card(words.say("hosts by state"), parts.shares(words.say("hosts by state"), states)),
        Card(words.say("robots by state"), parts.shares(words.say("robots by state"), robots)),
        Card(words.say("most pages"), parts.bars(words.say("most pages"), pages, parts.counts)),
        Card(
            words.say("pages per host"),
            parts.histogram(words.say("pages per host"), found.pages, words.short, 4),
            note=words.say("without pages", count=found.pages.zero) if found.pages.zero else "",
        ),
    ]
    if parked:
        listed = parts.table(("host", "queued", "reason"), parked, ".n.")
        content.append(Card(words.say("parked hosts"), listed, whole=True))
    lead = words.say("hosts lead", hosts=figures.sums.hosts)
    if found.crawl_delays:
        lead += " " + words.say("delays lead", delays=found.crawl_delays)
    return section("hosts", words.say("hosts"), paragraph(lead, "lead"), cards(*content))


def speed(parts: Parts, figures: Figures) -> Html:
    """Response times, the slowest hosts, the slowest answers."""
    words, log = parts.words, figures.log
    times = log.seconds.quantiles
    note = words.say(
        "times note",
        median=words.duration(times.median),
        tenths=words.duration(times.nine_tenths),
        hundredth=words.duration(times.hundredth),
        largest=words.duration(times.largest),
    )
    slow = [
        Bar(
            host.name,
            host.mean_seconds,
            tone=2,
            more=f"{words.say('visits')}: {words.number(host.visits)}\n"
            f"{words.say('longest')}: {words.duration(host.longest_seconds)}",
        )
        for host in log.slowest_hosts[:_BARS]
    ]
    return section(
        "speed",
        words.say("response times"),
        cards(
            Card(
                words.say("response times"),
                parts.histogram(words.say("response times"), log.seconds, words.duration, 2),
                note=note,
            ),
            Card(
                words.say("slowest hosts"),
                parts.bars(words.say("slowest hosts"), slow, parts.times),
                note=words.say("slowest hosts note"),
            ),
            Card(words.say("slowest"), parts.pages(log.slowest), whole=True),
        ),
    )


def politeness(parts: Parts, figures: Figures) -> Html:
    """Whether every host was left in peace as long as it was due."""
    words, kept = parts.words, figures.log.politeness
    verdicts = [_verdict(parts, figures)]
    if kept.below_crawl_delay:
        said = words.say("crawl delay broken", count=kept.below_crawl_delay)
        verdicts.append(paragraph(said, "verdict bad"))
    elif figures.hosts.crawl_delays:
        verdicts.append(paragraph(words.say("crawl delay kept"), "verdict"))
    content = [
        Card(
            words.say("smallest gaps"),
            parts.histogram(words.say("smallest gaps"), kept.smallest, words.duration, 1),
        ),
        Card(words.say("tightest"), parts.gaps(kept.closest)),
    ]
    if kept.hurried:
        content.append(Card(words.say("hurried"), parts.gaps(kept.hurried), whole=True))
    notes = [paragraph(_how(parts, figures), "note")]
    if kept.unmeasured:
        above = words.duration(kept.unmeasured_above)
        notes.append(
            paragraph(words.say("politeness unmeasured", count=kept.unmeasured, above=above), "note")
        )
    return section("politeness", words.say("politeness"), *verdicts, cards(*content), *notes)


def _verdict(parts: Parts, figures: Figures) -> Html:
    words, kept = parts.words, figures.log.politeness
    if not kept.gaps:
        return paragraph(words.say("politeness nothing"), "verdict")
    if kept.short:
        said = words.say("politeness broken", short=kept.short, gaps=kept.gaps, hosts=kept.short_hosts)
        return paragraph(said, "verdict bad")
    return paragraph(words.say("politeness kept", gaps=kept.gaps, hosts=kept.hosts), "verdict")


def _how(parts: Parts, figures: Figures) -> str:
    words, settings = parts.words, figures.settings
    if settings.min_delay == 0:
        return words.say("politeness off")
    return words.say(
        "politeness how",
        precision=words.duration(PRECISION),
        min_delay=words.duration(settings.min_delay),
        factor=words.number(settings.factor),
        max_delay=words.duration(settings.max_delay),
    )


def failures(parts: Parts, figures: Figures) -> Html:
    """What failed, with an example of each kind, and where."""
    words, log = parts.words, figures.log
    whole = sum(line.visits for line in log.failures)
    rows = [
        (
            text(words.term(line.kind)),
            parts.number(line.visits),
            text(words.share(line.visits, log.visits)),
            address(line.url),
            foreign(words.reason(line.detail), 160),
        )
        for line in log.failures[:40]
    ]
    errors = [
        Bar(host.name, host.errors, words.share(host.errors, host.visits), 3)
        for host in log.most_errors[:_BARS]
    ]
    kinds = [
        Bar(words.term(line.kind), line.visits, words.share(line.visits, whole), _tone(line.kind))
        for line in log.failures[:_BARS]
    ]
    return section(
        "failures",
        words.say("failures"),
        paragraph(words.say("failures lead"), "lead"),
        cards(
            Card(
                words.say("failures by kind"), parts.bars(words.say("failures by kind"), kinds, parts.counts)
            ),
            Card(words.say("most errors"), parts.bars(words.say("most errors"), errors, parts.counts)),
            Card(
                words.say("examples"),
                parts.table(("kind", "count", "share", "example", "detail"), rows, ".nn.."),
                whole=True,
            ),
        ),
    )


def _tone(kind: str) -> int:
    """What we did not ask for is no fault of the host."""
    return 7 if kind.startswith("refused") else 2 if kind.startswith("status 4") else 3
