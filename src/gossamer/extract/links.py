"""Links out of mentions: decoded, resolved, each once, remembered between pages.

Pages of a site repeat their navigation, so what a mention became under a directory is kept: a look-up costs a
twentieth of resolving. A path-relative reference depends on nothing of the base but its directory
(WHATWG URL 4.4, path state); those that depend on more (`?x`, `#f`, empty) are never kept.
"""

import codecs
import re
from collections.abc import Iterable

import msgspec

from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import codec_of
from gossamer.extract.html.character_references import unescape_attribute
from gossamer.extract.pauses import with_pauses
from gossamer.extract.shortcut import resolve_plain
from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url

__all__ = ["Dated", "LinkMaker", "Mention", "Source"]


class Mention(msgspec.Struct, frozen=True, gc=False):
    """An address in a document, as it stands there, character references and escapes replaced."""

    element: str
    kind: LinkKind
    address: str
    nofollow: bool = False
    key: str = ""

    def __post_init__(self) -> None:
        # Hashed often: a mention lives as long as the tag it was read from is remembered.
        follow = "nofollow" if self.nofollow else "follow"
        key = " ".join((self.element, self.kind, follow, self.address))
        msgspec.structs.force_setattr(self, "key", key)


class Dated(Mention, frozen=True, gc=False):
    """An address with the time at which its page changed, seconds since 1970."""

    lastmod: float = 0.0


Source = bytes | Mention
"""What a link is made of. Bytes are the source of a plain `a@href`, to be decoded only if it is new."""

_Made = tuple[str, Link]
"""A link, and what no two links of a page have in common."""
_Memo = dict[bytes | str, _Made | None]

LONGEST_ADDRESS = 16 << 10
"""Characters of an address; longer ones are data, not addresses."""
_BLANK = "".join(map(chr, range(0x21)))
_LINE_BREAKS = dict.fromkeys(map(ord, "\t\n\r"))
LONGEST_KEPT = 256
"""Characters of a directory or an address that is remembered; bounds the memo's memory."""
_UNKNOWN_SCHEME = re.compile(
    r"[\x00-\x20]*+(?:javascript|mailto|data|tel|about|blob|sms|whatsapp|skype):", re.IGNORECASE
)
_ENCODED = re.compile(r"[^\x21\x23-\x26\x28-\x3b\x3d\x3f-\x7e]")
"""What the special-query percent-encode set covers (WHATWG URL 1.3), by latin-1 characters for bytes."""


_MISSING: _Made = "", Link(Url("", "", "", 0, ""), LinkKind.SEED, "")
"""Stands for what is not remembered; told by identity."""


class LinkMaker:
    """Makes the links of pages, and remembers them.

    Shared by the extractors of a reader; a second thread may use it at the same time.
    """

    def __init__(self, config: ExtractConfig) -> None:
        self._config = config
        self._memos: dict[tuple[str, str], _Memo] = {}
        self._kept = 0

    def make(self, sources: Iterable[Source], base: Url, charset: str) -> tuple[Link, ...]:
        """The links of one document, in order, each URL and kind once.

        Args:
            sources: in document order.
            base: what addresses are resolved against.
            charset: WHATWG name of the encoding, for bytes and for queries.

        Of doubles that differ in `nofollow` the one that may be followed counts, and of dates the latest.
        """
        memo = self._memo(base, charset)
        here = base.text, Link(base, LinkKind.NAVIGATION, "a@href")
        found: dict[str, Link] = {}
        most, room = self._config.max_links, self._config.max_link_text
        for source in with_pauses(sources):
            made = memo.get(source if source.__class__ is bytes else source.key, _MISSING)  # type: ignore[union-attr]
            if made is _MISSING:
                if source.__class__ is bytes:
                    # Indexes lead to every section of a page: to us it is one address.
                    source = _without_fragment(source)  # noqa: PLW2901
                    made = memo.get(source, _MISSING) if source else here
                if made is _MISSING:
                    made = self._new(source, base, charset, memo)
            if made is None:
                continue
            key, link = made
            known = found.get(key)
            if source.__class__ is Dated:
                link = _dated(link, source, known)
                if known is not None:
                    found[key] = link
            if known is None:
                room -= len(key)
                if len(found) >= most or room < 0:
                    break
                found[key] = link
            elif known.nofollow and not link.nofollow:
                found[key] = link
        return tuple(found.values())

    def _memo(self, base: Url, charset: str) -> _Memo:
        directory = base.text
        if base.scheme in ("http", "https"):
            directory = directory[
                : directory.rfind("/", 0, directory.find("?") if "?" in directory else None) + 1
            ]
        if len(directory) > LONGEST_KEPT or self._config.memo_links == 0:
            return {}
        if self._kept >= self._config.memo_links:
            # Readers that still hold an old memo may go on with it.
            self._memos, self._kept = {}, 0
        return self._memos.setdefault((directory, charset), {})

    def _new(self, source: Source, base: Url, charset: str, memo: _Memo) -> _Made | None:
        if len(source if isinstance(source, bytes) else source.address) > LONGEST_ADDRESS:
            return None
        if isinstance(source, bytes):
            mention = Mention("a@href", LinkKind.NAVIGATION, _attribute(source, charset))
        else:
            mention = source
        address = mention.address
        if mention.kind is LinkKind.REQUISITE and address.lstrip(_BLANK).startswith("#"):
            return None  # a part of this very document, whatever its base: there is nothing to load
        plain = source if isinstance(source, bytes) else address.encode("utf-8", "replace")
        url = resolve_plain(plain, base) if base.scheme != "file" else None
        url = url or _resolve(address, base, charset)
        made = None
        if url:
            kind = mention.kind
            key = url.text if kind is LinkKind.NAVIGATION else " ".join((kind, url.text))
            made = key, Link(url, kind, mention.element, mention.nofollow)
        room = self._kept < self._config.memo_links
        if room and len(address) <= LONGEST_KEPT and _by_directory(address, base):
            memo[source if isinstance(source, bytes) else source.key] = made
            self._kept += 1
        return made


def _dated(link: Link, mention: Dated, known: Link | None) -> Link:
    """The link with its date, unless the one that is known has a later one."""
    if known is not None and known.lastmod >= mention.lastmod:
        return known
    return msgspec.structs.replace(link, lastmod=mention.lastmod)


def _without_fragment(source: bytes) -> bytes:
    """Cut at `#`, unless it belongs to a character reference (`&#38;`)."""
    at = source.find(b"#")
    return source[:at] if at >= 0 and source[at - 1 : at] != b"&" else source


def _attribute(source: bytes, charset: str) -> str:
    return unescape_attribute(source.decode(codec_of(charset), "replace"))


def _resolve(address: str, base: Url, charset: str) -> Url | None:
    if len(address) > LONGEST_ADDRESS or _UNKNOWN_SCHEME.match(address):
        return None
    if "\0" in address:
        address = address.replace("\0", "\ufffd")
    if charset != "utf-8" and not address.isascii():
        address = _encode_query(address, charset)
    return Url.parse(address, base.text)


def _by_directory(address: str, base: Url) -> bool:
    """Whether every document of the directory of `base` means the same by `address`."""
    first = address[:1]
    if first in "?#" or first <= " " or "\t" in address or "\n" in address or "\r" in address:
        return False  # `first in "?#"` is also true of the empty address
    # `http:?x` is relative to a base of the same scheme.
    start = len(base.scheme)
    return address[start : start + 1] != ":" or address[start + 1 : start + 3] == "//"


def _encode_query(address: str, charset: str) -> str:
    """Percent-encode the query in the document's encoding, as old servers expect (WHATWG URL 4.4)."""
    if charset.startswith("utf-16"):
        return address
    # What the URL parser takes away before anything else would be encoded, too, and stay.
    address = address.strip(_BLANK).translate(_LINE_BREAKS)
    rest, mark, fragment = address.partition("#")
    path, question, query = rest.partition("?")
    if not query or query.isascii():
        return address
    codec = "gbk" if charset == "gbk" else codec_of(charset)
    raw = query.encode(codec, "gossamer.url").decode("latin-1")
    return path + question + _ENCODED.sub(_percent, raw) + mark + fragment


def _percent(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def _as_reference(error: UnicodeError) -> tuple[str | bytes, int]:
    """What an encoding cannot say is said by character reference, already percent-encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    if characters == "€" and error.encoding == "gbk":
        return b"\x80", error.end  # which the standard's GBK has and Python's lacks
    return "".join(f"%26%23{ord(character)}%3B" for character in characters), error.end


codecs.register_error("gossamer.url", _as_reference)
