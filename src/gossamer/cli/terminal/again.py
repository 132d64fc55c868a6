"""One line on how visits again fare, for status and closing words."""

from typing import Any

from gossamer.cli.terminal.printing import duration, plural, size

_DAY = 86_400.0
_HOURLY = 24


def _number(visits: float) -> str:
    return f"{visits:,.0f}" if visits >= 10 else f"{visits:.2g}"


def again_line(sums: dict[str, Any]) -> str:
    """What was found, and when the next visit is due; of the sums of `assembly.revisits`."""
    visits = sums["visits"]
    said = [f"{plural(visits, 'visit')}, {sums['changed']:,} found a change"]
    if sums["not_modified"]:
        said.append(f"{sums['not_modified']:,} answered 304, {size(sums['saved'])} saved")
    if not sums["on"]:
        return "; ".join([*said, "switched off now (--revisit)"])
    if sums["next_due"] is None:
        said.append("no page comes again yet")
    elif sums["next_due"] > 0:
        said.append(f"next visit due in {duration(sums['next_due'])}")
    else:
        # That it is due does not say that it may be visited now: few visits a day are hours apart.
        said.append("pages are due")
    often = sums["visits_a_day"]
    each = f" (one each {duration(_DAY / often)})" if 0 < often < _HOURLY else ""
    beside = ", beside those at fixed intervals" if sums["intervals"] else ""
    return "; ".join([*said, f"at most {_number(often)} visits a day{each}{beside}"])
