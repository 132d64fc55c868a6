"""The first chapters of the report: over time, answers, content."""

from gossamer.app.charts import Bar, Frame, Series, Share, time_chart
from gossamer.app.html_report.figures import Figures
from gossamer.app.html_report.markup import Html, card, cards, paragraph, section
from gossamer.app.html_report.parts import OUTCOMES, WHOLE, Parts

_LISTED = 12
_TALL = 230


def over_time(parts: Parts, figures: Figures) -> Html:
    """Pages, bytes and outcomes over time."""
    words, time = parts.words, figures.log.timeline
    edges = [time.start + time.width * place for place in range(len(time.pages) + 1)]
    if len(edges) > 1:
        edges[-1] = max(min(edges[-1], figures.log.last), edges[-2] + time.width / 20)

    def rates(values: list[int]) -> list[float]:
        return [value / (edges[place + 1] - edges[place]) for place, value in enumerate(values)]

    def chart(phrase: str, series: list[Series], *, size: bool = False, stacked: bool = False) -> Html:
        title = words.say(phrase)
        axis = parts.speeds if size else parts.rates

        def draw(frame: Frame) -> str:
            return time_chart(frame, edges, series, axis, stacked=stacked)

        return card(title, parts.screens(title, draw, WHOLE, _TALL), whole=True)

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
            card(
                words.say("visits by class"),
                parts.shares(words.say("visits by class"), classes, WHOLE),
                whole=True,
            ),
            card(words.say("status codes"), parts.bars(words.say("status codes"), bars, parts.counts)),
            card(words.say("what became"), parts.counted(words.say("what became"), endings)),
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
            card(
                words.say("depth"),
                parts.counted(words.say("depth"), depth, 4),
                note=words.say("depth note"),
            ),
            card(words.say("found by"), parts.counted(words.say("found by"), list(log.kinds.items()), 5)),
            card(words.say("largest"), parts.pages(log.largest), whole=True),
        ),
    )


def _types_by_pages(parts: Parts, figures: Figures) -> Html:
    words, types = parts.words, figures.log.types
    whole = sum(each.pages for each in types)
    bars = [
        Bar(_type(parts, each.name), each.pages, words.share(each.pages, whole)) for each in types[:_LISTED]
    ]
    return card(words.say("types by pages"), parts.bars(words.say("types by pages"), bars, parts.counts))


def _types_by_bytes(parts: Parts, figures: Figures) -> Html:
    words, types = parts.words, figures.log.types
    whole = sum(each.bytes for each in types)
    largest = sorted(types, key=lambda each: -each.bytes)[:_LISTED]
    bars = [Bar(_type(parts, each.name), each.bytes, words.share(each.bytes, whole), 1) for each in largest]
    return card(words.say("types by bytes"), parts.bars(words.say("types by bytes"), bars, parts.bytes))


def _sizes(parts: Parts, figures: Figures) -> Html:
    words, sizes = parts.words, figures.log.sizes
    note = words.say(
        "sizes note",
        median=words.size(sizes.quantiles.median),
        tenths=words.size(sizes.quantiles.nine_tenths),
        largest=words.size(sizes.quantiles.largest),
    )
    return card(words.say("sizes"), parts.histogram(words.say("sizes"), sizes, words.size), note=note)


def _type(parts: Parts, name: str) -> str:
    return name or parts.words.say("other")


def _languages(parts: Parts, figures: Figures) -> Html:
    words, languages = parts.words, figures.languages
    phrase = "languages note" if languages.read >= languages.pages else "languages estimated"
    return card(
        words.say("languages"),
        parts.counted(
            words.say("languages"),
            [(words.tongue(one.name), one.pages) for one in languages.most],
            6,
            languages.pages,
        ),
        note=words.say(phrase, unknown=languages.unknown, read=languages.read, pages=languages.pages),
    )
