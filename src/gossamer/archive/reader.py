"""Reads one record back from where the state says it stands."""

from pathlib import Path
from typing import BinaryIO

import msgspec

from gossamer.archive.file import OPEN_SUFFIX
from gossamer.archive.scan import Member, ReadHead, scan
from gossamer.model.errors import StorageError
from gossamer.model.exchange import Headers


class StoredRecord(ReadHead, msgspec.Struct, frozen=True):
    """One record of an archive file.

    Attributes:
        length: bytes of its gzip member.
        fields: the WARC fields.
        http_head: the stored HTTP head with its empty line; empty for records without one.
        payload: its first bytes, content codings as they came.
        payload_size: bytes of the whole payload.
        problems: what is wrong with it (digests, lengths), one line each; empty if it is sound.
    """

    length: int
    fields: Headers
    http_head: bytes
    payload: bytes
    payload_size: int
    problems: tuple[str, ...]


def read_record(directory: Path, file: str, offset: int, keep: int = 64 << 20) -> StoredRecord:
    """Read the record at `offset` of the archive file named `file`, finished or still open.

    Args:
        directory: of the archive.
        file: final name.
        offset: of the record's gzip member, bytes.
        keep: bytes of payload to return; the digests are checked over all of it all the same.

    Raises:
        StorageError: there is no readable record.
    """
    try:
        with open_archive_file(directory, file) as stream:
            end = stream.seek(0, 2)
            member = Member(stream, offset, end)
            scanned = scan(member, keep)
    except (OSError, StorageError) as error:
        raise StorageError(
            f"{directory / file}: no record can be read at {offset}: {error}. Run check on the crawl's folder"
        ) from error
    return StoredRecord(
        member.length,
        scanned.fields,
        scanned.http_head,
        scanned.payload,
        scanned.payload_size,
        tuple(scanned.problems),
    )


def open_archive_file(directory: Path, file: str) -> BinaryIO:
    """Open the archive file whose final name is `file`, under whichever name it has now.

    Raises:
        OSError: it has neither name, or cannot be read.
    """
    for name in (file, file + OPEN_SUFFIX):
        try:
            return (directory / name).open("rb")
        except FileNotFoundError:
            continue
    return (directory / file).open("rb")  # it may have been renamed between the two
