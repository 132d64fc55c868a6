"""Reads JSON Feed.

Source: JSON Feed 1.1. Read leniently: what is of another type than it should be is left out.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from gossamer.extract.feeds.moments import moment
from gossamer.extract.html.tags import inner_mentions
from gossamer.extract.links import Dated, Mention
from gossamer.model.link import LinkKind

__all__ = ["json_feed", "json_hub", "json_mentions", "text_of"]

_PAGES = "url", "external_url", "home_page_url", "next_url"
_PICTURES = "image", "banner_image", "icon", "favicon"


def json_feed(text: str) -> dict[str, Any] | None:
    """The feed, if the text is one."""
    if "jsonfeed.org" not in text:
        return None
    try:
        feed = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return feed if isinstance(feed, dict) and "jsonfeed.org/version/" in text_of(feed, "version") else None


def json_mentions(feed: dict[str, Any]) -> Iterator[Mention]:
    """The feed's own addresses, then those of its items, one by one."""
    yield from _addresses(feed)
    for item in _all(feed, "items"):
        date = max(moment(text_of(item, "date_modified")), moment(text_of(item, "date_published")))
        for mention in _addresses(item):
            dated = date and mention.element == "url"
            yield Dated("url", mention.kind, mention.address, lastmod=date) if dated else mention
        for attachment in _all(item, "attachments"):
            if address := text_of(attachment, "url"):
                yield Mention("attachments.url", LinkKind.REQUISITE, address)
        if "<" in (content := text_of(item, "content_html")):
            yield from inner_mentions(content)


def json_hub(feed: dict[str, Any]) -> str:
    """Who tells of the feed's changes by WebSub; empty if nobody does."""
    hubs = (text_of(hub, "url") for hub in _all(feed, "hubs") if text_of(hub, "type").lower() == "websub")
    return next(hubs, "")


def _addresses(holder: dict[str, Any]) -> Iterator[Mention]:
    for kind, names in ((LinkKind.NAVIGATION, _PAGES), (LinkKind.REQUISITE, _PICTURES)):
        for name in names:
            if address := text_of(holder, name):
                yield Mention(name, kind, address)
    for author in (*_all(holder, "authors"), holder.get("author")):
        if isinstance(author, dict):
            for kind, name in ((LinkKind.NAVIGATION, "url"), (LinkKind.REQUISITE, "avatar")):
                if address := text_of(author, name):
                    yield Mention(f"authors.{name}", kind, address)


def text_of(holder: dict[str, Any], name: str) -> str:
    """A member that should be text; empty if it is not."""
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def _all(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = holder.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
