"""Where a speculative address stood, how it was written, and how far such ones are to be believed at first.

Answers of a search form to words are speculative addresses, too. A page mentions a form (`form_of_page`); what is
asked of it is known by the form as others see it, path and names of fields, and by the word (`question`).
"""

import re
from enum import StrEnum

import xxhash

from gossamer.model.url import Url

__all__ = [
    "ASIDE",
    "DOCUMENT_ENDINGS",
    "FORM",
    "PART_ENDINGS",
    "SHOWN_ENDINGS",
    "Form",
    "Where",
    "element_of",
    "ending_of",
    "form_of_page",
    "form_within",
    "group_of",
    "is_form",
    "is_question",
    "known_as",
    "prior",
    "question",
    "summed_as",
    "word_of",
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
    if element.startswith(_QUESTION):
        return _FORMS
    place, _, written = element.partition(": ")
    named = written.endswith(_MARK)
    where, form = Where(place), Form(written.removesuffix(_MARK))
    if where in _SURE:
        return _SURE[where]
    belief = min(_BY_FORM[form] + _NAMED * named, _SUREST)
    return belief * _UNFOUNDED if where in ASIDE and form in _RELATIVE else belief


FORM = "form"
_FORMS = 0.7
"""Of whatever a form answers; at `forms.min_yield` .2 one that has never brought anything is left after eight words."""
_PAGE, _QUESTION = f"{FORM} ", f"{FORM} /"
_LONGEST_FORM = 80


def form_of_page(charset: str, field: str) -> str:
    """Where a link stood that is a form: its encoding and the name, as it stands in the query, of its open field."""
    return f"{_PAGE}{charset} {field}"


def is_form(element: str) -> bool:
    """Whether it is a form of a page, before any word is filled in."""
    return element.startswith(_PAGE) and not is_question(element)


def form_within(element: str) -> tuple[str, str]:
    """What `form_of_page` was made of."""
    _, charset, field = element.split(" ")
    return charset, field


def known_as(url: Url) -> str:
    """A form by where it sends to and the names of its fields, whatever stands in them; at most 80 characters."""
    names = "&".join(part.partition("=")[0] for part in url.query.split("&"))
    text = f"{FORM} {url.path}?{names}"
    if len(text) <= _LONGEST_FORM:
        return text
    return f"{text[: _LONGEST_FORM - 17]}~{xxhash.xxh3_64_hexdigest(text.encode())}"


def question(form: str, word: str) -> str:
    """Where a link stood that is a form, as `known_as`, with a word filled in."""
    return f"{form}: {word}"


def is_question(element: str) -> bool:
    """Whether it is a form with a word filled in."""
    return element.startswith(_QUESTION)


def group_of(element: str) -> str:
    """What is believed as one: all words of a form, and all strings of one kind."""
    return element.partition(": ")[0] if is_question(element) else element


def word_of(element: str) -> str:
    """The word that was filled in."""
    return element.partition(": ")[2]


def summed_as(element: str) -> str:
    """Under which name a crawl counts what came of it: of forms there are as many as sites."""
    return FORM if is_question(element) else element
