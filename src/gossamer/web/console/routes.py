"""How a page of the console is declared."""

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

from starlette.responses import Response

Answer = Callable[..., Awaitable[Response]]


class Page(NamedTuple):
    """One address and the function that answers: it gets the desk, then what the braces of `path` hold."""

    path: str
    answer: Answer
    method: Literal["GET", "POST"] = "GET"


def get(path: str, answer: Answer) -> Page:
    """A page to look at."""
    return Page(path, answer)


def post(path: str, answer: Answer) -> Page:
    """A form of ours; the gate lets only operators send one (log-in and preferences apart)."""
    return Page(path, answer, "POST")
