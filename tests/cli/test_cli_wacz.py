"""A crawl as one WACZ file; what players need of it is in `benchmarks.wacz`, with a player."""

import gzip
import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_run import Gossamer

from gossamer.datasets.export.wacz import pages
from gossamer.datasets.export.wacz.container import Container
from gossamer.datasets.export.wacz.index import write_index

Lines = list[dict[str, object]]


def jsonl(wacz: zipfile.ZipFile, name: str) -> Lines:
    return [json.loads(line) for line in wacz.read(name).splitlines()]


def blocks_of(wacz: zipfile.ZipFile) -> list[bytes]:
    """Lines of each block, unpacked from where the second index says that it lies."""
    packed = wacz.read("indexes/index.cdx.gz")
    first, *places = wacz.read("indexes/index.idx").splitlines()
    assert first == b'!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}'
    blocks = []
    for line in places:
        key, _, told = line.partition(b" {")
        place = json.loads(b"{" + told)
        block = packed[place["offset"] : place["offset"] + place["length"]]
        assert place["digest"] == f"sha256:{hashlib.sha256(block).hexdigest()}"
        blocks.append(gzip.decompress(block))
        assert blocks[-1].startswith(key + b" {")
    return blocks


def test_all_that_was_crawled_is_in_it_and_proven(gossamer: Gossamer, crawled: str, tmp_path: Path) -> None:
    (file,) = (tmp_path / "d/archive").iterdir()
    content = file.read_bytes()
    with file.open("ab") as out:  # as a crawl that goes on, or was killed: it is no record yet
        out.write(b"half a record")
    ran = gossamer("export", "wacz", "d", "--out", "site.wacz")
    assert (ran.code, ran.out.partition(", 1 archive file")[0]) == (0, "site.wacz: 4 pages, 7 captures")
    with zipfile.ZipFile(tmp_path / "site.wacz") as wacz:
        assert wacz.testzip() is None
        assert wacz.read(f"archive/{file.name}") == content
        assert b"".join(blocks_of(wacz)) == (tmp_path / "d/index.cdxj").read_bytes()
        about, *listed = jsonl(wacz, "pages/pages.jsonl")
        assert about == {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}
        seeds = [one["url"] for one in listed if one.get("seed")]
        assert seeds == [f"{crawled}/"]
        titles = {str(one["url"]).removeprefix(crawled): one["title"] for one in listed}
        assert titles["/"] == "Home"
        assert titles["/a.html"] == "Page A"
        assert set(titles) == {"/", "/a.html", "/b.html", "/c.html"}
        package = json.loads(wacz.read("datapackage.json"))
        assert (package["profile"], package["wacz_version"]) == ("data-package", "1.1.1")
        assert package["mainPageUrl"] == f"{crawled}/"
        for resource in package["resources"]:
            data = wacz.read(resource["path"])
            assert (resource["hash"], resource["bytes"]) == (
                f"sha256:{hashlib.sha256(data).hexdigest()}",
                len(data),
            )
        assert {one["path"] for one in package["resources"]} | {
            "datapackage.json",
            "datapackage-digest.json",
        } == set(wacz.namelist())
        digest = json.loads(wacz.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{hashlib.sha256(wacz.read(digest['path'])).hexdigest()}"
        for member in wacz.infolist():
            assert member.extra, "a player takes an extra field before the member for its content"
            assert not member.compress_type or member.filename.startswith("pages/")
    assert not list(tmp_path.glob("*.partial"))


def test_what_is_missing_is_said_and_not_in_the_index(
    gossamer: Gossamer, crawled: str, tmp_path: Path
) -> None:
    (file,) = (tmp_path / "d/archive").iterdir()
    file.unlink()
    ran = gossamer("export", "wacz", "d", "--out", "site.wacz", "--json")
    told = json.loads(ran.out)
    assert (ran.code, told["captures"], told["archives"]) == (1, 0, 0)
    assert file.name in told["problems"][0]
    file.write_bytes(b"short")
    before = (tmp_path / "site.wacz").read_bytes()
    assert "are missing at its end" in gossamer("export", "wacz", "d", "--out", "site.wacz").err
    assert (tmp_path / "site.wacz").read_bytes() == before
    assert crawled
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--out", "site.zip"), "ends with .wacz"),
        (("--out", "s3://bucket/site.wacz"), "is written to a disk"),
        (("--split", "1MB"), "--split does not go with wacz"),
        (("--format", "csv"), "wacz come as wacz"),
        (("--to", "sqlite:///x.db"), "--to does not go with wacz"),
    ],
)
def test_what_cannot_be_is_refused(
    gossamer: Gossamer, crawled: str, options: tuple[str, ...], told: str
) -> None:
    ran = gossamer("export", "wacz", "d", *options)
    assert ran.code == 2, crawled
    assert told in ran.err


def test_many_pages_are_two_lists_the_nearest_first(
    gossamer: Gossamer, crawled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "FIRST", 1)
    assert gossamer("export", "wacz", "d", "--out", "site.wacz").code == 0
    with zipfile.ZipFile(tmp_path / "site.wacz") as wacz:
        assert [one["url"] for one in jsonl(wacz, "pages/pages.jsonl")[1:]] == [f"{crawled}/"]
        assert len(jsonl(wacz, "pages/extraPages.jsonl")) == 1 + 3


@pytest.mark.parametrize("count", [0, 1, 1_024, 1_025, 2_500])
def test_every_line_stands_in_one_block_in_order(count: int) -> None:
    lines = [f'com,h)/{number:06d} 20260101000000 {{"x":"{number}"}}'.encode() for number in range(count)]
    out = io.BytesIO()
    into = Container(out, datetime(2026, 1, 1, tzinfo=UTC))
    assert write_index(into, lines) == count
    into.finish({})
    with zipfile.ZipFile(out) as wacz:
        blocks = blocks_of(wacz)
    assert b"".join(blocks).splitlines() == lines
    assert all(block.count(b"\n") == 1_024 for block in blocks[:-1])
