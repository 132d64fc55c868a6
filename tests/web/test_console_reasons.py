"""Reasons in the reader's language: our own sentences are translated, what servers say is not."""

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gossamer.daemon.config import RestartConfig
from gossamer.daemon.jobs.restart import Ending, judge
from gossamer.frontier.gates.shared_gate import SHARED
from gossamer.frontier.queues.revival import BY_OPERATOR
from gossamer.inspect.hosts import doing
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.url import Url
from gossamer.policy.ordering.best import BestConfig, BestFirst
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.robots.access import AllowAll, Hold, RobotsConfig, access_for
from gossamer.policy.scope.scope import Mode, Scope, ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig, trap_reason
from gossamer.policy.visits.budget import (
    BudgetConfig,
    Spent,
    crawl_limit_reached,
    domain_limit_reached,
    host_limit_reached,
)
from gossamer.policy.visits.retry import HostFailures, RetryConfig, decide
from gossamer.state.records import HostRecord
from gossamer.web.console.reasons import reason_text
from gossamer.words.catalogue import words

EN, ZH = words("en"), words("zh")
KEPT = re.compile(
    "from elsewhere|bob|/x/\\*|robots|Location|URL|a\\.test|https?|ftp|ZeroDivisionError: .*"
    "|mode \\w+|include|exclude|requisites \\w+|rel=nofollow|nofollow|Disallow:"
)
"""What is the same in every language: names of settings and fields, and what others have said."""
SPENT = Spent(pages=50, bytes=50, time=50.0)
LONG_ROW = HostFailures(count=20, since=0.0)


def url_of(text: str) -> Url:
    """A URL that is one."""
    url = Url.parse(text)
    assert url is not None
    return url


def of_hosts() -> list[str]:
    """What crawls say of hosts and URLs, by the code that says it."""
    later = HostRecord("a.test", waiting=1, later_due=1 << 40)
    aside = HostRecord("a.test", queued=2, aside=2)
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
    ]


def of_urls() -> list[str]:
    """Why URLs belong to a crawl or do not, by the rules that say it."""
    page = "http://a.test/x?a=1"
    looks = TrapConfig(max_segments=30, max_embedded=1, max_repeats=2, max_parameters=3, max_same_parameter=2)
    targets = (
        "/x" * 40, "/http://b/http://c", "/a/b/b/b/b", "/s/t" * 9, "/?a=1&b=2&c=3&d=4", "/?a=1&a=2&a=3",
        "/%252525252525", "/?a=1&amp;amp;amp;amp;amp;b",
    )  # fmt: skip
    said = [trap_reason(url_of("http://a.test" + target), looks) or "" for target in targets]
    deep = Candidate(url_of(page), LinkKind.NAVIGATION, 9, "L" * 9, "http://a.test/")
    moved = Candidate(url_of(page), LinkKind.REDIRECT, 0, "RRRR", "http://a.test/")
    image = Candidate(url_of("http://b.test/i.png"), LinkKind.REQUISITE, 1, "E", "http://a.test/")
    seeds = [url_of("http://a.test/d/")]
    for mode in get_args(Mode):
        scope = Scope(ScopeConfig(mode=mode), seeds)
        said += [scope.judge(Candidate(url_of(at))).detail for at in ("http://a.test/d/x", "http://b.test/")]
    for config, candidate in (
        (ScopeConfig(max_depth=2), deep),
        (ScopeConfig(max_hops=3), deep),
        (ScopeConfig(max_redirects=2), moved),
        (ScopeConfig(), image),
        (ScopeConfig(requisites="any"), image),
        (ScopeConfig(block=("a.test",)), deep),
        (ScopeConfig(include=("from elsewhere", "x")), deep),
        (ScopeConfig(exclude=("x",)), deep),
        (ScopeConfig(max_url_length=4), deep),
        (ScopeConfig(), Candidate(url_of("ftp://a.test/"))),
        (ScopeConfig(), Candidate(url_of("http://b.test/robots.txt"), LinkKind.ROBOTS)),
    ):
        verdict = Scope(config, seeds).judge(candidate)
        said += [verdict.detail, f"{verdict.rule}: {verdict.detail}"]
    for rule in (lambda _: True, lambda _: False, lambda _: 1 // 0):
        rule.__qualname__ = "from elsewhere"
        said.append(Scope(ScopeConfig(), seeds, rules=[rule]).judge(deep).detail)
    return [*said, "no rule admits it", "directive: rel=nofollow", "robots: Disallow: from elsewhere"]


def of_visits() -> list[str]:
    """What was noticed at visits, and of robots files."""
    return [
        "cut by length",
        "leads nowhere: from elsewhere",
        "extract: 12 of 100 bytes were left unread",
        "robots: redirected",
        "robots: rules",
        "robots: closed (address_forbidden: from elsewhere)",
        "robots file redirected to from elsewhere",
        "decoding: from elsewhere",
        "address_forbidden: scope: host a.test is blocked",
        "retry",
    ]


def of_worth() -> list[str]:
    """The parts of what a URL is worth under the orders that learn from links."""
    at = Candidate(url_of("http://a.test/"), LinkKind.NAVIGATION, 1, "L", "http://b.test/")
    inside = Candidate(url_of("http://a.test/x"), LinkKind.NAVIGATION, 1, "L", "http://a.test/")
    said = []
    for order in (Opic(OpicConfig()), BestFirst(BestConfig())):
        for candidate in (at, inside):
            said += order.explain(candidate, order.admitted(candidate, None)).values()
    return [one for one in said if not re.fullmatch(r"[\d.]+", one)]


def of_jobs() -> list[str]:
    """What the daemon says of jobs."""
    endings = [
        Ending(status=-9), Ending(status=None, words="from elsewhere"), Ending(status=1), Ending(status=3),
        Ending(status=130, report="interrupted"), Ending(status=0, report="finished"),
        Ending(status=1, report="unreachable", visited=True),
    ]  # fmt: skip
    said = [judge(ending, 0, RestartConfig()).reason for ending in endings]
    return [*(text for text in said if text), "paused by bob", f"paused by bob; {said[0]}", "quiet hours"]


ALL = sorted({*of_hosts(), *of_urls(), *of_visits(), *of_worth(), *of_jobs()})


@pytest.mark.parametrize("text", ALL)
def test_what_we_say_is_said_in_chinese(text: str) -> None:
    assert text
    said = reason_text(text, ZH)
    assert re.search("[\u4e00-\u9fff]", said), said
    assert not re.search("[A-Za-z]{3}", KEPT.sub("", said)), said
    assert ("from elsewhere" in text) == ("from elsewhere" in said)


@pytest.mark.parametrize("text", ALL)
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
