"""What one start tag of an HTML document means to a crawler: links, and facts about the page.

A table by element; a pure function of the tag, so that its answers can be remembered.
"""

import re
from collections.abc import Callable

import msgspec

from gossamer.extract.addresses import refresh_address, srcset_addresses
from gossamer.extract.css import css_mentions
from gossamer.extract.links import Mention
from gossamer.extract.relations import kind_of_relation, nofollow
from gossamer.extract.tag_grammar import Tag, attributes_of
from gossamer.model.link import LinkKind

__all__ = ["Meaning", "meaning_of"]

Attributes = dict[str, str]

_NAVIGATION, _REQUISITE = LinkKind.NAVIGATION, LinkKind.REQUISITE
_SPACES = "\t\n\f\r "
_ROBOT_WORD = re.compile(
    r"no(?:index|follow|archive|ne)\b|unavailable_after|\ball\b|(?<!no)(?:index|follow)", re.I
)
_ROBOT_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
_FACTS = {
    "description": "description",
    "og:description": "og:description",
    "og:title": "og:title",
    "author": "author",
    "article:author": "article:author",
}


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
    name = tag.name.decode("latin-1")
    mentions: list[Mention] = []
    facts: tuple[tuple[str, str], ...] = ()
    rules = _FOREIGN if tag.foreign else _RULES
    rule = rules.get(name)
    if rule:
        facts = rule(name, attributes, mentions) or ()
    if "style" in attributes:
        mentions += css_mentions(attributes["style"])
    if tag.content and name == "style":
        mentions += css_mentions(tag.content.decode(codec, "replace"))
    return Meaning(tuple(mentions), facts)


Rule = Callable[[str, Attributes, list[Mention]], tuple[tuple[str, str], ...] | None]


def _take(*names: str, kind: LinkKind) -> Rule:
    """A rule: the values of these attributes are addresses."""

    def rule(element: str, attributes: Attributes, mentions: list[Mention]) -> None:
        for name in names:
            value = attributes.get(name, "")
            if name.endswith("srcset"):
                mentions.extend(
                    (f"{element}@{name}", kind, found, False) for found in srcset_addresses(value)
                )
            elif value.strip(_SPACES):
                mentions.append((f"{element}@{name}", kind, value, False))

    return rule


def _anchor(element: str, attributes: Attributes, mentions: list[Mention]) -> None:
    # An empty `href` is a link to the page itself, so its presence counts, not its value.
    for name in ("href", "xlink:href"):
        if name in attributes:
            mentions.append(
                (f"{element}@{name}", _NAVIGATION, attributes[name], nofollow(attributes.get("rel", "")))
            )
            return


def _base(element: str, attributes: Attributes, mentions: list[Mention]) -> tuple[tuple[str, str], ...]:
    return (("base", attributes["href"]),) if "href" in attributes else ()


def _form(element: str, attributes: Attributes, mentions: list[Mention]) -> None:
    method = attributes.get("method", "").strip(_SPACES).lower()
    if method not in ("post", "dialog") and attributes.get("action", "").strip(_SPACES):
        relation = nofollow(attributes.get("rel", ""))
        mentions.append(("form@action", _NAVIGATION, attributes["action"], relation))


def _html(element: str, attributes: Attributes, mentions: list[Mention]) -> tuple[tuple[str, str], ...]:
    language = attributes.get("lang") or attributes.get("xml:lang", "")
    return (("language", language),) if language else ()


def _input(element: str, attributes: Attributes, mentions: list[Mention]) -> None:
    if attributes.get("type", "").lower() == "image" and attributes.get("src", "").strip(_SPACES):
        mentions.append(("input@src", _REQUISITE, attributes["src"], False))


def _link(element: str, attributes: Attributes, mentions: list[Mention]) -> None:
    relations = attributes.get("rel", "")
    kind = kind_of_relation(relations)
    if kind is None:
        return
    if attributes.get("href", "").strip(_SPACES):
        mentions.append(("link@href", kind, attributes["href"], nofollow(relations)))
    for address in srcset_addresses(attributes.get("imagesrcset", "")):
        mentions.append(("link@imagesrcset", kind, address, False))


def _meta(element: str, attributes: Attributes, mentions: list[Mention]) -> tuple[tuple[str, str], ...]:
    content = attributes.get("content", "")
    if not content:
        return ()
    equivalent = attributes.get("http-equiv", "").strip(_SPACES).lower()
    if equivalent == "refresh":
        address = refresh_address(content)
        if address.strip(_SPACES):
            mentions.append(("meta@content", _NAVIGATION, address, False))
        return ()
    if equivalent == "content-language":
        return (("content-language", content.partition(",")[0]),)
    name = (attributes.get("name") or attributes.get("property", "") or equivalent).strip(_SPACES).lower()
    if name in _FACTS:
        return ((_FACTS[name], content),)
    if name == "robots" or (_ROBOT_NAME.fullmatch(name) and _ROBOT_WORD.search(content[:1000])):
        return ((f"robots:{name}", content[:1000]),)
    return ()


_RULES: dict[str, Rule] = {
    "a": _anchor,
    "area": _anchor,
    "audio": _take("src", kind=_REQUISITE),
    "base": _base,
    "body": _take("background", kind=_REQUISITE),
    "embed": _take("src", kind=_REQUISITE),
    "form": _form,
    "frame": _take("src", kind=_NAVIGATION),
    "html": _html,
    "iframe": _take("src", kind=_NAVIGATION),
    "image": _take("src", "srcset", kind=_REQUISITE),
    "img": _take("src", "srcset", kind=_REQUISITE),
    "input": _input,
    "link": _link,
    "meta": _meta,
    "object": _take("data", kind=_REQUISITE),
    "script": _take("src", kind=_REQUISITE),
    "source": _take("src", "srcset", kind=_REQUISITE),
    "table": _take("background", kind=_REQUISITE),
    "td": _take("background", kind=_REQUISITE),
    "th": _take("background", kind=_REQUISITE),
    "tr": _take("background", kind=_REQUISITE),
    "track": _take("src", kind=_REQUISITE),
    "video": _take("src", "poster", kind=_REQUISITE),
}
_FOREIGN: dict[str, Rule] = {
    "a": _anchor,
    "image": _take("href", "xlink:href", kind=_REQUISITE),
    "feimage": _take("href", "xlink:href", kind=_REQUISITE),
    "script": _take("href", "xlink:href", kind=_REQUISITE),
    "use": _take("href", "xlink:href", kind=_REQUISITE),
}
