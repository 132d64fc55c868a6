"""Dispositions: the tables of statuses and faults (K2), retries, back-off and parking."""

import io
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.head import parse_fields
from gossamer.model.disposition import Blame, Disposition, Done, Dropped, Parked, Retry
from gossamer.model.exchange import Exchange, Headers, Result, Truncation
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome, Refused, Rule
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.visits import retry
from gossamer.policy.visits.retry import (
    HostFailures,
    RetryConfig,
    StatusAction,
    backoff,
    blame_of,
    is_host_failure,
    redirect_location,
    status_action,
)

CONFIG = RetryConfig()
NOW = 1_700_000_000.0
FRESH = HostFailures()


def decide(
    outcome: Outcome, attempts: int, row: HostFailures, now: float, config: RetryConfig
) -> Disposition:
    """The disposition, its reason in words."""
    decided = retry.decide(outcome, attempts, row, now, config)
    if isinstance(decided, Done):
        return decided
    return msgspec.structs.replace(decided, reason=str(decided.reason))


class EmptyBody:
    size = 0
    sha256 = b"\0" * 32

    def open(self) -> BinaryIO:
        return io.BytesIO()

    def chunks(self, size: int = 1) -> Iterator[bytes]:
        return iter(())

    def read(self, limit: int = -1) -> bytes:
        return b""

    def close(self) -> None:
        pass


def fetched(
    status: int, truncated: Truncation | None = None, result: Result | None = None, **fields: str
) -> Fetched:
    url = Url.parse("http://e.org/")
    assert url is not None
    headers = Headers([(name.replace("_", "-"), value) for name, value in fields.items()])
    return Fetched(
        Exchange(url, NOW, b"", status, b"", headers, EmptyBody(), truncated=truncated, result=result)
    )


def status_decision(status: int, attempts: int = 0, row: HostFailures = FRESH, **fields: str) -> Disposition:
    return decide(fetched(status, **fields), attempts, row, NOW, CONFIG)


def test_statuses_are_those_of_k2() -> None:
    expected = {
        StatusAction.PROCESS: [200, 201, 203, 206, 226, 299],
        StatusAction.WAIT: [202],
        StatusAction.NOTHING: [204, 205],
        StatusAction.REDIRECT: [300, 301, 302, 303, 307, 308],
        StatusAction.UNCHANGED: [304],
        StatusAction.DROP: [305, 306, 399, 400, 401, 403, 404, 410, 418, 451, 499, 100, 199, 600, 999],
        StatusAction.RETRY: [408, 425, 500, 501, 502, 504, 599],
        StatusAction.THROTTLED: [429, 503],
    }
    for action, statuses in expected.items():
        assert {status: status_action(status) for status in statuses} == dict.fromkeys(statuses, action)


def test_every_fault_has_its_blame() -> None:
    hosts = {fault for fault in Fault if blame_of(fault) is Blame.HOST}
    assert hosts == {
        Fault.NAME_NOT_FOUND,
        Fault.NAME_FAILED,
        Fault.NAME_DEFERRED,
        Fault.CONNECT,
        Fault.CONNECT_TIMEOUT,
        Fault.TLS,
        Fault.PROXY,
        Fault.PROXY_DOWN,
        Fault.THROTTLED,
    }


@pytest.mark.parametrize(
    ("fault", "said"), [(Fault.NAME_DEFERRED, "name deferred"), (Fault.PROXY_DOWN, "no proxy")]
)
def test_what_was_not_asked_rests_its_host_as_long_as_told_and_blames_nobody(fault: Fault, said: str) -> None:
    outcome = Failed(fault, "held", wait=1234.0)
    decided = decide(outcome, 0, HostFailures(4, 1.0), 1e6, RetryConfig())
    assert decided == Retry(1234.0, Blame.HOST, f"{said}: held")
    assert is_host_failure(outcome) is None


@pytest.mark.parametrize("status", [200, 201, 204, 206, 304, 301, 302, 303, 307, 308])
def test_good_statuses_are_done_and_archived(status: int) -> None:
    assert status_decision(status, location="/x") == Done(archive=True)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_definite_statuses_are_dropped_and_archived(status: int) -> None:
    assert status_decision(status) == Dropped(str(status), archive=True)


PARKING = Result("451", StatusAction.PARK)


@pytest.mark.parametrize(
    ("outcome", "row", "parked"),
    [
        (Refused(Rule.BUDGET), FRESH, Parked("budget", Blame.URL)),
        (fetched(0, result=PARKING), FRESH, Parked("http 451", Blame.URL)),
        (fetched(0, result=PARKING), HostFailures(9, NOW - 90_000), Parked("http 451", Blame.URL)),
        (
            fetched(503),
            HostFailures(9, NOW - 90_000),
            Parked("503, 10 failures of the host in a row", Blame.HOST),
        ),
    ],
)
def test_who_is_parked(outcome: Outcome, row: HostFailures, parked: Parked) -> None:
    assert decide(outcome, 0, row, NOW, CONFIG) == parked


def test_a_status_is_parked_by_one_line_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(retry._BY_STATUS, 451, StatusAction.PARK)
    assert status_decision(451) == Parked("451", Blame.URL)
    assert status_decision(404) == Dropped("404", archive=True)


def test_location() -> None:
    assert redirect_location(301, parse_fields(b"HTTP/1.1 301 \r\nLocation:  /a \r\n\r\n")) == "/a"
    assert redirect_location(302, Headers([("location", "")])) == "/"
    assert redirect_location(307, Headers([])) == "/"
    assert redirect_location(300, Headers([])) is None
    assert redirect_location(300, Headers([("Location", "/b")])) == "/b"
    assert redirect_location(200, Headers([("Location", "/b")])) is None


@pytest.mark.parametrize(
    ("received", "url"),
    [
        (b"/caf\xc3\xa9?q=\xc3\xa9", "http://h.test/caf%C3%A9?q=%C3%A9"),
        (b"/caf\xe9%20", "http://h.test/caf%E9%20"),
        (b" /citt\xc3\xa0\t", "http://h.test/citt%C3%A0"),  # by latin-1 its last byte is a blank
        (b"/\xd1\x85", "http://h.test/%D1%85"),
        (b"http://b\xc3\xbccher.test/", "http://xn--bcher-kva.test/"),
    ],
)
def test_bytes_of_a_location_go_back_as_they_came(received: bytes, url: str) -> None:
    location = redirect_location(302, Headers([("Location", received.decode("latin-1"))]))
    assert location is not None
    assert str(Url.parse(location, "http://h.test/x")) == url
    assert status_decision(300) == Dropped("300 without Location", archive=True)
    assert status_decision(300, location="/b") == Done()


@pytest.mark.parametrize("status", [500, 502, 599, 408, 425, 202])
def test_url_is_retried_three_times_then_dropped_with_its_last_response(status: int) -> None:
    waits = [status_decision(status, attempts) for attempts in range(4)]
    assert waits[:3] == [Retry(wait, Blame.URL, str(status)) for wait in (30.0, 300.0, 1_800.0)]
    assert waits[3] == Dropped(f"{status}, 4 visits", archive=True)


def test_retry_after_lengthens_the_wait_of_a_url() -> None:
    assert status_decision(202, retry_after="100") == Retry(100.0, Blame.URL, "202")
    assert status_decision(202, retry_after="10") == Retry(30.0, Blame.URL, "202")


@pytest.mark.parametrize("fault", [Fault.TIMEOUT, Fault.TOO_SLOW, Fault.RESET, Fault.PROTOCOL, Fault.SERVER])
def test_url_faults_are_retried_then_dropped(fault: Fault) -> None:
    decisions = [decide(Failed(fault, "why"), attempts, FRESH, NOW, CONFIG) for attempts in range(4)]
    assert decisions[0] == Retry(30.0, Blame.URL, f"{Reason(fault)}: why")
    assert decisions[2] == Retry(1_800.0, Blame.URL, f"{Reason(fault)}: why")
    assert decisions[3] == Dropped(f"{Reason(fault)}: why, 4 visits", archive=False)


@pytest.mark.parametrize(
    "fault", [Fault.ADDRESS_FORBIDDEN, Fault.HEAD_TOO_LARGE, Fault.DECODING, Fault.UNSUPPORTED]
)
def test_faults_that_would_come_again_are_dropped_at_once(fault: Fault) -> None:
    assert decide(Failed(fault), 0, FRESH, NOW, CONFIG) == Dropped(str(Reason(fault)))


def test_without_waits_urls_are_dropped_at_once() -> None:
    config = RetryConfig(url_waits=())
    assert decide(Failed(Fault.RESET), 0, FRESH, NOW, config) == Dropped("reset, 1 visit")


def test_truncated_bodies() -> None:
    def decision(truncated: Truncation, attempts: int, status: int = 200) -> Disposition:
        return decide(fetched(status, truncated), attempts, FRESH, NOW, CONFIG)

    assert decision(Truncation.LENGTH, 0) == Done()
    for cut in (Truncation.TIME, Truncation.DISCONNECT):
        assert decision(cut, 0) == Retry(30.0, Blame.URL, f"200 cut by {cut}")
        assert decision(cut, 3) == Done(archive=True)
        assert decision(cut, 0, 404) == Dropped("404", archive=True)
        assert decision(cut, 0, 301) == Done()


HOST_FAULTS = sorted(fault for fault in Fault if blame_of(fault) is Blame.HOST)


@pytest.mark.parametrize("fault", HOST_FAULTS)
@pytest.mark.parametrize("attempts", [0, 3, 99])
def test_host_faults_do_not_count_against_the_url(fault: Fault, attempts: int) -> None:
    wait = CONFIG.not_found_first if fault is Fault.NAME_NOT_FOUND else CONFIG.host_first
    assert decide(Failed(fault), attempts, FRESH, NOW, CONFIG) == Retry(wait, Blame.HOST, str(Reason(fault)))


def test_host_backs_off_from_a_minute_to_a_day() -> None:
    row, waits = FRESH, []
    for _ in range(14):
        decision = decide(Failed(Fault.CONNECT), 0, row, NOW, CONFIG)
        assert isinstance(decision, Retry)
        waits.append(decision.wait)
        row = row.another(NOW)
    assert waits[:4] == [60.0, 120.0, 240.0, 480.0]
    assert waits[-3:] == [61_440.0 * 2 if 61_440.0 * 2 < 86_400 else 86_400.0] * 3


def test_host_is_parked_after_five_in_a_row_over_a_day() -> None:
    def decision(count: int, ago: float) -> Disposition:
        return decide(Failed(Fault.CONNECT, "refused"), 0, HostFailures(count, NOW - ago), NOW, CONFIG)

    assert isinstance(decision(3, 90_000), Retry)
    assert isinstance(decision(9, 86_399), Retry)
    assert decision(4, 86_400) == Parked(
        "no connection: refused, 5 failures of the host in a row", Blame.HOST
    )
    assert isinstance(decision(9, -3_600), Retry)  # a wall clock that was set back


def test_row_of_failures() -> None:
    row = FRESH.another(10.0).another(20.0)
    assert row == HostFailures(2, 10.0)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(row), type=HostFailures) == row


@pytest.mark.parametrize("status", [429, 503])
def test_throttling_rests_the_host(status: int) -> None:
    assert status_decision(status, 99) == Retry(60.0, Blame.HOST, str(status))
    assert status_decision(status, retry_after="7") == Retry(7.0, Blame.HOST, str(status))
    assert status_decision(status, retry_after="nonsense") == Retry(60.0, Blame.HOST, str(status))
    assert status_decision(status, retry_after="999999") == Retry(86_400.0, Blame.HOST, str(status))
    assert status_decision(status, retry_after="Tue, 14 Nov 2023 22:13:50 GMT").wait == 30.0  # type: ignore[union-attr]


def test_short_retry_after_is_not_believed_for_ever() -> None:
    def wait(count: int) -> float:
        decision = status_decision(503, 0, HostFailures(count, NOW), retry_after="1")
        assert isinstance(decision, Retry)
        return decision.wait

    assert [wait(count) for count in (0, 4, 5, 6, 7)] == [1.0, 1.0, 60.0, 120.0, 240.0]


def test_what_lengthens_the_row_of_a_host() -> None:
    assert (
        is_host_failure(fetched(503)) and is_host_failure(fetched(429)) and is_host_failure(Failed(Fault.TLS))
    )
    assert (
        not is_host_failure(fetched(500))
        and not is_host_failure(fetched(404))
        and not is_host_failure(fetched(200))
    )
    assert not is_host_failure(Failed(Fault.TIMEOUT)) and not is_host_failure(Refused(Rule.ROBOTS))


def test_refused_is_dropped_but_spent_budgets_are_parked() -> None:
    assert decide(Refused(Rule.ROBOTS, "Disallow: /"), 0, FRESH, NOW, CONFIG) == Dropped(
        "robots: Disallow: /"
    )
    assert decide(Refused(Rule.SCOPE), 0, FRESH, NOW, CONFIG) == Dropped("scope")
    assert decide(Refused(Rule.BUDGET, "max_pages 3"), 0, FRESH, NOW, CONFIG) == Parked("budget: max_pages 3")


@given(
    st.one_of(
        st.integers(min_value=0, max_value=1_999).map(fetched),
        st.sampled_from(sorted(Fault)).map(Failed),
        st.sampled_from(sorted(Rule)).map(Refused),
    ),
    st.integers(min_value=0, max_value=10),
    st.builds(
        HostFailures, st.integers(min_value=0, max_value=10_000), st.floats(min_value=0, max_value=2 * NOW)
    ),
)
def test_every_outcome_has_a_disposition(
    outcome: Fetched | Failed | Refused, attempts: int, row: HostFailures
) -> None:
    decision = decide(outcome, attempts, row, NOW, CONFIG)
    if isinstance(decision, Retry):
        assert 0 < decision.wait <= 86_400
        deferred = isinstance(outcome, Failed) and outcome.fault is Fault.NAME_DEFERRED
        assert (decision.blame is Blame.HOST) is (is_host_failure(outcome) or deferred)
    if isinstance(decision, Done):
        assert isinstance(outcome, Fetched)


@given(st.integers(min_value=-5, max_value=10**9))
def test_backoff_doubles_within_bounds(n: int) -> None:
    wait = backoff(60.0, 86_400.0, n)
    assert 60 <= wait <= 86_400
    assert backoff(60.0, 86_400.0, n + 1) in (wait, min(2 * wait, 86_400.0))


def test_the_first_rest_may_be_the_longest() -> None:
    config = RetryConfig(host_first=7.0, not_found_first=7.0, host_longest=7.0)
    assert backoff(config.host_first, config.host_longest, 3) == 7.0


@pytest.mark.parametrize(
    "bad",
    [{"host_first": 100, "host_longest": 10}, {"host_attempts": 0}, {"url_waits": [-1]}, {"waits": []}],
)
def test_bad_configuration_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(bad, RetryConfig)


@pytest.mark.parametrize(("asked", "wait"), [(None, 0.25), ("0", 0.25), ("7", 7.0)])
def test_a_url_waits_as_configured_however_short_and_as_long_as_it_asks(
    asked: str | None, wait: float
) -> None:
    headers = {} if asked is None else {"Retry_After": asked}
    decided = decide(fetched(500, **headers), 0, FRESH, NOW, RetryConfig(url_waits=(0.25,)))
    assert isinstance(decided, Retry)
    assert (decided.wait, decided.blame) == (wait, Blame.URL)
