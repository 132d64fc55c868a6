"""One line on how visits again fare, for status and closing words."""

from typing import Any

from gossamer.cli.terminal.printing import duration, plural, size


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
        said.append("the next visit is due")
    beside = ", beside those at fixed intervals" if sums["intervals"] else ""
    return "; ".join([*said, f"at most {_number(sums['visits_a_day'])} visits a day{beside}"])
