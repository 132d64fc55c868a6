"""Tables of what documents say: each document once, whatever is killed when."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE

pytest.importorskip("pypdfium2", reason="the extra `documents` is not installed")

from in_process import gossamer
from isolated_toys import Sleeps
from small_site import Answer, small_site

from gossamer.archive.follower import Mark
from gossamer.datasets import derived, deriving
from gossamer.datasets.derived import FOLDER, DamagedTables, Store, files_of, rows_of, state_of
from gossamer.datasets.deriving import Deriving, DocumentRow
from gossamer.datasets.tables import DERIVED
from gossamer.documents.config import DocumentsConfig
from gossamer.documents.said import DocumentText
from gossamer.inspect.inspection import inspect
from gossamer.model.errors import ConfigError

pytestmark = pytest.mark.slow

WORDS = "The quick brown fox jumps over the lazy dog and runs into the forest, where it sleeps until noon. "
SITE = {
    "/": (
        "text/html",
        "<title>Home</title>" + "".join(f"<a href={to}>x</a>" for to in ("/a", "/b.txt", "/hostile", "/copy", "/torn")),
    ),
    "/a": ("text/html", f"<html lang=en><title>Fox</title><h1>Fox</h1><p class=price>12,50</p><p>{WORDS * 3}</p>"
           "<img src=/x.png alt=X width=3 height=4><a href='mailto:fox@example.org'>mail</a>"),
    "/b.txt": ("text/plain", WORDS * 2 + "see http://elsewhere.test/"),
    "/hostile": ("text/html", "<div>" * 50_000),
    "/torn": ("text/html", "in a coding that nobody undoes"),
    "/copy": ("text/html", f"<html lang=en><title>Fox</title><h1>Fox</h1><p class=price>12,50</p><p>{WORDS * 3}</p>"
              "<img src=/x.png alt=X width=3 height=4><a href='mailto:fox@example.org'>mail</a>"),
}  # fmt: skip


def page(path: str) -> Answer | None:
    if path.startswith("n/"):
        number = int(path[2:])
        text = f"<title>{number}</title><p>{WORDS}{number}</p><a href=/n/{number + 1}>next</a>"
        return (200, {}, text) if number < 60 else None
    if f"/{path}" not in SITE:
        return None
    kind, text = SITE[f"/{path}"]
    return 200, {"Content-Type": kind, **({"Content-Encoding": "compress"} if path == "torn" else {})}, text


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with small_site(page) as address:
        yield address.rstrip("/")


@pytest.fixture(scope="module")
def crawled(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("crawl")
    ran = gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "-q", "--field", "price=.price | number",
                    "--documents", cwd=root)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return root / "d"


def _rows(folder: Path, table: str = "documents") -> list[dict[str, object]]:
    return sorted(rows_of(folder / FOLDER, table), key=lambda row: (str(row["url"]), str(row.get("target"))))


def test_a_crawl_with_documents_has_them_when_it_ends(crawled: Path, site: str) -> None:
    rows = {str(row["url"]).removeprefix(site): row for row in _rows(crawled)}
    assert set(rows) == set(SITE), "the copy, too, though the archive has its content once"
    assert rows["/torn"]["marks"] == "no answer: malformed"
    fox = rows["/a"]
    assert "quick brown fox" in str(fox["text"])
    assert (fox["title"], fox["language"], fox["emails"]) == ("Fox", "en", "fox@example.org")
    assert fox["extractor"]
    assert fox["version"]
    assert rows["/copy"]["text"] == fox["text"]
    assert "too-complex" in str(rows["/hostile"]["marks"])
    links = {(row["url"], row["target"], row["kind"]) for row in _rows(crawled, "links")}
    assert (f"{site}/", f"{site}/a", "link") in links
    assert (f"{site}/a", f"{site}/x.png", "image") in links
    fields = [(row["url"], row["name"], row["number"]) for row in _rows(crawled, "fields")]
    assert (f"{site}/a", "price", 12.5) in fields


def test_index_adds_nothing_twice_and_makes_again_what_was_deleted(crawled: Path) -> None:
    before = _rows(crawled)
    again = gossamer("index", str(crawled), "--json", cwd=crawled)
    assert json.loads(again.stdout)["documents"] == len(before)
    assert _rows(crawled) == before
    for path in (crawled / FOLDER).iterdir():
        path.unlink()
    assert gossamer("index", str(crawled), "-q", cwd=crawled).returncode == 0
    assert _rows(crawled) == before


def test_other_fields_make_all_again(crawled: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(crawled, tmp_path / "d")
    settings = tmp_path / "d" / "crawl.toml"
    settings.write_text(settings.read_text().replace("price = ", "cost = "))
    assert gossamer("index", "d", "-q", cwd=tmp_path).returncode == 0
    assert {row["name"] for row in _rows(tmp_path / "d", "fields")} == {"cost"}
    assert len(_rows(tmp_path / "d")) == len(_rows(crawled))


def test_no_document_takes_more_than_its_share_of_the_memory_of_its_reader(
    crawled: Path, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much the crawl may fetch: the beginning is read, and marked."""
    shutil.copytree(crawled, folder := tmp_path / "d")
    shutil.rmtree(folder / FOLDER)
    monkeypatch.setattr(deriving, "SHARE", DocumentsConfig().memory // 150)
    assert gossamer("index", "d", "-q", "--no-search", cwd=tmp_path).returncode == 0
    rows = {str(row["url"]).removeprefix(site): row for row in _rows(folder)}
    assert rows["/b.txt"]["text"] == (WORDS * 2)[:150]
    parts = {path for path, row in rows.items() if "part" in str(row["marks"]).split("\n")}
    assert parts == {path for path, (_, text) in SITE.items() if len(text) > 150}


def test_one_process_at_a_time(crawled: Path) -> None:
    with inspect(crawled) as inspection:
        one = Deriving(crawled, inspection)
        try:
            with pytest.raises(ConfigError, match="another process"):
                Deriving(crawled, inspection)
        finally:
            one.close()


def test_killed_at_any_moment_every_document_is_there_once(site: str, tmp_path: Path, monkeypatch) -> None:
    ran = gossamer("crawl", f"{site}/n/0", "--min-delay", "0", "--dir", "d", "-q", cwd=tmp_path)
    assert ran.returncode == 0
    kills = 0
    command = [sys.executable, "-c",
               "from gossamer.datasets import deriving; deriving.ROWS = 3; from gossamer.cli import main; main()",
               "index", "d", "-q"]  # fmt: skip
    for wait in (0.9, 1.2, 1.4, 1.6):
        process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True)
        time.sleep(wait)
        if process.poll() is None:
            kills += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        seen = [row["url"] for row in _rows(tmp_path / "d")]
        assert len(seen) == len(set(seen))
    assert kills
    assert subprocess.run(command, cwd=tmp_path, check=True).returncode == 0
    assert {str(row["title"]) for row in _rows(tmp_path / "d")} == {str(number) for number in range(60)}
    state = state_of(tmp_path / "d" / FOLDER)
    assert state is not None
    assert state.documents == 60


def _row(serial: int, offset: int) -> DocumentRow:
    return DocumentRow(
        f"http://h/{serial}/{offset}", 0.0, serial, offset, 200, DocumentText(media_type="text/plain"), ()
    )


def _add(store: Store, rows: list[DocumentRow], mark: Mark) -> None:
    store.commit({"documents": rows, "links": [], "fields": []}, mark, 0.0, ())


def test_what_the_archive_lost_is_dropped(tmp_path: Path) -> None:
    store = Store(tmp_path / "documents", "")
    _add(store, [_row(0, 10), _row(0, 20)], Mark(0, 30))
    _add(store, [_row(1, 5), _row(1, 15)], Mark(1, 25))
    store.rewind(Mark(1, 15, "x"))
    assert sorted(str(row["url"]) for row in rows_of(tmp_path / "documents", "documents")) == [
        "http://h/0/10", "http://h/0/20", "http://h/1/5",
    ]  # fmt: skip
    assert store.state.documents == 3
    store.rewind(Mark())
    assert list(rows_of(tmp_path / "documents", "documents")) == []
    store.close()


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:100])])
def test_damaged_parts_are_told_when_they_are_merged(tmp_path: Path, harm) -> None:
    store = Store(tmp_path / "documents", "")
    for number in range(5):
        _add(store, [_row(0, number)], Mark(0, number + 1))
    harm(files_of(tmp_path / "documents")["documents"][2])
    with pytest.raises(DamagedTables, match="documents: cannot be read"):
        for number in range(5, 10):
            _add(store, [_row(0, number)], Mark(0, number + 1))
    store.close()


def test_many_small_parts_become_one_and_only_who_said_so_keeps_the_old(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    store = Store(folder, "")
    for number in range(4):
        _add(store, [_row(0, number)], Mark(0, number + 1))
    with derived.being_read([folder, tmp_path / "elsewhere"]):
        held = files_of(folder)["documents"]
        for number in range(4, 20):
            _add(store, [_row(0, number)], Mark(0, number + 1))
        assert not set(held) & set(files_of(folder)["documents"])
        assert all(path.exists() for path in held)
    assert len(store.state.parts) < 8
    assert [row["offset"] for row in rows_of(folder, "documents")] == list(range(20))
    store.close()
    assert len(list(folder.glob("*.parquet"))) == len(DERIVED) * len(store.state.parts)


def test_a_document_is_written_anew_a_few_times_however_many_parts_come(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "documents"
    store = Store(folder, "")
    written = 0
    for number in range(200):
        before = {part.number: part.documents for part in store.state.parts}
        _add(store, [_row(0, number)], Mark(0, number + 1))
        written += sum(part.documents for part in store.state.parts if part.number not in before)
        assert len(store.state.parts) < 16
        assert len(list(folder.glob("*.parquet"))) == len(DERIVED) * len(store.state.parts)
    store.close()
    assert [row["offset"] for row in rows_of(folder, "documents")] == list(range(200))
    assert written < 200 * 7


def test_a_mark_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    store = Store(folder, "")
    _add(store, [_row(0, 1)], Mark(0, 2))
    store.close()
    mark = json.loads((folder / "mark.json").read_bytes())
    for part in mark["parts"]:
        del part["digests"]
    (folder / "mark.json").write_text(json.dumps({**mark, "gone": [[7, 1.5]]}))
    store = Store(folder, "")
    assert store.state.documents == 1
    store.close()


@pytest.mark.parametrize("table", range(len(DERIVED)))
def test_damage_is_told_when_the_tables_are_opened_for_writing(tmp_path: Path, table: int) -> None:
    folder = tmp_path / "documents"
    store = Store(folder, "")
    _add(store, [_row(0, 1)], Mark(0, 2))
    store.close()
    path = [*files_of(folder).values()][table][0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(
        DamagedTables, match=f"content has changed.*'gossamer index {tmp_path}' makes it anew"
    ):
        Store(folder, "")
    derived.discard(folder)
    Store(folder, "").close()  # nobody holds it


def test_text_and_markdown_of_one_page(crawled: Path) -> None:
    assert "quick brown fox" in gossamer("get", str(crawled), "/a", "--text", cwd=crawled).stdout
    assert "quick brown fox" in gossamer("get", str(crawled), "/a", "--markdown", cwd=crawled).stdout
    ran = gossamer("sql", str(crawled), "select d.title from documents d join pages p using (url)"
                    " where p.status = 200 and d.url like '%/a'", "--json", cwd=crawled)  # fmt: skip
    assert json.loads(ran.stdout) == {"title": "Fox"}


def test_an_interrupted_crawl_leaves_what_was_read(site: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gossamer", "crawl", f"{site}/n/0", "--min-delay", "200ms", "--dir", "d",
               "--documents", "-q"]  # fmt: skip
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    log = tmp_path / "d" / "crawl.log"
    while not log.exists() or len(log.read_bytes().splitlines()) < 8:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert gossamer("index", "d", "-q", cwd=tmp_path).returncode == 0
    assert len(_rows(tmp_path / "d")) >= 5


def test_who_says_stop_waits_for_no_document(
    crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(crawled, tmp_path / "d", ignore=shutil.ignore_patterns(FOLDER, "*.sock"))
    asks = iter(range(20))
    with monkeypatch.context() as changed, inspect(tmp_path / "d") as inspection:
        changed.setattr(deriving, "Reads", Sleeps)
        hanging = Deriving(tmp_path / "d", inspection)
        hanging.run(lambda: False, lambda: next(asks, None) is None, lambda _: None)
        hanging.close()
    state = state_of(tmp_path / "d" / FOLDER)
    first = min((row["serial"], row["offset"]) for row in rows_of(crawled / FOLDER, "documents"))
    assert state is None or (state.documents == 0 and state.mark.place <= first), (
        "the first is read another time"
    )


def test_sql_says_how_far_behind_the_tables_of_a_running_crawl_are(site: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "gossamer",
        "crawl",
        f"{site}/n/0",
        "--min-delay",
        "500ms",
        "--dir",
        "d",
        "-q",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    log = tmp_path / "d" / "crawl.log"

    def paused_after(visits: int) -> int:
        """Let it run until so many more visits are logged, pause it, and count the captures."""
        visits += len(log.read_bytes().splitlines()) if log.exists() else 0
        while not log.exists() or len(log.read_bytes().splitlines()) < visits:
            time.sleep(0.05)
        assert gossamer("pause", "d", cwd=tmp_path).returncode == 0
        before = -1
        while before != (before := len(log.read_bytes())):
            time.sleep(0.5)
        ran = gossamer("sql", "d", "select count(*) n from captures", "--json", cwd=tmp_path)
        return int(json.loads(ran.stdout)["n"])

    try:
        first = paused_after(4)
        asked = ("sql", "d", "select count(*) n from documents", "--json")
        assert f"{first} captures not in these tables yet: 'gossamer index d' reads them" in gossamer(
            *asked, cwd=tmp_path
        ).stderr  # fmt: skip
        assert gossamer("index", "d", "-q", "--once", cwd=tmp_path).returncode == 0
        assert "not in these tables" not in gossamer(*asked, cwd=tmp_path).stderr
        assert gossamer("unpause", "d", cwd=tmp_path).returncode == 0
        second = paused_after(4)
        assert f"{second - first} captures not in these tables yet" in gossamer(*asked, cwd=tmp_path).stderr
        assert second > first
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
