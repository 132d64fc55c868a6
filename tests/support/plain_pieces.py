"""`policy.branches.novelty.pieces` word by word, as it can be read: what the faster form must equal."""

import re
from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

import xxhash

_INLINE = re.compile(
    rb"</?(?:b|i|u|q|s|em|t[dht]|img|span|strong|font|su[bp]|small|big|code|time|label|abbr|cite|data|dfn|ins|kbd"
    rb"|mark|samp|var|wbr)(?: [^>]*)?>"
)
_HIDDEN = re.compile(rb"<(script|style)(?=[\s>]).*?(?=(?-i:</\1)|\Z)", re.IGNORECASE | re.DOTALL)
_BASIC_DATE = re.compile(rb"((?:1[5-9]|2[01])\d\d)(0[1-9]|1[0-2])([0-3]\d)?")


def plain_pieces(content: bytes, target: str, linked: Iterable[str]) -> set[int]:
    """The hashes of the pieces; scripts must end in the letters, small or capital, that they begin with."""
    text = _HIDDEN.sub(b"", content)
    if b"<" in text:
        text = re.sub(rb"<[^>]*>", b"\n", _INLINE.sub(b" ", text.lower().replace(b"\n", b" ")))
    if len(target) > 1:
        text = text.replace(target.lower().encode(), b"")
    text = re.sub(
        rb"[\x00-\x7f]", lambda it: it[0].lower() if it[0].isalnum() or it[0] in b"\n.," else b" ", text
    )
    first, *blocks = text.split(b"\n")
    last = [blocks.pop()] if blocks else []
    lines, row = [first], list[bytes]()
    for block in [*blocks, None]:
        if block is not None and len(block.lstrip(b" ")) <= 7:
            row += block.split()
            continue
        lines += [b" ".join(row)] if len(row) > 1 else []
        row = []
        lines += [block] if block is not None else []
    text = b"\n".join(lines + last)
    for end, ended in ((rb"\.([ \n])", rb" \1"), (rb",([ \n])", rb" \1"), (rb"([eduy]) ", rb"\1\n")):
        text = re.sub(end, ended, text)
    for mark in ("\u3002", "\uff0c", "\u3001"):
        text = text.replace(mark.encode(), mark.encode() + b"\n")
    own = plain_own(target, linked)
    found = {b" ".join(word for word in line.split() if word not in own) for line in text.split(b"\n")}
    return {xxhash.xxh3_64_intdigest(piece) for piece in found - {b""}}


def plain_own(target: str, linked: Iterable[str]) -> set[bytes]:
    """Words that say nothing."""
    told = re.findall(rb"\d+|[a-z\x80-\xff]{2,}", unquote_to_bytes(target).lower())
    date: list[bytes] = []
    for number in filter(bytes.isdigit, told):
        basic = _BASIC_DATE.fullmatch(number)
        date += [part for part in basic.groups() if part] if basic else [number]
    own = {*told, *date, *(number for each in linked for number in re.findall(rb"\d+", each.encode()))}
    own |= {word.lstrip(b"0") for word in own if word.startswith(b"0")}
    if len(date) > 1:
        for numbers in (date[:3], [number.lstrip(b"0") for number in date[:3]]):
            own |= {b".".join(numbers), b".".join(numbers[::-1]), b"".join(numbers)}
    return own
