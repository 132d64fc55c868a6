"""What the outcome of a robots fetch means (RFC 9309, 2.3.1)."""

import msgspec
import pytest

from gossamer.model.outcome import Fault
from gossamer.model.reasons.codes import RobotsCode
from gossamer.model.reasons.reason import because
from gossamer.policy.robots.access import (
    AllowAll,
    Hold,
    KeepRules,
    RobotsConfig,
    UseBody,
    access_for,
    effective_crawl_delay,
)
from gossamer.policy.robots.file import RobotsRules

CONFIG = RobotsConfig()


@pytest.mark.parametrize("status", [200, 203, 204, 206])
def test_success_is_parsed(status: int) -> None:
    assert access_for(status, None, 3, CONFIG) == UseBody()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451, 499])
def test_client_errors_mean_no_rules(status: int) -> None:
    assert isinstance(access_for(status, None, 0, CONFIG), AllowAll)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 300])
def test_redirects_that_lead_nowhere_mean_no_rules(status: int) -> None:
    assert isinstance(access_for(status, None, 0, CONFIG), AllowAll)


def test_not_modified_keeps_the_rules() -> None:
    assert access_for(304, None, 0, CONFIG) == KeepRules()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599, 101, 999, None])
def test_throttling_and_server_errors_hold(status: int | None) -> None:
    access = access_for(status, None, 0, CONFIG)
    assert isinstance(access, Hold)
    assert access.wait == 60


@pytest.mark.parametrize("fault", sorted(set(Fault) - {Fault.UNSUPPORTED}))
def test_every_fault_holds_even_beside_a_status(fault: Fault) -> None:
    assert isinstance(access_for(None, fault, 0, CONFIG), Hold)
    assert isinstance(access_for(200, fault, 0, CONFIG), Hold)


def test_redirect_out_of_the_web_means_no_rules() -> None:
    assert isinstance(access_for(None, Fault.UNSUPPORTED, 0, CONFIG), AllowAll)


def test_hold_doubles_from_a_minute_to_a_day() -> None:
    waits = [access_for(500, None, failures, CONFIG) for failures in range(20)]
    seconds = [access.wait for access in waits if isinstance(access, Hold)]
    assert seconds[:5] == [60, 120, 240, 480, 960]
    assert seconds[11:] == [86_400] * 9


def test_retry_after_lengthens_the_hold_only() -> None:
    assert access_for(503, None, 0, CONFIG, 500.0) == Hold(500.0, because(RobotsCode.UNREACHABLE, 503))
    assert access_for(503, None, 0, CONFIG, 5.0) == Hold(60.0, because(RobotsCode.UNREACHABLE, 503))


def test_crawl_delay_is_capped_not_ignored() -> None:
    assert effective_crawl_delay(RobotsRules(crawl_delay=10_000.0), CONFIG) == 300
    assert effective_crawl_delay(RobotsRules(crawl_delay=0.5), CONFIG) == 0.5
    assert effective_crawl_delay(RobotsRules(), CONFIG) is None


@pytest.mark.parametrize(
    "bad",
    [
        {"max_age": 90_000},
        {"max_size": 100_000},
        {"max_redirects": 4},
        {"hold_first": 100, "hold_longest": 10},
        {"hold_first": -1},
        {"obay": True},
    ],
)
def test_bad_configuration_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(bad, RobotsConfig)
