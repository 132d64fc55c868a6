"""Holds what a tool said against the table."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.audit_farm.behaviours import Home
from benchmarks.audit_farm.cases import SITE, Case
from benchmarks.audit_farm.notes import Noted, answered, overlaps, shortest_gaps
from benchmarks.audit_farm.tools import Finding, Run, Saying, address

ABSENT = "absent"
"""What a tool says of a link that it does not name."""
_SAMPLES = 40
_FRAGMENT_RULES = ("fragment", "anchor")


class Said:
    """What a tool said of each case."""

    def __init__(self, run: Run, all_cases: Sequence[Case]) -> None:
        self._by_address: defaultdict[str, list[Saying]] = defaultdict(list)
        self._by_text: defaultdict[str, list[Saying]] = defaultdict(list)
        for saying in run.sayings:
            self._by_address[address(saying.url)].append(saying)
            for text in saying.texts:
                self._by_text[text.partition(" ")[0]].append(saying)
        self._findings: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in run.findings:
            self._findings[address(finding.url)].append(finding)
        self.verdicts = {case.name: self._verdict(case) for case in all_cases}

    def sayings(self, case: Case) -> list[Saying]:
        """About its link: by its address, else by its text, else by its address without the fragment."""
        whole = address(case.href)
        found = self._by_address.get(whole) or self._by_text.get(case.name)
        return found or self._by_address.get(whole.partition("#")[0], [])

    def finding(self, case: Case, part: str) -> bool:
        """Whether a rule of such a name was told of its link, of its page, or of its whole host."""
        whole = address(case.href)
        here = [finding for url, found in self._findings.items() if _same(url, whole) for finding in found]
        return any(part in finding.rule for finding in here)

    def _verdict(self, case: Case) -> str:
        found = {saying.verdict for saying in self.sayings(case)}
        base = {saying.verdict for saying in self._by_address.get(address(case.href).partition("#")[0], ())}
        if "broken" in found | base:
            return "broken"
        if "#" in case.href and self._absent_fragment(case):
            return "broken"
        return next(iter(sorted(found)), ABSENT)

    def _absent_fragment(self, case: Case) -> bool:
        """A finding may say it, too, if it is more than a note."""
        return any(
            any(part in finding.rule for part in _FRAGMENT_RULES) and finding.level in ("error", "warning")
            for finding in self._findings.get(address(case.href), ())
        )


def _same(told: str, whole: str) -> bool:
    """Whether what was told of is the link, its page or the front of its host."""
    page = whole.partition("#")[0]
    host = "/".join(page.split("/")[:3])
    return told.rstrip("/") in (whole, page, host)


def judge(run: Run, all_cases: Sequence[Case]) -> dict[str, Any]:
    """Figures of one run; shares in percent."""
    said = Said(run, all_cases)
    verdicts = said.verdicts
    must = [case for case in all_cases if case.must_be_broken]
    must_not = [case for case in all_cases if case.must_not_be_broken]
    falsely = [case for case in must_not if verdicts[case.name] == "broken"]
    missed = [case for case in must if verdicts[case.name] != "broken"]
    return {
        "falsely_broken": _percent(len(falsely), len(must_not)),
        "missed_broken": _percent(len(missed), len(must)),
        "falsely_broken_behaviours": _counted(falsely),
        "missed_broken_behaviours": _counted(missed),
        "absent": _counted(case for case in all_cases if verdicts[case.name] == ABSENT and _is_page(case)),
    }


def judge_words(run: Run, all_cases: Sequence[Case], site: str) -> dict[str, Any]:
    """What only a tool that has our verdicts can be held to: the very verdict, targets, findings, pages and texts.

    `site`: what the addresses of the site begin with.
    """
    said = Said(run, all_cases)
    named = [case for case in all_cases if said.verdicts[case.name] != ABSENT]
    wrong = [case for case in named if said.verdicts[case.name] not in case.behaviour.truth]
    moved = [case for case in named if case.target and said.verdicts[case.name] == "moved"]
    elsewhere = [case for case in moved if address(case.target) not in _targets(said, case)]
    wanted = [case for case in all_cases if case.behaviour.finding]
    untold = [case for case in wanted if not said.finding(case, case.behaviour.finding)]
    texted = [case for case in named if case.behaviour.element == "a"]
    pages_short = [case for case in texted if not _held(said, case, site)]
    return {
        "wrong_verdict": _percent(len(wrong), len(named)),
        "wrong_verdicts": Counter(
            f"{case.behaviour.name}: {said.verdicts[case.name]} not {'/'.join(sorted(case.behaviour.truth))}"
            for case in wrong
        ),
        "wrong_target": _percent(len(elsewhere), len(moved)),
        "wrong_targets": [
            f"{case.name}: {_targets(said, case)} not {case.target}" for case in elsewhere[:_SAMPLES]
        ],
        "untold_finding": _percent(len(untold), len(wanted)),
        "untold_findings": _counted(untold),
        "pages_short": _percent(len(pages_short), len(texted)),
        "pages_short_behaviours": _counted(pages_short),
    }


def judge_requests(noted: Sequence[Noted], all_cases: Sequence[Case]) -> dict[str, Any]:
    """How foreign hosts were treated; the site's own is left out."""
    foreign = [one for one in noted if one.host != SITE]
    by_host = Counter(one.host for one in foreign)
    gaps = shortest_gaps(foreign)
    tightest = min(gaps, key=gaps.__getitem__, default="")
    forbidden = {case.host for case in all_cases if case.behaviour.name == "robots-forbidden"}
    return {
        "requests": len(foreign),
        "requests_to_the_site": len(noted) - len(foreign),
        "hosts": len(by_host),
        "requests_a_host": round(len(foreign) / max(len(by_host), 1), 2),
        "requests_a_host_most": max(by_host.values(), default=0),
        "methods": Counter(one.method for one in foreign),
        "shortest_gap": round(gaps[tightest], 4) if tightest else None,
        "shortest_gap_host": tightest,
        "shortest_gap_of_those_who_answer": round(
            min(shortest_gaps(answered(foreign)).values(), default=0.0), 4
        ),
        "hosts_with_gap_below_half_a_second": sum(gap < 0.5 for gap in gaps.values()),
        "overlapping": overlaps(foreign),
        "asked_though_robots_forbid": Counter(
            one.method for one in foreign if one.host in forbidden and one.target != "/robots.txt"
        ),
        "most_for_a_case": Counter(one.case for one in foreign if one.case).most_common(5),
    }


def _targets(said: Said, case: Case) -> set[str]:
    return {address(saying.target) for saying in said.sayings(case)}


def _held(said: Said, case: Case, site: str) -> bool:
    """Whether all that hold it are told, each with the text: a case is on two pages, or on one twice."""
    sayings = said.sayings(case)
    pages = {page for saying in sayings for page in saying.pages if page.startswith(site)}
    texts = {text for saying in sayings for text in saying.texts if text.startswith(case.name)}
    return len(pages) == len(texts) > 0


def _is_page(case: Case) -> bool:
    return case.behaviour.home is not Home.NOWHERE


def _counted(found: Iterable[Case]) -> Mapping[str, int]:
    return Counter(case.behaviour.name for case in found)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0
