"""What the index holds of a document, and under which names.

Words have four fields: title, headings, address, text. What a document is stands as tags (`site:`, `type:`, `lang:`)
in one field, and once more in columns for facets. What a hit shows is stored; the text is not: it stands in the
tables of documents, and storing it again would double the index.
"""

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import msgspec
import xxhash

from gossamer.datasets.tables import host_of
from gossamer.search.extra import needed
from gossamer.search.text.kinds import names_of
from gossamer.search.text.words import of_document, plain, primary, subtag

__all__ = [
    "COLUMNS",
    "Stored",
    "dated_and_rank",
    "document_of",
    "facets_of",
    "newest_from",
    "place_number",
    "schema",
    "stored_of",
    "whole_title",
]

VERSION = 6
"""Of fields and words; an index of another is made anew."""
COLUMNS = ("type", "title", "language", "published", "modified", "description", "text", "markdown", "bytes")
"""Of the table `documents`."""
_HEADING = re.compile(r"#(?<![^\n]#)#{0,5} +(.{1,300})")
"""Begins with the sign and looks back from there: to stop at each beginning of a line takes eighty times as long."""
_HEADINGS = 60
_TITLE = 300
_OFFSET_BITS = 40
_RANK_BITS = 25
"""Of them 16 are a hash. Above are some 38 for seconds, which are enough for all years of four digits."""
_LONGEST_RANKED = (1 << (_RANK_BITS - 16)) - 1


class Stored(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of a document to be shown.

    Attributes:
        url, title, description: as the tables have them, cut.
        type: media type.
        language: BCP 47 tag.
        dated: when it was published, else modified, else captured: seconds since 1970.
        captured: the same of the capture.
        serial, offset: place of the capture in the archive.
        size: bytes of the content.
    """

    url: str
    title: str
    description: str
    type: str
    language: str
    dated: float
    captured: float
    serial: int
    offset: int
    size: int


def schema() -> Any:
    """The fields, as tantivy has them."""
    builder = needed().SchemaBuilder()
    for name in ("title", "address", "text"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="position")
    builder.add_text_field("headings", tokenizer_name="raw", index_option="freq")
    for name in ("url", "whole_title", "tags"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("host", "type", "language"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    builder.add_integer_field("year", fast=True)
    builder.add_integer_field("newest", fast=True)
    builder.add_unsigned_field("place", fast=True)
    builder.add_bytes_field("stored", stored=True)
    return builder.build()


def document_of(row: dict[str, Any]) -> Any:
    """A row of the table `documents` (`COLUMNS`) as a document of the index."""
    document = needed().Document()
    url, title, language = row["url"], row["title"] or "", row["language"] or ""
    text, markdown = row["text"] or "", row["markdown"] or ""
    captured = row["time"].timestamp() if row["time"] is not None else 0.0
    dated = next(
        (one for name in ("published", "modified") if (one := _seconds(row[name])) is not None), captured
    )
    stored = Stored(
        url, title[:_TITLE], (row["description"] or "")[:_TITLE], row["type"] or "", language,
        dated, captured, row["serial"], row["offset"], row["bytes"] or 0,
    )  # fmt: skip
    facets = facets_of(stored)
    host = facets["site"]
    document.add_text("url", url)
    document.add_pre_tokenized_text("title", of_document(title, language))
    document.add_pre_tokenized_text("address", of_document(words_of(url), language))
    document.add_pre_tokenized_text("text", of_document(text, language, common=False))
    headings = "\n".join(_HEADING.findall(markdown)[:_HEADINGS])
    if headings:
        document.add_pre_tokenized_text("headings", of_document(headings, language))
    if title:
        document.add_text("whole_title", whole_title(title))
    document.add_text("host", host)
    document.add_text("type", facets["type"])
    tags = [f"site:{host}", *(f"site:{above}" for above in _above(host))]
    tags += [f"type:{one}" for one in names_of(stored.type)]
    if language:
        document.add_text("language", facets["language"])
        tags += [
            f"lang:{one}" for one in dict.fromkeys((facets["language"], subtag(language), language.lower()))
        ]
    for tag in tags:
        document.add_text("tags", tag)
    document.add_integer("year", int(facets["year"]))
    document.add_integer("newest", newest_from(int(dated)) + _rank(url))
    document.add_unsigned("place", place_number(row["serial"], row["offset"]))
    document.add_bytes("stored", msgspec.msgpack.encode(stored))
    return document


def stored_of(document: Any) -> Stored:
    """What is shown of a document that the index gave."""
    return msgspec.msgpack.decode(bytes(document["stored"][0]), type=Stored)


def facets_of(stored: Stored) -> dict[str, str]:
    """What a document counts as: its `site`, `type`, `year`, and `language` if it is known."""
    facets = {
        "site": host_of(stored.url) or "",
        "type": names_of(stored.type)[0],
        "year": str(datetime.fromtimestamp(stored.dated, UTC).year),
    }
    return facets | {"language": primary(stored.language)} if stored.language else facets


def place_number(serial: int, offset: int) -> int:
    """A place in the archive as one number of the same order."""
    return (serial << _OFFSET_BITS) | min(offset, (1 << _OFFSET_BITS) - 1)


def newest_from(seconds: int) -> int:
    """The least number in the column `newest` of a document that is dated so: the later, the higher."""
    return seconds << _RANK_BITS


def dated_and_rank(newest: int) -> tuple[int, int]:
    """Out of that column: seconds, and the rank of the URL among others that are as good, the highest first."""
    return newest >> _RANK_BITS, newest & ((1 << _RANK_BITS) - 1)


def _rank(url: str) -> int:
    """The shorter the URL, the higher; of the same length as chance has it, but always the same.

    So which of many copies stands for all is told by what they are, not by which was read or written first.
    """
    shortness = _LONGEST_RANKED - min(len(url), _LONGEST_RANKED)
    return shortness << 16 | xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")) & 0xFFFF


def whole_title(title: str) -> str:
    """A key that titles share which differ in case, blanks and punctuation only."""
    words = re.findall(r"\w+", plain(title).casefold())
    return xxhash.xxh3_64_hexdigest(" ".join(words).encode("utf-8", "replace"))


def words_of(url: str) -> str:
    """The words of an address, without its scheme; escapes undone."""
    return unquote(url.partition("://")[2], errors="replace")[:2_000]


def _above(host: str) -> list[str]:
    """The names above a host's: `example.org`, `org` of `www.example.org`; none of an IP address."""
    if host.startswith("[") or host.replace(".", "").isdigit():
        return []
    labels = host.split(".")
    return [".".join(labels[place:]) for place in range(1, len(labels))]


def _seconds(said: str | None) -> float | None:
    """Of an ISO 8601 date or time, of a month too; `None` if it is none."""
    if not said:
        return None
    try:
        moment = datetime.fromisoformat(f"{said}-01" if len(said) == len("2026-01") else said)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
