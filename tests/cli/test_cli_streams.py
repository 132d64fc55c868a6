"""Standard streams that are closed, full or gone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def _run(folder: Path, redirections: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "gossamer", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("redirections", ["<&- >&- 2>&-", "2>&-", "2>/dev/full"])
def test_a_crawl_that_nobody_listens_to_is_a_crawl(site: str, tmp_path: Path, redirections: str) -> None:
    ran = _run(tmp_path, redirections, "crawl", site, "--dir", "d", "--min-delay", "0", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout[:1] in ("{", ""), "nothing but the report"
    checked = _run(tmp_path, "", "check", "d")
    assert "all is well" in checked.stdout


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("config",), ("crawl", "SITE", "--max-pages", "1", "--min-delay", "0", "--json")],
)
def test_results_that_cannot_be_written_are_one_clear_error(
    site: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    words = (site if word == "SITE" else word for word in arguments)
    ran = _run(tmp_path, ">/dev/full", *words)
    assert ran.returncode == 3
    assert "No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    pipe = f"{sys.executable} -m gossamer config | head -n 1"
    ran = subprocess.run(["sh", "-c", pipe], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.count("\n") == 1
    assert ran.stderr == ""


@pytest.mark.parametrize("argument", ["config", "--help", "--version"])
def test_nobody_who_reads_is_no_error(argument: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "gossamer", argument]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_nobody_who_reads_a_table_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    printed = (
        "import sys; from gossamer.cli import main\nfrom gossamer.cli.options import commands\n"
        "from gossamer.cli.terminal.tables import Printer\n"
        "commands.app.commands['config'].callback = lambda **_: Printer().print('x'); sys.argv[1:] = ['config']; main()"
    )
    command = [sys.executable, "-c", printed]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_pipe_of_a_library_that_breaks_is_an_error() -> None:
    broken = (
        "import sys; from gossamer.cli import main\nfrom gossamer.cli.options import commands\n"
        "def call(**_): raise BrokenPipeError(32, 'Broken pipe')\n"
        "commands.app.commands['config'].callback = call; sys.argv[1:] = ['config']; main()"
    )
    ran = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (3, "gossamer: Broken pipe\n")


@pytest.mark.slow
def test_titles_in_any_script_can_be_shown_and_read_by_programs(site: str, tmp_path: Path) -> None:
    folder = tmp_path / "Straße 漢"
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "gossamer"]
    crawl = [
        *command,
        "crawl",
        f"{site}/b.html",
        "--dir",
        str(folder),
        "--max-pages",
        "1",
        "--min-delay",
        "0",
    ]
    done = subprocess.run([*crawl, "--json"], env=ascii_only, capture_output=True, check=True)
    assert json.loads(done.stdout)["pages"] == 1
    shown = subprocess.run([*command, "status", str(folder)], env=ascii_only, capture_output=True, check=True)
    assert b"Stra\\xdfe \\u6f22" in shown.stdout
    told = subprocess.run(
        [*command, "status", str(folder), "--json"], env=ascii_only, capture_output=True, check=True
    )
    assert json.loads(told.stdout)["folder"] == str(folder)
