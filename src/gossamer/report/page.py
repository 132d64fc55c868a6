"""The report as one self-contained HTML page: no script, nothing loaded from anywhere."""

import base64
import hashlib
from importlib.metadata import version
from pathlib import Path

from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.ends import FINISHED
from gossamer.model.reasons.reason import Reason
from gossamer.report import chapters
from gossamer.report.figures import Figures
from gossamer.report.markup import Html, element, foreign, join, paragraph, section, text
from gossamer.report.parts import Parts
from gossamer.report.style import PAGE_CSS, REPORT_CSS
from gossamer.state.whole_files import write_whole
from gossamer.words.amounts import moment
from gossamer.words.catalogue import words

__all__ = ["REPORT_CSS", "report_body", "report_page", "write_report"]

_CHAPTERS = (
    ("time", "over_time", chapters.over_time),
    ("answers", "answers", chapters.answers),
    ("content", "content", chapters.content),
    ("hosts", "hosts", chapters.hosts),
    ("speed", "response_times", chapters.speed),
    ("politeness", "politeness", chapters.politeness),
    ("failures", "failures", chapters.failures),
    ("freshness", "freshness", chapters.freshness),
    ("duplicates", "duplicates", chapters.duplicates),
    ("traps", "traps", chapters.traps),
    ("names", "names", chapters.names),
    ("settings", "settings", chapters.settings),
    ("about", "about", chapters.about),
)
"""Anchor, heading (below `report` in the catalogue) and content of each."""


def report_body(figures: Figures, language: str = "en") -> str:
    """The report without the page around it, for a page that has `REPORT_CSS` among its style sheets."""
    parts = Parts(words(language))
    told = [(anchor, parts.say(key), chapter(parts, figures)) for anchor, key, chapter in _CHAPTERS]
    told = [one for one in told if one[2]]
    return element(
        "main",
        "report",
        _head(parts, figures),
        _tiles(parts, figures),
        _contents(parts, [(anchor, title) for anchor, title, _ in told]),
        *(section(*one) for one in told),
        _foot(parts, figures),
    )


def report_page(figures: Figures, language: str = "en") -> str:
    """The whole page. Its own Content-Security-Policy allows its style sheet, by hash, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(PAGE_CSS.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    t = words(language)
    title = t("report.title", name=figures.name)
    return "".join(
        (
            f'<!DOCTYPE html>\n<html lang="{t.tag}"><head><meta charset="utf-8"/>',
            f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            '<meta name="referrer" content="no-referrer"/><meta name="robots" content="noindex"/>',
            '<meta name="color-scheme" content="light dark"/>',
            f"<title>{text(title)}</title><style>{PAGE_CSS}</style></head><body>",
            report_body(figures, language),
            "</body></html>\n",
        )
    )


def write_report(figures: Figures, target: Path, language: str = "en") -> None:
    """Write the page, whole or not at all.

    Raises:
        StorageError: the disk refuses.
    """
    write_whole(target, report_page(figures, language))


def _head(parts: Parts, figures: Figures) -> Html:
    log = figures.log
    left = figures.sums.queued + figures.sums.waiting
    reason = parts.reason(Reason(EndCode.FOR_NOW) if figures.ended == FINISHED and left else figures.ended)
    ended = parts.say("ended", reason=reason) if reason else parts.say("running")
    seeds = [foreign(seed, 120) for seed in figures.seeds]
    more = figures.seed_count - len(seeds)
    listed = Html(", ".join(seeds)) + (f" {text(parts.say('more_seeds', count=more))}" if more > 0 else "")
    span = parts.say("from_to", first=moment(log.first), last=moment(log.last)) if log.visits else ""
    return element(
        "header",
        "",
        element("h1", "", foreign(parts.say("title", name=figures.name))),
        element("p", "sub", text(span), element("span", "badge", text(ended))),
        element("p", "sub", text(parts.say("seeds") + ": "), Html(listed)),
    )


def _tiles(parts: Parts, figures: Figures) -> Html:
    words, sums = parts.words, figures.sums
    tiles = (
        (
            "pages",
            words.number(sums.pages),
            parts.say("of_visits", share=words.share(sums.pages, sums.visits), visits=sums.visits),
        ),
        ("received", words.size(sums.bytes), parts.say("archived", size=words.size(sums.archived_bytes))),
        ("hosts", words.number(sums.hosts), parts.say("parked", count=sums.hosts_parked)),
        ("time", words.duration(sums.seconds), parts.say("time_crawling")),
        ("speed", words.number(sums.pages_per_second), parts.say("on_average")),
        ("left", words.number(sums.queued + sums.waiting), parts.say("known", known=sums.known)),
        (
            "failed_visits",
            words.number(sums.failed_visits),
            parts.say("of_visits", share=words.share(sums.failed_visits, sums.visits), visits=sums.visits),
        ),
        (
            "duplicates",
            words.number(sums.duplicates),
            parts.say("of_pages", share=words.share(sums.duplicates, sums.pages)),
        ),
    )
    return element(
        "div",
        "tiles",
        *(
            element(
                "div",
                "tile",
                element("div", "what", text(parts.say(what))),
                element("div", "much", text(much)),
                element("div", "more", text(more)),
            )
            for what, much, more in tiles
        ),
    )


def _contents(parts: Parts, listed: list[tuple[str, str]]) -> Html:
    links = join(Html(f'<a href="#{anchor}">{text(title)}</a>') for anchor, title in listed)
    return Html(f'<nav aria-label="{text(parts.say("contents"))}">{links}</nav>')


def _foot(parts: Parts, figures: Figures) -> Html:
    made = parts.say("made", made=moment(figures.made), version=version("gossamer"))
    return element("footer", "", paragraph(made))
