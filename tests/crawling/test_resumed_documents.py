"""A crawl that lost the connection within a long document asks for the rest, and archives one whole response."""

import asyncio
import hashlib
import re
import time
from email.utils import formatdate
from itertools import pairwise

from patience import PATIENCE
from warcio.archiveiterator import ArchiveIterator

import gossamer
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.crawl_log import visit_of
from gossamer.inspect.inspection import inspect

WHOLE = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(3 << 14))
BREAKS = 1_100_000, 1_200_000
"""Bytes after which the first connections are lost."""


class Breaking:
    """Serves one document, whose first transfers break off."""

    def __init__(self):
        self.asked = []  # (time, first byte)

    async def answer(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        if b"GET /long " not in head:
            writer.write(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        else:
            found = re.search(rb"Range: bytes=(\d+)-", head)
            first = int(found[1]) if found else 0
            said = f"bytes {first}-{len(WHOLE) - 1}/{len(WHOLE)}\r\n"
            status = f"206 Partial Content\r\nContent-Range: {said}" if found else "200 OK\r\n"
            fields = f'ETag: "1"\r\nAccept-Ranges: bytes\r\nDate: {formatdate(time.time(), usegmt=True)}\r\n'
            end = BREAKS[len(self.asked)] if len(self.asked) < len(BREAKS) else len(WHOLE)
            self.asked.append((time.monotonic(), first))
            length = f"Content-Length: {len(WHOLE) - first}\r\n\r\n"
            writer.write(f"HTTP/1.1 {status}{fields}{length}".encode() + WHOLE[first:end])
        await writer.drain()
        writer.close()


def test_one_whole_response_that_says_how_it_came(tmp_path):
    server, folder, rest = Breaking(), tmp_path / "crawl", 0.05
    settings = {
        "engine": {"guess_sitemap": False},
        "retry": {"url_waits": [0.0, 0.0]},
        "politeness": {"min_delay": rest},
        "fetch": {"allow_private": True},
    }

    async def main():
        listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
        seed = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/long"
        async with listening, asyncio.timeout(PATIENCE):
            return [page async for page in gossamer.crawl(seed, folder=folder, config=settings)]

    (page,) = asyncio.run(main())
    assert page.status == 200
    times, firsts = zip(*server.asked, strict=True)
    assert firsts == (0, *BREAKS)
    assert all(later - before >= rest for before, later in pairwise(times)), "no rest between"
    (archive,) = (folder / "archive").glob("*.warc.gz")
    with archive.open("rb") as file:
        records = {
            record.rec_type: (record.rec_headers, record.http_headers, record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_headers.get_header("WARC-Target-URI", "").endswith("/long")
        }
    headers, http, body = records["response"]
    assert body == WHOLE
    assert (http.get_statuscode(), http.get_header("Content-Length")) == ("200", str(len(WHOLE)))
    assert headers.get_header("WARC-Truncated") is None
    assert b"Range" not in records["request"][1].to_ascii_bytes()
    parts = re.findall(
        rb"^bodyPart: \S+Z bytes (\d+)-(\d+) 127.0.0.1\r$", records["metadata"][2], re.MULTILINE
    )
    assert parts == [
        (b"%d" % first, b"%d" % (end - 1)) for first, end in zip(firsts, (*BREAKS, len(WHOLE)), strict=True)
    ]
    with inspect(folder) as inspection:
        assert not check(inspection).problems
        assert sum(host.bytes for host in inspection.hosts()) == len(WHOLE), "each byte is counted once"
    lines = map(visit_of, (folder / "crawl.log").read_bytes().splitlines())
    visits = [visit for visit in lines if visit and visit.url.endswith("/long")]
    assert len(visits) == len(times)
    for before, later in pairwise(visits):
        assert later.started >= before.started + before.seconds + rest - 0.001, (
            "who reads the log sees the rest"
        )
    assert not list((folder / "tmp").iterdir())
