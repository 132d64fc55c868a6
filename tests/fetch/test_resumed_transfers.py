"""A long body that broke off goes on where it did, if what comes is surely the rest of the same document."""

import asyncio
import contextlib
import hashlib
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest
from fetch_servers import RawServer, fetching, hang_up, lease, serving
from nginx_server import nginx

from gossamer.fetch.beginning import Beginning, strong_validator
from gossamer.fetch.body import LONGEST_HELD, KeptFile, SpooledBody
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.http import LocalFetch
from gossamer.model.exchange import BodyPart, Exchange, Headers, Truncation
from gossamer.model.lease import Validators
from gossamer.model.outcome import Failed, Fault, Fetched
from gossamer.model.reasons.codes import FetchCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url

WHOLE = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(3 * LONGEST_HELD // 64))
"""One and a half MiB, of which no part is like another."""
BROKEN = LONGEST_HELD + 1
TAG = 'ETag: "one"'
DATES = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:50:37 GMT"

Answer = tuple[str, str, bytes, int]
"""Status, further fields, body, and the length that is said."""


def whole(fields: str = TAG, sent: int = len(WHOLE)) -> Answer:
    return "200 OK", f"Accept-Ranges: bytes\r\n{fields}", WHOLE[:sent], len(WHOLE)


def rest(
    first: int = BROKEN,
    last: int = len(WHOLE) - 1,
    length: object = len(WHOLE),
    fields: str = TAG,
    sent: int = -1,
) -> Answer:
    body = WHOLE[first : last + 1]
    said = f"Content-Range: bytes {first}-{last}/{length}\r\n{fields}"
    return "206 Partial Content", said, body if sent < 0 else body[:sent], len(body)


class Told:
    """Gives its answers in turn, each on a connection of its own."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        status, fields, body, length = self.answers.pop(0)
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{fields}\r\n\r\n".encode() + body)


def visits(tmp_path: Path, *answers: Answer, **settings: object) -> tuple[list[Exchange | Failed], RawServer]:
    """What came of as many visits of one URL as there are answers; each is settled before the next."""

    async def main() -> tuple[list[Exchange | Failed], RawServer]:
        came: list[Exchange | Failed] = []
        async with serving(Told(*answers)) as server, fetching(tmp_path, **settings) as module:
            for _ in answers:
                outcome = await module.fetch(lease(server.url("/long")))
                assert isinstance(outcome, Fetched | Failed)
                came.append(outcome if isinstance(outcome, Failed) else outcome.exchange)
                if isinstance(outcome, Fetched):
                    body = outcome.exchange.body
                    content = body.read()
                    assert hashlib.sha256(content).digest() == body.sha256
                    assert content == b"".join(body.chunks())
                    assert content == WHOLE[: len(content)] or outcome.exchange.status != 200
                    body.close()
        return came, server

    result = asyncio.run(main())
    assert not list(tmp_path.iterdir()), "files are left"
    return result


def asked_from(server: RawServer) -> list[int | None]:
    """At which byte each request wanted to begin."""
    found = [re.search(rb"\r\nRange: bytes=(\d+)-\r\n", request) for request in server.requests]
    return [None if match is None else int(match[1]) for match in found]


@pytest.mark.parametrize("fields", [TAG, DATES])
def test_the_rest_is_added(fields: str, tmp_path: Path) -> None:
    (first, last), server = visits(tmp_path, whole(fields, BROKEN), rest(fields=fields))
    assert isinstance(first, Exchange) and isinstance(last, Exchange)
    assert first.truncated is Truncation.DISCONNECT and not first.parts and first.latest.size == BROKEN
    assert asked_from(server) == [None, BROKEN]
    validator = b'"one"' if fields is TAG else b"Sun, 06 Nov 1994 08:49:37 GMT"
    assert b"\r\nIf-Range: " + validator + b"\r\n" in server.requests[1]
    assert last.truncated is None and last.body.size == len(WHOLE)
    assert (last.status, last.response_head, last.request_head) == (
        200,
        first.response_head,
        first.request_head,
    )
    assert last.started == first.started
    assert [part.size for part in last.parts] == [BROKEN, len(WHOLE) - BROKEN]
    assert last.parts[0].started == first.started <= last.parts[1].started
    assert last.latest.size == len(WHOLE) - BROKEN


def test_each_part_has_its_own_address_and_the_whole_that_of_its_head(tmp_path: Path) -> None:
    (first, last), _ = visits(tmp_path, whole(sent=BROKEN), rest())
    assert isinstance(first, Exchange) and isinstance(last, Exchange)
    kept = KeptFile(tmp_path / "none", BROKEN, hashlib.sha256())
    other = msgspec.structs.replace(last, address="127.0.0.2", started=first.started + 9, parts=())
    joined = Beginning(first, kept, '"one"', len(WHOLE)).joined(other)
    assert (joined.address, joined.started) == ("127.0.0.1", first.started)
    assert joined.latest == BodyPart(first.started + 9, "127.0.0.2", len(WHOLE) - BROKEN)


def test_it_may_break_again(tmp_path: Path) -> None:
    further = BROKEN + 5000
    room = {"unfinished_bodies": further}
    came, server = visits(tmp_path, whole(sent=BROKEN), rest(sent=5000), rest(further), **room)
    assert [one.truncated for one in came if isinstance(one, Exchange)] == [Truncation.DISCONNECT] * 2 + [
        None
    ]
    assert asked_from(server) == [None, BROKEN, further]
    assert isinstance(came[2], Exchange)
    assert [part.size for part in came[2].parts] == [BROKEN, 5000, len(WHOLE) - further]


def test_what_has_all_of_its_bytes_has_no_rest(tmp_path: Path) -> None:
    more = (*rest()[:2], WHOLE[BROKEN:], len(WHOLE))
    came, server = visits(tmp_path, whole(sent=BROKEN), more, whole())
    assert isinstance(came[1], Exchange) and came[1].truncated is Truncation.DISCONNECT
    assert asked_from(server) == [None, BROKEN, None]


def test_what_our_own_time_limit_broke_off_goes_on(tmp_path: Path) -> None:
    told = Told(whole(sent=BROKEN), rest())

    async def main() -> list[int | None]:
        async def stalling(writer: asyncio.StreamWriter) -> None:
            await told(writer)
            await writer.drain()
            if len(told.answers) == 1:
                await asyncio.Event().wait()

        async with serving(stalling) as server, fetching(tmp_path, visit_timeout=0.2) as module:
            for truncated in (Truncation.TIME, None):
                outcome = await module.fetch(lease(server.url()))
                assert isinstance(outcome, Fetched) and outcome.exchange.truncated is truncated
                outcome.exchange.body.close()
            return asked_from(server)

    assert asyncio.run(main()) == [None, BROKEN]


def test_an_error_in_between_loses_nothing(tmp_path: Path) -> None:
    busy = ("503 Busy", "Retry-After: 1", b"", 0)
    nothing = (*rest()[:2], b"", len(WHOLE) - BROKEN)
    came, server = visits(tmp_path, whole(sent=BROKEN), busy, nothing, rest())
    assert asked_from(server) == [None, BROKEN, BROKEN, BROKEN]
    assert isinstance(came[1], Exchange) and came[1].status == 503
    assert isinstance(came[2], Failed) and came[2].fault is Fault.RESET
    assert isinstance(came[3], Exchange) and came[3].body.size == len(WHOLE)


def test_what_has_changed_replaces_it(tmp_path: Path) -> None:
    came, server = visits(tmp_path, whole(sent=BROKEN), whole('ETag: "two"'), whole())
    assert isinstance(came[1], Exchange) and not came[1].parts and came[1].headers.get("etag") == '"two"'
    assert asked_from(server) == [None, BROKEN, None]


WRONG = {
    "another beginning": rest(BROKEN - 1),
    "not to the end": rest(last=len(WHOLE) - 2),
    "another length": rest(length=len(WHOLE) + 1),
    "an unknown length": rest(length="*"),
    # With as many bytes as would fit.
    "another beginning, fitting": (
        rest(BROKEN - 1)[0],
        rest(BROKEN - 1)[1],
        WHOLE[BROKEN - 1 : -1],
        len(WHOLE) - BROKEN,
    ),
    "not to the end, fitting": (*rest(last=len(WHOLE) - 2)[:2], WHOLE[BROKEN:], len(WHOLE) - BROKEN),
    "another length, fitting": (
        *rest(last=len(WHOLE), length=len(WHOLE) + 1)[:2],
        WHOLE[BROKEN:] + b"!",
        len(WHOLE) - BROKEN + 1,
    ),
    "no range": ("206 Partial Content", TAG, WHOLE[BROKEN:], len(WHOLE) - BROKEN),
    "two ranges": (
        "206 Partial Content",
        f"Content-Type: multipart/byteranges; boundary=x\r\n{TAG}",
        b"--x",
        3,
    ),
    "an endless number": rest(length="9" * 400),
    "another tag": rest(fields='ETag: "two"'),
    "a weak tag": rest(fields='ETag: W/"one"'),
    "no tag": rest(fields="X: y"),
    "another coding": rest(fields=f"{TAG}\r\nContent-Encoding: gzip"),
    "fewer bytes than it says": (*rest()[:2], WHOLE[BROKEN:-1], len(WHOLE) - BROKEN - 1),
    "more bytes than it says": (*rest()[:2], WHOLE[BROKEN:] + b"!", len(WHOLE) - BROKEN + 1),
    "no bytes": (*rest()[:2], b"", 0),
    "not satisfiable": ("416 No", f"Content-Range: bytes */{len(WHOLE)}", b"no", 2),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_the_rest_is_not_added(name: str, tmp_path: Path) -> None:
    """It begins anew, and of this server no rest is asked for again: the last visit must have something to show."""
    came, server = visits(tmp_path, whole(sent=BROKEN), WRONG[name], whole(sent=BROKEN), whole())
    assert isinstance(came[1], Failed)
    assert (came[1].fault, came[1].detail) == (Fault.PROTOCOL, because(FetchCode.OTHER_PART))
    assert asked_from(server) == [None, BROKEN, None, None]
    assert isinstance(came[3], Exchange) and came[3].truncated is None and not came[3].parts


NOT_KEPT = {
    "short": whole(sent=LONGEST_HELD),
    "no validator": whole("X: y", BROKEN),
    "a weak tag": whole('ETag: W/"one"', BROKEN),
    "a weak tag beside a date": whole(f'ETag: W/"one"\r\n{DATES}', BROKEN),
    "no tag at all": whole("ETag: one", BROKEN),
    "a date of just now": whole(DATES.replace("08:50:37", "08:50:36"), BROKEN),
    "a date alone": whole(DATES.partition("\r\n")[0], BROKEN),
    "no ranges": ("200 OK", TAG, WHOLE[:BROKEN], len(WHOLE)),
    "ranges of none": ("200 OK", f"Accept-Ranges: none\r\n{TAG}", WHOLE[:BROKEN], len(WHOLE)),
    "a long head": whole(f"X: {'y' * (16 << 10)}\r\n{TAG}", BROKEN),
    "not what was asked for": ("404 No", f"Accept-Ranges: bytes\r\n{TAG}", WHOLE[:BROKEN], len(WHOLE)),
}


@pytest.mark.parametrize("name", NOT_KEPT)
def test_what_cannot_be_gone_on_with_is_not_kept(name: str, tmp_path: Path) -> None:
    _, server = visits(tmp_path, NOT_KEPT[name], whole(), memory_bodies=0)
    assert asked_from(server) == [None, None]


def test_what_was_cut_by_our_own_limit_is_not_gone_on_with(tmp_path: Path) -> None:
    came, server = visits(tmp_path, whole(), whole(), max_body=BROKEN)
    assert [one.truncated for one in came if isinstance(one, Exchange)] == [Truncation.LENGTH] * 2
    assert asked_from(server) == [None, None]


def test_the_limit_counts_the_whole(tmp_path: Path) -> None:
    came, _ = visits(tmp_path, whole(sent=BROKEN), rest(), max_body=BROKEN + 10)
    assert isinstance(came[1], Exchange) and came[1].truncated is Truncation.LENGTH
    assert came[1].body.size == BROKEN + 10


def test_a_limit_by_media_type_holds_for_a_rest_that_does_not_say_it(tmp_path: Path) -> None:
    usual, limit = FetchConfig(allow_private=True), BROKEN + 7
    films = FetchConfig(allow_private=True, max_body=limit)
    local = LocalFetch(settings=lambda *at: films if at[2] == "video/mp4" else usual, differs=lambda: True)

    async def main() -> None:
        begun = whole(f"Content-Type: video/mp4\r\n{TAG}", BROKEN)
        async with serving(Told(begun, rest())) as server, fetching(tmp_path, local=local) as module:
            for size, truncated in ((BROKEN, Truncation.DISCONNECT), (limit, Truncation.LENGTH)):
                outcome = await module.fetch(lease(server.url()))
                assert isinstance(outcome, Fetched)
                assert (outcome.exchange.body.size, outcome.exchange.truncated) == (size, truncated)
                outcome.exchange.body.close()

    asyncio.run(main())


def test_a_coded_body_goes_on_as_it_is_coded(tmp_path: Path) -> None:
    """Ranges are of the coded bytes (RFC 9110 14.1.2); the answer need not repeat the coding."""
    coded = f"{TAG}\r\nContent-Encoding: gzip"
    came, _ = visits(tmp_path, whole(coded, BROKEN), rest())
    assert isinstance(came[1], Exchange) and came[1].body.size == len(WHOLE)
    assert came[1].headers.get("content-encoding") == "gzip"


def test_the_oldest_give_way(tmp_path: Path) -> None:
    """Of two beginnings there is room for one; by 0 none is kept."""

    def asked(size: int) -> list[int | None]:
        async def main() -> RawServer:
            told = Told(whole(sent=BROKEN), whole(sent=BROKEN), *[rest()] * 2)
            async with serving(told) as server, fetching(tmp_path, unfinished_bodies=size) as module:
                for path in ("/a", "/b", "/a", "/b"):
                    outcome = await module.fetch(lease(server.url(path)))
                    assert isinstance(outcome, Fetched)
                    outcome.exchange.body.close()
                return server

        return asked_from(asyncio.run(main()))

    assert asked(2 * BROKEN) == [None, None, BROKEN, BROKEN]
    assert asked(2 * BROKEN - 1) == [None, None, None, BROKEN]
    assert asked(0) == [None] * 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"short")])
def test_a_beginning_that_the_disk_lost_is_asked_for_again(
    harm: Callable[[Path], object], tmp_path: Path
) -> None:
    async def main() -> list[int | None]:
        async with serving(Told(whole(sent=BROKEN), whole())) as server, fetching(tmp_path) as module:
            for _ in range(2):
                outcome = await module.fetch(lease(server.url()))
                assert isinstance(outcome, Fetched)
                outcome.exchange.body.close()
                for path in tmp_path.iterdir():  # noqa: ASYNC240
                    harm(path)
            return asked_from(server)

    assert asyncio.run(main()) == [None, None]
    assert not list(tmp_path.iterdir())


def test_a_body_is_not_longer_for_who_still_reads_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(Told(whole(sent=BROKEN), rest())) as server, fetching(tmp_path) as module:
            first = await module.fetch(lease(server.url()))
            last = await module.fetch(lease(server.url()))
            assert isinstance(first, Fetched) and isinstance(last, Fetched)
            assert b"".join(first.exchange.body.chunks()) == first.exchange.body.read() == WHOLE[:BROKEN]
            assert first.exchange.body.sha256 == hashlib.sha256(WHOLE[:BROKEN]).digest()
            first.exchange.body.close()
            assert last.exchange.body.read() == WHOLE
            last.exchange.body.close()

    asyncio.run(main())


def test_a_visit_under_a_condition_asks_for_both(tmp_path: Path) -> None:
    async def main() -> list[bytes]:
        unchanged = ("304 Same", TAG, b"", 0)
        async with (
            serving(Told(whole(sent=BROKEN), unchanged, whole())) as server,
            fetching(tmp_path) as module,
        ):
            for validators in (None, Validators('"zero"'), None):
                outcome = await module.fetch(lease(server.url(), validators))
                assert isinstance(outcome, Fetched)
                outcome.exchange.body.close()
            return server.requests

    _, both, last = asyncio.run(main())
    assert b'If-None-Match: "zero"' in both and b'If-Range: "one"' in both
    assert b"Range" not in last


def test_what_was_given_up_is_not_gone_on_with_by_a_later_capture(tmp_path: Path) -> None:
    async def main() -> list[int | None]:
        async with serving(Told(whole(sent=BROKEN), whole())) as server, fetching(tmp_path) as module:
            for attempts in (3, 0):
                outcome = await module.fetch(lease(server.url(), attempts=attempts))
                assert isinstance(outcome, Fetched) and not outcome.exchange.parts
                outcome.exchange.body.close()
            return asked_from(server)

    assert asyncio.run(main()) == [None, None]
    assert not list(tmp_path.iterdir()), "files are left"


def test_who_asks_for_a_head_leaves_the_beginning_alone(tmp_path: Path) -> None:
    async def main() -> list[int | None]:
        async with (
            serving(Told(whole(sent=BROKEN), whole(sent=0), rest())) as server,
            fetching(tmp_path) as module,
        ):
            for visit in (module.fetch, module.head, module.fetch):
                outcome = await visit(lease(server.url()))
                assert isinstance(outcome, Fetched)
                outcome.exchange.body.close()
            return asked_from(server)

    assert asyncio.run(main()) == [None, None, BROKEN]


@contextlib.asynccontextmanager
async def losing(port: int, *ends: int) -> AsyncIterator[RawServer]:
    """What stands before a server and loses its first connections after so many bytes."""
    left = list(ends)

    async def relay(writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection("127.0.0.1", port)
        requests.write(server.requests[-1].replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        answer = await answers.read(-1)
        await hang_up(requests)
        writer.write(answer[: left.pop(0)] if left else answer)

    async with serving(relay) as server:
        yield server


@pytest.mark.parametrize("changes", [False, True])
def test_of_nginx(changes: bool, tmp_path: Path) -> None:
    before, after = WHOLE.hex()[: len(WHOLE)], WHOLE.hex()[-len(WHOLE) :]
    spool = tmp_path / "spool"
    spool.mkdir()

    async def main(port: int) -> list[bytes]:
        came = []
        lost = BROKEN + 1000, BROKEN + 1000 if changes else 9000  # heads included
        async with losing(port, *lost) as server, fetching(spool) as module:
            for visit in range(3):
                outcome = await module.fetch(lease(server.url("/long.txt")))
                assert isinstance(outcome, Fetched)
                came.append(outcome.exchange.body.read())
                outcome.exchange.body.close()
                if changes and not visit:
                    (tmp_path / "root" / "long.txt").write_text(after + "!")
            assert [first is None for first in asked_from(server)] == [True, False, False]
            return came

    with nginx(tmp_path, "", {"long.txt": before}) as port:
        *_, last = asyncio.run(main(port))
    assert last.decode() == (after + "!" if changes else before)


@pytest.mark.parametrize(
    ("fields", "validator"),
    [
        ({"etag": '""'}, '""'),
        ({"etag": '"a"b"'}, ""),
        ({"etag": '"a b"'}, ""),
        ({"last-modified": "Sunday, 06-Nov-94 08:49:37 GMT", "date": "Sun Nov  6 09:49:37 1994"}, "same"),
        ({"last-modified": "Sun, 06 Nov 1994 08:49:37 GMT\x0b", "date": "Mon, 07 Nov 1994 08:49:37 GMT"}, ""),
        ({"last-modified": "yesterday", "date": "Mon, 07 Nov 1994 08:49:37 GMT"}, ""),
        ({}, ""),
    ],
)
def test_what_is_a_strong_validator(fields: dict[str, str], validator: str) -> None:
    url = Url.parse("http://example.org/")
    assert url is not None
    headers = Headers([("accept-ranges", "Bytes"), *fields.items()])
    expected = fields["last-modified"] if validator == "same" else validator
    assert strong_validator(Exchange(url, 1.7e9, b"", 200, b"", headers, SpooledBody())) == expected
