"""Crawls that visit again, as processes of their own."""

import contextlib
import io
import itertools
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from changing_web import Seen
from patience import PATIENCE

from gossamer.cli import main

EVERY = 'revisit.every."/*"'


@dataclass
class Ended:
    """What became of a process; status 130: interrupted."""

    status: int
    out: str
    err: str


@dataclass
class Crawl:
    """One folder and all its processes. `settings`: dotted names and values as in the TOML file."""

    folder: Path
    settings: dict[str, object] = field(default_factory=dict)
    revisit: bool = True
    env: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        defaults: dict[str, object] = {
            "fetch.allow_private": True,
            "politeness.min_delay": "0s",
            "engine.guess_sitemap": False,
            "engine.give_up_after": "2s",
            "engine.min_free_disk": "1MiB",
            "retry.url_waits": ["200ms", "200ms"],
            "retry.host_first": "300ms",
            "robots.hold_first": "300ms",
        }
        self.settings = {**defaults, **self.settings}

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `gossamer ARGUMENTS`."""
        process = subprocess.Popen(
            [sys.executable, "-m", "gossamer", *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **self.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        return process

    def write_settings(self) -> Path:
        """The configuration file."""
        config = self.folder.with_name(self.folder.name + ".toml")
        config.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in self.settings.items()))
        return config

    def begin_crawl(self, *seeds: str, options: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        config = self.write_settings()
        again = ("--revisit",) if self.revisit else ()
        return self.begin(
            "crawl", *seeds, *again, *options, "--config", str(config), "--dir", str(self.folder)
        )

    def begin_resume(self, *options: str) -> subprocess.Popen[str]:
        again = ("--revisit",) if self.revisit else ()
        return self.begin("resume", str(self.folder), *again, *options)

    def end(self, process: subprocess.Popen[str], patience: float = PATIENCE) -> Ended:
        """Wait until it ends by itself."""
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            _, err = process.communicate()
            raise AssertionError(f"did not end within {patience} s: {err}") from None
        finally:
            self.running.remove(process)
        return Ended(process.returncode, out, err)

    def stop(self, process: subprocess.Popen[str]) -> Ended:
        """Ctrl-C once."""
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        return self.end(process)

    def kill(self, process: subprocess.Popen[str]) -> Ended:
        process.kill()
        return self.end(process)

    def run(self, *arguments: str) -> Ended:
        """A command that ends by itself, in this process: a start takes a second."""
        out, err, before = io.StringIO(), io.StringIO(), sys.argv
        sys.argv = ["gossamer", *arguments]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
            status = 0
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            sys.argv = before
        return Ended(status, out.getvalue(), err.getvalue())

    def check(self) -> None:
        """`gossamer check` finds all well."""
        ended = self.run("check", str(self.folder))
        assert ended.status == 0, ended.out + ended.err

    def clear(self) -> None:
        """Leave no process behind."""
        for process in list(self.running):
            if process.poll() is None:
                process.kill()
            process.communicate()
            self.running.remove(process)


def gaps(visits: list[Seen]) -> list[float]:
    """Seconds from the end of each visit to the next one."""
    ordered = sorted(visits, key=lambda seen: seen.began)
    return [b.began - a.ended for a, b in itertools.pairwise(ordered)]
