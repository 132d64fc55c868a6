"""Every command of README and documentation is understood, and is run against a web on loopback."""

import asyncio
import contextlib
import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest
from every import every
from in_process import gossamer
from patience import PATIENCE
from ray_there import needs_ray, never_two_at_once
from small_site import Answer, small_site
from test_documents import DOCUMENTS, ROOT, app

from gossamer.control.socket.address import connected
from gossamer.control.socket.protocol import NotRunning

sys.path.append(str(ROOT / "tests" / "dns"))
from free_ports import free_port
from loopback_names import a, loopback_names, zone

BLOCK = re.compile(r"^```(sh|python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(gossamer [^`]+)`")

NOT_RUN = {
    "python3 -m venv": "makes an environment; CI makes its own",
    "pip install": "installs from the package index; CI runs the README's lines in a new environment",
    "gossamer dns --serve": "serves until it is interrupted; test_cli_names.py asks it",
    "podman": "makes an image and runs it; tried by hand in November 2026, test_container.py looks at the files",
    "docker": "as podman",
    "gossamer view": "serves until it is interrupted; tests/replay has browsers look",
    "wb-manager": "pywb is no dependency of ours; tried by hand with pywb 2.9 in November 2026",
    "wayback": "as wb-manager",
}
"""Commands that stand in blocks and are not run here, by their beginning."""
NOT_RUN_HERE = {
    "docs/how-to/fields.md": "test_six_programs.py runs its programs, test_cli_fields.py its commands",
    "docs/how-to/files.md": "needs servers of files: test_trees_of_files.py, test_remote_files.py have some",
    "docs/how-to/log-in.md": "needs a site with members: test_login_flow.py, test_cli_login.py have one",
    "docs/how-to/nice.md": "the process would keep its low priority: test_nice.py has some of its own",
    "docs/how-to/on-demand.md": "needs a proxy that runs: test_on_demand.py has curl ask one",
    "docs/how-to/signals.md": "needs crawls that run: test_live_signals.py, test_websub.py, test_indexnow.py",
    "docs/operating.md": "needs machines, Kubernetes, Ray; test_a_cluster_crawls_as_is_told does what it can",
    "benchmarks/README.md": "tests/benchmarks runs the benchmarks, small; a whole one takes minutes",
    "docs/performance-log.md": "as benchmarks/README.md",
    "CONTRIBUTING.md": "what it names is what CI runs",
    "docs/releasing.md": "CI runs scripts/release; a test makes no tags",
}
"""Pages whose blocks are not run here, with the reason; their `gossamer` commands are still parsed."""
NEEDS = {
    "gossamer sql": "duckdb",
    "gossamer export pages": "duckdb",
    "gossamer export visits": "pyarrow",
    "gossamer export files": "pyarrow",
    "gossamer index": "pypdfium2",
    "gossamer search": "tantivy",
    "gossamer crawl https://example.org/ --search": "tantivy",
    "gossamer similar": "pypdfium2",
    "gossamer export near_duplicates": "pyarrow",
    "gossamer get my-crawl https://example.org/ --markdown": "pypdfium2",
    "gossamer get my-crawl https://example.org/ --text": "pypdfium2",
    "gossamer crawl https://example.org/ --documents": "pypdfium2",
}
"""Packages of extras, without which a command is left out."""
PROGRAMS = {
    "docs/how-to/python.md": "test_documents.py runs them and looks at what they print",
    "docs/how-to/fields.md": "test_six_programs.py does",
}
"""Pages whose blocks of Python are run elsewhere."""
SHELL = set("|&;<>$`~*?[{")
ONLY_PROCESSES = "gossamer serve", "gossamer cluster", "gossamer view"
"""Commands that ask for a password, go on until they are stopped, or belong to Ray."""
FAILS = {
    "gossamer audit https://example.org/ --output my-audit": (1, "findings: 1 error"),
    "gossamer audit my-audit --html audit.html": (1, "findings: 1 error"),
    "gossamer audit http://127.0.0.1:8801/ --min-delay 0 --output audit": (1, "findings: 2 errors"),
    "gossamer resume my-crawl --release": (2, "no branch 'all' is set aside"),
    "gossamer diff my-crawl https://example.org/": (1, "nothing to compare it with"),
    "gossamer diff my-crawl https://example.org/ --ignore '.related' --ignore 'footer'": (
        1,
        "nothing to compare it with",
    ),
}
"""With which status and words commands end for which a small site gives no occasion."""
BROUGHT = {
    "gossamer status fresh/jobs/sites": "pages     3",
    "gossamer list tea": "200",
    "gossamer diff fresh/jobs/sites http": "+ EUR 80",
    "gossamer watch tea": "+ EUR 40",
}
"""Commands by their beginning, with what they say once the crawl beside them has made a visit."""
NAMED_PORTS = "8800", "8853", "8801", "8802"
SITE: dict[str, str | Answer] = {
    "": '<title>Home</title><a href="p/1">1</a> <a href="page">p</a> <a href="docs/">d</a> '
    '<a href="missing">m</a>'
    '<img src="/picture.png">',
    "page": "<title>A page</title><a href='/docs/some/page'>s</a> a solar eclipse",
    "docs/": "<title>Docs</title><a href='some/page'>s</a>",
    "docs/some/page": "<title>Some page</title>",
    "picture.png": (200, {"Content-Type": "image/png"}, "no picture"),
    "p/1": "<title>One</title><h1>One</h1><b class=price>EUR 1.299,50</b>",
}


class Block(msgspec.Struct, frozen=True):
    """A fenced block, with the text before it."""

    language: str
    text: str
    before: str

    def lines(self) -> list[str]:
        """Commands, those of several lines joined."""
        return [line for line in self.text.replace("\\\n", " ").splitlines() if line.strip()]


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text("utf-8")
    return [Block(found[1], found[2], text[: found.start()]) for found in BLOCK.finditer(text)]


def gossamer_commands(line: str) -> Iterator[list[str]]:
    """Words behind each `gossamer` of a line, without comments and redirections."""
    words = shlex.split(line, comments=True)
    for at, word in enumerate(words):
        if word == "gossamer" and (at == 0 or words[at - 1] in ("&&", "|", ";")):
            ends = [end for end, one in enumerate(words) if end > at and one in ("&&", "|", ";", ">")]
            yield words[at + 1 : min(ends, default=len(words))]


COMMANDS = sorted(
    {
        (str(path.relative_to(ROOT)), *words)
        for path in DOCUMENTS
        for block in blocks_of(path)
        if block.language == "sh"
        for line in block.lines()
        for words in gossamer_commands(line)
    }
)
PAGES = [
    name
    for path in DOCUMENTS
    if blocks_of(path) and (name := str(path.relative_to(ROOT))) not in NOT_RUN_HERE
]


def rest_of(context: click.Context) -> list[str]:
    """Words that a group has left to its commands."""
    return [*context._protected_args, *context.args]


@every("command", COMMANDS)
def test_commands_in_blocks_are_parsed(command: tuple[str, ...]) -> None:
    words = list(command[1:])
    context = app.make_context("gossamer", words)
    while isinstance(context.command, click.Group):
        name, inner, rest = context.command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        assert inner is not None
        context = inner.make_context(name, rest, parent=context)


@every("path", DOCUMENTS)
def test_commands_in_the_text_exist(path: Path) -> None:
    """What stands in a sentence has placeholders, so that only commands and options can be looked at."""
    for found in INLINE.findall(re.sub(r"\s+", " ", path.read_text("utf-8"))):
        for words in gossamer_commands(found.replace("'", "").replace("...", "")):
            command: click.Command = app
            for word in words:
                if isinstance(command, click.Group) and not word.startswith("-"):
                    assert word in command.commands, found
                    command = command.commands[word]
                elif word.startswith("--"):
                    known = {name for parameter in command.params for name in parameter.opts}
                    assert word.partition("=")[0] in {*known, "--help", "--version"}, found


def test_each_command_is_shown_in_a_block() -> None:
    assert set(app.commands) <= {command[1] for command in COMMANDS}


def test_what_is_not_run_is_still_there() -> None:
    lines = [line for path in DOCUMENTS for block in blocks_of(path) for line in block.lines()]
    assert all(any(line.startswith(beginning) for line in lines) for beginning in [*NOT_RUN, *FAILS])
    assert all((ROOT / name).exists() for name in NOT_RUN_HERE)


@every("path", DOCUMENTS)
def test_benchmarks_that_are_named_exist(path: Path) -> None:
    for span in re.findall(r"`([^`\n]*)`", path.read_text("utf-8")):
        if not (named := re.match(r"(?:python -m )?benchmarks\.([a-z_]+)", span)):
            continue
        module = ROOT / "benchmarks" / named[1]
        parts = module.glob("*.py") if module.is_dir() else [module.with_suffix(".py")]
        said = "\n".join(part.read_text("utf-8") for part in parts)
        for option in re.findall(r"(?<!\S)--[a-z-]+", span):
            assert f'"{option}"' in said, span


@every("path", DOCUMENTS)
def test_python_in_blocks_compiles(path: Path) -> None:
    for block in blocks_of(path):
        if block.language == "python":
            compile(block.text, str(path), "exec")


def plain_words(line: str) -> list[str] | None:
    """What stands behind `gossamer`, of a line that asks nothing of a shell, and whose command asks nobody."""
    if not line.startswith(ONLY_PROCESSES) and not SHELL & {*line}:
        name, *words = shlex.split(line, comments=True)
        return words if name == "gossamer" else None
    return None


class Web(msgspec.Struct, frozen=True):
    """`example.org` and `example.net` on loopback."""

    port: int
    names: str
    programs: Path
    other_ports: dict[str, str]
    """Instead of those that the tutorials name, which somebody else may use."""

    def here(self, text: str) -> str:
        """The same commands, for this web, without rests."""
        for named, other in self.other_ports.items():
            text = text.replace(named, other)
        text = re.sub(r"https://(example\.(?:org|net))", rf"http://\1:{self.port}", text)
        asked = f"--nameserver {self.names}"
        text = re.sub(r"\bgossamer crawl (?!http://h0)", f"gossamer crawl {asked} --min-delay 0 ", text)
        text = re.sub(r"\bgossamer (robots|dns) (?!--stats)", rf"gossamer \1 {asked} ", text)
        text = re.sub(r"\bgossamer audit (?=http://example)", f"gossamer audit {asked} --min-delay 0 ", text)
        text = re.sub(r"\bgossamer watch (?=http)", f"gossamer watch {asked} --min-delay 0 ", text)
        text = text.replace("gossamer search --live", f"gossamer search --live {asked} --min-delay 0")
        # 'fields' has no option for name servers.
        text = text.replace("gossamer fields http://example.org", "gossamer fields http://127.0.0.1")
        return re.sub(r"\bgossamer serve (?=--)", "gossamer serve --port 0 ", text)

    def environment(self, folder: Path) -> dict[str, str]:
        """Where `gossamer` and `python` are those of this test."""
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        cache = str(folder / ".cache")
        return {**os.environ, "PATH": path, "XDG_CACHE_HOME": cache, "PYTHONUNBUFFERED": "1"}

    def run(self, line: str, folder: Path) -> None:
        """In a shell, as a reader would; plain commands in this process, which has all imported."""
        if (words := plain_words(self.here(line))) is not None:
            ran = gossamer(*words, cwd=folder)
        else:
            ran = subprocess.run(
                ["bash", "-c", self.here(line)],
                cwd=folder,
                env=self.environment(folder),
                input="a long enough password\n",
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        status, said = FAILS.get(line, (0, ""))
        assert ran.returncode == status, (line, ran.stdout, ran.stderr)
        assert said in ran.stderr

    def run_until(self, line: str, folder: Path, said: str) -> None:
        """The same command over again, until it says what a crawl beside it brings."""
        words = plain_words(self.here(line))
        assert words is not None
        until = time.monotonic() + PATIENCE
        while said not in (ran := gossamer(*words, cwd=folder)).stdout:
            assert time.monotonic() < until, (line, ran.stdout, ran.stderr)

    @contextlib.contextmanager
    def running(self, line: str, folder: Path, ready: str) -> Iterator[None]:
        """A command that goes on while others run, from when it has said `ready`; then Ctrl-C."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {self.here(line.removesuffix('&'))}"],
            cwd=folder,
            env=self.environment(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        try:
            said = []
            for heard in process.stdout:
                said.append(heard)
                if ready in heard:
                    break
            assert ready in (said or [""])[-1], (line, said)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    programs = tmp_path_factory.mktemp("bin")
    for name, module in (("gossamer", "-m gossamer"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
        (programs / name).chmod(0o755)
    loop = asyncio.new_event_loop()
    answers = zone({name: a(name, "127.0.0.1") for name in ("example.org", "example.net")})
    asked = loopback_names(answers)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    names = asyncio.run_coroutine_threadsafe(asked.__aenter__(), loop).result(PATIENCE)
    try:
        with small_site(SITE.get) as site:
            port = int(site.rstrip("/").rpartition(":")[2])
            yield Web(port, names.address, programs, {named: str(free_port()) for named in NAMED_PORTS})
    finally:
        asyncio.run_coroutine_threadsafe(asked.__aexit__(None, None, None), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def crawled(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that a limit stopped, for pages that begin with one."""
    folder = tmp_path_factory.mktemp("crawled")
    web.run("gossamer crawl https://example.org/ --max-pages 2 --dir my-crawl", folder)
    return folder / "my-crawl"


def wait_for_answers(folder: Path) -> None:
    """Until a crawl can be asked: it says where it crawls before it opens its state, which takes a while."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            with connected(folder) as peer:
                peer.close()
            return
        except NotRunning:
            assert time.monotonic() < until, "no crawl answers"
            time.sleep(0.01)


def folder_of(line: str, otherwise: str) -> str:
    """Where a command that goes on keeps what it does."""
    found = re.search(r" --dir (\S+)", line)
    return found[1] if found else otherwise


@pytest.mark.parametrize(
    "name", [name if name == "README.md" else pytest.param(name, marks=pytest.mark.slow) for name in PAGES]
)
def test_the_commands_of_a_page_run(name: str, web: Web, crawled: Path, tmp_path: Path) -> None:
    blocks = blocks_of(ROOT / name)
    first = next((block.text for block in blocks if "my-crawl" in block.text), "")
    if first and not re.search(r"gossamer crawl .*--dir my-crawl", first):
        shutil.copytree(crawled, tmp_path / "my-crawl")
    with contextlib.ExitStack() as stack:
        if any("gossamer pause" in block.text for block in blocks):
            slow = "gossamer resume my-crawl --max-pages 100 --set politeness.min_delay=60s"
            stack.enter_context(web.running(slow, tmp_path, "crawling into"))
            wait_for_answers(tmp_path / "my-crawl")
        until_ctrl_c = stack.enter_context(contextlib.ExitStack())
        for block in blocks:
            if block.language == "sh":
                for line in block.lines():
                    needed = [module for command, module in NEEDS.items() if line.startswith(command)]
                    if line.startswith(tuple(NOT_RUN)) or not all(map(importlib.util.find_spec, needed)):
                        continue
                    if "gossamer.simweb" in line:
                        stack.enter_context(web.running(f"{line} --announce", tmp_path, "{"))
                    elif line.startswith("python3 -m http.server"):
                        stack.enter_context(web.running(line, tmp_path, "Serving HTTP"))
                    elif line.startswith("gossamer watch http") and "--once" not in line:
                        until_ctrl_c.close()
                        until_ctrl_c.enter_context(web.running(line, tmp_path, "watching"))
                        wait_for_answers(tmp_path / folder_of(line, "watch-example.org"))
                    elif " --revisit" in line:
                        until_ctrl_c.close()
                        until_ctrl_c.enter_context(web.running(line, tmp_path, "crawling into"))
                        wait_for_answers(tmp_path / folder_of(line, ""))
                    elif said := next((BROUGHT[one] for one in BROUGHT if line.startswith(one)), ""):
                        web.run_until(line, tmp_path, said)
                    elif line.startswith("gossamer resume "):
                        until_ctrl_c.close()
                        web.run(line, tmp_path)
                    elif line.startswith("gossamer serve "):
                        until_ctrl_c.close()
                        stack.enter_context(web.running(line, tmp_path, "http://"))
                    else:
                        web.run(line, tmp_path)
            elif name in PROGRAMS:
                continue
            elif kept := re.search(r"as `(\w+\.(?:py|toml))`:\n\n$", block.before):
                (tmp_path / kept[1]).write_text(
                    block.text if block.language == "python" else web.here(block.text)
                )
            elif block.language == "toml":
                continue
            else:
                (tmp_path / "block.py").write_text(web.here(block.text))
                web.run("python block.py", tmp_path)


@pytest.mark.slow
@needs_ray
@never_two_at_once
def test_a_cluster_crawls_as_is_told(web: Web, tmp_path: Path) -> None:
    told = (ROOT / "docs" / "operating.md").read_text("utf-8")
    line = "gossamer cluster crawl https://example.org/ --agents 3 --dir crawl"
    assert f"\n{line}\n" in told
    web.run(f"{line} --min-delay 0 --nameserver {web.names}", tmp_path)
    for question in (
        "cluster status crawl",
        "status crawl",
        "check crawl",
        "list crawl",
        "export links crawl",
    ):
        web.run(f"gossamer {question}", tmp_path)
