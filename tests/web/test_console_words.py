"""The catalogue: the same keys in every language, no key without use, no use without key."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

from gossamer import replay, report
from gossamer.audit import outputs
from gossamer.control.changes.operations import OPERATIONS
from gossamer.daemon.allocation.claims import RESOURCES
from gossamer.daemon.daemon import _CHANGE_NOTHING
from gossamer.daemon.jobs.job import JobState
from gossamer.model.outcome import Fault, Rule
from gossamer.web import console
from gossamer.web.console import story
from gossamer.web.console.jobs import acts as job_acts
from gossamer.web.console.jobs import lists as job_lists
from gossamer.web.console.jobs import live_settings, new_job
from gossamer.web.console.renderer import TABS
from gossamer.words import catalogue as words
from gossamer.words.amounts import LANGUAGES

FOLDER = Path(console.__file__).parent
REPORT = "\n".join(
    path.read_text("utf-8")
    for package in (report, outputs)
    for path in sorted(Path(package.__file__).parent.glob("*.py"))
)
TEXTS = "\n".join(
    path.read_text("utf-8")
    for path in (
        *FOLDER.rglob("*.py"),
        *Path(replay.__file__).parent.glob("*.py"),
        *(FOLDER / "templates").rglob("*.html"),
        Path(words.__file__),
    )
)
ENGLISH = words.Words("en").table
CALLED = set(re.findall(r"""\b(?:t|words|self)\(\s*['"]([a-z_.]+[a-z])['"]""", TEXTS + REPORT))
"""Keys written out."""
CALLED |= {
    f"report.{key}" for key in re.findall(r"""["']([a-z_]+)["']""", REPORT) if f"report.{key}" in ENGLISH
}
CALLED |= {f"report.{key}" for key in re.findall(r"""say\(["']([a-z_]+)["']""", REPORT)}
GROUPS = {
    *re.findall(r"""said\(\s*['"]([a-z_]+)['"]""", TEXTS + REPORT),
    *re.findall(r"""\bt\(['"]([a-z_]+)\.['"] ~""", TEXTS),
    *re.findall(r"""\bt\(\s*f"([a-z_]+)\.{""", TEXTS),
    *re.findall(r"""\bt\(['"]([a-z_]+\.[a-z]+)_['"] ~""", TEXTS),
    *re.findall(r"""\bt\.has\(['"]([a-z_]+)\.['"] ~""", TEXTS),
    "make_search",
    "mode",
    "order",
    "preset",
    "requisites",
    "sort",
    "how",
    "missing",
    *story._GROUPS.values(),
}
"""First parts of keys whose last part is a value."""


def places(text: str) -> set[str]:
    """Names in braces, those that only choose between words left out."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None and "|" not in name}


def _beginnings(key: str) -> set[str]:
    return {key.partition(".")[0], key.rpartition("_")[0]}


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_every_language_says_the_same(language: str) -> None:
    other = words.Words(language).table
    assert other.keys() == ENGLISH.keys()
    for key, text in other.items():
        assert text, key
        assert places(text) == places(ENGLISH[key]), key


def test_chinese_is_chinese() -> None:
    same = [
        key
        for key, text in words.Words("zh").table.items()
        if len(re.sub("{[^}]*}", "", text)) > 8 and not re.search("[\u4e00-\u9fff]", text)
    ]
    assert same == ["host.crawl_delay", "field.crawl_delay"]


def test_every_key_that_is_called_is_there() -> None:
    assert {key for key in CALLED if key not in ENGLISH} == set()


def test_every_key_is_called() -> None:
    unused = {key for key in ENGLISH if key not in CALLED and not GROUPS & _beginnings(key)}
    assert unused == set()


def test_every_value_of_our_own_has_its_word() -> None:
    wanted = [
        *(f"tab.{tab}" for tab in TABS),
        *(f"act.{act}" for act in job_acts.ACTS),
        *(f"act_hint.{act}" for act in job_acts.ACTS),
        *(f"done.{act}" for act in job_acts.ACTS),
        *(f"done.host_{act}" for act in job_lists.HOST_ACTS),
        *(f"kind.{kind}" for kind in job_lists.KINDS if kind),
        *(f"set.{field.name}" for field in new_job.FIELDS),
        *(f"set_hint.{field.name}" for field in new_job.FIELDS),
        *(f"{field.name}.{one}" for field in new_job.FIELDS for one in field.choices),
        *(f"new.group_{name}" for name, _ in new_job.GROUPS),
        *(f"set.{field.label}" for _, fields in live_settings.GROUPS for field in fields),
        *(f"settings.group_{name}" for name, _ in live_settings.GROUPS),
        *(f"resource.{name}" for name in RESOURCES),
        *(f"resource_short.{name}" for name in RESOURCES),
        *(f"state.{state}" for state in JobState),
        *(f"fault.{one}" for one in (*Fault, *Rule)),
    ]
    assert [key for key in wanted if key not in ENGLISH] == []


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en;q=0.3, zh;q=0.9", "zh"),
        ("de, fr;q=0.5", "en"),
        ("zh;q=0, de", "en"),
        ("zh;q=nonsense", "en"),
        ("", "en"),
        ("," * 2000, "en"),
    ],
)
def test_the_browser_says_which_language(header: str, language: str) -> None:
    assert words.preferred(header) == language


def journal() -> set[str]:
    """What the journal of operators and the log of changes call what was done."""
    second, fourth = ("note", "_note", "_noted"), ("_want",)
    found = {"host.rest", "host.park", "host.revive", "traps.release", *OPERATIONS} - _CHANGE_NOTHING
    for path in FOLDER.parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                place = {**dict.fromkeys(second, 1), **dict.fromkeys(fourth, 3)}.get(node.func.attr, 99)
                for inner in ast.walk(node.args[place]) if len(node.args) > place else ():
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                        found.add(inner.value)
    return found


@pytest.mark.slow
def test_all_that_is_written_into_the_journal_has_its_word() -> None:
    done = journal()
    assert {"stop now", "crash", "log-out", "host_rest"} <= done
    assert {action for action in done if f"did.{action}" not in ENGLISH} == set()
    assert {key for key in ENGLISH if key.startswith("did.")} == {f"did.{action}" for action in done}


def test_a_text_with_a_number_agrees_with_it() -> None:
    english = words.words("en")
    assert english("new.problems", n=1).startswith("1 thing is")
    assert english("new.problems", n=3).startswith("3 things are")


def test_a_value_that_nobody_foresaw_speaks_for_itself() -> None:
    assert words.words("zh").said("state", "levitating") == "levitating"
    assert words.words("xx").language == "en"
