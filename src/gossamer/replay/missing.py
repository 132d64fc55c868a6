"""The page that is shown in the place of what was not archived: why, what is near, and how to fetch it."""

from collections.abc import Iterator
from pathlib import Path

from gossamer.inspect.why.whole import tell_whole
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url
from gossamer.replay.archive import Archive
from gossamer.replay.page import code, led, link, page
from gossamer.report.markup import Html, address, element, paragraph, text
from gossamer.words.catalogue import preferred, words

__all__ = ["missing_page"]


def missing_page(archive: Archive, url: Url, home: str, language: str) -> bytes:
    """A page of ours, for the name of an origin that is replayed.

    Args:
        archive: that was asked.
        url: that is not in it.
        home: origin of the list.
        language: an Accept-Language header.
    """
    t = words(preferred(language))
    inspection = archive.look()
    try:
        told = tell_whole(inspection, url.text)
        state, near = told.story.state, told.nearest
    except ConfigError:  # nothing was crawled, or it is no URL of a scheme that is
        state, near = "unknown", []
    parts = [
        element("h1", "", text(t("replay.missing"))),
        element("p", "", address(url.text)),
        paragraph(t.said("replay_why", _ways(state))),
        element("p", "", text(t("replay.to_fetch")), Html(" "), code(_command(state, archive.path, url))),
    ]
    if state != "unknown":
        parts.append(element("p", "dim", text(t("replay.to_know")), Html(" "), code(_why(archive.path, url))))
    if near:
        parts += element("h2", "", text(t("replay.near"))), element("ul", "", *_near(near, home))
    parts.append(element("p", "", link(f"{home}/", text(t("replay.to_list")))))
    return page(t, t("replay.missing"), *parts)


def _ways(state: str) -> str:
    return state if state in ("unknown", "queued", "waiting", "rejected") else "nothing"


def _command(state: str, folder: Path, url: Url) -> str:
    """What would fetch it."""
    if state in ("queued", "waiting"):
        return command_line("resume", folder)
    if state in ("unknown", "rejected"):
        return command_line("crawl", url.text, "--max-pages", 1, "--dir", "one-more")
    return f"{command_line('refetch', folder, url.text)} && {command_line('resume', folder)}"


def _why(folder: Path, url: Url) -> str:
    return command_line("why", folder, url.text)


def _near(near: list[str], home: str) -> Iterator[Html]:
    for other in near:
        yield element("li", "", link(led(home, "view", other), address(other)))
