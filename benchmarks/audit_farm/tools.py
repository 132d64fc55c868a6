"""Link checkers: how each is run against a farm, and what it says of each link in one vocabulary."""

import csv
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ada_url import URL

from benchmarks.audit_farm.farm import Farm
from gossamer.simweb.world.resource import Speech

_HOOKS = Path(__file__).parent / "peer_hooks"
_WAITS = 20
"""Seconds that peers wait for an answer, where they can be told: as long as a crawl of ours does."""


class Saying(NamedTuple):
    """What a tool says of one link.

    Attributes:
        url: as the tool writes it.
        texts: of the link, as the tool found them.
        target: where it moved to.
        pages: that hold it.
    """

    url: str
    verdict: str
    texts: tuple[str, ...] = ()
    target: str = ""
    pages: frozenset[str] = frozenset()


class Finding(NamedTuple):
    """What a tool says besides."""

    rule: str
    url: str
    level: str


class Run(NamedTuple):
    """One run of a tool.

    Attributes:
        status: exit status; `None`: it had to be ended.
        problem: why nothing can be judged, else empty.
    """

    status: int | None
    seconds: float
    cpu_seconds: float
    sayings: list[Saying]
    findings: list[Finding]
    problem: str = ""


class Tool(Protocol):
    """A link checker.

    Attributes:
        name: of it.
    """

    name: str

    def run(self, farm: Farm, folder: Path, *, again: bool) -> Run:
        """Check the farm's site; what it keeps goes into `folder`. `again`: by what an earlier run has left there."""


class Ours:
    """`gossamer audit`."""

    name = "gossamer"

    def __init__(self, command: str = "", settings: Sequence[str] = (), patience: float = 1_200) -> None:
        """`command`: another program in its place; `settings`: of `--set`."""
        self._command = shlex.split(command) or [sys.executable, "-m", "gossamer", "audit"]
        self._settings, self._patience = settings, patience

    def run(self, farm: Farm, folder: Path, *, again: bool) -> Run:
        kept = folder / "audited"
        settings = ["fetch.allow_private=true", f"fetch.ca_file={farm.authority}", *self._settings]
        where = [str(kept)] if again else [farm.start, "--output", str(kept)]
        options = [word for setting in settings for word in ("--set", setting)]
        command = [*self._command, *where, "--json", "--nameserver", farm.nameserver, *options]
        ran = _run(command, folder, {}, self._patience)
        try:
            told = json.loads(ran.out.read_text())
            sayings = [_of_ours(link) for link in told["links"]]
            findings = [Finding(one["rule"], one.get("url") or "", one["level"]) for one in told["findings"]]
        except (ValueError, KeyError, TypeError) as problem:
            return ran.failed(f"no JSON as agreed: {problem!r}; {_end_of(ran.err)}")
        return Run(
            ran.status,
            ran.seconds,
            ran.cpu,
            sayings,
            findings,
            "" if ran.status in (0, 1) else _end_of(ran.err),
        )


def _of_ours(link: Mapping[str, Any]) -> Saying:
    texts = tuple(page["text"] or "" for page in link["pages"])
    pages = frozenset(page["url"] for page in link["pages"])
    return Saying(link["url"], link["verdict"], texts, link.get("target") or "", pages)


class LinkChecker:
    """`linkchecker` of PyPI, with its check of anchors, which is not on by itself.

    Without mail addresses, for which it asks the system's name server; its exit status 2 says that it met an error of
    its own (a Location that it cannot read), after which it goes on.
    """

    name = "linkchecker"

    def __init__(self, program: Path, patience: float = 1_200) -> None:
        self._program, self._patience = program, patience

    def run(self, farm: Farm, folder: Path, *, again: bool) -> Run:  # noqa: ARG002  it has no memory
        settings, told = folder / "linkcheckerrc", folder / "told.csv"
        settings.write_text(
            f"[checking]\nsslverify={farm.authority}\ntimeout={_WAITS}\n[filtering]\ncheckextern=1\n[AnchorCheck]\n"
        )
        told.unlink(missing_ok=True)
        command = [
            str(self._program),
            "-f",
            str(settings),
            "-o",
            "none",
            "-v",
            "--ignore-url=^mailto:",
            "-F",
            f"csv/utf-8/{told}",
            farm.start,
        ]
        hook = {
            "PYTHONPATH": str(_HOOKS),
            "GOSSAMER_FARM_NAMES": str(_names(farm, folder)),
            "HOME": str(folder),
        }
        ran = _run(command, folder, hook, self._patience)
        if not told.exists():
            return ran.failed(_end_of(ran.err))
        return Run(
            ran.status,
            ran.seconds,
            ran.cpu,
            list(_of_linkchecker(told)),
            [],
        )


def _of_linkchecker(told: Path) -> Iterator[Saying]:
    with told.open(newline="", encoding="utf-8") as lines:
        rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter=";")
        for row in rows:
            absent = "Anchor" in (row["warningstring"] or "")  # in words only: the table has no codes
            verdict = "well" if row["valid"] == "True" and not absent else "broken"
            yield Saying(
                row["urlname"] or "",
                verdict,
                (row["name"] or "",),
                pages=frozenset((row["parentname"] or "",)),
            )


class Linkinator:
    """`linkinator` of npm, told to look at fragments and to ask again after errors.

    Not with `--retry`: it then sleeps as long as any Retry-After says, which is an hour here.
    """

    name = "linkinator"

    def __init__(self, program: Path, patience: float = 1_200) -> None:
        self._program, self._patience = program, patience

    def run(self, farm: Farm, folder: Path, *, again: bool) -> Run:  # noqa: ARG002  it has no memory
        command = [
            str(self._program),
            farm.start,
            "--recurse",
            "--check-fragments",
            "--retry-errors",
        ]
        command += ["--retry-errors-count", "1", "--timeout", f"{_WAITS * 1_000}", "--format", "json"]
        hook = {
            "NODE_OPTIONS": f"--require {_HOOKS / 'names.cjs'}", "NODE_EXTRA_CA_CERTS": str(farm.authority),
            "GOSSAMER_FARM_NAMES": str(_names(farm, folder)),
        }  # fmt: skip
        ran = _run(command, folder, hook, self._patience)
        try:
            links = json.loads(ran.out.read_text())["links"]
        except (ValueError, KeyError) as problem:
            return ran.failed(f"no JSON: {problem!r}; {_end_of(ran.err)}")
        verdicts = {"OK": "well", "BROKEN": "broken", "SKIPPED": "unknown"}
        sayings = [
            Saying(one["url"], verdicts[one["state"]], pages=frozenset((one.get("parent") or "",)))
            for one in links
        ]
        return Run(ran.status, ran.seconds, ran.cpu, sayings, [])


class _Ran(NamedTuple):
    status: int | None
    seconds: float
    cpu: float
    out: Path
    err: Path

    def failed(self, problem: str) -> Run:
        return Run(self.status, self.seconds, self.cpu, [], [], problem)


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str], patience: float) -> _Ran:
    out, err = folder / "out", folder / "err"
    began = time.monotonic()
    before = os.times()
    with out.open("wb") as told, err.open("wb") as said:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=said,
            env={**os.environ, **environment},
        )
        try:
            status: int | None = process.wait(patience)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            process.kill()
            process.wait()
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return _Ran(status, time.monotonic() - began, cpu, out, err)


def _end_of(file: Path) -> str:
    return file.read_text(errors="replace")[-600:].strip()


def _names(farm: Farm, folder: Path) -> Path:
    """What our name server says, for tools that ask the system: an address, or how asking fails."""
    fails = {Speech.SERVFAIL, Speech.SILENT}
    place = folder / "names.json"
    place.write_text(json.dumps({
        name: "" if naming.speech in fails else naming.addresses[0] for name, naming in farm.hosts.items()
    }))  # fmt: skip
    return place


def address(url: str) -> str:
    """One spelling of an address (WHATWG), or what cannot be read as it stands."""
    try:
        return str(URL(url).href)
    except ValueError:
        return url
