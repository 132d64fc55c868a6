"""Makes a mirror: plans it, writes what changed, removes what is gone, and says what it came to."""

import sqlite3

import msgspec

from gossamer.datasets.export.file_registry import manifest_lines
from gossamer.extract.encodings.charset import charset_of, codec_of
from gossamer.extract.encodings.labels import NOT_ASCII
from gossamer.extract.links import LinkMaker
from gossamer.extract.media_type import declared_type
from gossamer.extract.rewriting.css import relinked_sheet
from gossamer.extract.rewriting.html import relinked_html
from gossamer.inspect.archive.lookup import Indexed, content_of, read_back
from gossamer.inspect.inspection import Inspection
from gossamer.mirror.links import DocumentLinks, Outside, Tally, Targets
from gossamer.mirror.names import USUAL, prove_names
from gossamer.mirror.own_pages import NOTE_PAGE, start_page
from gossamer.mirror.places import Place
from gossamer.mirror.plan import planned
from gossamer.mirror.table import MANIFEST, NOTE, START, Document, Table
from gossamer.model.document import HTML_TYPES
from gossamer.model.errors import ConfigError, StorageError, UnreadableError
from gossamer.model.url import Url
from gossamer.policy.scope.address_pattern import address_pattern, address_problem

__all__ = ["Asked", "Mirrored", "make_mirror"]

_AT_ONCE = 200
_MOST_PROBLEMS = 20
_MOST_HOSTS = 500
_SVG = "image/svg+xml"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a mirror is to be.

    Attributes:
        at: of each URL the capture nearest to this time; the last if empty.
        outside: where links lead whose pages are not in it.
        match: pattern of the pages that are wanted; all if empty.
        names: rule for the names of files.
    """

    at: str = ""
    outside: Outside = "live"
    match: str = ""
    names: str = USUAL


class Mirrored(msgspec.Struct):
    """What came of it.

    Attributes:
        files: documents in the mirror.
        bytes: of them.
        written: files written by this run; the others were there as they are to be.
        removed: files of an earlier run whose pages are gone.
        links: where they lead.
        cut: documents of which the archive has only a part.
        unread: documents that could not be read.
        start: name of the file to open.
        problems: why, the first of them, a line each.
    """

    files: int = 0
    bytes: int = 0
    written: int = 0
    removed: int = 0
    links: Tally = msgspec.field(default_factory=Tally)
    cut: int = 0
    unread: int = 0
    start: str = START
    problems: list[str] = []


def make_mirror(inspection: Inspection, place: Place, asked: Asked) -> Mirrored:
    """Write a mirror of a crawl, or bring one up to date.

    Raises:
        ConfigError: what is asked makes no sense, or somebody else writes there.
        StorageError: it cannot be written; what is there is whole, and the same goes on.
    """
    prove_names(asked.names)
    if asked.match and (problem := address_problem(asked.match)) is not None:
        raise ConfigError(f"--match {asked.match}: is no regular expression of RE2 ({problem})")
    try:
        table = Table(place.table, asked.names, inspection.config.document_name)
        try:
            return _Making(inspection, place, asked, table).run()
        finally:
            table.close()
    except sqlite3.Error as error:
        raise StorageError(f"{place.table}: cannot be written ({error}). Free some space.") from error


class _Making:
    """One run."""

    def __init__(self, inspection: Inspection, place: Place, asked: Asked, table: Table) -> None:
        self._inspection = inspection
        self._place = place
        self._asked = asked
        self._table = table
        self._done = Mirrored(problems=[])
        self._targets = Targets(table, asked.outside, self._done.links)
        self._maker = LinkMaker(inspection.config.extract)
        self._dropped = False

    def run(self) -> Mirrored:
        """Make the mirror."""
        table, done = self._table, self._done
        table.begin()
        self._plan()
        table.commit()
        self._write()
        while self._dropped:  # links must not lead to what cannot be read
            table.begin_again()
            self._dropped = False
            self._done = done = Mirrored(written=done.written, problems=done.problems, unread=done.unread)
            self._targets = Targets(table, self._asked.outside, done.links)
            self._write()
        self._finish()
        return done

    def _write(self) -> None:
        """Write what is wanted and not written."""
        table = self._table
        while documents := table.due(_AT_ONCE):
            table.begin()
            table.will_write(documents)
            table.commit()
            table.begin()
            for document in documents:
                self._take(document)
            table.commit()

    def _plan(self) -> None:
        asked, problems = self._asked, list[str]()
        match = address_pattern(asked.match) if asked.match else None
        for one in planned(self._inspection, asked.at, match, problems):
            self._table.plan(one)
        self._table.planned()
        self._done.unread += len(problems)
        self._done.problems += problems[:_MOST_PROBLEMS]

    def _take(self, document: Document) -> None:
        try:
            content = self._content(document)
        except (StorageError, UnreadableError) as error:
            self._cannot(document, str(error))
            return
        if self._place.put(document.file, content, document.time, ours=document.ours):
            self._done.written += 1
        self._done.files += 1
        self._done.bytes += len(content)
        self._table.wrote(document.key, len(content))

    def _cannot(self, document: Document, why: str) -> None:
        """A document cannot be read; what an earlier run wrote of it is worth more than nothing."""
        self._done.unread += 1
        if len(self._done.problems) < _MOST_PROBLEMS:
            self._done.problems.append(why)
        size = self._place.size(document.file) if document.ours else None
        if size is None:
            self._table.drop(document.key)
            self._dropped = True
        else:
            self._table.wrote(document.key, size)

    def _content(self, document: Document) -> bytes:
        """Of the file: the document with its links to others.

        Raises:
            StorageError: the archive is damaged there.
            UnreadableError: it does not decode.
        """
        one = Indexed(document.url, document.time, 0, "", "", 0, document.archive, document.place)
        capture = read_back(self._inspection, one)
        decoded = content_of(self._inspection, capture)
        self._done.cut += decoded.truncated
        content, kind = decoded.content, document.type
        is_page = kind in HTML_TYPES or kind == _SVG
        if not content or not (is_page or kind == "text/css"):
            return content
        url = Url.from_serialised(document.url)
        assert url is not None, document.url
        declared = declared_type(capture.exchange.headers)
        charset = charset_of(content, declared, kind, url.host.rpartition(".")[2])
        links = DocumentLinks(self._targets, self._maker, url, document.file, charset if is_page else "utf-8")
        if is_page:
            return relinked_html(content, charset, links, xml=kind != "text/html")
        if charset in NOT_ASCII:
            return content
        return relinked_sheet(content, codec_of(charset), links)

    def _finish(self) -> None:
        """Write the mirror's own files, and the manifest last."""
        table, place = self._table, self._place
        if self._asked.outside == "note":
            place.put(NOTE, NOTE_PAGE, "", ours=True)
        else:
            place.remove(NOTE)
        place.put(START, start_page(table.first_pages(_MOST_HOSTS), table.newest()), "", ours=True)
        gone = table.gone()
        self._done.removed = sum(map(place.remove, gone))
        table.forgotten()
        place.put_lines(MANIFEST, manifest_lines(table.rows()))
        place.finish()
