"""What the text of a URL says of its importance, by a table that the user can replace (IL of K5)."""

import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.model.url import Url

Where = Literal["front", "tld", "host", "path", "ending", "query"]

_WORDS = re.compile(r"[a-z0-9]+")  # a class repeated: it cannot backtrack


class Feature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the table; every line that fits a URL adds its value once."""

    where: Annotated[
        Where,
        Meta(
            description="front: the path is / (no words needed); tld: the host's last label; host: its "
            "labels; path: words of letters and digits; ending: what follows the path's last dot; query: "
            "names of parameters"
        ),
    ]
    words: Annotated[
        list[str],
        Meta(description="lower case; one of them must be there; none: it is enough to have the part"),
    ] = []
    value: Annotated[
        float, Meta(ge=-64, le=64, description="added to IL; 1 counts as much as twice the back-links")
    ]


FEATURES = (
    Feature(where="front", value=3),
    Feature(where="path", words=["home", "index", "main", "start", "welcome"], value=1),
    Feature(where="tld", words=["com", "org", "net", "edu", "gov", "int"], value=0.5),
    Feature(where="tld", words=["cc", "tk", "ml", "ga", "cf", "gq", "top", "xyz"], value=-1),
    Feature(where="path", words=["map", "maps", "print", "printable", "login", "logout", "cart"], value=-1),
    Feature(where="path", words=["calendar", "search", "tag", "tags", "archive", "archives"], value=-0.5),
    Feature(where="ending", words=["zip", "gz", "iso", "exe", "mp3", "mp4", "avi"], value=-1),
    Feature(where="query", value=-0.5),
    Feature(where="query", words=["sort", "order", "sid", "sessionid", "phpsessid", "replytocom"], value=-1),
)
"""By K5 `.com` and `home` count more than `.cc` and `map`; the rest is what crawlers know of the web."""


class FeatureTable:
    """IL of a URL: the sum of all lines that fit, in time linear in its length."""

    def __init__(self, features: list[Feature]) -> None:
        self._lines = [(feature.where, frozenset(feature.words), feature.value) for feature in features]
        self._asked = {feature.where for feature in features}

    def value(self, url: Url) -> float:
        """The sum of the features' weights."""
        parts = {where: _part(where, url) for where in self._asked}
        total = 0.0
        for where, words, value in self._lines:
            part = parts[where]
            if part and (not words or not words.isdisjoint(part)):
                total += value
        return total


def _part(where: Where, url: Url) -> list[str]:
    """The words of a part of a URL; empty if it does not have the part."""
    path, _, query = url.target.partition("?")
    match where:
        case "front":
            return ["/"] if path == "/" and not query else []
        case "tld":
            return [url.host.rstrip(".").rpartition(".")[2]]
        case "host":
            return url.host.split(".")
        case "path":
            return _WORDS.findall(path.lower())
        case "ending":
            _, dot, ending = path.rpartition("/")[2].lower().rpartition(".")
            return [ending] if dot else []
        case "query":
            return [pair.partition("=")[0].lower() for pair in query.split("&") if pair]
