"""Clusters over the interface: the same figures as the page's, orders, and everything that is wrong told."""

import asyncio

import msgspec
import pytest
from api_client import CHEAP, HERE, PASSWORD, served
from cluster_folders import cluster_folder, played  # noqa: F401
from console_stage import cluster_figures

from gossamer.inspect.clusters.cluster_view import ClusterFigures
from gossamer.web.security.visitor import Role

pytestmark = pytest.mark.usefixtures("played")
BIG = "/api/v1/clusters/big"


def test_figures_and_page_are_of_one_source(tmp_path):
    cluster_folder(tmp_path / "jobs" / "big")

    async def scene():
        async with served(tmp_path) as (_, client):
            listed = (await client.get("/api/v1/clusters")).json()
            assert [(line["name"], line["state"]) for line in listed["items"]] == [("big", "unseen")]
            assert (listed["total"], listed["cursor"]) == (1, None)
            answer = await client.get(BIG)
            assert answer.status_code == 200
            view = answer.json()
            assert (view["name"], view["state"], view["problem"]) == ("big", "running", "")
            assert msgspec.convert(view["figures"], ClusterFigures) == cluster_figures()
            page = (await client.get("/clusters/big")).text
            assert f"{view['figures']['overview']['pages']:,}" in page
            assert '<svg class="chart ring"' in page

    asyncio.run(scene())


def test_what_cannot_be_is_a_problem(tmp_path):
    cluster_folder(tmp_path / "jobs" / "big", runs=False)

    async def scene():
        async with served(tmp_path) as (daemon, client):
            for method, path, body, status in (
                ("GET", "/api/v1/clusters/none", None, 404),
                ("GET", "/api/v1/clusters/%2e%2e", None, 404),
                ("GET", "/api/v1/clusters/..%2fjobs", None, 404),
                ("POST", f"{BIG}/stop", {}, 409),
                ("POST", f"{BIG}/scale", {"agents": 2}, 409),
                ("POST", f"{BIG}/scale", {"agents": 0}, 422),
                ("POST", f"{BIG}/scale", {}, 422),
                ("POST", f"{BIG}/drain", {"node": ""}, 422),
                ("GET", "/api/v1/clusters?limit=0", None, 422),
            ):
                answer = await client.request(method, path, json=body)
                assert answer.status_code == status, (path, answer.text)
                assert answer.headers["content-type"].startswith("application/problem+json")
                assert answer.json()["status"] == status
            assert (await client.get(BIG)).json()["state"] == "stopped"
            assert "cluster" not in str(daemon.audit()["items"])

    asyncio.run(scene())


def test_orders_reach_the_cluster_and_the_journal(tmp_path):
    folder = cluster_folder(tmp_path / "jobs" / "big")

    async def scene():
        async with served(tmp_path) as (_, client):
            for act, body in (("scale", {"agents": 3}), ("drain", {"node": "full"}), ("stop", {})):
                answer = await client.post(f"{BIG}/{act}", json=body)
                assert answer.status_code == 200, answer.text
                assert answer.json()["name"] == "big"
            done = (await client.get("/api/v1/audit")).json()["items"]
            assert [(line["action"], line["details"]) for line in done[:3]] == [
                ("stop cluster", "big"),
                ("drain cluster", "big full"),
                ("scale cluster", "big 3"),
            ]

    asyncio.run(scene())
    assert '{"type":"scale","agents":3}' in (folder / "heard").read_text()


def test_viewers_look_and_order_nothing(tmp_path):
    folder = cluster_folder(tmp_path / "jobs" / "big")

    async def scene():
        async with served(tmp_path, security=CHEAP) as (_, client):
            door = client.app.state.door
            door.accounts.add("eve", Role.VIEWER, PASSWORD)
            assert (await client.get(BIG)).status_code == 401
            session = door.sessions.begin("eve")
            who = {"Cookie": f"gossamer-8470={session.cookie}"}
            assert (await client.get(BIG, headers=who)).json()["state"] == "running"
            token = {**who, "X-CSRF-Token": session.visitor.csrf, "Origin": HERE}
            assert (await client.post(f"{BIG}/stop", headers=token, json={})).status_code == 403
            answer = await client.post("/clusters/big/stop", headers=token, data={"csrf": "x"})
            assert answer.status_code == 403
            page = (await client.get("/clusters/big", headers=who)).text
            assert "/clusters/big/scale" not in page
            assert "/clusters/big/stop" not in page

    asyncio.run(scene())
    assert "stop" not in (folder / "heard").read_text()
