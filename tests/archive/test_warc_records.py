import gzip
import hashlib
from pathlib import Path

import pytest
from archive_samples import (
    STARTED,
    STARTED_DATE,
    assert_sound,
    exchange,
    only_file,
    open_writer,
    records_by_warcio,
)
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.placement import Original
from gossamer.archive.reader import read_record
from gossamer.archive.records import REVISIT_SAME, REVISIT_UNMODIFIED, safe_uri, warc_fields
from gossamer.archive.stamps import new_record_id, timestamp14, timestamp17, warc_date
from gossamer.model.errors import InternalError
from gossamer.model.exchange import Exchange, Truncation
from gossamer.model.name import Answer


def write(
    directory: Path, *exchanges: Exchange, fields=(("via", "https://example.org/"),), **settings
) -> Path:
    writer = open_writer(directory, **settings)
    for each in exchanges:
        writer.append(each, fields)
    writer.close()
    path = only_file(directory)
    assert_sound(path)
    return path


def fields_of(record) -> dict[str, str]:
    return dict(record.rec_headers.headers)


def test_a_visit_is_response_request_and_metadata_bound_together(tmp_path):
    path = write(tmp_path, exchange())
    (info, _), (response, payload), (request, _), (metadata, block) = records_by_warcio(path)
    main = fields_of(response)
    assert payload == b"<p>hello</p>"
    assert main["WARC-Date"] == STARTED_DATE
    assert main["WARC-Target-URI"] == "https://example.org/page"
    assert main["WARC-IP-Address"] == "192.0.2.7"
    assert main["WARC-Payload-Digest"] == "sha256:" + hashlib.sha256(payload).hexdigest()
    assert main["Content-Type"] == "application/http; msgtype=response"
    for other in (fields_of(request), fields_of(metadata)):
        assert other["WARC-Concurrent-To"] == main["WARC-Record-ID"]
        assert other["WARC-Date"] == STARTED_DATE
        assert other["WARC-Target-URI"] == main["WARC-Target-URI"]
        assert "WARC-Payload-Digest" not in other
    assert fields_of(request)["Content-Type"] == "application/http; msgtype=request"
    assert block == b"via: https://example.org/\r\n"
    for record in (response, request, metadata):
        assert fields_of(record)["WARC-Warcinfo-ID"] == fields_of(info)["WARC-Record-ID"]


def test_every_record_is_a_gzip_member_of_its_own(tmp_path):
    path = write(tmp_path, exchange(), exchange(url="https://example.org/2"))
    content = path.read_bytes()
    for summary in assert_sound(path):
        member = gzip.decompress(content[summary.offset : summary.offset + summary.length])
        assert member.startswith(b"WARC/1.1\r\nWARC-Type: " + summary.kind.encode())
        assert member.endswith(b"\r\n\r\n")


def test_warcinfo_says_who_how_and_to_which_standard(tmp_path):
    path = write(tmp_path, exchange(), operator="Ada <ada@example.org>")
    info, block = records_by_warcio(path)[0]
    assert info.rec_type == "warcinfo"
    assert fields_of(info)["WARC-Filename"] == path.name
    assert "WARC-Payload-Digest" not in fields_of(info)
    assert block.decode().splitlines() == [
        "operator: Ada <ada@example.org>",
        "software: gossamer test",
        "robots: obeyed",
        "format: WARC File Format 1.1",
        "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    ]


def test_requests_and_metadata_can_be_left_out(tmp_path):
    path = write(tmp_path, exchange(), fields=(), include_requests=False)
    assert [record.rec_type for record, _ in records_by_warcio(path)] == ["warcinfo", "response"]


def test_http2_is_spelled_as_text_and_labelled(tmp_path):
    path = write(
        tmp_path,
        exchange(
            head=b"HTTP/2 200 \r\n:status: 200\r\ncontent-type: text/html\r\n\r\n",
            request=b"GET /page HTTP/2\r\n:authority: example.org\r\nHost: example.org\r\n\r\n",
            protocol="h2",
            cipher="TLSv1.3 TLS_AES_256_GCM_SHA384",
        ),
    )
    _, (response, _), (request, _), _ = records_by_warcio(path)
    assert response.http_headers.protocol == "HTTP/1.1"
    assert response.http_headers.headers == [("content-type", "text/html"), ("Content-Length", "12")]
    assert request.http_headers.headers == [("Host", "example.org")]
    text = gzip.decompress(path.read_bytes())
    assert b"\r\nHTTP/1.1 200 \r\n" in text  # the blank before an empty reason phrase
    assert b"\r\nGET /page HTTP/1.1\r\n" in text
    for record in (response, request):
        protocols = [value for name, value in record.rec_headers.headers if name == "WARC-Protocol"]
        assert protocols == ["h2", "tls/1.3"]
        assert fields_of(record)["WARC-Cipher-Suite"] == "TLS_AES_256_GCM_SHA384"


def test_no_address_behind_a_proxy(tmp_path):
    path = write(tmp_path, exchange(address=""))
    assert all("WARC-IP-Address" not in fields_of(record) for record, _ in records_by_warcio(path))


@pytest.mark.parametrize("reason", list(Truncation))
def test_what_was_cut_says_so_and_has_the_stored_length(tmp_path, reason):
    cut = exchange(b"half", head=b"HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n", truncated=reason)
    response, payload = records_by_warcio(write(tmp_path, cut))[1]
    assert fields_of(response)["WARC-Truncated"] == reason.value
    assert response.http_headers.headers == [("X-Crawler-Content-Length", "8000"), ("Content-Length", "4")]
    assert payload == b"half"


def test_compressed_content_stays_compressed_under_its_label(tmp_path):
    packed = gzip.compress(b"hello " * 50)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    response, payload = records_by_warcio(write(tmp_path, exchange(packed, head=head)))[1]
    assert payload == packed
    assert response.http_headers.get_header("Content-Encoding") == "gzip"
    assert fields_of(response)["WARC-Payload-Digest"] == "sha256:" + hashlib.sha256(packed).hexdigest()


def test_identical_payload_is_a_revisit_that_refers_to_the_first(tmp_path):
    writer = open_writer(tmp_path)
    first = writer.append(exchange())
    again = exchange(url="https://example.org/copy", started=STARTED + 5)
    original = Original("https://example.org/page", first.date, first.sha256, first.record_id)
    second = writer.append(again, (), original)
    writer.close()
    path = only_file(tmp_path)
    assert_sound(path)
    revisit = next(record for record, _ in records_by_warcio(path) if record.rec_type == "revisit")
    assert second.kind == "revisit"
    assert second.sha256 == first.sha256
    assert fields_of(revisit)["WARC-Profile"] == REVISIT_SAME
    assert fields_of(revisit)["WARC-Refers-To"] == f"<{first.record_id}>"
    assert fields_of(revisit)["WARC-Refers-To-Target-URI"] == "https://example.org/page"
    assert fields_of(revisit)["WARC-Refers-To-Date"] == STARTED_DATE
    assert fields_of(revisit)["WARC-Payload-Digest"] == "sha256:" + again.body.sha256.hex()
    stored = read_record(tmp_path, second.file, second.offset)
    assert stored.payload == b""
    assert stored.headers.get("content-length") == "12"
    assert stored.problems == ()


def test_not_modified_is_a_revisit_with_the_conditional_request(tmp_path):
    writer = open_writer(tmp_path)
    first = writer.append(exchange())
    head = b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 12\r\n\r\n'
    request = b'GET /page HTTP/1.1\r\nHost: example.org\r\nIf-None-Match: "x"\r\n\r\n'
    again = exchange(b"", head=head, status=304, request=request, started=STARTED + 5)
    writer.append(again, (), Original("https://example.org/page", first.date, first.sha256))
    writer.close()
    path = only_file(tmp_path)
    assert_sound(path)
    revisit, sent = [record for record, _ in records_by_warcio(path)][-2:]
    assert fields_of(revisit)["WARC-Profile"] == REVISIT_UNMODIFIED
    assert "WARC-Refers-To" not in fields_of(revisit)  # its identifier was not known
    assert fields_of(revisit)["WARC-Payload-Digest"] == "sha256:" + first.sha256.hex()
    assert revisit.http_headers.get_header("Content-Length") == "12"  # of the page, not of this message
    assert sent.http_headers.get_header("If-None-Match") == '"x"'


def test_a_revisit_of_another_payload_is_refused(tmp_path):
    writer = open_writer(tmp_path)
    with pytest.raises(InternalError, match="payload differs"):
        writer.append(exchange(), (), Original("https://example.org/", STARTED_DATE, b"\0" * 32))
    writer.abandon()


def test_not_modified_without_an_original_is_a_plain_response(tmp_path):
    bare = exchange(b"", head=b"HTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\n\r\n", status=304)
    response, payload = records_by_warcio(write(tmp_path, bare))[1]
    assert (response.rec_type, payload) == ("response", b"")


def test_names_are_dns_resource_records(tmp_path):
    writer = open_writer(tmp_path)
    answer = Answer(
        "example.org", ("192.0.2.1", "2001:db8::1"), ttl=300.9, server="[2001:db8::53]:5353", asked=STARTED
    )
    placed = writer.append_dns(answer)
    writer.close()
    path = only_file(tmp_path)
    assert_sound(path)
    record, block = records_by_warcio(path)[1]
    assert placed.kind == record.rec_type == "resource"
    assert fields_of(record)["WARC-Target-URI"] == "dns:example.org"
    assert fields_of(record)["Content-Type"] == "text/dns"
    assert fields_of(record)["WARC-IP-Address"] == "2001:db8::53"
    assert block == (
        b"20231114221320\nexample.org.\t300\tIN\tA\t192.0.2.1\nexample.org.\t300\tIN\tAAAA\t2001:db8::1\n"
    )


def test_other_protocols_are_resource_records(tmp_path):
    other = exchange(b"a file", url="ftp://example.org/file", head=b"", request=b"", protocol="ftp")
    record, payload = records_by_warcio(write(tmp_path, other))[1]
    assert (record.rec_type, payload) == ("resource", b"a file")
    assert fields_of(record)["Content-Type"] == "application/octet-stream"


def test_large_bodies_stream_with_the_same_result(tmp_path):
    body = bytes(range(256)) * 16_384 + b"tail"
    writer = open_writer(tmp_path)
    placed = writer.append(exchange(body), [("via", "x")])
    after = writer.append(exchange())
    writer.close()
    path = only_file(tmp_path)
    assert_sound(path)
    stored = read_record(tmp_path, placed.file, placed.offset)
    assert stored.payload == body
    assert stored.length == placed.length
    assert read_record(tmp_path, placed.file, placed.offset, keep=10).payload == body[:10]
    assert read_record(tmp_path, after.file, after.offset).payload == b"<p>hello</p>"


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40))))
def test_no_pair_can_start_a_line_of_its_own(pairs):
    text = warc_fields(pairs).decode()
    assert len(text.splitlines()) == len(pairs) == text.count("\r\n")


@given(st.text())
def test_uris_are_printable_ascii(text):
    uri = safe_uri(text)
    assert uri.isascii()
    assert uri.isprintable()
    assert " " not in uri


@given(st.floats(min_value=-1e6, max_value=3e11))
def test_all_forms_of_a_time_name_the_same_second(seconds):
    date = warc_date(seconds)
    assert len(date) == 27
    digits = "".join(char for char in date if char.isdigit())
    assert digits[:14] == timestamp14(seconds)
    assert digits[:17] == timestamp17(seconds)


def test_record_identifiers_are_random_version_4():
    made = {new_record_id() for _ in range(1000)}
    assert len(made) == 1000
    assert all(text[23] == "4" and text[28] in "89ab" and len(text) == 45 for text in made)
