"""The report as one self-contained HTML page: no script, nothing loaded from anywhere."""

import base64
import hashlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from gossamer.assembly.folder import write_whole
from gossamer.engine.visiting.dispatch import FINISHED
from gossamer.report import chapters, chapters_at_the_end, chapters_of_hosts
from gossamer.report.charts.scale import time_words
from gossamer.report.figures import Figures
from gossamer.report.markup import Html, element, foreign, join, paragraph, text
from gossamer.report.parts import Parts
from gossamer.report.style import PAGE_CSS, REPORT_CSS
from gossamer.report.words import Language, Words

__all__ = ["REPORT_CSS", "report_body", "report_page", "write_report"]

_CHAPTERS = (
    ("time", "over time", chapters.over_time),
    ("answers", "answers", chapters.answers),
    ("content", "content", chapters.content),
    ("hosts", "hosts", chapters_of_hosts.hosts),
    ("speed", "response times", chapters_of_hosts.speed),
    ("politeness", "politeness", chapters_of_hosts.politeness),
    ("failures", "failures", chapters_of_hosts.failures),
    ("duplicates", "duplicates", chapters_at_the_end.duplicates),
    ("traps", "traps", chapters_at_the_end.traps),
    ("names", "names", chapters_at_the_end.names),
    ("settings", "settings", chapters_at_the_end.settings),
    ("about", "about", chapters_at_the_end.about),
)


def report_body(figures: Figures, language: Language = "en", reasons: Callable[[str], str] = str) -> str:
    """The report without the page around it, for a page that has `REPORT_CSS` among its style sheets.

    `reasons` says in that language what the crawl has written down in English.
    """
    parts = Parts(Words(language, reasons))
    told = [(anchor, name, chapter(parts, figures)) for anchor, name, chapter in _CHAPTERS]
    return element(
        "main",
        "report",
        _head(parts, figures),
        _tiles(parts, figures),
        _contents(parts, [(anchor, name) for anchor, name, content in told if content]),
        *(content for _, _, content in told),
        _foot(parts, figures),
    )


def report_page(figures: Figures, language: Language = "en") -> str:
    """The whole page. Its own Content-Security-Policy allows its style sheet, by hash, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(PAGE_CSS.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    words = Words(language)
    title = words.say("title", name=figures.name)
    tag = "zh-Hans" if language == "zh" else language
    return "".join(
        (
            f'<!DOCTYPE html>\n<html lang="{tag}"><head><meta charset="utf-8"/>',
            f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            '<meta name="referrer" content="no-referrer"/><meta name="robots" content="noindex"/>',
            '<meta name="color-scheme" content="light dark"/>',
            f"<title>{text(title)}</title><style>{PAGE_CSS}</style></head><body>",
            report_body(figures, language),
            "</body></html>\n",
        )
    )


def write_report(figures: Figures, target: Path, language: Language = "en") -> None:
    """Write the page, whole or not at all.

    Raises:
        StorageError: the disk refuses.
    """
    write_whole(target, report_page(figures, language))


def _head(parts: Parts, figures: Figures) -> Html:
    words, log = parts.words, figures.log
    left = figures.sums.queued + figures.sums.waiting
    ended = "finished for now" if figures.ended == FINISHED and left else figures.ended
    reason = words.reason(words.term(ended))
    ended = words.say("ended", reason=reason) if reason else words.say("running")
    seeds = [foreign(seed, 120) for seed in figures.seeds]
    more = figures.seed_count - len(seeds)
    listed = Html(", ".join(seeds)) + (f" {text(words.say('more seeds', count=more))}" if more > 0 else "")
    span = words.say("from to", first=time_words(log.first), last=time_words(log.last)) if log.visits else ""
    return element(
        "header",
        "",
        element("h1", "", foreign(words.say("title", name=figures.name))),
        element("p", "sub", text(span), element("span", "badge", text(ended))),
        element("p", "sub", text(words.say("seeds") + ": "), Html(listed)),
    )


def _tiles(parts: Parts, figures: Figures) -> Html:
    words, sums = parts.words, figures.sums
    tiles = (
        (
            "pages",
            words.number(sums.pages),
            words.say("of visits", share=words.share(sums.pages, sums.visits), visits=sums.visits),
        ),
        ("received", words.size(sums.bytes), words.say("archived", size=words.size(sums.archived_bytes))),
        ("hosts", words.number(sums.hosts), words.say("parked", count=sums.hosts_parked)),
        ("time", words.duration(sums.seconds), words.say("time crawling")),
        ("speed", words.number(sums.pages_per_second), words.say("on average")),
        ("left", words.number(sums.queued + sums.waiting), words.say("known", known=sums.known)),
        (
            "failed visits",
            words.number(sums.failed_visits),
            words.say("of visits", share=words.share(sums.failed_visits, sums.visits), visits=sums.visits),
        ),
        (
            "duplicates",
            words.number(sums.duplicates),
            words.say("of pages", share=words.share(sums.duplicates, sums.pages)),
        ),
    )
    return element(
        "div",
        "tiles",
        *(
            element(
                "div",
                "tile",
                element("div", "what", text(words.say(what))),
                element("div", "much", text(much)),
                element("div", "more", text(more)),
            )
            for what, much, more in tiles
        ),
    )


def _contents(parts: Parts, listed: list[tuple[str, str]]) -> Html:
    words = parts.words
    links = join(Html(f'<a href="#{anchor}">{text(words.say(title))}</a>') for anchor, title in listed)
    return Html(f'<nav aria-label="{text(words.say("contents"))}">{links}</nav>')


def _foot(parts: Parts, figures: Figures) -> Html:
    words = parts.words
    made = words.say("made", made=time_words(figures.made), version=version("gossamer"))
    return element("footer", "", paragraph(made))
