"""Names that show one site, in lines for a terminal."""

from collections.abc import Iterator, Sequence

from gossamer.assembly.twins import TwinSites
from gossamer.cli.terminal.printing import safe

LISTED = 3


def twin_lines(twins: Sequence[TwinSites]) -> Iterator[str]:
    """What was found, or some of it."""
    for pair in twins[:LISTED]:
        yield safe(str(pair.why))
    if len(twins) > LISTED:
        yield f"{len(twins) - LISTED:,} more (status --json)"
