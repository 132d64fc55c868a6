"""Where records and files stand, as values for the state to keep."""

from typing import Literal

import msgspec

RecordKind = Literal["response", "revisit", "resource"]


class ArchiveFile(msgspec.Struct, frozen=True, gc=False):
    """One archive file as the state knows it.

    Attributes:
        name: final name, without `.open`.
        length: bytes that belong to it; what lies behind them was never committed.
        state: `open` (named `*.open` on disk, may grow) or `closed`.
        serial: number in the order of creation, from 0.
        warcinfo_id: `urn:uuid:...` of its first record.
    """

    name: str
    length: int
    state: Literal["open", "closed"]
    serial: int
    warcinfo_id: str


class Placed(msgspec.Struct, frozen=True, gc=False):
    """Where the main record of a visit stands.

    Attributes:
        file: final name of the archive file.
        offset, length: the record's gzip member in the file, bytes.
        serial: of the file.
        kind: `response`, `revisit` or `resource`.
        record_id: `urn:uuid:...`.
        date: `WARC-Date` as written; a revisit must repeat it letter for letter.
        sha256: of the payload, 32 bytes; for a revisit the original's.
        further: of the resource records that the visit left beside it: (URL, media type, where it stands).
    """

    file: str
    offset: int
    length: int
    serial: int
    kind: RecordKind
    record_id: str
    date: str
    sha256: bytes
    further: "tuple[tuple[str, str, Placed], ...]" = ()

    @property
    def is_revisit(self) -> bool:
        """Whether its payload stands in another record."""
        return self.kind == "revisit"


class Original(msgspec.Struct, frozen=True, gc=False):
    """The earlier record that a revisit refers to: `Placed` values with the URL.

    Attributes:
        url: its `WARC-Target-URI`.
        date: as in its `Placed`.
        sha256: of its payload, 32 bytes.
        record_id: as in its `Placed`; empty if it is no longer known.
    """

    url: str
    date: str
    sha256: bytes
    record_id: str = ""


def digest_label(sha256: bytes) -> str:
    """A digest as records and index lines spell it; warcio and FastWARC both verify this form."""
    return "sha256:" + sha256.hex()
