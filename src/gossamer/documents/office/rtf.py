"""RTF 1.9: text, links and metadata, by one pass over control words."""

import re

import msgspec

from gossamer.documents.gathered import Gathered
from gossamer.documents.said import Mark

__all__ = ["read_rtf"]

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z0-9])|([{}])|[\r\n]+|([^\\{}\r\n]+)"
)
_HIDDEN = frozenset(
    "fonttbl colortbl stylesheet pict object themedata colorschememapping datastore latentstyles listtable "
    "listoverridetable rsidtbl generator xmlnstbl header footer headerl headerr footerl footerr filetbl "
    "revtbl mmathPr wgrffmtfilter nonshppict blipuid objdata".split()
)
_NAMED = frozenset({"title", "author", "subject", "keywords", "fldinst"})
_BREAKS = {"par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "cell": "\t", "tab": "\t"}
_SIGNS = {"emdash": "\u2014", "endash": "\u2013", "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019"}
_SIGNS |= {"ldblquote": "\u201c", "rdblquote": "\u201d", "emspace": " ", "enspace": " "}
_LINK = re.compile(r"""HYPERLINK\s+"?([^"\s]+)""", re.IGNORECASE)
_DEEPEST = 1_000


class _Group(msgspec.Struct):
    """What holds until the group ends.

    Attributes:
        sort: `text`, `hidden`, or the name of what its text is.
        skip: characters after `\\u` that stand for it in old readers.
    """

    sort: str = "text"
    skip: int = 1


def read_rtf(content: bytes, gathered: Gathered) -> None:
    """Take in the whole document; groups that are not closed are read to the end."""
    source = content.decode("latin-1")
    codec = "cp1252"
    stack = [_Group()]
    text: list[str] = []
    named: dict[str, list[str]] = {}
    pending = bytearray()
    to_skip = 0
    starred = False

    def put(piece: str) -> None:
        sort = stack[-1].sort
        if sort == "text":
            text.append(piece)
        elif sort != "hidden":
            named.setdefault(sort, []).append(piece)

    def settle() -> None:
        if pending:
            put(pending.decode(codec, "replace"))
            pending.clear()

    for match in _TOKEN.finditer(source):
        word, number, byte, sign, brace, plain = match.groups()
        if byte is not None:
            if to_skip:
                to_skip -= 1
            else:
                pending.append(int(byte, 16))
            continue
        settle()
        if plain is not None:
            put(plain[to_skip:])
            to_skip = max(0, to_skip - len(plain))
        elif brace == "{":
            if len(stack) > _DEEPEST:
                gathered.mark(Mark.TOO_COMPLEX)
                break
            stack.append(msgspec.structs.replace(stack[-1]))
            starred = to_skip = 0  # type: ignore[assignment]
        elif brace == "}":
            closed = stack.pop() if len(stack) > 1 else stack[0]
            ended = closed.sort == "fldinst" and stack[-1].sort != "fldinst"
            if ended and (link := _LINK.search("".join(named.pop("fldinst", []))[:10_000])):
                gathered.link(link[1])
        elif sign is not None:
            starred = sign == "*"
            put(
                {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\", "\n": "\n", "\r": "\n"}.get(
                    sign, ""
                )
            )
        elif word is not None:
            codec, to_skip = _word(word, number, stack[-1], starred, put, codec, to_skip)
            starred = False
        if gathered.budget.late:
            break
    settle()
    for paragraph in "".join(text).split("\n"):
        gathered.add(paragraph.strip())
    facts = {name: " ".join("".join(parts).split()) for name, parts in named.items()}
    gathered.metadata = msgspec.structs.replace(
        gathered.metadata,
        title=facts.get("title", ""),
        authors=tuple(filter(None, [facts.get("author", "")])),
        description=facts.get("subject", ""),
    )


def _word(  # noqa: PLR0913 (the state of the pass)
    word: str, number: str | None, group: _Group, starred: bool, put: object, codec: str, to_skip: int
) -> tuple[str, int]:
    value = int(number) if number else 0
    if word in _HIDDEN or (starred and word not in _NAMED) or word == "info":
        group.sort = "hidden"
    elif word in _NAMED:
        group.sort = word
    elif word == "fldrslt":
        group.sort = "text" if group.sort != "hidden" else "hidden"
    elif word == "ansicpg" and number:
        codec = _codec(value, codec)
    elif word == "uc":
        group.skip = min(max(value, 0), 100)
    elif word == "u":
        put(_character(value))  # type: ignore[operator]
        return codec, group.skip
    elif word in _BREAKS or word in _SIGNS:
        put(_BREAKS.get(word) or _SIGNS[word])  # type: ignore[operator]
    return codec, 0 if word != "u" else to_skip


def _character(value: int) -> str:
    code = value % 0x10000
    return "" if 0xD800 <= code <= 0xDFFF else chr(code)


def _codec(page: int, otherwise: str) -> str:
    try:
        "".encode(f"cp{page}")
    except LookupError:
        return otherwise
    return f"cp{page}"
