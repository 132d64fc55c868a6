"""Where a speculative address stood, how it was written, and how far such ones are to be believed at first."""

import re
from enum import StrEnum

__all__ = [
    "ASIDE",
    "DOCUMENT_ENDINGS",
    "PART_ENDINGS",
    "SHOWN_ENDINGS",
    "Form",
    "Where",
    "element_of",
    "ending_of",
    "prior",
]

DOCUMENT_ENDINGS = frozenset(
    "html htm xhtml shtml php asp aspx jsp jspx do cgi pl cfm txt pdf rss atom xml csv geojson kml gpx ics zip gz "
    "doc docx xls xlsx ppt pptx odt ods odp epub".split()
)
"""Endings of what people read or take along."""
SHOWN_ENDINGS = frozenset(
    "vtt jpg jpeg png gif webp avif svg ico bmp mp3 mp4 m4a m4v ogg ogv webm wav flac swf woff woff2 ttf "
    "webmanifest".split()
)
"""Endings of what a browser loads to show a page."""
PART_ENDINGS = frozenset("js mjs cjs css json map wasm".split())
"""Endings of parts of programs, which a browser loads as well."""
_ENDING = re.compile(r"[^/]\.([A-Za-z][A-Za-z0-9]{0,11})\Z")


def ending_of(path: str) -> str:
    """The ending of a path in small letters, empty if it has none."""
    match = _ENDING.search(path)
    return match[1].lower() if match else ""


class Where(StrEnum):
    """The place of a string."""

    SCRIPT = "script"  # within a page
    FILE = "script file"
    IMPORT = "import"  # where a script names another one
    DATA = "data"  # JSON within a page, and `data-` attributes
    DATA_FILE = "data file"  # JSON by itself
    EVENT = "event"  # an event attribute, `onclick`
    MARKUP = "markup"  # HTML within any of them


class Form(StrEnum):
    """How an address is written."""

    WHOLE = "whole"  # with its host
    ROOT = "root"  # from the root of the host
    DOT = "dot"  # by `./` or `../`
    QUERY = "query"  # of the page's own path
    FILE = "file"  # a mere name, with an ending that browsers ask for
    PART = "part"  # the same with the ending of a part of a program, as names of modules have it
    NAME = "name"  # a mere path, where a name says that it is one


_BY_FORM = {
    Form.WHOLE: 0.8,
    Form.ROOT: 0.7,
    Form.DOT: 0.5,
    Form.QUERY: 0.3,
    Form.FILE: 0.5,
    Form.PART: 0.25,
    Form.NAME: 0.2,
}
"""Of a string that stands anywhere; `benchmarks.script_links` shows what came of each."""
_NAMED = 0.2
"""What it adds that a name says that an address follows: `href:`, `fetch(`."""
_SURE = {Where.IMPORT: 0.9, Where.MARKUP: 0.7}
"""Places that hold nothing but addresses."""
ASIDE = frozenset({Where.FILE, Where.DATA_FILE})
"""Files that do not know what their relative addresses are resolved against: each page that loads them does."""
_RELATIVE = frozenset({Form.DOT, Form.QUERY, Form.FILE, Form.PART, Form.NAME})
_UNFOUNDED = 0.7
_SUREST = 0.95
"""Nothing is certain: at `speculation.min_belief` 1 no guess is visited."""
_MARK = " named"


def element_of(where: Where, form: Form, *, named: bool = False) -> str:
    """How both are written where a link says where it stood: `script: root`, `data: file named`."""
    return f"{where}: {form}{_MARK if named else ''}"


def prior(element: str) -> float:
    """How likely an address that stood there leads to something, before any was tried; 0 to 1."""
    place, _, written = element.partition(": ")
    named = written.endswith(_MARK)
    where, form = Where(place), Form(written.removesuffix(_MARK))
    if where in _SURE:
        return _SURE[where]
    belief = min(_BY_FORM[form] + _NAMED * named, _SUREST)
    return belief * _UNFOUNDED if where in ASIDE and form in _RELATIVE else belief
