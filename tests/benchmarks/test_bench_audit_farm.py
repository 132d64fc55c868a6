"""The farm for link checkers: it behaves as its table says, and what was said is judged rightly."""

import http.client
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from benchmarks.audit_farm.behaviours import TABLE
from benchmarks.audit_farm.cases import Case, Ports, ascii_host, cases, site
from benchmarks.audit_farm.farm import Farm, farm
from benchmarks.audit_farm.judge import judge, judge_requests
from benchmarks.audit_farm.notes import Noted, overlaps, shortest_gaps
from benchmarks.audit_farm.tools import Finding, Run, Saying, address

PORTS = Ports(plain=8080, tls=8443, nginx=8081, dead=9, mute=7)


@pytest.fixture(scope="module")
def served() -> Iterator[Farm]:
    with farm(0.01) as opened:
        yield opened


def ask(served: Farm, name: str, method: str = "GET") -> tuple[int, str]:
    """Status and Location of the case's address, by another client than those that are judged."""
    case = next(case for case in served.all_cases if case.name == name)
    with_port, _, rest = case.href.removeprefix("http://").partition("/")
    there = http.client.HTTPConnection(
        served.hosts[case.host].addresses[0], int(with_port.rpartition(":")[2])
    )
    there.request(method, f"/{rest.partition('#')[0]}", headers={"Host": with_port})
    answer = there.getresponse()
    there.close()
    return answer.status, answer.headers.get("Location", "")


def run_of(said: dict[str, str], findings: tuple[Finding, ...] = ()) -> Run:
    return Run(0, 1.0, 1.0, [Saying(url, verdict) for url, verdict in said.items()], list(findings))


def test_the_table_is_large_enough_for_its_percents():
    dealt = list(cases(PORTS))
    assert len({behaviour.name for behaviour in TABLE}) == len(TABLE) >= 60
    assert len({address(case.href) for case in dealt if case.host}) == len(
        [case for case in dealt if case.host]
    )
    assert sum(case.must_be_broken for case in dealt) >= 100
    assert sum(case.must_not_be_broken for case in dealt) >= 200
    assert len({case.name for case in dealt}) == len(dealt)
    assert all(case.host == ascii_host(case.host) == case.host.lower() for case in dealt)


def test_every_link_is_on_the_site_twice():
    dealt = list(cases(PORTS))
    pages = site(PORTS, dealt)
    held = "".join(page for path, page in pages.items() if path.startswith("/page/"))
    found = Counter(re.findall(r">(?:<b>)?([\w-]+)(?:</b>)? on \d+</a>", held))
    assert found == {case.name: 2 for case in dealt if case.behaviour.element == "a"}


@pytest.mark.parametrize(
    ("case", "get", "head"),
    [
        ("page-0", 200, 200),
        ("404-0", 404, 404),
        ("head-404-0", 200, 404),
        ("head-and-get-404-0", 404, 405),
        ("301-0", 301, 301),
        ("query-0", 200, 200),
        ("429-long-0", 429, 429),
    ],
)
def test_servers_behave_as_the_table_says(served: Farm, case: str, get: int, head: int):
    assert ask(served, case)[0] == get
    assert ask(served, case, "HEAD")[0] == head


def test_what_fails_once_fails_once_in_each_run(served: Farm):
    for _ in range(2):
        served.forget()
        assert [ask(served, "500-once-0")[0] for _ in range(3)] == [500, 200, 200]
    assert [one.case for one in served.forget()] == ["500-once-0"] * 3


def test_a_moved_address_leads_where_the_table_says(served: Farm):
    moved = next(case for case in served.all_cases if case.name == "moved-query-0")
    status, location = ask(served, moved.name)
    assert (status, address(moved.href.partition("/moved")[0] + location)) == (301, address(moved.target))


def test_the_truth_is_judged_as_such():
    dealt = list(cases(PORTS, 0.3))
    told = judge(run_of({case.href: min(case.behaviour.truth) for case in dealt}), dealt)
    assert (told["falsely_broken"], told["missed_broken"], told["absent"]) == (0.0, 0.0, {})


@pytest.mark.parametrize(
    ("verdict", "figures"), [("broken", (100.0, 0.0)), ("well", (0.0, 100.0)), ("", (0.0, 100.0))]
)
def test_who_says_the_same_of_all_is_wrong_of_the_others(verdict: str, figures: tuple[float, float]):
    dealt = list(cases(PORTS, 0.3))
    told = judge(run_of({case.href: verdict for case in dealt if verdict}), dealt)
    assert (told["falsely_broken"], told["missed_broken"]) == figures


def named(name: str) -> list[Case]:
    return [case for case in cases(PORTS, 0.01) if case.behaviour.name == name]


@pytest.mark.parametrize(("level", "missed"), [("error", 0.0), ("warning", 0.0), ("note", 100.0)])
def test_a_fragment_that_is_absent_may_be_told_as_a_finding(level: str, missed: float):
    dealt = named("fragment-absent")
    finding = Finding("fragment-missing", dealt[0].href, level)
    assert judge(run_of({dealt[0].href: "well"}, (finding,)), dealt)["missed_broken"] == missed


def test_a_link_is_found_by_its_text_where_its_address_cannot_be_read():
    dealt = named("bad-host")
    run = Run(0, 1.0, 1.0, [Saying("?", "broken", (f"{dealt[0].name} on 3",))], [])
    assert judge(run, dealt)["missed_broken"] == 0.0


def test_gaps_are_between_beginnings_and_by_host():
    def noted(at: float, until: float, host: str) -> Noted:
        return Noted(at, until, host, "GET", "/", "", 200)

    seen = [noted(3, 3, "a"), noted(1, 2, "a"), noted(1.1, 1.2, "b"), noted(1.5, 1.6, "a")]
    assert shortest_gaps(seen) == {"a": 0.5}
    assert overlaps(seen) == 1
    assert judge_requests(seen, [])["requests_a_host_most"] == 3
