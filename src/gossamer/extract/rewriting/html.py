"""Other addresses for a page.

A tag is found by the scan that finds links (`tokenize`), so what the crawl followed is what changes. Only the
values of attributes that lead somewhere, and style sheets within the page, become others; inline scripts stay.
"""

from collections.abc import Iterator

import msgspec

from gossamer.extract.addresses import refresh_place, srcset_places
from gossamer.extract.encodings.charset import codec_of
from gossamer.extract.encodings.labels import NOT_ASCII
from gossamer.extract.encodings.prescan import prescan
from gossamer.extract.html.character_references import unescape_text
from gossamer.extract.html.tag_grammar import (
    AttributePlace,
    Tag,
    Token,
    Tokens,
    attribute_places,
    attributes_of,
)
from gossamer.extract.html.templates import has_templates, without_templates
from gossamer.extract.html.tokens import tokenize
from gossamer.extract.links import Mention
from gossamer.extract.relations import kind_of_relation
from gossamer.extract.rewriting.css import relinked_sheet, relinked_style
from gossamer.extract.rewriting.edits import Edit, Relinked, Relinking, edited, replaced, value_edit
from gossamer.model.link import LinkKind

__all__ = ["relinked_html"]

_NAVIGATION = {
    ("a", "href"), ("a", "xlink:href"), ("area", "href"), ("form", "action"), ("frame", "src"), ("iframe", "src"),
    ("frame", "longdesc"), ("iframe", "longdesc"), ("img", "longdesc"), ("input", "formaction"),
}  # fmt: skip
_REQUISITES = {
    ("audio", "src"), ("body", "background"), ("embed", "src"), ("feimage", "href"), ("feimage", "xlink:href"),
    ("image", "href"), ("image", "src"), ("image", "xlink:href"), ("img", "src"), ("input", "src"),
    ("object", "data"), ("script", "href"), ("script", "src"), ("script", "xlink:href"), ("source", "src"),
    ("table", "background"), ("td", "background"), ("th", "background"), ("tr", "background"), ("track", "src"),
    ("use", "href"), ("use", "xlink:href"), ("video", "poster"), ("video", "src"),
    ("image", "data-src"), ("image", "data-lazy-src"), ("image", "data-original"), ("img", "data-src"),
    ("img", "data-lazy-src"), ("img", "data-original"), ("source", "data-src"), ("source", "data-lazy-src"),
    ("source", "data-original"),
}  # fmt: skip
_SETS = frozenset({"srcset", "data-srcset", "data-lazy-srcset", "imagesrcset"})
_WITH_SETS = frozenset({"image", "img", "source", "link"})
_PROVEN = frozenset({"integrity", "crossorigin"})
"""What asks a server for more than a file can say: browsers refuse such parts of a page that lies on a disk."""
_HINTS = frozenset({"preconnect", "dns-prefetch"})
"""They ask for a connection to a host that a page on a disk does not need."""
_POLICY = "content-security-policy"
"""A policy of the page names the site that it came from, and would forbid what lies beside it now."""
_SPACES = "\t\n\f\r "
_HEAD_BYTES = 1_024


def relinked_html(content: bytes, charset: str, links: Relinking, *, xml: bool = False) -> bytes:
    """The page with other addresses, and with a note of its encoding if it has none that says the same.

    Args:
        content: the page, content codings undone.
        charset: WHATWG name of its encoding.
        links: knows what its addresses become.
        xml: it is XHTML or SVG.
    """
    if charset not in NOT_ASCII:
        return edited(content, html_edits(content, charset, links, xml=xml))
    codec = codec_of(charset)
    text = content.decode(codec, "replace")
    if text.encode(codec, "replace") != content:
        return content  # it could not be written back as it was
    source = text.encode("utf-8", "surrogatepass")
    changed = edited(source, _relinked(source, "utf_8", links, xml=xml))
    return changed.decode("utf-8", "surrogatepass").encode(codec)


def html_edits(content: bytes, charset: str, links: Relinking, *, xml: bool = False) -> list[Edit]:
    """What changes in a page whose ASCII bytes are ASCII characters; as `relinked_html`."""
    edits = _relinked(content, codec_of(charset), links, xml=xml)
    return edits if xml else [*_with_charset(content, charset), *edits]


def _with_charset(content: bytes, charset: str) -> Iterator[Edit]:
    """Say the encoding where only the server did, for there is none any more.

    UTF-8 has a mark that stands before all else. The others are declared where the standard looks, and behind the
    doctype, without which a page would be shown by other rules.
    """
    if content.isascii() or content.startswith(b"\xef\xbb\xbf") or prescan(content) == charset:
        return
    if charset == "utf-8":
        yield Edit(0, 0, b"\xef\xbb\xbf")
        return
    place = 0
    for token, start in _placed(tokenize(content[:_HEAD_BYTES], _HEAD_BYTES, places=True)):
        if not isinstance(token, bytes) and _as_tag(token).name == b"html":
            place = content.find(b">", start) + 1
    if not place and content[:_HEAD_BYTES].lstrip()[:9].lower() == b"<!doctype":
        place = content.find(b">") + 1
    yield Edit(place, place, f'<meta charset="{charset}">'.encode("ascii"))


def _relinked(content: bytes, codec: str, links: Relinking, *, xml: bool) -> list[Edit]:
    tokens = tokenize(content, len(content) + 1, xml=xml, places=True)
    page = _Page(codec, links, _base_of(content, tokens, codec, xml=xml))
    known: dict[Token, list[Edit]] = {}
    edits: list[Edit] = []
    for token, start in _placed(tokens):
        changes = known.get(token)
        if changes is None:
            changes = page.on_token(token)
            if not isinstance(token, Tag) or not token.content:
                known[token] = changes  # pages say most of what they say several times
            else:
                changes += page.on_style(token, content, start)
        edits += [Edit(start + one.start, start + one.end, one.new) for one in changes]
    return edits


def _placed(tokens: Tokens) -> Iterator[tuple[Token, int]]:
    assert tokens.starts is not None
    return zip(tokens.found, tokens.starts, strict=True)


def _as_tag(token: tuple[bytes, bytes] | Tag) -> Tag:
    return token if isinstance(token, Tag) else Tag(*token)


def _base_of(content: bytes, tokens: Tokens, codec: str, *, xml: bool) -> tuple[bytes, str] | None:
    """Source of the attributes, and address, of the `base` element that counts."""
    found = next(_bases(tokens, codec), None)
    if found is not None and has_templates(content):
        outside = tokenize(without_templates(content), len(content) + 1, xml=xml)
        found = next(_bases(outside, codec), None)
    return found


def _bases(tokens: Tokens, codec: str) -> Iterator[tuple[bytes, str]]:
    for token in tokens.found:
        if not isinstance(token, bytes):
            tag = _as_tag(token)
            if tag.name == b"base" and "href" in (attributes := attributes_of(tag, codec)):
                yield tag.attributes, attributes["href"]


class _Page:
    """Changes of the tokens of one page; places count from where the token begins."""

    def __init__(self, codec: str, links: Relinking, base: tuple[bytes, str] | None) -> None:
        self._codec = codec
        self._links = links
        self._base = base
        self._new_base = links.on_base(base[1]) if base is not None else ""

    def on_token(self, token: Token) -> list[Edit]:
        """What changes in a plain link, or in the attributes of a tag."""
        if not isinstance(token, bytes):
            return self._attributes(_as_tag(token))
        new = self._links.on_link(token)
        return [] if new is None else [Edit(0, len(token), self._escaped(new.address, b""))]

    def on_style(self, tag: Tag, content: bytes, start: int) -> list[Edit]:
        """What changes in the content of a `style` element whose attributes begin at `start`."""
        if tag.name != b"style":
            return []
        begin = content.index(b">", start + len(tag.attributes)) + 1 - start
        if not tag.foreign or b"&" not in tag.content:
            new = relinked_sheet(tag.content, self._codec, self._links)
        elif tag.content.lstrip().startswith(b"<!["):
            return []
        else:
            text = unescape_text(tag.content.decode(self._codec, "replace"))
            new = self._escaped(relinked_style(text, self._links), b"")
        return [Edit(begin, begin + len(tag.content), new)]

    def _attributes(self, tag: Tag) -> list[Edit]:
        values = attributes_of(tag, self._codec)
        places = {place.name: place for place in attribute_places(tag.attributes)}
        name, found, beside = tag.name.decode("latin-1"), list[tuple[AttributePlace, str | None]](), False
        for key, place in places.items():
            value = values[key]
            if key == "style":
                changed: Relinked | None = _text(value, relinked_style(value, self._links))
            elif name == "base":
                changed = Relinked(self._base_address(tag)) if key == "href" else None
            elif name == "meta":
                changed = self._meta(values) if key == "content" else None
            elif key == "srcdoc":
                changed = self._inner(value) if name == "iframe" else None
            elif key in _SETS:
                changed = self._set(name, key, values) if name in _WITH_SETS else None
            else:
                changed = self._address(name, key, values)
            if changed is not None and changed.address != value:
                found.append((place, changed.address))
                beside = beside or changed.beside
        if beside:
            found += [(place, None) for key, place in places.items() if key in _PROVEN]
        return [self._edit(*each) for each in sorted(found, key=lambda one: one[0].start)]

    def _edit(self, place: AttributePlace, value: str | None) -> Edit:
        if value is None:
            return Edit(place.start, place.end, b"")
        return value_edit(place, self._escaped(value, place.quote or b'"'))

    def _escaped(self, text: str, quote: bytes) -> bytes:
        text = text.replace("&", "&amp;").replace("<", "&lt;")
        if quote != b"'":
            text = text.replace('"', "&quot;")
        if quote != b'"':
            text = text.replace("'", "&#39;")
        return text.encode(self._codec, "xmlcharrefreplace")

    def _base_address(self, tag: Tag) -> str:
        """Only the first counts; another would count if it were in its place."""
        return self._new_base if self._base is not None and tag.attributes == self._base[0] else ""

    def _address(self, element: str, name: str, values: dict[str, str]) -> Relinked | None:
        value = values[name]
        if not value.strip(_SPACES) and (element, name) != ("a", "href"):
            return None
        if element == "link" and name == "href":
            relations = values.get("rel", "")
            if _HINTS & set(relations.lower().split()):
                return Relinked("")
            kind = kind_of_relation(relations) or LinkKind.CANONICAL
        elif (element, name) in _REQUISITES:
            kind = LinkKind.REQUISITE
        elif (element, name) in _NAVIGATION:
            kind = LinkKind.NAVIGATION
        else:
            return None
        return self._links.on_link(Mention(f"{element}@{name}", kind, value))

    def _set(self, element: str, name: str, values: dict[str, str]) -> Relinked | None:
        beside = False

        def new(written: str) -> str | None:
            nonlocal beside
            found = self._links.on_link(Mention(f"{element}@{name}", LinkKind.REQUISITE, written))
            if found is None:
                return None
            beside = beside or found.beside
            return f"{found.address[:-1]}%2C" if found.address.endswith(",") else found.address

        return Relinked(replaced(values[name], srcset_places(values[name]), new), beside)

    def _meta(self, values: dict[str, str]) -> Relinked | None:
        equivalent = values.get("http-equiv", "").strip(_SPACES).lower()
        content = values["content"]
        if equivalent == _POLICY:
            return Relinked("")
        if equivalent != "refresh":
            return None
        start, end = refresh_place(content)
        if not content[start:end].strip(_SPACES):
            return None
        new = self._links.on_link(Mention("meta@content", LinkKind.NAVIGATION, content[start:end]))
        return (
            Relinked(content[:start] + new.address + content[end:], new.beside) if new is not None else None
        )

    def _inner(self, markup: str) -> Relinked | None:
        """A document within an attribute, which has the base of the page."""
        source = markup.encode("utf-8", "replace")
        inner = _Inner(self._links)
        return _text(markup, edited(source, _relinked(source, "utf_8", inner, xml=False)).decode())


class _Inner(msgspec.Struct):
    """The links of the page around, for a document that stands within it."""

    links: Relinking

    def on_base(self, address: str) -> str:  # noqa: ARG002 (addresses start from the page around)
        """It would lead what has become of the links somewhere else."""
        return ""

    def on_link(self, source: bytes | Mention) -> Relinked | None:
        """As in the page around."""
        return self.links.on_link(source)


def _text(before: str, after: str) -> Relinked | None:
    return Relinked(after) if after != before else None
