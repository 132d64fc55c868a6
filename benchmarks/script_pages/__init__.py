"""Scripted pages with planted links, and with strings that only look like links; written before the code.

In `pages_*.txt` each page begins with a line `=== name | kind | URL [| media type]`. A planted link stands in
`«...»`, where it is not resolved against the page's URL as `«as written→address»`; a look-alike in `‹...›`. The
marks are taken out. Whatever is not planted must not be found.
"""

import re
from pathlib import Path

import msgspec

from gossamer.model.url import Url

_PLANTED = re.compile(r"«([^»→]*)(?:→([^»]*))?»")
_ALIKE = re.compile(r"‹([^›]*)›")


class ScriptPage(msgspec.Struct, frozen=True):
    """One document.

    Attributes:
        kind: what of the web it stands for.
        planted: whole addresses that a browser would ask for, or lead to.
        alikes: strings that are none, as written.
    """

    name: str
    kind: str
    url: Url
    media_type: str
    content: bytes
    planted: frozenset[str]
    alikes: tuple[str, ...]


def script_pages() -> list[ScriptPage]:
    """All pages, in order."""
    pages = []
    for file in sorted(Path(__file__).parent.glob("pages_*.txt")):
        for part in file.read_text(encoding="utf-8").split("=== ")[1:]:
            head, _, marked = part.partition("\n")
            pages.append(_page([field.strip() for field in head.split("|")], marked))
    return pages


def _page(head: list[str], marked: str) -> ScriptPage:
    url = Url.parse(head[2])
    assert url is not None, head
    planted = set()
    for match in _PLANTED.finditer(marked):
        written = match[2] if match[2] is not None else match[1]
        target = Url.parse(written, url.text)
        assert target is not None, written
        planted.add(target.text.partition("#")[0])
    return ScriptPage(
        head[0],
        head[1],
        url,
        head[3] if len(head) > 3 else "text/html",
        _ALIKE.sub(r"\1", _PLANTED.sub(r"\1", marked)).encode(),
        frozenset(planted),
        tuple(_ALIKE.findall(marked)),
    )
