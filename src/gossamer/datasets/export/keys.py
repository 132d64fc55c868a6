"""Keys of rows, so that a repeated export finds its rows again."""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from gossamer.datasets.export.forms import plain
from gossamer.datasets.export.rows import Source

ID = "id"
"""Column of the key."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "pages": ("url",),
    "hosts": ("host",),
    "captures": ("url", "time", "file", "offset"),
    "visits": ("url", "time", "attempt", "became"),
    "documents": ("url", "time", "serial", "offset"),
    "text": ("url", "time", "serial", "offset"),
    "links": ("url", "time", "serial", "offset", "target", "kind", "text", "relation", "width", "height"),
    "fields": ("url", "time", "serial", "offset", "name", "position"),
    "near_duplicates": ("url", "time", "serial", "offset"),
}
"""Columns that tell the rows of a table apart. Equal links of a document are told apart by their number."""
_GROUP = ("url", "time")


def keyed(source: Source, skip: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """(key, row) of the rows of a source, without the first `skip`; times are text, as in JSON lines.

    A key is 32 hexadecimal digits, because URLs are longer than what databases take for a key. The columns of
    `KEYS` must be among those of the source.
    """
    names = KEYS[source.what]
    group: tuple[object, ...] = ()
    seen: dict[bytes, int] = {}
    passed = 0
    for batch in source.batches():
        for row in batch.to_pylist():
            values = {name: plain(value) for name, value in row.items()}
            now = tuple(values.get(name) for name in _GROUP)
            if now != group:
                group, seen = now, {}
            data = msgspec.json.encode([values[name] for name in names])
            number = seen[data] = seen.get(data, -1) + 1
            passed += 1
            if passed > skip:
                key = blake2b(data + b" %d" % number, digest_size=16).hexdigest()
                yield key, values
