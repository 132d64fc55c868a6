"""Selectors of values in a page: CSS as Scrapy writes it, or XPath, and what is to be made of what they find.

.price                     text of the first element
.price | number            1299.5 of "EUR 1.299,50"
time::attr(datetime) | date
.tag | all                 a list
//h1/text()                XPath, known by its slash or bracket
a.next::attr(href) | url   an absolute address
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gossamer.extract.encodings.charset import decode
from gossamer.extract.fields.values import moment, number
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url

MOST_VALUES = 20_000
LONGEST_VALUE = 100_000
_CONVERSIONS = ("number", "date", "url", "html", "text")
_CONVERTED = re.compile(r"\s\|\s*([A-Za-z]+)\s*(?:\||$)")
_END = re.compile(r"::(?:(text)|attr\(\s*([A-Za-z_:][\w:.-]*)\s*\))\s*$")


class Selector(msgspec.Struct, frozen=True):
    """One selector, read.

    Attributes:
        path: of CSS or XPath.
        xpath: it is XPath.
        attribute: whose value is wanted, in place of the element's text.
        convert: what is made of it: `text`, `number`, `date`, `url`, `html`.
        all: a list of all, not the first.
    """

    path: str
    xpath: bool = False
    attribute: str = ""
    convert: str = "text"
    all: bool = False


def read_selector(text: str) -> Selector:
    """Read one selector.

    Raises:
        ConfigError: it cannot be read.
    """
    path, convert, every = text.strip(), "text", False
    while (bar := path.rfind("|")) >= 0 and (word := path[bar + 1 :].strip()) in (*_CONVERSIONS, "all"):
        if word == "all":
            every = True
        else:
            convert = word
        path = path[:bar].strip()
    xpath = path.startswith(("/", "(", "./", "xpath:"))
    attribute = ""
    path = path.removeprefix("xpath:").strip()
    if not xpath and (end := _END.search(path)) is not None:
        path, attribute = path[: end.start()], end[2] or ""
    if not path:
        raise ConfigError(f"{text!r} selects nothing; write e.g. '.price', 'h1', 'a.next::attr(href)'")
    selector = Selector(path, xpath, attribute, convert, every)
    try:
        Parsed(b"<html></html>", "utf-8").values(selector)
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever its parser raises
        if unknown := _CONVERTED.search(text):
            known = ", ".join((*_CONVERSIONS, "all"))
            raise ConfigError(f"{text!r}: unknown conversion {unknown[1]}; there are {known}") from None
        kind = "XPath" if xpath else "CSS"
        raise ConfigError(f"{text!r} is no selector of {kind}: {error}") from None
    return selector


class Parsed:
    """A page, parsed when the first selector asks; not to be used on the event loop.

    Attributes:
        cut: a selector found more values than were given.
    """

    def __init__(self, content: bytes, charset: str, url: Url | None = None) -> None:
        """`charset`: WHATWG name; `url`: what relative addresses refer to, unless the page says otherwise."""
        self._text = decode(content, charset)
        self._url = url
        self.cut = False
        self._lexbor: Any = None
        self._lxml: Any = None

    def value(self, selector: Selector) -> object:
        """What it selects: text, number, a list of these; `None` if there is nothing."""
        found = self.values(selector)
        if selector.all:
            return found or None
        return found[0] if found else None

    def values(self, selector: Selector) -> list[object]:
        """All that it selects, at most `MOST_VALUES`; what cannot be converted is left out."""
        nodes = self._by_xpath(selector) if selector.xpath else self._by_css(selector)
        convert = _CONVERT.get(selector.convert)
        values: list[object] = []
        for node in nodes:
            if len(values) >= MOST_VALUES:
                self.cut = True
                break
            text = node[:LONGEST_VALUE]
            value = self._address(text) if selector.convert == "url" else convert(text) if convert else text
            if value is not None and value != "":
                values.append(value)
                if not selector.all:
                    break
        return values

    def _by_css(self, selector: Selector) -> list[str]:
        if self._lexbor is None:
            from selectolax.lexbor import LexborHTMLParser

            self._lexbor = LexborHTMLParser(self._text)
        found: Sequence[Any] = self._lexbor.css(selector.path)
        if selector.attribute:
            return [node.attributes.get(selector.attribute) or "" for node in found]
        if selector.convert == "html":
            return [node.html or "" for node in found]
        return [" ".join(node.text(separator=" ").split()) for node in found]

    def _by_xpath(self, selector: Selector) -> list[str]:
        try:
            from lxml import etree, html
        except ImportError:
            raise ConfigError("XPath needs lxml: pip install 'gossamer[documents]'; CSS does not") from None
        if self._lxml is None:
            parser = html.HTMLParser(encoding="utf-8", no_network=True)
            self._lxml = html.document_fromstring(self._text.encode() or b"<html/>", parser=parser)
        found = self._lxml.xpath(selector.path)
        if not isinstance(found, list):
            return [str(found)]
        return [
            one
            if isinstance(one, str)
            else etree.tostring(one, encoding="unicode", with_tail=False)
            if selector.convert == "html"
            else " ".join(" ".join(one.itertext()).split())
            for one in found
        ]

    def _address(self, text: str) -> str | None:
        bases = self._by_css(Selector("base[href]", attribute="href")) if self._url is not None else []
        base = self._url.text if self._url is not None else None
        if bases and base is not None and (told := Url.parse(bases[0], base)) is not None:
            base = told.text
        url = Url.parse(text, base) if base is not None else Url.parse(text)
        return url.text if url is not None else None


_CONVERT: dict[str, Callable[[str], object]] = {"number": number, "date": moment}


def read_ignored(texts: Sequence[str]) -> tuple[Selector, ...]:
    """Selectors of elements that are left out of a page.

    Raises:
        ConfigError: one cannot be read, or is none of elements.
    """
    selectors = tuple(map(read_selector, texts))
    for text, selector in zip(texts, selectors, strict=True):
        if selector != Selector(selector.path):
            raise ConfigError(f"{text!r}: what is to be ignored is named by CSS alone, e.g. '.advertisement'")
    return selectors


def without(markup: str, ignored: Sequence[Selector]) -> str:
    """A page without the elements that selectors of CSS find; not to be called on the event loop."""
    if not ignored:
        return markup
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(markup)
    for selector in ignored:
        for node in reversed(page.css(selector.path)):  # what is within another goes first
            if node.parent is None or node.tag == "html":
                return ""
            node.decompose()
    return page.html or ""
