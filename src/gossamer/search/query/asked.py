"""What a query asks for, as a tree."""

from enum import StrEnum

import msgspec

__all__ = ["All", "Any", "Asked", "Field", "Filter", "Kind", "Not", "Span", "Words"]


class Field(StrEnum):
    """Where words are looked for."""

    ANYWHERE = ""
    TITLE = "title"
    URL = "url"


class Kind(StrEnum):
    """What a document may be asked to be."""

    SITE = "site"
    TYPE = "type"
    LANGUAGE = "lang"


class Words(msgspec.Struct, frozen=True, tag=True):
    """A word, or a phrase.

    Attributes:
        text: as written.
        field: where it is looked for.
        phrase: in quotation marks.
        pattern: holds a star or a question mark that stand for characters.
    """

    text: str
    field: Field = Field.ANYWHERE
    phrase: bool = False
    pattern: bool = False


class Filter(msgspec.Struct, frozen=True, tag=True):
    """A site, a media type or a language; the value in lower case."""

    kind: Kind
    value: str


class Span(msgspec.Struct, frozen=True, tag=True):
    """Documents of a time: seconds since 1970, the first included, the second not."""

    since: float | None = None
    before: float | None = None


class Not(msgspec.Struct, frozen=True, tag=True):
    """A part that no document of the answer meets."""

    of: "Asked"


class All(msgspec.Struct, frozen=True, tag=True):
    """Parts that stand side by side: a document meets each of them."""

    parts: tuple["Asked", ...] = ()


class Any(msgspec.Struct, frozen=True, tag=True):
    """Ways with OR between them: a document meets one of them, or more."""

    parts: tuple["Asked", ...] = ()


Asked = Words | Filter | Span | Not | All | Any
