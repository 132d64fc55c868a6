"""What is wrong, in the reader's language, by the code that says it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.config.units import parse_duration, parse_size
from gossamer.daemon.allocation.claims import RESOURCES, Claim, claim_problems
from gossamer.daemon.jobs.job import name_problems
from gossamer.daemon.jobs.schedule import Schedule, schedule_problems
from gossamer.model.errors import ConfigError
from gossamer.web.console.problems import problem_text
from gossamer.words.catalogue import words

EN, ZH = words("en"), words("zh")
WRONG = (
    {"engine": {"workers": 0}},
    {"engine": {"workers": "x"}},
    {"engine": {"wokers": 1}},
    {"engine": {"levitate": 1}},
    {"politeness": {"min_delay": "soon"}},
    {"politeness": {"min_delay": -1}},
    {"politeness": {"factor": "x"}},
    {"scope": {"mode": "hst"}},
    {"scope": {"mode": "qqqqqq"}},
    {"scope": {"include": ["("]}},
    {"scope": {"include": "x"}},
    {"scope": {"hosts": ["a b"]}},
    {"scope": {"block": ["a/b"]}},
    {"scope": {"schemes": []}},
    {"scope": 5},
    {"budget": {"max_bytes": "12 XB"}},
    {"robots": {"obey": "maybe"}},
    {"fetch": {"contact": 5}},
    {"retry": {"url_waits": [1] * 101}},
)


def of_settings() -> list[str]:
    """What is wrong with values."""
    said: list[str] = []
    for tree in WRONG:
        with pytest.raises(ConfigError) as caught:
            load(CrawlConfig, tree)
        said += caught.value.problems
    for read, text in ((parse_duration, "soon"), (parse_size, "12 XB"), (parse_size, "1.5B")):
        with pytest.raises(ValueError, match="is not") as wrong:
            read(text)
        said.append(str(wrong.value))
    return said


def of_jobs() -> list[str]:
    """What is wrong with names, schedules and claims."""
    schedule = Schedule(cron="0 3 * * nonsense", quiet=("all day",), zone="Nowhere/AtAll")
    claim = Claim(connections=5, memory=1, bandwidth=0, disk=1, files=1, browser_pages=0)
    limits = dict.fromkeys(RESOURCES, 4)
    return [
        *name_problems("No Name"),
        *schedule_problems(schedule),
        *schedule_problems(Schedule(cron="0 0 31 2 *")),
        *claim_problems(claim, load(CrawlConfig, {}), limits),
    ]


WRITTEN = [
    "there is no job 'docs'",
    "nothing has been crawled yet",
    "/srv/x: nothing has been crawled yet. Run 'gossamer resume' first.",
    "'x y' is not a URL of a known scheme. Write it like https://example.org/page",
    "/srv/x: the crawl has not begun. Begin it with 'gossamer resume /srv/x'.",
    "host 'a.test' is not known to this crawl",
    "no branch '/x/' is set aside on a.test",
    "the crawl does not run, so 'pause' cannot be done: start it first",
    "the crawl does not answer just now: try again",
    "job docs is finished: 'pause' makes no sense now",
    "job docs runs, or is to: stop it first",
    "engine.workers: at most 12 are granted",
    "fetch.max_speed: at most 1200 bytes/s are granted",
    "change 3 was taken back by change 4",
    "cursor: 'x' is none of this list",
    "seeds: 'x' is not an http or https URL. Write it like https://example.org/",
]
ALL = sorted({*of_settings(), *of_jobs(), *WRITTEN})


@pytest.mark.parametrize("text", ALL)
def test_what_is_wrong_is_said_in_chinese(text: str) -> None:
    assert re.search("[\u4e00-\u9fff]", problem_text(text, ZH)), text


@pytest.mark.parametrize("text", ALL)
def test_in_english_it_stays_as_it_was(text: str) -> None:
    assert problem_text(text, EN) == text


@pytest.mark.parametrize("text", ["", "something new", "engine.workers: something new", "{n}", "x" * 9_999])
def test_what_nobody_foresaw_stays(text: str) -> None:
    assert problem_text(text, ZH) == text


@given(some.text())
def test_any_text_is_a_text(text: str) -> None:
    assert text in problem_text(f"engine.workers: expected a whole number, got {text}", ZH)


def test_what_looks_like_hundreds_of_paths_is_left_as_it_is() -> None:
    typed = "a: " * 600 + "expected true or false, got 5"
    assert problem_text(typed, ZH) == typed
    assert problem_text("a: b: expected true or false, got 5", ZH).startswith("a")
