"""Puts links on paper: writes the HTML of a page whose links are already decided."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from gossamer.simweb.world.dice import Dice, fingerprint
from gossamer.simweb.world.prose import charset as charset_of
from gossamer.simweb.world.prose import paragraphs
from gossamer.simweb.world.resource import Link

_HEAD_ELEMENTS = frozenset({"canonical", "alternate", "next", "prev", "stylesheet", "refresh", "style"})
_LIST = 12  # so many links stand in a list, the others in the text

_FORMS = {
    "a": '<a href="{}">page {}</a>',
    "nofollow": '<a href="{}" rel="external nofollow">page {}</a>',
    "area": '<map name="m{1}"><area shape="rect" coords="0,0,9,9" href="{0}" alt=""></map>',
    "iframe": '<iframe src="{}" title="{}"></iframe>',
    "form": '<form action="{}" method="get"><input name="q{}"></form>',
    "img": '<img src="{}" alt="{}">',
    "script": '<script src="{}" async></script>',
    "stylesheet": '<link rel="stylesheet" href="{}">',
    "style": "<style>body {{ background: url({}) }}</style>",
    "refresh": '<meta http-equiv="refresh" content="30; url={}">',
    "canonical": '<link rel="canonical" href="{}">',
    "alternate": '<link rel="alternate" hreflang="en" href="{}">',
    "next": '<link rel="next" href="{}">',
    "prev": '<link rel="prev" href="{}">',
}

# Each still holds the one link; the parsing rules of HTML leave no doubt about it.
_BROKEN_ANCHORS = (
    "<A HREF='{}'>page {}",
    "<a href={} class=x>page {}</b></a>",
    '<a\nhref\n=\n"{}" href="/never-there.html">page {}</a></p>',
    '<a title="1 > 0" href="{}"">page {}</a>',
    '<div><a id="x"/href="{}">page {}</div></a>',
    '<p><b><a href="  {}\n">page {}</p></b></a>',
    '<!-- <a href="/never-there.html"> --><a/href="{}">page {}</a>',
    '<!--><a href="{}">page {}</a><!-- --!>',
    '<script>var x = "<a href=/never-there.html>";</script><a href="{}">page {}</a>',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What one page needs to be written: everything here is known before a byte of HTML is.

    Attributes:
        key: number that decides which text is cut from the pool.
        declaration: how the charset is told: `header`, `meta`, `none` or `bom`.
        size: bytes to reach, roughly.
        anchors: further links, written by `anchor`.
        menu: links that many pages share, written by `menu`.
        broken: whether to write as badly as browsers forgive.
    """

    seed: int
    key: int
    title: str
    charset: str = "utf-8"
    declaration: str = "header"
    links: tuple[Link, ...] = ()
    size: int = 0
    anchors: Sequence[str] = ()
    menu: str = ""
    broken: bool = False

    def write(self) -> bytes:
        """The page as bytes in its encoding."""
        charset = charset_of(self.charset)
        text = self._text(charset.label, charset.language)
        mark = charset.mark if self.declaration == "bom" else b""
        return mark + text.encode(charset.codec, "xmlcharrefreplace")

    def _text(self, label: str, language: str) -> str:
        declared = f'<meta charset="{label}">\n' if self.declaration == "meta" else ""
        write = self._broken_anchor() if self.broken else anchor
        heads, inner = [], []
        for number, link in enumerate(self.links, 1):
            if link.element == "a" and not link.nofollow:
                inner.append(write(link.href, number))
            elif link.element in _HEAD_ELEMENTS:
                heads.append(_form(link, number))
            else:
                inner.append(_form(link, number))
        inner.extend(self.anchors)
        head = "\n".join(heads)
        start = (
            f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n{declared}<title>{self.title}</title>\n'
            f'<meta name="description" content="Page of a simulated web.">\n{head}\n</head>\n'
            f"<body>\n{self.menu}<h1>{self.title}</h1>\n<ul>\n<li>"
        )
        return (
            start
            + "\n<li>".join(inner[:_LIST])
            + "\n</ul>\n"
            + self._prose(inner[_LIST:], language, len(start))
        )

    def _prose(self, links: Sequence[str], language: str, written: int) -> str:
        """Paragraphs until the size is reached, the links spread over them."""
        pool, mean = paragraphs(language, self.seed)
        # Text beyond ASCII counts by its bytes in the page's encoding, near enough two each.
        wide = 1 if language == "en" else 2
        missing = max(0, self.size - written - sum(map(len, links)))
        count = max(missing // (wide * (mean + 8)), 1)
        start, stride = self.key % len(pool), 1 + 2 * ((self.key >> 8) % 60)
        texts = [pool[(start + turn * stride) % len(pool)] for turn in range(count)]
        for turn, link in enumerate(links):
            texts[turn % count] += " " + link
        end = "" if self.broken else "</p>\n</body>\n</html>\n"
        return "<p>" + ("\n<p>" if self.broken else "</p>\n<p>").join(texts) + end

    def _broken_anchor(self) -> Callable[[str, int], str]:
        dice = Dice(self.key, "broken")

        def write(href: str, number: int) -> str:
            form = dice.pick(_BROKEN_ANCHORS)
            return form.format(escape(href, quote=True), number)

        return write


def menu(links: Sequence[Link]) -> str:
    """The navigation that pages of one folder share, as sites have it."""
    items = "\n".join(f"<li>{anchor(link.href, number)}" for number, link in enumerate(links, 1))
    return f"<nav>\n<ul>\n{items}\n</ul>\n</nav>\n" if links else ""


def anchor(href: str, number: int) -> str:
    """A plain link with its text."""
    if "&" in href or '"' in href:
        href = escape(href, quote=True)
    return f'<a href="{href}">page {number}</a>'


def _form(link: Link, number: int) -> str:
    form = _FORMS["nofollow" if link.nofollow else link.element]
    return form.format(escape(link.href, quote=True), number)


def html_type(charset: str, declaration: str) -> str:
    """The Content-Type of a page so declared."""
    return f"text/html; charset={charset_of(charset).label}" if declaration == "header" else "text/html"


def key_of(*key: int | str) -> int:
    """Number of a sheet, for `Sheet.key`."""
    return fingerprint(*key)
