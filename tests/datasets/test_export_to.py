"""Exports into databases: the real servers where there are such, every row once, whatever is killed when."""

import http.server
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from patience import PATIENCE

pytest.importorskip("pyarrow", reason="no extra with tables is installed")

from exported import HOSTILE, LONG, hostile_tables, visits

from gossamer.datasets.export.databases import PROGRESS, PostgreSql, Sqlite, load
from gossamer.datasets.export.opensearch import OpenSearch
from gossamer.datasets.export.rows import source_of
from gossamer.model.errors import ConfigError, StorageError


def _program(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Address of a PostgreSQL server of our own, on a Unix socket; `{}` stands for the database."""
    pytest.importorskip("pg8000", reason="the extra `export` is not installed")
    if not (_program("initdb") and _program("pg_ctl")):
        pytest.skip("no PostgreSQL is installed")
    folder = Path(tempfile.mkdtemp(prefix="gossamer-pg-"))
    prefix: list[str] = []
    if os.geteuid() == 0:  # it refuses to run as root
        prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
            prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(folder, "postgres", "postgres")

    def run(*command: str | None) -> None:
        words = [*prefix, *map(str, command)]
        environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C"}
        subprocess.run(
            words, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE, env=environment
        )

    data = folder / "data"
    run(_program("initdb"), "-D", str(data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
    settings = f"-k {folder} -c listen_addresses= -c fsync=off"
    run(_program("pg_ctl"), "-D", str(data), "-o", settings, "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"postgresql://postgres@/{{}}?host={quote(str(folder))}"
    finally:
        run(_program("pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _fresh(server: str, name: str) -> str:
    """A new database."""
    first = PostgreSql(server.format("postgres"))
    first.ask(f"create database {name}")
    first.close()
    return server.format(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/file.db"
    name = re.sub(r"\W", "_", f"t{request.node.name}".lower())[:60]
    return _fresh(request.getfixturevalue("server"), name)


def _open(address: str) -> PostgreSql | Sqlite:
    return Sqlite(address) if address.startswith("sqlite") else PostgreSql(address)


@pytest.mark.slow
def test_rows_are_there_once_however_often_they_are_exported(address: str, tmp_path: Path) -> None:
    source = source_of("links", "", "", hostile_tables(tmp_path))
    for number in range(3):
        database = _open(address)
        loaded = load(source, database)
        count = 3 + len(HOSTILE)
        assert (loaded.rows, loaded.written) == (count, 0 if number else count)
        if number == 1:  # the table was emptied by hand: its rows come back
            database.ask("drop table links")
            assert load(source, database).written == count
        rows = database.ask("select target, text, time from links")
        database.close()
        assert len(rows) == count
        assert sorted(row[1] for row in rows if row[1] != "same") == sorted(
            text.encode("utf-8", "replace").decode().replace("\0", "\ufffd") for text in HOSTILE
        )
        assert max(len(row[0]) for row in rows) == 9_009


@pytest.mark.slow
def test_long_texts_and_changed_rows(address: str, tmp_path: Path) -> None:
    table = hostile_tables(tmp_path)
    source = source_of("documents", "url,time,serial,offset,title,text,cut,confidence", "", table)
    database = _open(address)
    load(source, database)
    assert database.ask("select text from documents where title = 'long'")[0][0] == LONG
    assert database.ask("select count(*) from documents where title = 'none' and text is null")[0][0] == 1
    database.ask("update documents set title = 'changed'")
    os.utime(table["documents"][0], (1, 1))  # as if the crawl had gone on
    assert load(source, database).written == len(HOSTILE) + 2
    assert database.ask("select count(*) from documents where title = 'changed'")[0][0] == 0
    assert database.ask("select count(*) from documents")[0][0] == len(HOSTILE) + 2
    database.close()


def test_what_cannot_be_put_is_refused(address: str, tmp_path: Path) -> None:
    table = visits(tmp_path, 8)
    database = _open(address)
    with pytest.raises(ConfigError, match="attempt"):
        load(source_of("visits", "url,time", "", table), database)
    database.ask("create table visits (mine text)")
    with pytest.raises(ConfigError, match="other columns"):
        load(source_of("visits", "", "", table), database)
    database.close()


_EXPORT = """
from pathlib import Path
from gossamer.datasets.export import databases
from gossamer.datasets.export.rows import source_of
databases._ROWS = 500
database = databases.{kind}({address!r})
source = source_of("visits", "", "", {{"visits": sorted(Path({folder!r}).glob("visits-*.parquet"))}})
print(databases.load(source, database).written)
"""


@pytest.mark.slow
def test_killed_it_goes_on_without_doubles(address: str, tmp_path: Path) -> None:
    visits(tmp_path, 60_000)
    code = _EXPORT.format(
        kind="Sqlite" if address.startswith("sqlite") else "PostgreSql", address=address, folder=str(tmp_path)
    )
    database = _open(address)
    before = 0
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while (done := _done(database)) < before + 2_000 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was killed before its end"
        _until_nobody_else_is_there(database)
        before = done
    before = _done(database)
    assert 0 < before < 60_000
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ran.stdout) == 60_000 - before, "only what was missing"
    assert database.ask("select count(*), count(distinct url) from visits")[0] == (60_000, 60_000)
    database.close()


def _until_nobody_else_is_there(database: PostgreSql | Sqlite) -> None:
    """A server may be about to commit what a client said last that is dead already."""
    others = "select 1 from pg_stat_activity where datname = current_database() and pid != pg_backend_pid()"
    deadline = time.monotonic() + PATIENCE
    while isinstance(database, PostgreSql) and database.ask(others):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _done(database: PostgreSql | Sqlite) -> int:
    try:
        rows = database.ask(f"select done from {PROGRESS}")
    except StorageError:  # no table yet
        return 0
    return int(rows[0][0]) if rows else 0


@pytest.mark.slow
def test_a_full_disk_takes_back_the_batch(tmp_path: Path) -> None:
    visits(tmp_path, 20_000)
    code = _EXPORT.format(kind="Sqlite", address=f"sqlite:///{tmp_path}/file.db", folder=str(tmp_path))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    ran = subprocess.run(
        [sys.executable, "-c", code], preexec_fn=limited, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "StorageError: sqlite:///" in ran.stderr
    assert subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL).returncode == 0
    with sqlite3.connect(tmp_path / "file.db") as base:
        assert base.execute("select count(*) from visits").fetchone() == (20_000,)
        assert base.execute("pragma integrity_check").fetchone() == ("ok",)
    base.close()


def test_addresses_that_are_none(server: str, tmp_path: Path) -> None:
    for address in ("sqlite://x", "sqlite:///", "sqlite:x"):
        with pytest.raises(ConfigError, match=r"sqlite:///file\.db"):
            Sqlite(address)
    with pytest.raises(StorageError, match="unable to open"):
        Sqlite(f"sqlite:///{tmp_path}/none/x.db")
    with pytest.raises(StorageError, match="no_such_base"):
        PostgreSql(server.format("no_such_base"))
    with pytest.raises(StorageError) as refused:
        PostgreSql("postgresql://me:s3cret@127.0.0.1:1/x")
    assert "s3cret" not in str(refused.value)
    with pytest.raises(ConfigError, match="sslmode"):
        PostgreSql("postgresql://h/x?sslmode=maybe")


class _Search(http.server.BaseHTTPRequestHandler):
    """Answers as OpenSearch does, and is strict about the form of a bulk request."""

    protocol_version = "HTTP/1.1"
    server: "_SearchServer"

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["Content-Type"] == "application/json"
        if self.server.mappings is not None:
            self._answer(
                400,
                {"error": {"type": "resource_already_exists_exception", "reason": "it is"}, "status": 400},
            )
            return
        self.server.mappings = body["mappings"]["properties"]
        self._answer(200, {"acknowledged": True, "shards_acknowledged": True, "index": self.path[1:]})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(len(data))
        if self.server.busy:
            self.server.busy -= 1
            self._answer(
                429, {"error": {"type": "circuit_breaking_exception", "reason": "busy"}, "status": 429}
            )
            return
        wrong = self._wrong(data)
        if wrong:
            self._answer(
                400, {"error": {"type": "illegal_argument_exception", "reason": wrong}, "status": 400}
            )
            return
        items = []
        lines = data.decode().split("\n")[:-1]
        for action, row in zip(lines[::2], lines[1::2], strict=True):
            items.append(self._item(json.loads(action)["index"]["_id"], json.loads(row)))
        errors = any("error" in item["index"] for item in items)
        self._answer(200, {"took": 1, "errors": errors, "items": items})

    def _wrong(self, data: bytes) -> str:
        if self.path != "/crawl/_bulk":
            return f"no handler for {self.path}"
        if self.headers["Content-Type"] != "application/x-ndjson":
            return "Content-Type header is not supported"
        if not data.endswith(b"\n"):
            return "The bulk request must be terminated by a newline [\\n]"
        lines = data.decode().split("\n")[:-1]
        if len(lines) % 2:
            return "a row is missing"
        for number, line in enumerate(lines):
            value = json.loads(line)
            if number % 2 == 0 and (
                list(value) != ["index"]
                or list(value["index"]) != ["_id"]
                or len(value["index"]["_id"].encode()) > 512
            ):
                return "Malformed action/metadata line"
            if number % 2 and not set(value) <= set(self.server.mappings or {}):
                return "strict_dynamic_mapping_exception"
        return ""

    def _item(self, key: str, row: dict[str, Any]) -> dict[str, Any]:
        about = {"_index": "crawl", "_id": key}
        self.server.seen += 1
        if self.server.seen % 5 == 0 and key not in self.server.refused:
            self.server.refused.add(key)
            error = {"type": "rejected_execution_exception", "reason": "queue is full"}
            return {"index": {**about, "status": 429, "error": error}}
        if "mapper" in str(row.get("became")):
            error = {"type": "mapper_parsing_exception", "reason": "failed to parse"}
            return {"index": {**about, "status": 400, "error": error}}
        known = key in self.server.rows
        self.server.rows[key] = row
        return {
            "index": {**about, "status": 200 if known else 201, "result": "updated" if known else "created"}
        }

    def _answer(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.server.authorised.add(self.headers.get("Authorization"))

    def log_message(self, *args: object) -> None:
        pass


class _SearchServer(http.server.ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Search)
        self.mappings: dict[str, Any] | None = None
        self.rows: dict[str, dict[str, Any]] = {}
        self.requests: list[int] = []
        self.refused: set[str] = set()
        self.authorised: set[str | None] = set()
        self.seen = self.busy = 0


@pytest.fixture
def search() -> Iterator[_SearchServer]:
    with _SearchServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_rows_reach_opensearch_once_each(search: _SearchServer, tmp_path: Path) -> None:
    table = hostile_tables(tmp_path)
    source = source_of("documents", "url,time,serial,offset,title,text,cut,confidence", "", table)
    address = f"opensearch+http://me:pass%40word@127.0.0.1:{search.server_address[1]}/crawl"
    waited: list[float] = []
    search.busy = 2
    for _ in range(2):
        opened = OpenSearch(address, waited.append)
        loaded = opened.load(source)
        assert "pass" not in loaded.to
        assert (loaded.rows, loaded.written, loaded.problems) == (len(HOSTILE) + 2, len(HOSTILE) + 2, [])
    assert len(search.rows) == len(HOSTILE) + 2
    assert {row["title"] for row in search.rows.values()} >= {"=1+1", "nul\0nul", "long"}
    assert LONG in {row["text"] for row in search.rows.values()}
    assert search.authorised == {"Basic bWU6cGFzc0B3b3Jk"}
    assert search.mappings is not None
    assert search.mappings["time"] == {"type": "date"}
    assert waited[:2] == [1.0, 2.0], "longer each time"


def test_rows_are_sent_in_bounded_requests_and_refusals_are_told(
    search: _SearchServer, tmp_path: Path
) -> None:
    from gossamer.datasets.parquet import write_table
    from gossamer.datasets.snapshot import VisitRow
    from gossamer.datasets.tables import VISITS

    rows = [
        VisitRow(number, f"http://h/{number}", became="mapper" if number in (7, 9) else "done")
        for number in range(2_500)
    ]
    write_table(VISITS, rows, tmp_path / "visits.parquet")
    source = source_of("visits", "", "", {"visits": [tmp_path / "visits.parquet"]})
    loaded = OpenSearch(f"opensearch+http://127.0.0.1:{search.server_address[1]}/crawl", lambda _: None).load(
        source
    )
    assert (loaded.rows, loaded.written) == (2_500, 2_498)
    assert sorted(loaded.problems) == [
        f"http://h/{n}: mapper_parsing_exception: failed to parse" for n in (7, 9)
    ]
    assert len(search.rows) == 2_498
    assert max(search.requests) < 5 << 20


def test_a_server_that_is_not_there_or_always_busy(search: _SearchServer, tmp_path: Path) -> None:
    source = source_of("visits", "", "", visits(tmp_path, 8))
    waited: list[float] = []
    with pytest.raises(StorageError, match="does not answer"):
        OpenSearch("opensearch+http://127.0.0.1:1/crawl", waited.append).load(source)
    assert len(waited) == 7
    assert waited == sorted(waited)
    search.busy = 1_000
    with pytest.raises(StorageError, match="status 429"):
        OpenSearch(f"opensearch+http://127.0.0.1:{search.server_address[1]}/crawl", waited.append).load(
            source
        )
    for address in (
        "opensearch+ftp://h/i",
        "opensearch+http://h",
        "opensearch+http://h/Upper",
        "opensearch+http://h/_x",
    ):
        with pytest.raises(ConfigError, match="--to"):
            OpenSearch(address)
