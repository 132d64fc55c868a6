"""What each link of a mirrored document becomes."""

import re
from typing import Literal

import ada_url
import msgspec

from gossamer.extract.encodings.charset import codec_of
from gossamer.extract.html.character_references import unescape_attribute
from gossamer.extract.links import LinkMaker, Mention, Source
from gossamer.extract.rewriting.edits import Relinked
from gossamer.mirror.names import address_of
from gossamer.mirror.table import NOTE, Known, Table
from gossamer.model.link import LinkKind
from gossamer.model.url import Url

__all__ = ["DocumentLinks", "Outside", "Tally", "Targets"]

Outside = Literal["live", "note"]
"""Where a link leads whose page is not in the mirror: to the web, or to the mirror's note about such pages."""
_NOTHING = "data:,"
"""An empty document, in place of a picture or a script that is not there."""
_FORMS = frozenset({"form@action", "input@formaction"})
_HAS_SCHEME = re.compile(r"[\x00-\x20]*+[a-zA-Z][a-zA-Z0-9+.-]*+://")
_MOST_KEPT = 50_000


class Tally(msgspec.Struct):
    """Links of all documents, each once a document.

    Attributes:
        within: lead to another file of the mirror.
        outside: to hosts of which nothing is in the mirror.
        missing: to pages of its hosts that are not.
        requisites: pictures, style sheets and scripts that are not.
    """

    within: int = 0
    outside: int = 0
    missing: int = 0
    requisites: int = 0


class Targets:
    """Finds what links lead to; the same targets stand on many pages."""

    def __init__(self, table: Table, outside: Outside, tally: Tally) -> None:
        self._table = table
        self._kept: dict[str, Known | None] = {}
        self.outside: Outside = outside
        self.tally = tally

    def find(self, url: Url) -> Known | None:
        """The file of a URL; whoever asks needs it."""
        try:
            return self._kept[url.text]
        except KeyError:
            pass
        found = self._table.find(url)
        if found is not None and not found.wanted:
            self._table.want(found.key)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[url.text] = found
        return found

    def count_missing(self, url: Url, kind: LinkKind) -> None:
        """A link leads out of the mirror."""
        if kind is LinkKind.REQUISITE:
            self.tally.requisites += 1
        elif self._table.has_host(url.host):
            self.tally.missing += 1
        else:
            self.tally.outside += 1


class DocumentLinks:
    """The links of one document (`Relinking`)."""

    def __init__(self, targets: Targets, maker: LinkMaker, url: Url, file: str, charset: str) -> None:
        """Args:
        targets: of the mirror.
        maker: resolves addresses.
        url: of the document.
        file: that it lies in.
        charset: WHATWG name of its encoding.
        """
        self._targets = targets
        self._maker = maker
        self._url = self._base = url
        self._file = file
        self._charset = charset
        self._counted: set[str] = set()

    def on_base(self, address: str) -> str:
        """Other addresses, also those of scripts, start from the file of the base; if there is none, from here."""
        base = Url.parse(address, self._url.text) if address and len(address) <= 4096 else None
        if base is None or base.text == self._url.text:
            return ""
        self._base = base
        found = self._targets.find(base)
        if found is None:
            return ""
        start, self._file = self._file, found.file
        return address_of(found.file, start)

    def on_link(self, source: Source) -> Relinked | None:
        """A file of the mirror, or the whole address of what is not in it."""
        made = self._maker.make((source,), self._base, self._charset)
        if not made:
            return None
        url, kind = made[0].url, made[0].kind
        written = source.address if isinstance(source, Mention) else self._written(source)
        if self._is_here(written):
            return None
        fragment = _fragment(written)
        if kind is LinkKind.CANONICAL:  # it names the page that this is a copy of
            return _whole(url.text + fragment, written)
        found = None if made[0].element in _FORMS else self._targets.find(url)
        if found is not None:
            self._count(url, kind, here=True)
            return Relinked(address_of(found.file, self._file) + fragment, beside=True)
        self._count(url, kind, here=False)
        if self._targets.outside == "live":
            return _whole(url.text + fragment, written)
        if kind is LinkKind.REQUISITE:
            return Relinked(_NOTHING)
        return Relinked(f"{address_of(NOTE, self._file)}#{url.text}")

    def _written(self, source: bytes) -> str:
        return unescape_attribute(source.decode(codec_of(self._charset), "replace"))

    def _is_here(self, written: str) -> bool:
        """Whether it leads to a place in this very document."""
        start = written.lstrip("\t\n\f\r ")[:1]
        return start in ("", "#") and self._base is self._url

    def _count(self, url: Url, kind: LinkKind, *, here: bool) -> None:
        if url.text in self._counted:
            return
        self._counted.add(url.text)
        if here:
            self._targets.tally.within += 1
        else:
            self._targets.count_missing(url, kind)


def _whole(new: str, written: str) -> Relinked | None:
    """The whole address, unless it is there."""
    return None if _HAS_SCHEME.match(written) else Relinked(new)


def _fragment(address: str) -> str:
    """With its mark, as a URL has it."""
    at = address.find("#")
    return "" if at < 0 else ada_url.normalize_url("http://a/" + address[at:])[len("http://a/") :]
