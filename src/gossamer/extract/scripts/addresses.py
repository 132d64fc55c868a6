"""Tells which strings of scripts and data may be addresses, by their form and by where they stand.

One principle: a string is an address if it has the form that people give to addresses and to nothing else. So
a path from the root needs no more than plain segments, while `a/b`, which is also a media type, a date, a
class and a module, needs the ending of a file that browsers ask for; and a name that says "address" (`url:`,
`href=`, `fetch(`) stands for an ending. How much each form is to be believed is for
`policy.speculation.belief` to say, which learns.
"""

import re
from urllib.parse import urlsplit

from gossamer.policy.speculation.form import DOCUMENT_ENDINGS, PART_ENDINGS, SHOWN_ENDINGS, Form, ending_of

__all__ = ["form_of", "says_address"]

LONGEST = 1_024
"""Characters of an address."""
_IMPOSSIBLE = re.compile(
    r"[\x00-\x20<>\"'`{}\[\]|\\^*$()\x7f]|%(?![0-9A-Fa-f]{2})|(?:\A|/):|\.\.\.|/\.?/(?<!:/)"
)
"""What no address has that is written out: blanks, markup, patterns, places that are left to be filled in."""
_FILES = DOCUMENT_ENDINGS | SHOWN_ENDINGS
_SYSTEM = re.compile(r"/(?:usr|etc|s?bin|var|tmp|proc|Users|path/to)(?:/|\Z)")
_LETTER = re.compile(r"[^\W\d_][^\W_]|~")
"""A letter that does not stand alone: `/g` is a regular expression, `1/2` a fraction."""
_CODED = re.compile(r"(?=[^/]*[a-z])(?=[^/]*[A-Z])(?=[^/]*\d)[A-Za-z0-9+]{33,}")
_HIDDEN = re.compile(r"(?:\A|/)\.[^./][^/]*+\Z")
"""A name that begins with a dot: an ending by itself, or a file that no server shows."""
_NAMESPACES = re.compile(
    r"https?://(?:www\.w3\.org/(?:\d{4}/(?!\d\d/)|XML/|ns/)|schema\.org/?\Z|ns\.adobe\.com/|purl\.org/|ogp\.me/|"
    r"xmlns\.com/|schemas\.|json-schema\.org/|www\.sitemaps\.org/schemas/|reactjs\.org/docs/error-decoder)"
)
"""Names that look like addresses; nothing is there for a reader."""
_HOST = re.compile(
    r"(?:(?:[\w-]++\.)++(?<!\d\.)[\w-]{2,}+|localhost|\[[0-9a-f:.]++\]|\d++(?:\.\d++){3}+)(?::\d{1,5})?",
    re.IGNORECASE,
)
_MERE_NAME = re.compile(r"[\w.~%+,=@&;-]++(?:/[\w.~%+,=@&;-]*+)*+(?:[?#].*+)?+")
_QUERY = re.compile(r"\?[\w.~%-]++=[^=&]*+(?:&[\w.~%-]++=?+[^=&]*+)*+")
_BEFORE = re.compile(r"([\w$@-]++)[\"']?+\s*+[:=(,]\s*+[\[(]?+\s*+\Z")
_CALLS = frozenset(
    "fetch open load assign ajax get post getjson register addall importscripts url worker eventsource sendbeacon "
    "loadindex to @id".split()
)
_NAMES = tuple(
    "url href src link location uri permalink image img poster logo icon avatar thumbnail file next cover".split()
)
_BEGINNINGS = "base", "publicp", "assetp", "assetsp", "scope", "prefix"
NEAR = 48
"""Characters before a string that may say what it is."""


def says_address(before: str) -> bool | None:
    """Whether the text just before a string says that an address follows (`href: `, `fetch(`).

    `None` if it says that only the beginning of one does (`baseUrl: `).
    """
    match = _BEFORE.search(before[-NEAR:])
    if match is None:
        return False
    name = match[1].lower()
    if name.startswith(_BEGINNINGS):
        return None
    return name in _CALLS or name.endswith(_NAMES)


def form_of(text: str, *, named: bool = False) -> Form | None:
    """The form of an address, `None` if the string is none.

    Args:
        text: the string, escapes replaced.
        named: a name says that it is an address.
    """
    if not 2 <= len(text) <= LONGEST or text[0] == "#" or text[0] == "@":
        return None
    if text.startswith(("http", "//")):
        return _whole(text)
    if _IMPOSSIBLE.search(text) or ":" in text.partition("/")[0] or not _LETTER.search(text):
        return None
    path = re.split(r"[?#]", text, maxsplit=1)[0]
    if _CODED.search(path) or _HIDDEN.search(path):
        return None
    ending = ending_of(path)
    if text[0] == "/":
        return Form.ROOT if len(path) > 2 and not _SYSTEM.match(path) else None
    if text.startswith(("./", "../")):
        return Form.DOT if ending in _FILES or ending in PART_ENDINGS or path.endswith("/") else None
    if text[0] == "?":
        return Form.QUERY if _QUERY.fullmatch(text) else None
    if not _MERE_NAME.fullmatch(text):
        return None
    if ending in _FILES:
        return Form.FILE
    if ending in PART_ENDINGS:
        return Form.PART
    return Form.NAME if named and "/" in path else None


def _whole(text: str) -> Form | None:
    if not text.startswith(("http://", "https://", "//")) or _IMPOSSIBLE.search(text.partition("//")[2]):
        return None
    try:
        host, path = urlsplit(text)[1:3]
    except ValueError:
        return None
    if not _HOST.fullmatch(host) or _NAMESPACES.match(text):
        return None
    if text[0] == "/" and len(path) < 2:
        return None
    return Form.WHOLE
