"""What a page says about itself, out of the many places where pages say it.

The order of the places is that of their trustworthiness: data written for machines before text written for
readers.
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.documents.gathered import absolute
from gossamer.documents.limits import Budget
from gossamer.documents.markup.authors import authors_of, stands_aside
from gossamer.documents.markup.dates import date_in, iso_date
from gossamer.documents.markup.named import Named
from gossamer.documents.markup.titles import title_of
from gossamer.documents.said import Alternate, Metadata

__all__ = ["alternates_of", "metadata_of"]

_PUBLISHED = (
    *(
        "article:published_time",
        "datepublished",
        "og:published_time",
        "publication_date",
        "citation_publication_date",
    ),
    *(
        "citation_date",
        "citation_online_date",
        "parsely-pub-date",
        "sailthru.date",
        "dc.date.issued",
        "dcterms.issued",
    ),
    *(
        "dcterms.created",
        "dc.date.created",
        "dc.date",
        "dcterms.date",
        "pubdate",
        "publishdate",
        "publish-date",
    ),
    *("article.published", "article:post_date", "date", "timestamp"),
)
_MODIFIED = (
    *("article:modified_time", "datemodified", "og:updated_time", "dcterms.modified", "dc.date.modified"),
    *("last-modified", "lastmod", "revised", "article.updated", "updated_time"),
)
_ARTICLE_TYPES = re.compile(
    r"(?:\w*Article|\w*Posting|Report|\w*Page|Review|Recipe|Product|Event|Book|Movie|VideoObject|Course|Dataset|"
    r"SoftwareApplication|Question|HowTo)\Z"
)
_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-]([01]?\d)[/-]([0-3]?\d)(?:[/_.-]|\Z)")
_TIMES = (
    '[itemprop~="datePublished"], time[pubdate], .published, .dt-published, article time, main time, '
    ".entry-date, .post-date"
)
_DATED = (
    "time, .date, .time, .pubtime, .publish, .fecha, .datum, .info, .byline, .meta, .source, [class*='date'], "
    "[class*='Date'], [id*='date']"
)
"""Where pages show readers their date."""
_LONGEST_DATED = 160
_MANY_DATES = 3
"""Different dates from which on a page is a list of others."""
_LONGEST = 2_000


def metadata_of(
    tree: LexborHTMLParser, by_name: Named, url: str, properties: dict[str, list[str]], data: list[object]
) -> Metadata:
    """Title, authors, dates and the like of a page.

    Args:
        tree: of the page.
        by_name: its elements.
        url: its base address.
        properties: its `meta` elements.
        data: its JSON-LD items.
    """
    items = [item for item in data if isinstance(item, dict)]
    works = [item for item in items if any(_ARTICLE_TYPES.match(kind) for kind in _types(item))]
    articles = [work for work in works if not any(kind.endswith("Page") for kind in _types(work))] + works
    canonical = next(_related(by_name.links, "canonical"), {})
    html = tree.css_first("html")
    language = (html.attributes.get("lang") or html.attributes.get("xml:lang") or "") if html else ""
    language = language or _first(properties, "og:locale", "content-language", "dc.language", "language")
    language = language.strip().replace("_", "-").lower()[:35]
    return Metadata(
        title=title_of(by_name, url, properties, items),
        authors=authors_of(tree, properties, articles, items),
        published=_published(tree, url, properties, articles, language),
        modified=_dated([*_of(articles, "dateModified"), *_all(properties, _MODIFIED)], language),
        language=language,
        description=_clean(
            _first(properties, "description", "og:description", "twitter:description", "dc.description")
            or next(iter(_of(articles, "description")), "")
        ),
        canonical=absolute(canonical.get("href") or "", url),
        keywords=tuple(
            word.strip()[:200]
            for value in properties.get("keywords", []) + properties.get("article:tag", [])
            for word in value.split(",")[:100]
            if word.strip()
        ),
        generator=_first(properties, "generator")[:200],
    )


def _related(links: list[LexborNode], relation: str) -> Iterator[dict[str, str | None]]:
    """The attributes of `link` elements that lead somewhere in this relation."""
    for link in links:
        attributes = link.attributes
        if "href" in attributes and relation in (attributes.get("rel") or "").lower().split():
            yield attributes


def alternates_of(links: list[LexborNode], url: str, budget: Budget) -> tuple[Alternate, ...]:
    """The same page in other languages and formats."""
    found: dict[tuple[str, str], Alternate] = {}
    for attributes in _related(links, "alternate"):
        if "stylesheet" in (attributes.get("rel") or "").lower():
            continue
        if len(found) >= budget.limits.max_data:
            budget.cut = True
            break
        address = absolute(attributes.get("href") or "", url)
        language = (attributes.get("hreflang") or "").strip().lower()[:35]
        if address:
            kind = (attributes.get("type") or "").strip().lower()[:100]
            found.setdefault((address, language), Alternate(address, language, kind))
    return tuple(found.values())


def _types(item: dict[str, object]) -> list[str]:
    kind = item.get("@type", "")
    kinds = kind if isinstance(kind, list) else [kind]
    return [each.rpartition("/")[2] for each in kinds if isinstance(each, str)]


def _of(items: Iterable[dict[str, object]], name: str) -> Iterator[str]:
    for item in items:
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            yield unescape(value) if "&" in value else value


def _first(properties: dict[str, list[str]], *names: str) -> str:
    return next((properties[name][0] for name in names if name in properties), "")


def _all(properties: dict[str, list[str]], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from properties.get(name, [])


def _dated(values: Iterable[str], language: str) -> str:
    return next((found for value in values if (found := iso_date(value, language))), "")


def _clean(value: str) -> str:
    return " ".join(value[: 2 * _LONGEST].split())[:_LONGEST]


def _published(
    tree: LexborHTMLParser,
    url: str,
    properties: dict[str, list[str]],
    articles: list[dict[str, object]],
    language: str,
) -> str:
    told = [*_of(articles, "datePublished"), *_all(properties, _PUBLISHED), *_of(articles, "dateCreated")]
    if found := _dated(told, language):
        return found
    for node in tree.css(_TIMES)[:5]:
        own = node.attributes
        told = [own.get("datetime") or "", own.get("content") or "", own.get("title") or ""]
        if not stands_aside(node) and (found := _dated([*told, node.text(deep=True) or ""], language)):
            return found
    match = _IN_PATH.search(urlsplit(url).path)
    if match and (found := iso_date("-".join(match.groups()))):
        return found
    return _shown_date(tree, language)


def _shown_date(tree: LexborHTMLParser, language: str) -> str:
    """The date that readers are shown; none of a page that shows several."""
    found: dict[str, None] = {}
    for node in tree.css(_DATED)[:20]:
        text = node.attributes.get("datetime") or ""
        text = text if iso_date(text) else " ".join((node.text(deep=True, separator=" ") or "").split())
        if (
            text
            and len(text) <= _LONGEST_DATED
            and not stands_aside(node)
            and (date := date_in(text, language))
        ):
            found[date] = None
    return next(iter(found)) if 0 < len({date[:10] for date in found}) < _MANY_DATES else ""
