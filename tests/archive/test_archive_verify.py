import gzip
import re
from itertools import pairwise

import pytest
from archive_samples import exchange, only_file, open_writer

from gossamer.archive.reader import read_record
from gossamer.archive.verify import Problem, RecordSummary, verify_file
from gossamer.model.errors import StorageError


@pytest.fixture
def sound(tmp_path):
    writer = open_writer(tmp_path)
    for number in range(3):
        writer.append(exchange(b"page %d" % number), [("via", "x")])
    writer.close()
    return only_file(tmp_path)


def problems(path, length=None) -> list[str]:
    return [item.text for item in verify_file(path, length) if isinstance(item, Problem)]


def rewrite(path, change) -> None:
    """Apply `change` to the text of each record."""
    records = [item for item in verify_file(path) if isinstance(item, RecordSummary)]
    content = path.read_bytes()
    members = [gzip.decompress(content[item.offset : item.offset + item.length]) for item in records]
    path.write_bytes(b"".join(gzip.compress(change(member)) for member in members))


def test_a_sound_file_has_no_problems(sound):
    assert problems(sound) == []
    assert problems(sound, sound.stat().st_size) == []
    records = list(verify_file(sound))
    assert [item.kind for item in records[:4]] == ["warcinfo", "response", "request", "metadata"]
    assert records[1].payload_size == 6
    assert sum(item.length for item in records) == sound.stat().st_size
    assert all(a.offset + a.length == b.offset for a, b in pairwise(records))


@pytest.mark.parametrize(
    ("pattern", "replacement", "expected"),
    [
        (rb"page 1", b"page 9", "WARC-Block-Digest"),
        (rb"page 1", b"page 9", "WARC-Payload-Digest"),
        (rb"(?s)page 1.*", b"page", "does not end with two line ends"),
        (rb"(?s)page 1.*", b"page", "Content-Length says"),
        (rb"\r\n\r\n\Z", b"\r\n\r\n!", "does not end with two line ends"),
        (rb"(WARC-Date: \d{4}-)\d\d", rb"\g<1>13", "WARC-Date is"),
        (rb"(WARC-Date: .*?)Z", rb"\g<1>", "WARC-Date is"),
        (rb"WARC-Record-ID: <urn", b"WARC-Record-ID: <x", "WARC-Record-ID is"),
        (rb"(WARC-Target-URI: )(\S+)", rb"\1<\2>", "WARC-Target-URI is"),
        (rb"WARC-Concurrent-To: \S+", b"WARC-Concurrent-To: <x>", "WARC-Concurrent-To"),
        (rb"WARC-Warcinfo-ID: \S+", b"WARC-Warcinfo-ID: <x>", "WARC-Warcinfo-ID"),
        (rb"WARC-Filename: \S+", b"WARC-Filename: other.warc.gz", "WARC-Filename"),
        (rb"Content-Length: 6\r\n", b"Content-Length: 7\r\n", "Content-Length is"),
        (rb"Content-Length: 6\r\n", b"Transfer-Encoding: chunked\r\n", "Transfer-Encoding"),
        (rb"WARC/1.1", b"WARC/1.0", "not a WARC 1.1 record"),
        (rb"(\r\nContent-Length: )\d+", rb"\1 -1", "Content-Length is"),
    ],
)
def test_each_fault_is_named(sound, pattern, replacement, expected):
    rewrite(sound, lambda text: re.sub(pattern, replacement, text, count=1))
    assert any(expected in text for text in problems(sound)), problems(sound)


def test_a_file_without_warcinfo(sound):
    first = next(verify_file(sound))
    sound.write_bytes(sound.read_bytes()[first.length :])
    assert problems(sound) == ["the file does not begin with a warcinfo record"]


def test_a_revisit_without_its_fields(sound):
    rewrite(sound, lambda text: text.replace(b"WARC-Type: response", b"WARC-Type: revisit"))
    assert any("WARC-Refers-To-Date is missing" in text for text in problems(sound))


@pytest.mark.parametrize("junk", [b"x", b"\0" * 100, b"\x1f\x8b"])
def test_junk_after_the_end(sound, junk):
    size = sound.stat().st_size
    with sound.open("ab") as file:
        file.write(junk)
    assert any("gzip member" in text for text in problems(sound))
    assert problems(sound, size) == [f"the file has {size + len(junk)} bytes, {size} were committed"]


def test_every_cut_is_noticed(sound):
    content = sound.read_bytes()
    ends = {item.offset + item.length for item in verify_file(sound)}
    for size in range(0, len(content), 7):
        sound.write_bytes(content[:size])
        assert bool(problems(sound)) == (size not in ends)
        assert problems(sound, len(content))


def test_every_flipped_byte_is_noticed_or_harmless(sound):
    content = sound.read_bytes()
    texts = gzip.decompress(content)
    for position in range(0, len(content), 11):
        sound.write_bytes(content[:position] + bytes([content[position] ^ 0x20]) + content[position + 1 :])
        if not problems(sound):  # a byte of the gzip header that means nothing
            assert gzip.decompress(sound.read_bytes()) == texts


def test_a_missing_or_empty_file(tmp_path):
    assert "cannot be read" in problems(tmp_path / "none.warc.gz")[0]
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    assert problems(tmp_path / "empty.warc.gz") == ["the file is empty"]


def test_memory_is_bounded_by_a_bomb(tmp_path):
    """A member that expands a thousand times is counted, not kept."""
    path = tmp_path / "bomb.warc.gz"
    path.write_bytes(gzip.compress(b"WARC/1.1\r\n" + bytes(50_000_000)))
    assert any("Content-Length is" in text for text in problems(path))


def test_reading_where_no_record_is(sound):
    for offset in (1, sound.stat().st_size, 10**9):
        with pytest.raises(StorageError, match="no record can be read"):
            read_record(sound.parent, sound.name, offset)
    with pytest.raises(StorageError, match="no record can be read"):
        read_record(sound.parent, "none.warc.gz", 0)


def test_a_damaged_record_is_read_with_its_problems(sound):
    rewrite(sound, lambda text: text.replace(b"page 1", b"page 9"))
    responses = [item for item in verify_file(sound) if getattr(item, "kind", "") == "response"]
    record = read_record(sound.parent, sound.name, responses[1].offset)
    assert record.payload == b"page 9"
    assert len(record.problems) == 2
    assert (record.kind, record.record_id) == ("response", responses[1].record_id)
    assert (record.url, record.date) == (responses[1].target_uri, responses[1].date)
