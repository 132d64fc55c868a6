"""Seeds that say more than an address: `[[seed]]` with a form, by GET or POST, or with JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from gossamer.model.posted import Posted
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import WrongValueError, because, of
from gossamer.model.url import Url

LONGEST = 1_500
"""Characters of what a form or JSON says, written into an address: longer addresses are none to many."""

FORM, JSON = "application/x-www-form-urlencoded", "application/json"


class SeedConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A seed that brings something."""

    url: Annotated[str, Meta(description="http or https URL, in full")]
    method: Annotated[
        Literal["GET", "POST"],
        Meta(
            description="GET puts the form behind the address; POST may be sent again after a crash or a fault"
        ),
    ] = "POST"
    form: Annotated[dict[str, str], Meta(description='fields of a form, e.g. { q = "crawlers" }')] = {}
    json: Annotated[str, Meta(description="JSON to be sent by POST, in place of a form")] = ""

    def __post_init__(self) -> None:
        problems = []
        url = Url.parse(self.url)
        if url is None or url.scheme not in ("http", "https"):
            problems.append(of("url", because(ProblemCode.SEED, self.url)))
        if self.json and (self.form or self.method == "GET"):
            problems.append(of("json", because(ProblemCode.SEED_JSON)))
        elif self.json and _parsed(self.json) is None:
            problems.append(of("json", because(ProblemCode.SEED_NOT_JSON)))
        if not problems and len(self._said()) > LONGEST:
            problems.append(of("json" if self.json else "form", because(ProblemCode.SEED_LONG, LONGEST)))
        if problems:
            raise WrongValueError(*problems)

    @property
    def known_as(self) -> Url:
        """The URL by which a crawl knows it."""
        said = self._said()
        if self.method == "POST":
            said = f"__wb_method=POST&{said}" if said else "__wb_method=POST"
        if not said:
            return self._asked
        return _sure(Url.parse(f"{self._asked}{'&' if self._asked.query else '?'}{said}"))

    @property
    def posted(self) -> Posted | None:
        """What is sent in place of `known_as`; `None`: just that."""
        if self.method == "GET":
            return None
        body, kind = (self.json, JSON) if self.json else (urlencode(self.form), FORM)
        return Posted(self._asked, body.encode(), kind)

    @property
    def _asked(self) -> Url:
        return _sure(Url.parse(self.url))

    def _said(self) -> str:
        return urlencode(list(_flat(_parsed(self.json))) if self.json else self.form)


def posted(seeds: Sequence[SeedConfig]) -> dict[str, Posted]:
    """What is sent for URLs that stand for more than themselves, by their texts."""
    return {seed.known_as.text: sent for seed in seeds if (sent := seed.posted) is not None}


def _parsed(text: str) -> Any:
    """What JSON says, of an object or a list alone; `None`: it is none of them."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Names and values of JSON, each value by its nearest name; of equal names the second is `name.2_`."""
    seen: dict[str, int] = {}
    for key, said in _leaves(value, name):
        seen[key] = number = seen.get(key, 0) + 1
        yield (key if number == 1 else f"{key}.{number}_"), said


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    elif name:
        yield name, str(value)


def _sure(url: Url | None) -> Url:
    assert url is not None, "was checked when the settings were read"
    return url
