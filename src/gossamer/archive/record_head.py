"""What the head of a WARC record says, by whichever way it was read."""

from gossamer.model.exchange import FIELD_BLANKS, Headers, Truncation, is_part

__all__ = ["MAIN_KINDS", "RecordHead"]

MAIN_KINDS = frozenset(("response", "revisit", "resource"))
"""Kinds of the records that stand for visits; each capture of the index is one of them."""


class RecordHead:
    """Reads the WARC fields and the stored HTTP head of the record that it is mixed into."""

    __slots__ = ()

    fields: Headers
    http_head: bytes

    @property
    def kind(self) -> str:
        """`WARC-Type`: `response`, `revisit`, `request`, `metadata`, `resource` or `warcinfo`."""
        return self.fields.get("warc-type")

    @property
    def is_revisit(self) -> bool:
        """Whether its payload stands in another record."""
        return self.kind == "revisit"

    @property
    def record_id(self) -> str:
        """`WARC-Record-ID` without its brackets: `urn:uuid:...`."""
        return self.fields.get("warc-record-id").strip("<>")

    @property
    def url(self) -> str:
        """What the record is about, `WARC-Target-URI`; empty for `warcinfo`."""
        return self.fields.get("warc-target-uri")

    @property
    def date(self) -> str:
        """`WARC-Date`, as the record has it."""
        return self.fields.get("warc-date")

    @property
    def truncated(self) -> Truncation | None:
        """`WARC-Truncated`: why the archive does not hold all of the body; `None` if it does."""
        said = self.fields.get("warc-truncated").strip().lower()
        known = next((one for one in Truncation if one == said), Truncation.LENGTH)  # or `unspecified`
        return known if said else None

    @property
    def is_part(self) -> bool:
        """Whether the body is known to be less than the document."""
        return is_part(self.status, self.headers, self.truncated)

    @property
    def status(self) -> int:
        """Of the HTTP response; 0 where the record has none."""
        parts = self.http_head[:100].split(maxsplit=2)
        return int(parts[1]) if len(parts) > 1 and len(parts[1]) == 3 and parts[1].isdigit() else 0

    @property
    def headers(self) -> Headers:
        """The fields of the stored HTTP head; of a record without one, its own."""
        if not self.http_head:
            return self.fields
        lines = self.http_head.decode("latin-1").split("\r\n")[1:]
        pairs = [line.partition(":") for line in lines if line]
        return Headers([(name, value.strip(FIELD_BLANKS)) for name, _, value in pairs])

    @property
    def media_type(self) -> str:
        """Essence as declared, in lower case; empty if nothing is."""
        return self.headers.get("content-type").partition(";")[0].strip().lower()
