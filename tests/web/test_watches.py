"""Watches of a job over REST and in the console: looked at, changed, tested; what strangers wrote stays text."""

import re
from collections.abc import Iterator

import feedparser
import httpx
import loopback
import pytest
from live_service import LiveService
from receivers import Hook
from watched_archive import SITE
from watched_job import HOSTILE, watched_job


@pytest.fixture(scope="module")
def hook() -> Iterator[Hook]:
    with Hook().open() as opened:
        yield opened


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, hook: Hook) -> Iterator[LiveService]:
    with watched_job(tmp_path_factory.mktemp("watched"), hook) as service:
        yield service


def get(service: LiveService, path: str, **params: str) -> httpx.Response:
    return loopback.get(f"{service.url}{path}", params=params)


def post(service: LiveService, path: str, body: dict[str, object]) -> httpx.Response:
    return loopback.post(f"{service.url}{path}", json=body)


def test_how_watches_stand(service: LiveService) -> None:
    (view,) = get(service, "/api/v1/jobs/day/watches").json()
    assert (view["name"], view["pages"], view["notices"], view["failed"]) == ("shop <b>", 2, 2, 2)
    assert view["undelivered"][0]["problem"] == "HTTP status 410"
    assert "S3CRET" not in str(view)


def test_what_was_told(service: LiveService) -> None:
    last, first = get(service, "/api/v1/jobs/day/watches/notices").json()
    assert (first["url"], last["url"], last["kind"]) == (f"{SITE}/a", f"{SITE}/b", "changed")
    assert ["+", HOSTILE] in last["difference"][-1]
    more = get(service, "/api/v1/jobs/day/watches/notices", before=str(last["number"]), limit="1").json()
    assert [one["id"] for one in more] == [first["id"]]


def test_the_feed(service: LiveService) -> None:
    answer = get(service, "/api/v1/jobs/day/watches/feed.xml")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = feedparser.parse(answer.text)
    assert not feed.bozo
    assert [entry.link for entry in feed.entries] == [f"{SITE}/b", f"{SITE}/a"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_shows_it_and_runs_nothing_of_it(service: LiveService, language: str) -> None:
    answer = loopback.get(f"{service.url}/jobs/day/watch", headers={"Accept-Language": language})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text
    assert "shop <b>" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
    assert "S3CRET" not in answer.text
    assert ("Last notices" if language == "en" else "最近的通知") in answer.text


def test_a_watch_is_added_paused_and_removed(service: LiveService) -> None:
    new = {
        "name": "price",
        "urls": ["shop.example/p"],
        "select": ".price",
        "when": ["number < 10"],
        "every": 3600,
    }
    added = post(service, "/api/v1/jobs/day/watches", new)
    assert added.status_code == 200, added.text
    _, view = get(service, "/api/v1/jobs/day/watches").json()
    assert (view["name"], view["urls"], view["when"]) == ("price", ["http://shop.example/p"], ["number < 10"])
    settings = get(service, "/api/v1/jobs/day/settings").json()["settings"]
    assert settings["revisit"]["enabled"]
    assert settings["revisit"]["every"] == {"http://shop.example/p": 3600.0}
    for do, paused in (("pause", True), ("unpause", False)):
        assert post(service, "/api/v1/jobs/day/watches/act", {"name": "price", "do": do}).status_code == 200
        assert get(service, "/api/v1/jobs/day/watches").json()[1]["paused"] is paused
    post(service, "/api/v1/jobs/day/watches/act", {"name": "price", "do": "remove"})
    assert len(get(service, "/api/v1/jobs/day/watches").json()) == 1
    assert post(service, "/api/v1/jobs/day/watches/act", {"name": "price", "do": "remove"}).status_code == 404


def test_what_is_wrong_with_a_watch_is_told(service: LiveService) -> None:
    refused = post(
        service, "/api/v1/jobs/day/watches", {"name": "x", "urls": ["a.example"], "when": ["often"]}
    )
    assert refused.status_code == 422
    assert "is no condition" in refused.json()["detail"]
    assert refused.json()["why"][0] == "problem.of"
    with loopback.Client(base_url=service.url, headers={"Origin": service.url}) as client:
        token = re.search('name="csrf" value="([^"]+)"', client.get("/jobs/day/watch").text)[1]
        form = {"do": "add", "urls": "a.example", "ignore": ".clock\n#ad", "quiet": "night", "csrf": token}
        shown = client.post("/jobs/day/watch", data=form)
        assert shown.status_code == 400
        assert "is no time of day" in shown.text
        assert ".clock\n#ad</textarea>" in shown.text  # nothing is to be typed again
        client.post("/jobs/day/watch", data={**form, "quiet": "", "name": "page"})
    *_, watch = get(service, "/api/v1/jobs/day/settings").json()["settings"]["watch"]
    assert (watch["name"], watch["ignore"]) == ("page", [".clock", "#ad"])
    post(service, "/api/v1/jobs/day/watches/act", {"name": "page", "do": "remove"})


def test_secrets_of_the_daemon_go_to_nobody_they_are_not_for(service: LiveService) -> None:
    changes = {"notify.x.to": "https://evil.example/", "notify.x.password": "env:GOSSAMER_SECRET_X"}
    refused = post(service, "/api/v1/jobs/day/set", {"changes": changes})
    assert refused.status_code == 422
    assert "is not for this receiver" in refused.text
    refused = post(service, "/api/v1/jobs/day/set", {"changes": {"notify.x.to": "file:/etc/passwd"}})
    assert refused.status_code == 422


@pytest.mark.slow
def test_a_test_is_sent_and_what_was_given_up_is_sent_again(service: LiveService, hook: Hook) -> None:
    before = len(hook.got)
    assert post(service, "/api/v1/jobs/day/watches/test", {}).json() == {"messages": 1}
    assert [one["test"] for one in hook.got[before:]] == [True]
    assert post(service, "/api/v1/jobs/day/watches/retry", {}).json() == {"messages": 1}
    assert [one["count"] for one in hook.got[before + 1 :]] == [2]
    (view,) = get(service, "/api/v1/jobs/day/watches").json()
    assert (view["failed"], view["pending"], view["undelivered"]) == (0, 0, [])
