"""A site to be searched: pages in three languages, near-duplicates, a page that tries to run something."""

# ruff: noqa: RUF001 - Chinese has commas of its own

import random
from urllib.parse import quote

from hostile_site import STEERS

WORDS = [
    "archive", "politeness", "robots", "queue", "frontier", "host", "delay", "page", "link", "snippet",
    "language", "feed", "sitemap", "record", "resume", "budget", "scope", "worker", "resolver", "cache",
    "header", "redirect", "content", "charset", "table", "export", "cluster", "agent", "shard", "report",
]  # fmt: skip
RUNS = f"<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>{STEERS}"
AS_TEXT = RUNS.replace("&", "&amp;").replace("<", "&lt;")
GUIDES, COPIES = 24, 3


def prose(seed: int, sentences: int = 8) -> str:
    """Paragraphs of words in an order of their own."""
    chance = random.Random(seed)
    return "".join(
        f"<p>{' '.join(chance.choice(WORDS) for _ in range(25)).capitalize()}.</p>" for _ in range(sentences)
    )


def _page(title: str, body: str, language: str = "en", date: str = "2024-05-06") -> str:
    return (
        f'<html lang="{language}"><head><title>{title}</title><meta property="article:published_time" content="{date}">'
        f"</head><body><h1>{title}</h1>{body}</body></html>"
    )


PAGES = {
    **{
        f"guide/{n}": _page(
            f"Guide {n} to the {WORDS[n]}", f"<p>A crawler at work.</p>{prose(n)}", date=f"202{n % 4}-03-04"
        )
        for n in range(GUIDES)
    },
    "report": _page("The yearly report", prose(999)),
    **{
        f"print/{n}": _page("The yearly report", prose(999).replace("</p>", f" Edition {n}.</p>", 1))
        for n in range(COPIES)
    },
    "zh/1": _page(
        "全文检索指南",
        "<p>搜索引擎的索引按双字切分中文文本，因此不需要词典也能找到任何词语。</p>"
        "<p>礼貌的爬虫在每次访问之后让主机休息，并遵守机器人协议。</p>",
        "zh",
    ),
    "de/1": _page(
        "Die Suche in Archiven",
        "<p>Eine Suchmaschine findet Dokumente nach ihren Wörtern. Wer sucht, der findet, auch in alten Häusern.</p>",
        "de",
    ),
    "evil": _page(
        f"Evil {AS_TEXT}",
        f"<p>Evil words {AS_TEXT} that want to run, and more evil {AS_TEXT} behind.</p>",
        AS_TEXT[:20],
    ),
}
LINKS = " ".join(f'<a href="/{quote(path)}">{number}</a>' for number, path in enumerate(PAGES))
PAGES[""] = _page("Start of the documentation", f"<p>Everything about the crawler.</p>{LINKS}")
DOCUMENTS = len(PAGES)


def page_at(path: str) -> str | None:
    """For `small_site`: the page at a path."""
    return PAGES.get(path)
