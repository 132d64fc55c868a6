"""Search over the interface: one job and all, what strangers typed and wrote, processes that end as they should."""

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import loopback
import msgspec
import pytest
from api_client import CHEAP
from live_service import LiveService, live_service
from searched_site import COPIES, DOCUMENTS, GUIDES, RUNS, page_at
from service_world import job_settings
from small_site import small_site
from test_api_reading import logged_in, until

from gossamer.daemon.searching import searcher
from gossamer.daemon.searching.questions import AskPages
from gossamer.web.security.visitor import Role

pytestmark = pytest.mark.slow

pytest.importorskip("tantivy", reason="the extra `search` is not installed")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with small_site(page_at) as address:
        yield address


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, site: str) -> Iterator[LiveService]:
    """Two jobs with an index, one that has crawled a part of the site; one without; one that was never started."""
    with live_service(tmp_path_factory.mktemp("search"), security=CHEAP) as service:
        crawl(service, "docs", site)
        crawl(service, "some", site, budget__max_pages=10)
        crawl(service, "plain", site, search__follow=False, budget__max_pages=3)
        make(service, "fresh", site)
        indexed(service, "docs", DOCUMENTS)
        indexed(service, "some", 10)
        until(service, "plain", lambda job: job["state"] == "finished")
        yield service


def make(service: LiveService, name: str, site: str, **settings: Any) -> None:
    given = {"search__follow": True, "scope__mode": "host", "politeness__min_delay": "1ms"}
    given |= {
        "engine__give_up_after": "60s",
        **settings,
    }  # on a busy machine a visit may fail, and be tried again
    made = loopback.post(
        f"{service.url}/api/v1/jobs",
        json={"name": name, "settings": {**job_settings(None, **given), "seeds": [site]}},
    )
    assert made.status_code == 201, made.text


def crawl(service: LiveService, name: str, site: str, **settings: Any) -> None:
    make(service, name, site, **settings)
    assert loopback.post(f"{service.url}/api/v1/jobs/{name}/start", json={}).status_code == 200


def indexed(service: LiveService, name: str, documents: int) -> None:
    """Wait until so many documents of a job can be searched, and near-duplicates are known, too."""
    try:
        until(service, name, lambda found: found["documents"] >= documents, "/search")
    except AssertionError as error:
        raise AssertionError(service.daemon.job(name), service.daemon.audit()) from error
    # Near-duplicates are taken in after the words, each time; who makes the indexes ends before the job.
    until(service, name, lambda job: job["state"] == "finished")
    assert (service.daemon.folder(name) / "similar" / "mark.json").exists()


def get(service: LiveService, path: str, **params: Any) -> httpx.Response:
    return loopback.get(f"{service.url}/api/v1{path}", params=params)


def hits(service: LiveService, path: str, query: str, **params: Any) -> list[dict[str, Any]]:
    answer = get(service, path, query=query, **params)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["hits"]
    return found


def searchers() -> list[int]:
    """Processes of ours that search."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, IndexError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if (
                    parent == str(os.getpid())
                    and state != "Z"
                    and b"searching.searcher" in (entry / "cmdline").read_bytes()
                ):
                    found.append(int(entry.name))
    return found


def test_a_job_is_searched(service: LiveService, site: str) -> None:
    answer = get(service, "/jobs/docs/search", query="guide crawler", facets=True, limit=5).json()
    assert answer["total"] == GUIDES
    assert answer["more"] is True
    assert len(answer["hits"]) == 5
    assert answer["documents"] == DOCUMENTS
    assert answer["jobs"] == ["docs"]
    first = answer["hits"][0]
    assert first["job"] == "docs"
    assert first["url"].startswith(f"{site}guide/")
    assert [first["snippet"][start:end].lower() for start, end in first["marked"]]
    assert {first["snippet"][start:end].lower() for start, end in first["marked"]} <= {"guide", "crawler"}
    assert first["date"][:4] in ("2020", "2021", "2022", "2023")
    years = {one["value"]: one["count"] for one in answer["facets"]["year"]}
    assert years == {f"202{n}": 6 for n in range(4)}
    assert [one["value"] for one in answer["facets"]["type"]] == ["html"]


def test_facets_narrow_and_pages_follow_each_other(service: LiveService) -> None:
    narrowed = get(service, "/jobs/docs/search", query="guide OR nonsense", year="2021").json()
    assert narrowed["total"] == 6, "whatever the query says, all hits are of the year"
    seen = [
        hit["url"]
        for at in range(0, 30, 7)
        for hit in hits(service, "/jobs/docs/search", "guide", limit=7, offset=at)
    ]
    assert len(seen) == len(set(seen)) == GUIDES
    assert get(service, "/jobs/docs/search", query="guide", limit=7, offset=21).json()["more"] is False
    assert hits(service, "/jobs/docs/search", "", language="zh")[0]["title"] == "全文检索指南"
    assert hits(service, "/jobs/docs/search", "", year="9999") == []


def test_languages_are_found(service: LiveService, site: str) -> None:
    assert [hit["url"] for hit in hits(service, "/jobs/docs/search", "礼貌")] == [f"{site}zh/1"]
    assert [hit["url"] for hit in hits(service, "/jobs/docs/search", "Haus")] == [f"{site}de/1"]


def test_near_duplicates_are_one_hit_and_can_be_listed(service: LiveService, site: str) -> None:
    found = hits(service, "/jobs/docs/search", "yearly report")
    assert [(hit["title"], hit["similar"]) for hit in found[:1]] == [("The yearly report", COPIES)]
    alike = get(service, "/jobs/docs/similar", url=found[0]["url"]).json()
    assert alike["size"] == COPIES + 1
    assert {page["url"] for page in alike["pages"]} == {
        f"{site}report",
        *(f"{site}print/{n}" for n in range(COPIES)),
    }
    assert all(page["job"] == "docs" and page["resemblance"] > 0.8 for page in alike["pages"])
    assert len(get(service, "/jobs/docs/similar", url=f"{site}report", limit=2).json()["pages"]) == 2
    assert get(service, "/jobs/docs/similar", url=f"{site}guide/1").json() == {"size": 0, "pages": []}
    assert get(service, "/jobs/plain/similar", url=f"{site}guide/1").json() == {"size": 0, "pages": []}
    assert get(service, "/similar", url=f"{site}report").json()["size"] == COPIES + 1


def test_all_jobs_are_searched_together(service: LiveService, site: str) -> None:
    answer = get(service, "/search", query="guide", limit=100).json()
    assert {*answer["jobs"]} == {"docs", "some"}
    assert {*answer["without"]} == {"plain", "fresh"}
    urls = [hit["url"] for hit in answer["hits"]]
    assert len(urls) == len(set(urls)) == GUIDES, "a page that both have is one hit"
    assert (answer["total"], answer["estimated"]) == (GUIDES, False)
    both = [hit for hit in answer["hits"] if hit["also"]]
    assert 0 < len(both) <= 10
    assert all({hit["job"], *hit["also"]} == {"docs", "some"} for hit in both)


def test_titles_are_suggested(service: LiveService) -> None:
    found = get(service, "/jobs/docs/suggestions", text="yearly rep").json()
    assert [one["title"] for one in found] == ["The yearly report"]
    for typed in ("pol", "polite", "politen", "politeness", "Guide to the politene"):
        (one,) = get(service, "/jobs/docs/suggestions", text=typed).json()
        assert one["title"] == "Guide 1 to the politeness", typed
    assert len(get(service, "/suggestions", text="gui", limit=3).json()) == 3
    assert get(service, "/jobs/docs/suggestions", text="xyzzy").json() == []
    assert get(service, "/jobs/plain/suggestions", text="gui").json() == []
    assert get(service, "/jobs/docs/suggestions", text="").status_code == 422


@pytest.fixture
def mesh(service: LiveService) -> Iterator[Path]:
    """A cluster of two agents among the jobs: one has what a job has, the other no index yet."""
    folder = service.daemon.folder("docs").parent / "mesh"
    shutil.copytree(service.daemon.folder("docs"), folder / "agents" / "a-1")
    shutil.copytree(service.daemon.folder("plain"), folder / "agents" / "a-2")
    (folder / "cluster.json").write_text("{}")
    yield folder
    shutil.rmtree(folder)


def test_a_cluster_is_searched_alone_and_with_all_jobs(service: LiveService, mesh: Path, site: str) -> None:
    alone = get(service, "/clusters/mesh/search", query="guide crawler", facets=True, limit=5).json()
    assert (alone["total"], alone["documents"], alone["jobs"]) == (GUIDES, DOCUMENTS, ["cluster:mesh"])
    assert {hit["job"] for hit in alone["hits"]} == {"cluster:mesh"}
    everywhere = get(service, "/search", query="guide crawler", limit=5).json()
    assert everywhere["total"] == GUIDES, "a page that a job has too counts once"
    assert {"cluster:mesh", "docs", "some"} <= set(everywhere["jobs"])
    assert all({hit["job"], *hit["also"]} >= {"cluster:mesh", "docs"} for hit in everywhere["hits"])
    titles = get(service, "/clusters/mesh/suggestions", text="gui").json()
    assert titles == get(service, "/jobs/docs/suggestions", text="gui").json() != []
    alike = get(service, "/clusters/mesh/similar", url=f"{site}copy/0").json()
    assert alike["size"] == get(service, "/jobs/docs/similar", url=f"{site}copy/0").json()["size"]
    assert get(service, "/clusters/never/search", query="a").status_code == 404


def test_a_cluster_is_searched_in_the_console(service: LiveService, mesh: Path, site: str) -> None:
    page = loopback.get(f"{service.url}/clusters/mesh/search", params={"q": "guide crawler"})
    assert page.status_code == 200
    assert f'href="/clusters/mesh/page?url={quote(site)}guide/' in page.text
    hit = loopback.get(f"{service.url}/clusters/mesh/page", params={"url": f"{site}guide/1"})
    assert "A crawler at work." in hit.text, "its text, out of the archive of one of the agents"
    missing = loopback.get(f"{service.url}/clusters/mesh/page", params={"url": f"{site}never"})
    assert (missing.status_code, "nothing of" in missing.text) == (404, True)
    assert 'data-suggest="/api/v1/clusters/mesh/suggestions"' in page.text
    assert 'href="/clusters/mesh/search"' in loopback.get(f"{service.url}/clusters/mesh").text
    everywhere = loopback.get(f"{service.url}/search", params={"q": "guide crawler"}).text
    assert 'href="/clusters/mesh/search?q=guide%20crawler">mesh</a>' in everywhere
    for path in ("/clusters/mesh/search/like", "/search/like"):
        assert loopback.get(f"{service.url}{path}", params={"url": f"{site}copy/0"}).status_code == 200
    shutil.rmtree(mesh / "agents" / "a-1")
    none = loopback.get(f"{service.url}/clusters/mesh/search", params={"q": "guide"})
    assert f"gossamer index {mesh}" in none.text


def test_what_cannot_be_answered_says_why(service: LiveService) -> None:
    wrong = get(service, "/search", query="a after:soon")
    code, (what, place) = wrong.json()["why"]
    assert (wrong.status_code, code, what) == (422, "query.date", "after:soon")
    assert f"character {place}" in wrong.json()["detail"]
    for name in ("plain", "fresh"):
        none = get(service, f"/jobs/{name}/search", query="a")
        assert none.status_code == 409
        assert f"gossamer index {service.daemon.folder(name)}" in none.json()["detail"]
    assert get(service, "/jobs/never/search", query="a").status_code == 404
    for params in (
        {"limit": 0},
        {"limit": 101},
        {"offset": 901},
        {"year": "20"},
        {"facets": "x"},
        {"odd": "1"},
    ):
        assert get(service, "/search", **params).status_code == 422, params


@pytest.mark.parametrize(
    "query",
    [
        "(" * 2_000,
        '"' * 2_000,
        "((((((((((a OR b) OR c) -d) -(e f)) OR",
        "url:" + "*a" * 500,
        "a* " * 190,
        "-a " * 190,
        "title:" + "x" * 4_000,
        "site:" + "\u202e" * 100,
        "\x00\x01 \ud7ff \U0010ffff",
        "'; drop table pages; --",
        RUNS,
    ],
)  # fmt: skip
def test_hostile_queries_end(service: LiveService, query: str) -> None:
    for path in ("/search", "/jobs/docs/search"):
        answer = get(service, path, query=query[:4_096])
        assert answer.status_code in (200, 422), answer.text
    assert get(service, "/suggestions", text=query[:4_096]).status_code == 200


def test_what_strangers_wrote_is_told_as_text(service: LiveService) -> None:
    (hit,) = hits(service, "/jobs/docs/search", "evil words")
    assert "<script>alert(1)</script>" in hit["title"]
    page = loopback.get(f"{service.url}/jobs/docs/search", params={"q": "evil words"})
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text
    assert "<mark>Evil</mark>" in page.text
    assert "\u202e" not in page.text


def test_a_searcher_that_was_killed_is_followed_by_another(service: LiveService) -> None:
    assert hits(service, "/jobs/docs/search", "guide")
    for pid in (first := searchers()):
        os.kill(pid, signal.SIGKILL)
    answers = [get(service, "/jobs/docs/search", query="guide").status_code for _ in range(3)]
    assert answers[-1] == 200
    assert set(answers) <= {200, 409}
    assert not set(first) & set(searchers())
    assert len(searchers()) <= 2


def test_a_damaged_index_keeps_nobody_from_the_others(
    tmp_path: Path, service: LiveService, site: str
) -> None:
    index = service.daemon.folder("some") / "search"
    kept = tmp_path / "kept"
    shutil.copytree(index, kept)
    try:
        for file in (index / "index").glob("*.store"):
            file.write_bytes(b"x")
        for pid in searchers():
            os.kill(pid, signal.SIGKILL)
        get(service, "/search", query="guide")
        answer = get(service, "/search", query="guide").json()
        assert answer["jobs"] == ["docs"]
        assert [one["job"] for one in answer["unusable"]] == ["some"]
        assert "gossamer index" in answer["unusable"][0]["problem"]
        alone = get(service, "/jobs/some/search", query="guide")
        assert alone.status_code == 409
        assert "gossamer index" in alone.json()["detail"]
    finally:
        shutil.rmtree(index)
        shutil.copytree(kept, index)


def test_whoever_may_look_may_search(tmp_path: Path, site: str) -> None:
    with live_service(tmp_path / "service", security=CHEAP) as service:
        crawl(service, "docs", site, budget__max_pages=3)
        indexed(service, "docs", 3)
        with logged_in(service, "vic", Role.VIEWER) as vic:
            for path in ("/search", "/jobs/docs/search"):
                assert vic.get(f"/api/v1{path}", params={"query": "crawler"}).status_code == 200
                assert vic.get(path, params={"q": "crawler"}).status_code == 200
            form = {"csrf": vic.headers["X-CSRF-Token"]}
            assert vic.post("/jobs/docs/search/follow", data=form).status_code == 403
            foreign = {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "no-cors",
                "Sec-Fetch-Dest": "script",
            }
            assert vic.get("/api/v1/search", params={"query": "a"}, headers=foreign).status_code == 403
        for path in ("/search", "/suggestions", "/similar", "/jobs/docs/search"):
            assert get(service, path, query="a", text="a", url=site).status_code == 401, path


def test_an_operator_has_the_index_made_while_the_job_runs(service: LiveService) -> None:
    page = loopback.get(f"{service.url}/jobs/plain/search").text
    assert "There is no search index of this crawl yet" in page
    csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
    sent = loopback.post(f"{service.url}/jobs/plain/search/follow", data={"csrf": csrf})
    assert sent.headers["location"] == "/jobs/plain/search?said=search"
    assert "It is made while the job runs" in loopback.get(f"{service.url}/jobs/plain/search").text


def test_one_that_has_grown_begins_anew(service: LiveService, monkeypatch: pytest.MonkeyPatch) -> None:
    question = AskPages(folders={"docs": str(service.daemon.folder("docs"))}, seconds=30, query="guide")
    lines = iter([msgspec.json.encode(question)] * 3)
    told: list[bytes] = []
    monkeypatch.setattr(searcher, "LARGE", 0)
    searcher.answer_lines(lambda: next(lines), told.append)
    assert len(told) == 1
