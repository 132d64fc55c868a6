"""The string literals of JavaScript and JSON, found in linear time without a parser.

Source: ECMA-262, 12.4 (comments, with the HTML-like ones of B.1.1), 12.9.4 (strings), 12.9.5 (regular
expressions), 12.9.6 (templates). JSON's strings are strings of JavaScript. One expression finds the next
place where a literal or a comment may begin, another takes it in; every quantifier is possessive, so no
character is tried twice.

**What a lexer cannot know** is whether a slash behind `)` or `}` divides: it is taken for a regular
expression if one ends on the line and a method of it is called.
"""

import re
from collections.abc import Iterator

import msgspec

__all__ = ["Literal", "literals", "unescape"]

_STOPS = re.compile(r"[\"'`/]|<!--|-->")
_STOPS_IN_TEMPLATE = re.compile(r"[\"'`/{}]|<!--|-->")
_STRINGS = {
    '"': re.compile(r'"((?:[^"\\\n\r]++|\\(?:\r\n|[\s\S]))*+)("?)'),
    "'": re.compile(r"'((?:[^'\\\n\r]++|\\(?:\r\n|[\s\S]))*+)('?)"),
}
_CHUNK = re.compile(r"((?:[^`\\$]++|\\[\s\S]|\$(?!\{))*+)(`|\$\{)?")
_REGEX = re.compile(
    r"/(?:[^/\\\[\n\r]++|\\[^\n\r]|\[(?:[^\]\\\n\r]++|\\[^\n\r])*+\])++/[dgimsuvy]*+(?![\w$])"
)
_CALLED = re.compile(r"\.[a-z]")
_COMMENT_END = re.compile(r"\*/")
_LINE_END = re.compile(r"[\n\r\u2028\u2029]|\Z")
_WORD = re.compile(r"[A-Za-z_$]++\Z")
_BEFORE_VALUE = frozenset(
    ("return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "yield", "await")
)
_BLANK = " \t\v\f\r"
_BLANKS = " \t\n\r\v\f\ufeff"
_ESCAPE = re.compile(
    r"\\(?:u(?:\{([0-9a-fA-F]{1,8})\}|([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|([0-9a-fA-F]{4}))"
    r"|x([0-9a-fA-F]{2})|(\r\n|[\n\r\u2028\u2029])|([\s\S]))"
)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
LONGEST_WORD = 12
"""Characters of a word like `return` before a slash, with one more by which a longer one is known."""
LONGEST_REGEX = 1_000
"""Characters of a regular expression; where slashes stand close none may look far."""
LOOK_BACK = 64
"""Characters looked at before and behind a literal or a slash; more white space stands for nothing at all."""
MOST_JOINED = 8
"""Literals that `+` joins to one; longer chains are text."""


class Literal(msgspec.Struct, gc=False):
    """A string as it stands in the source.

    Attributes:
        start, end: where it stands, quotes included; of several that `+` joins, of all.
        source: between its quotes, escapes and all.
        whole: nothing that only a run of the script would know is added to it or stands in it.
    """

    start: int
    end: int
    source: str
    whole: bool = True

    @property
    def value(self) -> str:
        """The string that it stands for."""
        return unescape(self.source)


def unescape(source: str) -> str:
    """The value of a literal (ECMA-262 12.9.4.2); escapes that are wrong stand for what they escape."""
    return _ESCAPE.sub(_character, source) if "\\" in source else source


def _character(match: re.Match[str]) -> str:
    braced, high, low, plain, byte, line_break, other = match.groups()
    if high is not None:
        return (bytes.fromhex(high) + bytes.fromhex(low)).decode("utf-16-be")
    if (digits := braced or plain or byte) is not None:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
    return "" if line_break is not None else _CONTROL.get(other, other)


def literals(text: str) -> Iterator[Literal]:
    """The strings of a script or of JSON, in order; those that constants are joined of as one."""
    pending: Literal | None = None
    joined = 0
    for one in _scan(text):
        if pending is not None:
            near = one.start - pending.end <= LOOK_BACK
            if near and joined < MOST_JOINED and text[pending.end : one.start].strip(_BLANKS) == "+":
                pending = Literal(
                    pending.start, one.end, pending.source + one.source, pending.whole and one.whole
                )
                joined += 1
                continue
            yield _judged(text, pending)
        pending, joined = one, 1
    if pending is not None:
        yield _judged(text, pending)


def _judged(text: str, one: Literal) -> Literal:
    """The same, not whole if something is added before or behind."""
    if one.whole:
        before, behind = _last_before(text, one.start), _first_behind(text, one.end)
        grows = before == "+" or (
            before == "=" and text[max(0, one.start - 3) : one.start].rstrip(_BLANKS).endswith("+=")
        )
        one.whole = not grows and behind != "+" and not text.startswith(".concat(", one.end)
    return one


def _scan(text: str) -> Iterator[Literal]:
    """Every literal by itself; of templates only those without expressions."""
    at, size = 0, len(text)
    open_braces: list[int] = []
    """Of each template that is open, the braces that are open in its expression."""
    while at < size:
        stop = (_STOPS_IN_TEMPLATE if open_braces else _STOPS).search(text, at)
        if stop is None:
            return
        at, sign = stop.start(), stop[0]
        if sign in _STRINGS:
            match = _STRINGS[sign].match(text, at)
            assert match is not None, "a quote alone matches"
            if match[2]:
                yield Literal(at, match.end(), match[1])
            at = match.end()
        elif sign == "`" or (sign == "}" and not open_braces[-1]):
            if sign == "}":
                open_braces.pop()
            chunk = _CHUNK.match(text, at + 1)
            assert chunk is not None, "nothing at all matches"
            if chunk[2] == "${":
                open_braces.append(0)
            elif chunk[2] and sign == "`" and not _is_tagged(text, at):
                yield Literal(at, chunk.end(), chunk[1])
            at = chunk.end()
        elif sign == "{" or sign == "}":
            open_braces[-1] += 1 if sign == "{" else -1
            at += 1
        else:
            at = _behind(text, at, sign)


def _behind(text: str, at: int, sign: str) -> int:
    """Where the scan goes on behind a comment, a regular expression or an operator."""
    if sign != "/":
        line = sign == "<!--" or not text[max(0, at - LOOK_BACK) : at].rpartition("\n")[2].strip(_BLANK)
        return _end(_LINE_END, text, at) if line else at + len(sign)
    following = text[at + 1 : at + 2]
    if following == "*":
        return _end(_COMMENT_END, text, at + 2)
    if following == "/":
        return _end(_LINE_END, text, at)
    match = _REGEX.match(text, at, at + LONGEST_REGEX)
    if match is None:
        return at + 1
    before = _last_before(text, at)
    if before in (")", "}"):
        is_regex = _CALLED.match(text, match.end()) is not None
    elif before.isalnum() or before in ("_", "$"):
        is_regex = _ends_in_keyword(text, at)
    else:
        counted = text[max(0, at - LOOK_BACK) : at].rstrip(_BLANKS).endswith(("++", "--"))
        is_regex = before not in ("]", '"', "'", "`") and not counted
    return match.end() if is_regex else at + 1


def _is_tagged(text: str, at: int) -> bool:
    """Whether a function makes something else of the template that begins here."""
    before = _last_before(text, at)
    return (before.isalnum() or before in ("_", "$", ")", "]")) and not _ends_in_keyword(text, at)


def _ends_in_keyword(text: str, at: int) -> bool:
    """Whether what stands before is a word behind which a value begins."""
    word = _WORD.search(text[max(0, at - LOOK_BACK) : at].rstrip(_BLANKS)[-LONGEST_WORD:])
    return word is not None and word[0] in _BEFORE_VALUE


def _last_before(text: str, at: int) -> str:
    """The last character before that is no white space, empty if there is none near."""
    return text[max(0, at - LOOK_BACK) : at].rstrip(_BLANKS)[-1:]


def _first_behind(text: str, at: int) -> str:
    return text[at : at + LOOK_BACK].lstrip(_BLANKS)[:1]


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.search(text, at)
    return len(text) if match is None else match.end()
