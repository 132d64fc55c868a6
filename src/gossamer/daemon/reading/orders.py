"""What a worker is told, and what it says: one line of JSON each; a body may follow the second."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Part = Literal["content", "raw", "headers"]
"""The document, its content codings undone; head and body as they came; the head of the response."""

MOST_ROWS = 10_000


class SqlColumn(msgspec.Struct, frozen=True):
    """A column of an answer; `type` is DuckDB's name for it."""

    name: str
    type: str


class SqlAnswer(msgspec.Struct, frozen=True):
    """What a question in SQL came to.

    Attributes:
        columns: in their order.
        rows: values as JSON has them; times as ISO 8601, UTC; what JSON cannot say as text.
        more: there were further rows.
        seconds: that it took, without bringing the tables up to date.
        as_of: as of when the tables tell, wall time.
    """

    columns: list[SqlColumn]
    rows: list[list[Any]]
    more: bool
    seconds: float
    as_of: float


class SqlQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question in SQL: one statement that reads; `seconds` at most as the daemon allows, which is also what
    it may take if nothing is said."""

    question: Annotated[str, Meta(min_length=1, max_length=100_000)]
    seconds: Annotated[float, Meta(gt=0)] | None = None
    rows: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 1_000


class Order(msgspec.Struct, frozen=True, tag_field="do"):
    """What is to be done.

    Attributes:
        folder: of the crawl.
        seconds: after which the kernel ends the worker.
        memory: bytes of address space; 0: no limit of the kernel's.
    """

    folder: str
    seconds: float
    memory: int


class ContentOrder(Order, frozen=True, tag="content"):
    """One part of the capture of a URL nearest to a time, or the last."""

    url: str
    at: str
    part: Part


class PageOrder(Order, frozen=True, tag="page"):
    """That capture read again, as `ReadAgain`; without a body."""

    url: str
    at: str


class CompareOrder(Order, frozen=True, tag="compare"):
    """Two captures of a URL compared, as `Comparison`; `everything`: also what differs at each visit."""

    url: str
    since: str
    until: str
    everything: bool


class SqlOrder(Order, frozen=True, tag="sql"):
    """The answer to a question, as `SqlAnswer`; `seconds` are its own, as many more are for the tables."""

    question: str
    rows: int
    for_tables: float
    sql_memory: str


class AuditOrder(Order, frozen=True, tag="audit"):
    """The site of a crawl audited; what is found stays in the folder. `outside`: links that the crawl did not visit
    are asked for, for at most `asking` seconds."""

    outside: bool
    asking: float


class DifferencesOrder(Order, frozen=True, tag="differences"):
    """A crawl compared with an earlier one in another folder; what is found stays in the folder, under a name."""

    before: str
    name: str


AnyOrder = ContentOrder | PageOrder | CompareOrder | SqlOrder | AuditOrder | DifferencesOrder


class ContentHead(msgspec.Struct, frozen=True):
    """What is said before a content.

    Attributes:
        size: bytes that follow.
        url, time, status: of the capture.
        media_type: as the crawl decides it.
        truncated: the archive does not hold all of it.
    """

    size: int
    url: str
    time: str
    status: int
    media_type: str
    truncated: bool


class Failure(msgspec.Struct, frozen=True):
    """The error that a worker met, in place of an answer; `code` as `ServiceError` has it."""

    code: Literal["invalid", "not_found", "conflict", "internal"]
    message: str


class Progress(msgspec.Struct, frozen=True):
    """How far something is: what is counted, and how many of them are done."""

    what: Literal["pages", "to_ask", "links", "changed", "moved", "new", "gone"]
    count: int


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first line of an answer: one of these; lines that tell of the progress may come before."""

    progress: Progress | None = None
    failure: Failure | None = None
    content: ContentHead | None = None
    size: int = 0
    """Bytes of a body of JSON that follows."""
