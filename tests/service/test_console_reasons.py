"""Reasons in the reader's language: our own sentences are translated, what servers say is not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gossamer.app.inspection import doing
from gossamer.frontier.later import TRAP
from gossamer.frontier.revival import BY_OPERATOR
from gossamer.frontier.shared_gate import SHARED
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.policy.budget import (
    BudgetConfig,
    Spent,
    crawl_limit_reached,
    domain_limit_reached,
    host_limit_reached,
)
from gossamer.policy.retry import HostFailures, RetryConfig, decide
from gossamer.policy.robots_access import AllowAll, Hold, RobotsConfig, access_for
from gossamer.service.config import RestartConfig
from gossamer.service.console.reasons import reason_text
from gossamer.service.console.words import words
from gossamer.service.restart import Ending, judge
from gossamer.state.keys import FOREVER
from gossamer.state.records import HostRecord

EN, ZH = words("en"), words("zh")
SPENT = Spent(pages=50, bytes=50, time=50.0)
LONG_ROW = HostFailures(count=20, since=0.0)


def of_hosts() -> list[str]:
    """What crawls say of hosts and URLs, by the code that says it."""
    later = HostRecord("a.test", waiting=1, later_due=1 << 40)
    aside = HostRecord("a.test", waiting=1, later_due=FOREVER)
    resting = HostRecord("a.test", queued=1, due=1 << 40)
    access = [
        access_for(status, fault, 0, RobotsConfig())
        for status, fault in (
            (404, None),
            (302, None),
            (503, None),
            (None, Fault.TIMEOUT),
            (None, Fault.UNSUPPORTED),
        )
    ]
    robots = [found.reason for found in access if isinstance(found, AllowAll | Hold)]
    waits = [
        decide(Failed(fault, "from elsewhere"), attempts, row, 1e9, RetryConfig())
        for fault in (Fault.CONNECT, Fault.TIMEOUT, Fault.NAME_NOT_FOUND, Fault.DECODING, Fault.RESET)
        for attempts in (0, 99)
        for row in (HostFailures(), LONG_ROW)
    ]
    budgets = [
        host_limit_reached(BudgetConfig(pages_per_host=5), SPENT),
        host_limit_reached(BudgetConfig(bytes_per_host=5), SPENT),
        domain_limit_reached(BudgetConfig(pages_per_domain=5), SPENT),
        domain_limit_reached(BudgetConfig(bytes_per_domain=5), SPENT),
        crawl_limit_reached(BudgetConfig(max_pages=5), SPENT),
    ]
    return [
        doing(later, 0)[2],
        doing(aside, 0)[2],
        doing(resting, 0)[2],
        *robots,
        f"robots: hold ({robots[-1]})",
        *(getattr(wait, "reason", "") for wait in waits),
        *(budget or "" for budget in budgets),
        decide(Refused(Rule.BUDGET, "pages_per_host 5"), 0, HostFailures(), 0.0, RetryConfig()).reason,
        BY_OPERATOR,
        f"{BY_OPERATOR}, for 600 s",
        SHARED,
        f"{TRAP}pattern /x/* yields nothing (0 of 40 pages)",
    ]


def of_jobs() -> list[str]:
    """What the daemon says of jobs."""
    endings = [
        Ending(status=-9), Ending(status=None, words="from elsewhere"), Ending(status=1), Ending(status=3),
        Ending(status=130, report="interrupted"), Ending(status=0, report="finished"),
        Ending(status=1, report="unreachable", visited=True),
    ]  # fmt: skip
    said = [judge(ending, 0, RestartConfig()).reason for ending in endings]
    return [*(text for text in said if text), "paused by bob", f"paused by bob; {said[0]}", "quiet hours"]


@pytest.mark.parametrize("text", sorted({*of_hosts(), *of_jobs()}))
def test_what_we_say_is_said_in_chinese(text: str) -> None:
    assert text
    said = reason_text(text, ZH)
    assert re.search("[\u4e00-\u9fff]", said), said
    ours = said.replace("from elsewhere", "").replace("bob", "").replace("/x/*", "").replace("robots", "")
    assert not re.search("[A-Za-z]{3}", ours.replace("Location", "").replace("URL", "")), said
    assert ("from elsewhere" in text) == ("from elsewhere" in said)


@pytest.mark.parametrize("text", sorted({*of_hosts(), *of_jobs()}))
def test_in_english_it_stays_what_it_was(text: str) -> None:
    numbers = re.compile(r"\d+")
    assert numbers.findall(reason_text(text, EN)) == numbers.findall(text)


@pytest.mark.parametrize(
    "text", ["", "503", "text/html", "something new", "{n} {0}", "no such: thing", "x" * 9_999]
)
def test_what_nobody_foresaw_stays(text: str) -> None:
    assert reason_text(text, ZH) == text


@given(some.text())
def test_any_text_is_a_text(text: str) -> None:
    assert isinstance(reason_text(text, ZH), str)
    assert reason_text(f"connect: {text}", EN).endswith(text) or not text


def test_reasons_within_reasons_end() -> None:
    deep = "robots: hold (" * 200 + "503" + ")" * 200
    assert len(reason_text(deep, ZH)) < len(deep) + 100
