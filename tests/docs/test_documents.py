"""What the documents say is true: links lead somewhere, commands and snippets run, tables are complete."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from every import every
from small_site import small_site

from gossamer.cli.options.commands import app
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import commented_toml, load

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "benchmarks/README.md")
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]
MADE = {
    ROOT / "docs" / name
    for name in (
        *("contributing.md", "security.md", "changelog.md", "decisions.md"),
        *(f"reference/{name}.md" for name in ("commands", "settings", "rest", "python")),
    )
}
"""Pages that `scripts/docs_pages.py` makes when the site is built (tests/docs/test_site.py)."""
README = (ROOT / "README.md").read_text(encoding="utf-8")
COVERAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

REQUIREMENTS = {"Z": 7, "B": 6, "W": 17, "K": 18, "D": 7}
STATES = ("met", "part", "open")


def blocks(text: str, language: str) -> list[str]:
    """The contents of fenced blocks."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def rows(text: str) -> dict[str, list[str]]:
    """Cells of table rows by their first cell."""
    lines = (line for line in text.splitlines() if line.startswith("| "))
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {row[0]: row[1:] for row in cells}


def prose(path: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(path: Path) -> set[str]:
    """Of a page's headings, as both GitHub and mkdocs make them."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in plain}


def test_anchors_are_those_of_headings(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# How to\n```\n# no heading\n```\n## Nothing [lost](x.md), `kill -9`\n")
    assert anchors(page) == {"how-to", "nothing-lost-kill--9"}


@every("path", DOCUMENTS)
def test_links_lead_somewhere(path: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", prose(path)):
        if "://" in target or target.startswith("mailto:"):
            continue
        there = (path.parent / target).resolve() if target else path
        assert there.exists() or there in MADE, target
        assert there in MADE or there.is_relative_to(ROOT), target
        if anchor and there not in MADE:
            assert there.suffix == ".md", f"{target}#{anchor}: an anchor of what is no page"
            assert anchor in anchors(there), f"{target}#{anchor}"


def pages_of(nav: object) -> Iterator[str]:
    """Files of a navigation of mkdocs, at any depth."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, list):
        for one in nav:
            yield from pages_of(one)
    elif isinstance(nav, dict):
        yield from pages_of(list(nav.values()))


def test_every_page_is_in_the_navigation() -> None:
    nav = set(pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    docs = ROOT / "docs"
    written = {str(path.relative_to(docs)) for path in docs.rglob("*.md")}
    decisions = {name for name in written if name.startswith("decisions/")}  # listed by decisions.md
    assert nav == (written - decisions) | {str(path.relative_to(docs)) for path in MADE}


READERS = ("archivist", "data scientist", "site owner", "search engineer")


@pytest.mark.parametrize("reader", READERS)
def test_each_reader_has_a_path_with_an_end(reader: str) -> None:
    """The same pages in README and on the first page; a guide leads on, as far as the path's last page."""
    [row] = [line for line in README.splitlines() if f"({reader})" in line]
    path = re.findall(r"\]\(docs/([^)#]+)", row)
    assert len(path) >= 3
    first_page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    section = first_page.partition(f"({reader})")[2].partition("\n#")[0]
    assert set(path) <= set(re.findall(r"\]\(([^)#]+)", section))
    for name in path[:-1]:
        assert "\nNext: " in (ROOT / "docs" / name).read_text(encoding="utf-8") or name == "operating.md"


ENTRY = re.compile(
    r"^- \*\*(?P<name>[A-Z]\d+), (?P<state>\w+)\.\*\* (?P<asks>.+)"
    r"(?:\n  Code: (?P<code>.+))?(?:\n  Test: (?P<test>.+))?$",
    re.MULTILINE,
)


def test_every_requirement_is_told() -> None:
    entries = {entry["name"]: entry for entry in ENTRY.finditer(COVERAGE)}
    wanted = {f"{letter}{number}" for letter, last in REQUIREMENTS.items() for number in range(1, last + 1)}
    assert set(entries) == wanted
    assert len(ENTRY.findall(COVERAGE)) == len(wanted)
    states = [entry["state"] for entry in entries.values()]
    assert set(states) <= set(STATES)
    assert (
        "Of {}, {} are met, {} in part, {} open.".format(len(states), *map(states.count, STATES)) in COVERAGE
    )
    for name, entry in entries.items():
        assert len(entry["asks"].split()) >= 4, f"{name}: no sentence"
        assert entry["asks"].endswith("."), f"{name}: no sentence"
        if entry["state"] == "met" and name not in ("B2", "B3", "B4", "B5", "B6"):  # as B1
            assert "](../src/" in (entry["code"] or ""), f"{name}: no module"
            assert "](../tests/" in (entry["test"] or ""), f"{name}: no test"
        if entry["state"] == "open":
            assert not entry["code"] and not entry["test"], f"{name}: open, but something stands there"


def test_every_dependency_has_its_reason() -> None:
    decision = (ROOT / "docs" / "decisions" / "0001-dependencies.md").read_text(encoding="utf-8")
    table = rows(decision)
    ranges = {}
    for requirement in PROJECT["dependencies"]:
        name, bounds = re.fullmatch(r"([a-z0-9-]+)(.*)", requirement).groups()
        ranges[name] = bounds
    listed = {name: row[0] for name, row in table.items() if name in ranges or re.match(r">=", row[0])}
    assert listed == ranges
    for extra in PROJECT["optional-dependencies"].values():
        for requirement in extra:
            name = re.split("[<>=]", requirement)[0]
            assert f"**{name}**" in decision or f"**{name.partition('[')[0]}**" in decision, requirement


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [path.name[:4] for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]


def test_the_printed_configuration_is_the_default() -> None:
    text = commented_toml(CrawlConfig)
    assert load(CrawlConfig, tomllib.loads(text)) == CrawlConfig()


def options_of(command: click.Command) -> set[str]:
    """Of a group, those of its commands too."""
    options = {name for parameter in command.params for name in parameter.opts}
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        options |= options_of(inner)
    return options


def test_options_in_the_text_exist() -> None:
    known = {"--seeds"}
    for command in app.commands.values():
        known |= options_of(command)
    mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+[a-z]", README))
    assert mentioned <= known | {"--max", "--help"}


PAGES = {
    "": '<title>Home</title><a href="two.html">2</a> <a href="calendar/">c</a>',
    "two.html": "<title>Two</title>",
    "calendar/": "<title>Today</title>",
}


@pytest.fixture
def site() -> Iterator[str]:
    with small_site(PAGES.get) as address:
        yield address


SNIPPETS = blocks((ROOT / "docs" / "how-to" / "python.md").read_text(encoding="utf-8"), "python")
PRINTED = [("200 SITE Home 69", "two.html Two", "calendar/ Today"), ("SITE 4", "SITEtwo.html 1")]
"""What each snippet prints of the site, line by line."""


@pytest.mark.parametrize(
    ("source", "lines"), list(zip(SNIPPETS, PRINTED, strict=True)), ids=["pages", "plug-ins"]
)
def test_snippets_of_python_run(
    source: str,
    lines: tuple[str, ...],
    site: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    source = source.replace("https://example.org/", site)
    # As it stands a snippet is polite, which takes seconds.
    hasty = re.sub(r"gossamer\.crawl\(([^,]+),", r"gossamer.crawl(\1, min_delay=0,", source)
    assert hasty != source
    exec(compile(hasty, "python.md", "exec"), {"__name__": "snippet"})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(lines)
    for line, words in zip(printed, lines, strict=True):
        assert words.replace("SITE", site) in line


def test_the_architecture_names_what_there_is() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text[text.index("## Where to begin") : text.index("## What must stay true")]
    named = re.findall(r"`([a-z_]+/(?:[a-z_/]+\.(?:py|toml|html|css|js))?)`", table.partition("\n|")[2])
    assert named and [name for name in named if not (ROOT / "src" / "gossamer" / name).exists()] == []
    cells = [cell.strip() for line in text.splitlines() if line.startswith("|") for cell in line.split("|")]
    assert [cell for cell in cells if len(cell) > 420] == []  # a table is for the eye
    names = re.findall(r"`(\w+)` of `([a-z_/]+\.(?:py|toml))`", table)
    assert [
        name for name, path in names if name not in (ROOT / "src" / "gossamer" / path).read_text("utf-8")
    ] == []


def test_the_architecture_names_all_who_read_records() -> None:
    """What a change of the archive's format must look at: who asks for kinds of records, and who else reads any."""
    source = ROOT / "src" / "gossamer"
    texts = {
        str(path.relative_to(source)): path.read_text("utf-8")
        for path in source.rglob("*.py")
        if path.relative_to(source).parts[0] != "archive"
    }
    by_kind = {name for name, text in texts.items() if "MAIN_KINDS" in text or "is_revisit" in text}
    readers = (
        r"^from gossamer\.(?:inspect\.)?archive\.\w+ import (?:.*|\([^)]*)"
        r"\b(read_record|open_archive_file|read_capture|indexed)\b"
    )
    reading = {
        name for name, text in texts.items() if ".archive." in text and re.search(readers, text, re.MULTILINE)
    }
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for start, wanted in (
        ("who asks for kinds of records", by_kind),
        ("who reads records", reading - by_kind),
    ):
        [row] = [line for line in text.splitlines() if f"| {start}" in line]
        told = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", row)
        lead = {path: {name for name in wanted if name.startswith(path)} for path in told}
        assert [path for path, names in lead.items() if not names] == []
        assert wanted == set().union(*lead.values())
