"""The first chapters of the report: over time, answers, content."""

from gossamer.report.charts import Bar, Frame, Series, Share, time_chart
from gossamer.report.figures import Figures
from gossamer.report.markup import Card, Fact, Html, cards, paragraph, section
from gossamer.report.parts import OUTCOMES, WHOLE, Parts

_LISTED = 12
_COURSE = 3
"""Points of which a line says more than the sums do."""


def over_time(parts: Parts, figures: Figures) -> Html:
    """Pages, bytes and outcomes over time; nothing of a crawl too short for a course."""
    words, time = parts.words, figures.log.timeline
    if len(time.pages) < _COURSE:
        return Html("")
    edges = [time.start + time.width * place for place in range(len(time.pages) + 1)]
    if len(edges) > 1:
        edges[-1] = max(min(edges[-1], figures.log.last), edges[-2] + time.width / 20)

    def rates(values: list[int]) -> list[float]:
        return [value / (edges[place + 1] - edges[place]) for place, value in enumerate(values)]

    def chart(phrase: str, series: list[Series], *, size: bool = False, stacked: bool = False) -> Card:
        title = words.say(phrase)
        axis = parts.speeds if size else parts.rates

        def draw(frame: Frame) -> str:
            return time_chart(frame, edges, series, axis, stacked=stacked)

        any_at_all = any(value for one in series for value in one.values)
        return Card(title, parts.screens(title, draw) if any_at_all else Fact())

    outcomes = [
        Series(words.term(name), rates(getattr(time, name)), tone)
        for name, tone in OUTCOMES.items()
        if any(getattr(time, name))
    ]
    return section(
        "time",
        words.say("over time"),
        paragraph(words.say("over time lead", width=words.duration(time.width)), "lead"),
        cards(
            chart("pages per second", [Series(words.say("pages"), rates(time.pages), 0)]),
            chart("bytes per second", [Series(words.say("bytes"), rates(time.bytes), 1)], size=True),
            chart("visits by outcome", outcomes, stacked=True),
            chart("errors over time", [Series(words.say("errors"), rates(time.errors), 3)]),
        ),
    )


def answers(parts: Parts, figures: Figures) -> Html:
    """How visits ended: classes, status codes, what became of the URLs."""
    words, log = parts.words, figures.log
    classes = [
        Share(words.term(name), sum(getattr(log.timeline, name)), tone) for name, tone in OUTCOMES.items()
    ]
    statuses = sorted(figures.sums.statuses.items(), key=lambda item: (-item[1], item[0]))
    whole = sum(figures.sums.statuses.values())
    bars = [
        Bar(status, count, words.share(count, whole), _tone(status)) for status, count in statuses[:_LISTED]
    ]
    endings = sorted(log.endings.items(), key=lambda item: -item[1])
    return section(
        "answers",
        words.say("answers"),
        paragraph(words.say("answers lead", visits=log.visits), "lead"),
        cards(
            Card(
                words.say("visits by class"),
                parts.shares(words.say("visits by class"), classes, WHOLE),
                whole=True,
            ),
            Card(words.say("status codes"), parts.bars(words.say("status codes"), bars, parts.counts)),
            Card(words.say("what became"), parts.counted(words.say("what became"), endings)),
        ),
    )


def _tone(status: str) -> int:
    name = {"2": "ok", "3": "moved", "4": "client_errors", "5": "server_errors"}.get(status[:1], "refused")
    return OUTCOMES[name]


def content(parts: Parts, figures: Figures) -> Html:
    """Types, sizes, languages, depth, how pages were found."""
    words, log = parts.words, figures.log
    depth = [(str(depth), count) for depth, count in enumerate(log.depth)]
    return section(
        "content",
        words.say("content"),
        paragraph(words.say("content lead"), "lead"),
        cards(
            _types_by_pages(parts, figures),
            _types_by_bytes(parts, figures),
            _sizes(parts, figures),
            _languages(parts, figures),
            Card(
                words.say("depth"),
                parts.counted(words.say("depth"), depth, 4),
                note=words.say("depth note"),
            ),
            Card(words.say("found by"), parts.counted(words.say("found by"), list(log.kinds.items()), 5)),
            Card(words.say("largest"), parts.pages(log.largest), whole=True),
        ),
    )


def _types_by_pages(parts: Parts, figures: Figures) -> Card:
    words, types = parts.words, figures.log.types
    whole = sum(each.pages for each in types)
    bars = [
        Bar(_type(parts, each.name), each.pages, words.share(each.pages, whole)) for each in types[:_LISTED]
    ]
    return Card(words.say("types by pages"), parts.bars(words.say("types by pages"), bars, parts.counts))


def _types_by_bytes(parts: Parts, figures: Figures) -> Card:
    words, types = parts.words, figures.log.types
    whole = sum(each.bytes for each in types)
    largest = sorted(types, key=lambda each: -each.bytes)[:_LISTED]
    bars = [Bar(_type(parts, each.name), each.bytes, words.share(each.bytes, whole), 1) for each in largest]
    return Card(words.say("types by bytes"), parts.bars(words.say("types by bytes"), bars, parts.bytes))


def _sizes(parts: Parts, figures: Figures) -> Card:
    words, sizes = parts.words, figures.log.sizes
    note = words.say(
        "sizes note",
        median=words.size(sizes.quantiles.median),
        tenths=words.size(sizes.quantiles.nine_tenths),
        largest=words.size(sizes.quantiles.largest),
    )
    return Card(words.say("sizes"), parts.histogram(words.say("sizes"), sizes, words.size), note=note)


def _type(parts: Parts, name: str) -> str:
    return name or parts.words.say("other")


def _languages(parts: Parts, figures: Figures) -> Card:
    words, languages = parts.words, figures.languages
    phrase = "languages note" if languages.read >= languages.pages else "languages estimated"
    return Card(
        words.say("languages"),
        parts.counted(
            words.say("languages"),
            [(words.tongue(one.name), one.pages) for one in languages.most],
            6,
            languages.pages,
        ),
        note=words.say(phrase, unknown=languages.unknown, read=languages.read, pages=languages.pages),
    )
