"""Jobs over the interface: made, changed and removed, with everything that is wrong told."""

import asyncio
import json

import pytest
from api_client import served

from gossamer.control.changes.operations import OPERATIONS
from gossamer.control.views.views import VIEWS

SEED = {"settings": {"seeds": ["http://127.0.0.1:1/"], "fetch.allow_private": True}}
OWN = {"pause", "unpause", "stop", "checkpoint"}


def over(test):
    """Run a test that takes a daemon and a client of it."""

    def run(tmp_path):
        async def scene():
            async with served(tmp_path) as (daemon, client):
                await test(daemon, client)

        asyncio.run(scene())

    run.__name__ = test.__name__
    return run


async def make(client, *names):
    for name in names:
        answer = await client.post("/api/v1/jobs", json={"name": name, **SEED})
        assert answer.status_code == 201, answer.text


@over
async def test_a_job_is_made_shown_copied_and_removed(daemon, client):
    made = await client.post("/api/v1/jobs", json={"name": "docs", **SEED})
    assert made.status_code == 201
    assert made.headers["location"] == "/api/v1/jobs/docs"
    shown = (await client.get(made.headers["location"])).json()
    assert (shown["name"], shown["state"]) == ("docs", "new")
    assert "seeds = [" in (await client.get("/api/v1/jobs/docs/configuration")).text
    copied = await client.post("/api/v1/jobs/docs/clone", json={"name": "docs-2"})
    assert (copied.status_code, copied.json()["seeds"]) == (201, shown["seeds"])
    assert (await client.delete("/api/v1/jobs/docs")).status_code == 422
    assert (await client.delete("/api/v1/jobs/docs?confirm=docs-2")).status_code == 422
    assert (await client.delete("/api/v1/jobs/docs?confirm=docs")).status_code == 204
    assert (await client.get("/api/v1/jobs/docs")).status_code == 404
    assert [job.name for job in daemon.jobs()] == ["docs-2"]
    done = (await client.get("/api/v1/audit")).json()["items"]
    assert [(line["who"], line["action"], line["job"]) for line in done][::-1] == [
        ("local", "create", "docs"),
        ("local", "clone", "docs-2"),
        ("local", "delete", "docs"),
    ]
    only = (await client.get("/api/v1/audit?job=docs-2&limit=1")).json()["items"]
    assert [line["action"] for line in only] == ["clone"]


@over
async def test_all_that_is_wrong_is_told_at_once(daemon, client):
    wrong = {"name": "x", "settings": {"engine": {"workers": -1}, "nonsense": 1, "scope.mode": "moon"}}
    for path, status in (("/api/v1/jobs", 422), ("/api/v1/validate", 200)):
        answer = await client.post(path, json=wrong)
        assert answer.status_code == status
        told = " ".join(answer.json()["problems"])
        assert all(name in told for name in ("engine.workers", "nonsense", "scope.mode")), told
    right = await client.post("/api/v1/validate", json={"name": "x", **SEED})
    assert right.json() == {"problems": [], "reasons": []}
    assert daemon.jobs() == []


@over
async def test_settings_of_many_parts_are_refused(daemon, client):
    name = ".".join(["a"] * 1_000)
    deep: object = 1
    for _ in range(300):
        deep = {"a": deep}
    for body in (
        {"name": "x", "toml": f"{name} = 1"},
        {"name": "x", "settings": {name: 1}},
        {"name": "x", "settings": {"a.a": {name: 1}}},
        {"name": "x", "settings": deep},
        {"name": "x", "settings": {}, "claim": {name: 1}},
    ):
        answer = await client.post("/api/v1/validate", json=body)
        assert answer.status_code in (200, 400, 422), answer.text
        assert answer.status_code != 200 or answer.json()["problems"], body
        assert len(answer.content) < 10_000


@over
async def test_bodies_that_are_not_what_is_asked_for(daemon, client):
    for body, word in (
        ({}, "seeds"),
        ({"name": 1}, "name"),
        ({"name": "a", "more": 1}, "more"),
        ({"name": "a", "seeds": "x"}, "seeds"),
        ({"name": "a", "seeds": ["a\nb"]}, "seeds"),
        ({"name": "a", "claim": {"memory": -1}}, "claim"),
        ({"name": "a", "claim": {"memory": 1 << 70}}, "claim"),
        ({"name": "a", "settings": {"engine.workers": 1 << 70}}, ""),
        ({"name": "a", "toml": "", "settings": {}}, "not both"),
        ({"name": "a", "toml": "a = ["}, ""),
        ([], ""),
        ("x", ""),
    ):
        answer = await client.post("/api/v1/jobs", json=body)
        assert answer.status_code == 422, (body, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert word in answer.text, (body, answer.text)
    assert daemon.jobs() == []


@over
async def test_names_stay_inside(daemon, client):
    await make(client, "good")
    before = sorted(path.name for path in daemon.path.parent.iterdir())
    for name in ("..", "../x", "/etc", "a/b", ".x", "", "X", "a" * 65, "a\n", "a\x00", "é", "con/../../x"):
        assert (await client.post("/api/v1/jobs", json={"name": name, **SEED})).status_code == 422, name
        clone = await client.post("/api/v1/jobs/good/clone", json={"name": name})
        assert clone.status_code == 422, name
    for name in (
        "..%2fgood",
        "%2e%2e",
        "..",
        "good%2f..%2fgood",
        "good%00",
        "good%0a",
        "..%5cgood",
        "%252e%252e",
    ):
        for method, rest in (
            ("GET", ""),
            ("GET", "/configuration"),
            ("POST", "/start"),
            ("DELETE", "?confirm=."),
        ):
            answer = await client.request(
                method, f"/api/v1/jobs/{name}{rest}", headers={"Content-Type": "application/json"}
            )
            assert answer.status_code in (404, 405), (name, method, answer.text)
    for folder in (
        "/etc",
        "../..",
        str(daemon.path),
        str(daemon.path / "jobs" / "good"),
        "/",
        "/a\x00b",
        "~nobody",
        "/" + "a" * 300,
        "/a" * 2000,
    ):
        answer = await client.post("/api/v1/jobs/new/adopt", json={"folder": folder})
        assert answer.status_code in (404, 409, 422), (folder, answer.text)
    assert [job.name for job in daemon.jobs()] == ["good"]
    assert sorted(path.name for path in daemon.path.parent.iterdir()) == before


@over
async def test_settings_name_no_files_of_others(daemon, client):
    for settings in ({"seeds_file": "/etc/passwd"}, {"archive.folder": "/tmp"}, {"plugins": ["os:system"]}):
        answer = await client.post(
            "/api/v1/jobs", json={"name": "a", "settings": {**SEED["settings"], **settings}}
        )
        assert answer.status_code == 422, settings


@over
async def test_lists_come_in_pages(daemon, client):
    await make(client, *(f"job-{number}" for number in range(5)))
    names, cursor = [], ""
    while cursor is not None:
        page = (
            await client.get("/api/v1/jobs", params={"limit": 2, **({"cursor": cursor} if cursor else {})})
        ).json()
        assert page["total"] == 5
        names += [job["name"] for job in page["items"]]
        cursor = page["cursor"]
    assert names == [f"job-{number}" for number in range(5)]
    for wrong in ("limit=0", "limit=1001", "limit=x", "limit=9999999999999999999999"):
        assert (await client.get(f"/api/v1/jobs?{wrong}")).status_code == 422
    assert (await client.get("/api/v1/audit?cursor=x")).status_code == 422


@over
async def test_schedule_and_claim(daemon, client):
    await make(client, "a")
    answer = await client.put(
        "/api/v1/jobs/a/schedule", json={"cron": "0 3 * * mon", "quiet": ["22:00-06:00"]}
    )
    assert answer.json()["schedule"]["cron"] == "0 3 * * mon"
    assert len(answer.json()["next_runs"]) == 3
    for wrong in ({"cron": "x"}, {"zone": "Moon/Base"}, {"quiet": ["always"]}, {"when": 1}, {"how": "never"}):
        answer = await client.put("/api/v1/jobs/a/schedule", json=wrong)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert (await client.delete("/api/v1/jobs/a/schedule")).json()["schedule"] is None
    claim = await client.put("/api/v1/jobs/a/claim", json={"connections": 100})
    assert claim.json()["claim"]["connections"] == 100
    for wrong in ({"connections": 1 << 40}, {"moons": 1}, {"connections": "many"}, {"connections": 1}):
        assert (await client.put("/api/v1/jobs/a/claim", json=wrong)).status_code == 422, wrong


@over
async def test_allocation_and_limits(daemon, client):
    await make(client, "a")
    table = (await client.get("/api/v1/allocation")).json()
    assert len(table["totals"]) == len(table["available"]) == len(table["resources"])
    answer = await client.put("/api/v1/limits", json={"connections": 50})
    assert answer.status_code == 200, answer.text
    assert answer.json()["totals"][table["resources"].index("connections")] == 50
    for wrong in ({"moons": 1}, {"connections": -1}, {"connections": 1.5}, {"connections": None}, []):
        assert (await client.put("/api/v1/limits", json=wrong)).status_code == 422, wrong


@over
async def test_what_cannot_be_now(daemon, client):
    await make(client, "a")
    for verb in ("pause", "unpause", "checkpoint", "withdraw", "stop"):
        answer = await client.post(f"/api/v1/jobs/a/{verb}", json={})
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict"), verb
    for method in VIEWS:  # of a crawl that never began
        answer = await client.get(f"/api/v1/jobs/a/{method}")
        assert answer.status_code in (200, 404, 409, 422), (method, answer.text)
    for method in set(OPERATIONS) - OWN - {"set", "limits"}:
        assert (await client.post(f"/api/v1/jobs/a/{method}", json={})).status_code in (409, 422), method


@over
async def test_the_description_has_it_all(daemon, client):
    described = (await client.get("/api/v1/openapi.json")).json()
    paths = described["paths"]
    for method in VIEWS:
        assert "get" in paths[f"/api/v1/jobs/{{name}}/{method}"]
    for method in set(OPERATIONS) - {"limits"}:
        assert "post" in paths[f"/api/v1/jobs/{{name}}/{method}"]
    assert "/api/v1/jobs/{name}/limits" not in paths, "the allocator's alone"
    text = json.dumps(described)
    for name in [part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]]:
        assert name in described["components"]["schemas"]
    ids = [operation["operationId"] for path in paths.values() for operation in path.values()]
    assert len(ids) == len(set(ids))
    for path in paths.values():
        for operation in path.values():
            assert operation["summary"]
            assert "default" in operation["responses"]


@over
async def test_the_page_of_the_description_needs_nothing_from_elsewhere(daemon, client):
    page = (await client.get("/api/v1/docs")).text
    for path in (await client.get("/api/v1/openapi.json")).json()["paths"]:
        assert path in page
    assert "<script" not in page
    assert "style=" not in page
    assert "//" not in page.replace("http://", "").replace("https://", "")
    assert 'href="http' not in page
    style = await client.get("/api/v1/docs.css")
    assert style.headers["content-type"].startswith("text/css")


@over
async def test_who_one_is(daemon, client):
    found = (await client.get("/api/v1/session")).json()
    assert (found["name"], found["role"]) == ("local", "operator")
    assert (await client.get("/healthz")).text == "ok\n"
    assert (await client.get("/api/v1/service")).json()["jobs"] == {}


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1/jobs/", "/api/v2/jobs", "/api/v1"])
def test_what_is_not_there(tmp_path, path):
    async def scene():
        async with served(tmp_path) as (_, client):
            answer = await client.get(path)
            assert answer.status_code == 404
            assert answer.headers["content-type"] == "application/problem+json"

    asyncio.run(scene())
