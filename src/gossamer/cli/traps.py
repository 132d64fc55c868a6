"""Shows the branches of sites, which of them were set aside as endless, and lets them out."""

from pathlib import Path

from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, show, show_json
from gossamer.inspect.traps import ParameterLine, branch_lines, parameter_lines, release_branch
from gossamer.model.command_line import command_line
from gossamer.policy.branches.tree import ASIDE, RELEASED

SHOWN = 40


def show_traps(path: Path, host: str, *, json: bool) -> None:
    """Print the branches, those that are set aside first."""
    with looked_into(path) as inspection:
        lines = branch_lines(inspection, host)
        parameters = parameter_lines(inspection, host)
        shares = inspection.config.branches.share
    if json:
        show_json({"sharing": shares, "branches": lines, "parameters": parameters})
        return
    traps = [line for line in lines if line.state == ASIDE]
    if not shares:
        show("branches.share is off: nothing is shared out or set aside")
    elif not traps:
        show("no trap: nothing is set aside")
    else:
        urls = sum(line.waiting for line in traps)
        branches = plural(len(traps), "branch", "branches")
        show(f"{branches} set aside, {urls:,} URLs: endless, and nothing new in them")
        show(f"'{command_line('resume', path, '--release')}' visits them after all")
    for line in lines[:SHOWN]:
        show(f"{_VERDICTS[line.state]:<10} {safe(line.host)}{safe(line.branch)}")
        of_late = f"of late {line.value:.0%} new, {line.bred:.1f} more of its own found by each"
        visits = f"{plural(line.visits, 'visit')} ({line.share:.0%}), {line.brought:,} brought something"
        show(f"{'':<10} {visits}; {of_late}; {line.waiting:,} wait")
    if len(lines) > SHOWN:
        show(f"{len(lines) - SHOWN:,} more with --json")
    _show_proposed([line for line in parameters if line.verdict == "irrelevant"])


_VERDICTS = {ASIDE: "set aside", RELEASED: "released", "open": "visited"}


def _show_proposed(lines: list[ParameterLine]) -> None:
    if not lines:
        return
    show(f"{plural(len(lines), 'parameter')} that made no difference; canonical.drop_parameters drops such")
    for line in lines[:SHOWN]:
        show(f"irrelevant  {safe(line.host)} {safe(line.name)}: the same without it on {line.alike:,} pages")
        show(f"            last: {safe(line.example)}")
    if len(lines) > SHOWN:
        show(f"{len(lines) - SHOWN:,} more with --json")


def release_trap(path: Path, branch: str, host: str, *, json: bool) -> None:
    """Let a branch out for good."""
    hosts = release_branch(path, branch, host)
    if json:
        show_json({"released": branch, "hosts": hosts})
        return
    shown = ", ".join(map(safe, hosts[:5])) + (f" and {len(hosts) - 5:,} more" if len(hosts) > 5 else "")
    show(f"{safe(branch)} is released on {shown}; '{command_line('resume', path)}' visits what was set aside")
