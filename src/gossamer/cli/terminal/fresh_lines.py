"""Says how fresh a crawl is, in two lines."""

from gossamer.cli.terminal.printing import duration, plural, size
from gossamer.inspect.freshness import FreshnessSums


def fresh_lines(fresh: FreshnessSums) -> list[str]:
    """The stale share, and what visits again have brought."""
    lines = []
    if fresh.stale is not None:
        weighted = "" if fresh.by_weight is None else f" ({fresh.by_weight:.1%} by weight)"
        gone = f"; {plural(fresh.gone, 'page')} gone" if fresh.gone else ""
        lines.append(f"about {fresh.stale:.1%} of {plural(fresh.pages, 'page')} stale{weighted}{gone}")
    if fresh.visits:
        delay = "" if fresh.delay is None else f" after {duration(fresh.delay)} on average"
        saved = f", {size(fresh.saved)} not sent again" if fresh.saved else ""
        lines.append(
            f"{plural(fresh.visits, 'visit')} again: {fresh.useful:,} ({fresh.useful / fresh.visits:.0%}) found a"
            f" change{delay}; {fresh.unmodified:,} answered 304{saved}"
        )
    return lines
