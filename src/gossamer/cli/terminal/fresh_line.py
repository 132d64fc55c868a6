"""Says how fresh a crawl is, in one line."""

from typing import TYPE_CHECKING

from gossamer.cli.terminal.printing import duration, plural

if TYPE_CHECKING:  # most crawls visit no page again
    from gossamer.inspect.freshness import FreshnessSums


def fresh_line(fresh: "FreshnessSums") -> str:
    """The estimated stale share, what is gone, and how soon changes are noticed; empty of a crawl without any."""
    said = []
    if fresh.stale is not None:
        weighted = "" if fresh.by_weight is None else f" ({fresh.by_weight:.1%} by weight)"
        said.append(f"about {fresh.stale:.1%} of {plural(fresh.pages, 'page')} stale{weighted}")
    if fresh.gone:
        said.append(f"{plural(fresh.gone, 'page')} gone")
    if fresh.never:
        said.append(f"{fresh.never:,} never seen")
    if fresh.delay is not None:
        said.append(f"a change is noticed after {duration(fresh.delay)} on average")
    return "; ".join(said)
