import pytest
from archive_samples import assert_sound, exchange, only_file, open_writer, records_by_warcio
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.archive.head import MAX_STORED_HEAD, REDACTED, HeadStore
from gossamer.archive.reader import read_record

HEADS = HeadStore(("Authorization", "Proxy-Authorization", "Cookie"))


def stored(head: bytes, status: int = 200, size: int | None = 5) -> bytes:
    text, cut = HEADS.response(head, status, size)
    assert not cut
    return text


@pytest.mark.parametrize(
    ("received", "kept"),
    [
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n",
            id="right as it is",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
            id="chunked",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\nA: b\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX-Crawler-content-length: 7\r\nA: b\r\nContent-Length: 5\r\n\r\n",
            id="lying length",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Crawler-Content-Length: 5\r\n\r\n",
            id="length said twice",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\nA: b\nC: d\n\n",
            b"HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\nContent-Length: 5\r\n\r\n",
            id="bare LF",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n   d\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b c d\r\nContent-Length: 5\r\n\r\n",
            id="folded",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nA: b\0c\x0bd\re\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b c d e\r\nContent-Length: 5\r\n\r\n",
            id="controls",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nno field\r\n: nameless\r\na b: c\r\nA : b\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX-Crawler-Malformed: no field\r\nX-Crawler-Malformed: : nameless\r\n"
            b"X-Crawler-Malformed: a b: c\r\nA: b\r\nContent-Length: 5\r\n\r\n",
            id="no fields",
        ),
        pytest.param(b"", b"HTTP/1.0 200 \r\nContent-Length: 5\r\n\r\n", id="HTTP/0.9"),
        pytest.param(
            b"ICY 200 OK\r\n\r\n",
            b"HTTP/1.0 200 \r\nX-Crawler-Status-Line: ICY 200 OK\r\nContent-Length: 5\r\n\r\n",
            id="another protocol",
        ),
        pytest.param(
            b"HTTP/1.0 200\r\n\r\n", b"HTTP/1.0 200 \r\nContent-Length: 5\r\n\r\n", id="no reason phrase"
        ),
        pytest.param(b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\n", id="HTTP/2"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nC: d\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\nContent-Length: 5\r\n\r\n",
            id="empty line inside",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nCookie: echoed\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nCookie: [redacted]\r\nContent-Length: 5\r\n\r\n",
            id="secret echoed",
        ),
    ],
)
def test_response_heads(received, kept):
    assert stored(received) == kept


def test_lengths_that_are_not_about_the_message_stay():
    head = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"
    assert stored(head, 304, None) == head


def test_a_status_line_that_disagrees_is_kept_aside():
    assert stored(b"HTTP/1.1 404 No\r\n\r\n", 200).startswith(
        b"HTTP/1.0 200 \r\nX-Crawler-Status-Line: HTTP/1.1 404 No\r\n"
    )


@given(st.binary(max_size=300), st.integers(100, 999), st.integers(0, 10**9) | st.none())
def test_any_bytes_make_a_head_of_fields(head, status, size):
    text, _ = HEADS.response(head, status, size)
    assert text.endswith(b"\r\n\r\n")
    start, *lines = text[:-4].split(b"\r\n")
    assert start.startswith(b"HTTP/1.") and start[9:12] == b"%d" % status
    assert all(line.partition(b":")[1] and line.partition(b":")[0].strip() for line in lines)
    assert not any(byte < 0x20 and byte != 9 for line in (start, *lines) for byte in line)
    if size is not None:
        lengths = [line for line in lines if line.lower().startswith(b"content-length:")]
        assert [line.partition(b":")[2].strip() for line in lengths] == [b"%d" % size]
    assert not any(line.lower().startswith(b"transfer-encoding:") for line in lines)


_FIELD = st.sampled_from(
    ["A: b", "content-length: 5", "Content-Length:5", "Content-Length: 6", "Transfer-Encoding: chunked", "COOKIE: c",
     "A:", "A: \xe9", "A: b ", "X-Transfer-Encoding: a"]
)  # fmt: skip


@given(st.lists(_FIELD, max_size=5), st.sampled_from([5, None]), st.sampled_from(["200 OK", "304", "404 x"]))
def test_a_head_that_needs_no_mending_is_stored_as_one_that_was_mended(fields, size, status):
    lines = [line.encode("latin-1") for line in (f"HTTP/1.1 {status}", *fields, "", "")]
    mended = stored(b"\n".join(lines), int(status[:3]), size)
    assert stored(b"\r\n".join(lines), int(status[:3]), size) == mended
    request = HEADS.request(b"\n".join([b"GET / HTTP/1.1", *lines[1:]]))
    assert HEADS.request(b"\r\n".join([b"GET / HTTP/1.1", *lines[1:]])) == request


_PIECES = st.sampled_from(
    [b"\r\n", b"\n", b"\r", b"\r\n ", b"\n\t", b":", b" ", b"A", b"A: b", b"\x85", b"\xa0", b"\x1c", b"\0",
     b"\xe2\x80\xa8", b"HTTP/1.1 200 OK", b"Content-Length: 3", b"Transfer-Encoding: chunked", b"\r\n\r\n"]
)  # fmt: skip


@settings(max_examples=examples(60))
@given(st.lists(st.lists(_PIECES, max_size=12), min_size=1, max_size=8))
def test_no_head_can_mislead_a_reader(tmp_path_factory, heads):
    """One hostile head must neither hide its own body nor the records that follow it."""
    directory = tmp_path_factory.mktemp("archive")
    writer = open_writer(directory)
    for number, pieces in enumerate(heads):
        writer.append(exchange(b"body %d" % number, head=b"".join(pieces), request=b"".join(pieces)))
    writer.close()
    path = only_file(directory)
    assert_sound(path)
    payloads = [payload for record, payload in records_by_warcio(path) if record.rec_type == "response"]
    assert payloads == [b"body %d" % number for number in range(len(heads))]


def test_a_stored_field_keeps_a_last_byte_that_is_a_blank_by_latin_1(tmp_path):
    location = "/città".encode()
    writer = open_writer(tmp_path)
    placed = writer.append(exchange(head=b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\n\r\n"))
    writer.close()
    record = read_record(tmp_path, placed.file, placed.offset)
    assert record.headers.get("location").encode("latin-1") == location


def test_a_head_too_large_for_readers_is_cut_at_whole_fields_and_says_so(tmp_path):
    flood = b"".join(b"X-%d: %s\r\n" % (number, b"v" * 90) for number in range(2000))
    head = b"HTTP/1.1 200 OK\r\n" + flood + b"Last: one\r\nContent-Length: 9\r\n\r\n"
    writer = open_writer(tmp_path)
    placed = writer.append(exchange(head=head))
    writer.close()
    assert_sound(only_file(tmp_path))
    record = read_record(tmp_path, placed.file, placed.offset)
    assert len(record.http_head) <= MAX_STORED_HEAD
    assert record.fields.get("warc-truncated") == "length"
    assert record.headers.get("x-0") == "v" * 90
    assert record.headers.get("content-length") == "12"


def test_one_huge_line_costs_only_itself():
    text, cut = HEADS.response(b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000 + b"\r\nB: c\r\n\r\n", 200, 5)
    assert cut
    assert text == b"HTTP/1.1 200 OK\r\nB: c\r\nContent-Length: 5\r\n\r\n"


_SECRET = "S3cr3t"


@given(
    st.lists(
        st.sampled_from(
            [f"Authorization: Basic {_SECRET}", f"authorization : {_SECRET}", f"COOKIE:a={_SECRET}; b=c",
             f"Proxy-Authorization:\r\n {_SECRET}", f"Cookie: a\r\n\t{_SECRET}\r\n {_SECRET}",
             f"X-Api-Key: {_SECRET}", f"Cookie: \r{_SECRET}", "Host: example.org", "Accept: */*"]
        )
    )
)  # fmt: skip
def test_no_secret_ever_reaches_a_request_record(lines):
    heads = HeadStore(("authorization", "proxy-authorization", "cookie", "X-API-KEY"))
    head = "\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode()
    text = heads.request(head)
    assert _SECRET.encode() not in text
    assert text.count(REDACTED) == sum(_SECRET in line for line in lines)


def test_no_secret_in_the_bytes_of_a_file(tmp_path):
    request = (
        b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer S3cr3t\r\nProxy-Authorization: Basic S3cr3t\r\n"
        b"Cookie: id=S3cr3t\r\n\r\n"
    )
    writer = open_writer(tmp_path)
    placed = [writer.append(exchange(request=request)) for _ in range(2)]
    writer.close()
    blocks = [record for record, _ in records_by_warcio(only_file(tmp_path)) if record.rec_type == "request"]
    assert len(placed) == len(blocks) == 2
    for record in blocks:
        assert [value for _, value in record.http_headers.headers] == ["a"] + ["[redacted]"] * 3


def test_a_request_may_be_absent(tmp_path):
    writer = open_writer(tmp_path)
    writer.append(exchange(request=b""))
    writer.close()
    assert [item.kind for item in assert_sound(only_file(tmp_path))] == ["warcinfo", "response"]
