"""What two crawls differ in, kept as files: one for each kind of difference, which a page of it is read from.

The files of a comparison have names of their own, and another file says which comparison is the last that is whole; so
one that is made anew takes the place of the one before at once.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, get_args

import msgspec

from gossamer.inspect.compare.captures import bounded
from gossamer.inspect.compare.crawls import Counts, Difference, Kind
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.whole_files import write_whole

__all__ = ["KINDS", "Kept", "KeptDifference", "keep", "kept_differences", "others"]

KINDS: tuple[Kind, ...] = get_args(Kind)
FOLDER = "compared"
"""Of the later crawl's folder; in it one for each that it was compared with, by name."""
MOST_ROWS = 200
"""Of the text of a page."""
MOST_BYTES = 256 << 10
"""Of a difference with its text, which is left out of a longer one."""
_SUMS = "counts.json"


class _Sums(Counts):
    """`run`: what the files' names end in; nothing of comparisons that earlier versions made."""

    run: str = ""


class KeptDifference(msgspec.Struct, frozen=True):
    """A difference, and where in its file it stands."""

    at: int
    difference: Difference


class Kept(msgspec.Struct, frozen=True):
    """Some of the differences of two crawls.

    Attributes:
        made: when they were compared, wall time.
        counts: of all.
        items: of one kind.
        cursor: where to go on; `None` at the end.
    """

    made: float
    counts: Counts
    items: list[KeptDifference]
    cursor: int | None


def others(folder: Path) -> list[str]:
    """Names under which a crawl was compared with others."""
    return sorted(path.parent.name for path in (folder / FOLDER).glob(f"*/{_SUMS}"))


def keep(folder: Path, name: str, differences: Iterator[Difference], counts: Counts) -> None:
    """Write differences down as they are found; what was kept under the name before goes once they are whole.

    One caller at a time.

    Raises:
        StorageError: the disk refuses. What was kept before stays then, and whatever `differences` raises.
    """
    place, run = folder / FOLDER / name, f"-{secrets.token_hex(4)}"
    stays = ""
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with ExitStack() as stack:
                files: dict[Kind, BinaryIO] = {
                    kind: stack.enter_context(_file(place, kind, run).open("wb")) for kind in KINDS
                }
                for one in differences:
                    files[one.kind].write(_told(one) + b"\n")
            write_whole(place / _SUMS, msgspec.json.encode(_Sums(**msgspec.structs.asdict(counts), run=run)))
            stays = run
        finally:
            for path in place.glob("*.jsonl" if stays else f"*{run}.jsonl"):
                if not (stays and path.stem.endswith(stays)):
                    path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{place}: cannot be written ({error.strerror}). Free some space.") from None


def _told(one: Difference) -> bytes:
    passages, cut = bounded(list(one.passages), MOST_ROWS)
    told = msgspec.json.encode(msgspec.structs.replace(one, passages=passages, cut=one.cut or cut))
    if len(told) > MOST_BYTES:
        told = msgspec.json.encode(msgspec.structs.replace(one, passages=(), cut=True))
    return told


def kept_differences(
    folder: Path, name: str, kind: Kind, begin: int = 0, limit: int = 1, *, text: bool = False
) -> Kept | None:
    """Differences of a kind; `None` if there was no comparison that came to its end.

    Args:
        folder: of the later crawl.
        name: of the other.
        kind: of differences.
        begin: place of the first in its file.
        limit: the most that are given.
        text: with what differs in their texts.

    Raises:
        ConfigError: no difference begins there.
        StorageError: it cannot be read.
    """
    place = folder / FOLDER / name
    items: list[KeptDifference] = []
    try:
        if (opened := _opened(place, kind)) is None:
            return None
        made, sums, lines = opened
        counts = Counts(**{name: getattr(sums, name) for name in Counts.__struct_fields__})
        with lines:
            lines.seek(max(begin - 1, 0))
            if begin and lines.read(1) != b"\n":
                raise ConfigError(f"{begin} is no place that was handed out. Begin with the first page.")
            while len(items) < limit and (line := lines.readline()):
                one = msgspec.json.decode(line, type=Difference)
                items.append(
                    KeptDifference(begin, one if text else msgspec.structs.replace(one, passages=()))
                )
                begin = lines.tell()
            return Kept(made, counts, items, begin if lines.read(1) else None)
    except (OSError, msgspec.DecodeError) as error:
        raise StorageError(f"{place}: cannot be read ({error}). Compare them again.") from None


def _opened(place: Path, kind: Kind) -> tuple[float, _Sums, BinaryIO] | None:
    """When the last comparison was made, its sums, and its differences of a kind; `None` if there is none."""
    path, tried = place / _SUMS, None
    while True:
        try:
            with path.open("rb") as file:
                made, sums = os.fstat(file.fileno()).st_mtime, msgspec.json.decode(file.read(), type=_Sums)
        except FileNotFoundError:
            return None
        try:
            return made, sums, _file(place, kind, sums.run).open("rb")
        except FileNotFoundError:
            if sums == tried:  # otherwise another took its place just now
                raise
            tried = sums


def _file(place: Path, kind: Kind, run: str) -> Path:
    return place / f"{kind}{run}.jsonl"
