"""Requests made up from the description of the interface, right and wrong ones: none is a fault of ours."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from live_service import LiveService, live_service
from patience import PATIENCE
from service_world import WHO, job_settings, reach, until

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.simweb import SimulatedWeb, WorldSpec

schemathesis = pytest.importorskip("schemathesis", reason="the extra `check` is not installed")
# Loaded here, not when it is first needed: pytest parses what it imports while the service may import, and
# CPython 3.11 cannot make two syntax trees at once ("AST constructor recursion depth mismatch").
pytest.importorskip("schemathesis.specs.openapi.adapter.validators")
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

ENDS = {"start", "stop", "pause", "unpause"}
"""Not of the jobs that are to stay as they are."""
ENDED, ALIVE = "ended", "alive"
EXAMPLES = int(os.environ.get("GOSSAMER_FUZZ_EXAMPLES", "10"))
"""Of each operation, right ones, and as many wrong ones."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """One crawl that has ended and one that runs on."""
    spec = WorldSpec.friendly(hosts=3, pages=4_000, page_bytes=1_000)  # more than are visited meanwhile
    folder = tmp_path_factory.mktemp("fuzz") / "service"
    with SimulatedWeb(spec) as web, live_service(folder) as service:

        async def begin() -> None:
            daemon = service.daemon
            slow = {"politeness.min_delay": "20s", "engine.give_up_after": "2h"}
            short = {"budget.max_pages": 10, "search.follow": True}
            await daemon.create(ENDED, {**job_settings(web), **short}, who=WHO)
            await daemon.create(ALIVE, {**job_settings(web), **slow}, who=WHO)
            await daemon.start(ENDED, who=WHO)
            await daemon.start(ALIVE, who=WHO)
            await reach(daemon, ENDED, "finished")
            await until(lambda: begun(daemon))

        service.run(begin())
        yield service


async def begun(daemon: Daemon) -> bool:
    """The crawl answers."""
    with contextlib.suppress(ServiceError):
        return bool((await daemon.figures(ALIVE))["state"] == "running")
    return False


def fuzz(service: LiveService, fixed: dict[str, Any], examples: int) -> int:
    """Ask everything in many ways; how many requests that were."""
    url = f"{service.url}/api/v1/openapi.json"
    config = schemathesis.Config.from_dict({"generation": {"with-security-parameters": False}})
    schema = schemathesis.openapi.from_url(url, config=config)
    modes = schemathesis.GenerationMode
    asked = 0
    with requests.Session() as session:
        session.headers["X-CSRF-Token"] = session.get(f"{service.url}/api/v1/session").json()["csrf"]
        for found in schema.get_all_operations():
            operation = found.ok()
            name = operation.path.rpartition("/")[2]
            if name == "events" or (fixed and (name in ENDS or "{name}" not in operation.path)):
                continue
            for mode in (modes.POSITIVE, modes.NEGATIVE):

                @settings(
                    max_examples=examples,
                    derandomize=True,
                    deadline=None,
                    database=None,
                    phases=[Phase.generate, Phase.shrink],
                    suppress_health_check=list(HealthCheck),
                )
                @given(case=operation.as_strategy(generation_mode=mode, path_parameters=fixed or None))
                def ask(case: Any) -> None:
                    nonlocal asked
                    asked += 1
                    try:
                        answer = case.call(base_url=service.url, session=session, timeout=PATIENCE)
                    except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
                        assert is_too_long(case), "the server hung up"
                        return
                    check(case, answer)

                try:
                    ask()
                except Unsatisfiable:
                    assert mode is modes.NEGATIVE, "only what takes nothing cannot be given anything wrong"
    return asked


def is_too_long(case: Any) -> bool:
    """The server itself refuses its head, perhaps while it is being sent."""
    return len(quote(f"{case.formatted_path}{case.query}")) > 30_000


def check(case: Any, answer: Any) -> None:
    """No fault of ours, nothing that is not described, and safe whatever it says."""
    asked = f"{case.method} {case.formatted_path} {case.query} {case.body}"
    told = f"{asked} -> {answer.status_code}: {answer.text[:500]}"
    assert answer.status_code < 500, told
    if answer.status_code == 400 and is_too_long(case):
        return
    case.validate_response(
        answer,
        checks=[status_code_conformance, content_type_conformance, response_schema_conformance],
    )
    assert answer.headers["x-content-type-options"] == ["nosniff"], told
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == ["application/problem+json"], told


@pytest.mark.slow
def test_many_requests_of_every_kind(service: LiveService) -> None:
    assert fuzz(service, {}, EXAMPLES) > 40 * EXAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("name", [ENDED, ALIVE])
def test_many_requests_to_one_crawl(service: LiveService, name: str) -> None:
    assert fuzz(service, {"name": name}, EXAMPLES) > 20 * EXAMPLES
    view = requests.get(f"{service.url}/api/v1/jobs/{name}", timeout=PATIENCE).json()
    assert view["state"] == {ENDED: "finished", ALIVE: "running"}[name]
    assert service.daemon.job(name).crashes == 0
