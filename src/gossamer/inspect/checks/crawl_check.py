"""Verifies archive, index and state of a crawl against each other."""

import contextlib
import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import msgspec

from gossamer.archive.cdxj import Capture, in_order, read_capture
from gossamer.archive.committed import archive_files
from gossamer.archive.file import OPEN_SUFFIX, SUFFIX
from gossamer.archive.placement import ArchiveFile
from gossamer.archive.record_head import MAIN_KINDS
from gossamer.archive.verify import Problem, RecordSummary, verify_file
from gossamer.assembly.folder import state_lost
from gossamer.engine.checkpoints import sign_of_loss
from gossamer.inspect.inspection import Inspection
from gossamer.model.command_line import command_line
from gossamer.model.errors import StorageError
from gossamer.model.url import Url
from gossamer.policy.revisit.history import standing
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import split_again, unpack_heads
from gossamer.state.records import HostRecord, decode_host, decode_page, decode_queue
from gossamer.state.scratch import Scratch


class CheckResult(msgspec.Struct, frozen=True):
    """How much was checked, and everything wrong, one sentence each.

    Attributes:
        unfinished: what a running crawl is about to finish, or 'gossamer resume' will put right.
    """

    files: int
    records: int
    captures: int
    pages: int
    problems: list[str]
    unfinished: list[str]


MOST_PROBLEMS = 1_000


def check(inspection: Inspection) -> CheckResult:
    """Read every archive file whole, then compare.

    Three ways round: each record that should be indexed has its capture, each capture its record (same
    URL, length and digest), each page that says it is archived its capture; host counts agree with
    their queues; and all of the state can be read. Places of records are held in memory as 8-byte hashes,
    about 100 bytes a record.

    Raises:
        StorageError: the state is damaged so that nothing can be compared with it.
    """
    running = inspection.folder.in_use()
    problems: list[str] = [*_state(inspection)]
    files = archive_files(inspection.environment)
    places: dict[tuple[int, int], tuple[int, int]] = {}
    gaps: list[tuple[str, int, int]] = []  # of files, where nothing could be read
    records = 0
    for number, file in enumerate(files):
        path = _present_path(inspection.folder.archive, file)
        for found in verify_file(path, file.length, growing=file.state == "open"):
            if isinstance(found, Problem):
                if found.passed:
                    gaps.append((file.name, found.offset, found.offset + found.passed))
                problems.append(f"archive {found.file} at {found.offset}: {found.text}")
                continue
            records += 1
            # What is known by another name than a URL (`dns:...`) is not looked up.
            if found.kind in MAIN_KINDS and Url.from_serialised(found.target_uri) is not None:
                places[number, found.offset] = (found.length, _mark(found))
    captures, wrong = _index(inspection, files, places, gaps)
    problems += wrong
    problems += [
        f"index: the record at {files[n].name} {offset} has no line" for n, offset in list(places)[:50]
    ]
    problems += _index_file(inspection, captures, running=running)
    pages, wrong = _pages(inspection)
    problems += [*wrong, *_hosts(inspection), *_places(inspection.environment)]
    unfinished = _unfinished(inspection.folder.archive, files)
    return CheckResult(len(files), records, captures, pages, problems[:MOST_PROBLEMS], unfinished)


def _index(
    inspection: Inspection,
    files: list[ArchiveFile],
    places: dict[tuple[int, int], tuple[int, int]],
    gaps: list[tuple[str, int, int]],
) -> tuple[int, list[str]]:
    """How many captures there are, and what is wrong; takes the records that have one from `places`.

    What leads into a gap, where nothing of a file could be read, is told already.
    """
    numbers = {file.name: number for number, file in enumerate(files)}
    captures, problems = 0, list[str]()
    for line in _captures(inspection):
        captures += 1
        place = numbers.get(line.filename, -1), int(line.offset)
        record = places.pop(place, None)
        if any(line.filename == name and start <= place[1] < end for name, start, end in gaps):
            continue
        if record is None:
            problems.append(
                f"index: {line.url} leads to {line.filename} at {line.offset}, where no record begins"
            )
        elif record != (int(line.length), hash((line.url, line.digest))):
            problems.append(f"index: {line.url} and the record at {line.filename} {line.offset} disagree")
        if len(problems) > MOST_PROBLEMS:
            break
    return captures, problems


def _present_path(archive: Path, file: ArchiveFile) -> Path:
    """Where the file is; it gets its final name a moment before the state knows of it."""
    final, opened = archive / file.name, archive / (file.name + OPEN_SUFFIX)
    return opened if file.state == "open" and (opened.exists() or not final.exists()) else final


def _unfinished(archive: Path, files: list[ArchiveFile]) -> list[str]:
    """What was appended to the archive and is not, or not yet, committed."""
    found = []
    for file in files:
        path = _present_path(archive, file)
        with contextlib.suppress(FileNotFoundError):
            if file.state == "open" and (size := path.stat().st_size) > file.length:
                found.append(f"archive: {path.name} has {size - file.length} bytes that are not committed")
    known = {file.name for file in files}
    return found + [
        f"archive: {path.name} is not known to the state"
        for path in sorted(archive.glob(f"*{SUFFIX}*"))
        if path.name.removesuffix(OPEN_SUFFIX) not in known
    ]


def _mark(record: RecordSummary) -> int:
    return hash((record.target_uri, record.payload_digest))


def _captures(inspection: Inspection) -> Iterator[Capture]:
    for _, data in inspection.environment.scan(Family.CAPTURES):
        yield read_capture(data)


def _index_file(inspection: Inspection, captures: int, *, running: bool) -> Iterator[str]:
    """What is wrong with `index.cdxj`: that of a crawl which has ended says what the state says.

    Of a crawl that goes on or was killed it may lag behind; it must be sorted and not longer. While a crawl runs it may
    be written anew after the state was opened that is read here, so how long it is says nothing.
    """
    ended = bool(inspection.ended)
    try:
        with inspection.folder.index.open("rb") as lines:
            wrong = (
                _differences(lines, inspection)
                if ended
                else _disorder(lines, math.inf if running else captures)
            )
            yield from (f"index.cdxj: {problem}; 'gossamer resume' writes it anew" for problem in wrong)
    except FileNotFoundError:
        if ended:
            yield "index.cdxj: is not there; 'gossamer resume' writes it anew"


def _disorder(lines: Iterable[bytes], captures: float) -> Iterator[str]:
    count, last = 0, b""
    for line in lines:
        count += 1
        if line < last:
            yield f"line {count} is out of order"
            return
        last = line
    if count > captures:
        yield f"{count} lines for {captures:.0f} captures"


def _differences(lines: Iterable[bytes], inspection: Inspection) -> Iterator[str]:
    """The first line that is not as it was written, if there is one."""
    captures = (line for _, line in inspection.environment.scan(Family.CAPTURES))
    written = (line + b"\n" for line in in_order(captures))
    for count, (line, wanted) in enumerate(zip_longest(lines, written), 1):
        if line != wanted:
            yield f"line {count} is {'missing' if line is None else 'not as it was written'}"
            return


def _state(inspection: Inspection) -> Iterator[str]:
    """What RocksDB says when all of the state is read, of a crawl that nobody works on.

    Beside a writer nothing can be said: a table that cannot be opened may be one that is no more.
    """
    folder = inspection.folder
    if folder.in_use():
        return
    if loss := sign_of_loss(folder.checkpoints, folder.state):
        yield str(state_lost(folder, loss))
    with contextlib.suppress(OSError):
        yield from _refusal(inspection)
    with Scratch() as scratch:
        try:
            environment = Environment.open_read_only(folder.state, inspection.config.state, Path(scratch))
            with contextlib.closing(environment):
                for family in Family:
                    for _ in environment.scan(family):
                        pass
        except StorageError as error:
            if not folder.in_use():  # else a crawl has begun meanwhile
                yield str(error)


def _refusal(inspection: Inspection) -> Iterator[str]:
    """What `gossamer resume` would say to the state, tried on a copy: it reads more of it than a reader does.

    Tables never change, so links to them suffice.
    """
    folder = inspection.folder
    folder.tmp.resolve().mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.tmp, prefix="check-") as scratch:
        copy = Path(scratch) / "state"
        copy.mkdir()
        for path in folder.state.iterdir():
            if path.suffix == ".sst":
                (copy / path.name).symlink_to(path.absolute())
            elif path.is_file() and path.name != "LOCK":
                shutil.copyfile(path, copy / path.name)
        try:
            Environment.open(copy, inspection.config.state, create=False).close()
        except StorageError as error:
            text = str(error).replace(str(copy), str(folder.state))
            yield f"{text} '{command_line('resume', folder.path, '--from-checkpoint')}' goes back to a checkpoint."


def _pages(inspection: Inspection) -> tuple[int, list[str]]:
    known = {file.name: file.length for file in archive_files(inspection.environment)}
    pages, wrong = 0, []
    for _, data in inspection.environment.scan(Family.PAGES):
        record = decode_page(data)
        pages += 1
        place = record.place
        if place is not None and "/" in place.file:
            continue  # in a cluster: it stands in the archive of the agent that fetched it
        if place is not None and place.offset + place.length > known.get(place.file, 0):
            wrong.append(
                f"state: {record.url} says it is archived in {place.file} at {place.offset}, behind its end"
            )
        # An answer by another protocol may have nothing to keep.
        said = record.visits[-1].said if record.visits else ""
        if record.state == "done" and place is None and not said:
            wrong.append(f"state: {record.url} is done but not archived")
    return pages, wrong


def _hosts(inspection: Inspection) -> Iterator[str]:
    environment = inspection.environment
    for key, data in environment.scan(Family.HOSTS):
        record = decode_host(data)
        queued = sum(1 for _ in environment.scan(Family.QUEUE, prefix=key))
        waiting = sum(1 for _ in environment.scan(Family.LATER, prefix=key))
        if (queued, waiting) != (record.queued, record.delayed):
            yield (
                f"state: host {record.name} counts {record.queued} queued and {record.delayed} waiting, "
                f"there are {queued} and {waiting}"
            )
        yield from _again(environment, key, record)


def _places(environment: Environment) -> Iterator[str]:
    """Whether each page that comes again has a place from which it will."""
    histories = sum(1 for _, data in environment.scan(Family.PAGES) if decode_page(data).history)
    places = sum(1 for _ in environment.scan(Family.AGAIN))
    for family in (Family.QUEUE, Family.LATER):
        places += sum(1 for _, data in environment.scan(family) if decode_queue(data).revisit)
    if histories > places:
        yield f"state: {histories} pages are to come again, {places} will"


def _again(environment: Environment, key: bytes, record: HostRecord) -> Iterator[str]:
    """What comes again of a host, by the classes that it knows of."""
    heads = dict(unpack_heads(record.heads))
    enrolled = 0
    for entry, elsewhere in environment.scan(Family.AGAIN, prefix=key):
        place, since, url = split_again(entry)
        enrolled += 1
        data = environment.get(Family.PAGES, (elsewhere or key) + url)
        page = decode_page(data) if data else None
        if page is None or not page.history or standing(page.history) != (since, place):
            of = page.url if page is not None else f"a page of {record.name}"
            yield f"state: {of} comes again by an entry that its history does not name"
        if place not in heads or heads[place] > since:
            yield f"state: host {record.name} does not know of what comes again in class {place}"
    if enrolled != record.enrolled:
        yield f"state: host {record.name} counts {record.enrolled} pages that come again, there are {enrolled}"
