"""Puts rows into an index of OpenSearch (or Elasticsearch) by its bulk interface.

Source: OpenSearch's documentation, "Bulk" and "Create index". Each row has its key as `_id`, so that what is
sent again replaces itself; there are no transactions, so an interrupted export begins again.
"""

import base64
import http.client
import json
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from gossamer.datasets.export.databases import Batch, Loaded, batches_of, required_keys
from gossamer.datasets.export.keys import keyed
from gossamer.datasets.export.rows import Source
from gossamer.datasets.tables import Column
from gossamer.model.errors import ConfigError, StorageError

_ROWS, _BYTES = 1_000, 5 << 20
"""Of one request, at most, or one row; OpenSearch's advice is 5 to 15 MB."""
_TRIES = 8
_FIRST, _LONGEST = 0.5, 30.0
"""Seconds before the second try, and before any."""
_LATER = frozenset((429, 502, 503, 504))
_MOST_PROBLEMS = 20
_KEYWORD = {"type": "keyword", "ignore_above": 8_191}  # Lucene's terms have 32,766 bytes at most
_WORDS = frozenset(("text", "markdown", "title", "description", "authors", "keywords"))
_TYPES: dict[str, dict[str, object]] = {
    "whole": {"type": "long"}, "number": {"type": "double"}, "yes": {"type": "boolean"},
    "time": {"type": "date"},
}  # fmt: skip


class OpenSearch:
    """One index of a server."""

    def __init__(self, address: str, wait: Callable[[float], None] = time.sleep) -> None:
        """Args:
        address: `opensearch+https://user:password@host:9200/index`, or `opensearch+http://...`.
        wait: for the seconds given.

        Raises:
            ConfigError: it is no such address.
        """
        parts = urlsplit(address.removeprefix("opensearch+"))
        self._index = parts.path.strip("/")
        if parts.scheme not in ("http", "https") or not parts.hostname or not self._index:
            raise ConfigError("--to: write opensearch+https://host:9200/index, or opensearch+http://...")
        if "/" in self._index or self._index != self._index.lower() or self._index[0] in "_-+":
            raise ConfigError(f"--to: {self._index!r} is no index; names are in small letters, without '/'")
        self._host, self._port, self._scheme = parts.hostname, parts.port or 9200, parts.scheme
        self.address = f"opensearch+{parts.scheme}://{parts.hostname}:{self._port}/{self._index}"
        self._headers = {"Content-Type": "application/json"}
        if parts.username:
            secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(secret).decode()}"
        self._wait = wait
        self._connection: http.client.HTTPConnection | None = None

    def load(self, source: Source) -> Loaded:
        """Send all rows of a source.

        Raises:
            ConfigError: columns are missing.
            StorageError: the server cannot be reached, or refuses.
        """
        required_keys(source)
        loaded = Loaded(self.address, self._index, problems=[])
        try:
            self._create(source.table.columns)
            for batch in batches_of(keyed(source, 0), _ROWS, _BYTES):
                loaded.rows += len(batch)
                refused = self._send(batch)
                loaded.written += len(batch) - len(refused)
                loaded.problems += refused[: _MOST_PROBLEMS - len(loaded.problems)]
        finally:
            self._hang_up()
        return loaded

    def _create(self, columns: Sequence[Column]) -> None:
        properties = {column.name: _mapping(column) for column in columns}
        body = json.dumps({"mappings": {"properties": properties}}).encode()
        status, answer = self._ask("PUT", f"/{self._index}", body)
        if status != 200 and "resource_already_exists_exception" not in json.dumps(answer):
            raise StorageError(f"{self.address}: the index cannot be made ({status}: {_reason(answer)})")

    def _send(self, batch: Batch) -> list[str]:
        """Send rows until each is in or refused for good; what was said of the latter."""
        left, refused = batch, []
        for number in range(_TRIES):
            if number:
                self._wait(min(_LONGEST, _FIRST * 2**number))
            status, answer = self._ask("POST", f"/{self._index}/_bulk", _lines(left))
            if status != 200 or not isinstance(answer, dict) or len(answer.get("items", ())) != len(left):
                raise StorageError(f"{self.address}: refuses ({status}: {_reason(answer)})")
            again: Batch = []
            for row, item in zip(left, answer["items"], strict=True):
                result = item["index"]
                if result["status"] in _LATER:
                    again.append(row)
                elif result["status"] >= 300:
                    refused.append(f"{row[1].get('url') or row[0]}: {_reason(result)}")
            if not again:
                return refused
            left = again
        raise StorageError(f"{self.address}: is too busy; the same command begins again, and doubles nothing")

    def _ask(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """(status, answer), after further tries if the server is busy or does not answer.

        Raises:
            StorageError: it cannot be reached.
        """
        said = ""
        for number in range(_TRIES):
            if number:
                self._wait(min(_LONGEST, _FIRST * 2**number))
            try:
                connection = self._connected()
                kind = "application/x-ndjson" if method == "POST" else "application/json"
                connection.request(method, path, body, {**self._headers, "Content-Type": kind})
                response = connection.getresponse()
                data = response.read()
            except (OSError, http.client.HTTPException) as error:
                self._hang_up()
                said = str(error) or type(error).__name__
                continue
            if response.status in _LATER:
                said = f"status {response.status}"
                continue
            try:
                return response.status, msgspec.json.decode(data)
            except msgspec.DecodeError:
                return response.status, data[:200].decode("utf-8", "replace")
        raise StorageError(f"{self.address}: does not answer ({said}) after {_TRIES} tries")

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            if self._scheme == "https":
                context = ssl.create_default_context()
                self._connection = http.client.HTTPSConnection(
                    self._host, self._port, timeout=60, context=context
                )
            else:
                self._connection = http.client.HTTPConnection(self._host, self._port, timeout=60)
        return self._connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _mapping(column: Column) -> dict[str, object]:
    if column.kind == "text":
        return {"type": "text"} if column.name in _WORDS else _KEYWORD
    return _TYPES[column.kind]


def _lines(batch: Batch) -> bytes:
    """Newline-delimited JSON: what to do, then the row, the last line with its end, too."""
    encode = msgspec.json.encode
    return b"".join(encode({"index": {"_id": key}}) + b"\n" + encode(row) + b"\n" for key, row in batch)


def _reason(answer: Any) -> str:
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    if isinstance(error, dict):
        return f"{error.get('type', 'error')}: {error.get('reason', '')}"
    return str(error)[:200]
