"""The last notices of a crawl as an Atom feed (RFC 4287): in `DIR/watch/feed.xml`, and over REST."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from gossamer.model.errors import StorageError
from gossamer.state.whole_files import write_whole
from gossamer.watch.store import Notice
from gossamer.watch.wording import headline, lines_of, time_text
from gossamer.words.visible import visible

__all__ = ["ENTRIES", "FILE", "MEDIA_TYPE", "feed_of", "write_feed"]

FILE = "feed.xml"
ENTRIES = 100
MEDIA_TYPE = "application/atom+xml"


def feed_of(crawl: str, archive: str, notices: Sequence[Notice]) -> str:
    """The feed.

    Args:
        crawl: its name.
        archive: name of its archive, by which feeds are told apart.
        notices: the latest first.
    """
    name = escape(visible(crawl))
    updated = time_text(notices[0].at if notices else 0.0)
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>urn:gossamer:watch:{escape(visible(archive or crawl))}</id>",
        f"<title>gossamer watch: {name}</title>",
        f"<updated>{updated}</updated>",
        "<author><name>gossamer</name></author>",
    ]
    parts += map(_entry, notices)
    return "\n".join((*parts, "</feed>\n"))


def _entry(notice: Notice) -> str:
    link = f"<link href={quoteattr(notice.url)}/>" if _may_link(notice.url) else ""
    text = escape("\n".join(lines_of(notice)[1:]))
    return (
        f"<entry><id>urn:gossamer:notice:{notice.id}</id><title>{escape(headline(notice))}</title>"
        f"<updated>{time_text(notice.at)}</updated>{link}<category term={quoteattr(visible(notice.watch))}/>"
        f'<content type="text">{text}</content></entry>'
    )


def _may_link(url: str) -> bool:
    """Whether it is an address that a reader may be led to, and one that XML can hold."""
    return url.startswith(("http://", "https://")) and url.isascii() and url.isprintable()


def write_feed(folder: Path, text: str) -> None:
    """Put it into its file, whole or not at all; a disk that refuses it is told by whoever commits."""
    with contextlib.suppress(StorageError):
        write_whole(folder / FILE, text)
