"""What one start tag of an HTML document means to a crawler: links, and facts about the page.

A table by element; a pure function of the tag, so that its answers can be remembered.
"""

import re
from collections.abc import Callable

import msgspec

from gossamer.extract.addresses import refresh_address, srcset_addresses
from gossamer.extract.css import css_mentions
from gossamer.extract.html.character_references import unescape_attribute, unescape_text
from gossamer.extract.html.tag_grammar import Tag, attributes_of
from gossamer.extract.html.tokens import tokenize
from gossamer.extract.links import Mention
from gossamer.extract.relations import kind_of_relation, nofollow
from gossamer.model.document import HTML_TYPES
from gossamer.model.link import LinkKind

__all__ = ["Meaning", "inner_mentions", "meaning_of"]

Attributes = dict[str, str]

_SPACES = "\t\n\f\r "
_ROBOT_WORD = re.compile(r"no(?:index|follow|archive|ne|cache)\b|unavailable_after", re.IGNORECASE)
_WORD = re.compile(r"[^./]*")
_ROBOT_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
LONGEST_ROBOTS = 1_000
MOST_NAMED = 20
"""Robots that one meta element speaks to."""
MOST_INNER = 10_000
"""Turns of the scan of HTML within another document."""
_FACTS = frozenset({"description", "og:description", "og:title", "author", "article:author"})


class Meaning(msgspec.Struct, frozen=True):
    """What a tag says.

    Attributes:
        mentions: addresses, in order.
        facts: (name, value); names are `base`, `language`, `title`, `description`, `author`, ..., and
            `robots:NAME` for directives to robots of that name.
    """

    mentions: tuple[Mention, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


def meaning_of(tag: Tag, codec: str) -> Meaning:
    """What `tag` says. Its `content` is read for `style` only.

    Args:
        tag: of a document whose ASCII bytes are ASCII characters.
        codec: Python codec of the document.
    """
    attributes = attributes_of(tag, codec)
    rule = (_FOREIGN if tag.foreign else _RULES).get(tag.name)
    meaning = rule(attributes) if rule else _NOTHING
    styles = []
    if "style" in attributes:
        styles += css_mentions(attributes["style"])
    if tag.content and tag.name == b"style":
        sheet = tag.content.decode(codec, "replace")
        styles += css_mentions(unescape_text(sheet) if tag.foreign else sheet)
    return Meaning((*meaning.mentions, *styles), meaning.facts) if styles else meaning


_NOTHING = Meaning()

# Rules: the attributes of one element, to what they say.

Rule = Callable[[Attributes], Meaning]


def _take(element: str, *names: str) -> Rule:
    """The values of these attributes are addresses of what a browser loads with the page."""

    def rule(attributes: Attributes) -> Meaning:
        mentions: list[Mention] = []
        for name in names:
            value = attributes.get(name, "")
            addresses = srcset_addresses(value) if name.endswith("srcset") else [value]
            mentions += _mentions(f"{element}@{name}", LinkKind.REQUISITE, addresses)
        return Meaning(tuple(mentions))

    return rule


_LAZY = "data-src", "data-srcset", "data-lazy-src", "data-lazy-srcset", "data-original"
"""Where scripts look for the addresses of pictures that a browser is not to load at once."""


def _lazy(element: str) -> Rule:
    """As `_take`, and what a script loads later; a value without a dot or a slash is no address."""
    at_once = _take(element, "src", "srcset")
    later = _take(element, *_LAZY)

    def rule(attributes: Attributes) -> Meaning:
        found = at_once(attributes)
        if not any(name in attributes for name in _LAZY):
            return found
        more = [mention for mention in later(attributes).mentions if not _WORD.fullmatch(mention.address)]
        return Meaning((*found.mentions, *more))

    return rule


def _mentions(element: str, kind: LinkKind, addresses: list[str]) -> list[Mention]:
    return [Mention(element, kind, address) for address in addresses if address.strip(_SPACES)]


def _frame(element: str) -> Rule:
    def rule(attributes: Attributes) -> Meaning:
        return Meaning(tuple(_mentions(f"{element}@src", LinkKind.NAVIGATION, [attributes.get("src", "")])))

    return rule


def _plug_in(element: str, name: str) -> Rule:
    """What an `object` or `embed` shows: HTML in a frame of its own, if its type says so; else a part."""

    def rule(attributes: Attributes) -> Meaning:
        essence = attributes.get("type", "").partition(";")[0].strip(_SPACES).lower()
        kind = LinkKind.NAVIGATION if essence in HTML_TYPES else LinkKind.REQUISITE
        return Meaning(tuple(_mentions(f"{element}@{name}", kind, [attributes.get(name, "")])))

    return rule


def _iframe(attributes: Attributes) -> Meaning:
    """An address, or a document of its own, which has the address and the base of the page."""
    if "srcdoc" not in attributes:
        return _frame_of_iframe(attributes)
    return Meaning(tuple(inner_mentions(attributes["srcdoc"])))


def inner_mentions(markup: str) -> list[Mention]:
    """The addresses in HTML that stands within another document."""
    mentions: list[Mention] = []
    for token in tokenize(markup.encode("utf-8", "replace"), MOST_INNER).found:
        if isinstance(token, bytes):
            address = unescape_attribute(token.decode("utf-8", "replace"))
            mentions.append(Mention("a@href", LinkKind.NAVIGATION, address))
            continue
        tag = token if isinstance(token, Tag) else Tag(*token)
        if tag.name == b"iframe":  # one document within another is enough
            mentions += _frame_of_iframe(attributes_of(tag, "utf_8")).mentions
        else:
            mentions += meaning_of(tag, "utf_8").mentions
    return mentions


def _anchor(element: str) -> Rule:
    def rule(attributes: Attributes) -> Meaning:
        # An empty `href` is a link to the page itself, so its presence counts, not its value.
        for name in ("href", "xlink:href"):
            if name in attributes:
                forbidden = nofollow(attributes.get("rel", ""))
                mention = Mention(f"{element}@{name}", LinkKind.NAVIGATION, attributes[name], forbidden)
                return Meaning((mention,))
        return _NOTHING

    return rule


def _base(attributes: Attributes) -> Meaning:
    return Meaning(facts=(("base", attributes["href"]),)) if "href" in attributes else _NOTHING


def _form(attributes: Attributes) -> Meaning:
    method = attributes.get("method", "").strip(_SPACES).lower()
    action = attributes.get("action", "")
    if method in ("post", "dialog") or not action.strip(_SPACES):
        return _NOTHING
    forbidden = nofollow(attributes.get("rel", ""))
    return Meaning((Mention("form@action", LinkKind.NAVIGATION, action, forbidden),))


def _html(attributes: Attributes) -> Meaning:
    language = attributes.get("lang") or attributes.get("xml:lang", "")
    return Meaning(facts=(("language", language),)) if language else _NOTHING


def _input(attributes: Attributes) -> Meaning:
    return _image_button(attributes) if attributes.get("type", "").lower() == "image" else _NOTHING


def _link(attributes: Attributes) -> Meaning:
    relations, address = attributes.get("rel", ""), attributes.get("href", "")
    kind = kind_of_relation(relations)
    if kind is None:
        told = [(word, address) for word in relations.lower().split() if word in ("hub", "self")]
        return Meaning(facts=tuple(told)) if told else _NOTHING
    mentions = _mentions("link@imagesrcset", kind, srcset_addresses(attributes.get("imagesrcset", "")))
    if address.strip(_SPACES):
        mentions.insert(0, Mention("link@href", kind, address, nofollow(relations)))
    return Meaning(tuple(mentions))


def _meta(attributes: Attributes) -> Meaning:
    content = attributes.get("content", "")
    equivalent = attributes.get("http-equiv", "").strip(_SPACES).lower()
    name = (attributes.get("name") or attributes.get("property") or equivalent).strip(_SPACES).lower()
    if not content:
        return _NOTHING
    if equivalent == "refresh":
        return Meaning(tuple(_mentions("meta@content", LinkKind.NAVIGATION, [refresh_address(content)])))
    if equivalent == "content-language":
        return Meaning(facts=(("content-language", content.partition(",")[0]),))
    if name in _FACTS:
        return Meaning(facts=((name, content),))
    told = content[:LONGEST_ROBOTS]
    robots = [each.strip(_SPACES) for each in name.split(",", MOST_NAMED)[:MOST_NAMED]]
    known = [
        each
        for each in robots
        if each == "robots" or (_ROBOT_NAME.fullmatch(each) and _ROBOT_WORD.search(told))
    ]
    return Meaning(facts=tuple((f"robots:{each}", told) for each in known)) if known else _NOTHING


_frame_of_iframe = _frame("iframe")
_image_button = _take("input", "src")

_RULES: dict[bytes, Rule] = {
    b"a": _anchor("a"),
    b"area": _anchor("area"),
    b"audio": _take("audio", "src"),
    b"base": _base,
    b"body": _take("body", "background"),
    b"embed": _plug_in("embed", "src"),
    b"form": _form,
    b"frame": _frame("frame"),
    b"html": _html,
    b"iframe": _iframe,
    b"image": _lazy("img"),  # the parser makes an img of it
    b"img": _lazy("img"),
    b"input": _input,
    b"link": _link,
    b"meta": _meta,
    b"object": _plug_in("object", "data"),
    b"script": _take("script", "src"),
    b"source": _lazy("source"),
    b"table": _take("table", "background"),
    b"td": _take("td", "background"),
    b"th": _take("th", "background"),
    b"tr": _take("tr", "background"),
    b"track": _take("track", "src"),
    b"video": _take("video", "src", "poster"),
}
_FOREIGN: dict[bytes, Rule] = {
    b"a": _anchor("a"),
    b"image": _take("image", "href", "xlink:href"),
    b"feimage": _take("feimage", "href", "xlink:href"),
    b"script": _take("script", "href", "xlink:href"),
    b"use": _take("use", "href", "xlink:href"),
}
