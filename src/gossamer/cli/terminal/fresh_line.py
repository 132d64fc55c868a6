"""Says how fresh a crawl is, in one line."""

from gossamer.cli.terminal.printing import duration, plural
from gossamer.inspect.freshness import FreshnessSums


def fresh_line(fresh: FreshnessSums) -> str:
    """The stale share, how far to believe it, and how soon changes are noticed."""
    said = []
    if fresh.stale is not None:
        weighted = "" if fresh.by_weight is None else f" ({fresh.by_weight:.1%} by weight)"
        said.append(f"about {fresh.stale:.1%} of {plural(fresh.pages, 'page')} stale{weighted}")
    if fresh.gone:
        said.append(f"{plural(fresh.gone, 'page')} gone")
    if fresh.useful_share is not None:
        delay = "" if fresh.delay is None else f", {duration(fresh.delay)} after it on average"
        said.append(
            f"{fresh.useful_share:.0%} of {plural(fresh.visits, 'visit')} again found a change{delay}"
        )
    return "; ".join(said)
