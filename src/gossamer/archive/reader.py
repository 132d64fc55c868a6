"""Reads one record back from where the state says it stands."""

from pathlib import Path
from typing import BinaryIO

import msgspec

from gossamer.archive.file import OPEN_SUFFIX
from gossamer.archive.scan import Member, scan
from gossamer.model.errors import StorageError
from gossamer.model.exchange import FIELD_BLANKS, Headers


class StoredRecord(msgspec.Struct, frozen=True):
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

    @property
    def kind(self) -> str:
        """`response`, `revisit`, `request`, `metadata`, `resource` or `warcinfo`."""
        return self.fields.get("warc-type")

    @property
    def record_id(self) -> str:
        """`WARC-Record-ID` without its brackets: `urn:uuid:...`."""
        return self.fields.get("warc-record-id").strip("<>")

    @property
    def target_uri(self) -> str:
        """What the record is about; empty for `warcinfo`."""
        return self.fields.get("warc-target-uri")

    @property
    def date(self) -> str:
        """`WARC-Date` as the record has it."""
        return self.fields.get("warc-date")

    @property
    def http_fields(self) -> Headers:
        """The fields of the stored HTTP head."""
        lines = self.http_head.decode("latin-1").split("\r\n")[1:]
        pairs = [line.partition(":") for line in lines if line]
        return Headers([(name, value.strip(FIELD_BLANKS)) for name, _, value in pairs])


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
