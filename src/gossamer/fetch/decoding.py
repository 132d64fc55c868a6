"""Undoes the content codings of a body within bounds of size and expansion."""

from collections.abc import Iterator

import msgspec

from gossamer.fetch.codings import DECODERS, EndedEarlyError, Pieces, UndecodableError
from gossamer.fetch.config import FetchConfig
from gossamer.model.exchange import Body, Headers
from gossamer.model.outcome import Failed, Fault

_INPUT_PIECE = 1 << 16
_MAX_CODINGS = 4
_FREE_EXPANSION = 1 << 20
"""Expansion is not judged below this many bytes: short pages of one repeated line are no bombs."""

_REGISTERED_ELSEWHERE = frozenset(
    {"compress", "x-compress", "dcb", "dcz", "exi", "aes128gcm", "pack200-gzip"}
)
"""Real codings that we cannot undo; any other unknown word is taken for noise, as browsers do."""


class Decoded(msgspec.Struct, frozen=True):
    """Content with its codings undone.

    Attributes:
        content: at most as many bytes as were asked for.
        truncated: there was more, or the stream broke off or went bad on the way.
    """

    content: bytes
    truncated: bool = False


def decode_content(
    body: Body, headers: Headers, config: FetchConfig, limit: int | None = None
) -> Decoded | Failed:
    """Undo the codings that `Content-Encoding` names, last applied first.

    Memory stays within `limit` and a few pieces of 256 KiB per coding, whatever the body holds.

    Args:
        limit: how many bytes are wanted (`None`: `config.max_content`); decoding stops there.

    Returns:
        `Failed(DECODING)` for input that is not in its coding at all, or expands too far.
    """
    wanted = config.max_content if limit is None else min(limit, config.max_content)
    codings = content_codings(headers)
    if not codings or not body.size:
        return Decoded(body.read(wanted), truncated=body.size > wanted)
    if len(codings) > _MAX_CODINGS:
        return Failed(Fault.DECODING, f"{len(codings)} content codings")
    pieces: Pieces = body.chunks(_INPUT_PIECE)
    allowed = max(_FREE_EXPANSION, body.size * config.max_expansion_ratio)
    for name in reversed(codings):
        decoder = DECODERS.get(name)
        if decoder is None:
            return Failed(Fault.DECODING, f"content coding {name[:40]!r} is not supported")
        pieces = _bounded(decoder(pieces), min(allowed, config.max_content))
    return _collect(pieces, wanted, whole_wanted=limit is None)


def content_codings(headers: Headers) -> list[str]:
    """Codings in the order in which they were applied, lower case; identity and noise left out."""
    named = headers.get("content-encoding")
    if not named:
        return []
    words = [word.strip().lower() for line in headers.get_all("content-encoding") for word in line.split(",")]
    return [word for word in words if word in DECODERS or word in _REGISTERED_ELSEWHERE]


class _ExpandsTooFarError(Exception):
    """A decoder's output passed its bound."""


def _bounded(pieces: Pieces, allowed: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > allowed:
            raise _ExpandsTooFarError(f"content expands to more than {allowed} bytes")
        yield piece


def _collect(pieces: Pieces, wanted: int, *, whole_wanted: bool) -> Decoded | Failed:
    kept: list[bytes] = []
    size = 0
    truncated = False
    try:
        for piece in pieces:
            kept.append(piece)
            size += len(piece)
            if size > wanted and not whole_wanted:
                truncated = True
                break
    except _ExpandsTooFarError as error:
        return Failed(Fault.DECODING, str(error))
    except EndedEarlyError:
        truncated = True
    except UndecodableError as error:
        if not size:
            return Failed(Fault.DECODING, str(error)[:200])
        truncated = True
    content = kept[0] if len(kept) == 1 else b"".join(kept)
    return Decoded(content[:wanted] if size > wanted else content, truncated=truncated)
