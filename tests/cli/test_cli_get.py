"""`gossamer get` gives pages back, `gossamer list` chooses among them."""

import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import in_process
import pytest
from cli_run import Gossamer
from small_site import Answer, small_site

HOME = "<title>Café</title>" + "".join(
    f"<a href='{to}'>x</a>" for to in ("/gz", "/pic.png", "/moved", "/bad", "/nowhere")
)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
FORMULA = "<title>=HYPERLINK(1)</title>\x1b[31m red"
PACKED = gzip.compress(FORMULA.encode(), mtime=0)
ANSWERS: dict[str, Answer] = {
    "/": (200, {"Content-Type": "text/html; charset=iso-8859-1"}, HOME.encode("latin-1")),
    "/gz": (
        200,
        {"Content-Type": "text/html", "Content-Encoding": "gzip"},
        PACKED,
    ),
    "/pic.png": (200, {"Content-Type": "image/png"}, PNG),
    "/moved": (301, {"Location": "/gz"}, b""),
    "/nowhere": (302, {}, b""),
    "/bad": (404, {"Content-Type": "text/plain"}, b"gone"),
}


@pytest.fixture(scope="module")
def odd_site() -> Iterator[str]:
    with small_site(lambda path: ANSWERS.get(f"/{path}", (404, {}, b""))) as site:
        yield site


@pytest.fixture(scope="module")
def crawl_of_site(odd_site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of this file's site; not to be changed."""
    folder = tmp_path_factory.mktemp("crawl")
    words = ("crawl", odd_site, "--min-delay", "0", "--dir", "d", "-q")
    assert in_process.gossamer(*words, cwd=folder).returncode == 0
    return folder / "d"


@pytest.fixture
def crawled(crawl_of_site: Path, odd_site: str, tmp_path: Path) -> str:
    shutil.copytree(crawl_of_site, tmp_path / "d")
    return odd_site.rstrip("/")


@pytest.mark.parametrize(
    ("path", "option", "expected"),
    [
        ("/gz", (), FORMULA.encode()),
        ("/gz", ("--raw",), ANSWERS["/gz"][2]),
        ("/pic.png", (), PNG),
        ("/", (), HOME.encode("latin-1")),
        ("/bad", (), b"gone"),
    ],
)
def test_what_was_archived_comes_back_byte_by_byte(
    gossamer: Gossamer, crawled: str, tmp_path: Path, path: str, option: tuple[str, ...], expected: bytes
) -> None:
    ran = gossamer("get", "d", crawled + path, *option, "--output", "out")
    assert ran.code == 0
    written = (tmp_path / "out").read_bytes()
    if option:
        head, _, written = written.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert written == expected


def test_a_path_is_of_the_seeds_host(gossamer: Gossamer, crawled: str) -> None:
    head = gossamer("get", "d", "/gz", "--headers").out
    assert head == gossamer("get", "d", f"{crawled}/gz", "--headers").out
    assert "Content-Encoding: gzip" in head


def test_a_redirect_says_where_it_leads(gossamer: Gossamer, crawled: str) -> None:
    ran = gossamer("get", "d", f"{crawled}/moved")
    assert (ran.code, ran.out) == (0, "")
    assert "redirects to /gz" in ran.err


@pytest.mark.usefixtures("crawled")
def test_a_terminal_gets_text_that_cannot_steer_it(
    gossamer: Gossamer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    ran = gossamer("get", "d", "/gz")
    assert ran.out == FORMULA.replace("\x1b", "\\x1b") + "\n"
    assert "Café" in gossamer("get", "d", "/").out
    ran = gossamer("get", "d", "/pic.png")
    assert (ran.code, ran.out) == (2, "")
    assert "--output FILE" in ran.err


def test_json_tells_of_the_capture(gossamer: Gossamer, crawled: str) -> None:
    told = json.loads(gossamer("get", "d", "/", "--json").out)
    assert (told["url"], told["status"], told["text"]) == (f"{crawled}/", 200, HOME)
    assert told["charset"] == "windows-1252"
    picture = json.loads(gossamer("get", "d", "/pic.png", "--json").out)
    assert "text" not in picture
    assert picture["base64"]


@pytest.mark.usefixtures("crawled")
def test_captures_are_listed_and_chosen_by_time(gossamer: Gossamer) -> None:
    captures = json.loads(gossamer("get", "d", "/", "--captures", "--json").out)
    assert [one["media_type"] for one in captures] == ["text/html"]
    assert captures[0]["time"] in gossamer("get", "d", "/", "--captures").out
    for at in ("2001-01-01", captures[0]["time"], "20990101000000", "2026"):
        ran = gossamer("get", "d", "/gz", "--at", at)
        assert (ran.code, ran.out) == (0, FORMULA)
    ran = gossamer("get", "d", "/", "--at", "last tuesday")
    assert ran.code == 2
    assert "is no time" in ran.err


@pytest.mark.usefixtures("crawled")
def test_what_is_not_there_is_said(gossamer: Gossamer) -> None:
    ran = gossamer("get", "d", "/gzz")
    assert (ran.code, ran.out) == (1, "")
    assert "did you mean" in ran.err
    assert gossamer("get", "d", "gopher://x/").code == 2
    assert gossamer("get", "nowhere", "/").code == 2


@pytest.mark.usefixtures("crawled")
def test_a_pipe_gets_every_byte(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gossamer", "get", "d", "/pic.png"]
    assert subprocess.run(command, capture_output=True, cwd=tmp_path, check=True).stdout == PNG


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (("--status", "404", "--under", "/bad"), ["/bad"]),
        (("--status", "3xx"), ["/moved", "/nowhere"]),
        (("--type", "image/"), ["/pic.png"]),
        (("--match", "re:p.*g$"), ["/pic.png"]),
        (("--host", "127.0.0.1", "--match", "*/g?"), ["/gz"]),
        (("--host", "example.org"), []),
        (("--since", "1d", "--type", "text/html"), ["/", "/gz"]),
        (("--since", "2099-01-01"), []),
    ],
)
def test_list_filters(gossamer: Gossamer, crawled: str, options: tuple[str, ...], paths: list[str]) -> None:
    options = tuple(f"{crawled}{one}" if one == "/bad" else one for one in options)
    ran = gossamer("list", "d", *options, "--json")
    assert sorted(json.loads(line)["url"] for line in ran.out.splitlines()) == [
        crawled + path for path in paths
    ]


def test_list_as_csv_runs_nothing_in_a_spreadsheet(gossamer: Gossamer, crawled: str) -> None:
    rows = list(
        csv.reader(io.StringIO(gossamer("list", "d", "--columns", "url,title,status", "--format", "csv").out))
    )
    assert rows[0] == ["url", "title", "status"]
    assert [f"{crawled}/gz", "'=HYPERLINK(1)", "200"] in rows


def test_list_counts_who_refers_to_a_page(gossamer: Gossamer, crawled: str) -> None:
    options = ("list", "d", "--match", "/gz", "--columns", "url,referrers", "--format", "jsonl")
    ran = gossamer(*options)
    assert json.loads(ran.out)["referrers"] is None
    assert "gossamer export links" in ran.err
    assert gossamer("export", "links", "d").code == 0
    assert json.loads(gossamer(*options).out) == {"url": f"{crawled}/gz", "referrers": 2}


@pytest.mark.usefixtures("crawled")
@pytest.mark.parametrize(
    "wrong",
    [("--status", "40"), ("--match", "re:("), ("--columns", "price"), ("--since", "soon"), ("--state", "x")],
)
def test_list_says_what_it_cannot_do(gossamer: Gossamer, wrong: tuple[str, str]) -> None:
    ran = gossamer("list", "d", *wrong)
    assert (ran.code, ran.out) == (2, "")
    assert wrong[0] in ran.err or "is no time" in ran.err


def test_a_redirect_to_no_place_is_not_said_to_lead_to_one(gossamer: Gossamer, crawled: str) -> None:
    assert "redirects" not in gossamer("get", "d", f"{crawled}/nowhere").err
    assert "it redirects to /gz" in gossamer("get", "d", f"{crawled}/moved").err


def test_output_is_a_file_or_standard_output(gossamer: Gossamer, crawled: str) -> None:
    ran = gossamer("get", "d", f"{crawled}/gz", "--output", "d")
    assert (ran.code, ran.out) == (2, "")
    assert "is a folder" in ran.err
    assert "HYPERLINK" in gossamer("get", "d", f"{crawled}/gz", "--output", "-").out


def test_an_image_is_said_to_have_no_text(gossamer: Gossamer, crawled: str) -> None:
    pytest.importorskip("pypdfium2")
    ran = gossamer("get", "d", f"{crawled}/pic.png", "--text")
    assert (ran.code, ran.out) == (0, "")
    assert "is an image and has no text" in ran.err


@pytest.mark.usefixtures("no_rests")
def test_a_status_without_a_page_is_told_of_fields(gossamer: Gossamer, crawled: str) -> None:
    ran = gossamer("fields", f"{crawled}/missing", "--field", "x=h1")
    assert "status 404" in ran.err
    assert "robots" not in ran.err


def test_list_takes_a_path_and_says_how_times_are_written(gossamer: Gossamer, crawled: str) -> None:
    assert f"{crawled}/bad" in gossamer("list", "d", "--under", "/bad").out
    ran = gossamer("list", "d", "--since", "tomorrow")
    assert ran.code == 2
    assert "how long ago: 2d" in ran.err
    assert "result (of" in gossamer("list", "--help").out


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("get", "d", "/", "--text", "--markdown"), "--text and --markdown"),
        (("get", "d", "/", "--raw", "--headers"), "--raw and --headers"),
        (("get", "d", "/", "--captures", "--text"), "--captures and --text"),
        (("list", "d", "--json", "--format", "csv"), "--json and --format"),
        (("list", "d", "--format", "csv", "--json"), "--format and --json"),
        (("sql", "d", "select 1", "--json", "--format", "csv"), "--json and --format"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    gossamer: Gossamer, arguments: tuple[str, ...], names: str
) -> None:
    ran = gossamer(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert f"{names} exclude each other: give one of them" in ran.err
