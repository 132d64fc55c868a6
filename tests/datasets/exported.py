"""Sites and tables for the tests of exports."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import in_process
from patience import PATIENCE

from gossamer.datasets.deriving import DocumentRow, LinkRow
from gossamer.datasets.parquet import write_table
from gossamer.datasets.tables import DOCUMENTS, LINKS, VISITS
from gossamer.documents.said import Derived, DocumentText, Metadata

LONG = "word \r\n" * 1_500_000
HOSTILE = (
    "\ud800half",
    "nul\0nul",
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-1",
    "@x",
    "\tx",
    'a "quoted", line\nother',
    "é中\u202e",
)


def gossamer(*arguments: str, cwd: Path, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command; in a process of its own if `code` is to run in it before."""
    if not code:
        return in_process.gossamer(*arguments, cwd=cwd)
    command = [sys.executable, "-c", f"{code}\nfrom gossamer.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)


def document(number: int, title: str, text: str) -> DocumentRow:
    said = DocumentText(media_type="text/html", metadata=Metadata(title=title), text=Derived(text=text))
    return DocumentRow(f"http://h/{number}", 1_700_000_000.5, 0, number, 200, said, ())


def hostile_tables(folder: Path) -> Mapping[str, Sequence[Path]]:
    """Documents and links with what breaks formats; the last document has 10 MB of text."""
    rows = [document(number, text, text) for number, text in enumerate(HOSTILE)]
    rows += [document(len(rows), "none", ""), document(len(rows) + 1, "long", LONG)]
    write_table(DOCUMENTS, rows, folder / "documents.parquet")
    links = [LinkRow("http://h/1", 0.0, 0, 1, "http://h/2", "link", "same") for _ in range(3)]
    links += [LinkRow("http://h/1", 0.0, 0, 1, f"http://h/{'x' * 9_000}", "link", text) for text in HOSTILE]
    write_table(LINKS, links, folder / "links.parquet")
    return {"documents": [folder / "documents.parquet"], "links": [folder / "links.parquet"]}


def visits(folder: Path, count: int) -> Mapping[str, Sequence[Path]]:
    """Visits in several files."""
    from gossamer.datasets.snapshot import VisitRow

    paths = []
    for part in range(4):
        paths.append(folder / f"visits-{part}.parquet")
        numbers = range(part * count // 4, (part + 1) * count // 4)
        write_table(
            VISITS, (VisitRow(number, f"http://h/{number}", became="done") for number in numbers), paths[-1]
        )
    return {"visits": paths}
