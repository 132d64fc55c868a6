"""Shows which URL patterns a crawl takes for traps, and lets them out."""

from pathlib import Path

from gossamer.app.inspection import inspect
from gossamer.app.traps import ParameterLine, PatternLine, parameter_lines, pattern_lines, release_pattern
from gossamer.cli.printing import plural, safe, show, show_json

SHOWN = 40


def show_traps(path: Path, host: str, *, json: bool) -> None:
    """Print the patterns, those taken for traps first."""
    with inspect(path) as inspection:
        lines = pattern_lines(inspection, host)
        parameters = parameter_lines(inspection, host)
        learns = inspection.config.trap_learner.learn
    if json:
        show_json({"learning": learns, "patterns": lines, "parameters": parameters})
        return
    if not learns:
        show("trap_learner.learn is off: nothing is learned")
    traps = sum(line.state == "quarantined" for line in lines)
    show(f"{plural(traps, 'pattern')} taken for traps, of {len(lines):,} of which pages are known")
    for line in lines[:SHOWN]:
        for text in _texts(line):
            show(text)
    if len(lines) > SHOWN:
        show(f"{len(lines) - SHOWN:,} more with --json")
    _show_proposed([line for line in parameters if line.verdict == "irrelevant"])


def _show_proposed(lines: list[ParameterLine]) -> None:
    if not lines:
        return
    show(f"{plural(len(lines), 'parameter')} that made no difference; canonical.drop_parameters drops such")
    for line in lines[:SHOWN]:
        show(f"irrelevant  {safe(line.host)} {safe(line.name)}: the same without it on {line.alike:,} pages")
        show(f"            last: {safe(line.example)}")
    if len(lines) > SHOWN:
        show(f"{len(lines) - SHOWN:,} more with --json")


def _texts(line: PatternLine) -> list[str]:
    away = f", {line.turned_away:,} set aside" if line.turned_away else ""
    texts = [
        f"{line.state:<12}{safe(line.host)} {safe(line.pattern)}",
        f"            {line.discovered:,} found{away}, {line.fetched:,} judged: {line.yielded:,} yielded "
        f"something, {line.bred:,} new of their kind found",
        f"            of late {line.yielded_lately:,} of {line.judged_lately:,} yielded; barren with "
        f"probability {line.barren:.1%}",
    ]
    if line.example:
        texts.append(f"            last: {safe(line.example)} ({safe(line.evidence)})")
    return texts


def release_trap(path: Path, pattern: str, host: str, *, json: bool) -> None:
    """Let a pattern out for good."""
    hosts = release_pattern(path, pattern, host)
    if json:
        show_json({"released": pattern, "hosts": hosts})
        return
    shown = ", ".join(map(safe, hosts[:5])) + (f" and {len(hosts) - 5:,} more" if len(hosts) > 5 else "")
    show(f"{safe(pattern)} is released on {shown}; 'gossamer resume {path}' fetches what was set aside")
