"""Commands in sentences can be copied: what a shell would take apart is quoted, by one function."""

import re
import shlex
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli.options.commands import COMPLETE, app, run
from gossamer.model.command_line import command_line

SOURCE = Path(__file__).parents[2] / "src" / "gossamer"
UNQUOTED = re.compile(rf"\bgossamer (?:{'|'.join(app.commands)})(?: [\w.-]+)* \{{(?!%)")
"""A value put into a sentence behind the name of a command, in Python, in a template or in a catalogue."""


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("/srv/crawl-1", "/srv/crawl-1"),
        (Path("/srv/my crawl"), '"/srv/my crawl"'),
        (Path("-d"), "./-d"),
        (Path("--my crawl"), '"./--my crawl"'),
        ("it's", '''"it's"'''),
        ("http://a.example/?b=1&c", '"http://a.example/?b=1&c"'),
        ("$HOME x", "'$HOME x'"),
        ("a\\b", "'a\\b'"),
        ("well!", "'well!'"),
        ("北京", '"北京"'),
        ("", "''"),
        ("NAME=VALUE", "NAME=VALUE"),
        (1, "1"),
    ],
)
def test_a_word_is_quoted_where_a_shell_would_take_it_apart(word: object, written: str) -> None:
    assert command_line("resume", word, "--release") == f"gossamer resume {written} --release"


@given(st.lists(st.text(max_size=8), max_size=3))
def test_a_shell_reads_the_words_that_were_meant(words: list[str]) -> None:
    assert shlex.split(command_line(*words)) == ["gossamer", *words]


def test_every_sentence_that_names_a_command_quotes_what_it_names() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {one[0]}"
        for path in sorted(SOURCE.rglob("*"))
        if path.suffix in (".py", ".html", ".toml")
        for one in UNQUOTED.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_example_of_each_command_can_be_copied_as_one_line() -> None:
    for command in (app, *app.commands.values()):
        if command.epilog:
            told = command.get_help(click.Context(command, terminal_width=80)).splitlines()
            assert f"  {command.epilog}" in told


def test_a_shell_is_told_how_a_line_could_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "gossamer resume --rel")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit) as ended:
        run()
    assert (ended.value.code, capsys.readouterr().out.split()) == (0, ["plain,--release"])
