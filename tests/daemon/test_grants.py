"""The allocator as the daemon uses it."""

import pytest

from gossamer.daemon.allocation.claims import RESOURCES, Claim
from gossamer.daemon.allocation.grants import Grants, Restored
from gossamer.daemon.errors import ServiceError

LIMITS = {"connections": 10, "bandwidth": 1000, "memory": 100, "disk": 100, "files": 100, "browser_pages": 0}


def claim(connections: int, **more: int) -> Claim:
    return Claim(
        **{"connections": connections, "bandwidth": 10, "memory": 10, "disk": 10, "files": 10, **more}
    )


def grants(*restored: Restored, served: list[str] | None = None, **limits: int) -> Grants:
    heard = served if served is not None else []
    return Grants({**LIMITS, **limits}, restored, heard.append)


def test_who_waits_is_served_when_something_comes_back() -> None:
    served: list[str] = []
    given = grants(served=served)
    given.join("a", claim(8))
    given.join("b", claim(8))
    assert given.request("a", {"connections": 8})
    assert not given.request("b", {"connections": 4})
    assert given.waits("b") and given.held("b")["connections"] == 0
    wait = given.why("b")
    assert wait is not None and wait.waits_for == ("a",) and wait.missing == {"connections": 2}
    given.give_back("a", {"connections": 3})
    assert served == [] or served == ["b"]
    given.leave("a")
    assert served == ["b"] and given.held("b")["connections"] == 4
    assert "a" not in given and given.held("a") == dict.fromkeys(RESOURCES, 0)
    given.leave("a")  # harmless


def test_above_the_claim_is_an_error_and_changes_nothing() -> None:
    given = grants()
    given.join("a", claim(4))
    with pytest.raises(ServiceError, match="its claim leaves it") as caught:
        given.request("a", {"connections": 5})
    assert caught.value.code == "conflict"
    assert not any(given.held("a").values())
    with pytest.raises(ServiceError, match="limit"):
        given.join("b", claim(11))
    assert "b" not in given


def test_what_runs_already_is_a_fact_even_above_the_limits() -> None:
    held = {"connections": 8, "memory": 10}
    given = grants(Restored("a", claim(8), held), Restored("b", claim(8), held))
    assert given.held("a")["connections"] == 8
    view = given.view()
    column = view.resources.index("connections")
    assert view.totals[column] == 16 and view.targets[column] == 10
    assert [one.resource for one in view.lowering] == ["connections"]
    given.leave("a")
    assert given.view().totals[column] == 10


def test_a_restored_claim_is_never_below_what_is_held() -> None:
    given = grants(Restored("a", claim(2), {"connections": 5, "unknown": 3}))
    assert given.held("a")["connections"] == 5


def test_the_view_has_the_document_s_matrices() -> None:
    given = grants()
    given.join("a", claim(6))
    given.request("a", {"connections": 2, "files": 3})
    view = given.view()
    assert view.processes == ("a",) and view.safe_sequence == ("a",)
    for row in range(len(view.processes)):
        for column in range(len(view.resources)):
            most, held, needed = (table[row][column] for table in (view.maximum, view.allocated, view.needed))
            assert needed == most - held
            assert view.available[column] == view.totals[column] - held


def test_limits_change_while_it_runs() -> None:
    served: list[str] = []
    given = grants(served=served)
    given.join("a", claim(10))
    given.join("b", claim(10))
    assert given.request("a", {"connections": 10})
    assert not given.request("b", {"connections": 10})
    given.set_limit("connections", 20)
    assert served == ["b"] and given.limits["connections"] == 20
