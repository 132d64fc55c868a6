"""PDF by PDFium: text, link annotations, addresses in the text, metadata.

PDFium is native code that reads hostile files for a living, yet it runs here only in a process that may be
killed. Between pages the budget is asked; within one page it cannot be.
"""

import ctypes
import re
from pathlib import Path
from typing import Any

import msgspec

from gossamer.documents.gathered import Gathered, addresses_in
from gossamer.documents.said import Mark

__all__ = ["pdf_version", "read_pdf"]

_PASSWORD_ERROR = 4
_SECURITY_ERROR = 5
_DATE = re.compile(r"D?:?\s*(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+\-Z])(?:(\d\d)'?(\d\d)?)?)?")
_BROKEN_WORD = re.compile("(?:\u00ad|\ufffe|\x02)[ \t]*\r?\n?")
_NO_AUTHOR = frozenset({"", "unknown", "anonymous", "user", "administrator", "root", "admin"})
_LONGEST_URI = 8_192
_MOST_ANNOTATIONS = 5_000


def pdf_version() -> str:
    """Of the library, for the record of what made a text."""
    from pypdfium2.version import PYPDFIUM_INFO

    return str(PYPDFIUM_INFO.version)


def read_pdf(content: bytes | Path, gathered: Gathered) -> None:
    """Take in all pages.

    Raises:
        ImportError: pypdfium2 is not installed.
    """
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        code = getattr(error, "err_code", 0)
        gathered.mark(Mark.ENCRYPTED if code in (_PASSWORD_ERROR, _SECURITY_ERROR) else Mark.BROKEN)
        return
    try:
        _metadata(document, gathered)
        count = len(document)
        if count > gathered.budget.limits.max_pages:
            gathered.budget.cut = True
        for number in range(min(count, gathered.budget.limits.max_pages)):
            if gathered.budget.late or (gathered.full and gathered.wants_text):
                gathered.budget.cut = True
                break
            try:
                page = document[number]
            except pdfium.PdfiumError:
                gathered.mark(Mark.BROKEN)
                continue
            try:
                _page(document, page, gathered)
            except pdfium.PdfiumError:
                gathered.mark(Mark.BROKEN)
            finally:
                page.close()
    finally:
        document.close()


def _page(document: Any, page: Any, gathered: Gathered) -> None:
    """Take in one page: its text is read once, for itself and for what its links say."""
    text_page = page.get_textpage()
    try:
        text = text_page.get_text_range() if text_page.count_chars() > 0 else ""
        _annotations(document, page, text_page, gathered)
    finally:
        text_page.close()
    text = _BROKEN_WORD.sub("", text).replace("\r\n", "\n").replace("\x00", "")
    for address in addresses_in(text):
        gathered.link(address, address)
    gathered.add(text.strip())


def _annotations(document: Any, page: Any, text_page: Any, gathered: Gathered) -> None:
    from pypdfium2 import raw

    position = ctypes.c_int(0)
    link = raw.FPDF_LINK()
    area = raw.FS_RECTF()
    for _ in range(_MOST_ANNOTATIONS):
        if not raw.FPDFLink_Enumerate(page, position, link):
            break
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        size = raw.FPDFAction_GetURIPath(document, action, None, 0)
        if not 1 < size <= _LONGEST_URI:
            continue
        buffer = ctypes.create_string_buffer(size)
        raw.FPDFAction_GetURIPath(document, action, buffer, size)
        label = ""
        if gathered.wants_text and raw.FPDFLink_GetAnnotRect(link, area):
            label = text_page.get_text_bounded(area.left, area.bottom, area.right, area.top)
        gathered.link(buffer.value.decode("utf-8", "replace"), label)


def _metadata(document: Any, gathered: Gathered) -> None:
    found = {name: value.strip().replace("\x00", "") for name, value in document.get_metadata_dict().items()}
    author = found.get("Author", "")
    gathered.metadata = msgspec.structs.replace(
        gathered.metadata,
        title=found.get("Title", ""),
        authors=(author,) if author.lower() not in _NO_AUTHOR else (),
        published=_iso(found.get("CreationDate", "")),
        modified=_iso(found.get("ModDate", "")),
        description=found.get("Subject", ""),
        keywords=tuple(
            filter(None, (word.strip() for word in re.split("[,;]", found.get("Keywords", "")[:10_000])))
        ),
        generator=found.get("Creator", "") or found.get("Producer", ""),
        language=_language(document),
    )


def _language(document: Any) -> str:
    from pypdfium2 import raw

    ask = getattr(raw, "FPDFCatalog_GetLanguage", None)
    if ask is None:
        return ""
    try:
        size = ask(document, None, 0)
        if not 2 < size < 200:
            return ""
        buffer = ctypes.create_string_buffer(size)
        ask(document, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    except (ctypes.ArgumentError, RuntimeError):
        return ""
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").strip().lower()


def _iso(value: str) -> str:
    match = _DATE.match(value)
    if match is None:
        return ""
    year, month, day, hour, minute, second, sign, off_hour, off_minute = match.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    if hour is None:
        return date
    zone = "Z" if sign == "Z" else f"{sign}{off_hour}:{off_minute or '00'}" if sign and off_hour else ""
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}"
