"""What the server of a replayed archive answers, asked byte by byte."""

import asyncio
import contextlib
import gzip
import http.client
import shutil
import socket
import ssl
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from benchmarks.replay_looks import viewed
from crawled_often import crawled_often
from small_site import Answer, Site

from gossamer.cli.view import Viewing, run_view
from gossamer.inspect.archive.lookup import Indexed
from gossamer.inspect.inspection import inspect
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url
from gossamer.replay.archive import Archive, best_at
from gossamer.replay.certificates import Authority
from gossamer.replay.server import View

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
TOKEN = "abcdefgh"
HTML = {"Content-Type": "text/html"}
LATIN = "<meta charset=iso-8859-1><title>caf\xe9</title><p>caf\xe9".encode("latin-1")
STEERING = {
    **HTML,
    "Set-Cookie": "a=b",
    "Content-Security-Policy": "default-src 'none'",
    "X-Frame-Options": "DENY",
    "Refresh": "0; url=https://evil.example/",
    "X-Own": "kept",
}


def site_answer(_: str, path: str, asked: Counter[tuple[str, str]]) -> Answer:
    """Each page twice: once as it was first, once as it was last."""
    visit = asked[_, path]
    pages: dict[str, Answer] = {
        "/": (
            200,
            HTML,
            "<title>Home &lt;script&gt;</title>"
            + "".join(f'<a href="{name}">x</a>' for name in PAGES)
            + '<a href="https://elsewhere.example/x">out</a>',
        ),
        "/latin": (200, HTML, LATIN),
        "/unnamed": (200, HTML, "<title>café</title>"),
        "/steering": (200, STEERING, "<title>steering</title>"),
        "/changing": (200, HTML, f"<title>version {visit}</title>"),
        "/packed": (200, {**HTML, "Content-Encoding": "gzip"}, gzip.compress(b"<title>packed</title>")),
        "/moved": (301, {"Location": "/latin#part"}, ""),
        "/away": (302, {"Location": "https://elsewhere.example/y"}, ""),
        "/video.mp4": (200, {"Content-Type": "video/mp4"}, bytes(range(256))),
        "/data?id=1": (200, {"Content-Type": "application/json"}, '{"id":1}'),
        "/sheet.css": (200, {"Content-Type": "text/css"}, "a{b:url(https://elsewhere.example/i)}"),
    }
    return pages.get(path, (404, HTML, "<title>none</title>"))


def url_of(text: str) -> Url:
    url = Url.parse(text)
    assert url is not None
    return url


PAGES = [
    "/latin",
    "/unnamed",
    "/steering",
    "/changing",
    "/packed",
    "/moved",
    "/away",
    "/video.mp4",
    "/data?id=1",
    "/sheet.css",
    "/missing",
]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("view") / "crawl"
    with Site(site_answer) as site:
        asyncio.run(crawled_often(site.address, folder, 2, retry={"host_first": 0.1, "url_waits": [0.1]}))
    return folder, site.address.rstrip("/")


@pytest.fixture(scope="module")
def shown(crawled: tuple[Path, str]) -> Iterator[View]:
    with viewed(crawled[0], token=TOKEN, proxy=True, certify=Authority().context) as shown:
        yield shown


class Got:
    """An answer: status, fields by lower-case name, body."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.fields: Mapping[str, str] = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


def ask(shown: View, target: str, host: str = "", method: str = "GET", **fields: str) -> Got:
    """Ask at the list's address, or under a name of the archive."""
    connection = http.client.HTTPConnection("127.0.0.1", shown.names.port)
    try:
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, target, headers={"Host": host or f"127.0.0.1:{shown.names.port}", **named})
        return Got(connection.getresponse())
    finally:
        connection.close()


@pytest.fixture
def page(crawled: tuple[Path, str], shown: View) -> "Asking":
    return Asking(shown, crawled[1])


class Asking:
    """Asks for pages of the site as they are replayed."""

    def __init__(self, shown: View, site: str) -> None:
        self.shown, self.site = shown, site
        self.host = shown.address(f"{site}/").split("/")[2]

    def __call__(self, path: str, method: str = "GET", **fields: str) -> Got:
        return ask(self.shown, path, self.host, method, **fields)


def test_a_page_has_our_script_and_a_policy_and_its_encoding(page: Asking) -> None:
    got = page("/latin", Sec_Fetch_Dest="document")
    assert got.status == 200
    assert got.fields["content-type"] == "text/html; charset=windows-1252"
    assert got.body.count(b"<script") == 1
    assert got.body.index(b"<script") < got.body.index(b"<meta")
    assert b"caf\xe9" in got.body
    assert "sandbox" in got.fields["content-security-policy"]
    script = got.text.partition('src="')[2].partition('"')[0].split("/", 3)[3]
    assert b"__OPTIONS__" not in page(f"/{script}").body


def test_an_encoding_that_nobody_named_is_left_to_the_browser(page: Asking) -> None:
    """Browsers showed this UTF-8 as windows-1252: so it looked."""
    got = page("/unnamed", Sec_Fetch_Dest="document")
    assert got.fields["content-type"] == "text/html"
    assert "café" in got.text


def test_what_a_script_asks_for_is_as_it_came(page: Asking) -> None:
    assert page("/latin", Sec_Fetch_Dest="empty").body == LATIN
    assert page("/data?id=1").text == '{"id":1}'


def test_only_harmless_fields_are_passed_on(page: Asking) -> None:
    got = page("/steering")
    assert got.fields["x-own"] == "kept"
    assert not {"set-cookie", "x-frame-options", "refresh"} & got.fields.keys()
    assert "'none'" not in got.fields["content-security-policy"]


def test_codings_are_undone_and_revisits_found(page: Asking) -> None:
    got = page("/packed", Accept_Encoding="gzip")
    assert "content-encoding" not in got.fields
    assert b"<title>packed</title>" in got.body


def test_redirects_lead_to_names_of_the_archive(page: Asking) -> None:
    assert page("/moved").fields["location"] == f"http://{page.host}/latin#part"
    away = page("/away")
    assert (away.status, away.fields["location"]) == (302, page.shown.address("https://elsewhere.example/y"))


def test_styles_lead_there_too(page: Asking) -> None:
    assert page("/sheet.css").text == f"a{{b:url({page.shown.address('https://elsewhere.example/i')})}}"


def test_parts_of_a_film(page: Asking) -> None:
    got = page("/video.mp4", Range="bytes=10-19")
    assert (got.status, got.fields["content-range"]) == (206, "bytes 10-19/256")
    assert got.body == bytes(range(10, 20))
    assert page("/video.mp4", Range="bytes=256-").status == 416
    head = page("/video.mp4", "HEAD")
    assert (head.status, head.fields["content-length"], head.body) == (200, "256", b"")
    assert page("/video.mp4", "HEAD", Range="bytes=0-1").status == 200


def test_queries_that_only_bust_caches(page: Asking) -> None:
    assert page("/data?id=1&_=123").text == '{"id":1}'
    assert page("/data?_t=5&id=1").text == '{"id":1}'
    assert page("/sheet.css?12345").status == 200
    assert page("/data?id=2").status == 404
    assert page("/sheet.css?page=2").status == 404


@pytest.mark.parametrize(("statuses", "at", "best"), [
    ([200, 503], 0, 0), ([200, 503, 404], 0, 2), ([503], 0, 0), ([200, 301, 429], 2, 1), ([0, 500], 0, 0),
])  # fmt: skip
def test_a_failure_of_the_moment_does_not_hide_the_page(statuses: list[int], at: int, best: int) -> None:
    captures = [
        Indexed("http://a/", f"1970-01-01T00:00:0{second}Z", status, "", "", 0, "", second)
        for second, status in enumerate(statuses)
    ]
    assert best_at(captures, at).offset == best


def test_a_page_at_another_time(crawled: tuple[Path, str], page: Asking) -> None:
    assert "version 2" in page("/changing").text
    archive = Archive(crawled[0])
    try:
        one = archive.captures(url_of(f"{crawled[1]}/changing"))[0]
    finally:
        archive.close()
    led = ask(page.shown, f"/view?url={crawled[1]}/changing&at={one.time}")
    name = led.fields["location"].split("/")[2]
    assert "-t" in name.partition(".")[0]
    assert "version 1" in ask(page.shown, "/changing", name).text
    assert name in ask(page.shown, "/moved", name).fields["location"]
    with viewed(crawled[0], at=one.time) as then:
        host = then.address(f"{crawled[1]}/").split("/")[2]
        assert "version 1" in ask(then, "/changing", host).text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_not_there_says_so(page: Asking, language: str) -> None:
    got = page("/latinn", Sec_Fetch_Dest="document", Accept_Language=language)
    assert got.status == 404
    assert f"{page.site}/latin" in got.text
    assert "gossamer crawl" in got.text
    assert "script" not in got.text
    assert page("/latinn", Sec_Fetch_Dest="image").fields["content-type"].startswith("text/plain")
    assert "gossamer refetch" in page("/changing", "POST", Sec_Fetch_Dest="document").text


def test_service_workers_are_refused(page: Asking) -> None:
    assert page("/latin", Service_Worker="script").status == 403


def test_replayed_origins_may_read_each_other_and_nobody_else_may(page: Asking) -> None:
    other = page.shown.address("https://elsewhere.example/").rstrip("/")
    assert page("/latin", Origin=other).fields["access-control-allow-origin"] == other
    assert page("/latin", "OPTIONS", Origin=other, Access_Control_Request_Headers="x-a").status == 204
    for stranger in ("https://evil.example", page.shown.home, "http://localhost:1"):
        assert "access-control-allow-origin" not in page("/latin", Origin=stranger).fields


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1:1", "x.localhost", "a-b-s-zzzzzzzz.localhost", "localhost"]
)
def test_names_that_were_not_given_out_are_refused(shown: View, host: str) -> None:
    assert ask(shown, "/", host).status == 421


def test_the_list_finds_by_address_and_title(shown: View, crawled: tuple[Path, str]) -> None:
    every = ask(shown, "/")
    assert "version 2" in every.text
    assert "<script" not in every.text
    assert "gossamer refetch" in every.text  # pictures were not fetched
    assert "script-src" not in every.fields["content-security-policy"]
    assert every.fields["content-security-policy"].startswith("default-src 'none'")
    found = ask(shown, "/?q=CAF%C3%89")
    assert "/latin" in found.text
    assert "version" not in found.text
    assert "Nothing was found" in ask(shown, "/?q=nothing-like-it").text
    assert "没有找到" in ask(shown, "/?q=nothing-like-it", Accept_Language="zh").text
    assert ask(shown, "/?from=zz&q=%00").status == 200
    assert ask(shown, "/", method="POST").status == 405


def test_the_calendar_names_each_capture(shown: View, crawled: tuple[Path, str]) -> None:
    got = ask(shown, f"/captures?url={crawled[1]}/changing")
    assert got.text.count("<li>") == 2
    assert "2 captures of" in got.text
    assert "changed" in got.text
    for wrong in ("/captures?url=no", "/captures", "/view?url=", "/nothing"):
        assert ask(shown, wrong).status == 404
    assert ask(shown, "/view?url=javascript:alert(1)").status == 404


def test_as_a_proxy_for_http_and_https(shown: View, crawled: tuple[Path, str]) -> None:
    got = ask(shown, f"{crawled[1]}/latin", crawled[1].partition("://")[2])
    assert got.body == LATIN
    assert ask(shown, "http://elsewhere.example/").status == 404
    assert ask(shown, f"{shown.home}/", "x").text.startswith("<!doctype html>")
    with socket.create_connection(("127.0.0.1", shown.names.port)) as plain:
        plain.sendall(b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n")
        assert plain.recv(1_000).startswith(b"HTTP/1.1 200")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(plain, server_hostname="elsewhere.example") as secure:
            secure.sendall(b"GET /x HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n")
            assert secure.recv(1_000).startswith(b"HTTP/1.1 404")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_trusts_the_authority(shown: View, crawled: tuple[Path, str], tmp_path: Path) -> None:
    authority = Authority()
    trusted = tmp_path / "authority.pem"
    trusted.write_bytes(authority.pem)
    with viewed(crawled[0], proxy=True, certify=authority.context) as own:
        command = [
            "curl",
            "-s",
            "-x",
            own.home,
            "--cacert",
            str(trusted),
            "-w",
            "%{http_code}",
            "https://elsewhere.example/",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("404")


def test_without_the_option_it_is_no_proxy(crawled: tuple[Path, str]) -> None:
    with viewed(crawled[0]) as shown:
        assert ask(shown, f"{crawled[1]}/latin").status == 421
        connection = http.client.HTTPConnection("127.0.0.1", shown.names.port)
        connection.set_tunnel("example.org")
        with pytest.raises(OSError, match="501"):
            connection.connect()
        connection.close()


def test_nonsense_ends_the_connection(shown: View) -> None:
    for nonsense in (b"\r\n\r\n", b"GET\r\n\r\n", b"x" * 100_000, b"GET / HTTP/9\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", shown.names.port)) as plain:
            plain.sendall(nonsense)
            plain.shutdown(socket.SHUT_WR)
            said = b""
            with contextlib.suppress(ConnectionResetError):  # what was not read is thrown away
                while piece := plain.recv(1_000):
                    said += piece
            assert said[:10] in (b"", b"HTTP/1.1 4", b"HTTP/1.1 5")


def test_scripts_and_banner_can_be_left_out(crawled: tuple[Path, str]) -> None:
    from gossamer.replay.answers import Looks

    with viewed(crawled[0], looks=Looks(banner=False, scripts=False)) as shown:
        got = Asking(shown, crawled[1])("/latin")
    assert b"<script" not in got.body
    assert "script-src 'none'" in got.fields["content-security-policy"]


def test_what_cannot_be_says_what_to_do(crawled: tuple[Path, str], shown: View, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no crawl"):
        run_view(tmp_path, Viewing())
    with pytest.raises(ConfigError, match="is no time"), viewed(crawled[0], at="yesterday"):
        pass
    with pytest.raises(ConfigError, match="Choose another"), viewed(crawled[0], port=shown.names.port):
        pass
    with pytest.raises(ConfigError, match="Choose another"), viewed(crawled[0], host="192.0.2.1"):
        pass


def test_the_archive_is_only_read(crawled: tuple[Path, str]) -> None:
    with inspect(crawled[0]) as inspection:
        assert inspection.state == "ended"
