"""What a page says about itself, out of the many places where pages say it.

The order of the places is that of their trustworthiness: data written for machines before text written for
readers.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from gossamer.documents.gathered import absolute
from gossamer.documents.limits import Budget
from gossamer.documents.said import Alternate, Metadata

__all__ = ["alternates_of", "iso_date", "metadata_of"]

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
_AUTHOR = (
    *("author", "citation_author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author"),
    *("article:author", "twitter:creator", "byl"),
)
_ARTICLE_TYPES = re.compile(
    r"(?:\w*Article|\w*Posting|Report|\w*Page|Review|Recipe|Product|Event|Book|Movie|VideoObject|Course|Dataset|"
    r"SoftwareApplication|Question|HowTo)\Z"
)
_ISO = re.compile(
    r"\s*(\d{4})-(\d\d?)-(\d\d?)(?:[T ]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?"
    r"\s*(Z|[+-]\d\d:?(?:\d\d)?|UTC|GMT)?)?"
)
_COMPACT = re.compile(r"\s*((?:19|20)\d\d)([01]\d)([0-3]\d)(?:T?(\d\d)(\d\d)(\d\d)?)?(?!\d)")
_SLASHED = re.compile(r"\s*(\d{4})[/.](\d\d?)[/.](\d\d?)(?!\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = re.compile(
    r"\s*(?:[A-Za-z]{3,9},?\s+)?(?:(\d{1,2})(?:st|nd|rd|th)?[\s-]+([A-Za-z]{3,9})\.?,?[\s-]+(\d{4})"
    r"|([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4}))"
)
_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-]([01]?\d)[/-]([0-3]?\d)(?:[/_.-]|\Z)")
_SEPARATED = re.compile(r"\s+(?:[|\u2013\u2014\u00b7\u00bb\u2022:-]|\u2013)\s+")
_BYLINES = '[rel~="author"], [itemprop~="author"] [itemprop~="name"]'
_TIMES = (
    'time[itemprop~="datePublished"], time[pubdate], .published[datetime], article time[datetime], '
    "main time[datetime], .entry-date[datetime]"
)
_LABEL = re.compile(r"\A(?:by|von|par|por|di|door|av|written by|posted by|author:?)\s+", re.IGNORECASE)
_LONGEST = 2_000
_MOST_AUTHORS = 50


def metadata_of(
    tree: LexborHTMLParser, url: str, properties: dict[str, list[str]], data: list[object]
) -> Metadata:
    """Title, authors, dates and the like of a page.

    Args:
        tree: of the page.
        url: its base address.
        properties: its `meta` elements.
        data: its JSON-LD items.
    """
    items = [item for item in data if isinstance(item, dict)]
    works = [item for item in items if any(_ARTICLE_TYPES.match(kind) for kind in _types(item))]
    articles = [work for work in works if not any(kind.endswith("Page") for kind in _types(work))] + works
    canonical = tree.css_first('link[rel~="canonical" i][href]')
    html = tree.css_first("html")
    language = (html.attributes.get("lang") or html.attributes.get("xml:lang") or "") if html else ""
    language = language or _first(properties, "og:locale", "content-language", "dc.language", "language")
    return Metadata(
        title=_title(tree, properties, articles),
        authors=_authors(tree, properties, articles),
        published=_published(tree, url, properties, articles),
        modified=_dated([*_of(articles, "dateModified"), *_all(properties, _MODIFIED)]),
        language=language.strip().replace("_", "-").lower()[:35],
        description=_clean(
            _first(properties, "description", "og:description", "twitter:description", "dc.description")
            or next(iter(_of(articles, "description")), "")
        ),
        canonical=absolute((canonical.attributes.get("href") or "") if canonical else "", url),
        keywords=tuple(
            word.strip()[:200]
            for value in properties.get("keywords", []) + properties.get("article:tag", [])
            for word in value.split(",")[:100]
            if word.strip()
        ),
        generator=_first(properties, "generator")[:200],
    )


def alternates_of(tree: LexborHTMLParser, url: str, budget: Budget) -> tuple[Alternate, ...]:
    """The same page in other languages and formats."""
    found: dict[tuple[str, str], Alternate] = {}
    for link in tree.css('link[rel~="alternate" i][href]'):
        attributes = link.attributes
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


def iso_date(value: str) -> str:
    """A date, with its time where it has one, as ISO 8601; empty if it is none that could be."""
    value = value[:100]
    if match := _ISO.match(value):
        year, month, day, hour, minute, second, zone = match.groups()
    elif match := _COMPACT.match(value):
        year, month, day, hour, minute, second = match.groups()
        zone = None
    elif match := _SLASHED.match(value):
        (year, month, day), hour, minute, second, zone = match.groups(), None, None, None, None
    elif match := _NAMED.match(value):
        day = match[1] or match[5]
        year = match[3] or match[6]
        name = (match[2] or match[4])[:3].lower()
        if name not in _MONTHS:
            return ""
        month, hour, minute, second, zone = str(_MONTHS.index(name) + 1), None, None, None, None
    else:
        return ""
    try:
        day_found = date(int(year), int(month), int(day))
    except ValueError:
        return ""
    if not 1600 <= day_found.year <= 2200:
        return ""
    if hour is None or int(hour) > 23 or int(minute or 0) > 59:
        return day_found.isoformat()
    zone = {"UTC": "Z", "GMT": "Z"}.get(zone or "", zone or "")
    if len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    return f"{day_found.isoformat()}T{int(hour):02}:{minute}:{second or '00'}{zone}"


def _types(item: dict[str, object]) -> list[str]:
    kind = item.get("@type", "")
    kinds = kind if isinstance(kind, list) else [kind]
    return [each.rpartition("/")[2] for each in kinds if isinstance(each, str)]


def _of(items: Iterable[dict[str, object]], name: str) -> Iterator[str]:
    for item in items:
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            yield value


def _first(properties: dict[str, list[str]], *names: str) -> str:
    return next((properties[name][0] for name in names if name in properties), "")


def _all(properties: dict[str, list[str]], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from properties.get(name, [])


def _dated(values: Iterable[str]) -> str:
    return next((found for value in values if (found := iso_date(value))), "")


def _clean(value: str) -> str:
    return " ".join(value[: 2 * _LONGEST].split())[:_LONGEST]


def _title(
    tree: LexborHTMLParser, properties: dict[str, list[str]], articles: list[dict[str, object]]
) -> str:
    """The title without the name of the site: the heading where the title begins or ends with it."""
    node = tree.css_first("head > title") or tree.css_first("title")
    whole = _clean(node.text(deep=True) or "") if node else ""
    shared = _clean(_first(properties, "og:title", "twitter:title", "dc.title", "citation_title"))
    headings = [_clean(heading.text(deep=True, separator=" ") or "") for heading in tree.css("h1")[:5]]
    heading = next((each for each in headings if each), "")
    for candidate in (*headings, *(_clean(each) for each in _of(articles, "headline"))):
        for title in (whole, shared):
            if candidate and len(candidate) > 3 and candidate.lower() in title.lower():
                return candidate
    best = shared or whole or heading
    site = _clean(_first(properties, "og:site_name"))
    parts = _SEPARATED.split(best)
    if len(parts) > 1 and site and parts[-1].lower() == site.lower():
        return best[: -len(parts[-1])].rstrip(" |\u2013\u2014\u00b7\u00bb\u2022:-")
    return best


def _names(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _names(value.get("name"), depth + 1)
    elif isinstance(value, list) and depth < 4:
        for each in value[:_MOST_AUTHORS]:
            yield from _names(each, depth + 1)


def _authors(
    tree: LexborHTMLParser, properties: dict[str, list[str]], articles: list[dict[str, object]]
) -> tuple[str, ...]:
    for source in (
        [name for article in articles for name in _names(article.get("author"))],
        list(_all(properties, _AUTHOR)),
        [node.text(deep=True, separator=" ") or "" for node in tree.css(_BYLINES)[:5]],
    ):
        found = dict.fromkeys(_LABEL.sub("", _clean(name)) for name in source)
        names = [
            name for name in found if 1 < len(name) <= 200 and "://" not in name and not name.startswith("@")
        ]
        if names:
            return tuple(names[:_MOST_AUTHORS])
    return ()


def _published(
    tree: LexborHTMLParser, url: str, properties: dict[str, list[str]], articles: list[dict[str, object]]
) -> str:
    found = _dated(
        [*_of(articles, "datePublished"), *_all(properties, _PUBLISHED), *_of(articles, "dateCreated")]
    )
    if found:
        return found
    for node in tree.css(_TIMES)[:5]:
        if moment := iso_date(node.attributes.get("datetime") or ""):
            return moment
    match = _IN_PATH.search(urlsplit(url).path)
    return iso_date("-".join(match.groups())) if match else ""
