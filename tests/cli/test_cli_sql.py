"""`gossamer sql`: right rows, and nothing else can be reached."""

import csv
import io
import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import in_process
import pytest
from cli_run import Gossamer
from patience import PATIENCE

from gossamer.datasets.parquet import write_table
from gossamer.datasets.snapshot import FOLDER, refresh
from gossamer.datasets.sql import SPACE, SqlError, asked
from gossamer.datasets.tables import OF_THE_CRAWL, VISITS
from gossamer.inspect.inspection import inspect
from gossamer.model.errors import ConfigError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def crawl_of_site(crawl_of_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With its tables; not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copytree(crawl_of_site, folder / "d")
    assert in_process.gossamer("sql", "d", "select 1", cwd=folder).returncode == 0
    return folder / "d"


def _rows(gossamer: Gossamer, question: str) -> list[dict[str, object]]:
    ran = gossamer("sql", "d", question, "--json")
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def test_tables_agree_with_what_other_commands_say(gossamer: Gossamer, crawled: str, tmp_path: Path) -> None:
    listed = [json.loads(line) for line in gossamer("list", "d", "--json").out.splitlines()]
    names = ("url", "state", "depth", "links")
    rows = _rows(gossamer, f"select {', '.join(names)} from pages order by url")
    assert rows == sorted(
        ({name: one[name] for name in names} for one in listed), key=lambda row: str(row["url"])
    )
    index = (tmp_path / "d" / "index.cdxj").read_text(encoding="utf-8").splitlines()
    log = (tmp_path / "d" / "crawl.log").read_text(encoding="utf-8").splitlines()
    counts = "select (select count(*) from captures) captures, (select count(*) from visits) visits"
    assert _rows(gossamer, counts) == [{"captures": len(index), "visits": len(log)}]
    found = _rows(gossamer, "select title, status from pages where url like '%/a.html'")
    assert found == [{"title": "Page A", "status": 200}]
    assert _rows(gossamer, "select host, pages from hosts") == [{"host": "127.0.0.1", "pages": 4}]
    captured = json.loads(gossamer("get", "d", "/", "--captures", "--json").out)[0]["time"]
    assert _rows(gossamer, f"select time from captures where url = '{crawled}/'") == [{"time": captured}]


@pytest.mark.usefixtures("crawled")
def test_what_is_new_is_seen_and_what_is_old_is_not_written_again(gossamer: Gossamer, tmp_path: Path) -> None:
    assert _rows(gossamer, "select count(*) n from visits where became = 'done'")[0]["n"] == 5
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "d" / FOLDER).glob("*.parquet")}
    assert _rows(gossamer, "select count(*) n from visits")
    assert files == {path: path.stat().st_mtime_ns for path in files}
    with (tmp_path / "d" / "crawl.log").open("a") as log:
        log.write(
            '{"at": 1.5, "url": "http://added.example/", "became": "done"}\n{"at": 2, "url": "http://half'
        )
    added = "select count(*) filter (where host = 'added.example') one, count(*) n from visits"
    before = len((tmp_path / "d" / "crawl.log").read_bytes().splitlines())
    assert _rows(gossamer, added) == [{"one": 1, "n": before - 1}], "half a line is left for later"
    (tmp_path / "d" / "crawl.log").write_bytes(b"")
    assert _rows(gossamer, "select count(*) n from visits") == [{"n": 0}], "a log that was cut is read anew"


@pytest.mark.usefixtures("crawled")
@pytest.mark.parametrize("damage", ["mark.json", "pages.parquet"])
def test_damaged_or_missing_files_are_made_again(gossamer: Gossamer, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "d" / FOLDER / damage
    if damage == "mark.json":
        path.write_bytes(b"{")
    else:
        path.unlink()
    assert _rows(gossamer, "select count(*) n from pages where state = 'done'") == [{"n": 5}]


@pytest.mark.usefixtures("crawled")
@pytest.mark.parametrize(
    "question",
    [
        "select * from read_text('/etc/passwd')",
        "copy (select 1) to 'd/tables/pages.parquet'",
        "attach 'other.db'",
        "set enable_external_access = true",
        "select 1; select 2",
        "select " + "(" * 100_000 + "1" + ")" * 100_000,
        # One of each kind in each run; each has a process of its own, a second of work.
        *(
            pytest.param(more, marks=pytest.mark.slow)
            for more in (
                "select * from 'd/tables/pages.parquet'",
                "from glob('/*')",
                "copy (select 1) to 'out.csv'",
                "install httpfs",
                "load 'd/x.duckdb_extension'",
                "set memory_limit = '100GB'",
                "export database 'out'",
                "",
                "select from where",
                "select nothing from pages",
            )
        ),
    ],
)
def test_nothing_else_can_be_read_or_written(gossamer: Gossamer, tmp_path: Path, question: str) -> None:
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    ran = gossamer("sql", "d", question)
    assert (ran.code, ran.out) == (2, "")
    assert "Traceback" not in ran.err
    assert ran.err.strip()
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("crawled")
def test_what_cannot_be_parsed_says_where(gossamer: Gossamer) -> None:
    ran = gossamer("sql", "d", "select url\nfrom pages\nwere status = 1")
    assert "LINE 3" in ran.err


def test_a_long_question_is_ended(gossamer: Gossamer, crawled: str, tmp_path: Path) -> None:
    endless = (
        "select count(*) from range(10000000) a, range(10000000) b where hash(a.range) = hash(b.range) + 1"
    )
    with inspect(tmp_path / "d") as inspection:
        files = refresh(inspection, tmp_path / "d" / FOLDER)
    with (
        pytest.raises(SqlError, match=r"no answer within 0\.2 s"),
        asked(files, endless, seconds=0.2) as answer,
    ):
        list(answer.rows)
    big = "select string_agg(repeat('x', 1000000), '') from range(100000)"
    with (
        pytest.raises(SqlError, match=r"(?i)memory"),
        asked(files, big, seconds=60, memory="100MB") as answer,
    ):
        list(answer.rows)
    assert gossamer("sql", "d", "select 1", "--time", "soon").code == 2


@pytest.mark.parametrize(
    "question",
    [
        "select repeat('x', 2000000000)",
        "select length(lpad('x', 1500000000, 'y'))",
        "select len(range(400000000))",
    ],
)
def test_one_call_that_heeds_no_interruption_is_ended_all_the_same(question: str) -> None:
    began = time.monotonic()
    with (
        pytest.raises(SqlError, match=r"no answer within 1 s|memory"),
        asked({}, question, seconds=1) as answer,
    ):
        list(answer.rows)
    assert time.monotonic() - began < PATIENCE
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < SPACE >> 10


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("", "the question is empty"),
        ("create table t as select 1", "nothing can be changed"),
        ("drop view pages", "nothing can be changed"),
    ],
)
def test_what_is_no_question_is_told_so(question: str, words: str) -> None:
    with pytest.raises(SqlError, match=words), asked({}, question) as answer:
        list(answer.rows)


@pytest.mark.parametrize(
    "question",
    [
        "with a as (select 1) from a",
        "describe select 1",
        *(
            pytest.param(more, marks=pytest.mark.slow)
            for more in (
                "from range(2)",
                "values (1)",
                "show tables",
                "explain select 1",
                "summarize select 1",
            )
        ),
    ],
)
def test_what_returns_rows_is_a_question(question: str) -> None:
    with asked({}, question) as answer:
        list(answer.rows)


def test_equal_names_are_numbered() -> None:
    with asked({}, "select 1 url, 2 url, 3 url_1, 4 url") as answer:
        assert len(set(answer.columns)) == 4
        assert answer.columns[0] == "url"
        assert answer.columns[2] == "url_1"


def test_values_come_as_they_are() -> None:
    text = "select 1.5::decimal(3,1), date '2024-01-02', timestamptz '2024-01-02 03:04:05+02', [1, null], {'a': 'b'}"
    with asked({}, text) as answer:
        (row,) = answer.rows
    assert row[:2] == (Decimal("1.5"), date(2024, 1, 2))
    assert row[2] == datetime(2024, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert row[3:5] == ([1, None], {"a": "b"})


@pytest.mark.usefixtures("crawled")
def test_csv_is_guarded_and_what_is_not_indexed_is_said(gossamer: Gossamer) -> None:
    ran = gossamer("sql", "d", "select '=1+1' a, 'x' || chr(27) || '[2J' b, -1 c", "--format", "csv")
    assert ran.out.splitlines() == ["a,b,c", "'=1+1,x\\x1b[2J,-1"]
    ran = gossamer("sql", "d", "select 'x' || chr(10) || 'y' a, 'x' || chr(13) b", "--format", "csv")
    assert ran.out == 'a,b\n"x\ny","x\r"\n'
    ran = gossamer("sql", "d", "select count(*) from documents")
    assert ran.code == 0
    assert "7 captures not in these tables yet: 'gossamer index d' reads them" in ran.err
    assert "index" not in gossamer("sql", "d", "select count(links) from pages").err, "links is a column here"


def test_ctrl_c_ends_a_question_in_one_line(crawled: str, tmp_path: Path) -> None:
    assert crawled
    question = "with recursive r as (select 1::bigint n union all select n + 1 from r) select count(*) from r"
    command = [sys.executable, "-m", "gossamer", "sql", str(tmp_path / "d"), question]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None and not children.read_text():
            pass
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, b"gossamer: interrupted\n")


@pytest.mark.usefixtures("crawled")
def test_rows_for_people_and_spreadsheets(gossamer: Gossamer) -> None:
    ran = gossamer("sql", "d", "select title, url from pages where title like '%red%'")
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    rows = list(
        csv.reader(
            io.StringIO(
                gossamer("sql", "d", "select status, null x from pages limit 1", "--format", "csv").out
            )
        )
    )
    assert rows[0] == ["status", "x"]
    assert gossamer("sql", "d").out.startswith("pages: a URL that was visited")


def test_text_that_is_none_is_written_all_the_same(tmp_path: Path) -> None:
    from gossamer.datasets.snapshot import VisitRow

    rows: Sequence[object] = [VisitRow(1e12, "http://h/\ud800"), VisitRow(0, "\x00")]
    assert write_table(VISITS, rows, tmp_path / "visits.parquet") == 2
    with asked({"visits": [tmp_path / "visits.parquet"]}, "select url, host from visits") as answer:
        assert list(answer.rows) == [("http://h/?", "h"), ("\x00", None)]


def test_a_damaged_file_names_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "visits.parquet").write_bytes(b"PAR1 no more")
    with (
        pytest.raises(ConfigError, match="Delete it, then: gossamer index"),
        asked({"visits": [tmp_path / "visits.parquet"]}, "select 1") as answer,
    ):
        list(answer.rows)


def test_columns_are_told_once_each() -> None:
    for table in OF_THE_CRAWL:
        names = [column.name for column in table.columns]
        assert len(names) == len(set(names))
        assert all(len(column.meaning.split()) > 1 for column in table.columns)
