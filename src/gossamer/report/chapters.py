"""The chapters of the report, in their order."""

from collections.abc import Mapping
from itertools import dropwhile

from gossamer.report.census.host_visits import PRECISION
from gossamer.report.charts import Bar, Frame, Series, Share, time_chart
from gossamer.report.figures import Figures, Histogram
from gossamer.report.freshness import predicted_bars, shares, site_bars
from gossamer.report.markup import Card, Fact, Html, address, cards, facts, foreign, join, paragraph, text
from gossamer.report.parts import OUTCOMES, Parts
from gossamer.words.amounts import NOTHING, moment

_LISTED = 12
_COURSE = 3
"""Points of which a line says more than the sums do."""
_STATES = {"ready": 1, "resting": 0, "waiting": 2, "parked": 3, "empty": 7}
_ROBOTS = {"rules": 1, "open": 0, "pending": 2, "hold": 3, "closed": 7, "down": 3}


def over_time(parts: Parts, figures: Figures) -> Html:
    """Pages, bytes and outcomes over time; nothing of a crawl too short for a course."""
    words, axes, time = parts.words, parts.axes, figures.log.timeline
    if len(time.pages) < _COURSE:
        return Html("")
    edges = [time.start + time.width * place for place in range(len(time.pages) + 1)]
    if len(edges) > 1:
        edges[-1] = max(min(edges[-1], figures.log.last), edges[-2] + time.width / 20)

    def rates(values: list[int]) -> list[float]:
        return [value / (edges[place + 1] - edges[place]) for place, value in enumerate(values)]

    def chart(key: str, series: list[Series], *, size: bool = False, stacked: bool = False) -> Card:
        axis = axes.speeds if size else axes.rates

        def draw(frame: Frame) -> str:
            return time_chart(frame, edges, series, axis, stacked=stacked)

        any_at_all = any(value for one in series for value in one.values)
        return Card(parts.say(key), parts.screens(key, draw) if any_at_all else Fact())

    outcomes = [
        Series(words.said("outcome", name), rates(getattr(time, name)), tone)
        for name, tone in OUTCOMES.items()
        if any(getattr(time, name))
    ]
    return join(
        (
            paragraph(parts.say("over_time_lead", width=words.duration(time.width)), "lead"),
            cards(
                chart("pages_per_second", [Series(parts.say("pages"), rates(time.pages), 0)]),
                chart("bytes_per_second", [Series(parts.say("bytes"), rates(time.bytes), 1)], size=True),
                chart("visits_by_outcome", outcomes, stacked=True),
                chart("errors_over_time", [Series(parts.say("errors"), rates(time.errors), 3)]),
            ),
        )
    )


def answers(parts: Parts, figures: Figures) -> Html:
    """How visits ended: classes, status codes, what became of the URLs."""
    words, log = parts.words, figures.log
    classes = [
        Share(words.said("outcome", name), sum(getattr(log.timeline, name)), tone)
        for name, tone in OUTCOMES.items()
    ]
    statuses = sorted(figures.sums.statuses.items(), key=lambda item: (-item[1], item[0]))
    whole = sum(figures.sums.statuses.values())
    bars = [
        Bar(status, count, words.share(count, whole), _tone_of_status(status))
        for status, count in statuses[:_LISTED]
    ]
    return join(
        (
            paragraph(parts.say("answers_lead", visits=log.visits), "lead"),
            cards(
                parts.shares("visits_by_class", classes, whole=True),
                parts.bars("status_codes", bars, parts.axes.counts),
                parts.counted("what_became", _named(parts, "state", log.endings)),
            ),
        )
    )


def _tone_of_status(status: str) -> int:
    name = {"2": "ok", "3": "moved", "4": "client_errors", "5": "server_errors"}.get(status[:1], "refused")
    return OUTCOMES[name]


def _named(parts: Parts, group: str, counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Counts by the words for their names, the largest first."""
    listed = sorted(counts.items(), key=lambda item: -item[1])
    return [(parts.words.said(group, name), count) for name, count in listed]


def content(parts: Parts, figures: Figures) -> Html:
    """Types, sizes, languages, depth, how pages were found."""
    words, log, languages = parts.words, figures.log, figures.languages
    quantiles = log.sizes.quantiles
    sizes = parts.say(
        "sizes_note",
        median=words.size(quantiles.median),
        tenths=words.size(quantiles.nine_tenths),
        largest=words.size(quantiles.largest),
    )
    key = "languages_note" if languages.read >= languages.pages else "languages_estimated"
    spoken = parts.say(key, unknown=languages.unknown, read=languages.read, pages=languages.pages)
    tongues = [(words.tongue(one.name), one.pages) for one in languages.most]
    depth = [(str(depth), count) for depth, count in enumerate(log.depth)]
    return join(
        (
            paragraph(parts.say("content_lead"), "lead"),
            cards(
                _types_by_pages(parts, figures),
                _types_by_bytes(parts, figures),
                parts.histogram("sizes", log.sizes, words.size, note=sizes),
                parts.counted("languages", tongues, 6, languages.pages, spoken),
                parts.counted("depth", depth, 4, note=parts.say("depth_note")),
                parts.counted("found_by", _named(parts, "kind", log.kinds), 5),
                *_speculative(parts, figures),
                parts.pages("largest", log.largest),
            ),
        )
    )


def _speculative(parts: Parts, figures: Figures) -> list[Card]:
    """What visits to addresses in scripts and to answers of forms brought, by their place; nothing if none was made."""
    rows = [
        (foreign(element), parts.number(found), parts.number(missing))
        for element, (found, missing) in figures.sums.speculative.items()
    ]
    return [parts.table("speculative", ("place", "brought", "missed"), rows, ".nn")] if rows else []


def _types_by_pages(parts: Parts, figures: Figures) -> Card:
    types = figures.log.types
    counts = [(each.name or parts.say("other"), each.pages) for each in types[:_LISTED]]
    return parts.counted("types_by_pages", counts, whole=sum(each.pages for each in types))


def _types_by_bytes(parts: Parts, figures: Figures) -> Card:
    words, types = parts.words, figures.log.types
    whole = sum(each.bytes for each in types)
    largest = sorted(types, key=lambda each: -each.bytes)[:_LISTED]
    bars = [
        Bar(each.name or parts.say("other"), each.bytes, words.share(each.bytes, whole), 1)
        for each in largest
    ]
    return parts.bars("types_by_bytes", bars, parts.axes.bytes)


def hosts(parts: Parts, figures: Figures) -> Html:
    """States, robots files, the largest, how many pages they have, those parked."""
    words, found = parts.words, figures.hosts
    states = [
        Share(words.said("state", name), found.by_state.get(name, 0), tone) for name, tone in _STATES.items()
    ]
    robots = [
        Share(words.said("robots", name), found.robots.get(name, 0), tone) for name, tone in _ROBOTS.items()
    ]
    pages = [
        Bar(
            host.name,
            host.pages,
            words.size(host.bytes),
            more=f"{parts.say('queued')}: {words.number(host.queued + host.waiting)}",
        )
        for host in found.most_pages[:_LISTED]
    ]
    parked = [
        (foreign(host.name), parts.number(host.queued + host.waiting), foreign(parts.reason(host.why)))
        for host in found.parked
    ]
    without = parts.say("without_pages", count=found.pages.zero) if found.pages.zero else ""
    content = [
        parts.shares("hosts_by_state", states),
        parts.shares("robots_by_state", robots),
        parts.bars("most_pages", pages, parts.axes.counts),
        parts.histogram("pages_per_host", found.pages, words.short, 4, without),
    ]
    if parked:
        content.append(parts.table("parked_hosts", ("host", "queued", "reason"), parked, ".n."))
    if found.twins:
        rows = [(foreign(parts.reason(pair.why)),) for pair in found.twins]
        content.append(parts.table("twin_sites", ("reason",), rows, "."))
    lead = parts.say("hosts_lead", hosts=figures.sums.hosts)
    if found.crawl_delays:
        lead += " " + parts.say("delays_lead", delays=found.crawl_delays)
    return join(
        (
            paragraph(lead, "lead"),
            cards(*content),
        )
    )


def speed(parts: Parts, figures: Figures) -> Html:
    """Response times, the slowest hosts, the slowest answers."""
    words, log = parts.words, figures.log
    times = log.seconds.quantiles
    note = parts.say(
        "times_note",
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
            more=f"{parts.say('visits')}: {words.number(host.visits)}\n"
            f"{parts.say('longest')}: {words.duration(host.longest_seconds)}",
        )
        for host in log.slowest_hosts[:_LISTED]
    ]
    return cards(
        parts.histogram("response_times", log.seconds, words.duration, 2, note),
        parts.bars("slowest_hosts", slow, parts.axes.times, parts.say("slowest_hosts_note")),
        parts.pages("slowest", log.slowest),
    )


def politeness(parts: Parts, figures: Figures) -> Html:
    """Whether every host was left in peace as long as it was due."""
    words, kept = parts.words, figures.log.politeness
    verdicts = [_verdict(parts, figures)]
    if kept.below_crawl_delay:
        said = parts.say("crawl_delay_broken", count=kept.below_crawl_delay)
        verdicts.append(paragraph(said, "verdict bad"))
    elif figures.hosts.crawl_delays:
        verdicts.append(paragraph(parts.say("crawl_delay_kept"), "verdict"))
    content = [
        parts.histogram("smallest_gaps", kept.smallest, words.duration, 1),
        parts.gaps("tightest", kept.closest),
    ]
    if kept.hurried:
        content.append(parts.gaps("hurried", kept.hurried, whole=True))
    notes = [paragraph(_how(parts, figures), "note")]
    if kept.unmeasured:
        above = words.duration(kept.unmeasured_above)
        notes.append(
            paragraph(parts.say("politeness_unmeasured", count=kept.unmeasured, above=above), "note")
        )
    return join(
        (
            *verdicts,
            cards(*content),
            *notes,
        )
    )


def _verdict(parts: Parts, figures: Figures) -> Html:
    kept = figures.log.politeness
    if not kept.gaps:
        return paragraph(parts.say("politeness_nothing"), "verdict")
    if kept.short:
        said = parts.say("politeness_broken", short=kept.short, gaps=kept.gaps, hosts=kept.short_hosts)
        return paragraph(said, "verdict bad")
    return paragraph(parts.say("politeness_kept", gaps=kept.gaps, hosts=kept.hosts), "verdict")


def _how(parts: Parts, figures: Figures) -> str:
    words, settings = parts.words, figures.settings
    if settings.min_delay == 0:
        return parts.say("politeness_off")
    return parts.say(
        "politeness_how",
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
            text(words.failure(line.kind)),
            parts.number(line.visits),
            text(words.share(line.visits, log.visits)),
            address(line.url),
            foreign(parts.reason(line.detail), 160),
        )
        for line in log.failures[:40]
    ]
    errors = [
        Bar(host.name, host.errors, words.share(host.errors, host.visits), 3)
        for host in log.most_errors[:_LISTED]
    ]
    kinds = [
        Bar(
            words.failure(line.kind),
            line.visits,
            words.share(line.visits, whole),
            _tone_of_failure(line.kind),
        )
        for line in log.failures[:_LISTED]
    ]
    return join(
        (
            paragraph(parts.say("failures_lead"), "lead"),
            cards(
                parts.bars("failures_by_kind", kinds, parts.axes.counts),
                parts.bars("most_errors", errors, parts.axes.counts),
                parts.table("examples", ("kind", "count", "share", "example", "detail"), rows, ".nn.."),
            ),
        )
    )


def _tone_of_failure(kind: str) -> int:
    """What we did not ask for is no fault of the host."""
    return 7 if kind.startswith("refused") else 2 if kind.startswith("status 4") else 3


def duplicates(parts: Parts, figures: Figures) -> Html:
    """The chapter on payloads that came again, and on pages that resemble each other."""
    found = figures.log.duplicates
    if not found.visits:
        return join((paragraph(parts.say("no_duplicates"), "lead"), _near_duplicates(parts, figures)))
    rows = [(address(line.url), parts.number(line.copies)) for line in found.most]
    lead = parts.say("duplicates_lead", visits=found.visits, bytes=parts.words.size(found.bytes))
    return join(
        (
            paragraph(lead, "lead"),
            cards(parts.table("repeated", ("url", "copies"), rows, ".n")),
            _near_duplicates(parts, figures),
        )
    )


def _near_duplicates(parts: Parts, figures: Figures) -> Html:
    """What the index of near-duplicates found; nothing without one."""
    found = figures.near_duplicates
    if not found.captures:
        return join(())
    lead = parts.say("near_duplicates_lead", pages=found.pages, clusters=found.clusters)
    rows = [(address(line.url), parts.number(line.copies)) for line in found.largest]
    if not rows:
        return paragraph(parts.say("no_near_duplicates"), "lead")
    return join(
        (
            paragraph(lead, "lead"),
            cards(parts.table("near_duplicates", ("url", "pages"), rows, ".n")),
        )
    )


def freshness(parts: Parts, figures: Figures) -> Html:
    """How much is stale, how far to believe that, and what visits again have brought; nothing without any."""
    words, found = parts.words, figures.freshness
    if not found.known:
        return Html("")
    lead = parts.say(
        "freshness_lead",
        stale=words.share(found.stale),
        weighted=words.share(found.by_weight),
        pages=found.pages,
    )
    rows = [
        ("visits_again", words.number(found.visits)),
        ("useful", f"{words.share(found.useful_share)} ({words.number(found.useful)})"),
        ("unmodified", words.number(found.unmodified)),
        ("saved", words.size(found.saved)),
        ("delay", words.duration(found.delay)),
        ("brier", words.number(None if found.brier is None else round(found.brier, 3))),
        ("gone", words.number(found.gone)),
        ("never", words.number(found.never)),
    ]
    axis = shares(words)
    note = parts.say("sampled_pages", count=found.sampled) if not found.complete else ""
    return join(
        (
            paragraph(lead, "lead"),
            facts([(words(f"freshness.{name}"), text(value)) for name, value in rows]),
            cards(
                parts.bars(
                    "predicted", predicted_bars(found.bins, words), axis, words("freshness.predicted_note")
                ),
                parts.bars("stale_by_site", site_bars(found.sites, words), axis, note),
                *_gone(parts, figures),
            ),
        )
    )


def _gone(parts: Parts, figures: Figures) -> list[Card]:
    """Hosts that have left, and pages that are gone with who mentions them."""
    words, found = parts.words, figures.gone
    hosts = [
        (
            foreign(host.host),
            text(words(f"freshness.left_{host.lacks}")),
            parts.number(host.pages),
            text(moment(host.since) if host.since else NOTHING),
        )
        for host in found.hosts
    ]
    pages = [
        (
            address(page.url),
            text(moment(page.since) if page.since else NOTHING),
            address(page.via) if page.via else text(parts.say("seed")),
            text(words.number(page.referrers)),
        )
        for page in found.pages
    ]
    return [
        *([parts.table("left_hosts", ("host", "what", "pages", "since"), hosts, "..n.")] if hosts else []),
        *(
            [parts.table("gone_pages", ("url", "since", "found_on", "referrers"), pages, "...n")]
            if pages
            else []
        ),
    ]


def traps(parts: Parts, figures: Figures) -> Html:
    """Branches of sites that were set aside."""
    found = figures.traps
    lead = parts.say(
        "traps_lead",
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
                text(parts.words.said("state", trap.state)),
                parts.number(trap.visits),
                parts.number(trap.brought),
                parts.number(trap.waiting),
            )
            for trap in found.worst
        ]
        heads = ("host", "branch", "state", "visits", "brought", "waiting")
        content.append(cards(parts.table("traps", heads, rows, "...nnn")))
    return join(content)


def names(parts: Parts, figures: Figures) -> Html:
    """What became of questions for names."""
    found = figures.names
    sums = found.sums
    asked = sum(sums.get(name, 0) for name in ("hits", "negative", "deferred", "misses"))
    lead = parts.say("names_lead", asked=asked, hits=sums.get("hits", 0), queries=sums.get("queries", 0))
    slowest = [Bar(name, seconds, tone=2) for name, seconds in found.slowest[:_LISTED]]
    content = [
        parts.histogram("name_times", _trimmed(found.latencies), parts.words.duration, 2),
        parts.bars("slowest_names", slowest, parts.axes.times),
    ]
    if found.failures:
        content.append(parts.counted("name_failures", _named(parts, "fault", found.failures)[:_LISTED], 3))
    if found.failing:
        content.append(parts.counted("failing_names", found.failing[:_LISTED], 3))
    return join(
        (
            paragraph(lead, "lead"),
            cards(*content),
        )
    )


def _trimmed(figures: Histogram) -> Histogram:
    """Without the empty columns at both ends."""
    pairs = list(dropwhile(lambda pair: not pair[1], zip(figures.edges, figures.counts, strict=False)))
    while pairs and not pairs[-1][1]:
        pairs.pop()
    return Histogram([edge for edge, _ in pairs], [count for _, count in pairs], figures.zero)


def settings(parts: Parts, figures: Figures) -> Html:
    """The settings that say most about the crawl."""
    words, known = parts.words, figures.settings
    delays = parts.say(
        "delays_value",
        min_delay=words.duration(known.min_delay),
        factor=words.number(known.factor),
        max_delay=words.duration(known.max_delay),
    )
    rows = [
        ("order", known.order),
        ("scope", known.scope),
        ("workers", words.number(known.workers)),
        ("delays", delays),
        ("visits_at_once", words.number(known.visits_per_host)),
        ("queue_key", known.queue_key),
        ("robots", parts.say("obeyed" if known.obey_robots else "ignored")),
    ]
    return facts([(parts.say(name), foreign(value)) for name, value in rows])


def about(parts: Parts, figures: Figures) -> Html:
    """Where the figures come from."""
    damaged = parts.say("damaged", count=figures.log.damaged) if figures.log.damaged else ""
    return join(
        (
            paragraph(parts.say("about_text"), "lead"),
            paragraph(damaged, "lead"),
        )
    )
