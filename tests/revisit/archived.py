"""What stands in a crawl's archive, read with warcio and fastwarc."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


@dataclass(frozen=True)
class Record:
    """One record of an archive file; what it does not say is empty."""

    kind: str
    id: str
    url: str
    date: str
    digest: str
    profile: str
    refers_id: str
    refers_url: str
    refers_date: str
    truncated: str
    status: int
    fields: tuple[tuple[str, str], ...]
    payload: bytes
    file: str
    offset: int

    def get(self, name: str) -> str:
        """A field of the HTTP head."""
        return next((value for key, value in self.fields if key.lower() == name.lower()), "")

    @property
    def at(self) -> float:
        return datetime.fromisoformat(self.date.replace("Z", "+00:00")).timestamp()

    @property
    def tells(self) -> bool:
        """It is what a visit brought."""
        return self.kind in ("response", "revisit")


def files(folder: Path) -> list[Path]:
    return sorted((folder / "archive").glob("*.warc.gz*"))


def records(folder: Path) -> list[Record]:
    """All of them in the order of the files."""
    return [record for path in files(folder) for record in _of(path)]


def _of(path: Path) -> Iterator[Record]:
    with path.open("rb") as stream:
        found = ArchiveIterator(stream, arc2warc=False)
        for record in found:
            said = record.rec_headers.get_header
            http = record.http_headers
            payload = record.content_stream().read() if record.rec_type != "revisit" else b""
            words = (http.statusline.split() if http and record.rec_type != "request" else []) or ["0"]
            yield Record(
                kind=record.rec_type,
                id=said("WARC-Record-ID") or "",
                url=said("WARC-Target-URI") or "",
                date=said("WARC-Date") or "",
                digest=said("WARC-Payload-Digest") or "",
                profile=said("WARC-Profile") or "",
                refers_id=said("WARC-Refers-To") or "",
                refers_url=said("WARC-Refers-To-Target-URI") or "",
                refers_date=said("WARC-Refers-To-Date") or "",
                truncated=said("WARC-Truncated") or "",
                status=int(words[0]) if words[0].isdigit() else 0,
                fields=tuple(http.headers) if http else (),
                payload=payload,
                file=path.name,
                offset=found.get_record_offset(),
            )


@dataclass
class _Quietly:
    inputs: list[str]
    verbose: bool = False


def wrong(folder: Path) -> list[str]:
    """What any archive of pages visited again must keep to, and this one does not."""
    found: list[str] = []
    everything = records(folder)
    originals = {(each.url, each.date): each for each in everything if each.kind == "response"}
    seen: dict[tuple[str, str], str] = {}
    for each in everything:
        name = f"{each.kind} {each.url} {each.date}"
        if each.kind == "response" and each.status == 200:
            if (each.url, each.digest) in seen:
                found.append(
                    f"{name}: the same payload as of {seen[each.url, each.digest]}, as a response again"
                )
            seen[each.url, each.digest] = each.date
        if each.kind != "revisit":
            continue
        if each.profile not in (IDENTICAL, NOT_MODIFIED):
            found.append(f"{name}: profile {each.profile!r}")
        original = originals.get((each.refers_url, each.refers_date))
        if original is None:
            found.append(
                f"{name}: refers to {each.refers_url!r} of {each.refers_date!r}, which is no response here"
            )
        else:
            if each.refers_id and each.refers_id != original.id:
                found.append(f"{name}: WARC-Refers-To is another record's")
            if each.digest != original.digest:
                found.append(f"{name}: payload digest {each.digest!r}, of the original {original.digest!r}")
            # Of two pages that came at once the one settled first is the original.
            if original.url == each.url and original.at > each.at:
                found.append(f"{name}: refers to what came later, {original.date}")
        if (each.profile == NOT_MODIFIED) != (each.status == 304):
            found.append(f"{name}: status {each.status} with profile {each.profile}")
    closed = [str(path) for path in files(folder) if path.name.endswith(".gz")]
    checker = Checker(_Quietly(closed))
    checker.process_all()
    if checker.exit_value:
        found.append("warcio check")
    found += _unindexed(folder, everything)
    return found


def _unindexed(folder: Path, everything: list[Record]) -> Iterator[str]:
    lines = (folder / "index.cdxj").read_bytes().splitlines()
    if lines != sorted(lines):
        yield "index.cdxj is not sorted"
    pointed = set()
    for line in lines:
        entry = json.loads(line[line.index(b"{") :])
        pointed.add((entry["filename"], int(entry["offset"])))
        with (folder / "archive" / entry["filename"]).open("rb") as stream:
            stream.seek(int(entry["offset"]))
            record = next(iter(FastIterator(stream, parse_http=False)))
            if record.headers["WARC-Target-URI"] != entry["url"]:
                yield f"{line!r} leads to {record.headers['WARC-Target-URI']}"
            if (record.record_type == WarcRecordType.revisit) != (entry["mime"] == "warc/revisit"):
                yield f"{line!r} has the wrong media type for a {record.record_type}"
    for each in everything:
        if each.tells and (each.file, each.offset) not in pointed:
            yield f"no line of the index leads to the {each.kind} of {each.url}, {each.date}"
