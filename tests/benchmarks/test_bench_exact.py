import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from benchmarks.archive_reading import Capture, archives, captures, index_problems, tool_problems
from benchmarks.exact import compare
from benchmarks.measure import cpu_seconds, run
from benchmarks.truth import Truth


def make_record(url: str, body: bytes, digest: str) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + body
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<{uuid.uuid5(uuid.NAMESPACE_URL, url).urn}>",
        "WARC-Date": "2024-01-02T03:04:05Z",
        "WARC-Target-URI": url,
        "WARC-Payload-Digest": digest,
        "WARC-Block-Digest": "sha256:" + hashlib.sha256(block).hexdigest(),
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    }
    head = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
    return gzip.compress(head.encode() + block + b"\r\n\r\n")


def make_crawl(folder: Path, bodies: dict[str, bytes]) -> Path:
    (folder / "archive").mkdir(parents=True)
    lines = []
    archive = b""
    for number, (url, body) in enumerate(bodies.items()):
        packed = gzip.compress(body)
        digest = "sha256:" + hashlib.sha256(packed).hexdigest()
        record = make_record(url, packed, digest)
        place = {"filename": "a.warc.gz", "offset": len(archive), "length": len(record)}
        entry = json.dumps({"url": url, "digest": digest, **place})
        lines.append(f"test,a)/{number} 20240102030405 {entry}\n")
        archive += record
    (folder / "archive" / "a.warc.gz").write_bytes(archive)
    (folder / "index.cdxj").write_text("".join(lines))
    return folder


def test_reads_captures_and_index(tmp_path: Path) -> None:
    folder = make_crawl(tmp_path / "crawl", {"http://a.test/": b"one", "http://a.test/2": b"two"})
    found = list(captures(folder))
    assert [(c.url, c.status, c.kind, c.size) for c in found] == [
        ("http://a.test/", 200, "response", 3), ("http://a.test/2", 200, "response", 3),
    ]  # fmt: skip
    assert found[0].digest_holds
    assert found[0].content_sha256 == hashlib.sha256(b"one").hexdigest()
    assert index_problems(folder) == (2, [])


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('"offset": 0', '"offset": 1', "no gzip member"),
        ('"length": ', '"length": 1', "length"),
        ('"url": "http://a.test/"', '"url": "http://b.test/"', "leads to http://a.test/"),
        ("sha256:", "sha256:0", "digest"),
        (" 20240102", " 20240103", "date"),
        ("a.warc.gz", "b.warc.gz", "not readable"),
        ("test,a)/0", "test,b)/0", "out of order"),
    ],
)
def test_finds_what_is_wrong_with_an_index(tmp_path: Path, before: str, after: str, problem: str) -> None:
    folder = make_crawl(tmp_path / "crawl", {"http://a.test/": b"one", "http://a.test/2": b"two"})
    index = folder / "index.cdxj"
    index.write_text(index.read_text().replace(before, after, 1))
    _, problems = index_problems(folder)
    assert any(problem in found for found in problems)


def test_an_unfinished_archive_is_an_error(tmp_path: Path) -> None:
    folder = make_crawl(tmp_path / "crawl", {})
    (folder / "archive" / "b.warc.gz.open").touch()
    with pytest.raises(RuntimeError, match="not closed"):
        archives(folder)


@pytest.mark.slow
def test_tools_find_a_damaged_archive(tmp_path: Path) -> None:
    folder = make_crawl(tmp_path / "crawl", {"http://a.test/": b"one" * 1000})
    assert tool_problems(folder) == {"warcio": [], "fastwarc": []}
    path = folder / "archive" / "a.warc.gz"
    plain = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(plain.replace(b"HTTP/1.1 200 OK", b"HTTP/1.1 201 OK")))
    assert any(tool_problems(folder).values())


def test_compares_every_way_to_differ(tmp_path: Path) -> None:
    file = tmp_path / "page"
    file.write_bytes(b"content")
    right = hashlib.sha256(b"content").hexdigest()
    truth = Truth({target: str(file) for target in ("/a", "/b", "/c", "/d")}, {}, [], [], 4, 28)

    def capture(kind: str, digest: str) -> Capture:
        content = digest if kind == "response" else ""
        return Capture("", 200, kind, digest, True, content, 7)

    found = [
        ("/a", capture("response", right)),
        ("/b", capture("revisit", right)),
        ("/b?", capture("revisit", right)),
        ("/c", capture("response", "0")),
        ("/e", capture("response", right)),
    ]
    result = compare(truth, found, compressed=False)
    assert result["samples"] == {
        "missing": ["/d"], "extra": ["/e"], "doubles": ["/b"], "wrong_bodies": ["/c"],
    }  # fmt: skip
    assert (result["expected"], result["archived"], result["revisits"]) == (4, 4, 2)


def test_accounts_for_the_whole_process_tree(tmp_path: Path) -> None:
    busy = "sum(range(3_000_000))"
    program = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}], check=True); sys.exit(3)"
    )
    usage = run([sys.executable, "-c", program], log=tmp_path / "log")
    alone = run([sys.executable, "-c", "pass"], log=tmp_path / "log")
    assert usage.status == 3
    assert usage.cpu_seconds > alone.cpu_seconds > 0
    assert usage.peak_mb > 1
    assert not usage.timed_out


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    usage = run([sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log", timeout=0.5)
    assert usage.timed_out
    assert usage.status != 0


def test_processor_time_of_a_process_is_counted_finely() -> None:
    before = time.process_time()
    here = cpu_seconds(os.getpid())
    assert before <= here <= time.process_time()
    assert cpu_seconds(os.getpid()) > here  # a hundredth of a second later or not
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        ended.wait()
    with pytest.raises(OSError):
        cpu_seconds(ended.pid)
