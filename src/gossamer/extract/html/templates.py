"""An HTML document without its `template` elements, which are no part of the page (WHATWG HTML 4.12.3).

A scan of tags does not know what holds what, so this is asked only where it matters: of a `base` element on
a page with templates.
"""

import re

from gossamer.extract.html.tag_grammar import TAG_NAME, Tokens, end_of_attributes, end_of_declaration
from gossamer.extract.html.tokens import RAW_TEXT, end_of_raw_text

__all__ = ["has_templates", "without_templates"]

_TEMPLATE = re.compile(rb"<template[\t\n\f\r />]", re.IGNORECASE)


def has_templates(content: bytes) -> bool:
    """Whether there may be any."""
    return _TEMPLATE.search(content) is not None


def without_templates(content: bytes) -> bytes:
    """The document less its templates; one that does not end goes on to the end."""
    kept: list[bytes] = []
    start = depth = at = 0
    while (at := content.find(b"<", at)) >= 0:
        named = TAG_NAME.match(content, at)
        if named is None:
            end = end_of_declaration(content, at)
        else:
            name, closing = named[1].lower(), content[at + 1] == ord("/")
            end = end_of_attributes(content, named.end(), Tokens())
            if name in RAW_TEXT and not closing and end >= 0:
                end = end_of_raw_text(content, name, end)
            if name == b"template" and not closing:
                if not depth:
                    kept.append(content[start:at])
                depth += 1
            elif name == b"template" and depth:
                depth -= 1
                start = end if end >= 0 else len(content)
        if end < 0:
            break
        at = end
    if not depth:
        kept.append(content[start:])
    return b"".join(kept)
