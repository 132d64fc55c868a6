"""Path-ascending crawling (W4): the folders above a page as candidates of their own."""

from collections.abc import Iterator

from gossamer.model.candidate import Candidate
from gossamer.model.link import HOP_LETTERS, LinkKind, further
from gossamer.model.url import Url
from gossamer.policy.scope.rules import is_requisite

MOST_FOLDERS = 30
"""Folders tried above one page, nearest first, then the root: real paths have about 15."""


def folders_above(url: Url) -> Iterator[Url]:
    """`/a/b/page.html?q` gives `/a/b/`, `/a/`, `/`: each folder up to the root but the URL itself."""
    path = url.path
    place = url.text[: len(url.text) - len(url.target)]
    end = len(path) - 1 if path == url.target and path.endswith("/") else len(path)
    for _ in range(MOST_FOLDERS - 1):
        end = path.rfind("/", 0, end)
        if end <= 0:
            break
        yield Url(place + path[: end + 1], url.scheme, url.host, url.port, path[: end + 1])
    if url.target != "/":
        yield Url(place + "/", url.scheme, url.host, url.port, "/")


def ascending(page: Candidate) -> Iterator[Candidate]:
    """The folders above an admitted page, a hop and a depth further from the seed than the page.

    Nothing is above what is no page (robots files, requisites), nor above a folder that was itself found
    in this way: the page below it has named all that is above it.
    """
    if page.kind in (LinkKind.ROBOTS, LinkKind.FOLDER) or page.origin or is_requisite(page):
        return
    hops = further(page.hops, HOP_LETTERS[LinkKind.FOLDER])
    for folder in folders_above(page.url):
        yield Candidate(folder, LinkKind.FOLDER, page.depth + 1, hops, page.url.text)
