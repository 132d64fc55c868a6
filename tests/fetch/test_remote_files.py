"""What comes over FTP and SFTP, from honest servers and from others."""

import asyncio
import contextlib
import functools
import itertools
import os
import time
from functools import partial
from pathlib import Path

import pytest
from fetch_servers import StaticResolver, certificate, lease
from file_servers import PASSWORD, USER, HostileFtp, ftp_server, sftp_server
from test_fetch_proxy import Proxy, proxying

from gossamer.fetch.body import BodyMemory, BodyWriter
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import LocalFetch
from gossamer.fetch.remote_files import DIALOGUE, LISTING, RemoteFiles
from gossamer.fetch.request import Credentials
from gossamer.fetch.unfinished import Unfinished
from gossamer.model.exchange import StatusAction, Truncation
from gossamer.model.lease import Validators
from gossamer.model.outcome import Failed, Fault, Fetched
from gossamer.model.reasons.codes import FetchCode


def on_loop(test):
    """Run a test that waits."""

    @functools.wraps(test)
    def run(**arguments):
        asyncio.run(test(**arguments))

    return run


ANN = LocalFetch(lambda _: Credentials(USER, PASSWORD))


@contextlib.asynccontextmanager
async def files(tmp_path, local=LocalFetch(), **settings):  # noqa: B008 - frozen
    config = FetchConfig(**{"allow_private": True, "connect_timeout": 5, **settings})
    spool = tmp_path / "spool"
    spool.mkdir(exist_ok=True)
    new_body = partial(BodyWriter, spool, 1 << 16, BodyMemory(0))
    unfinished = Unfinished(config.unfinished_bodies)
    module = RemoteFiles(config, StaticResolver({}), AddressGuard(config), new_body, local, unfinished)
    try:
        yield module
    finally:
        await module.close()
        unfinished.close()


async def came(module, url, validators=None):
    outcome = await module.fetch(lease(url, validators))
    assert isinstance(outcome, Fetched), outcome
    return outcome.exchange


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "page.html").write_bytes(b"<a href=x>x</a>")
    (root / "sub" / "long").write_bytes(b"x" * 200_000)
    return root


@on_loop
async def test_a_file_a_folder_and_what_is_missing(tree, tmp_path):
    with ftp_server(tree) as server:
        async with files(tmp_path) as module:
            base = f"ftp://127.0.0.1:{server.port}"
            page = await came(module, f"{base}/page.html")
            folder = await came(module, f"{base}/")
            bare = await came(module, f"{base}/sub")
            gone = await came(module, f"{base}/nothing")
            again = await came(module, f"{base}/page.html", Validators("", page.headers.get("last-modified")))
    assert (page.said, page.body.read()) == ("ftp 226", b"<a href=x>x</a>")
    assert page.headers.get("content-type") == "text/html"
    assert page.headers.get("last-modified").endswith("GMT") and page.address == "127.0.0.1"
    assert b'<a href="sub/">' in folder.body.read() and b'<a href="page.html">' in folder.body.read()
    assert (bare.said, b'<a href="sub/">' in bare.body.read()) == ("ftp directory", True)
    assert (gone.said, gone.result.asks, gone.is_recorded) == ("ftp 550", StatusAction.DROP, False)
    assert again.result.asks is StatusAction.UNCHANGED
    assert b"RETR page.html\r\n" in page.further[0].block and b"226 " in page.further[0].block
    assert [record.media_type for record in folder.further] == [LISTING, DIALOGUE]
    assert len(server.asked("PASS")) == 1


@on_loop
async def test_a_password_is_sent_and_not_kept(tree, tmp_path):
    with ftp_server(tree, guests=False) as server:
        base = f"ftp://127.0.0.1:{server.port}"
        async with files(tmp_path, ANN) as module:
            page = await came(module, f"{base}/page.html")
        async with files(tmp_path) as module:
            guest = await came(module, f"{base}/page.html")
    assert page.said == "ftp 226" and PASSWORD in server.asked("PASS")
    said = b"".join(record.block for record in page.further)
    assert PASSWORD.encode() not in said and b"PASS ***\r\n" in said
    assert (guest.said, guest.result.asks) == ("ftp 530", StatusAction.PARK)


@pytest.mark.parametrize("without", [("MLSD",), ("MLSD", "MDTM", "SIZE", "EPSV")])
@on_loop
async def test_older_servers(tree, tmp_path, without):
    with ftp_server(tree, without=without) as server:
        async with files(tmp_path) as module:
            for path in ("/", "/sub/"):
                folder = await came(module, f"ftp://127.0.0.1:{server.port}{path}")
                assert folder.said == "ftp directory"
            assert b'<a href="long">' in folder.body.read()
            assert len(server.asked("MLSD")) == 1  # and no more


@on_loop
async def test_ftps_and_tls_by_choice(tree, tmp_path):
    cert, key = certificate(tmp_path)
    both = tmp_path / "both.pem"
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    with ftp_server(tree, tls=both) as server:
        url = f"ftp://127.0.0.1:{server.port}/page.html"
        async with files(tmp_path, ftp_tls="require", ca_file=str(cert)) as module:
            assert (await came(module, url)).said == "ftp 226"
        async with files(tmp_path, ftp_tls="require") as module:
            outcome = await module.fetch(lease(url))
            assert isinstance(outcome, Failed) and outcome.fault is Fault.TLS
    assert ("AUTH", "SSL") in server.said or ("AUTH", "TLS") in server.said


@on_loop
async def test_sftp_asks_for_the_key_of_the_host(tree, tmp_path):
    known = tmp_path / "known_hosts"
    (tree / "sub" / "broken").symlink_to("/nowhere/outside")
    with sftp_server(tree, known) as server:
        url = f"sftp://127.0.0.1:{server.port}"
        async with files(tmp_path, ANN, known_hosts=str(known)) as module:
            page = await came(module, f"{url}/page.html")
            assert (page.said, page.body.read()) == ("sftp file", b"<a href=x>x</a>")
            assert b'href="sub/"' in (await came(module, f"{url}/")).body.read()
            assert b'href="sub/"' in (await came(module, f"{url}/sub")).body.read()
            assert b'href="long"' in (await came(module, f"{url}/sub/")).body.read()
            assert (await came(module, f"{url}/nothing")).said == "sftp missing"
            (tree / "link").symlink_to("sub")
            # Nothing of its listing has come when the first link, which is itself, cannot be read.
            assert b'href="link/"' in (await came(module, f"{url}/link")).body.read()
            assert b'href="long"' in (await came(module, f"{url}/link/")).body.read()
        async with files(tmp_path, known_hosts=str(known)) as module:
            assert (await came(module, f"{url}/page.html")).said == "sftp denied"
        other = known.read_text().replace("AAAA", "AAAAB", 1)
        for held in ("", other):
            known.write_text(held)
            async with files(tmp_path, ANN, known_hosts=str(known)) as module:
                outcome = await module.fetch(lease(f"{url}/page.html"))
            assert isinstance(outcome, Failed) and outcome.detail.code == FetchCode.HOST_KEY
        async with files(tmp_path, ANN, known_hosts=str(tmp_path / "not there")) as module:
            assert isinstance(await module.fetch(lease(f"{url}/page.html")), Failed)
    assert server.said.count(("open", "/page.html")) == 1


HUGE = b"230-" + b"x" * 1_000 + b"\r\n"


@pytest.mark.parametrize(
    ("replies", "said", "asks"),
    [
        ({"greeting": b"421 too many guests\r\n"}, "ftp 421", StatusAction.THROTTLED),
        ({"PASS": b"530 no\r\n"}, "ftp 530", StatusAction.PARK),
        ({"RETR": b"450 busy\r\n", "CWD": b"550 no\r\n"}, "ftp 550", StatusAction.DROP),
        ({"RETR": b"450 busy\r\n", "CWD": [b"250 ok\r\n", b"550 no\r\n"]}, "ftp 450", StatusAction.RETRY),
        ({"RETR": b"550 gone\r\n", "CWD": [b"250 ok\r\n", b"550 no\r\n"]}, "ftp 550", StatusAction.DROP),
        ({"SIZE": b"213 5\r\n"}, "ftp 226", StatusAction.PROCESS),
    ],
)
@on_loop
async def test_replies(tmp_path, replies, said, asks):
    with HostileFtp(replies) as server:
        async with files(tmp_path) as module:
            exchange = await came(module, f"ftp://127.0.0.1:{server.port}/sub/x")
    assert (exchange.said, exchange.result.asks) == (said, asks)


@pytest.mark.parametrize(
    ("replies", "fault"),
    [
        ({"greeting": HUGE * 2_000}, Fault.HEAD_TOO_LARGE),
        ({"PASS": HUGE * 2_000}, Fault.HEAD_TOO_LARGE),
        ({"greeting": b""}, Fault.TIMEOUT),
        ({"RETR": b""}, Fault.TOO_SLOW),
        ({"greeting": b"SSH-2.0-x\r\n"}, Fault.TOO_SLOW),
        ({"USER": b"999 what?\r\n"}, Fault.PROTOCOL),
    ],
)
@on_loop
async def test_misbehaviour(tmp_path, replies, fault):
    with HostileFtp(replies) as server:
        async with files(tmp_path, idle_timeout=0.3) as module:
            outcome = await module.fetch(lease(f"ftp://127.0.0.1:{server.port}/x"))
    assert isinstance(outcome, Failed) and outcome.fault is fault, outcome


@on_loop
async def test_silence_after_the_beginning_and_sizes_that_are_wrong(tmp_path):
    for replies in ({"RETR": b"150 here\r\n"}, {"SIZE": b"213 500\r\n"}):
        with HostileFtp(replies) as server:
            async with files(tmp_path, idle_timeout=0.3) as module:
                exchange = await came(module, f"ftp://127.0.0.1:{server.port}/x")
        assert exchange.body.read() == b"hello"
        assert exchange.truncated in (Truncation.TIME, Truncation.DISCONNECT)


@on_loop
async def test_data_come_from_the_server_alone(tmp_path):
    with HostileFtp() as elsewhere:
        port = elsewhere.data_port
        replies = {"EPSV": b"500 what?\r\n", "PASV": b"227 ok (127,9,9,9,%d,%d)\r\n" % divmod(port, 256)}
        with HostileFtp(replies) as server:
            async with files(tmp_path) as module:
                await came(module, f"ftp://127.0.0.1:{server.port}/x")
    # Only the port is believed: 127.9.9.9, where the same machine would have answered, was not asked.
    assert elsewhere.data_connections == 1 and "PASV" in server.said


@on_loop
async def test_listings_of_strangers(tmp_path):
    names = [
        b"..",
        b".",
        b"a/b",
        b"\x01",
        b"",
        b"caf\xe9",
        b"a b%2f",
        b"x;type=a",
        b"?#",
        b" lead",
        b"<b>",
    ]
    lines = b"".join(b"type=file;modify=20200102030405;size=7; " + name + b"\r\n" for name in names)
    odd = b"no facts\r\ntype=dir;modify=never;size=-1; ok\r\ntype=cdir; here\r\n"
    with HostileFtp(data=(lines + odd,)) as server:
        async with files(tmp_path) as module:
            page = (await came(module, f"ftp://127.0.0.1:{server.port}/")).body.read().decode()
    links = [part.partition('"')[0] for part in page.split('href="')[1:]]
    assert links == ["caf%E9", "a%20b%252f", "x%3Btype%3Da", "%3F%23", "%20lead", "%3Cb%3E", "facts", "ok/"]
    assert '<time datetime="2020-01-02T03:04:05Z">' in page and "<b>" not in page


@on_loop
async def test_lines_of_strangers(tmp_path):
    lines = [
        b"total 3",
        b"-rw-r--r--   1 ftp      1234 Jan  1  2020 no group",
        b"drwxr-xr-x   2 0 0 12 M\xe4r 29 10:00 other month",
        b"-rw-r--r-- 1 ftp ftp " + b"9" * 5_000 + b" Jan  1  2020 vast",
        b"01-02-20  03:04PM " + b"9" * 5_000 + b" vast, too",
    ]
    with HostileFtp({"MLSD": b"500 what?\r\n"}, data=(b"\r\n".join(lines),)) as server:
        async with files(tmp_path) as module:
            page = (await came(module, f"ftp://127.0.0.1:{server.port}/")).body.read().decode()
    links = [part.partition('"')[0] for part in page.split('href="')[1:]]
    assert links == ["no%20group", "other%20month/", "vast", "vast%2C%20too"]
    assert "<td>1234</td>" in page and "999" not in page


@on_loop
async def test_a_listing_that_never_ends_is_cut(tmp_path):
    lines = (
        b"".join(b"type=file; %d-%d\r\n" % (block, number) for number in range(500))
        for block in itertools.count()
    )
    with HostileFtp(data=lines) as server:
        async with files(tmp_path, max_body=100_000) as module:
            exchange = await came(module, f"ftp://127.0.0.1:{server.port}/")
    assert exchange.truncated is Truncation.LENGTH and exchange.body.size <= 100_000
    exchange.body.close()
    assert sum(len(record.block) for record in exchange.further) < 110_000


@pytest.mark.parametrize(
    "path", ["/pub/..%2F..%2Fetc/", "/a%00b", "/a%0d%0aDELE%20x", "/a//b", "/%2Fetc/passwd"]
)
@on_loop
async def test_names_that_would_be_other_commands_are_not_asked_for(tmp_path, path):
    with HostileFtp() as server:
        async with files(tmp_path) as module:
            exchange = await came(module, f"ftp://127.0.0.1:{server.port}{path}")
    assert (exchange.said, server.said) == ("ftp no name", [])


@on_loop
async def test_a_proxy_that_is_gone_is_not_the_servers_failure(tree, tmp_path):
    with ftp_server(tree) as server:
        url = f"ftp://127.0.0.1:{server.port}/page.html"
        async with proxying(Proxy()) as proxy:
            way = f"http://127.0.0.1:{proxy.port}"
            async with files(tmp_path, LocalFetch(), proxy=way) as module:
                assert (await came(module, url)).address == ""
                proxy.connect_reply = b"HTTP/1.1 502 No\r\n\r\n"
                other = url.replace("127.0.0.1", "127.0.0.2")
                assert (await module.fetch(lease(other))).fault is Fault.PROXY
                assert module._router._proxies.seen()[0].failures == 0
        async with files(tmp_path, LocalFetch(), proxy=way) as module:
            assert (await module.fetch(lease(url))).fault is Fault.PROXY_DOWN


LONG = b"".join(b"%07x" % number for number in range(3 << 16))
"""More than a MiB, of which no part is like another."""
BREAK, OLD = (1 << 20) + 1, 784_111_777


@contextlib.contextmanager
def long_file(root: Path, age: int = OLD):
    (root / "long.bin").write_bytes(LONG)
    os.utime(root / "long.bin", (age, age))
    yield root


async def thrice(module, url, between=lambda: None):
    """What came of three visits of one URL, each settled before the next: what is known of each, and its body."""
    came = []
    for _ in range(3):
        outcome = await module.fetch(lease(url))
        if isinstance(outcome, Fetched):
            exchange = outcome.exchange
            came.append((exchange, exchange.body.read()))
            exchange.body.close()
        else:
            came.append((outcome, b""))
        between()
    return came


@pytest.mark.parametrize("scheme", ["ftp", "sftp"])
def test_a_long_file_goes_on_where_it_broke_off(scheme, tree, tmp_path):
    known, ends = tmp_path / "known", (BREAK, BREAK + 5000)
    with (
        long_file(tree),
        ftp_server(tree, ends=ends) if scheme == "ftp" else sftp_server(tree, known, ends=ends) as server,
    ):

        async def main():
            async with files(tmp_path, ANN, known_hosts=str(known)) as module:
                return await thrice(module, f"{scheme}://127.0.0.1:{server.port}/long.bin")

        came = asyncio.run(main())
    assert [body == LONG[: len(body)] for _, body in came] == [True] * 3
    assert [(len(body), exchange.truncated) for exchange, body in came] == [
        (BREAK, Truncation.DISCONNECT), (BREAK + 5000, Truncation.DISCONNECT), (len(LONG), None)
    ]  # fmt: skip
    first, _, last = (exchange for exchange, _ in came)
    assert [part.size for part in last.parts] == [BREAK, 5000, len(LONG) - BREAK - 5000]
    assert last.started == first.started and last.said == first.said
    if scheme == "ftp":
        assert server.asked("REST") == [str(BREAK), str(BREAK + 5000)]
        assert [b"REST" in record.block for record in last.further] == [False, True, True]
    assert not list((tmp_path / "spool").iterdir())


def change(root: Path, content: bytes, age: int) -> None:
    (root / "long.bin").write_bytes(content)
    os.utime(root / "long.bin", (age, age))


@pytest.mark.parametrize(
    "changed",
    [(LONG[::-1], OLD + 1), (LONG[:BREAK], OLD), (LONG[: BREAK - 1], OLD)],
    ids=["time", "end", "less"],
)
def test_a_file_that_has_changed_begins_anew(changed, tree, tmp_path):
    with long_file(tree), ftp_server(tree, ends=(BREAK,)) as server:

        async def main():
            async with files(tmp_path) as module:
                url = f"ftp://127.0.0.1:{server.port}/long.bin"
                return await thrice(module, url, lambda: change(tree, *changed))

        (_, begun), (refused, _), (last, whole) = asyncio.run(main())
    assert begun == LONG[:BREAK]
    assert (refused.fault, refused.detail.code) == (Fault.PROTOCOL, FetchCode.OTHER_PART)
    assert (whole, last.truncated, last.parts) == (changed[0], None, ())
    assert not list((tmp_path / "spool").iterdir())


def test_a_file_that_changed_just_now_is_not_kept(tree, tmp_path):
    with long_file(tree, int(time.time())), ftp_server(tree, ends=(BREAK, BREAK)) as server:

        async def main():
            async with files(tmp_path) as module:
                return await thrice(module, f"ftp://127.0.0.1:{server.port}/long.bin")

        came = asyncio.run(main())
    assert [len(body) for _, body in came] == [BREAK, BREAK, len(LONG)]
    assert not server.asked("REST")


def test_a_server_that_is_busy_in_between_loses_nothing(tmp_path):
    replies = {
        "MDTM": b"213 19941106084937\r\n",
        "SIZE": b"213 %d\r\n" % len(LONG),
        "REST": b"350 go on\r\n",
        "RETR": [b"150 here\r\n426 broke\r\n", b"451 busy\r\n", b"150 here\r\n226 done\r\n"],
    }
    with HostileFtp(replies, Turns(LONG[:BREAK], b"", LONG[BREAK:])) as server:

        async def main():
            async with files(tmp_path) as module:
                return await thrice(module, f"ftp://127.0.0.1:{server.port}/long.bin")

        came = asyncio.run(main())
    assert [exchange.said for exchange, _ in came] == ["ftp 226", "ftp 451", "ftp 226"]
    assert came[2][1] == LONG and came[2][0].truncated is None


class Turns:
    """Each data connection has its own piece."""

    def __init__(self, *pieces):
        self._left = list(pieces)

    def __iter__(self):
        return iter([self._left.pop(0)] if self._left else [])
