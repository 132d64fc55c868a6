"""Says how far what is made of a crawl's archive is behind it, in a line for what reads it and one for its store."""

from collections.abc import Iterator, Sequence

from gossamer.cli.terminal.printing import duration, plural, safe
from gossamer.inspect.lag import Lag
from gossamer.inspect.status import Status
from gossamer.model.command_line import command_line

_NAMES = {"tables": "tables ", "words": "words ", "near_duplicates": "near-duplicates ", "store": ""}
_ALIVE = ("running", "paused")


def behind_lines(status: Status) -> Iterator[str]:
    """How many pages tables, words, near-duplicates and store do not have yet, and since when; what brings them in."""
    store = [one for one in status.followers if one.what == "store"]
    if index := [one for one in status.followers if one.what != "store"]:
        yield f"index     {_said(status, index, 'index', 'reads them')}"
    if store:
        yield f"store     {_said(status, store, 'upload', 'sends them')}"


def _said(status: Status, followers: Sequence[Lag], command: str, does: str) -> str:
    late = [one for one in followers if one.pages]
    if not late:
        return "up to date"
    running = status.state in _ALIVE
    said = [
        f"{_NAMES[one.what]}{plural(one.pages, 'page')} behind"
        + (f", {duration(one.seconds)}" if running else "")
        for one in late
    ]
    if not running:
        said.append(f"'{safe(command_line(command, status.folder))}' {does}")
    return "; ".join(said)
