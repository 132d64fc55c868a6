import json
from pathlib import Path

import pytest
from archive_samples import STARTED, assert_sound, exchange, only_file, open_writer
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.cdxj import (
    capture_prefix,
    index_entry,
    moved_capture,
    read_capture,
    write_index,
)
from gossamer.archive.placement import Original, Placed
from gossamer.archive.reader import read_record
from gossamer.model.errors import InternalError, StorageError
from gossamer.model.url import Url


def url(text: str) -> Url:
    parsed = Url.parse(text)
    assert parsed is not None
    return parsed


def place(offset: int = 0, serial: int = 0, kind="response") -> Placed:
    return Placed(f"f{serial}.warc.gz", offset, 10, serial, kind, "urn:uuid:x", "date", b"\1" * 32)


def test_a_line():
    line = index_entry(url("https://www.Example.org/a?b=1"), STARTED, place(7), 200, "Text/HTML")[1]
    key, stamp, rest = line.split(b" ", 2)
    assert (key, stamp) == (b"org,example)/a?b=1", b"20231114221320")
    assert json.loads(rest) == {
        "url": "https://www.example.org/a?b=1",
        "mime": "text/html",
        "status": "200",
        "digest": "sha256:" + "01" * 32,
        "length": "10",
        "offset": "7",
        "filename": "f0.warc.gz",
    }


def test_a_line_is_read_back_whatever_its_key_holds():
    for text in ("http://a.test/{{7*7}}", 'http://a.test/{"url":1}', "http://a.test/?a={b"):
        line = index_entry(url(text), STARTED, place(7), 200, "text/html")[1]
        assert (read_capture(line).url, read_capture(line).offset) == (url(text).text, "7")
        assert read_capture(moved_capture(line, "other")).filename == "other"


@pytest.mark.parametrize(
    ("kind", "mime", "expected"),
    [
        ("revisit", "text/html", "warc/revisit"),
        ("response", "", "unk"),
        ("response", "no type", "unk"),
        ("response", 'text/html"\n', "unk"),
        ("response", "a" * 200 + "/b", "unk"),
    ],
)
def test_media_types(kind, mime, expected):
    line = index_entry(url("http://a/"), STARTED, place(kind=kind), 200, mime)[1]
    assert json.loads(line.split(b" ", 2)[2])["mime"] == expected


def test_captures_of_one_second_do_not_replace_each_other():
    moments = [(STARTED, place(5)), (STARTED, place(6)), (STARTED + 0.1, place(7)), (STARTED, place(5, 1))]
    keys = {
        index_entry(url(f"{scheme}://a/"), at, p, 200, "")[0]
        for at, p in moments
        for scheme in ("http", "https")
    }
    assert len(keys) == 4  # http and https share a sort key; each record has its own place
    assert all(key.startswith(capture_prefix(url("http://www.a/"))) for key in keys)


_URLS = st.builds(
    "http://{}/{}".format,
    st.sampled_from(["a.org", "a.org:8080", "b.a.org", "aa.org", "1.2.3.4"]),
    st.text("ab/?!~&(", max_size=4),
)
_CAPTURES = st.lists(
    st.tuples(_URLS, st.integers(0, 3), st.integers(0, 10**12), st.integers(0, 9)), unique=True, max_size=30
)


@given(_CAPTURES)
def test_the_index_is_sorted_bytewise_from_keys_in_their_order(tmp_path_factory, captures):
    stored = {}
    for text, second, offset, serial in captures:
        parsed, at, placed = url(text), STARTED + second, place(offset, serial)
        key, stored[key] = index_entry(parsed, at, placed, 200, "text/html")
    path = tmp_path_factory.mktemp("index") / "index.cdxj"
    count = write_index((stored[key] for key in sorted(stored)), path)
    lines = path.read_bytes().splitlines()
    assert count == len(lines) == len({(t, s, offset, serial) for t, s, offset, serial in captures})
    assert lines == sorted(stored.values())
    assert list(path.parent.iterdir()) == [path]


def test_an_index_out_of_order_is_refused(tmp_path):
    lines = [index_entry(url(text), STARTED, place(), 200, "")[1] for text in ("http://b/", "http://a/")]
    with pytest.raises(InternalError, match="out of order"):
        write_index(lines, tmp_path / "index.cdxj")
    assert not (tmp_path / "index.cdxj").exists()


def test_an_index_replaces_the_last_one_whole_or_not_at_all(tmp_path):
    path = tmp_path / "index.cdxj"
    assert write_index([b"a) 1 {}"], path) == 1

    def broken():
        yield b"a) 1 {}"
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match="cannot be written"):
        write_index(broken(), path)
    assert path.read_bytes() == b"a) 1 {}\n"
    assert write_index([], path) == 0
    assert path.read_bytes() == b""


def test_every_line_leads_to_its_record(tmp_path):
    archive = tmp_path / "archive"
    writer = open_writer(archive)
    captures = {}
    for number in range(20):
        visit = exchange(b"%d" % number, url=f"https://example.org/{number}", started=STARTED + number)
        refers_to = None
        placed = writer.append(visit, (), refers_to)
        key, captures[key] = index_entry(visit.url, visit.started, placed, 200, "text/html")
        again = exchange(b"%d" % number, url=f"https://example.org/copy/{number}", started=STARTED + number)
        original = Original(visit.url.text, placed.date, placed.sha256, placed.record_id)
        placed = writer.append(again, (), original)
        key, captures[key] = index_entry(again.url, again.started, placed, 200, "text/html")
    writer.close()
    path = tmp_path / "index.cdxj"
    assert write_index((captures[key] for key in sorted(captures)), path) == 40
    assert len(assert_sound(only_file(archive))) == 81
    for line in path.read_bytes().splitlines():
        entry = json.loads(line.split(b" ", 2)[2])
        record = read_record(Path(archive), entry["filename"], int(entry["offset"]))
        assert record.url == entry["url"]
        assert record.length == int(entry["length"])
        assert record.fields.get("warc-payload-digest") == entry["digest"]
        assert (record.kind == "revisit") == (entry["mime"] == "warc/revisit")
