"""Which tables there are of a crawl, and what their columns mean."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Literal

import msgspec

Kind = Literal["text", "whole", "number", "yes", "time"]
"""Text; a 64-bit integer; a floating point number; true or false; an instant, UTC, to the millisecond."""


class Column(msgspec.Struct, frozen=True):
    """One column.

    Attributes:
        name: unique in its table.
        kind: of its values; each may be null.
        meaning: what it tells, in words for people.
        of: takes the value from a record; times as seconds since 1970.
    """

    name: str
    kind: Kind
    meaning: str
    of: Callable[[Any], object]


class Table(msgspec.Struct, frozen=True):
    """One table: its name, what a row is, and its columns in their order."""

    name: str
    row: str
    columns: Sequence[Column]


def _last(name: str) -> Callable[[Any], object]:
    return lambda page: getattr(page.visits[-1], name) if page.visits else None


def _own(name: str) -> Callable[[Any], object]:
    return attrgetter(name)


def _text(name: str) -> Callable[[Any], object]:
    """What is not told is null, so that `count(title)` counts titles."""
    return lambda record: getattr(record, name) or None


def host_of(url: str) -> str | None:
    """The host's name of a URL as we store them, without port."""
    authority = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0] or None


def _host(record: Any) -> str | None:
    return host_of(record.url)


def _bytes_column(column: Callable[[Any], object]) -> Callable[[Any], object]:
    def digest(record: Any) -> str | None:
        value = column(record)
        return f"sha256:{value.hex()}" if isinstance(value, bytes) and value else None

    return digest


PAGES = Table(
    "pages",
    "a URL that was visited or turned away",
    (
        Column("url", "text", "as it was found", _own("url")),
        Column("host", "text", "name of its host", _host),
        Column("state", "text", "done, dropped, rejected, retry or parked", lambda page: str(page.state)),
        Column(
            "status", "whole", "of the last answer; null without one", lambda p: _last("status")(p) or None
        ),
        Column("fault", "text", "why there was no answer", lambda p: _last("fault")(p) or None),
        Column("type", "text", "media type, decided from header and content", _text("media_type")),
        Column("charset", "text", "WHATWG name of the encoding", _text("charset")),
        Column("bytes", "whole", "of the last answer's body as it came", _last("size")),
        Column("time", "time", "of the last visit", _last("at")),
        Column("seconds", "number", "that the last visit took", _last("elapsed")),
        Column("title", "text", "as the page says", _text("title")),
        Column("description", "text", "as the page says", _text("description")),
        Column("author", "text", "as the page says", _text("author")),
        Column("language", "text", "as the page says", _text("language")),
        Column("text_length", "whole", "characters of visible text", _own("text_length")),
        Column("links", "whole", "other URLs that it mentions", _own("references")),
        Column("depth", "whole", "links followed from a seed", _own("depth")),
        Column("via", "text", "the page it was found on first; null for a seed", _text("via")),
        Column(
            "kind", "text", "how it was found: seed, navigation, redirect, ...", lambda page: str(page.kind)
        ),
        Column("canonical", "text", "the URL that the page says is its own, if another", _text("canonical")),
        Column("twin", "text", "the first URL with the very same content, if another", _text("twin")),
        Column("digest", "text", "SHA-256 of the body as it came", _bytes_column(_own("payload"))),
        Column("etag", "text", "validator that the server gave", _text("etag")),
        Column("last_modified", "text", "as the server says", _text("last_modified")),
        Column(
            "file", "text", "archive file of its last capture", lambda p: p.place.file if p.place else None
        ),
        Column("offset", "whole", "of its record there", lambda p: p.place.offset if p.place else None),
    ),
)

HOSTS = Table(
    "hosts",
    "a host that the crawl knows",
    (
        Column("host", "text", "its name, or what the crawl queues by", _own("name")),
        Column("pages", "whole", "visits that counted as pages", _own("pages")),
        Column("visits", "whole", "all visits, of robots files too", _own("visits")),
        Column("bytes", "whole", "received from it", _own("bytes")),
        Column("queued", "whole", "URLs left", _own("queued")),
        Column("waiting", "whole", "URLs that wait for times of their own", _own("waiting")),
        Column("aside", "whole", "of the queued, those set aside as endless", _own("aside")),
        Column("failures", "whole", "failures of the host in a row", _own("failures")),
        Column("parked", "yes", "left alone for good", lambda host: bool(host.parked)),
    ),
)

CAPTURES = Table(
    "captures",
    "a visit as the archive's index tells it",
    (
        Column("url", "text", "as requested", _own("url")),
        Column("host", "text", "name of its host", _host),
        Column("time", "time", "of the request, to the second", lambda one: one.seconds),
        Column(
            "status",
            "whole",
            "of the answer; null by other protocols",
            lambda one: int(one.status) if one.status.isdecimal() else None,
        ),
        Column(
            "type", "text", "media type; null where the content was archived before", lambda one: one.type
        ),
        Column("digest", "text", "SHA-256 of the body as it came", _own("digest")),
        Column("length", "whole", "bytes of its record, packed", lambda one: int(one.length)),
        Column("file", "text", "archive file", _own("filename")),
        Column("offset", "whole", "of its record there", lambda one: int(one.offset)),
    ),
)

VISITS = Table(
    "visits",
    "a visit as the crawl's log tells it, retries and refusals too",
    (
        Column("time", "time", "at which it was settled", _own("at")),
        Column("url", "text", "as requested", _own("url")),
        Column("host", "text", "name of its host", _host),
        Column("status", "whole", "of the answer; null without one", lambda line: line.status or None),
        Column("fault", "text", "why there was no answer", _text("fault")),
        Column("refused", "text", "which rule of ours forbade the visit", _text("refused")),
        Column("became", "text", "done, retry, dropped or parked", _own("became")),
        Column("kind", "text", "how the URL was found", _own("kind")),
        Column("depth", "whole", "links followed from a seed", _own("depth")),
        Column("attempt", "whole", "which visit of the URL it was, from 1 on", _own("attempt")),
        Column("bytes", "whole", "of the body as it came", _own("size")),
        Column("seconds", "number", "that it took", lambda line: line.seconds if line.seconds >= 0 else None),
        Column("type", "text", "media type, decided from header and content", _text("type")),
        Column("address", "text", "of the peer", _text("address")),
        Column("via", "text", "the page it was found on first", _text("via")),
    ),
)

OF_THE_CRAWL = (PAGES, HOSTS, CAPTURES, VISITS)
"""Tables that need nothing but the crawl."""


def _said(*path: str) -> Callable[[Any], object]:
    """An attribute of what a document says, null where it says nothing."""

    def value(row: Any) -> object:
        found = row.said
        for name in path:
            found = getattr(found, name)
        return found or None

    return value


def _json(name: str) -> Callable[[Any], object]:
    """A list of what a document says, as JSON text; null if there is nothing."""

    def value(row: Any) -> str | None:
        found = getattr(row.said, name)
        return msgspec.json.encode(found).decode() if found else None

    return value


def _listed(of: Callable[[Any], Any]) -> Callable[[Any], object]:
    """Several texts in one, a line each; null if there are none."""
    return lambda row: "\n".join(of(row)) or None


_PLACE = (
    Column("time", "time", "of the capture", _own("time")),
    Column("serial", "whole", "number of its archive file", _own("serial")),
    Column("offset", "whole", "of its record there", _own("offset")),
)

DOCUMENTS = Table(
    "documents",
    "what one captured document says",
    (
        Column("url", "text", "as requested", _own("url")),
        Column("host", "text", "name of its host", _host),
        *_PLACE,
        Column("status", "whole", "of the answer", lambda row: row.status or None),
        Column("type", "text", "media type, by its content, else by its header", _said("media_type")),
        Column("charset", "text", "WHATWG name of the encoding", _said("charset")),
        Column("bytes", "whole", "of the content", lambda row: row.said.size),
        Column("title", "text", "of the document", _said("metadata", "title")),
        Column("authors", "text", "a line each", _listed(lambda row: row.said.metadata.authors)),
        Column("published", "text", "date or time, ISO 8601", _said("metadata", "published")),
        Column("modified", "text", "date or time, ISO 8601", _said("metadata", "modified")),
        Column("language", "text", "BCP 47 tag, declared or guessed", _said("language")),
        Column("language_confidence", "number", "0 to 1", lambda row: row.said.language_confidence),
        Column("description", "text", "as the document says", _said("metadata", "description")),
        Column("keywords", "text", "a line each", _listed(lambda row: row.said.metadata.keywords)),
        Column("canonical", "text", "the address that it says is its own", _said("metadata", "canonical")),
        Column("generator", "text", "the program that made it", _said("metadata", "generator")),
        Column(
            "text", "text", "main text, or all of it where there are no other parts", _said("text", "text")
        ),
        Column("markdown", "text", "the same with headings, lists, tables, links", _said("markdown", "text")),
        Column("extractor", "text", "what made the text", _said("text", "extractor")),
        Column("version", "text", "of what made the text", _said("text", "version")),
        Column("confidence", "number", "0 to 1, how sure the text is", lambda row: row.said.text.confidence),
        Column("cut", "yes", "the text ends at a limit", lambda row: row.said.text.cut),
        Column("fallback", "yes", "a simpler extractor made it", lambda row: row.said.text.fallback),
        Column(
            "marks", "text", "what kept the reading from being whole, a line each", _listed(_own("marks"))
        ),
        Column("emails", "text", "e-mail addresses, a line each", _listed(lambda row: row.said.emails)),
        Column("alternates", "text", "in other languages and formats, JSON", _json("alternates")),
        Column("json_ld", "text", "JSON-LD, JSON", _json("json_ld")),
        Column("microdata", "text", "items, JSON", _json("microdata")),
        Column("microformats", "text", "items, JSON", _json("microformats")),
        Column("properties", "text", "OpenGraph, Twitter and other meta elements, JSON", _json("properties")),
        Column(
            "width", "whole", "of an image or film, pixels", lambda row: row.said.dimensions.width or None
        ),
        Column(
            "height", "whole", "of an image or film, pixels", lambda row: row.said.dimensions.height or None
        ),
        Column("duration", "number", "of sound or film, seconds", lambda row: row.said.duration or None),
    ),
)

LINKS = Table(
    "links",
    "a link, image, sound or file that a captured document mentions",
    (
        Column("url", "text", "of the document", _own("url")),
        *_PLACE,
        Column("target", "text", "what it mentions, absolute, with its fragment", _own("target")),
        Column("target_host", "text", "name of the host of that", lambda row: host_of(row.target)),
        Column("kind", "text", "link, file, image, audio, video, canonical or alternate", _own("kind")),
        Column("text", "text", "what is clicked on, or stands for the image", _text("text")),
        Column("relation", "text", "rel of HTML; language of an alternate", _text("relation")),
        Column("width", "whole", "of an image, as declared", lambda row: row.width or None),
        Column("height", "whole", "of an image, as declared", lambda row: row.height or None),
    ),
)

FIELDS = Table(
    "fields",
    "a value of a field that the configuration asks for",
    (
        Column("url", "text", "of the page", _own("url")),
        *_PLACE,
        Column("name", "text", "of the field", _own("name")),
        Column("position", "whole", "of the value, where there are several; from 0", _own("position")),
        Column("value", "text", "as text", _own("value")),
        Column("number", "number", "the same, where it is a number", _own("number")),
    ),
)

DERIVED = (DOCUMENTS, LINKS, FIELDS)
"""Tables of what documents say, made by `gossamer index`."""

NEAR_DUPLICATES = Table(
    "near_duplicates",
    "a page whose main text is nearly that of others; its last capture",
    (
        Column("url", "text", "of the page", _own("url")),
        Column("host", "text", "name of its host", _host),
        *_PLACE,
        Column("cluster", "text", "the first page of those that resemble each other", _own("cluster")),
        Column("size", "whole", "pages that resemble each other", _own("size")),
        Column(
            "resemblance",
            "number",
            "to the page that it resembles most: shared runs of five words of all runs, 0 to 1",
            _own("resemblance"),
        ),
    ),
)

INDEXED = (NEAR_DUPLICATES,)
"""Tables of the index that `gossamer index` makes of what documents say."""

TABLES = (*OF_THE_CRAWL, *DERIVED, *INDEXED)
"""All there are."""
