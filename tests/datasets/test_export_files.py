"""Documents as files: names that every file system takes, each of its own, the same again."""

import csv
import gzip
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("pyarrow", reason="no extra with tables is installed")

from exported import document, gossamer
from hypothesis import given
from hypothesis import strategies as st
from small_site import Answer, small_site

from gossamer.datasets.export.file_names import (
    FIELDS,
    USUAL,
    fields_of,
    folded,
    marked,
    name_of,
    prove_rule,
)
from gossamer.datasets.export.file_registry import FILE, MANIFEST, Registry
from gossamer.model.errors import ConfigError, StorageError

RESERVED = ("con", "PRN", "aux.txt", "nul", "COM1", "lpt9.tar.gz", "com\u00b9", "CONIN$")
LONGEST = "/" + "l" * 400
LINKED = (
    "/a",
    "/a/b",
    "/A",
    "/x/../y",
    "/con",
    "/e%CC%81",
    "/%C3%A9",
    "/gone",
    "/%2e%2e%2fetc",
    "/n%00l",
    "/dot.",
    LONGEST,
)
SITE = {
    "/": "".join(f"<a href='{to}'>x</a>" for to in LINKED),
    "/a": "<title>One</title>a", "/a/b": "<title>One</title>b", "/A": "<title>ONE</title>A",
    "/con": "c", "/e%CC%81": "accent", "/%C3%A9": "the same", "/n%00l": "nul", "/dot.": "dot",
    LONGEST: "long",
}  # fmt: skip


def page(path: str) -> Answer | None:
    text = SITE.get(f"/{path}")
    return text and (200, {"Content-Encoding": "gzip"}, gzip.compress(text.encode()))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    root = tmp_path_factory.mktemp("crawl")
    with small_site(page) as site:
        ran = gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "-q", cwd=root)
    assert ran.returncode == 0, ran.stderr
    yield root / "d", site.rstrip("/")


def _manifest(folder: Path) -> dict[str, str]:
    with (folder / MANIFEST).open(newline="", encoding="utf-8") as lines:
        return {row["url"]: row["file"] for row in csv.DictReader(lines)}


@pytest.mark.parametrize("rule", [USUAL, "{host}/{path}", "{title}", "all/{name}.{ext}"])
def test_each_document_has_a_file_with_its_content(
    crawled: tuple[Path, str], tmp_path: Path, rule: str
) -> None:
    folder, site = crawled
    out = tmp_path / "out"
    ran = gossamer("export", "files", str(folder), "--names", rule, "--out", str(out), cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    files = _manifest(out)
    pages = [
        json.loads(line)
        for line in gossamer(
            "list", str(folder), "--status", "200", "--json", cwd=tmp_path
        ).stdout.splitlines()
    ]
    assert set(files) == {page["url"] for page in pages if not page["url"].endswith("/robots.txt")}
    for url, file in files.items():
        assert (out / file).read_text() == SITE[url.removeprefix(site)]
        assert (out / file).resolve().is_relative_to(out)
        assert all(len(part.encode()) <= 255 for part in file.split("/"))
    assert len({folded(file) for file in files.values()}) == len(files)
    there = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert there == {*files.values(), FILE, MANIFEST}
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.html")}
    again = gossamer("export", "files", str(folder), "--names", rule, "--out", str(out), cwd=tmp_path)
    assert ", 0 written" in again.stdout
    assert _manifest(out) == files
    assert before == {path: path.stat().st_mtime_ns for path in before}
    other = gossamer("export", "files", str(folder), "--names", "x{name}", "--out", str(out), cwd=tmp_path)
    assert other.returncode == 2
    assert "by the rule" in other.stderr
    assert (
        gossamer(
            "export", "files", str(folder), "--names", rule, "--out", str(tmp_path / "2"), cwd=tmp_path
        ).returncode
        == 0
    )
    assert _manifest(tmp_path / "2") == files, "the same in another folder"


def test_an_archive_that_is_damaged_costs_only_what_is_in_it(
    crawled: tuple[Path, str], tmp_path: Path
) -> None:
    import shutil

    folder, site = crawled
    shutil.copytree(folder, tmp_path / "d", ignore=shutil.ignore_patterns("exports"))
    index = [json.loads(line[line.index("{") :]) for line in (folder / "index.cdxj").read_text().splitlines()]
    place = next(one for one in index if one["url"] == f"{site}/a/b")
    archive = tmp_path / "d" / "archive" / place["filename"]
    data = bytearray(archive.read_bytes())
    middle = int(place["offset"]) + int(place["length"]) // 2
    data[middle : middle + 40] = bytes(40)
    archive.write_bytes(data)
    ran = gossamer("export", "files", "d", "--out", "o", cwd=tmp_path)
    assert ran.returncode == 1
    assert "1 could not be read" in ran.stdout
    assert place["filename"] in ran.stderr
    assert len(_manifest(tmp_path / "o")) == len(SITE) - 1


def _is_safe(name: str) -> bool:
    return all(
        part not in ("", ".", "..")
        and len(part.encode()) <= 255
        and not part.startswith((".", " "))
        and not part.endswith((".", " "))
        and not set(part) & set('<>:"\\|?*')
        and all(char.isprintable() or unicodedata.category(char) in ("Zs", "Cf", "Co", "Cn") for char in part)
        and part.split(".")[0].rstrip().lower()
        not in ("con", "prn", "aux", "nul", "com1", "lpt9", "com¹", "conin$")
        and unicodedata.normalize("NFC", part) == part
        for part in name.split("/")
    )


@pytest.mark.parametrize(
    "text",
    [
        *RESERVED,
        "..",
        ".",
        " ",
        "a.",
        ".git",
        "a/b",
        "a\\b",
        "x\0y",
        "\ud800",
        "中文",
        "e\u0301",
        "l" * 500,
        "é" * 300 + ".html",
    ],
)
def test_a_name_is_safe_wherever_the_text_comes_from(text: str) -> None:
    for rule in ("{title}", "{host}/{title}", "{title}/{title}.{ext}", "a {title}"):
        name = name_of(rule, fields_of("http://h/", None, "text/html", text, ""))
        assert _is_safe(name), name
    path = "/".join(f"%{byte:02x}" for byte in text.encode("utf-8", "replace"))
    assert _is_safe(name_of("{host}/{path}", fields_of(f"http://h/{path}", None, "", "", "")))


@pytest.mark.slow
@given(
    st.text(min_size=0, max_size=300),
    st.text(max_size=80),
    st.sampled_from([USUAL, "{path}", "{folder}/{name}~{query}.{ext}"]),
)
def test_any_text_gives_a_safe_name(title: str, path: str, rule: str) -> None:
    from urllib.parse import quote

    url = f"http://h/{quote(path.encode('utf-8', 'replace'), safe='/%')}"
    name = name_of(rule, fields_of(url, None, "", title, ""))
    assert _is_safe(name), name
    assert len(name.encode()) <= 1_000
    assert _is_safe(marked(name, "0123abcd"))


def test_words_of_other_scripts_stay() -> None:
    assert (
        name_of("{path}.{ext}", fields_of("http://h/%E4%B8%AD/e%CC%81", None, "text/html", "", ""))
        == "中/é.html"
    )
    assert name_of("{title}", fields_of("http://h/a.html", None, "", "", "")) == "a"


def test_rules_that_cannot_be_followed(tmp_path: Path) -> None:
    for rule in ("{nothing}", "plain", "{", "{host}/{", "}{host}", ""):
        with pytest.raises(ConfigError, match="--names"):
            prove_rule(rule)
    for name in FIELDS:
        prove_rule(f"{{{name}}}")


def test_folders_and_documents_of_one_name(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "r", "rule", "content")
    given_: dict[str, str] = {}
    for url, wanted in (
        ("1", "a"),
        ("2", "a/b"),
        ("3", "A"),
        ("4", "A/B"),
        ("5", "c/d"),
        ("6", "c"),
        ("7", FILE),
        ("8", MANIFEST),
    ):
        registry.begin()
        given_[url] = registry.name(url, wanted)
        path = tmp_path / "r" / given_[url]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(url)
        registry.note(url, given_[url], "c", ("", "", 1))
    assert given_["1"] == "a"
    assert given_["2"] == "a~/b"
    assert given_["3"].startswith("A~")
    assert given_["4"].startswith("A~/B~"), "on some file systems a~ and A~ are one folder"
    assert given_["5"] == "c/d"
    assert given_["6"].startswith("c~")
    assert len({folded(name) for name in given_.values()}) == len(given_)
    assert all((tmp_path / "r" / name).read_text() == url for url, name in given_.items())
    with pytest.raises(ConfigError, match="another export"):
        Registry(tmp_path / "r", "rule", "content")
    registry.close()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    with pytest.raises(ConfigError, match="other files"):
        Registry(tmp_path / "full", "rule", "content")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        Registry(tmp_path / "file" / "x", "rule", "content")


def test_text_of_the_last_capture_stays(crawled: tuple[Path, str], tmp_path: Path) -> None:
    from gossamer.datasets.export.files import COLUMNS, write_files
    from gossamer.datasets.export.rows import source_of
    from gossamer.datasets.parquet import write_table
    from gossamer.datasets.tables import DOCUMENTS
    from gossamer.inspect.inspection import inspect

    rows = [
        document(1, "Title", "old"),
        document(2, "Title", "other"),
        msgspec.structs.replace(document(1, "Later", "new\n"), offset=9),
    ]
    write_table(DOCUMENTS, rows, tmp_path / "documents.parquet")
    source = source_of("documents", COLUMNS["text"], "", {"documents": [tmp_path / "documents.parquet"]})
    with inspect(crawled[0]) as inspection:
        written = write_files(inspection, source, "text", "{title}.{ext}", tmp_path / "o")
    assert (written.files, written.missing) == (2, 0)
    files = _manifest(tmp_path / "o")
    assert files["http://h/1"] == "Title.txt"
    assert {url: (tmp_path / "o" / file).read_text() for url, file in files.items()} == {
        "http://h/1": "new\n",
        "http://h/2": "other",
    }
