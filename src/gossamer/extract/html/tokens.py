"""The start tags of an HTML document that can matter to a crawler, found in linear time.

Source: the tokenizer of WHATWG HTML 13.2.5, over bytes of an encoding in which ASCII is ASCII. One regular
expression runs over everything ordinary, tag by tag, and stops where a decision is due; Python decides
there.

**Why linear.** Every quantifier is possessive, so nothing is tried twice; a quoted value is entered only
where the tokenizer would enter it, so what one alternative has read the next one consumes; what is
unterminated ends the scan, because the tokenizer would read to the end of the file as well.

**What is left out.** No tree is built. Tags count wherever they stand, also where a tree builder would drop
them (docs/decisions/0004-token-scanner.md).
"""

import re
from collections.abc import Callable
from functools import cache

from gossamer.extract.html.foreign import end_of_other, skip_foreign
from gossamer.extract.html.tag_grammar import (
    SPACE,
    TAG_NAME,
    Tag,
    Tokens,
    end_of_attributes,
    end_of_declaration,
    may_style_lead,
)
from gossamer.extract.pauses import with_pauses

__all__ = ["INTERESTING", "PLAIN_LINK", "RAW_TEXT", "end_of_raw_text", "tokenize"]

_TRUSTED_ATTRIBUTE = rb"(?:" + SPACE + rb"++[a-gi-qt-z][a-z-]*+=(?:\"[^\"]*+\"|'[^']*+'))*+"
"""Attributes that say nothing about a link: none begins with h (href), r (rel) or s (style)."""

_LINK_OPEN = rb"a" + _TRUSTED_ATTRIBUTE + SPACE + rb"++href="
_LINK_CLOSE = _TRUSTED_ATTRIBUTE + SPACE + rb"*+>"
_FRAGMENT_LINK = _LINK_OPEN + rb"\"#[^\"]*+\"" + _LINK_CLOSE
# The address ends at its fragment, but for a `#` that may belong to a character reference.
_DOUBLE = rb"\"([^\"#&]*+(?:&[^\"]*+)?+)(?:#[^\"]*+)?+\""
PLAIN_LINK = _LINK_OPEN + rb"(?:" + _DOUBLE + rb"|" + _DOUBLE.replace(b'"', b"'") + rb")" + _LINK_CLOSE
_TARGET = rb"a" + _TRUSTED_ATTRIBUTE + SPACE + rb"*+>"

_ORDINARY = (
    rb"(?:span|p(?:re)?|d(?:iv|[dlt]|el|etails)|code|li|h(?:[1-6r]|ead(?:er)?)|ul|ol|em"
    rb"|t(?:[dhrt]|able|head|body|foot|ime)|b(?:r|utton|ig|lockquote)?|i(?:ns)?|strong"
    rb"|s(?:ection|mall|u[bp]|amp|ummary)?|dfn|var|nav|main|a(?:rticle|side|bbr|ddress|cronym)"
    rb"|f(?:ooter|ont|ieldset|ig(?:ure|caption))|c(?:ite|enter|ol(?:group)?|aption)|kbd|label|noscript|q|u|wbr)"
)
"""Tags that hold no link; any other name would do no harm here but cost time elsewhere."""

_ATTRIBUTES = (
    rb"(?:" + SPACE + rb"++[%s][a-z0-9:-]*+(?:=(?:\"[^\"]*+\"|'[^']*+'|[a-zA-Z0-9#.-]++(?=[ >]))|(?=[ >])))*+"
)
_ANY_ATTRIBUTES = _ATTRIBUTES % b"a-z"
_HARMLESS_ATTRIBUTES = _ATTRIBUTES % b"ac-rt-z"
"""Attributes of ordinary tags that hold no link: neither `style` nor `background`."""

_END = SPACE + rb"*+/?+>"

RAW_TEXT = frozenset(b"script style textarea title xmp iframe noembed noframes".split())
"""Elements whose content is text up to their end tag. `noscript` is none, because we run no scripts."""
_RAW_ENDS = {name: re.compile(rb"</(?i:" + name + rb")[\t\n\f\r />]") for name in RAW_TEXT - {b"script"}}
_SCRIPT_DATA = re.compile(rb"<(?:(!--)|/[sS][cC][rR][iI][pP][tT](?=[\t\n\f\r />]))")
_SCRIPT_ESCAPED = re.compile(rb"(-->)|<(/?)[sS][cC][rR][iI][pP][tT](?=[\t\n\f\r />])")

INTERESTING = frozenset(
    b"a area audio base body embed form frame html iframe image img input link meta object script source "
    b"style table td th title tr track video".split()
)
"""Elements handed out. Others are, too, if they have a `style` attribute that may hold an address."""

_SIMPLE = INTERESTING - {b"script", b"style", b"title", b"iframe"}


@cache
def _ordinary(flags: int) -> Callable[[bytes, int], re.Match[bytes]]:
    """The expression that runs over ordinary markup, up to and with the next tag that may matter.

    It matches at any position, if only the empty string. Group 1 or 2 is the address of a plain link; groups
    3 and 4 are name and attributes of another tag. Neither: go on, at `<` with what the expression does not
    know.
    """
    ordinary = _ORDINARY + rb"(?:>| class=\"[^\"]*+\">|" + _HARMLESS_ATTRIBUTES + _END + rb")"
    unit = rb"[^<]*+<(?:/[a-z0-9]++>|" + ordinary + rb"|" + _FRAGMENT_LINK + rb"|(?![a-zA-Z/!?]))"
    tag = PLAIN_LINK + rb"|" + _TARGET + rb"|([a-z][a-z0-9]*+)(" + _ANY_ATTRIBUTES + rb")" + _END
    pattern = rb"(?:" + unit + rb"){0,1000}+[^<]*+(?:<(?:" + tag + rb"))?+"
    return re.compile(pattern, flags).match  # type: ignore[return-value]


_HERE = re.compile(rb"<a(?:rea)?[\t\n\f\r ][^<>]*?href=\"#", re.IGNORECASE)
_MANY_CAPITALS = 10
"""Tags in capitals before the slower expression that ignores case takes over."""


def tokenize(content: bytes, limit: int, *, xml: bool = False, places: bool = False) -> Tokens:
    """Scan a document.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters.
        limit: turns after which to give up; at least one for each tag found.
        xml: it is XHTML, in which `<script src="x"/>` is whole and `<![CDATA[` is what it says.
        places: say where each token stands (`Tokens.starts`).

    Links to places in the same document (`#...`) are told by `Tokens.fragments`, not one by one.
    """
    tokens = Tokens(starts=[] if places else None)
    found, starts, size = tokens.found, tokens.starts, len(content)
    match = _ordinary(0)
    position, turn, capitals = 0, 0, 0
    for turn in with_pauses(range(limit)):  # noqa: B007 (counts the work)
        run = match(content, position)
        group = run.lastindex
        before, position = position, run.end()
        if group == 1 or group == 2:
            found.append(run[group])
            if starts is not None:
                starts.append(run.start(group))
        elif group:
            tag = run.group(3, 4)
            if tag[0] in _SIMPLE:
                found.append(tag)  # type: ignore[arg-type]
                if starts is not None:
                    starts.append(run.start(4))
            else:
                position = _special(content, tag[0].lower(), run.span(4), position, tokens, xml=xml)
        elif position == before:
            named = TAG_NAME.match(content, position)
            if named and not named[1].islower():
                capitals += 1
                if capitals == _MANY_CAPITALS:
                    match = _ordinary(re.IGNORECASE)
            position = _unusual(content, position, named, tokens, xml=xml)
        if position < 0 or position == size:
            break
    else:
        tokens.whole = False
    tokens.steps += turn
    here = b'href="#' in content or (capitals > 0 and b'HREF="#' in content)
    tokens.fragments = here and _HERE.search(content) is not None  # not of `base` or `use` alone
    return tokens


def _unusual(
    content: bytes, position: int, named: re.Match[bytes] | None, tokens: Tokens, *, xml: bool
) -> int:
    """Take in the markup at `position` by the letter of the standard; where the scan goes on, or -1."""
    if named is None:
        return end_of_other(content, position) if xml else end_of_declaration(content, position)
    start = named.end()
    end = end_of_attributes(content, start, tokens)
    if end < 0 or content[position + 1] == 47:
        return end
    return _special(content, named[1].lower(), (start, end - 1), end, tokens, xml=xml)


def _special(
    content: bytes, name: bytes, source: tuple[int, int], position: int, tokens: Tokens, *, xml: bool
) -> int:
    """Take in a start tag; where the scan goes on, or -1.

    Args:
        content: the document.
        name: of the tag, lower case.
        source: where its attributes stand.
        position: behind its `>`.
        tokens: where it is added.
        xml: whether the document is.
    """
    if name in RAW_TEXT and not (xml and content[position - 2] == 47):
        return _raw_text(content, name, source, position, tokens)
    if name == b"plaintext":
        tokens.hidden.append((position, len(content)))
        return -1
    if name == b"svg" or name == b"math":
        if content[position - 2] == 47:
            return position
        return skip_foreign(content, position, tokens)
    attributes = content[source[0] : source[1]]
    if name in INTERESTING or may_style_lead(attributes):
        tokens.add(Tag(name, attributes), source[0])
    return position


def _raw_text(content: bytes, name: bytes, source: tuple[int, int], start: int, tokens: Tokens) -> int:
    end = end_of_raw_text(content, name, start)
    stop = len(content) if end < 0 else end
    if name in INTERESTING:
        text = content[start:stop] if name == b"title" or name == b"style" else b""
        tokens.add(Tag(name, content[source[0] : source[1]], text), source[0])
    tokens.hidden.append((start, stop))
    return end


def end_of_raw_text(content: bytes, name: bytes, start: int) -> int:
    """Where the end tag of a raw text element begins whose content begins at `start`; -1 if nowhere."""
    if name == b"script":
        return _end_of_script(content, start)
    match = _RAW_ENDS[name].search(content, start)
    return match.start() if match else -1


def _end_of_script(content: bytes, position: int) -> int:
    """Where the end tag of a script begins, -1 if nowhere (script data states, 13.2.5.15-31).

    Within `<!-- ... -->` an inner `<script>` hides one `</script>`.
    """
    while step := _SCRIPT_DATA.search(content, position):
        if not step[1]:
            return step.start()
        position = step.start() + 2  # the dashes of `<!-->` open and close
        inside = False
        while escaped := _SCRIPT_ESCAPED.search(content, position):
            position = escaped.end()
            if escaped[1]:
                break
            if not escaped[2]:
                inside = True
            elif inside:
                inside = False
            else:
                return escaped.start()
        else:
            return -1
    return -1
