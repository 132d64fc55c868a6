"""Keeps what was asked for again and not gone through yet: `refetch.json` in the crawl's folder.

A stopped crawl takes it up when it is resumed, one that was killed too.
"""

from pathlib import Path

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.inspect.url_list import Wanted
from gossamer.model.errors import StorageError
from gossamer.policy.scope.address_pattern import EXPRESSION
from gossamer.state.whole_files import write_whole


class RefetchRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """Pages that somebody wants again.

    Attributes:
        when: wall time; what was visited since is not visited again for it.
        who: asked for it.
        urls: single ones.
        wanted: and all of these; `None`: no others.
        patterns: `wanted.match` is a pattern of addresses; in older folders it is a regular expression.
    """

    when: float
    who: str = ""
    urls: list[str] = []
    wanted: Wanted | None = None
    patterns: bool = False

    @property
    def of_now(self) -> "RefetchRequest":
        """The same, as it is written today."""
        wanted = self.wanted
        if wanted is not None and wanted.match and not self.patterns:
            wanted = msgspec.structs.replace(wanted, match=EXPRESSION + wanted.match)
        return msgspec.structs.replace(self, wanted=wanted, patterns=True)


def pending_requests(folder: Path) -> list[RefetchRequest]:
    """What is left to do, the first first.

    Raises:
        StorageError: the file is damaged.
    """
    path = CrawlFolder(folder).refetches
    try:
        requests = msgspec.json.decode(path.read_bytes(), type=list[RefetchRequest])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(
            f"{path}: cannot be read ({error}). Remove it, and ask for the pages once more by 'gossamer refetch'."
        ) from None
    return [request.of_now for request in requests]


def keep_requests(folder: Path, requests: list[RefetchRequest]) -> None:
    """What is left to do from now on, whole.

    Raises:
        StorageError: the disk refuses.
    """
    path = CrawlFolder(folder).refetches
    if requests:
        write_whole(path, msgspec.json.encode(requests))
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{path}: cannot be removed ({error.strerror}).") from None
