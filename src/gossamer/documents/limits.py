"""How much of one document is read, and what reading it has used up so far."""

import time
from typing import Annotated

import msgspec
from msgspec import Meta

__all__ = ["Budget", "ReadingLimits"]

_Positive = Annotated[int, Meta(ge=1)]


class ReadingLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Caps on one document; whatever is beyond them is left out and marked.

    Attributes:
        max_content: bytes read of text formats; formats with an index at their end must be whole.
        max_markup: bytes of HTML; the time and memory of its readers grow with it.
        max_text: characters kept of the text, and as many again of the Markdown.
        max_unpacked: bytes unpacked of all parts of an office file or EPUB.
        max_members: entries of such a file.
        max_pages: of a PDF.
        max_rows: of a spreadsheet or CSV.
        max_links: links, images, media and files, each.
        max_data: structured data items, each kind.
        max_emails: e-mail addresses.
        seconds: CPU time of the process after which reading ends at the next page, part or row.
    """

    max_content: _Positive = 32 << 20
    max_markup: _Positive = 4 << 20
    max_text: _Positive = 4 << 20
    max_unpacked: _Positive = 64 << 20
    max_members: _Positive = 10_000
    max_pages: _Positive = 2_000
    max_rows: _Positive = 200_000
    max_links: _Positive = 20_000
    max_data: _Positive = 200
    max_emails: _Positive = 1_000
    seconds: Annotated[float, Meta(gt=0)] = 5.0


class Budget:
    """What is left of the limits while one document is read.

    Attributes:
        limits: of the reading.
        cut: something was left out because of them.
    """

    def __init__(self, limits: ReadingLimits) -> None:
        self.limits = limits
        self.cut = False
        self._end = time.process_time() + limits.seconds
        self._unpacked = limits.max_unpacked

    @property
    def late(self) -> bool:
        """Whether the time is used up; then what follows counts as cut."""
        if time.process_time() > self._end:
            self.cut = True
        return self.cut and time.process_time() > self._end

    def unpack(self, size: int) -> bool:
        """Take `size` unpacked bytes; false if fewer are left."""
        self._unpacked -= size
        if self._unpacked < 0:
            self.cut = True
        return self._unpacked >= 0
