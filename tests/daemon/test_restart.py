"""What becomes of a job whose process has ended."""

import pytest

from gossamer.daemon.config import RestartConfig
from gossamer.daemon.jobs.restart import Ending, Sentence, Verdict, judge
from gossamer.model.reasons.earlier import told_before

CONFIG = RestartConfig(first_wait=1.0, longest_wait=300.0, give_up=8)
KILLED = Ending(status=-9)


def sentence(crashes: int = 0, **known: object) -> Sentence:
    if "report" in known:
        known["report"] = told_before(str(known["report"]))
    return judge(Ending(**{"status": None, **known}), crashes, CONFIG)  # type: ignore[arg-type]


@pytest.mark.parametrize("report", ["finished", "max_pages 100", "max_time 2h"])
def test_an_ordinary_end_is_one_whatever_the_status(report: str) -> None:
    for status in (0, None, -9):  # killed after it had written its report
        assert sentence(status=status, report=report) == Sentence(Verdict.FINISHED, told_before(report))


def test_who_was_told_to_stop_is_stopped() -> None:
    assert sentence(status=130, report="interrupted", stopped=True) == Sentence(Verdict.STOPPED, None)
    assert sentence(status=-9, stopped=True).verdict is Verdict.STOPPED


def test_an_interruption_by_nobody_is_a_crash() -> None:
    assert sentence(status=130, report="interrupted").verdict is Verdict.AGAIN


def test_waits_double_up_to_the_longest_and_then_it_is_given_up() -> None:
    waits, crashes = [], 0
    while (found := judge(KILLED, crashes, CONFIG)).verdict is Verdict.AGAIN:
        waits.append(found.wait)
        crashes = found.crashes
    assert waits == [1, 2, 4, 8, 16, 32, 64]
    assert found.verdict is Verdict.FAILED and "8 ends in a row" in str(found.reason)
    assert judge(KILLED, 5, RestartConfig(longest_wait=10.0)).wait == 10.0


def test_a_visit_in_between_begins_the_count_anew() -> None:
    found = sentence(crashes=7, status=-9, progressed=True)
    assert (found.verdict, found.crashes, found.wait) == (Verdict.AGAIN, 1, 1.0)


def test_wrong_settings_are_not_tried_again() -> None:
    found = sentence(status=2, words="gossamer: engine.workers: too many")
    assert found.verdict is Verdict.FAILED and "engine.workers" in str(found.reason)


def test_a_disk_that_failed_is_given_time() -> None:
    assert sentence(status=3, report="failed", progressed=True).wait == 30.0


def test_seeds_that_were_never_reached_fail_but_a_network_that_is_away_comes_back() -> None:
    assert sentence(status=2, report="unreachable").verdict is Verdict.FAILED
    found = sentence(crashes=30, status=2, report="unreachable", visited=True)
    assert (found.verdict, found.wait) == (Verdict.AGAIN, 300.0)


def test_of_another_s_child_only_the_report_tells() -> None:
    assert sentence(report="finished").verdict is Verdict.FINISHED
    assert sentence().verdict is Verdict.AGAIN


def test_a_folder_that_somebody_else_had_is_tried_again() -> None:
    found = sentence(status=2, locked=True, words="another process is crawling into this folder.")
    assert found.verdict is Verdict.AGAIN
    assert sentence(status=2).verdict is Verdict.FAILED
