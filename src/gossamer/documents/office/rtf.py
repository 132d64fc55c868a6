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
    "info revtbl mmathPr wgrffmtfilter nonshppict blipuid objdata".split()
)
_NAMED = frozenset({"title", "author", "subject", "keywords", "fldinst"})
_BREAKS = {"par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "cell": "\t", "tab": "\t"}
_SIGNS = {"emdash": "\u2014", "endash": "\u2013", "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019"}
_SIGNS |= {"ldblquote": "\u201c", "rdblquote": "\u201d", "emspace": " ", "enspace": " "}
_ESCAPED = {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\", "\n": "\n", "\r": "\n"}
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
    flow = _Flow(gathered)
    for match in _TOKEN.finditer(content.decode("latin-1")):
        if not flow.take(match) or gathered.budget.late:
            break
    flow.finish()


class _Flow:
    """The state of the pass."""

    def __init__(self, gathered: Gathered) -> None:
        self._gathered = gathered
        self._codec = "cp1252"
        self._stack = [_Group()]
        self._text: list[str] = []
        self._named: dict[str, list[str]] = {}
        self._pending = bytearray()
        self._to_skip = 0
        self._starred = False

    def take(self, match: re.Match[str]) -> bool:
        """Take in a token; whether reading goes on."""
        word, number, byte, sign, brace, plain = match.groups()
        if byte is not None:
            if self._to_skip:
                self._to_skip -= 1
            else:
                self._pending.append(int(byte, 16))
            return True
        self._settle()
        if plain is not None:
            self._put(plain[self._to_skip :])
            self._to_skip = max(0, self._to_skip - len(plain))
        elif brace is not None:
            return self._group(brace)
        elif sign is not None:
            self._starred = sign == "*"
            self._put(_ESCAPED.get(sign, ""))
        elif word is not None:
            self._word(word, number)
            self._starred = False
        return True

    def finish(self) -> None:
        """Hand over what was found."""
        self._settle()
        for paragraph in "".join(self._text).split("\n"):
            self._gathered.add(paragraph.strip())
        facts = {name: " ".join("".join(parts).split()) for name, parts in self._named.items()}
        self._gathered.metadata = msgspec.structs.replace(
            self._gathered.metadata,
            title=facts.get("title", ""),
            authors=tuple(filter(None, [facts.get("author", "")])),
            description=facts.get("subject", ""),
        )

    def _put(self, piece: str) -> None:
        sort = self._stack[-1].sort
        if sort == "text":
            self._text.append(piece)
        elif sort != "hidden":
            self._named.setdefault(sort, []).append(piece)

    def _settle(self) -> None:
        """Bytes of one character may come one by one."""
        if self._pending:
            self._put(self._pending.decode(self._codec, "replace"))
            self._pending.clear()

    def _group(self, brace: str) -> bool:
        self._starred, self._to_skip = False, 0
        if brace == "{":
            if len(self._stack) > _DEEPEST:
                self._gathered.mark(Mark.TOO_COMPLEX)
                return False
            self._stack.append(msgspec.structs.replace(self._stack[-1]))
        elif len(self._stack) > 1:
            ended = self._stack.pop().sort == "fldinst" and self._stack[-1].sort != "fldinst"
            if ended and (link := _LINK.search("".join(self._named.pop("fldinst", []))[:10_000])):
                self._gathered.link(link[1])
        return True

    def _word(self, word: str, number: str | None) -> None:
        group = self._stack[-1]
        value = int(number) if number else 0
        self._to_skip = 0
        if word in _HIDDEN or (self._starred and word not in _NAMED):
            group.sort = "hidden"
        elif word in _NAMED:
            group.sort = word
        elif word == "fldrslt":
            group.sort = "hidden" if group.sort == "hidden" else "text"
        elif word == "ansicpg" and number:
            self._codec = _codec(value, self._codec)
        elif word == "uc":
            group.skip = min(max(value, 0), 100)
        elif word == "u":
            self._put(_character(value))
            self._to_skip = group.skip
        elif word in _BREAKS or word in _SIGNS:
            self._put(_BREAKS.get(word) or _SIGNS[word])


def _character(value: int) -> str:
    code = value % 0x10000
    return "" if 0xD800 <= code <= 0xDFFF else chr(code)


def _codec(page: int, otherwise: str) -> str:
    try:
        "".encode(f"cp{page}")
    except LookupError:
        return otherwise
    return f"cp{page}"
