"""The documentation as a site: it builds without a warning, and the tutorial can be followed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from test_documents import MADE, ROOT, app

sys.path.append(str(ROOT / "scripts"))
import docs_pages

BLOCK = re.compile(r"^```sh ?(?P<how>\w*)\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))


def test_made_pages_are_those_that_others_link_to() -> None:
    made = {*docs_pages.reference(), *docs_pages.FROM_ROOT, "decisions.md"}
    assert {ROOT / "docs" / name for name in made} == MADE


def test_the_reference_tells_everything() -> None:
    pages = docs_pages.reference()
    assert all(f"## gossamer {name}\n" in pages["reference/commands.md"] for name in app.commands)
    assert "### politeness.min_delay\n" in pages["reference/settings.md"]
    assert "| `POST` | `/api/v1/jobs` |" in pages["reference/rest.md"]
    assert "### crawl\n" in pages["reference/python.md"]
    assert "### ProtocolModule\n" in pages["reference/python.md"]


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the extra `docs` is not installed")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "site" / "reference" / "settings" / "index.html").exists()
    pages = "".join(page.read_text("utf-8") for page in (tmp_path / "site").rglob("*.html"))
    loaded = re.findall(
        r"<(?:script|img|iframe)[^>]+src=\"(https?:[^\"]+)|<link[^>]+stylesheet[^>]+href=\"(https?:[^\"]+)",
        pages,
    )
    assert loaded == []


def commands_in(path: Path, how: str) -> list[list[str]]:
    """Commands of a page's blocks of one kind."""
    found = BLOCK.finditer(path.read_text("utf-8"))
    return [
        shlex.split(line) for block in found if block["how"] == how for line in block["lines"].splitlines()
    ]


@pytest.mark.parametrize("path", HOW_TO, ids=lambda path: path.stem)
def test_commands_of_the_guides_are_understood(path: Path) -> None:
    for words in commands_in(path, ""):
        assert words[0] == "gossamer", words
        command = app.commands[words[1]]
        if isinstance(command, click.Group):
            command = command.commands[words[2]]
        known = {name for parameter in command.params for name in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, words


def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    page = ROOT / "docs" / "tutorial.md"
    [serve] = commands_in(page, "serve")
    assert serve[0] == "python"
    web = subprocess.Popen(
        [sys.executable, *serve[1:], "--announce"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    )
    try:
        assert web.stdout is not None
        web.stdout.readline()
        for words in commands_in(page, ""):
            assert words[0] == "gossamer", words
            ran = subprocess.run(
                [sys.executable, "-m", *words],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
        assert (tmp_path / "my-crawl" / "report.html").exists()
        assert list((tmp_path / "my-crawl" / "links").iterdir())
    finally:
        web.communicate(timeout=20)
