"""Link checkers against a farm of servers that behave well and badly.

    python -m benchmarks.audit_farm [--json] [--share F] [--peers DIR] [--only NAME] [--once] [--command LINE]

`behaviours.py` is the table: how each server behaves, and what may be said of links to it. A site links to all of them,
each from two pages; `gossamer audit` and, in the same run, linkchecker and linkinator check it. DIR is a folder with
both, made by `python3 -m venv DIR && DIR/bin/pip install linkchecker && npm install --prefix DIR linkinator`.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.audit_farm.farm import Farm, farm
from benchmarks.audit_farm.judge import judge, judge_requests, judge_words
from benchmarks.audit_farm.tools import LinkChecker, Linkinator, Ours, Tool

FALSELY, MISSED, AGAIN = 0.5, 1.0, 0.1
_SHOWN = (
    "falsely_broken",
    "missed_broken",
    "requests",
    "shortest_gap",
    "requests_again",
    "seconds",
    "cpu_seconds",
)


def tools(arguments: argparse.Namespace) -> Iterator[Tool]:
    """Those that are there; says which is not."""
    yield Ours(arguments.command, arguments.settings, arguments.patience)
    peers = arguments.peers
    for make, program in ((LinkChecker, "bin/linkchecker"), (Linkinator, "node_modules/.bin/linkinator")):
        if peers is not None and (peers / program).exists():
            yield make((peers / program).absolute(), arguments.patience)
        else:
            print(f"{Path(program).name} is left out: --peers names no folder that has it", file=sys.stderr)


def measured(tool: Tool, served: Farm, *, once: bool) -> dict[str, Any]:
    """Both runs of a tool."""
    with tempfile.TemporaryDirectory(prefix=f"audit-farm-{tool.name}-") as name:
        folder = Path(name)
        served.forget()
        run = tool.run(served, folder, again=False)
        noted = served.forget()
        if run.problem:
            return {"problem": run.problem, "exit_status": run.status}
        figures = judge(run, served.all_cases) | judge_requests(noted, served.all_cases)
        figures |= {
            "exit_status": run.status,
            "seconds": round(run.seconds, 1),
            "cpu_seconds": round(run.cpu_seconds, 1),
        }
        if tool.name == Ours.name:
            figures |= judge_words(run, served.all_cases, served.start)
        if not once:
            again = tool.run(served, folder, again=True)
            second = judge_requests(served.forget(), served.all_cases)
            figures |= {
                "requests_again": second["requests"],
                "again": judge(again, served.all_cases),
                "again_problem": again.problem,
                "requests_again_share": round(second["requests"] / max(figures["requests"], 1), 4),
            }
    return figures


def is_ok(figures: dict[str, Any]) -> bool:
    """What is wanted of ours."""
    return (
        "problem" not in figures
        and figures["falsely_broken"] <= FALSELY
        and figures["missed_broken"] <= MISSED
        and figures.get("requests_again_share", 0.0) <= AGAIN
    )


def show(result: dict[str, Any]) -> None:
    """For people."""
    print(f"{'':14}" + "".join(f"{name:>16}" for name in _SHOWN))
    for name, figures in result["tools"].items():
        if "problem" in figures:
            print(f"{name:14}{figures['problem']}")
        else:
            print(f"{name:14}" + "".join(f"{figures.get(figure, '-')!s:>16}" for figure in _SHOWN))


def main(words: Sequence[str] | None = None) -> int:
    """Print the comparison; 0 if ours is as wanted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit_farm", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of each behaviour's cases, at least one")
    parser.add_argument(
        "--peers", type=Path, metavar="DIR", help="where linkchecker and linkinator are installed"
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="of the tools")
    parser.add_argument("--once", action="store_true", help="no second run")
    parser.add_argument("--command", default="", metavar="LINE", help="in place of `gossamer audit`")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--patience", type=float, default=1_200, metavar="S", help="that a run may take")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args(words)
    measure.tidy_when_terminated()
    with farm(arguments.share) as served:
        found = {
            tool.name: measured(tool, served, once=arguments.once)
            for tool in tools(arguments)
            if not arguments.only or tool.name in arguments.only
        }
        result = {
            "ok": Ours.name not in found or is_ok(found[Ours.name]),
            "behaviours": len({case.behaviour.name for case in served.all_cases}),
            "links": len(served.all_cases),
            "must_be_broken": sum(case.must_be_broken for case in served.all_cases),
            "must_not_be_broken": sum(case.must_not_be_broken for case in served.all_cases),
            "nginx": bool(served.ports.nginx),
            "tools": found,
        }
    if arguments.json:
        print(json.dumps(result))
    else:
        show(result)
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
