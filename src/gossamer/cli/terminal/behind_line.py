"""Says how far what is made of a crawl's archive is behind it, in one line."""

from gossamer.cli.terminal.printing import duration, plural, safe
from gossamer.inspect.inspection import Status
from gossamer.model.command_line import command_line

_NAMES = {"tables": "tables", "words": "words", "near_duplicates": "near-duplicates", "store": "the store"}
_READS, _SENDS = ("index", "reads them"), ("upload", "sends them")
_ALIVE = ("running", "paused")


def behind_line(status: Status) -> str:
    """How many pages tables, words, near-duplicates and store do not have yet, and since when; what brings them in."""
    late = [one for one in status.followers if one.pages]
    if not late:
        return "up to date"
    said = [
        f"{_NAMES[one.what]} {plural(one.pages, 'page')} behind"
        + (f", {duration(one.seconds)}" if status.state in _ALIVE else "")
        for one in late
    ]
    if status.state not in _ALIVE:
        ways = dict.fromkeys(_SENDS if one.what == "store" else _READS for one in late)
        said += [f"'{safe(command_line(command, status.folder))}' {does}" for command, does in ways]
    return "; ".join(said)
