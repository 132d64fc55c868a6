"""The speculative addresses of one script, of data, or of an attribute."""

import re
from collections.abc import Iterator

from gossamer.extract.html.tags import inner_mentions
from gossamer.extract.links import Mention
from gossamer.extract.pauses import with_pauses
from gossamer.extract.scripts.addresses import NEAR, form_of, says_address
from gossamer.extract.scripts.literals import Literal, literals
from gossamer.model.link import LinkKind
from gossamer.policy.speculation.form import ASIDE, Form, Where, element_of

__all__ = ["in_markup", "in_source", "in_value"]

_IMPORTS = re.compile(r"(?:\b(?:import|from)|\b(?:import|importScripts)\s*+\()\s*+\Z")
_META = re.compile(r"\s*+,\s*+import\.meta\.url")
_MARKUP = re.compile(r"<[a-zA-Z]++[^<>]*?(?:href|src)\s*+=", re.IGNORECASE)
_VOCABULARY = re.compile(r"\"@(?:context|type|vocab)\"\s*+:\s*+\[?+\s*+\Z")
_KEY = re.compile(r"\s*+:")
_SURE_KEYS = Form.ROOT, Form.WHOLE
"""Forms that are addresses also where they are the name of something, in JSON and elsewhere."""
DEEPEST = 2
"""Data within a string of data within ..."""


def in_source(text: str, where: Where, depth: int = 0) -> Iterator[Mention]:
    """The addresses in strings of a script or of JSON."""
    for one in with_pauses(literals(text)):
        if one.whole and len(one.source) > 1:
            yield from _in_literal(text, one, where, depth)


def _in_literal(text: str, one: Literal, where: Where, depth: int) -> Iterator[Mention]:
    before, value = text[max(0, one.start - NEAR) : one.start], one.value
    named = says_address(before)
    if named is None or _VOCABULARY.search(before):
        return
    if _IMPORTS.search(before) or _META.match(text, one.end):
        if value.startswith(("./", "../", "/", "http")):  # else it is a name in an import map
            yield Mention(element_of(Where.IMPORT, Form.DOT), LinkKind.SPECULATIVE, value)
        return
    form = form_of(value.split(" #", 1)[0] if named else value, named=named)
    if form is None:
        yield from _within(value, where, depth)
    elif form in _SURE_KEYS or _KEY.match(text, one.end) is None:
        address = value.split(" #", 1)[0] if named else value
        yield Mention(element_of(where, form, named=named), LinkKind.SPECULATIVE, address)


def _within(value: str, where: Where, depth: int) -> Iterator[Mention]:
    """The addresses in a string that is itself data or markup."""
    if depth >= DEEPEST:
        return
    if value[:1] in "{[" and '"' in value:
        yield from in_source(value, where, depth + 1)
    elif "<" in value and _MARKUP.search(value):
        yield from in_markup(value, where if where in ASIDE else Where.MARKUP)


def in_markup(markup: str, where: Where = Where.MARKUP) -> Iterator[Mention]:
    """The addresses of HTML that a script may put into the page, but those with places left to be filled in."""
    for mention in inner_mentions(markup):
        form = form_of(mention.address, named=True)
        if form is not None:
            element = element_of(where, form, named=where is not Where.MARKUP)
            yield Mention(element, LinkKind.SPECULATIVE, mention.address, mention.nofollow)


def in_value(name: str, value: str) -> Iterator[Mention]:
    """The addresses in the value of an attribute that is no link to a browser."""
    value = value.strip()
    if name.startswith("on"):
        yield from in_source(value, Where.EVENT)
    elif value[:1] in ("{", "["):
        yield from in_source(value, Where.DATA)
    else:
        named = says_address(f"{name}=")
        form = form_of(value, named=bool(named))
        if form is not None and named is not None:
            yield Mention(element_of(Where.DATA, form, named=named), LinkKind.SPECULATIVE, value)
