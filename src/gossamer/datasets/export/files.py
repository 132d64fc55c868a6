"""Writes each document to a file of its own: as archived without content codings, as text, or as Markdown."""

import contextlib
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from gossamer.datasets.export.file_names import fields_of, name_of, prove_rule
from gossamer.datasets.export.file_registry import Registry
from gossamer.datasets.export.forms import plain
from gossamer.datasets.export.rows import Source
from gossamer.inspect.archive.lookup import captures_of, content_of, read_back
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError, UnreadableError
from gossamer.model.url import Url

FileForm = Literal["content", "text", "markdown"]
COLUMNS: dict[FileForm, str] = {
    "content": "url,time,type,title,file,offset,status",
    "text": "url,time,type,title,serial,offset,text",
    "markdown": "url,time,type,title,serial,offset,markdown",
}
"""Of the rows that files are made of: pages for contents, else documents."""
_EXTENSION: dict[FileForm, str] = {"content": "", "text": "txt", "markdown": "md"}
_KEPT_TOGETHER = 200
_MOST_PROBLEMS = 20
_UNMODIFIED = 304


class Written(msgspec.Struct):
    """What an export of files did.

    Attributes:
        folder: that holds them.
        files: that are there now.
        written: of them now, the others were there.
        missing: documents that could not be read.
        problems: the first of these, a line each.
    """

    folder: str
    files: int = 0
    written: int = 0
    missing: int = 0
    problems: list[str] = []


def write_files(inspection: Inspection, source: Source, form: FileForm, rule: str, folder: Path) -> Written:
    """Write what is not there yet; of several captures of a URL the last stays.

    Args:
        inspection: of the crawl.
        source: rows with `COLUMNS`.
        form: what is written.
        rule: for names, as in `file_names`.
        folder: made if it is not there.

    Raises:
        ConfigError: the rule is none, or the folder holds something else.
        StorageError: it cannot be written; what is there stays.
    """
    prove_rule(rule)
    registry = Registry(folder, rule, form)
    job = _Job(inspection, registry, form, rule, folder)
    try:
        for row in _rows(source):
            job.take(row)
        registry.commit()
        job.written.files = registry.write_manifest()
    except sqlite3.Error as error:
        raise StorageError(f"{folder}: cannot be written ({error}). Free some space.") from error
    finally:
        with contextlib.suppress(sqlite3.Error):
            registry.close()
    return job.written


def _rows(source: Source) -> Iterator[dict[str, Any]]:
    for batch in source.batches():
        yield from batch.to_pylist()


class _Job:
    def __init__(
        self, inspection: Inspection, registry: Registry, form: FileForm, rule: str, folder: Path
    ) -> None:
        self._inspection = inspection
        self._registry = registry
        self._form: FileForm = form
        self._rule = rule
        self._folder = folder
        self.written = Written(str(folder), problems=[])

    def take(self, row: dict[str, Any]) -> None:
        """Write the document of a row, unless it is there."""
        url: str = row["url"]
        self._registry.begin()
        try:
            found = self._content(row) if self._form == "content" else self._text(row)
        except (StorageError, UnreadableError) as error:
            self.written.missing += 1
            if len(self.written.problems) < _MOST_PROBLEMS:
                self.written.problems.append(str(error))
            return
        if found is None:
            return
        capture, time, content = found
        name, _ = self._registry.capture_of(url)
        if not name:
            extension = _EXTENSION[self._form]
            fields = fields_of(url, time, row["type"] or "", row["title"] or "", extension)
            name = self._registry.name(url, name_of(self._rule, fields))
        path = self._folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(".partial")
            partial.write_bytes(content)
            partial.replace(path)
        except OSError as error:
            raise StorageError(
                f"{path}: cannot be written ({error.strerror}). Free some space; the same command goes on."
            ) from error
        self._registry.note(url, name, capture, (str(plain(time) or ""), row["type"] or "", len(content)))
        self.written.written += 1
        if self.written.written % _KEPT_TOGETHER == 0:
            self._registry.commit()

    def _is_there(self, url: str, capture: str) -> bool:
        name, held = self._registry.capture_of(url)
        return held == capture and (self._folder / name).exists()

    def _text(self, row: dict[str, Any]) -> tuple[str, datetime | None, bytes] | None:
        text = row[self._form]
        capture = f"{row['serial']}:{row['offset']}"
        if text is None or self._is_there(row["url"], capture):
            return None
        return capture, row["time"], text.encode()

    def _content(self, row: dict[str, Any]) -> tuple[str, datetime | None, bytes] | None:
        url = Url.from_serialised(row["url"])
        if row["file"] is None or url is None:
            return None
        if row["status"] is not None and row["status"] != _UNMODIFIED and not 200 <= row["status"] < 300:
            return None
        # Of a page that was not modified since, the capture before.
        captures = [one for one in captures_of(self._inspection, url) if one.status != _UNMODIFIED]
        one = captures[-1] if captures else None
        if one is None or one.url != url.text or (one.status and not 200 <= one.status < 300):
            return None
        capture = f"{one.file}:{one.offset}"
        if self._is_there(row["url"], capture):
            return None
        content = content_of(self._inspection, read_back(self._inspection, one)).content
        return capture, datetime.fromisoformat(one.time), content
