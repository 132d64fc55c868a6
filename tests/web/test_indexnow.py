"""Submissions by IndexNow, in every form, good and bad."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from api_client import PASSWORD, served

from gossamer.daemon.pings.allowance import Allowance
from gossamer.daemon.pings.indexnow import BadSubmissionError, Submission, read_json, read_query
from gossamer.daemon.pings.pings import MOST_WAITING
from gossamer.web.security.visitor import Role

KEY = "0123456789abcdef-KEY"
SITE = "https://example.org"


def listed(**changed: Any) -> bytes:
    return json.dumps(
        {"host": "example.org", "key": KEY, "urlList": [f"{SITE}/a", f"{SITE}/b"], **changed}
    ).encode()


def test_one_url() -> None:
    assert read_query({"url": f"{SITE}/a?x=1", "key": KEY}) == Submission(
        (f"{SITE}/a?x=1",), KEY, f"{SITE}/{KEY}.txt"
    )


def test_a_list() -> None:
    assert read_json(listed()) == Submission((f"{SITE}/a", f"{SITE}/b"), KEY, f"{SITE}/{KEY}.txt")
    twice = listed(urlList=[f"{SITE}/a", f"{SITE}/a#x"])
    assert read_json(twice).urls == (f"{SITE}/a",)


def test_a_key_in_a_folder_speaks_of_what_is_below_it() -> None:
    where = f"{SITE}/catalogue/mine.txt"
    below = [f"{SITE}/catalogue/x", f"{SITE}/catalogue/"]
    assert read_json(listed(keyLocation=where, urlList=below)).location == where
    with pytest.raises(BadSubmissionError) as caught:
        read_json(listed(keyLocation=where))
    assert caught.value.status == 422


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{", 400),
        (b'{"a":' * 10_000, 400),
        (listed(host=5), 400),
        (listed(urlList="x"), 400),
        (listed(urlList=[5]), 400),
        (listed(urlList=[]), 422),
        (listed(urlList=[f"{SITE}/"] * 10_001), 422),
        (listed(key="short"), 422),
        (listed(key="k" * 129), 422),
        (listed(key="a key with blanks"), 422),
        (listed(key="../../etc/passwd"), 422),
        (listed(host="other.org"), 422),
        (listed(host=""), 400),
        (listed(host="example.org/x?"), 400),
        (listed(urlList=[f"{SITE}/a", "https://other.org/"]), 422),
        (listed(urlList=[f"{SITE}/a", "no url"]), 422),
        (listed(urlList=["ftp://example.org/"]), 400),
        (listed(urlList=[f"{SITE}/{'x' * 9_000}"]), 422),
        (listed(keyLocation="https://other.org/k.txt"), 422),
        (listed(keyLocation="file:///etc/passwd"), 422),
        (listed(keyLocation="javascript:alert(1)"), 422),
    ],
)
def test_bad_lists(body: bytes, status: int) -> None:
    with pytest.raises(BadSubmissionError) as caught:
        read_json(body)
    assert caught.value.status == status


@pytest.mark.parametrize("query", [{}, {"url": "x"}, {"url": f"{SITE}/"}, {"url": "", "key": KEY}])
def test_bad_queries(query: dict[str, str]) -> None:
    with pytest.raises(BadSubmissionError):
        read_query(query)


def test_allowance_of_an_address() -> None:
    allowance = Allowance(3)
    assert [allowance.wait("a", 100.0) for _ in range(3)] == [0.0] * 3
    assert allowance.wait("a", 100.0) == pytest.approx(20.0)
    assert allowance.wait("b", 100.0) == 0.0
    assert allowance.wait("a", 119.0) > 0
    assert allowance.wait("a", 120.5) == 0.0
    assert allowance.wait("a", 121.0) > 0
    for number in range(20_000):
        allowance.wait(str(number), 121.0)
    assert allowance.wait("a", 121.0) == 0.0  # forgotten: that helps only who has thousands of addresses


def test_over_http(tmp_path: Path) -> None:
    async def scene() -> None:
        async with served(tmp_path / "d", pings={"indexnow": True}) as (_, client):
            answer = await client.get("/indexnow", params={"url": f"{SITE}/", "key": KEY})
            assert answer.status_code == 202
            posted = {"content": listed(), "headers": {"Content-Type": "application/json; charset=utf-8"}}
            assert (await client.post("/indexnow", **posted)).status_code == 202
            assert (await client.post("/indexnow", content=b"{")).status_code == 400
            assert (await client.post("/indexnow", content=listed(key="x"))).status_code == 422
            assert (await client.get("/indexnow")).status_code == 400
            assert (await client.put("/indexnow")).status_code == 405
            assert (await client.post("/indexnow", content=b" " * (2 << 20))).status_code == 413
            assert (
                await client.post("/indexnow", content=b"{}", headers={"Origin": "http://x.org"})
            ).status_code == 403

    asyncio.run(scene())


def test_strangers_are_heard_though_there_are_accounts_and_nowhere_else(tmp_path: Path) -> None:
    async def scene() -> None:
        async with served(tmp_path / "d", pings={"indexnow": True}) as (daemon, client):
            client.app.state.door.accounts.add("anna", Role.OPERATOR, PASSWORD)  # type: ignore[attr-defined]
            answer = await client.get("/indexnow", params={"url": f"{SITE}/", "key": KEY})
            assert answer.status_code == 202
            for path in ("/indexnow/", "/indexnow/x", "/websub/x", "/api/v1/jobs"):
                assert (await client.get(path)).status_code == 401
            assert daemon.audit()["items"] == [] or all(
                "indexnow" not in str(one) for one in daemon.audit()["items"]
            )

    asyncio.run(scene())


def test_more_than_waits_is_put_off(tmp_path: Path) -> None:
    async def scene() -> None:
        async with served(tmp_path / "d", pings={"indexnow": True, "per_minute": 1_000}) as (daemon, client):
            one = read_query({"url": f"{SITE}/", "key": KEY})
            while daemon.pings.submit(one):
                pass
            answer = await client.get("/indexnow", params={"url": f"{SITE}/", "key": KEY})
            assert (answer.status_code, answer.headers["retry-after"]) == (429, "60")
            assert MOST_WAITING == 100

    asyncio.run(scene())
