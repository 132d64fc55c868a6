"""Makes the tables of what documents say, from an archive that may still grow.

Records come in the order of the archive, as far as it is committed; each document is read in a guarded
process; rows are committed with the place in the archive up to which they tell. Nothing here changes the crawl.
"""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import datetime
from pathlib import Path

import msgspec

from gossamer.archive.follower import FollowedRecord, Follower, Mark, Rewound
from gossamer.archive.stored_body import ArchivedBody
from gossamer.datasets.derived import FOLDER, DamagedTables, Store
from gossamer.documents.config import DocumentsConfig
from gossamer.documents.limits import ReadingLimits
from gossamer.documents.markup.ballast import without_ballast
from gossamer.documents.reading import read
from gossamer.documents.said import DocumentText
from gossamer.documents.said import Mark as Cause
from gossamer.extract.encodings.charset import charset_of
from gossamer.extract.fields.extractor import Group, read_groups
from gossamer.extract.fields.selector import Parsed
from gossamer.extract.isolation.processes import GuardedProcesses, Limits, Unanswered, Why
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.inspect.archive.captures import repeated
from gossamer.inspect.archive.following import follow
from gossamer.inspect.inspection import Inspection
from gossamer.model.document import HTML_TYPES
from gossamer.model.exchange import Headers
from gossamer.model.url import Url

ROWS = 500
"""Documents of one commit, at most."""
TEXT = 32 << 20
"""Characters of text of one commit, roughly at most."""
SECONDS = 10.0
"""Between two commits, at most, while documents come."""
IN_FLIGHT = 64 << 20
"""Bytes of content that are being read, at most, or one document."""
SHARE = 4
"""Part of the memory of a process that reads documents which one may take: it is received, decoded and taken apart.
What lies beyond is not read, however much a crawl may fetch."""
PATIENCE = 100.0
"""Times the seconds of a document by the clock: beside a crawl others come first. What it says must not depend on how
long it had to wait for a processor; a process of the lowest priority may be given one out of a thousand. One that
sleeps does not wait for one, and is not waited for so long."""
_CALLS = 5_000
"""Documents that a process reads before another takes its place, which needs as long as a hundred pages to begin. One
that has outgrown its memory by then is replaced, and its document read again."""
_PAUSE = 1.0
_STOP = 0.1
"""Seconds after which it is seen that somebody says stop."""


class Question(msgspec.Struct, frozen=True):
    """A document to be read; `part`: its content is known not to be whole."""

    url: str
    content_type: str
    content: bytes
    part: bool = False


class Answer(msgspec.Struct, frozen=True):
    """What it says, and its fields."""

    said: DocumentText
    fields: dict[str, object] = {}


class Reads(msgspec.Struct, frozen=True):
    """What a guarded process calls."""

    limits: ReadingLimits
    groups: list[Group]

    def __call__(self, asked: Question) -> Answer:
        """Read it."""
        said = read(asked.content, asked.url, asked.content_type, self.limits, part=asked.part)
        fields, cut = self._fields(asked, said)
        if cut and Cause.CUT not in said.marks:
            said = msgspec.structs.replace(said, marks=(*said.marks, Cause.CUT))
        return Answer(said, fields)

    def _fields(self, asked: Question, said: DocumentText) -> tuple[dict[str, object], bool]:
        url = Url.from_serialised(asked.url)
        if url is None or said.media_type not in HTML_TYPES:
            return {}, False
        wanted = [group for group in self.groups if group.selectors and group.is_of(url)]
        if not wanted:
            return {}, False
        content = asked.content
        charset = said.charset or charset_of(content, asked.content_type, said.media_type)
        if len(content) > self.limits.max_markup and not charset.startswith("utf-16"):
            content = without_ballast(content)
        page, found = Parsed(content[: self.limits.max_markup], charset, url), {}
        for group in wanted:
            for name, selector in group.selectors.items():
                if (value := page.value(selector)) is not None:
                    found[name] = value
        return found, page.cut


class DocumentRow(msgspec.Struct, frozen=True):
    """A row of the table `documents`: one captured document."""

    url: str
    time: float
    serial: int
    offset: int
    status: int
    said: DocumentText
    marks: tuple[str, ...]


class LinkRow(msgspec.Struct, frozen=True):
    """A row of the table `links`: one link of a document."""

    url: str
    time: float
    serial: int
    offset: int
    target: str
    kind: str
    text: str = ""
    relation: str = ""
    width: int = 0
    height: int = 0


class FieldRow(msgspec.Struct, frozen=True):
    """A row of the table `fields`: one value of a field."""

    url: str
    time: float
    serial: int
    offset: int
    name: str
    position: int
    value: str
    number: float | None


class _Asked(msgspec.Struct, frozen=True):
    """A record that is being read; without a question it only moves the mark on."""

    after: Mark
    answer: "Future[Answer | Unanswered] | None" = None
    url: str = ""
    time: float = 0.0
    status: int = 0
    media_type: str = ""
    size: int = 0
    offset: int = 0
    serial: int = 0


class Progress(msgspec.Struct, frozen=True):
    """How far it has come: `documents` in all, `marked` of them, `behind` bytes of the archive unread."""

    documents: int
    marked: dict[str, int]
    behind: int


class Deriving:
    """Brings the tables of one crawl's folder up to date, and keeps them so."""

    def __init__(self, path: Path, inspection: Inspection, config: DocumentsConfig | None = None) -> None:
        """Args:
        path: folder of the crawl.
        inspection: of it; only its settings are used.
        config: if not the crawl's own.

        Raises:
            Busy: another process makes these tables.
            ConfigError: an extra is not installed.
            StorageError: the disk refuses.
        """
        self._path = path
        self._fetch = inspection.config.fetch
        config = config or inspection.config.documents
        self._first = min(self._fetch.max_content, config.memory // SHARE)
        limits = ReadingLimits(seconds=max(config.seconds / 2, 0.1))
        groups = read_groups(inspection.config.fields)
        made_of = msgspec.json.encode((limits, inspection.config.fields)).decode()
        self._store = Store(path / FOLDER, made_of)
        self._processes: GuardedProcesses[Question, Answer] = GuardedProcesses(
            Reads(limits, groups),
            Question,
            Answer,
            Limits(
                processes=config.processes,
                seconds=config.seconds,
                memory=config.memory,
                calls=_CALLS,
                nice=10,
                patience=PATIENCE,
            ),
        )
        self._most = 2 * config.processes
        self._asked: deque[_Asked] = deque()
        self._flying = 0
        self._archive = ""
        self._begin()

    def _begin(self) -> None:
        self._rows: dict[str, list[object]] = {"documents": [], "links": [], "fields": []}
        self._text = 0
        self._marks: list[str] = []
        self._since = time.monotonic()
        self._mark: Mark | None = None

    def run(
        self, goes_on: Callable[[], bool], stop: Callable[[], bool], tell: Callable[[Progress], None]
    ) -> None:
        """Derive until all is read and `goes_on` says that no more will come, or `stop` says so.

        Raises:
            DamagedTables: they are those of another archive.
            StorageError: the disk refuses, or the crawl's state is damaged. What was committed stays.
        """
        follower = follow(self._path, self._store.state.mark)
        self._archive = follower.archive
        if self._store.state.archive not in ("", self._archive):
            raise DamagedTables(self._path / FOLDER, "it tells of another archive")
        came = more = True
        while (came or more) and not stop():
            more = goes_on()
            came = self._follow(follower, stop, tell)
            if more:
                _wait(_PAUSE, stop)
        self._commit(follower, stop)
        tell(self._progress())

    def _follow(self, follower: Follower, stop: Callable[[], bool], tell: Callable[[Progress], None]) -> bool:
        """Take what is in the archive by now; whether anything was.

        While records come, what was made of them is committed when that is due: each commit costs the same, however
        few they were, and the processes have nothing to do meanwhile.
        """
        came = False
        for record in follower.read():
            if stop():
                return came
            if isinstance(record, Rewound):
                self._commit(follower, stop)
                if stop():  # what was not taken would be left out
                    return came
                self._store.rewind(record.to)
                self._archive = ""
            elif isinstance(record, FollowedRecord):
                came = True
                self._ask(record)
                self._take(self._most, stop)
                if self._due():
                    self._commit(follower, stop)
                    tell(self._progress())
            else:
                self._asked.append(_Asked(record.after))
        if not came or self._store.is_anew:
            self._commit(follower, stop)
            if not self._asked:
                self._store.publish()
            tell(self._progress())
        return came

    def close(self) -> None:
        """End the processes, and let others write."""
        self._processes.close()
        self._store.close()

    def _progress(self) -> Progress:
        state = self._store.state
        return Progress(state.documents, state.marked, 0)

    def _ask(self, record: FollowedRecord) -> None:
        """Hand a record to a process, if it holds a document."""
        found = self._document(record)
        after = record.finish()
        if found is None:
            self._asked.append(_Asked(after))
            return
        question, status = found
        content, content_type = question.content, question.content_type
        if content:
            answer = self._processes.threads.submit(self._processes.ask, question)
        else:
            answer = Future()
            answer.set_result(Unanswered(Why.MALFORMED))
        kind = content_type.partition(";")[0].strip().lower()
        self._flying += len(content)
        self._asked.append(
            _Asked(
                after,
                answer,
                record.url,
                _seconds(record.date),
                status,
                kind,
                len(content),
                record.offset,
                record.serial,
            )
        )

    def _document(self, record: FollowedRecord) -> tuple[Question, int] | None:
        """What is to be read of a record that holds a document, and its status; without content if that does not
        decode or is damaged. Of a revisit that of the record that it refers to, if that was another URL's: the same
        URL's is read already."""
        url = Url.from_serialised(record.url)
        if url is None or url.target == "/robots.txt":
            return None
        if record.is_revisit:
            return (
                None if record.fields.get("warc-refers-to-target-uri") == record.url else self._twin(record)
            )
        if record.http_head and not 200 <= record.status < 300:
            return None
        payload = record.first(self._first + 1)
        if payload is None:
            return Question(
                record.url, record.headers.get("content-type"), b"", record.is_part
            ), record.status
        return self._decoded(record.url, payload, record.headers, record.status, part=record.is_part)

    def _twin(self, record: FollowedRecord) -> tuple[Question, int] | None:
        exchange = repeated(self._path, record, keep=self._first + 1)
        if exchange is None or not 200 <= exchange.status < 300:
            return None
        payload = exchange.body.read()
        return self._decoded(record.url, payload, exchange.headers, exchange.status, part=exchange.is_part)

    def _decoded(
        self, url: str, payload: bytes, headers: Headers, status: int, *, part: bool
    ) -> tuple[Question, int] | None:
        decoded = decode_content(ArchivedBody(payload), headers, self._fetch, self._first)
        kind = headers.get("content-type")
        if not isinstance(decoded, Decoded):
            return Question(url, kind, b"", part), status
        if not decoded.content:
            return None
        return Question(url, kind, decoded.content, part or decoded.truncated), status

    def _take(self, most: int, stop: Callable[[], bool]) -> None:
        """Take answers until at most so many are awaited; nobody who says stop waits for one, it is asked for again."""
        while self._asked and (
            len(self._asked) > most or self._flying > IN_FLIGHT or not _is_open(self._asked[0])
        ):
            answer = self._asked[0].answer
            while answer is not None and not answer.done():
                if stop():
                    return
                with contextlib.suppress(TimeoutError):
                    answer.exception(_STOP)
            self._keep(self._asked.popleft())

    def _keep(self, asked: _Asked) -> None:
        self._mark = asked.after
        if asked.answer is None:
            return
        answer = asked.answer.result()
        self._flying -= asked.size
        if isinstance(answer, Unanswered):
            said = DocumentText(media_type=asked.media_type, size=asked.size)
            marks: tuple[str, ...] = (no_answer(answer.why),)
            fields: dict[str, object] = {}
        else:
            said, fields = answer.said, answer.fields
            marks = tuple(str(mark) for mark in said.marks)
        place = (asked.url, asked.time, asked.serial, asked.offset)
        self._rows["documents"].append(DocumentRow(*place, asked.status, said, marks))
        self._rows["links"].extend(_links(place, said))
        self._rows["fields"].extend(_fields(place, fields))
        self._text += len(said.text.text) + len(said.markdown.text)
        self._marks += marks

    def _due(self) -> bool:
        rows = len(self._rows["documents"])
        return (
            rows >= ROWS
            or self._text > TEXT
            or (self._mark is not None and time.monotonic() - self._since > SECONDS)
        )

    def _commit(self, follower: Follower, stop: Callable[[], bool]) -> None:
        self._take(0, stop)
        if self._mark is not None and self._mark != self._store.state.mark:
            took = time.monotonic() - self._since
            self._archive = self._archive or follower.archive
            self._store.commit(self._rows, self._mark, took, self._marks, self._archive)
        self._begin()


def no_answer(why: Why) -> str:
    """The mark of a document that could not be read."""
    return f"no answer: {why}"


def _is_open(asked: _Asked) -> bool:
    return asked.answer is not None and not asked.answer.done()


def _links(place: tuple[str, float, int, int], said: DocumentText) -> Iterator[LinkRow]:
    files = {file.url for file in said.files}
    for link in said.links:
        yield LinkRow(*place, link.url, "file" if link.url in files else "link", link.text, link.relation)
    known = {link.url for link in said.links}
    for file in said.files:
        if file.url not in known:
            yield LinkRow(*place, file.url, "file", file.text, file.relation)
    for image in said.images:
        size = image.declared
        yield LinkRow(*place, image.url, "image", image.alt, "", size.width, size.height)
    for medium in said.media:
        yield LinkRow(*place, medium.url, medium.kind, medium.title, medium.media_type)
    if said.metadata.canonical:
        yield LinkRow(*place, said.metadata.canonical, "canonical")
    for other in said.alternates:
        yield LinkRow(*place, other.url, "alternate", "", other.language or other.media_type)


def _fields(place: tuple[str, float, int, int], fields: dict[str, object]) -> Iterator[FieldRow]:
    for name, value in fields.items():
        for position, one in enumerate(value if isinstance(value, list) else [value]):
            number = float(one) if isinstance(one, int | float) else None
            yield FieldRow(*place, name, position, str(one), number)


def _seconds(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return 0.0


def _wait(seconds: float, stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not stop():
        time.sleep(_STOP)
