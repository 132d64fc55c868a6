"""Exports to files: rows equal to the crawl's, read by other programs, whole after any end."""

import csv
import gzip
import io
import json
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from patience import PATIENCE

pytest.importorskip("pypdfium2", reason="the extra `documents` is not installed")
pytest.importorskip("duckdb", reason="the extra `sql` is not installed")

import duckdb
from exported import HOSTILE, LONG, gossamer, hostile_tables, visits
from pyarrow import parquet
from small_site import small_site
from warcio.archiveiterator import ArchiveIterator

from gossamer.datasets.derived import FOLDER, rows_of
from gossamer.datasets.export.forms import LinesForm, ParquetForm
from gossamer.datasets.export.parts import MANIFEST, Form, Manifest, write_parts
from gossamer.datasets.export.places import Folder, place_of
from gossamer.datasets.export.rows import Source, source_of
from gossamer.datasets.export.wet import COLUMNS, WetForm
from gossamer.model.errors import ConfigError, StorageError

pytestmark = pytest.mark.slow

WORDS = "The quick brown fox jumps over the lazy dog and runs into the forest, where it sleeps until noon. "
SITE = {
    "": "<title>Home</title><a href=/a>a</a> <a href=/b>b</a> <a href=/missing>?</a> <a href=/a>again</a>",
    "a": f"<html lang=en><title>=1+1</title><h1>Fox</h1><p>{WORDS * 3}</p><a href=/b>b</a><img src=/x.png>",
    "b": f"<html lang=de><title>Zwei\nZeilen</title><p>{WORDS}</p><b class=price>12.5</b>",
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A crawl that has ended, with its documents read."""
    root = tmp_path_factory.mktemp("crawl")
    with small_site(SITE.get) as site:
        ran = gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "-q", "--documents",
                       "--field", "price=.price | number", cwd=root)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    yield root / "d"


def _export(crawled: Path, out: Path, *arguments: str) -> list[Path]:
    ran = gossamer("export", *arguments, "--out", str(out), "--json", cwd=crawled.parent)
    assert ran.returncode == 0, ran.stderr
    return [Path(file) for file in json.loads(ran.stdout)["files"]]


def _lines(files: Sequence[Path]) -> list[dict[str, object]]:
    return [json.loads(line) for file in files for line in gzip.open(file, "rt", encoding="utf-8")]


def test_rows_are_those_of_the_crawl(crawled: Path, tmp_path: Path) -> None:
    listed = gossamer("list", "d", "--json", cwd=crawled.parent).stdout.splitlines()
    names = ("url", "state", "depth", "links", "title")
    pages = _lines(_export(crawled, tmp_path / "pages", "pages", "d"))
    as_listed = [tuple(json.loads(line)[name] or None for name in names) for line in listed]
    assert sorted(tuple(page[name] or None for name in names) for page in pages) == sorted(as_listed)
    for table in ("links", "fields", "documents"):
        rows = _lines(_export(crawled, tmp_path / table, table, "d", "--format", "jsonl"))
        held = list(rows_of(crawled / FOLDER, table))
        assert [{**row, "time": ""} for row in rows] == [{**row, "time": ""} for row in held]
        assert held
    index = (crawled / "index.cdxj").read_text().splitlines()
    assert len(_lines(_export(crawled, tmp_path / "captures", "captures", "d"))) == len(index)


def test_parquet_is_read_by_duckdb_and_pandas(crawled: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    files = _export(crawled, tmp_path / "p", "pages", "d", "--format", "parquet")
    wanted = _lines(_export(crawled, tmp_path / "j", "pages", "d"))
    urls = [row["url"] for row in wanted]
    assert [row[0] for row in duckdb.sql(f"select url from '{files[0]}'").fetchall()] == urls
    frame = pandas.read_parquet(tmp_path / "p")  # the folder, whatever else lies in it
    assert list(frame["url"]) == urls
    assert str(frame["time"].dtype).startswith("datetime64")


def test_wet_is_read_by_warcio_and_refers_to_the_archive(crawled: Path, tmp_path: Path) -> None:
    (file,) = _export(crawled, tmp_path / "wet", "text", "d", "--format", "wet")
    assert file.name == "part-00000.warc.wet.gz"
    responses = {}
    for archived in (crawled / "archive").glob("*.warc*"):
        with archived.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    responses[record.rec_headers["WARC-Record-ID"]] = record.rec_headers["WARC-Target-URI"]
    texts = {row["url"]: row["text"] for row in rows_of(crawled / FOLDER, "documents") if row["text"]}
    found = {}
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            headers, block = record.rec_headers, record.content_stream().read()
            if record.rec_type == "conversion":
                url = headers["WARC-Target-URI"]
                found[url] = block.decode()
                assert responses[headers["WARC-Refers-To"]] == url
                assert headers["Content-Type"].startswith("text/plain")
                if url.endswith("/a"):
                    assert headers["WARC-Identified-Content-Language"] == "eng"
            else:
                assert record.rec_type == "warcinfo"
    assert found == texts
    assert len(found) == 3


def test_the_graph_as_graphml_has_the_edges_of_the_tables(crawled: Path, tmp_path: Path) -> None:
    assert (
        gossamer("export", "links", "d", "--out", str(tmp_path / "tsv"), cwd=crawled.parent).returncode == 0
    )
    ran = gossamer(
        "export", "links", "d", "--format", "graphml", "--out", str(tmp_path / "g"), cwd=crawled.parent
    )
    assert ran.returncode == 0, ran.stderr
    space = "{http://graphml.graphdrawing.org/xmlns}"
    graph = ElementTree.parse(tmp_path / "g" / "links.graphml").getroot().find(f"{space}graph")
    assert graph is not None
    nodes = {node.get("id"): node.findtext(f"{space}data") for node in graph.findall(f"{space}node")}
    edges = sorted((edge.get("source"), edge.get("target")) for edge in graph.findall(f"{space}edge"))
    with gzip.open(tmp_path / "tsv" / "page_edges.tsv.gz", "rt") as lines:
        assert edges == sorted((f"n{line.split()[0]}", f"n{line.split()[1]}") for line in lines)
    with gzip.open(tmp_path / "tsv" / "urls.tsv.gz", "rt") as lines:
        assert nodes == {f"n{line.split()[0]}": line.split()[1] for line in lines}


def test_conditions_and_columns(crawled: Path, tmp_path: Path) -> None:
    files = _export(crawled, tmp_path / "c", "pages", "d", "--where", "status = 404 -- none else",
                    "--columns", "url,status", "--format", "csv", "--compress", "none")  # fmt: skip
    rows = list(csv.reader(io.StringIO(files[0].read_text())))
    assert rows[0] == ["url", "status"]
    assert {row[1] for row in rows[1:]} == {"404"}
    other = "url in (select target from links where kind = 'image')"
    assert [
        row["url"][-6:] for row in _lines(_export(crawled, tmp_path / "o", "pages", "d", "--where", other))
    ] == (
        [
            row["url"][-6:]
            for row in _lines(_export(crawled, tmp_path / "x", "pages", "d", "--where", "url like '%x.png'"))
        ]
    )
    for arguments, said in (
        (["pages", "d", "--where", "status = = 1"], "LINE 2"),
        (["pages", "d", "--where", "1=1) union select * from read_text('/etc/passwd'"], ""),
        (["pages", "d", "--columns", "url,nothing"], "no such column"),
        (["pages", "d", "--format", "wet"], "pages come as"),
        (["links", "d", "--split", "1MB"], "--split does not go with"),
        (["pages", "d", "--split", "much"], "--split"),
        (["pages", "d", "--to", "mysql://h/db"], "--to"),
        (["pages", "d", "--out", "no-such-store://x"], "no-such-store://x"),
        (["files", "d", "--out", "memory://x"], "folder"),
        (["files", "d", "--names", "{url}"], "there is no {url}"),
    ):
        ran = gossamer("export", *arguments, cwd=crawled.parent)
        assert ran.returncode == 2, arguments
        assert said in ran.stderr
        assert "Traceback" not in ran.stderr


def test_what_is_not_read_yet_is_said(crawled: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(crawled, tmp_path / "d", ignore=shutil.ignore_patterns(FOLDER, "exports"))
    ran = gossamer("export", "text", "d", cwd=tmp_path)
    captures = len((crawled / "index.cdxj").read_text().splitlines())
    assert ran.returncode == 1
    assert f"{captures} captures not in it yet" in ran.stderr
    assert "gossamer index d" in ran.stderr
    assert gossamer("export", "pages", "d", cwd=tmp_path).returncode == 0, "these need no documents"
    assert gossamer("index", "d", "-q", cwd=tmp_path).returncode == 0
    ran = gossamer("export", "text", "d", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("d/exports/text-jsonl: 3 rows in 1 file")


def test_addresses_of_fsspec(crawled: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    table = hostile_tables(tmp_path)
    source = source_of("documents", "url,title", "", table)
    form = LinesForm("jsonl", source.table, packed=False)
    written = write_parts(source, form, place_of("memory://exports/one"), 100, 0)
    assert len(written.files) > 0
    files = fsspec.filesystem("memory")
    text = b"".join(files.cat(f"/exports/one/{piece.file}") for piece in written.files)
    assert text == _of(source, form, tmp_path / "there", 0)
    files.rm_file(f"/exports/one/{written.files[-1].file}")
    assert write_parts(source, form, place_of("memory://exports/one"), 100, 0) == written
    assert files.exists(f"/exports/one/{written.files[-1].file}")
    moved = _export(crawled, tmp_path / "local", "hosts", "d")
    again = gossamer("export", "hosts", "d", "--out", (tmp_path / "uri").as_uri(), cwd=crawled.parent)
    assert again.returncode == 0
    assert (tmp_path / "uri" / moved[0].name).read_bytes() == moved[0].read_bytes()


def _of(source: Source, form: Form, out: Path, split: int) -> bytes:
    written = write_parts(source, form, Folder(out), split, 0)
    return b"".join((out / piece.file).read_bytes() for piece in written.files)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def test_hostile_rows(tmp_path: Path) -> None:
    source = source_of("documents", "url,title,text", "", hostile_tables(tmp_path))
    titles = [*map(_clean, HOSTILE), "none", "long"]
    rows = [
        json.loads(line)
        for line in _of(
            source, LinesForm("jsonl", source.table, packed=False), tmp_path / "j", 0
        ).splitlines()
    ]
    assert [row["title"] for row in rows] == titles
    assert rows[-1]["text"] == LONG
    csv.field_size_limit(1 << 28)
    text = _of(source, LinesForm("csv", source.table, packed=True), tmp_path / "c", 0)
    cells = list(csv.reader(io.StringIO(gzip.decompress(text).decode(), newline="")))
    shown = [title.replace("\0", "\ufffd") for title in titles]
    assert [row[1] for row in cells[1:]] == [f"'{one}" if one[0] in "=+-@\t" else one for one in shown]
    assert cells[-1][2] == LONG
    write_parts(source, ParquetForm(source.table, 0), Folder(tmp_path / "p"), 0, 0)
    assert parquet.read_table(tmp_path / "p" / "part-00000.parquet").column("title").to_pylist() == titles
    texts = source_of("text", ",".join(COLUMNS), "", source.files)
    write_parts(texts, WetForm(lambda *_: "", "x", packed=True), Folder(tmp_path / "w"), 0, 0)
    with (tmp_path / "w" / "part-00000.warc.wet.gz").open("rb") as stream:
        blocks = [one.content_stream().read() for one in ArchiveIterator(stream, check_digests="raise")][1:]
    assert [block.decode() for block in blocks] == [*map(_clean, HOSTILE), LONG], (
        "who has no text is left out"
    )


@pytest.mark.parametrize("where", ["", "time >= '1970-01-01'"])
def test_split_files_are_of_the_size_and_go_on(tmp_path: Path, where: str) -> None:
    source = source_of("visits", "url,time", where, visits(tmp_path, 3_000))
    form = LinesForm("jsonl", source.table, packed=False)
    out = tmp_path / "out"
    whole = _of(source, form, tmp_path / "one", 0)
    assert len(whole.splitlines()) == 3_000
    assert _of(source, form, out, 40_000) == whole
    manifest = json.loads((out / MANIFEST).read_bytes())
    sizes = [piece["bytes"] for piece in manifest["files"]]
    assert all(40_000 <= size < 60_000 for size in sizes[:-1])
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert _of(source, form, out, 40_000) == whole
    assert before == {path: path.stat().st_mtime_ns for path in out.iterdir()}, "nothing is left to do"
    (out / "part-00002.jsonl").unlink()
    assert _of(source, form, out, 40_000) == whole
    assert before[out / "part-00001.jsonl"] == (out / "part-00001.jsonl").stat().st_mtime_ns
    (tmp_path / "visits-3.parquet").touch()
    shorter = source_of("visits", "url", where, source.files)
    begun = _of(shorter, LinesForm("jsonl", shorter.table, packed=False), out, 0)
    assert len(begun.splitlines()) == 3_000
    assert {path.name for path in out.iterdir()} == {MANIFEST, "part-00000.jsonl"}, "old files are gone"


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    source = source_of("visits", "", "", visits(tmp_path, 4))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    form = LinesForm("csv", source.table, packed=False)
    with pytest.raises(ConfigError, match="other files"):
        write_parts(source, form, Folder(tmp_path / "out"), 0, 0)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]
    (tmp_path / "out" / MANIFEST).write_text("{}")
    with pytest.raises(ConfigError, match="damaged"):
        write_parts(source, form, Folder(tmp_path / "out"), 0, 0)
    place = Folder(tmp_path / "two")
    with place.alone(), pytest.raises(ConfigError, match="another export"):
        write_parts(source, form, Folder(tmp_path / "two"), 0, 0)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        write_parts(source, form, Folder(tmp_path / "file" / "x"), 0, 0)


_SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from gossamer.datasets.export.forms import LinesForm
from gossamer.datasets.export.parts import write_parts
from gossamer.datasets.export.places import Folder
from gossamer.datasets.export.rows import source_of
folder = Path({folder!r})
source = source_of("visits", "", "", {{"visits": sorted(folder.glob("visits-*.parquet"))}})
write_parts(source, LinesForm("jsonl", source.table, packed=True), Folder(folder / "out"), 20_000, 0)
"""


def test_killed_it_goes_on_and_has_each_row_once(tmp_path: Path) -> None:
    table = visits(tmp_path, 200_000)
    code = _SLOW.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    out, files = tmp_path / "out", 0
    for wanted in (2, 5):
        process = subprocess.Popen([sys.executable, "-c", code])
        deadline = time.monotonic() + PATIENCE
        while len(list(out.glob("part-*.gz"))) < wanted and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was killed before its end"
        manifest = json.loads((out / MANIFEST).read_bytes())
        assert not manifest["whole"]
        assert len(manifest["files"]) >= files
        files = len(manifest["files"])
    kept = {path: path.stat().st_mtime_ns for path in sorted(out.glob("part-*.gz"))[:files]}
    source = source_of("visits", "", "", table)
    written = write_parts(source, LinesForm("jsonl", source.table, packed=True), Folder(out), 20_000, 0)
    assert (written.whole, written.rows) == (True, 200_000)
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert [row["url"] for row in _lines([out / piece.file for piece in written.files])] == (
        [f"http://h/{number}" for number in range(200_000)]
    )
    assert not list(out.glob("*.partial"))


def _limited(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_full_disk_is_said_and_what_is_whole_stays(tmp_path: Path, kind: str) -> None:
    visits(tmp_path, 40_000)
    form = (
        "ParquetForm(source.table, 0)"
        if kind == "parquet"
        else f"LinesForm('{kind}', source.table, packed=False)"
    )
    code = _SLOW.format(tests="", folder=str(tmp_path)).replace(
        'LinesForm("jsonl", source.table, packed=True)', form
    )
    code = code.replace("import LinesForm", "import LinesForm, ParquetForm").replace("20_000, 0", "0, 0")
    ran = subprocess.run([sys.executable, "-B", "-c", code], preexec_fn=lambda: _limited(60_000), capture_output=True,
                         text=True, check=False)  # fmt: skip
    assert ran.returncode == 1
    assert "StorageError" in ran.stderr.splitlines()[-1], ran.stderr
    assert "cannot be written" in ran.stderr.splitlines()[-1]
    assert "Exception ignored" not in ran.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == [MANIFEST], "no half file"
    assert subprocess.run([sys.executable, "-c", code], check=True).returncode == 0
    assert json.loads((tmp_path / "out" / MANIFEST).read_bytes())["rows"] == 40_000


def test_memory_is_bounded(tmp_path: Path) -> None:
    """Half a gigabyte of text, a few MB at a time."""
    from exported import document

    from gossamer.datasets.parquet import write_table
    from gossamer.datasets.tables import DOCUMENTS

    paths = []
    for part in range(10):
        paths.append(tmp_path / f"documents-{part}.parquet")
        write_table(DOCUMENTS, [document(number, "x", "a b c " * 200_000) for number in range(40)], paths[-1])
    code = (
        "from pathlib import Path\n"
        "from gossamer.datasets.export.forms import LinesForm, ParquetForm\n"
        "from gossamer.datasets.export.parts import write_parts\n"
        "from gossamer.datasets.export.places import Folder\n"
        "from gossamer.datasets.export.rows import source_of\n"
        f"folder = Path({str(tmp_path)!r}); import sys\n"
        "source = source_of('text', '', '', {'documents': sorted(folder.glob('documents-*.parquet'))})\n"
        "form = LinesForm('jsonl', source.table, packed=True)\n"
        "form = form if sys.argv[1] == 'jsonl' else ParquetForm(source.table, 0)\n"
        "print(write_parts(source, form, Folder(folder / sys.argv[1]), 0, 0).rows)\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
    )
    for kind in ("jsonl", "parquet"):
        ran = subprocess.run([sys.executable, "-c", code, kind], capture_output=True, text=True, check=True)
        rows, kibibytes = map(int, ran.stdout.split())
        assert rows == 400
        assert kibibytes < 400 << 10


def test_a_manifest_says_what_it_is_of(tmp_path: Path) -> None:
    import msgspec

    source = source_of("visits", "url", "", visits(tmp_path, 4))
    written = write_parts(source, LinesForm("csv", source.table, packed=False), Folder(tmp_path / "o"), 0, 7)
    held = msgspec.json.decode((tmp_path / "o" / MANIFEST).read_bytes(), type=Manifest)
    assert held == written
    assert (held.of.what, held.of.columns, held.unread, held.whole) == ("visits", ["url"], 7, True)


def test_into_sqlite_and_back(crawled: Path, tmp_path: Path) -> None:
    for table in ("pages", "text", "links"):
        arguments = ("export", table, str(crawled), "--to", f"sqlite:///{tmp_path}/all.db")
        ran = gossamer(*arguments, "--json", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        told = json.loads(ran.stdout)
        rows = _lines(_export(crawled, tmp_path / table, table, "d", "--format", "jsonl"))
        assert told["rows"] == told["written"] == len(rows) > 0
        assert f"{len(rows):,} row" in gossamer(*arguments, cwd=tmp_path).stdout
        with sqlite3.connect(tmp_path / "all.db") as base:
            names = [f'"{name}"' for name in rows[0]]
            held = base.execute(f"select {', '.join(names)} from {table}").fetchall()
        base.close()
        assert sorted(map(str, held)) == sorted(
            str(tuple(row.values())).replace("True", "1").replace("False", "0") for row in rows
        )
    ran = gossamer(
        "export", "pages", str(crawled), "--to", f"sqlite:///{tmp_path}/x.db", "--format", "csv", cwd=tmp_path
    )
    assert ran.returncode == 2
    assert "--format" in ran.stderr
