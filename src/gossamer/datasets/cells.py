"""Reads single texts out of a Parquet file, page by page.

Arrow reads a row group at least, some hundred texts, to get at one. A column of texts as parquet.py writes it has
pages of some 64 KiB: here the one page is unpacked that holds the row. Of Parquet only that is known: version 1
pages, plain, in zstd, texts that may be null (parquet-format, `Encodings.md` and `parquet.thrift`). Of all else
Arrow reads the row group.
"""

import os
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import msgspec
import zstandard

__all__ = ["Text", "TextColumn"]

_HEADER = 32 << 10
"""Bytes of a page's header, at most, with the least and largest text that it tells."""
_LARGEST = 64 << 20
"""Bytes of one page, at most."""
_STEP = 64 << 10
"""Bytes that are unpacked at a time."""
_PLAIN, _RLE = 0, 3
_NUMBER = struct.Struct("<I")


class _Page(msgspec.Struct, frozen=True):
    """Rows of a page, and where its content stands."""

    first: int
    rows: int
    offset: int
    packed: int
    size: int


class _OtherwiseMade(Exception):  # noqa: N818 (never leaves the room)
    """What is not known here."""


_NOT_READ = (_OtherwiseMade, LookupError, struct.error, ValueError, zstandard.ZstdError)


class Text(NamedTuple):
    """A text, or its beginning and what gives so many characters of it, or more, from the beginning on."""

    beginning: str
    more: Callable[[int], str] | None


class TextColumn:
    """A text column of one row group. One caller at a time."""

    def __init__(self, file: Any, group: int, name: str, stream: BinaryIO) -> None:
        """Args:
        file: `pyarrow.parquet.ParquetFile`.
        group: number of the row group.
        name: of the column.
        stream: the file's bytes.
        """
        self._file, self._group, self._name, self._stream = file, group, name, stream
        self._whole: list[str | None] | None = None
        try:
            self._pages = self._find_pages()
        except _NOT_READ:
            self._pages = []

    def text(self, row: int, most: int = _LARGEST) -> Text | None:
        """The text of a row, from 0; `None` if it is null.

        Args:
            row: its number.
            most: bytes of its beginning; what is behind them is not unpacked yet.

        Raises:
            OSError, pyarrow.ArrowException: the file is damaged.
        """
        page = next((one for one in self._pages if one.first <= row < one.first + one.rows), None)
        if page is not None and self._whole is None:
            try:
                cell = self._cell(page, row - page.first)
                if cell is None:
                    return None
                return Text(cell.upto(most), None if cell.size <= most else partial(self._more, cell, row))
            except _NOT_READ:
                pass
        text = self._read_by_arrow(row)
        return None if text is None else Text(text, None)

    def _more(self, cell: "_Cell", row: int, most: int) -> str:
        try:
            return cell.characters(most)
        except _NOT_READ:
            return self._read_by_arrow(row) or ""

    def _read_by_arrow(self, row: int) -> str | None:
        if self._whole is None:
            table = self._file.read_row_group(self._group, [self._name], use_threads=False)
            self._whole = table.column(0).to_pylist()
        return self._whole[row]

    def _find_pages(self) -> list[_Page]:
        group = self._file.metadata.row_group(self._group)
        column = next(
            one for i in range(group.num_columns) if (one := group.column(i)).path_in_schema == self._name
        )
        if column.dictionary_page_offset is not None or column.compression != "ZSTD":
            raise _OtherwiseMade
        schema = self._file.schema.column(self._file.schema_arrow.get_field_index(self._name))
        if (schema.max_definition_level, schema.max_repetition_level) != (1, 0):
            raise _OtherwiseMade
        pages: list[_Page] = []
        at, first = column.data_page_offset, 0
        while first < group.num_rows:
            self._stream.seek(at)
            reader = _Thrift(self._stream.read(_HEADER))
            header = reader.struct()
            data = header.get(5)
            if header.get(1) != 0 or data is None or (data[2], data[3]) != (_PLAIN, _RLE):
                raise _OtherwiseMade
            page = _Page(first, data[1], at + reader.at, header[3], header[2])
            if page.rows <= 0 or page.size > _LARGEST:
                raise _OtherwiseMade
            pages.append(page)
            at, first = page.offset + page.packed, first + page.rows
        return pages

    def _cell(self, page: _Page, row: int) -> "_Cell | None":
        content = _Unpacked(os.pread(self._stream.fileno(), page.packed, page.offset), page.size)
        at = 4 + content.number(0)
        before, there = _counted(content.upto(at)[4:at], row)
        if not there:
            return None
        data = content.upto(at)
        for _ in range(before):
            if at + 4 > len(data):
                data = content.upto(at + 4)
            at += 4 + _NUMBER.unpack_from(data, at)[0]
        return _Cell(content, at + 4, content.number(at))


class _Unpacked:
    """The content of a page, unpacked as far as it is asked for."""

    def __init__(self, packed: bytes, size: int) -> None:
        self._reader = zstandard.ZstdDecompressor().stream_reader(packed)
        self._content = bytearray()
        self._size = size

    def upto(self, end: int) -> bytearray:
        """Its bytes, at least those before `end`."""
        if end > self._size:
            raise _OtherwiseMade
        while len(self._content) < end:
            if not (more := self._reader.read(max(end - len(self._content), _STEP))):
                raise _OtherwiseMade
            self._content += more
        return self._content

    def number(self, at: int) -> int:
        """The one of four bytes that stands at a place."""
        number: int = _NUMBER.unpack_from(self.upto(at + 4), at)[0]
        return number


class _Cell(msgspec.Struct, frozen=True):
    """Where a text stands in a page; `size`: its bytes."""

    content: _Unpacked
    at: int
    size: int

    def upto(self, most: int) -> str:
        """So much of it; a character that the end cuts is left out."""
        end = self.at + min(self.size, most)
        return str(self.content.upto(end)[self.at : end], errors="strict" if most >= self.size else "ignore")

    def characters(self, least: int) -> str:
        """So many characters of it, if it has them, or more."""
        text = self.upto(least * 5 // 4)  # of most texts nearly all have one byte
        return text if len(text) >= least or least * 5 // 4 >= self.size else self.upto(least * 4)


def _counted(levels: bytes | bytearray, row: int) -> tuple[int, bool]:
    """How many rows before one are not null, and whether it is; from runs of bits (`RLE` in Encodings.md)."""
    at, seen, count = 0, 0, 0
    while True:
        head, at = _varint(levels, at)
        if head & 1:
            bits = [levels[at + n // 8] >> n % 8 & 1 for n in range(min((head >> 1) * 8, row + 1 - seen))]
            at += head >> 1
            length = (head >> 1) * 8
        else:
            length = head >> 1
            bits = [levels[at] & 1] * min(length, row + 1 - seen)
            at += 1
        if row < seen + length:
            return count + sum(bits[:-1]), bits[-1] == 1
        count, seen = count + sum(bits), seen + length
        if length == 0:
            raise _OtherwiseMade


def _varint(data: bytes | bytearray, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


class _Thrift:
    """Reads one struct in Thrift's compact protocol: numbers and structs by their field's number."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Its fields; those of kinds that page headers do not have end the reading."""
        if depth > 3:
            raise _OtherwiseMade
        fields: dict[int, Any] = {}
        number = 0
        while head := self._data[self._next()]:
            number = number + (head >> 4) if head >> 4 else self._number()
            match head & 15:
                case 1 | 2:  # true, false
                    fields[number] = head & 15 == 1
                case 4 | 5 | 6:  # 16, 32, 64 bits
                    fields[number] = self._number()
                case 8:  # bytes
                    size, self.at = _varint(self._data, self.at)
                    self.at += size
                case 12:
                    fields[number] = self.struct(depth + 1)
                case _:
                    raise _OtherwiseMade
        return fields

    def _next(self) -> int:
        self.at += 1
        return self.at - 1

    def _number(self) -> int:
        value, self.at = _varint(self._data, self.at)
        return (value >> 1) ^ -(value & 1)
