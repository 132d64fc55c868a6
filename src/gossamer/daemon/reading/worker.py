"""Carries out one order: `python -m gossamer.daemon.reading.worker` reads it on its standard input."""

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from gossamer.assembly.private import keep_private
from gossamer.daemon.reading.orders import (
    AnyOrder,
    AuditOrder,
    CompareOrder,
    ContentHead,
    ContentOrder,
    DifferencesOrder,
    Failure,
    PageOrder,
    Progress,
    Said,
    SqlAnswer,
    SqlColumn,
    SqlOrder,
)
from gossamer.datasets.all_tables import being_read
from gossamer.datasets.deriving import no_answer
from gossamer.datasets.one_document import said_by, text_in
from gossamer.datasets.sql import SqlError, asked
from gossamer.documents.said import Mark
from gossamer.extract.isolation.processes import Unanswered
from gossamer.extract.media_type import declared_type, media_type
from gossamer.fetch.decoding import Decoded
from gossamer.inspect.archive.lookup import Indexed, captures_of, content_of, nearest_in_time, read_back
from gossamer.inspect.archive.reread import LONGEST_TEXT, ReadText, read_again
from gossamer.inspect.clusters.whole import inspect_whole
from gossamer.inspect.compare.captures import Asked, Comparison, compare, with_content
from gossamer.inspect.compare.text import Reading
from gossamer.inspect.inspection import Inspection, inspect
from gossamer.inspect.why.story import url_of
from gossamer.model.errors import ConfigError, StorageError, UnreadableError
from gossamer.model.exchange import Exchange
from gossamer.search.similar.table import tables_of

PIECE = 1 << 16
NICE = 10
"""Crawls go first."""
GRACE = 2.0
"""Seconds after which the kernel ends a worker whose own limit of time did not."""
BEGINNING = 30.0
"""Seconds that the process that answers questions has to begin; its own clock, which says what was late, runs only
then, and on a machine that crawls a process of this priority may wait for longer than a question may take."""
TOLD_EVERY = 1.0
"""Seconds between two lines that tell of progress."""
MOST_BYTES = 16 << 20
"""Of the rows of an answer, as JSON; what is longer is left out and said to be."""


class _NotFoundError(Exception):
    pass


def main(order: AnyOrder, out: BinaryIO) -> None:
    """Write the answer to `out`."""
    told = time.monotonic()

    def tell(progress: Progress) -> None:
        nonlocal told
        if time.monotonic() - told > TOLD_EVERY:
            told = time.monotonic()
            out.write(msgspec.json.encode(Said(progress=progress)) + b"\n")
            out.flush()

    try:
        said, body = _carried_out(order, tell)
    except _NotFoundError as error:
        said, body = Said(failure=Failure("not_found", str(error))), ()
    except SqlError as error:
        said, body = Said(failure=Failure("invalid", str(error))), ()
    except (ConfigError, UnreadableError) as error:
        said, body = Said(failure=Failure("conflict", str(error))), ()
    except StorageError as error:
        said, body = Said(failure=Failure("internal", str(error))), ()
    except MemoryError:
        words = f"it takes more memory than the {order.memory >> 20} MiB that reading may have"
        said, body = Said(failure=Failure("conflict", words)), ()
    out.write(msgspec.json.encode(said) + b"\n")
    for piece in body:
        out.write(piece)
    out.flush()


def _carried_out(
    order: AnyOrder, tell: Callable[[Progress], None]
) -> tuple[Said, Iterable[bytes | memoryview]]:
    match order:
        case AuditOrder() | DifferencesOrder():
            from gossamer.daemon.reading.making import make  # much that a page that is read does not need

            make(order, tell, text_in)
            return _as_json(None)
        case SqlOrder():
            return _as_json(_answer(order))
        case PageOrder():
            with inspect_whole(Path(order.folder)) as inspection:
                return _as_json(
                    read_again(inspection, _capture(inspection, order.url, order.at), document_text)
                )
        case CompareOrder():
            with inspect(Path(order.folder)) as inspection:
                return _as_json(_compared(inspection, order))
        case ContentOrder():
            with inspect_whole(Path(order.folder)) as inspection:
                return _content(inspection, order)


def _capture(inspection: Inspection, text: str, at: str) -> Indexed:
    url = url_of(inspection, text)
    found = captures_of(inspection, url)
    if not found:
        raise _NotFoundError(f"nothing of {url.text} is archived")
    return nearest_in_time(found, at)


def _compared(inspection: Inspection, order: CompareOrder) -> Comparison:
    url = url_of(inspection, order.url)
    captures = with_content(captures_of(inspection, url))
    if len(captures) < 2:
        raise _NotFoundError(f"there are no two captures of {url.text} with content, which could be compared")
    return compare(inspection, captures, Asked(order.since, order.until, order.everything), Reading(text_in))


def document_text(exchange: Exchange, decoded: Decoded) -> ReadText:
    """The main text of a document, if the extra 'documents' is installed and it could be read."""
    try:
        said = said_by(exchange.url.text, exchange.headers, decoded.content, part=decoded.truncated)
    except ConfigError:
        return ReadText(marks=(Mark.MISSING_LIBRARY,))
    if isinstance(said, Unanswered):
        return ReadText(marks=(no_answer(said.why),))
    metadata = {
        name: "; ".join(value) if isinstance(value, tuple) else value
        for name, value in msgspec.structs.asdict(said.metadata).items()
        if value
    }
    text, markdown = said.text.text, said.markdown.text
    return ReadText(
        text[:LONGEST_TEXT],
        f"{said.text.extractor} {said.text.version}".strip(),
        said.text.cut or len(text) > LONGEST_TEXT,
        tuple(map(str, said.marks)),
        markdown[:LONGEST_TEXT],
        metadata,
    )


def _content(inspection: Inspection, order: ContentOrder) -> tuple[Said, Iterable[bytes | memoryview]]:
    one = _capture(inspection, order.url, order.at)
    exchange = (capture := read_back(inspection, one)).exchange
    truncated = False
    match order.part:
        case "headers":
            parts = [exchange.response_head]
        case "raw":
            parts = [exchange.response_head, exchange.body.read()]
        case _:
            decoded = content_of(inspection, capture)
            truncated, parts = decoded.truncated, [decoded.content]
    kind = one.media_type or media_type(declared_type(exchange.headers), parts[-1][:PIECE])
    size = sum(map(len, parts))
    head = ContentHead(size, one.url, one.time, one.status, kind, truncated)
    pieces = (memoryview(part)[at : at + PIECE] for part in parts for at in range(0, len(part), PIECE))
    return Said(content=head), pieces


def _as_json(answer: object) -> tuple[Said, Iterable[bytes | memoryview]]:
    body = msgspec.json.encode(answer, enc_hook=str)
    return Said(size=len(body)), (body,)


def _answer(order: SqlOrder) -> SqlAnswer:
    with contextlib.ExitStack() as held:
        with inspect(Path(order.folder)) as inspection:
            held.enter_context(being_read(inspection))
            files = tables_of(inspection, keep=True)
        return _answer_from(files, order)


def _answer_from(files: dict[str, list[Path]], order: SqlOrder) -> SqlAnswer:
    as_of = max((path.stat().st_mtime for paths in files.values() for path in paths), default=time.time())
    limit_time(BEGINNING + order.seconds + GRACE)
    began = time.monotonic()
    rows: list[list[Any]] = []
    size, more = 0, False
    with asked(files, order.question, seconds=order.seconds, memory=order.sql_memory) as answer:
        columns = [SqlColumn(*one) for one in zip(answer.columns, answer.types, strict=True)]
        for row in answer.rows:
            values = [_plain(value) for value in row]
            size += len(msgspec.json.encode(values, enc_hook=str))
            if len(rows) == order.rows or size > MOST_BYTES:
                more = True
                break
            rows.append(values)
    return SqlAnswer(columns, rows, more, round(time.monotonic() - began, 3), as_of)


def _plain(value: object) -> object:
    """A value as JSON has it."""
    match value:
        case None | bool() | str() | float():
            return value
        case int():
            return value if -(1 << 63) <= value < 1 << 63 else str(value)
        case datetime():
            return (value.astimezone(UTC) if value.tzinfo else value).strftime("%Y-%m-%dT%H:%M:%SZ")
        case date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case list() | tuple():
            return [_plain(one) for one in value]
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
    return str(value)


def limit_time(seconds: float) -> None:
    """Let the kernel end this process after `seconds`."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _confine(order: AnyOrder) -> None:
    limit_time(order.seconds + (order.for_tables if isinstance(order, SqlOrder) else 0.0) + GRACE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if order.memory:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        memory = order.memory if most == resource.RLIM_INFINITY else min(order.memory, most)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    os.nice(NICE)
    keep_private()


if __name__ == "__main__":
    told = msgspec.json.decode(sys.stdin.buffer.readline(), type=AnyOrder)
    _confine(told)
    main(told, sys.stdout.buffer)
