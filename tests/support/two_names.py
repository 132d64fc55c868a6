"""A server that has two names, which may show one site; both are of loopback."""

from collections import Counter
from collections.abc import Callable
from typing import Self

from small_site import Answer, Site

PAGES = 40
FIRST, SECOND = "127.0.0.1", "127.0.0.2"
NEITHER: Answer = 404, {"Content-Type": "text/html"}, "not here"


def page(path: str, *links: str) -> Answer:
    """A page with a text of its own, long enough to count."""
    mentioned = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return 200, {"Content-Type": "text/html"}, f"<h1>{path}</h1>{mentioned}{path * 90}"


def number_of(path: str) -> int | None:
    """Which page of the tree it is."""
    return int(path[1:]) if path[1:].isdigit() and int(path[1:]) < PAGES else None


def tree(path: str) -> Answer:
    """Pages 0 to 39, from each of which two more hang."""
    number = number_of(path)
    if number is None:
        return NEITHER
    return page(path, *(f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < PAGES))


class TwoNames:
    """The tree, and a home page that links to it and to both names; what `answer` does not say otherwise."""

    def __init__(self, answer: Callable[[str, str], Answer | None] = lambda name, path: None) -> None:
        def reply(host: str, path: str, _: object) -> Answer:
            if path == "/robots.txt":
                return NEITHER
            said = answer(host.partition(":")[0], path)
            return said or (page("/", "/0", self.url(FIRST), self.url(SECOND)) if path == "/" else tree(path))

        self._site = Site(reply, "0.0.0.0")

    def __enter__(self) -> Self:
        self._site.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._site.__exit__()

    def url(self, name: str, path: str = "/") -> str:
        """The address of a path on one of them."""
        return f"http://{name}:{self._site.port}{path}"

    def asked(self, name: str) -> Counter[str]:
        """How often each page was asked for."""
        paths = Counter(path for host, path in self._site.asked if host == f"{name}:{self._site.port}")
        return Counter({path: times for path, times in paths.items() if not path.endswith((".txt", ".xml"))})
