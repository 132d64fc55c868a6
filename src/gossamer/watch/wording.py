"""Notices in words and as JSON, as messages carry them. In English: whoever is told may be a program."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from gossamer.policy.watching.difference import plain
from gossamer.watch.store import Notice
from gossamer.words.visible import visible

__all__ = ["Message", "body_of", "headline", "json_of", "lines_of", "subject_of", "time_text"]

SHOWN = 50
"""Notices that a message shows; of the others it says how many they are."""
_LINES = 40
_KINDS = {
    "changed": "changed",
    "new": "is new",
    "gone": "is gone",
    "back": "is there again",
}


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent at once.

    Attributes:
        id: the same at each attempt.
        crawl: name of the folder.
        watch, receiver: whose.
        made: seconds since 1970.
        test: somebody wants to see whether it arrives.
        notices: the first ones.
        count: of all.
    """

    id: str
    crawl: str
    watch: str
    receiver: str
    made: float
    test: bool = False
    notices: tuple[Notice, ...] = ()
    count: int = 0


def time_text(seconds: float) -> str:
    """A time as ISO 8601 has it: UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def headline(notice: Notice) -> str:
    """One line of what happened."""
    name = visible(notice.title or notice.url)
    match notice.kind:
        case "condition":
            number = f" ({notice.number:g})" if notice.number is not None else ""
            return f"{name}: {visible(notice.condition)}{number}"
        case "answers":
            return f"{name} answers {visible(notice.condition)}"
        case kind:
            return f"{name} {_KINDS[kind]}"


def lines_of(notice: Notice) -> list[str]:
    """What happened, in lines that nothing of the page can break out of."""
    shown = [visible(line) for line in plain(notice.places)]
    more = [f"({len(shown) - _LINES:,} lines more)"] if len(shown) > _LINES else []
    return [headline(notice), visible(notice.url), *shown[:_LINES], *more]


def subject_of(message: Message) -> str:
    """One line of what a message says."""
    if message.test:
        return f"Test of {visible(message.watch)}"
    if message.count == 1:
        return headline(message.notices[0])
    return f"{message.count:,} changes: {visible(message.watch)}"


def body_of(message: Message) -> str:
    """All that it says, as plain text."""
    if message.test:
        return f"This is a test of the watch {visible(message.watch)}. Nothing has changed."
    blocks = ["\n".join(lines_of(notice)) for notice in message.notices]
    if message.count > len(message.notices):
        blocks.append(f"and {message.count - len(message.notices):,} more")
    return "\n\n".join(blocks)


def json_of(message: Message) -> bytes:
    """For programs; `text` is what chats that take JSON show."""
    return msgspec.json.encode(
        {
            "id": message.id,
            "crawl": message.crawl,
            "watch": message.watch,
            "made": time_text(message.made),
            "test": message.test,
            "text": f"{subject_of(message)}\n\n{body_of(message)}",
            "count": message.count,
            "notices": notices_as_json(message.notices),
        }
    )


def notices_as_json(notices: Sequence[Notice]) -> list[dict[str, Any]]:
    """Notices for programs: texts as the pages had them."""
    return [
        {
            "id": notice.id, "watch": notice.watch, "url": notice.url, "title": notice.title, "kind": notice.kind,
            "condition": notice.condition, "number": notice.number, "time": time_text(notice.at),
            "added": notice.added, "removed": notice.removed,
            "difference": [[list(msgspec.to_builtins(line)) for line in place.lines] for place in notice.places],
        }
        for notice in notices
    ]  # fmt: skip
