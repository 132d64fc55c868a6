"""What a crawl has archived, over the interface: pages, contents, SQL; whatever strangers wrote."""

import contextlib
import gzip
import os
import random
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import loopback
import pytest
from api_client import CHEAP, PASSWORD
from live_service import LiveService, live_service
from patience import PATIENCE
from service_world import LONG, job_settings
from small_site import Answer, small_site

from gossamer.inspect.archive import reread
from gossamer.inspect.archive.link_graph import export_links
from gossamer.inspect.inspection import inspect
from gossamer.model.url import Url
from gossamer.web.api.reading import file_name
from gossamer.web.security.visitor import Role

pytestmark = pytest.mark.slow

HOSTILE = b"<title><script>alert(1)</script></title><body onload=alert(2)><a href=/gz>in</a><script>alert(3)"
BIG = 50 << 20
ATTACK = {"Content-Type": "text/html\t; charset=utf-8", "Content-Disposition": 'inline; filename="x.html"'}
SITE: dict[str, Answer] = {
    "": (200, {}, b"<title>Start</title><a href=/hostile>Bad words</a><a href=/gz>Packed</a><a href=/big>Big</a>"
                   b"<a href=/gone>Gone</a><a href=/noise>Noise</a>"
                   b"<a href=/evil/%2e%2e%2f%22%0d%0aX-Evil:1?a=1>Evil</a>"),
    "hostile": (200, ATTACK, HOSTILE),
    "gz": (200, {"Content-Encoding": "gzip"}, gzip.compress(b"<title>Packed</title><b class=price>9.99</b>")),
    "noise": (200, {}, bytes(range(256)) * 8),
    "evil/%2e%2e%2f%22%0d%0aX-Evil:1?a=1": (200, {}, b"<p>evil"),
}  # fmt: skip


def packed() -> bytes:
    """A body of 50 MB that comes in less than one."""
    block = random.Random(7).randbytes(1024) + bytes(63 << 10)
    return gzip.compress(block * (BIG // len(block)))


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    big = {"Content-Encoding": "gzip", "Content-Type": "application/octet-stream"}
    with small_site((SITE | {"big": (200, big, packed())}).get) as address:
        yield address


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with live_service(tmp_path_factory.mktemp("reading"), security=CHEAP, sql={"seconds": 60}) as service:
        yield service


@pytest.fixture(scope="module")
def job(service: LiveService, site: str) -> str:
    """A crawl of the site that has ended."""
    fields = {"fields.product": {"price": ".price | number"}}
    crawl(service, "sim", site, **fields)
    until(service, "sim", lambda job: job["state"] == "finished")
    return f"{service.url}/api/v1/jobs/sim"


def crawl(service: LiveService, name: str, site: str, **settings: Any) -> None:
    given = {**job_settings(None, **settings), "seeds": [site], "scope.mode": "host"}
    given["politeness.min_delay"] = settings.get("politeness__min_delay", "1ms")
    with loopback.Client(base_url=service.url) as client:
        made = client.post("/api/v1/jobs", json={"name": name, "settings": given})
        assert made.status_code == 201, made.text
        assert client.post(f"/api/v1/jobs/{name}/start", json={}).status_code == 200


def until(service: LiveService, name: str, met: Any, path: str = "") -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = loopback.get(f"{service.url}/api/v1/jobs/{name}{path}")
        if answer.status_code == 200 and met(answer.json()):
            return
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.05)


def get(job: str, path: str, **params: Any) -> httpx.Response:
    return loopback.get(f"{job}/{path}", params=params)


def ask(job: str, question: str, **more: Any) -> httpx.Response:
    return loopback.post(f"{job}/sql", json={"question": question, **more})


def workers() -> list[str]:
    """Processes of ours that read."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, IndexError):
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                if parent == str(os.getpid()) and b"reading.worker" in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
    return found


def test_captures_and_what_is_known(job: str, site: str) -> None:
    found = get(job, "captures", url=f"{site}gz").json()
    assert [(one["url"], one["status"]) for one in found["items"]] == [(f"{site}gz", 200)]
    known = get(job, "page", url=f"{site}hostile").json()
    assert (known["state"], known["captures"]) == ("done", 1)
    assert known["listed"]["title"] == "<script>alert(1)</script>"
    assert get(job, "page", url=f"{site}never").json()["state"] == "unknown"
    assert get(job, "captures", url=f"{site}never").json()["items"] == []
    assert get(job, "captures", url="no url at all").status_code == 422


def test_the_list_is_filtered_and_comes_in_pages(job: str, site: str) -> None:
    assert get(job, "list", status="404", under=f"{site}g", columns="url,via").json()["items"] == [
        {"url": f"{site}gone", "via": site}
    ]
    found, cursor = [], ""
    while cursor is not None:
        page = get(job, "list", limit=2, columns="url", **({"cursor": cursor} if cursor else {})).json()
        assert len(page["items"]) <= 2
        found += [one["url"] for one in page["items"]]
        cursor = page["cursor"]
    assert sorted(found) == sorted({*found})
    assert {site, f"{site}gz", f"{site}big"} <= {*found}
    for wrong in (
        {"status": "40"},
        {"match": "re:("},
        {"columns": "price"},
        {"since": "soon"},
        {"state": "x"},
    ):
        answer = get(job, "list", **wrong)
        assert answer.status_code == 422, wrong
        assert next(iter(wrong)) in answer.text or "no time" in answer.text


def test_a_page_is_read_again(job: str, site: str) -> None:
    page = get(job, "document", url=f"{site}gz").json()
    assert (page["document"]["text"], page["document"]["metadata"]) == ("9.99", {"title": "Packed"})
    assert page["fields"] == {"price": "9.99"}
    assert page["head"].startswith("HTTP/1.1 200 OK\n")
    start = get(job, "document", url=site, at="2026").json()
    states = {one["url"].removeprefix(site): (one["status"], one["text"]) for one in start["links"]}
    assert states["gone"] == (404, "Gone")
    assert states["hostile"] == (200, "Bad words")
    assert start["referrers"]["pages"] is None
    big = get(job, "document", url=f"{site}big").json()
    assert (big["document"]["text"], big["size"]) == ("", BIG)
    assert get(job, "document", url=f"{site}never").status_code == 404
    assert get(job, "document", url=site, at="soon").status_code == 409


def test_links_in_come_from_the_graph(job: str, service: LiveService, site: str) -> None:
    with inspect(service.daemon.folder("sim")) as inspection:
        export_links(inspection)
    found = get(job, "document", url=f"{site}gz").json()["referrers"]
    assert found["pages"] == 2
    assert found["whole"] is True
    assert {one["url"] for one in found["listed"]} == {site, f"{site}hostile"}
    assert get(job, "list", under=f"{site}gz", columns="referrers").json()["items"] == [{"referrers": 2}]


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "not text, or not in the encoding it declares"), ("zh", "不是文本，或编码与声明不符")],  # noqa: RUF001
)
def test_the_console_puts_marks_into_words(
    job: str, service: LiveService, site: str, language: str, words: str
) -> None:
    assert "not-text" in get(job, "document", url=f"{site}noise").json()["document"]["marks"]
    shown = loopback.get(
        f"{service.url}/jobs/sim/page", params={"url": f"{site}noise"}, headers={"Accept-Language": language}
    ).text
    assert words in shown
    assert "not-text" not in shown


def test_what_is_not_listed_of_the_links_in_is_said(
    job: str, service: LiveService, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with inspect(service.daemon.folder("sim")) as inspection:
        export_links(inspection)
        url = Url.parse(f"{site}gz")
        assert url is not None
        assert reread.referrers(inspection, url).cut == ""
        monkeypatch.setattr(reread, "MOST_REFERRERS", 1)
        found = reread.referrers(inspection, url)
        assert (len(found.listed), found.whole, found.cut) == (1, False, "number")
        monkeypatch.setattr(reread, "REFERRER_SECONDS", -1.0)
        late = reread.referrers(inspection, url)
        assert (late.pages, late.whole, late.cut) == (2, False, "time")
        assert late.seconds >= 0
        (inspection.links / "page_edges.tsv.gz").write_bytes(b"no gzip")
        monkeypatch.setattr(reread, "REFERRER_SECONDS", 3.0)
        assert reread.referrers(inspection, url).cut == "damaged"
    shown = loopback.get(f"{service.url}/jobs/sim/page", params={"url": f"{site}gz"}).text
    assert "the files of the link graph are damaged" in shown
    with inspect(service.daemon.folder("sim")) as inspection:
        export_links(inspection)


@pytest.mark.parametrize("part", ["content", "raw", "headers"])
def test_hostile_content_is_a_file_that_nothing_shows(job: str, site: str, part: str) -> None:
    answer = get(job, "content", url=f"{site}hostile", part=part)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers.get_list("content-security-policy") == ["sandbox; default-src 'none'"]
    assert answer.headers["x-archived-type"] == "text/html"
    if part == "content":
        assert answer.content == HOSTILE
    else:
        assert answer.content.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.content.endswith(b"\r\n\r\n" + (HOSTILE if part == "raw" else b""))


def test_content_codings_are_undone_or_kept(job: str, site: str) -> None:
    packed = SITE["gz"][2]
    assert get(job, "content", url=f"{site}gz").content == gzip.decompress(packed)
    assert get(job, "content", url=f"{site}gz", part="raw").content.endswith(packed)


def test_an_evil_address_stays_within_its_header(job: str, service: LiveService, site: str) -> None:
    evil = get(job, "list", match="*/evil/*", columns="url").json()["items"][0]["url"]
    answer = get(job, "content", url=evil)
    assert answer.content == b"<p>evil"
    assert "x-evil" not in answer.headers
    name = answer.headers["content-disposition"].partition("filename=")[2]
    assert "/" not in name
    assert name.strip('"') == file_name(evil, "content")


def test_a_long_body_goes_through_in_pieces(job: str, site: str) -> None:
    get(job, "content", url=f"{site}gz")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = 0
    with loopback.stream("GET", f"{job}/content", params={"url": f"{site}big"}) as answer:
        assert answer.headers["content-length"] == str(BIG)
        for piece in answer.iter_raw():
            size += len(piece)
    assert size == BIG
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 24 << 10, "KiB"


def test_who_hangs_up_leaves_nothing_behind(job: str, site: str) -> None:
    with loopback.stream("GET", f"{job}/content", params={"url": f"{site}big"}) as answer:
        next(answer.iter_raw())
    deadline = time.monotonic() + PATIENCE
    while workers():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_job_gives_nothing_of_another(job: str, service: LiveService, site: str) -> None:
    with small_site(SITE.get) as other:
        crawl(service, "other", other)
        until(service, "other", lambda job: job["state"] == "finished")
        assert get(f"{service.url}/api/v1/jobs/other", "content", url=other).status_code == 200
        assert get(job, "content", url=other).status_code == 404
    assert get(f"{service.url}/api/v1/jobs/nope", "content", url=site).status_code == 404
    assert ask(f"{service.url}/api/v1/jobs/nope", "select 1").status_code == 404


def test_a_question_is_answered(job: str, site: str) -> None:
    answer = ask(job, "select url, status, time from pages where status = 404 and url not like '%robots%'")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert [column["name"] for column in found["columns"]] == ["url", "status", "time"]
    assert [row[:2] for row in found["rows"]] == [[f"{site}gone", 404]]
    assert found["more"] is False
    first = ask(job, "select * from range(100) order by 1", rows=3).json()
    assert (first["rows"], first["more"]) == ([[0], [1], [2]], True)
    large = "170141183460469231731687303715884105727"
    values = f"{large}, 'nan'::double, [1, null], date '2026-01-31', '\\xff'::blob"
    [row] = ask(job, f"select {values}").json()["rows"]
    assert row == [large, None, [1, None], "2026-01-31", "ff"]
    selected = []
    for table in get(job, "tables").json():
        columns = ", ".join(f'"{column["name"]}"' for column in table["columns"])
        selected.append(f"select count(*) from (select {columns} from {table['name']})")
    assert len(selected) == 8
    assert len(ask(job, " union all ".join(selected)).json()["rows"]) == 8


@pytest.mark.parametrize(
    "question",
    [
        "select * from read_csv('/etc/passwd')",
        "copy pages to '/tmp/gossamer-was-here.csv'",
        "set enable_external_access = true",
    ],
)
def test_a_question_reaches_nothing_else(job: str, question: str) -> None:
    """Asked as `gossamer sql` asks, whose tests (test_cli_sql.py) try every other way."""
    answer = ask(job, question)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"]
    assert not list(Path("/tmp").glob("gossamer-was-here*"))


def test_a_mistake_is_told_with_its_place(job: str) -> None:
    answer = ask(job, "select urll from pages")
    assert answer.status_code == 422
    assert "LINE 1: select urll from pages" in answer.json()["detail"]


def test_a_long_question_is_ended(job: str) -> None:
    endless = "select count(*) from range(10000000000) a, range(100000) b where a.range % 7 = b.range"
    answer = ask(job, endless, seconds=0.5)
    assert answer.status_code == 422
    assert "no answer within 0.5 s" in answer.json()["detail"]
    assert ask(job, "select 1", seconds=61).status_code == 422, "more than the daemon allows"
    assert workers() == []


def test_a_crawl_that_runs_gives_the_same(service: LiveService, site: str) -> None:
    # Of other jobs the host was visited just now: the front page comes after as long a rest.
    crawl(service, "live", site, robots__obey=False, **{**LONG, "politeness__min_delay": "30s"})
    job = f"{service.url}/api/v1/jobs/live"
    until(service, "live", lambda page: page["captures"] > 0, f"/page?url={site}")
    assert loopback.get(job).json()["state"] == "running"
    assert get(job, "content", url=site).content == SITE[""][2]
    assert len(get(job, "document", url=site).json()["links"]) >= 5
    assert get(job, "captures", url=site).json()["total"] == 1
    assert ask(job, f"select status from pages where url = '{site}'").json()["rows"] == [[200]]
    loopback.post(f"{job}/stop", json={"now": True})
    until(service, "live", lambda job: job["state"] == "stopped")


@contextmanager
def logged_in(service: LiveService, name: str, role: Role) -> Iterator[httpx.Client]:
    async def add() -> None:
        service.app.state.door.accounts.add(name, role, PASSWORD)

    service.run(add())
    with loopback.Client(base_url=service.url, headers={"Origin": service.url}) as client:
        answer = client.post("/api/v1/session", json={"name": name, "password": PASSWORD})
        client.headers["X-CSRF-Token"] = answer.json()["csrf"]
        yield client


def test_whoever_may_look_may_read_and_ask(tmp_path: Path, site: str) -> None:
    with live_service(tmp_path / "service", security=CHEAP) as service:
        crawl(service, "sim", site)
        until(service, "sim", lambda job: job["state"] == "finished")
        with logged_in(service, "vic", Role.VIEWER) as vic:
            question = {"question": "select count(*) from pages"}
            assert vic.get("/api/v1/jobs/sim/content", params={"url": site}).status_code == 200
            assert vic.post("/api/v1/jobs/sim/sql", json=question).status_code == 200
            assert vic.put("/api/v1/jobs/sim/sql", json=question).status_code == 403
            assert vic.post("/api/v1/jobs/sim/start", json={}).status_code == 403
            form = {"csrf": vic.headers["X-CSRF-Token"], **question}
            shown = vic.post("/jobs/sim/sql", data=form)
            assert shown.status_code == 200
            assert 'id="answer"' in shown.text
            del vic.headers["X-CSRF-Token"]
            assert vic.post("/jobs/sim/sql", data=question).status_code == 403, "another site's form"
            foreign = {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "no-cors",
                "Sec-Fetch-Dest": "script",
            }
            params = {"url": site}
            assert vic.get("/api/v1/jobs/sim/content", params=params, headers=foreign).status_code == 403
        assert get(f"{service.url}/api/v1/jobs/sim", "content", url=site).status_code == 401
        assert ask(f"{service.url}/api/v1/jobs/sim", "select 1").status_code == 401


def test_nothing_is_compared_with_a_single_capture(service: LiveService, job: str, site: str) -> None:
    one = get(job, "compare", url=site)
    assert one.status_code == 404
    assert "no two captures" in one.text
    assert get(job, "compare", url=site, all="perhaps").status_code == 422
    shown = loopback.get(f"{service.url}/jobs/sim/compare", params={"url": site})
    assert shown.status_code == 404
    assert "no two captures" in shown.text
