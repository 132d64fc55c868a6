"""What a media type is called in `type:` and in the facets."""

from gossamer.documents.kinds import Format, format_of
from gossamer.model.document import SCRIPT_TYPES

_CALLED = {
    Format.HTML: ("html", "htm", "page"),
    Format.TEXT: ("text", "txt"),
    Format.MARKDOWN: ("markdown", "md"),
    Format.JSON: ("json",),
    Format.XML: ("xml", "rss", "atom", "feed"),
    Format.CSV: ("csv", "tsv"),
    Format.PDF: ("pdf",),
    Format.WORD: ("word", "doc", "docx", "office"),
    Format.SLIDES: ("slides", "ppt", "pptx", "powerpoint", "office"),
    Format.SHEET: ("sheet", "xls", "xlsx", "excel", "office"),
    Format.ODF: ("odf", "odt", "ods", "odp", "office"),
    Format.EPUB: ("epub",),
    Format.RTF: ("rtf",),
}
_OLD_OFFICE = {"application/msword": Format.WORD, "application/vnd.ms-excel": Format.SHEET,
               "application/vnd.ms-powerpoint": Format.SLIDES}  # fmt: skip
CODE = "code"
"""What style sheets and scripts are called together: written for a browser, and no answer to words unless asked for."""
_CODE = {
    "text/css": ("css", CODE),
    **dict.fromkeys(SCRIPT_TYPES, ("javascript", "js", CODE)),
}


def names_of(media_type: str) -> tuple[str, ...]:
    """What a media type is called: first its name among the facets, then others that find it, itself the last.

    Args:
        media_type: essence in lower case; may be empty.
    """
    major = media_type.partition("/")[0]  # no name by itself: `text` are plain texts, not all of text/*
    called = _CODE.get(media_type) or _CALLED.get(_OLD_OFFICE.get(media_type) or format_of(media_type))
    if called is None:
        called = (major,) if major in ("image", "audio", "video") else ("other",)
    return (*called, media_type) if media_type else called
