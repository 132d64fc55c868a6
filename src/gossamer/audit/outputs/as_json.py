"""The result as one JSON document, written piece by piece."""

from collections.abc import Iterator

import msgspec

from gossamer.audit.result import AuditResult

__all__ = ["as_json"]

_encode = msgspec.json.Encoder().encode


def as_json(result: AuditResult) -> Iterator[bytes]:
    """Pieces of the document.

    `{"verdicts": {...}, "levels": {...}, "pages": n, "requests": {...}, "problems": [...], "expired": [...],
    "links": [...], "findings": [...], "ignored": n}`.
    """
    yield b'{"verdicts":' + _encode(result.verdicts) + b',"levels":' + _encode(result.levels())
    yield b',"pages":' + _encode(result.pages) + b',"requests":' + _encode(result.requests)
    yield b',"problems":' + _encode(result.problems) + b',"expired":' + _encode(result.expired)
    yield b',"links":['
    yield from _listed(result.links())
    yield b'],"findings":['
    yield from _listed(result.findings())
    yield b'],"ignored":' + _encode(result.ignored) + b"}\n"


def _listed(items: Iterator[object]) -> Iterator[bytes]:
    for number, item in enumerate(items):
        yield (b",\n" if number else b"\n") + _encode(item)
