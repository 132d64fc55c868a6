"""Verifies what a cluster's agents archived, and the index over all of it."""

import contextlib
from collections.abc import Iterator

import msgspec

from gossamer.archive.cdxj import Capture, read_capture
from gossamer.archive.file import OPEN_SUFFIX
from gossamer.inspect.checks.crawl_check import CheckResult, check
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError
from gossamer.state.environment import Family

_WRITE_ANEW = "'gossamer cluster resume' writes it anew"


def check_whole(inspection: Inspection) -> CheckResult:
    """`check` of each crawl in it; of a cluster also that nothing is missing and the index leads to all.

    Raises:
        StorageError: the index cannot be read.
    """
    if set(inspection.each) == {""}:
        return check(inspection)
    problems, unfinished = [f"{one.text}." for one in inspection.absent], list[str]()
    files = records = captures = pages = 0
    for name, part in inspection.each.items():
        try:
            one = check(part)
        except StorageError as error:
            problems.append(f"{name}: {error}")
            continue
        problems += [f"{name}: {text}" for text in one.problems]
        unfinished += [f"{name}: {text}" for text in one.unfinished]
        files, records = files + one.files, records + one.records
        captures, pages = captures + one.captures, pages + one.pages
    if inspection.ended:  # the index is written when all have ended
        problems += _index(inspection)
    return CheckResult(files, records, captures, pages, problems, unfinished)


class _Marks:
    """Lines in any order: how many, and a sum of their hashes."""

    def __init__(self) -> None:
        self.lines = self.sum = 0

    def add(self, line: Capture, file: str) -> None:
        """Take a line into account; `file` without the folder it lies in."""
        self.lines += 1
        self.sum += hash((line.url, line.digest, line.length, line.offset, file.removesuffix(OPEN_SUFFIX)))


def _index(inspection: Inspection) -> Iterator[str]:
    """What is wrong with the index over all agents; of those that are not here only files are looked for."""
    found = {name: _Marks() for name in inspection.each}
    present: dict[str, bool] = {}
    last, number = b"", 0
    index = inspection.folder.index
    try:
        with index.open("rb") as lines:
            for number, text in enumerate(lines, 1):
                if text < last:
                    yield f"index.cdxj: line {number} is out of order; {_WRITE_ANEW}"
                    return
                last = text
                line = read_capture(text)
                path = index.parent / line.filename
                if line.filename not in present:
                    present[line.filename] = path.exists()
                agent = path.parent.parent.name
                if agent in found:
                    found[agent].add(line, path.name)
    except FileNotFoundError:
        yield f"index.cdxj: is not there; {_WRITE_ANEW}"
        return
    except (ValueError, msgspec.MsgspecError):
        yield f"index.cdxj: line {number} cannot be read; {_WRITE_ANEW}"
        return
    except OSError as error:
        raise StorageError(f"{index}: cannot be read ({error.strerror}).") from None
    yield from (
        f"index.cdxj: leads to {name}, which is not there"
        for name, is_there in present.items()
        if not is_there
    )
    yield from _disagreements(inspection, found)


def _disagreements(inspection: Inspection, found: dict[str, _Marks]) -> Iterator[str]:
    for name, part in inspection.each.items():
        wanted = _Marks()
        with contextlib.suppress(StorageError):  # told by the agent's own check
            for _, text in part.environment.scan(Family.CAPTURES):
                line = read_capture(text)
                wanted.add(line, line.filename)
            has = found[name]
            if has.lines != wanted.lines:
                yield f"index.cdxj: {has.lines} lines for {wanted.lines} captures of {name}; {_WRITE_ANEW}"
            elif has.sum != wanted.sum:
                yield f"index.cdxj: lines are not as {name} captured; {_WRITE_ANEW}"
