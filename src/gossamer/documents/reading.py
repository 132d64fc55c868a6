"""From the bytes of one document to all that it says, or to its links alone."""

import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from gossamer.documents.binary.image_size import image_size
from gossamer.documents.binary.pdf import pdf_version, read_pdf
from gossamer.documents.binary.play_time import play_time
from gossamer.documents.gathered import Gathered, emails_in
from gossamer.documents.kinds import Format, format_of, found_type, wide_text
from gossamer.documents.language import language_of
from gossamer.documents.limits import Budget, ReadingLimits
from gossamer.documents.markup.dates import iso_date
from gossamer.documents.office.epub import read_epub
from gossamer.documents.office.odf import read_odf
from gossamer.documents.office.ooxml import read_ooxml
from gossamer.documents.office.package import Package, PackageError
from gossamer.documents.office.rtf import read_rtf
from gossamer.documents.plain import read_plain
from gossamer.documents.said import Derived, DocumentText, Mark, Metadata, Reference
from gossamer.extract.encodings.charset import charset_of, decode

__all__ = ["links_of", "read"]

_DEFAULT = ReadingLimits()
_OWN_VERSION = "1"
_WHOLE = frozenset({Format.PDF, Format.WORD, Format.SLIDES, Format.SHEET, Format.ODF, Format.EPUB})
"""Formats whose index stands at the end: what is cut of them cannot be read."""
_TEXTUAL = frozenset({Format.TEXT, Format.MARKDOWN, Format.JSON, Format.XML, Format.CSV})
_SILENT = frozenset({Format.IMAGE, Format.AUDIO_VIDEO, Format.OTHER})
_FEW_BYTES = 64 << 10
_DECLARED = 0.9
"""How sure the text of a format is that says in so many words what its text is."""
_OFFICE = "application/x-ole-storage"
_UNKNOWN = "application/octet-stream"
_NO_CHARACTER = re.compile("[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd-\uffff]")
"""Controls that no text needs (WHATWG MIME Sniffing, binary data bytes), private use, what did not decode;
of zeros a text may have any number."""
_SAMPLE = 8_192
_GARBLED = 0.08
"""Share of such characters from which it is no text: of random bytes an eighth, in any encoding."""
_FEW = 8


def read(
    content: bytes | Path,
    url: str,
    content_type: str = "",
    limits: ReadingLimits = _DEFAULT,
    *,
    part: bool = False,
) -> DocumentText:
    """Everything that a document says.

    Args:
        content: of the document with its content codings undone, or a file that holds it. Of a file only what
            the limits allow is brought into memory.
        url: where it was found; its links are relative to it.
        content_type: the header as it stood, may be empty or wrong.
        limits: how much of it is read.
        part: what is given is known to be a part of the document.

    Returns:
        what was found; damage, encryption, limits reached become `marks`.

    Raises:
        OSError: the file cannot be read.
        MemoryError: it took more than the process may have.

    Pure and synchronous. CPU time is bounded by `limits.seconds` between its steps, not within one step of a
    library, so hostile documents are to be read in a process that may be ended.
    """
    said = _read(content, url, content_type, limits, wants_text=True)
    return msgspec.structs.replace(said, marks=(Mark.PART, *said.marks)) if part else said


def links_of(
    content: bytes | Path, url: str, content_type: str = "", limits: ReadingLimits = _DEFAULT
) -> tuple[tuple[Reference, ...], Metadata, tuple[Mark, ...]]:
    """The links of a document and what it says about itself, by the same code as `read`, without its text.

    For the road, where PDF, office files and EPUB are asked for links only. Arguments, errors: see `read`.
    """
    found = _read(content, url, content_type, limits, wants_text=False)
    return found.links, found.metadata, found.marks


def _read(
    content: bytes | Path, url: str, content_type: str, limits: ReadingLimits, *, wants_text: bool
) -> DocumentText:
    budget = Budget(limits)
    size = content.stat().st_size if isinstance(content, Path) else len(content)
    head = _head(content, _FEW_BYTES)
    kind = found_type(head, content_type, url)
    gathered = Gathered(budget, url, wants_text=wants_text)
    package: Package | None = None
    if kind == "application/zip":
        try:
            package = Package(content, budget)
            kind = package.media_type()
        except PackageError as error:
            gathered.mark(error.mark)
            declared = content_type.partition(";")[0].strip().lower()
            kind = declared if format_of(declared) in _WHOLE else kind
    form = format_of(kind)
    if form in _WHOLE or (isinstance(content, Path) and form is Format.OTHER):
        source: bytes | Path = content
    else:
        source = _head(content, limits.max_content)
        if len(source) < size and form not in _SILENT:
            budget.cut = True
    said = _Reading(source, url, content_type, kind, gathered, package).said(form)
    return _finished(said, gathered, content_type, size, form)


def _head(content: bytes | Path, most: int) -> bytes:
    if isinstance(content, bytes):
        return content if len(content) <= most else content[:most]
    with content.open("rb") as file:
        return file.read(most)


class _Reading:
    """Reads one document by the reader of its format."""

    def __init__(
        self,
        content: bytes | Path,
        url: str,
        content_type: str,
        kind: str,
        gathered: Gathered,
        package: Package | None,
    ) -> None:
        self._content = content
        self._url = url
        self._content_type = content_type
        self._kind = kind
        self._gathered = gathered
        self._package = package

    def said(self, form: Format) -> DocumentText:
        """What its reader found, without what is the same for all formats."""
        if form is Format.HTML or form in _TEXTUAL:
            text, charset = self._decoded()
            text = text.replace("\x00", "")
            if _is_no_text(text):
                self._gathered.mark(Mark.NOT_TEXT)
                return DocumentText(media_type=_UNKNOWN)
            return self._page(text, charset) if form is Format.HTML else self._text(form, text, charset)
        if self._package is not None and form in _WHOLE:
            return self._packed(form)
        if form in _WHOLE and form is not Format.PDF:
            self._gathered.mark(Mark.BROKEN)
            return DocumentText(media_type=self._kind)
        reader: dict[Format, Callable[[], DocumentText]] = {
            Format.PDF: self._pdf,
            Format.RTF: self._rtf,
            Format.IMAGE: self._image,
            Format.AUDIO_VIDEO: self._played,
        }
        return reader.get(form, self._other)()

    def _decoded(self) -> tuple[str, str]:
        content = self._content if isinstance(self._content, bytes) else b""
        wide = wide_text(content)
        if wide:
            return content.decode(wide, "replace"), wide.replace("utf-16-", "utf-16")
        domain = (urlsplit(self._url).hostname or "").rpartition(".")[2] if "://" in self._url else ""
        charset = charset_of(content, self._content_type, self._kind, domain) if content else "utf-8"
        return decode(content, charset), charset

    def _page(self, html: str, charset: str) -> DocumentText:
        try:
            from gossamer.documents.markup.page import read_page

            page = read_page(html, self._url, self._gathered)
        except ImportError:
            self._gathered.mark(Mark.MISSING_LIBRARY)
            from gossamer.documents.markup.visible_only import visible_only

            page = visible_only(html.encode("utf-8", "replace"), self._gathered)
        return DocumentText(
            media_type=self._kind,
            charset=charset,
            text=page.text,
            markdown=page.markdown,
            alternates=page.alternates,
            json_ld=page.json_ld,
            microdata=page.microdata,
            microformats=page.microformats,
            properties=page.properties,
        )

    def _text(self, form: Format, text: str, charset: str) -> DocumentText:
        read_plain(text, form, self._gathered)
        markdown = self._gathered.text if form is Format.MARKDOWN else ""
        said = DocumentText(media_type=self._kind, charset=charset)
        return self._with_texts(said, form.value, _OWN_VERSION, markdown)

    def _packed(self, form: Format) -> DocumentText:
        assert self._package is not None
        if form is Format.ODF:
            read_odf(self._package, self._gathered)
        elif form is Format.EPUB:
            read_epub(self._package, self._gathered)
        else:
            read_ooxml(self._package, form, self._gathered)
        self._gathered.mark(*self._package.marks)
        return self._with_texts(DocumentText(media_type=self._kind), form.value, _OWN_VERSION)

    def _pdf(self) -> DocumentText:
        try:
            read_pdf(self._content, self._gathered)
            made = pdf_version()
        except (ImportError, PackageNotFoundError):
            self._gathered.mark(Mark.MISSING_LIBRARY)
            made = ""
        return self._with_texts(DocumentText(media_type=self._kind), "pypdfium2", made)

    def _rtf(self) -> DocumentText:
        read_rtf(_bytes(self._content), self._gathered)
        return self._with_texts(DocumentText(media_type=self._kind), "rtf", _OWN_VERSION)

    def _image(self) -> DocumentText:
        return DocumentText(media_type=self._kind, dimensions=image_size(_bytes(self._content), self._kind))

    def _played(self) -> DocumentText:
        seconds, size = play_time(_bytes(self._content))
        return DocumentText(media_type=self._kind, duration=round(seconds, 3), dimensions=size)

    def _other(self) -> DocumentText:
        self._gathered.mark(Mark.UNSUPPORTED)
        if self._kind == _OFFICE and b"E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P" in _bytes(
            self._content
        ):
            self._gathered.mark(Mark.ENCRYPTED)
        return DocumentText(media_type=self._kind)

    def _with_texts(
        self, said: DocumentText, extractor: str, made_by: str, markdown: str | None = None
    ) -> DocumentText:
        gathered = self._gathered
        if not gathered.wants_text:
            return said
        damaged = not {Mark.BROKEN, Mark.ENTITIES, Mark.ENCRYPTED, Mark.EXPANDS}.isdisjoint(gathered.marks)
        fallback = Mark.FALLBACK in gathered.marks
        text = Derived(
            text=gathered.text,
            extractor=extractor,
            version=made_by,
            confidence=_DECLARED / 2 if damaged or fallback else _DECLARED if gathered.text else 0.0,
            cut=gathered.budget.cut,
            fallback=fallback,
        )
        shown = msgspec.structs.replace(text, text=markdown or gathered.markdown)
        return msgspec.structs.replace(said, text=text, markdown=shown)


def _is_no_text(text: str) -> bool:
    """Whether something decoded is no text, by its beginning."""
    sample = text[:_SAMPLE]
    wrong = len(_NO_CHARACTER.findall(sample))
    return wrong >= _FEW and wrong > _GARBLED * len(sample)


def _bytes(content: bytes | Path) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()


def _finished(
    said: DocumentText, gathered: Gathered, content_type: str, size: int, form: Format
) -> DocumentText:
    """What is the same for all formats: dates, language, addresses, marks."""
    metadata = gathered.metadata
    metadata = msgspec.structs.replace(
        metadata,
        title=" ".join(metadata.title[:4_000].split())[:1_000],
        published=iso_date(metadata.published),
        modified=iso_date(metadata.modified),
    )
    language, sure = "", 0.0
    if gathered.wants_text and form not in _SILENT:
        language, sure = language_of(said.text.text, metadata.language)
        if not said.text.text.strip() and {Mark.ENCRYPTED, Mark.NOT_TEXT}.isdisjoint(gathered.marks):
            gathered.mark(Mark.NO_TEXT)
    gathered.add_emails(emails_in(said.text.text))
    if gathered.budget.cut:
        gathered.mark(Mark.CUT)
    if _contradicts(content_type, said.media_type):
        gathered.mark(Mark.WRONG_TYPE)
    return msgspec.structs.replace(
        said,
        size=size,
        metadata=metadata,
        language=language,
        language_confidence=sure,
        emails=tuple(gathered.emails),
        links=gathered.links,
        files=gathered.files,
        images=gathered.images,
        media=gathered.media,
        marks=tuple(gathered.marks),
    )


def _contradicts(content_type: str, kind: str) -> bool:
    """Whether a header names a format, and another one than was found; a vague name is no contradiction."""
    declared = content_type.partition(";")[0].strip().lower()
    named = format_of(declared)
    if not declared or named in (Format.OTHER, Format.TEXT, Format.XML) or declared.endswith("/*"):
        return False
    return named is not format_of(kind)
