"""Reads single texts out of a Parquet file, page by page.

Arrow reads a row group at least, some hundred texts, to get at one. A column of texts as parquet.py writes it has
pages of some 64 KiB: here the one page is unpacked that holds the row. Of Parquet only that is known: version 1
pages, plain, in zstd, texts that may be null (parquet-format, `Encodings.md` and `parquet.thrift`). Of all else
Arrow reads the row group.
"""

import struct
from typing import Any, BinaryIO

import msgspec
import zstandard

__all__ = ["TextColumn"]

_HEADER = 32 << 10
"""Bytes of a page's header, at most, with the least and largest text that it tells."""
_LARGEST = 64 << 20
"""Bytes of one page, at most."""
_PLAIN, _RLE = 0, 3


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

    def text(self, row: int) -> str | None:
        """The text of a row, from 0; `None` if it is null.

        Raises:
            OSError, pyarrow.ArrowException: the file is damaged.
        """
        page = next((one for one in self._pages if one.first <= row < one.first + one.rows), None)
        if page is not None and self._whole is None:
            try:
                return self._in_page(page, row - page.first)
            except _NOT_READ:
                pass
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

    def _in_page(self, page: _Page, row: int) -> str | None:
        self._stream.seek(page.offset)
        packed = self._stream.read(page.packed)
        content = zstandard.ZstdDecompressor().decompress(packed, max_output_size=page.size)
        (length,) = struct.unpack_from("<I", content)
        before, there = _counted(content[4 : 4 + length], row)
        if not there:
            return None
        at = 4 + length
        for _ in range(before):
            at += 4 + struct.unpack_from("<I", content, at)[0]
        (size,) = struct.unpack_from("<I", content, at)
        text = content[at + 4 : at + 4 + size]
        if len(text) != size:
            raise _OtherwiseMade
        return text.decode()


def _counted(levels: bytes, row: int) -> tuple[int, bool]:
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


def _varint(data: bytes, at: int) -> tuple[int, int]:
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
