"""One site at several addresses of loopback, each of which may lag, fail or forbid."""

import hashlib
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Self

from small_site import Answer, Site

NAMES = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
MISSING: Answer = 404, {"Content-Type": "text/html"}, "not here"


def tree(pages: int, path: str) -> Answer:
    """Pages 0 to `pages`, from each of which four more hang, named without their host."""
    number = int(path) if path.isdigit() else 0 if path == "" else pages
    if number >= pages:
        return MISSING
    children = range(4 * number + 1, min(4 * number + 5, pages))
    links = "".join(f'<a href="{child}">{child}</a>' for child in children)
    # Words of its own: pages that say all the same are taken for the beginning of an endless many.
    said = " ".join(batched_words(hashlib.sha256(path.encode()).hexdigest()))
    return 200, {"Content-Type": "text/html"}, f"<title>{number}</title><p>{said}</p>{links}"


def batched_words(digits: str) -> list[str]:
    """Digits as words of eight."""
    return [digits[at : at + 8] for at in range(0, len(digits), 8)]


class MirrorSite:
    """The tree below `/NAME/` of each address, where `answer(name, path)` does not say otherwise; a server for each.

    Attributes:
        names: of the hosts.
    """

    def __init__(
        self,
        pages: int,
        answer: Callable[[str, str], Answer | None] = lambda name, path: None,
        count: int = 4,
    ) -> None:
        self.names = NAMES[:count]

        def reply(host: str, path: str, _: object) -> Answer:
            name = host.partition(":")[0]
            folder, said = f"/{name}/", answer(name, path)
            if said is None:
                said = tree(pages, path.removeprefix(folder)) if path.startswith(folder) else MISSING
            status, fields, body = said
            # A connection that is open outlives its server's end.
            return status, {**fields, "Connection": "close"} if name in self._stopped else fields, body

        self._reply = reply
        self._sites: dict[str, Site] = {}
        self._open = ExitStack()
        self._stopped: set[str] = set()
        self._running: dict[str, ExitStack] = {}

    def __enter__(self) -> Self:
        for name in self.names:
            self._running[name] = self._open.enter_context(ExitStack())
            self._sites[name] = self._running[name].enter_context(Site(self._reply, name))
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()

    def stop(self, name: str) -> None:
        """From now on nobody listens there; one more page may be given."""
        self._stopped.add(name)
        self._running[name].close()

    @property
    def addresses(self) -> list[str]:
        """Of the mirrors."""
        return [self.url(name) for name in self.names]

    def url(self, name: str, page: str = "") -> str:
        """The URL of a page at one of them."""
        return f"{self.root(name)}{name}/{page}"

    def root(self, name: str) -> str:
        """The URL of a server, ending in `/`."""
        return self._sites[name].address

    def paths(self, name: str) -> list[str]:
        """All that was asked for there."""
        return [path for _, path in self._sites[name].asked]

    def asked(self, name: str) -> Counter[str]:
        """How often each page was asked for there."""
        folder = f"/{name}/"
        return Counter(path.removeprefix(folder) for path in self.paths(name) if path.startswith(folder))

    @property
    def every(self) -> Counter[str]:
        """How often each page was asked for, wherever."""
        return sum((self.asked(name) for name in self.names), Counter())
